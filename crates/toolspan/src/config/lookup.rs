//! Which config file is meant, and who chose it?

use std::io;
use std::path::{Path, PathBuf};

use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::Environment;
use super::file::user_file;

/// The variable that names the config file.
const VARIABLE: &str = "TOOLSPAN_CONFIG";
/// Names of config files that belong to a project, as they are looked for in the current directory;
/// the first before the second.
pub const PROJECT_FILES: [&str; 2] = ["toolspan.json", ".mcp.json"];

/// A config file and who chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The file as it was named, or as seen from the current directory.
    pub path: PathBuf,
    /// Who chose it.
    pub origin: Origin,
}

/// Who chose a config file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The caller named it.
    Named,
    /// `TOOLSPAN_CONFIG` names it.
    Variable,
    /// It lies in the current directory, and may come from a stranger's repository: nothing is
    /// started from it before a person has approved it.
    Project,
    /// It is the user's own.
    User,
}

impl Found {
    /// A file that the caller names.
    pub fn named(path: impl Into<PathBuf>) -> Self {
        Self::new(path, Origin::Named)
    }

    fn new(path: impl Into<PathBuf>, origin: Origin) -> Self {
        Self {
            path: path.into(),
            origin,
        }
    }
}

/// The config file to read: the one given, else the one that `TOOLSPAN_CONFIG` names, else
/// `toolspan.json` or `.mcp.json` in the current directory, else `toolspan/toolspan.json` in
/// `$XDG_CONFIG_HOME` (default `~/.config`); the first of them that there is.
///
/// A file that was named is returned even if it is missing, so that reading it says so.
///
/// # Errors
///
/// `usage` when the path given is empty.
pub fn find(explicit: Option<&Path>, environment: &Environment) -> Result<Option<Found>> {
    if let Some(path) = explicit {
        if path.as_os_str().is_empty() {
            let message = "the path of the config file is empty";
            return Err(Error::new(ErrorKind::Usage, Phase::Config, message));
        }
        return Ok(Some(Found::named(path)));
    }
    let variable = environment.variable(VARIABLE);
    if let Some(path) = variable.filter(|path| !path.is_empty()) {
        return Ok(Some(Found::new(path, Origin::Variable)));
    }
    let user = user_file(environment);
    if let Some(folder) = environment.current_dir() {
        for name in PROJECT_FILES {
            let path = folder.join(name);
            if user.as_ref() != Some(&path) && is_there(&path) {
                return Ok(Some(Found::new(name, Origin::Project)));
            }
        }
    }
    let user = user.filter(|path| is_there(path));
    Ok(user.map(|path| Found::new(path, Origin::User)))
}

/// Whether something has this name. What cannot be looked at counts as there: a config must not
/// be passed over in silence because its folder may not be read.
fn is_there(path: &Path) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}
