//! How much must be asked before a tool runs, by its kind, its source and what is said of it?

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::facts::BuiltIn;
use super::trust::{Hints, Trust};

/// How much must be asked before a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
#[expect(clippy::exhaustive_enums, reason = "a closed scale of five steps")]
pub enum Level {
    /// 0: run.
    Run = 0,
    /// 1: run, and write it down.
    Log = 1,
    /// 2: ask once per session and definition of the tool.
    AskOnce = 2,
    /// 3: ask each time, with the exact arguments.
    AskEach = 3,
    /// 4: refuse.
    Refuse = 4,
}

impl Level {
    /// The number: 0 to 4.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// What it means in words, where the policy confirms calls.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Log => "run, and write it down",
            Self::AskOnce => "ask once per session",
            Self::AskEach => "ask each time",
            Self::Refuse => "refuse",
        }
    }

    /// One level more, at most [`Level::AskEach`]: only a rule refuses.
    #[must_use]
    pub(super) const fn raised(self) -> Self {
        match self {
            Self::Run => Self::Log,
            Self::Log => Self::AskOnce,
            Self::AskOnce | Self::AskEach => Self::AskEach,
            Self::Refuse => Self::Refuse,
        }
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        level.number()
    }
}

/// Fails for a number above 4.
impl TryFrom<u8> for Level {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Self::Run),
            1 => Ok(Self::Log),
            2 => Ok(Self::AskOnce),
            3 => Ok(Self::AskEach),
            4 => Ok(Self::Refuse),
            _ => Err(format!("a level is 0 to 4, not {number}")),
        }
    }
}

/// How strict the table is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// What would be written down is asked: level 1 becomes 2, as the last step.
    Strict,
    /// The table as it stands.
    #[default]
    Default,
    /// What would be asked once runs: level 2 of the table becomes 1, before a risk raises it.
    Trusted,
}

/// A level, and why in words.
pub(super) type Ruled = (Level, Cow<'static, str>);

/// The row and column of a foreign or native tool in the table.
pub(super) fn of_tool(hints: Hints, trust: Trust) -> Ruled {
    let trusted = trust == Trust::Trusted;
    let (level, words) = match (hints, trusted) {
        (Hints { stated: false, .. }, true) => (
            Level::AskOnce,
            "nothing is said of what the tool does; its source is trusted",
        ),
        (Hints { stated: false, .. }, false) => (
            Level::AskEach,
            "nothing that is believed is said of what the tool does",
        ),
        (
            Hints {
                read_only: true,
                open_world: false,
                ..
            },
            true,
        ) => (Level::Run, "the tool only reads, in a closed domain"),
        (
            Hints {
                read_only: true,
                open_world: false,
                ..
            },
            false,
        ) => (
            Level::Log,
            "the tool only reads, in a closed domain; its source is not trusted",
        ),
        (
            Hints {
                read_only: true, ..
            },
            true,
        ) => (Level::Log, "the tool only reads, in the open world"),
        (
            Hints {
                read_only: true, ..
            },
            false,
        ) => (
            Level::AskOnce,
            "the tool only reads, in the open world; its source is not trusted",
        ),
        (
            Hints {
                destructive: false, ..
            },
            true,
        ) => (Level::Log, "the tool changes things and destroys nothing"),
        (
            Hints {
                destructive: false, ..
            },
            false,
        ) => (
            Level::AskOnce,
            "the tool changes things and destroys nothing; its source is not trusted",
        ),
        (_, true) => (Level::AskOnce, "the tool may destroy"),
        (_, false) => (
            Level::AskEach,
            "the tool may destroy; its source is not trusted",
        ),
    };
    (level, Cow::Borrowed(words))
}

/// The row of a tool that this program brings itself.
pub(super) fn of_built_in(built_in: BuiltIn) -> Ruled {
    let (level, words) = match built_in {
        BuiltIn::Speak => (Level::Run, "the tool says something and does nothing"),
        BuiltIn::Look { inside: true } => (Level::Run, "looks inside the workspace"),
        BuiltIn::Look { inside: false } => (Level::AskOnce, "looks outside the workspace"),
        BuiltIn::Edit { inside: true } => (Level::Log, "edits inside the workspace"),
        BuiltIn::Edit { inside: false } => (Level::Refuse, "edits outside the workspace"),
        BuiltIn::Shell { harmless: true } => {
            (Level::Log, "runs one known command without shell syntax")
        }
        BuiltIn::Shell { harmless: false } => (Level::AskEach, "runs a shell command"),
        BuiltIn::Launch => (Level::AskEach, "starts a new server"),
    };
    (level, Cow::Borrowed(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_its_number_in_json() {
        assert_eq!(serde_json::to_string(&Level::AskEach).unwrap(), "3");
        assert_eq!(serde_json::from_str::<Level>("4").unwrap(), Level::Refuse);
        assert!(serde_json::from_str::<Level>("5").is_err());
    }

    #[test]
    fn a_risk_never_refuses_by_itself() {
        let mut level = Level::Run;
        for _ in 0..5 {
            level = level.raised();
        }
        assert_eq!(level, Level::AskEach);
        assert_eq!(Level::Refuse.raised(), Level::Refuse);
    }
}
