//! What would an import change in a config, and in which?

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::super::problem::Problem;
use super::super::{Environment, Resolved, file};
use super::merge::{self, Merged};
use super::note::Note;
use super::read::Import;
use super::secrets;
use super::write;

/// The config that an import goes into: the one named, else the one that `TOOLSPAN_CONFIG` names,
/// else the user's own, whether it exists or not.
///
/// # Errors
///
/// `usage` when the name is empty; `config` when no folder of the user is known.
pub fn target(explicit: Option<&Path>, environment: &Environment) -> Result<PathBuf> {
    let named = environment.variable("TOOLSPAN_CONFIG").map(Path::new);
    match explicit {
        Some(path) if path.as_os_str().is_empty() => {
            let message = "the path of the config to write is empty";
            Err(Error::new(ErrorKind::Usage, Phase::Config, message))
        }
        Some(path) => Ok(path.to_owned()),
        None => match named.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => Ok(path.to_owned()),
            None => file::user_file(environment).ok_or_else(|| {
                let message = "it is not known where the config is: no home folder is set";
                Error::new(ErrorKind::Config, Phase::Config, message)
                    .with_hint("name the file with --to")
            }),
        },
    }
}

/// What becomes of one server. Its `Debug` and its key are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Its key.
    pub key: String,
    /// What becomes of it.
    pub state: ChangeState,
}

/// What becomes of a server in the config that it goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeState {
    /// The config has no server of this key: it is added.
    Added,
    /// The config has the same: nothing is done.
    AlreadyThere,
    /// The config has another one of this key, which is left alone.
    Differs,
}

impl ChangeState {
    /// Its name in JSON, such as `already_there`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::AlreadyThere => "already_there",
            Self::Differs => "differs",
        }
    }
}

/// A config as it will be. Made by [`Import::plan`]. `Debug` shows no text of it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The config it is for, as the caller named it.
    pub file: PathBuf,
    /// What becomes of each server, in the order of the import.
    pub changes: Vec<Change>,
    /// What a person should know: the notes of the import, and which of the added servers cannot be
    /// used yet.
    pub notes: Vec<Note>,
    /// What is added, secrets hidden: for people to look at.
    pub shown: Value,
    /// The config as it was; `None` when there was no such file.
    before: Option<String>,
    text: String,
}

impl Import {
    /// Works out what the import changes in a config. Reads the config and writes nothing.
    ///
    /// # Errors
    ///
    /// `config` when the file is there and cannot be read or added to.
    pub fn plan(&self, to: &Path, environment: &Environment) -> Result<Plan> {
        let before = match environment.absolute(to).symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            _ => Some(file::read(to, environment)?),
        };
        let Merged {
            text,
            changes,
            notes: of_merge,
        } = merge::merge(before.as_deref().unwrap_or_default(), to, self)?;
        let is_added = |key: &String| {
            changes
                .iter()
                .any(|change| change.key == *key && change.state == ChangeState::Added)
        };
        let added = self.servers.iter().filter(|(key, _)| is_added(key));
        let added: Map<String, Value> = added
            .map(|(key, entry)| (key.clone(), entry.clone()))
            .collect();
        let about = |note: &&Note| {
            note.server
                .as_ref()
                .is_none_or(|key| !is_known(&changes, key))
        };
        let mut notes: Vec<Note> = self.notes.iter().filter(about).cloned().collect();
        notes.extend(of_merge);
        notes.extend(self.unusable(&added, environment));
        Ok(Plan {
            file: to.to_owned(),
            notes,
            shown: self.fragment(secrets::hidden(&added)),
            changes,
            before,
            text,
        })
    }

    /// Which of the servers our own reader cannot use as they are, and why.
    fn unusable(&self, added: &Map<String, Value>, environment: &Environment) -> Vec<Note> {
        let fragment = self.fragment(added.clone());
        let Ok(resolved) = Resolved::from_value(&fragment, environment) else {
            return Vec::new();
        };
        let enabled = resolved
            .toolboxes
            .iter()
            .filter(|toolbox| !toolbox.disabled);
        enabled
            .filter_map(|toolbox| {
                let problem = toolbox.transport.as_ref().err()?;
                Some(Note::on(
                    &toolbox.key,
                    format!("not usable yet: {}", brief(problem)),
                ))
            })
            .collect()
    }
}

/// Whether a server is one that the config has already.
fn is_known(changes: &[Change], key: &str) -> bool {
    changes
        .iter()
        .any(|change| change.key == key && change.state != ChangeState::Added)
}

/// A problem without the path that its note says already.
fn brief(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.message),
        None => problem.message.clone(),
    }
}

impl Plan {
    /// Whether there is anything to write.
    pub fn is_change(&self) -> bool {
        self.changes
            .iter()
            .any(|change| change.state == ChangeState::Added)
    }

    /// Puts the config in its place in one step: whoever reads it sees the old or the new one,
    /// whole. A new file is for this user alone (0600, its folder 0700); an old one keeps its mode.
    /// Without a change nothing is written.
    ///
    /// # Errors
    ///
    /// `config` when the file cannot be written, or has changed since the plan was made; the old
    /// file is then as it was.
    pub fn write(&self, environment: &Environment) -> Result<()> {
        if !self.is_change() {
            return Ok(());
        }
        let written = write::replace(
            &environment.absolute(&self.file),
            &self.text,
            self.before.as_deref(),
        );
        Ok(written.map_err(|problem| problem.in_file(Some(self.file.clone())))?)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Plan")
            .field("file", &self.file)
            .field("changes", &self.changes)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}
