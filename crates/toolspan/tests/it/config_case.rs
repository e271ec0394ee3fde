//! How do the tests of the config read one and write down what came of it?

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;
use toolspan::config::{Environment, Resolved, StdioServer, ToolboxConfig, Transport};
use toolspan_core::Result;

/// The name of the config file in all tests, as a caller would give it.
pub(crate) const FILE: &str = "toolspan.json";

/// A folder with a config file in it, and an environment whose current directory it is.
pub(crate) struct Case {
    folder: TempDir,
    environment: Environment,
}

impl Case {
    /// A config file of these bytes; the variables are all there are.
    pub(crate) fn new(content: impl AsRef<[u8]>, variables: &[(&str, &str)]) -> Self {
        let case = Self::empty(variables);
        write_own(&case.folder().join(FILE), content);
        case
    }

    /// No config file yet.
    pub(crate) fn empty(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let environment =
            Environment::from_pairs(variables.iter().copied()).with_current_dir(folder.path());
        Self {
            folder,
            environment,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn read(&self) -> Result<Resolved> {
        Resolved::from_file(Path::new(FILE), &self.environment)
    }

    /// All that is wrong or odd, one line each; `fine` if nothing is.
    pub(crate) fn report(&self) -> String {
        report(&self.read())
    }
}

/// Writes a file for this user alone, whatever the machine does by itself: it is warned of what others
/// may do to a config.
pub(crate) fn write_own(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).expect("a file");
    let permissions = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, permissions).expect("it is ours");
}

/// A config that must be readable as a whole, without variables.
pub(crate) fn resolved(content: &str) -> Resolved {
    Case::new(content, &[])
        .read()
        .expect("a config that can be read")
}

/// What came of a config, for people.
pub(crate) fn report(result: &Result<Resolved>) -> String {
    let mut lines = String::new();
    match result {
        Err(error) => {
            writeln!(lines, "{} error: {error}", error.kind()).expect("a string");
            if let Some(hint) = error.hint() {
                writeln!(lines, "         hint: {hint}").expect("a string");
            }
        }
        Ok(resolved) => {
            for problem in resolved.problems() {
                writeln!(lines, "disabled: {problem}").expect("a string");
            }
            for problem in &resolved.warnings {
                writeln!(lines, " warning: {problem}").expect("a string");
            }
            if lines.is_empty() {
                writeln!(lines, "fine, {} toolboxes", resolved.toolboxes.len()).expect("a string");
            }
        }
    }
    lines
}

/// The server of a good entry.
#[expect(clippy::panic, reason = "the test fails with what is there instead")]
pub(crate) fn server(toolbox: &ToolboxConfig) -> &StdioServer {
    match &toolbox.transport {
        Ok(Transport::Stdio(server)) => server,
        other => panic!("{other:?}"),
    }
}
