//! Which variables and folders does this process have, read once?

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A snapshot of the environment variables and the current directory.
///
/// Nothing else in the libraries reads the process's environment: whoever needs a variable is
/// handed a snapshot. `Debug` shows how many variables there are, never a value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: Arc<BTreeMap<OsString, OsString>>,
    /// `None` when the process's directory is gone or may not be read.
    current_dir: Option<PathBuf>,
}

impl Environment {
    /// Takes the snapshot of this process as it is now.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub fn capture() -> Self {
        Self {
            variables: Arc::new(std::env::vars_os().collect()),
            current_dir: std::env::current_dir().ok(),
        }
    }

    /// A snapshot of just these variables, without a current directory: for tests and for callers
    /// that keep their servers away from their own environment.
    pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self {
            variables: Arc::new(variables),
            current_dir: None,
        }
    }

    /// Sets the directory that relative paths start from.
    #[must_use]
    pub fn with_current_dir(mut self, current_dir: impl Into<PathBuf>) -> Self {
        self.current_dir = Some(current_dir.into());
        self
    }

    /// The value of a variable, as the operating system holds it.
    pub fn variable(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, in the form that a launch of a process takes.
    pub fn variables(&self) -> &Arc<BTreeMap<OsString, OsString>> {
        &self.variables
    }

    /// The directory that relative paths start from.
    pub fn current_dir(&self) -> Option<&Path> {
        self.current_dir.as_deref()
    }

    /// The user's own folder: `HOME`, if it is an absolute path.
    pub fn home(&self) -> Option<&Path> {
        self.folder("HOME")
    }

    /// The folder that a variable names, if it names an absolute one.
    pub(super) fn folder(&self, name: &str) -> Option<&Path> {
        self.variable(name)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }

    /// A path as seen from the current directory.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        match &self.current_dir {
            Some(current_dir) => current_dir.join(path),
            None => path.to_owned(),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Environment")
            .field("variables", &self.variables.len())
            .field("current_dir", &self.current_dir)
            .finish()
    }
}
