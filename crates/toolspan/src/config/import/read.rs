//! Which servers has a program, as entries of ours?

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolspan_core::guard::sanitise::one_line;
use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::super::Environment;
use super::super::file;
use super::super::problem::{Problem, quoted};
use super::app::{App, Platform};
use super::document::{self, LARGEST};
use super::entry::{self, Origin};
use super::found::{self, FoundServer};
use super::note::Note;
use super::secrets;

/// Most servers that are taken over; as many as a config can have.
const MOST: usize = 1_000;

/// The servers of a program in our own form. `Debug` shows their keys alone.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Import {
    /// The program they are from.
    pub app: App,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// The entries by their keys, in the order of the files, secrets included.
    pub servers: Map<String, Value>,
    /// What VS Code asks its user, to go beside `mcpServers` as `inputs`.
    pub inputs: Vec<Value>,
    /// What a person should know. Never a secret.
    pub notes: Vec<Note>,
}

impl Import {
    /// Reads the file that is named, else all of the program's own files that there are.
    ///
    /// # Errors
    ///
    /// `config`, with the path and, where there is one, the line: no such file, a file that cannot
    /// be read, is larger than 32 MiB or is broken, and a file without servers.
    pub fn read(app: App, from: Option<&Path>, environment: &Environment) -> Result<Self> {
        let files = match from {
            Some(file) if file.as_os_str().is_empty() => {
                let message = "the path of the file to import is empty";
                return Err(Error::new(ErrorKind::Usage, Phase::Config, message));
            }
            Some(file) => vec![file.to_owned()],
            None => existing(app, environment)?,
        };
        let mut import = Self::empty(app);
        for file in &files {
            let text = file::read_at_most(LARGEST, file, environment)?;
            import.add_text(&text, file, environment)?;
        }
        import.finished()
    }

    /// Takes a text that stands in a file. Reads nothing else; `environment` says which folder is
    /// the user's, and fills in the variables of commands.
    ///
    /// # Errors
    ///
    /// As [`Import::read`].
    pub fn from_text(app: App, text: &str, file: &Path, environment: &Environment) -> Result<Self> {
        let mut import = Self::empty(app);
        import.add_text(text, file, environment)?;
        import.finished()
    }

    fn empty(app: App) -> Self {
        Self {
            app,
            files: Vec::new(),
            servers: Map::new(),
            inputs: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn add_text(
        &mut self,
        text: &str,
        file: &Path,
        environment: &Environment,
    ) -> Result<(), Problem> {
        let document = document::parse(self.app, text, file)?;
        let found = found::servers(self.app, &document, file)?;
        let project = self.app.project(file, environment);
        self.files.push(file.to_owned());
        if self.servers.len() + found.servers.len() > MOST {
            let message = format!("there are more than {MOST} servers in it");
            return Err(Problem::new(message).in_file(Some(file.to_owned())));
        }
        for server in found.servers {
            let origin = Origin {
                app: self.app,
                project: server.project.as_deref().or(project.as_deref()),
                environment,
            };
            self.add_server(&server, origin);
        }
        self.add_inputs(found.inputs);
        Ok(())
    }

    fn add_server(&mut self, server: &FoundServer, origin: Origin<'_>) {
        let Value::Object(entry) = &server.entry else {
            let message = "left out: its entry is no object";
            return self.notes.push(Note::on(&server.key, message));
        };
        let mut notes = Vec::new();
        let entry = Value::Object(entry::convert(&server.key, entry, origin, &mut notes));
        let key = match (self.servers.get(&server.key), origin.project) {
            (None, _) => server.key.clone(),
            (Some(known), _) if *known == entry => return,
            (Some(_), Some(project)) => {
                let key = self.free_key(&server.key, project);
                let message = format!(
                    "this is {} of the project {}; the key was taken",
                    quoted(&server.key),
                    one_line(&project.to_string_lossy(), 200),
                );
                self.notes.push(Note::on(&key, message));
                key
            }
            (Some(_), None) => {
                let message = "another one with this key, of a later file, is left out";
                return self.notes.push(Note::on(&server.key, message));
            }
        };
        self.notes.append(&mut notes);
        self.notes.extend(secrets::notes(&key, &entry));
        self.servers.insert(key, entry);
    }

    /// `KEY-FOLDER`, with a number where that is taken too.
    fn free_key(&self, key: &str, project: &Path) -> String {
        let folder = project.file_name().unwrap_or_default().to_string_lossy();
        let first = format!("{key}-{folder}");
        let mut candidates = std::iter::once(first.clone())
            .chain((2..=MOST + 1).map(|number| format!("{first}-{number}")));
        let free = candidates.find(|key| !self.servers.contains_key(key));
        free.unwrap_or(first)
    }

    fn add_inputs(&mut self, inputs: Vec<Value>) {
        let known: HashSet<String> = self.inputs.iter().filter_map(id).collect();
        let new = inputs.into_iter().take(MOST);
        self.inputs
            .extend(new.filter(|input| id(input).is_none_or(|id| !known.contains(&id))));
    }

    fn finished(self) -> Result<Self> {
        if !self.servers.is_empty() {
            return Ok(self);
        }
        let files: Vec<String> = self.files.iter().map(|file| shown(file)).collect();
        let message = format!("{}: there are no MCP servers in it", files.join(", "));
        let keys = match self.app {
            App::Codex => "tables [mcp_servers.NAME]",
            App::VsCode => "\"servers\", or \"mcp\" in a settings.json",
            _ => "\"mcpServers\"",
        };
        Err(Error::new(ErrorKind::Config, Phase::Config, message)
            .with_hint(format!("{} has its servers in {keys}", self.app)))
    }

    /// What is added to a config, secrets hidden: for people to look at.
    pub fn shown(&self) -> Value {
        self.fragment(secrets::hidden(&self.servers))
    }

    /// A config of these servers and the inputs.
    pub(super) fn fragment(&self, servers: Map<String, Value>) -> Value {
        let mut fragment = Map::new();
        if !self.inputs.is_empty() {
            fragment.insert("inputs".to_owned(), json!(self.inputs));
        }
        fragment.insert("mcpServers".to_owned(), servers.into());
        fragment.into()
    }
}

impl fmt::Debug for Import {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.servers.keys().collect();
        formatter
            .debug_struct("Import")
            .field("app", &self.app)
            .field("files", &self.files)
            .field("servers", &keys)
            .field("inputs", &self.inputs.len())
            .field("notes", &self.notes)
            .finish()
    }
}

/// The `id` of an input.
pub(super) fn id(input: &Value) -> Option<String> {
    input.get("id")?.as_str().map(str::to_owned)
}

pub(super) fn shown(file: &Path) -> String {
    one_line(&file.to_string_lossy(), 1_000)
}

/// The files of a program that there are.
fn existing(app: App, environment: &Environment) -> Result<Vec<PathBuf>> {
    let files = app.files(Platform::HERE, environment);
    let is_there = |file: &PathBuf| !matches!(file.try_exists(), Ok(false));
    let existing: Vec<PathBuf> = files
        .iter()
        .filter(|file| is_there(file))
        .cloned()
        .collect();
    if !existing.is_empty() {
        return Ok(existing);
    }
    let looked: Vec<String> = files.iter().map(|file| shown(file)).collect();
    let message = if looked.is_empty() {
        format!("it is not known where {app} has its config: no home folder is set")
    } else {
        format!(
            "there is no config of {app}: looked for {}",
            looked.join(" and ")
        )
    };
    Err(Error::new(ErrorKind::Config, Phase::Config, message)
        .with_hint("name the file with --from"))
}
