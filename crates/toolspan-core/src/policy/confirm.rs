//! Which calls are put before a person?

use serde::{Deserialize, Serialize};

use super::level::Level;
use super::risk::{KnownRisk, SecurityRisk};

/// Which calls are asked about. Level 4 and `deny` refuse in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the three ways that a config knows"
)]
pub enum Confirm {
    /// None.
    #[default]
    Never,
    /// All, from level 0.
    Always,
    /// From level 2, where a risk adds a level.
    Risky {
        /// A known risk from here on adds a level.
        threshold: KnownRisk,
        /// An unknown risk adds a level, too.
        confirm_unknown: bool,
    },
}

impl Confirm {
    /// `risky` as the config's word means it: high or unknown adds a level.
    pub const fn risky() -> Self {
        Self::Risky {
            threshold: KnownRisk::High,
            confirm_unknown: true,
        }
    }

    /// The name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Always => "always",
            Self::Risky { .. } => "risky",
        }
    }

    /// Whether a call of this level is asked about.
    pub(super) fn asks(self, level: Level) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Risky { .. } => level >= Level::AskOnce,
        }
    }

    /// Whether this risk adds a level. Where no threshold is set it is high; where nothing is
    /// asked, what is unknown adds nothing.
    pub(super) fn raises(self, risk: SecurityRisk) -> bool {
        let (threshold, unknown) = match self {
            Self::Never => (KnownRisk::High, false),
            Self::Always => (KnownRisk::High, true),
            Self::Risky {
                threshold,
                confirm_unknown,
            } => (threshold, confirm_unknown),
        };
        risk.known().map_or(unknown, |known| known >= threshold)
    }
}

/// Reads `never`, `always` or `risky`.
impl std::str::FromStr for Confirm {
    type Err = InvalidConfirm;

    fn from_str(word: &str) -> Result<Self, InvalidConfirm> {
        let all = [Self::Never, Self::Always, Self::risky()];
        all.into_iter()
            .find(|confirm| confirm.as_str() == word)
            .ok_or(InvalidConfirm)
    }
}

/// A word that is no way to confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("confirm is never, always or risky")]
#[expect(clippy::exhaustive_structs, reason = "says all there is to say")]
pub struct InvalidConfirm;
