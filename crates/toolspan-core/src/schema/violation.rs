//! What is wrong with a value, in words a model or a person can act on?

use std::fmt;

use super::wording;

/// One way in which a value breaks its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where in the value: a JSON pointer (RFC 6901), empty for the whole value. A missing
    /// property is reported at its parent.
    pub pointer: String,
    /// What the schema wants there, in words: `an integer`, `one of "a", "b"`.
    pub expected: String,
    /// What is there: its type and a short excerpt, without the excerpt where it may be secret.
    pub found: String,
    /// The keyword of the schema that is broken: `type`, `required`. Empty where no schema was asked.
    pub keyword: String,
    /// Where in the schema that keyword stands: a JSON pointer.
    pub schema_pointer: String,
}

impl Violation {
    /// A violation that a door finds before any schema is asked, such as a value that is no JSON.
    pub fn new(
        pointer: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            expected: expected.into(),
            found: found.into(),
            keyword: String::new(),
            schema_pointer: String::new(),
        }
    }
}

/// Everything that is wrong with a value; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    listed: Vec<Violation>,
    unlisted: Option<usize>,
}

impl Violations {
    /// `unlisted` is `None` where the rest was not counted.
    pub(super) fn new(listed: Vec<Violation>, unlisted: Option<usize>) -> Self {
        Self { listed, unlisted }
    }

    pub(super) fn single(violation: Violation) -> Self {
        Self::new(vec![violation], Some(0))
    }

    /// The listed violations, in the order the validator met them.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.listed.iter()
    }

    /// The listed violations, as [`iter`](Self::iter) gives them.
    #[must_use]
    pub fn as_slice(&self) -> &[Violation] {
        &self.listed
    }

    /// The listed violations by value.
    #[must_use]
    pub fn into_vec(self) -> Vec<Violation> {
        self.listed
    }

    /// How many more violations there are than the listed ones; `None` where the value is too
    /// large to count them.
    #[must_use]
    pub fn unlisted(&self) -> Option<usize> {
        self.unlisted
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", wording::pointer(&self.pointer, 200))?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// One line for a single violation, else a list.
impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([only], Some(0)) = (self.listed.as_slice(), self.unlisted) {
            return write!(f, "{only}");
        }
        match self.unlisted {
            Some(more) => write!(f, "{} problems:", self.listed.len() + more)?,
            None => f.write_str("problems:")?,
        }
        for violation in &self.listed {
            write!(f, "\n- {violation}")?;
        }
        match self.unlisted {
            Some(0) => Ok(()),
            Some(more) => write!(f, "\n- and {more} more"),
            None => f.write_str("\n- and perhaps more; the value is too large to list them"),
        }
    }
}

impl std::error::Error for Violations {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_shown_whole_up_to_a_bound() {
        let shown = |pointer: &str| Violation::new(pointer, "a", "b").to_string();
        assert_eq!(shown(""), "expected a, found b");
        assert_eq!(shown(r#"/it/""#), r#"/it/\": expected a, found b"#);
        assert_eq!(shown("/\u{1f}"), r"/\u{1f}: expected a, found b");
        let long = shown(&"/".repeat(300));
        assert_eq!(long, format!("{}…: expected a, found b", "/".repeat(200)));
    }
}
