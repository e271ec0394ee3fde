//! What does a caller say to start a process?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The environment variable that marks everything a child starts. Its value is unique per child.
pub const COOKIE_VARIABLE: &str = "TOOLSPAN_COOKIE";

/// Variables a child may inherit under [`InheritEnv::Safe`]: where to find things and how to show
/// text, nothing that holds a secret or changes what code is loaded.
pub const SAFE_VARIABLES: [&str; 11] = [
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];

/// Which variables of the parent's snapshot a child gets. Its own `env` is added on top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InheritEnv {
    /// [`SAFE_VARIABLES`], without values that start with `()` (shell functions). The default.
    #[default]
    Safe,
    /// Nothing. The program is still looked for in the parent's `PATH`.
    None,
    /// All of the snapshot, secrets included.
    All,
    /// These names and no other.
    Names(Vec<String>),
}

/// What to start and how. Nothing is read from the host's own environment.
///
/// `Debug` shows names of variables, never values.
#[derive(Clone)]
#[non_exhaustive]
pub struct Launch {
    /// A name to look for in `PATH`, an absolute path, or a path with `/` in it, which is taken
    /// from the host's current directory (not from `cwd`).
    pub program: OsString,
    /// Arguments after the program's name. No shell sees them.
    pub args: Vec<OsString>,
    /// Variables set for this child; they win over inherited ones.
    pub env: Vec<(String, String)>,
    /// What is inherited from `parent_env`.
    pub inherit: InheritEnv,
    /// The caller's snapshot of the environment. Empty by default.
    pub parent_env: Arc<BTreeMap<OsString, OsString>>,
    /// The child's directory; the host's current directory when not set.
    pub cwd: Option<PathBuf>,
    /// Bytes of standard error kept, the newest ones: 64 KiB by default.
    pub stderr_bytes: usize,
    /// The child's file creation mask. Default `None`: the host's, as users expect of files that a
    /// server writes for them.
    pub umask: Option<u32>,
}

impl Launch {
    /// Bytes of standard error kept by default: 64 KiB.
    pub const STDERR_BYTES: usize = 64 * 1024;

    /// Starts to describe a child that runs `program`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            inherit: InheritEnv::default(),
            parent_env: Arc::default(),
            cwd: None,
            stderr_bytes: Self::STDERR_BYTES,
            umask: None,
        }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the child's own variables.
    #[must_use]
    pub fn with_env<K, V>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<String>,
        V: Into<String>,
    {
        self.env = env
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        self
    }

    /// Sets what is inherited.
    #[must_use]
    pub fn with_inherit(mut self, inherit: InheritEnv) -> Self {
        self.inherit = inherit;
        self
    }

    /// Sets the snapshot of the environment to inherit from and to find `PATH` in.
    #[must_use]
    pub fn with_parent_env(mut self, parent_env: Arc<BTreeMap<OsString, OsString>>) -> Self {
        self.parent_env = parent_env;
        self
    }

    /// Sets the child's directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets how many bytes of standard error are kept.
    #[must_use]
    pub fn with_stderr_bytes(mut self, bytes: usize) -> Self {
        self.stderr_bytes = bytes;
        self
    }

    /// Sets the file creation mask; `None` leaves the host's.
    #[must_use]
    pub fn with_umask(mut self, umask: Option<u32>) -> Self {
        self.umask = umask;
        self
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("Launch")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("inherit", &self.inherit)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
