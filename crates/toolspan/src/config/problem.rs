//! What is wrong in a config, where, and what to do about it?

use std::fmt;
use std::path::PathBuf;

use toolspan_core::guard::sanitise::{for_people, one_line};
use toolspan_core::{Error, ErrorKind, Phase};

/// Longest name that a message or a key path repeats, in characters.
const LONGEST_NAME: usize = 60;
/// Where a config has its servers; an empty place is the config itself.
const PLACES: [&str; 3] = ["mcpServers", "servers", ""];

/// One thing that is wrong, or odd, in a config. It never holds a value that may be a secret.
///
/// `Display` is one sentence: `FILE:LINE:COLUMN: KEY PATH: MESSAGE; HINT`, without the parts that
/// are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The file as the caller named it; `None` for a config that did not come from a file.
    pub file: Option<PathBuf>,
    /// Where in the config, such as `mcpServers.time.args[0]`; empty for the whole of it.
    pub key_path: String,
    /// Line in the file, counted from 1.
    pub line: Option<u32>,
    /// Column in the line, counted in characters from 1.
    pub column: Option<u32>,
    /// What is wrong, in plain words.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem of which only the words are known.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            file: None,
            key_path: String::new(),
            line: None,
            column: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Says in which file it is.
    #[must_use]
    pub(super) fn in_file(mut self, file: Option<PathBuf>) -> Self {
        self.file = file;
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The sentence without the hint: where it is and what is wrong.
    pub fn statement(&self) -> String {
        let mut statement = String::new();
        if let Some(file) = &self.file {
            statement.push_str(&for_people(&file.to_string_lossy()));
            if let (Some(line), Some(column)) = (self.line, self.column) {
                statement.push_str(&format!(":{line}:{column}"));
            }
            statement.push_str(": ");
        }
        if !self.key_path.is_empty() {
            statement.push_str(&self.key_path);
            statement.push_str(": ");
        }
        statement.push_str(&self.message);
        statement
    }

    /// Whether it is in the entry of the toolbox with this key.
    pub fn is_of_toolbox(&self, key: &str) -> bool {
        PLACES.iter().any(|place| {
            let rest = self.key_path.strip_prefix(&member_path(place, key));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    /// The JSON object that `config check` gives; what is not known is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "file": self.file.as_ref().map(|file| file.to_string_lossy()),
            "key_path": self.key_path,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "hint": self.hint,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.statement())?;
        match &self.hint {
            Some(hint) => write!(formatter, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// A problem that leaves nothing to work with: kind `config`, the hint in its own field.
impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let error = Self::new(ErrorKind::Config, Phase::Config, problem.statement());
        match problem.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// A name from the config in quotes, made safe to show and not too long.
pub(super) fn quoted(name: &str) -> String {
    format!("{:?}", one_line(name, LONGEST_NAME))
}

/// The key path of a member: `parent.key`, or `parent["odd key"]`.
pub(super) fn member_path(parent: &str, key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_plain = !key.is_empty() && key.len() <= LONGEST_NAME && key.bytes().all(plain);
    match (is_plain, parent.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{parent}.{key}"),
        (false, _) => format!("{parent}[{}]", quoted(key)),
    }
}

/// What is odd but does not stop anything. Holds the first [`Warnings::MOST`] and counts the rest.
#[derive(Default)]
pub(super) struct Warnings {
    kept: Vec<Problem>,
    left_out: usize,
    notes: Vec<Problem>,
}

impl Warnings {
    /// Most warnings that one config gives.
    const MOST: usize = 100;

    /// Adds a warning; it is not even made when there are too many.
    pub(super) fn add(&mut self, warning: impl FnOnce() -> Problem) {
        if self.kept.len() < Self::MOST {
            self.kept.push(warning());
        } else {
            self.left_out += 1;
        }
    }

    /// Adds what is worth knowing and surprises nobody; at most [`Warnings::MOST`] are kept.
    pub(super) fn note(&mut self, note: impl FnOnce() -> Problem) {
        if self.notes.len() < Self::MOST {
            self.notes.push(note());
        }
    }

    /// All that was kept, with one more that counts the others; and the notes.
    pub(super) fn finish(mut self) -> (Vec<Problem>, Vec<Problem>) {
        if self.left_out > 0 {
            let file = self.kept.first().and_then(|first| first.file.clone());
            let more = format!("{} more warnings are not shown", self.left_out);
            self.kept.push(Problem::new(more).in_file(file));
        }
        (self.kept, self.notes)
    }
}
