//! Whose word counts for what a tool does: the user's, the source's, or nobody's?

use serde::{Deserialize, Serialize};

use crate::annotations::ToolAnnotations;

/// How far a toolbox is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// The source is trusted, and so are its hints: as a part of the program itself.
    Trusted,
    /// The source's hints are believed, and nothing else about it.
    Annotations,
    /// Nothing the source says makes its tools milder: it cannot call itself read-only.
    #[default]
    Untrusted,
}

impl Trust {
    /// The name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Annotations => "annotations",
            Self::Untrusted => "untrusted",
        }
    }

    /// Whether the source's hints are believed.
    pub const fn believes_hints(self) -> bool {
        !matches!(self, Self::Untrusted)
    }
}

/// The four hints of a tool as they count, each said or at the specification's default.
///
/// `read_only`, `destructive` and `open_world` make the level of a call; `idempotent` and
/// `read_only` say whether a lost call may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// The tool changes nothing.
    pub read_only: bool,
    /// The tool may delete or overwrite. Never with `read_only`.
    pub destructive: bool,
    /// A second call changes nothing more. Always with `read_only`.
    pub idempotent: bool,
    /// The tool reaches beyond a closed domain.
    pub open_world: bool,
    /// Somebody who is believed said something of these.
    pub stated: bool,
}

impl From<&ToolAnnotations> for Hints {
    fn from(annotations: &ToolAnnotations) -> Self {
        Self {
            read_only: annotations.is_read_only(),
            destructive: annotations.is_destructive(),
            idempotent: annotations.is_idempotent(),
            open_world: annotations.is_open_world(),
            stated: states_something(annotations),
        }
    }
}

fn states_something(annotations: &ToolAnnotations) -> bool {
    annotations.read_only_hint.is_some()
        || annotations.destructive_hint.is_some()
        || annotations.idempotent_hint.is_some()
        || annotations.open_world_hint.is_some()
}

/// The annotations that count: each hint from the local override, else from the source where it is
/// believed, else not said, so that the accessors give the specification's pessimistic default.
///
/// The source of an untrusted toolbox is not asked at all: the defaults are the worst that a hint
/// can say, so that nothing it could add would raise them. The title is kept from anybody.
pub fn effective(
    source: Option<&ToolAnnotations>,
    trust: Trust,
    local: Option<&ToolAnnotations>,
) -> ToolAnnotations {
    let mut annotations = hints_only(source, trust, local);
    let title = |from: Option<&ToolAnnotations>| from.and_then(|from| from.title.clone());
    annotations.title = title(local).or_else(|| title(source));
    annotations
}

/// [`effective`] without the title, which alone takes memory.
pub(super) fn hints_only(
    source: Option<&ToolAnnotations>,
    trust: Trust,
    local: Option<&ToolAnnotations>,
) -> ToolAnnotations {
    let source = source.filter(|_| trust.believes_hints());
    let hint = |read: fn(&ToolAnnotations) -> Option<bool>| {
        local.and_then(read).or_else(|| source.and_then(read))
    };
    ToolAnnotations {
        title: None,
        read_only_hint: hint(|from| from.read_only_hint),
        destructive_hint: hint(|from| from.destructive_hint),
        idempotent_hint: hint(|from| from.idempotent_hint),
        open_world_hint: hint(|from| from.open_world_hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untrusted_server_cannot_call_itself_read_only() {
        let claimed = ToolAnnotations::read_only().with_title("Safe");
        let counted = effective(Some(&claimed), Trust::Untrusted, None);
        assert_eq!(counted, ToolAnnotations::default().with_title("Safe"));
        for trust in [Trust::Trusted, Trust::Annotations] {
            assert_eq!(effective(Some(&claimed), trust, None), claimed);
        }
    }

    #[test]
    fn the_local_override_wins_hint_by_hint() {
        let local = ToolAnnotations {
            destructive_hint: Some(true),
            read_only_hint: Some(false),
            ..ToolAnnotations::default()
        };
        let claimed = ToolAnnotations::read_only();
        let counted = effective(Some(&claimed), Trust::Trusted, Some(&local));
        assert_eq!(counted.read_only_hint, Some(false));
        assert_eq!(counted.destructive_hint, Some(true));
        assert_eq!(counted.open_world_hint, Some(false), "from the server");
        let own = ToolAnnotations::read_only();
        assert_eq!(effective(None, Trust::Untrusted, Some(&own)), own);
    }

    #[test]
    fn an_empty_annotations_object_states_nothing() {
        let titled = ToolAnnotations::default().with_title("T");
        assert!(!Hints::from(&titled).stated);
        assert!(Hints::from(&ToolAnnotations::read_only()).stated);
    }
}
