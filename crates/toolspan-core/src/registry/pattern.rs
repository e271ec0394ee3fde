//! Which tools does a filter mean: by an exact name, a glob or a regular expression?

use regex::{Regex, RegexBuilder};

use crate::guard::outcome::Phase;
use crate::policy::Glob;
use crate::{Error, ErrorKind, Result};

/// Longest regular expression, in characters.
const LONGEST: usize = 1_000;
/// Most memory of a compiled regular expression, in bytes.
const COMPILED: usize = 1 << 20;

/// A name, or a pattern of names. Matching takes time that is linear in the name.
///
/// ```
/// use toolspan_core::registry::NamePattern;
/// assert!(NamePattern::parse("get_*")?.matches("get_time"));
/// assert!(!NamePattern::parse("get")?.matches("get_time"));
/// assert!(NamePattern::parse("/get_(time|date)/")?.matches("get_time_zone"));
/// # Ok::<(), toolspan_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NamePattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Exact(String),
    Glob(Glob),
    Regex(Regex),
}

impl NamePattern {
    /// This name alone, case included.
    pub fn exact(name: impl Into<String>) -> Self {
        Self(Kind::Exact(name.into()))
    }

    /// Names of this form: `*` is any run of characters, `?` is one.
    ///
    /// # Errors
    ///
    /// `config` when the pattern is blank or too long.
    pub fn glob(pattern: &str) -> Result<Self> {
        let glob = Glob::new(pattern).map_err(|problem| invalid(problem.to_string()))?;
        Ok(Self(Kind::Glob(glob)))
    }

    /// Names that begin with what the expression matches; `$` at its end means the whole name.
    ///
    /// # Errors
    ///
    /// `config` when it is no regular expression, or one that is too large.
    pub fn regex(expression: &str) -> Result<Self> {
        if expression.chars().count() > LONGEST {
            return Err(invalid(format!(
                "a regular expression of tool names has more than {LONGEST} characters"
            )));
        }
        let regex = RegexBuilder::new(&format!("^(?:{expression})"))
            .size_limit(COMPILED)
            .dfa_size_limit(COMPILED)
            .build()
            .map_err(|problem| {
                invalid(format!("no regular expression of tool names: {problem}"))
            })?;
        Ok(Self(Kind::Regex(regex)))
    }

    /// Reads `/expression/` as a regular expression, what has `*` or `?` as a glob, and everything
    /// else as an exact name.
    ///
    /// # Errors
    ///
    /// As [`glob`](Self::glob) and [`regex`](Self::regex).
    pub fn parse(written: &str) -> Result<Self> {
        let inner = written
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'));
        match inner {
            Some(expression) => Self::regex(expression),
            None if written.contains(['*', '?']) => Self::glob(written),
            None => Ok(Self::exact(written)),
        }
    }

    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Exact(exact) => exact == name,
            Kind::Glob(glob) => glob.matches(name),
            Kind::Regex(regex) => regex.is_match(name),
        }
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::Config, Phase::Config, message)
}
