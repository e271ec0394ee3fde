//! How much harm may one call do, and which of these words can be compared?

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// How much harm one call may do, as far as anybody knows.
///
/// Low, medium and high are ordered. Unknown compares with nothing but itself: it is neither less
/// nor more, and whoever decides says what it counts for ([`super::Confirm::Risky`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SecurityRisk {
    /// Nobody said, or nobody can tell.
    #[default]
    Unknown,
    /// Reads, or changes little that can be taken back.
    Low,
    /// Changes things within the place it works in.
    Medium,
    /// May destroy, give data away or change who may do what.
    High,
}

/// A risk that is known; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a closed scale of three steps")]
pub enum KnownRisk {
    /// As [`SecurityRisk::Low`].
    Low,
    /// As [`SecurityRisk::Medium`].
    Medium,
    /// As [`SecurityRisk::High`].
    High,
}

/// A word that is no risk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no risk; say unknown, low, medium or high")]
#[non_exhaustive]
pub struct InvalidRisk {
    /// The word, at most 40 characters of it.
    pub word: String,
}

impl SecurityRisk {
    /// The words that a model is offered (`enum` of the field `security_risk`).
    pub const MODEL_WORDS: [&str; 4] = ["UNKNOWN", "LOW", "MEDIUM", "HIGH"];

    /// The name in JSON, Python and the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The risk where it is known.
    pub const fn known(self) -> Option<KnownRisk> {
        match self {
            Self::Unknown => None,
            Self::Low => Some(KnownRisk::Low),
            Self::Medium => Some(KnownRisk::Medium),
            Self::High => Some(KnownRisk::High),
        }
    }

    /// The higher of two, where what is known wins over what is not.
    #[must_use]
    pub fn max_known(self, other: Self) -> Self {
        self.known()
            .max(other.known())
            .map_or(Self::Unknown, Self::from)
    }
}

/// Reads a word in any case, with spaces around it.
impl std::str::FromStr for SecurityRisk {
    type Err = InvalidRisk;

    fn from_str(word: &str) -> Result<Self, InvalidRisk> {
        let all = [Self::Unknown, Self::Low, Self::Medium, Self::High];
        let same = |risk: &Self| risk.as_str().eq_ignore_ascii_case(word.trim());
        all.into_iter().find(same).ok_or_else(|| InvalidRisk {
            word: word.chars().take(40).collect(),
        })
    }
}

impl PartialOrd for SecurityRisk {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.known(), other.known()) {
            (Some(one), Some(other)) => one.partial_cmp(&other),
            (None, None) => Some(Ordering::Equal),
            _ => None,
        }
    }
}

impl std::fmt::Display for SecurityRisk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<KnownRisk> for SecurityRisk {
    fn from(known: KnownRisk) -> Self {
        match known {
            KnownRisk::Low => Self::Low,
            KnownRisk::Medium => Self::Medium,
            KnownRisk::High => Self::High,
        }
    }
}

/// Fails for unknown, which is no threshold.
impl TryFrom<SecurityRisk> for KnownRisk {
    type Error = InvalidThreshold;

    fn try_from(risk: SecurityRisk) -> Result<Self, InvalidThreshold> {
        risk.known().ok_or(InvalidThreshold)
    }
}

/// Unknown was given as a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a threshold is low, medium or high; what is unknown is said by confirm_unknown")]
#[expect(clippy::exhaustive_structs, reason = "says all there is to say")]
pub struct InvalidThreshold;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_ordered() {
        use SecurityRisk::{High, Low, Medium, Unknown};
        assert!(Low < Medium && Medium < High);
        for known in [Low, Medium, High] {
            assert_eq!(known.partial_cmp(&Unknown), None);
            assert_eq!(Unknown.partial_cmp(&known), None);
            assert_eq!(known.max_known(Unknown), known);
            assert_eq!(Unknown.max_known(known), known);
        }
        assert_eq!(Unknown.max_known(Unknown), Unknown);
        assert_eq!(Low.max_known(High), High);
    }

    #[test]
    fn a_word_is_read_in_any_case_and_anything_else_is_refused_with_the_words_that_are_taken() {
        for (word, risk) in SecurityRisk::MODEL_WORDS.iter().zip([0, 1, 2, 3]) {
            let read: SecurityRisk = format!(" {word}\n").parse().unwrap();
            assert_eq!(read.known().map_or(0, |known| known as i32 + 1), risk);
            assert_eq!(read, word.to_lowercase().parse().unwrap());
        }
        for word in ["", "CRITICAL", "lo w", "высокий", "high!"] {
            let error = word.parse::<SecurityRisk>().unwrap_err().to_string();
            assert!(error.contains("unknown, low, medium or high"), "{error}");
        }
        let long = "x".repeat(1_000).parse::<SecurityRisk>().unwrap_err();
        assert_eq!(long.word.len(), 40);
    }

    #[test]
    fn unknown_is_no_threshold() {
        assert_eq!(
            KnownRisk::try_from(SecurityRisk::Unknown),
            Err(InvalidThreshold)
        );
        assert_eq!(KnownRisk::try_from(SecurityRisk::Low), Ok(KnownRisk::Low));
    }
}
