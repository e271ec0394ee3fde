//! Which commands does a shell text run, whatever its quotes, escapes and detours?
//!
//! This reads what a person or a model writes to hurt or by mistake, not every program: a POSIX
//! shell's words, quotes, pipes, lists, groups, redirections, here-documents, substitutions and
//! plain variables. It never fails; what it cannot follow stays as it is written. Time grows with
//! the length of the text times [`DEEPEST`], memory with the length.

use std::sync::Arc;

use super::follow;
use super::parser::Parser;
use super::place::Place;

/// Longest text that is read, in bytes.
pub(super) const LONGEST: usize = 1 << 20;

/// Deepest nesting of texts in texts (`sh -c`, `$(…)`, `eval`) that is read.
pub(super) const DEEPEST: usize = 8;

/// Most variables that are kept.
const VARIABLES: usize = 64;

/// Most parts of a folder that is kept for the commands behind a `cd`.
const FOLDER: usize = 16;

/// Stands in a word for text that came from the network or out of an encoding.
pub(super) const FETCHED: char = '\u{10fffd}';

/// A redirection to or from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) writes: bool,
    pub(super) target: String,
}

/// One simple command, its words as the program gets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) redirects: Vec<Redirect>,
    /// The text of a here-document or here-string.
    pub(super) input: Option<String>,
    /// Takes what the command before it gives.
    pub(super) piped: bool,
    /// The same number for all commands of a pipeline, groups counted whole.
    pub(super) pipeline: usize,
    /// The folder it runs in, where a `cd` before it says so.
    pub(super) folder: Option<Arc<Place>>,
}

/// All commands that a text runs, those of texts in it included.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    /// Some of the text was not read: it nests too deep or is too long.
    pub(super) unread: bool,
    pub(super) folder: Option<Arc<Place>>,
    variables: Vec<(String, String)>,
    /// Characters that variables and braces added.
    pub(super) grown: usize,
    pub(super) depth: usize,
    pub(super) pipelines: usize,
}

impl Script {
    /// The commands of a text that a shell is given, in a folder where it is known.
    pub(super) fn read(text: &str, folder: Option<Place>) -> Self {
        let mut script = Self {
            folder: folder.map(Arc::new),
            ..Self::default()
        };
        script.add(text, false);
        script
    }

    /// The command of a list of words that no shell reads.
    pub(super) fn of_words(words: Vec<String>, folder: Option<Place>) -> Self {
        let mut script = Self {
            folder: folder.map(Arc::new),
            ..Self::default()
        };
        script.add_words(words);
        script
    }

    /// Adds the commands of a text; `piped` when it takes the output of what stands before.
    pub(super) fn add(&mut self, text: &str, piped: bool) {
        if self.depth >= DEEPEST || text.len() > LONGEST {
            self.unread = true;
            return;
        }
        self.depth += 1;
        if !piped {
            self.pipelines += 1;
        }
        Parser::new(text, self, piped).run();
        self.depth -= 1;
    }

    /// Adds one command by its words.
    pub(super) fn add_words(&mut self, words: Vec<String>) {
        self.pipelines += 1;
        let command = Command {
            words,
            pipeline: self.pipelines,
            ..Command::default()
        };
        self.push(command);
    }

    pub(super) fn push(&mut self, mut command: Command) {
        command.folder = self.folder.clone();
        if command
            .words
            .first()
            .is_some_and(|word| word == "cd" || word == "pushd")
        {
            let to = command
                .words
                .iter()
                .skip(1)
                .find(|word| !word.starts_with('-'));
            let to = to.map_or("~", String::as_str);
            let folder = Place::new(to, self.folder.as_deref());
            self.folder = (folder.parts.len() <= FOLDER).then(|| Arc::new(folder));
        }
        self.commands.push(command);
        if self.depth < DEEPEST {
            self.depth += 1;
            follow::follow(self);
            self.depth -= 1;
        } else {
            self.unread |= follow::leads_on(self);
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let mut newest_first = self.variables.iter().rev();
        newest_first
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        if self.variables.len() < VARIABLES && value.len() <= 256 {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
    }
}
