//! What a tool says of its own effects, with the defaults of the MCP specification.

use serde::{Deserialize, Serialize};

/// Hints about a tool's effects. They come from the tool's author and prove nothing.
///
/// `None` means the author did not say; the accessors then give the default of the MCP
/// specification (2025-11-25, `ToolAnnotations`): not read-only, destructive, not idempotent,
/// open world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may delete or overwrite; means something only when it is not read-only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool reaches beyond a closed domain, such as the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Hints of a tool that changes nothing, any number of times, in a closed domain.
    pub fn read_only() -> Self {
        Self {
            title: None,
            read_only_hint: Some(true),
            destructive_hint: Some(false),
            idempotent_hint: Some(true),
            open_world_hint: Some(false),
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Whether the tool says it changes nothing. Default: no.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether the tool may delete or overwrite. Default: yes, unless it is read-only.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether calling again changes nothing more. Default: no, unless it is read-only.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Whether the tool reaches beyond a closed domain. Default: yes.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_means_the_defaults_of_the_specification() {
        let silent = ToolAnnotations::default();
        assert!(!silent.is_read_only() && silent.is_destructive());
        assert!(!silent.is_idempotent() && silent.is_open_world());
    }

    #[test]
    fn a_read_only_tool_is_never_destructive() {
        let odd = ToolAnnotations {
            read_only_hint: Some(true),
            destructive_hint: Some(true),
            ..ToolAnnotations::default()
        };
        assert!(!odd.is_destructive() && odd.is_idempotent());
    }

    #[test]
    fn json_uses_the_wire_names_and_omits_what_was_not_said() {
        let hints = ToolAnnotations {
            read_only_hint: Some(true),
            ..Default::default()
        };
        assert_eq!(
            serde_json::to_string(&hints).unwrap(),
            r#"{"readOnlyHint":true}"#
        );
    }
}
