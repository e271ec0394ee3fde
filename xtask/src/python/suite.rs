//! How do the tests of the Python package run?

use super::leftover::Mark;
use super::{ENVIRONMENTS, Environment, PACKAGE};
use crate::failure::Failure;
use crate::process::Run;
use crate::talk;
use crate::workspace::Workspace;

/// Tests mostly wait for processes, so more of them than cores may run.
const WORKERS: &str = "4";

/// Runs the tests in each environment, with what is installed there.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    for environment in ENVIRONMENTS {
        let Environment { folder, tests } = environment;
        talk::line(&format!("\n--- {tests} in {folder}"));
        suite(workspace, environment)?;
    }
    Ok(())
}

/// One environment's tests; afterwards no process of theirs is left.
fn suite(workspace: &Workspace, environment: Environment) -> Result<(), Failure> {
    let mark = Mark::new()?;
    let tested = Run::new(environment.python(workspace))
        .args(["-m", "pytest", "--quiet", "--numprocesses", WORKERS])
        .args([environment.tests])
        .with("TMPDIR", mark.folder())
        .with("PYTHONDONTWRITEBYTECODE", "1")
        // The installed package is tested, whatever lies in the folder or is named by a variable.
        .with("PYTHONSAFEPATH", "1")
        .without("PYTHONPATH")
        .in_folder(&workspace.path(PACKAGE))
        .seen();
    tested.and(mark.assert_nothing_left())
}
