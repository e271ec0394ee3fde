//! From what are the texts of a config filled in, and where do its relative paths start?

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Environment;
use super::dotenv;
use super::expand;
use super::field::Field;
use super::file;
use super::inputs::{AskInput, Asking, Inputs};
use super::problem::{Problem, Warnings};
use super::secrets::Collected;
use super::trust;

/// Folders of editors: a config in one of them belongs to the project around it.
const EDITORS: &[&str] = &[".vscode", ".cursor", ".windsurf", ".gemini", ".roo"];

/// What lies around a config.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) environment: &'a Environment,
    /// Where relative paths start; the config's folder, as a rule.
    pub(super) folder: Option<&'a Path>,
    /// What `${workspaceFolder}` stands for.
    pub(super) workspace: Option<&'a Path>,
    /// Whom to ask for inputs.
    pub(super) asker: &'a dyn AskInput,
    /// Where it is noted which other files are read.
    pub(super) files: Option<&'a ReadFiles>,
}

/// A file of variables that was read with a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    /// The SHA-256 of its text.
    pub(super) hash: [u8; 32],
    /// The names of the variables in it, in order.
    pub(super) variables: Vec<String>,
}

/// The files that were read with a config, in order.
#[derive(Default)]
pub(super) struct ReadFiles(RefCell<Vec<ReadFile>>);

impl ReadFiles {
    pub(super) fn into_inner(self) -> Vec<ReadFile> {
        self.0.into_inner()
    }
}

impl<'a> Surroundings<'a> {
    /// Of a config in this file, named by an absolute path.
    ///
    /// The workspace is the file's folder. For a file in an editor's folder it is the folder around
    /// that, and relative paths start there, too. The user's own files belong to no project: their
    /// workspace is the current directory.
    pub(super) fn of_file(absolute: &'a Path, environment: &'a Environment) -> Self {
        let folder = absolute.parent();
        let name = folder.and_then(Path::file_name).and_then(OsStr::to_str);
        let is_editors = name.is_some_and(|name| EDITORS.contains(&name));
        let folder = match is_editors {
            true => folder.and_then(Path::parent),
            false => folder,
        };
        let is_users = file::user_file(environment).as_deref() == Some(absolute)
            || (is_editors && folder == environment.home());
        Self {
            environment,
            folder,
            workspace: match is_users {
                true => environment.current_dir(),
                false => folder,
            },
            asker: &(),
            files: None,
        }
    }

    /// Of a config that did not come from a file.
    pub(super) fn of_value(environment: &'a Environment) -> Self {
        Self {
            environment,
            folder: environment.current_dir(),
            workspace: environment.current_dir(),
            asker: &(),
            files: None,
        }
    }

    /// The same, with somebody to ask for inputs.
    pub(super) fn asking(self, asker: &'a dyn AskInput) -> Self {
        Self { asker, ..self }
    }

    /// The same, with a place to note which other files are read.
    pub(super) fn noting(self, files: &'a ReadFiles) -> Self {
        Self {
            files: Some(files),
            ..self
        }
    }
}

/// Fills in the texts of one server and keeps what is learnt on the way.
pub(super) struct Filling<'a, 'w> {
    pub(super) surroundings: Surroundings<'a>,
    pub(super) inputs: &'a Inputs<'a>,
    /// Whether a person is asked for inputs.
    pub(super) asking: Asking,
    /// The secrets that were filled in.
    pub(super) secrets: Collected,
    pub(super) warnings: &'w mut Warnings,
}

impl Filling<'_, '_> {
    /// A text with its variables filled in.
    pub(super) fn text(&mut self, field: &Field<'_>) -> Result<String, Problem> {
        let text = field.text()?;
        let expanded = expand::text(text, self).map_err(|error| error.at(field))?;
        for secret in &expanded.secrets {
            self.secrets.add(secret);
        }
        Ok(expanded.text)
    }

    /// As [`text`](Self::text), for a value that other programs fill `$NAME` into: says that such a
    /// text stays as it is.
    pub(super) fn value(&mut self, field: &Field<'_>) -> Result<String, Problem> {
        if let Some(name) = expand::bare_variable(field.text()?) {
            self.warnings.add(|| {
                field
                    .problem(format!("${name} stays as it is"))
                    .with_hint(format!(
                        "write ${{{name}}} for the variable, or $${name} to keep the text"
                    ))
            });
        }
        self.text(field)
    }

    /// The variables of a file, and which file it was is noted.
    pub(super) fn read_variables(&self, path: &Path) -> Result<Vec<(String, String)>, Problem> {
        let environment = self.surroundings.environment;
        let text = file::read_at_most(dotenv::LARGEST, path, environment)?;
        let read = dotenv::parse(&text);
        if let Some(files) = self.surroundings.files {
            let variables = read.iter().flatten().map(|(name, _)| name.clone());
            files.0.borrow_mut().push(ReadFile {
                path: path.to_owned(),
                hash: trust::hash(text.as_bytes()),
                variables: variables.collect(),
            });
        }
        read.map_err(|error| Problem::new(error.to_string()))
    }

    /// A path with its variables filled in, seen from the config's folder.
    pub(super) fn path(&mut self, field: &Field<'_>, what: &str) -> Result<PathBuf, Problem> {
        let path = self.text(field)?;
        if path.is_empty() {
            return Err(field.problem(format!("the path of the {what} is empty")));
        }
        let path = PathBuf::from(path);
        Ok(match self.surroundings.folder {
            Some(folder) => folder.join(path),
            None => path,
        })
    }
}
