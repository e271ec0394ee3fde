//! What do the results look like as JSON? One shape per command; the contract of the scripts.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Value, json};
use toolspan::call::Repair;
use toolspan::policy::Level;
use toolspan::{Error, FoundTool, Observation, RegisteredTool, ToolAnnotations};

/// A tool: the element of `tools --json`.
pub(crate) fn tool(tool: &RegisteredTool) -> Value {
    tool.definition.to_json(&tool.name, &tool.toolbox)
}

/// A tool with what counts of its hints, and its level with the rule: the object of `describe --json`.
pub(crate) fn described(
    tool: &RegisteredTool,
    counted: &ToolAnnotations,
    (level, rule): &(Level, Cow<'_, str>),
) -> Value {
    let mut object = self::tool(tool);
    if let Some(members) = object.as_object_mut() {
        let counted = json!({
            "readOnlyHint": counted.is_read_only(),
            "destructiveHint": counted.is_destructive(),
            "idempotentHint": counted.is_idempotent(),
            "openWorldHint": counted.is_open_world(),
        });
        members.insert("effective_annotations".into(), counted);
        members.insert("level".into(), level.number().into());
        members.insert("level_rule".into(), rule.as_ref().into());
    }
    object
}

/// A tool that was searched for: the element of `search --json`.
pub(crate) fn found(found: &FoundTool) -> Value {
    let mut element = tool(&found.tool);
    if let Some(members) = element.as_object_mut() {
        members.insert("score".into(), found.score.into());
    }
    element
}

/// A call that was answered, and what is printed of it.
pub(crate) struct Answer<'a> {
    /// The tool.
    pub(crate) tool: &'a RegisteredTool,
    /// What it answered.
    pub(crate) observation: &'a Observation,
    /// From the start of the call to its answer.
    pub(crate) took: Duration,
    /// Most characters of text.
    pub(crate) limit: Option<usize>,
    /// For each block the file it was written to; `None` when that was not asked for.
    pub(crate) saved: Option<&'a [Option<String>]>,
    /// Why its binary content could not be written.
    pub(crate) not_saved: Option<&'a Error>,
}

/// An answered call: the line of `call --json`. `repairs` is there only where arguments were repaired,
/// `saved` is there only with `--save`, or `error` when
/// that failed.
pub(crate) fn answer(answer: &Answer<'_>) -> Value {
    let observation = answer.observation;
    let (text, truncated) = cut(observation.text(), answer.limit);
    let content: Vec<Value> = observation
        .content
        .iter()
        .map(|block| block.to_json())
        .collect();
    let mut line = json!({
        "tool": &*answer.tool.name,
        "toolbox": &*answer.tool.toolbox,
        "is_error": observation.is_error,
        "text": text,
        "content": content,
        "structured": observation.structured,
        "duration_ms": milliseconds(answer.took),
        "truncated": truncated,
    });
    if let Some(members) = line.as_object_mut() {
        if !observation.repairs.is_empty() {
            let repairs = observation.repairs.iter().map(Repair::to_json).collect();
            members.insert("repairs".into(), repairs);
        }
        if let Some(saved) = answer.saved {
            members.insert("saved".into(), saved.iter().flatten().cloned().collect());
        }
        if let Some(error) = answer.not_saved {
            members.insert("error".into(), error.to_json());
        }
    }
    line
}

/// A call that failed: `{"error": {…}}`.
///
/// A server that answers with an error of the protocol ends with the code of a tool's error, so its
/// line has that shape too: a script finds the text in the same place.
pub(crate) fn failed_call(error: &Error) -> Value {
    let mut line = self::error(error);
    if let (toolspan::ErrorKind::RemoteError, Some(members)) = (error.kind(), line.as_object_mut())
    {
        let answer = json!({
            "tool": error.tool(),
            "toolbox": error.toolbox(),
            "is_error": true,
            "text": error.message(),
            "content": [],
            "structured": null,
            "duration_ms": null,
            "truncated": false,
        });
        members.extend(answer.as_object().cloned().unwrap_or_default());
    }
    line
}

/// An error: the line of every exit but 0 and 5.
pub(crate) fn error(error: &Error) -> Value {
    json!({"error": error.to_json()})
}

/// Whole milliseconds with one thousandth as the finest step.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// The first `limit` characters, and whether something is missing.
pub(crate) fn cut(mut text: String, limit: Option<usize>) -> (String, bool) {
    match limit.and_then(|limit| text.char_indices().nth(limit)) {
        Some((end, _)) => {
            text.truncate(end);
            (text, true)
        }
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolspan::{ErrorKind, Phase};

    #[test]
    fn a_cut_counts_characters_not_bytes() {
        assert_eq!(cut("äöü".to_owned(), Some(2)), ("äö".to_owned(), true));
        assert_eq!(cut("äöü".to_owned(), Some(3)), ("äöü".to_owned(), false));
        assert_eq!(cut("äöü".to_owned(), None), ("äöü".to_owned(), false));
    }

    #[test]
    fn an_error_of_the_protocol_has_the_shape_of_a_tools_error_as_well() {
        let error = Error::new(ErrorKind::RemoteError, Phase::Call, "no").in_tool("a__b");
        let line = failed_call(&error);
        assert_eq!(line["is_error"], true);
        assert_eq!(line["text"], "no");
        assert_eq!(line["error"]["kind"], "remote_error");
        let other = Error::new(ErrorKind::Timeout, Phase::Call, "no");
        assert_eq!(failed_call(&other)["is_error"], Value::Null);
    }
}
