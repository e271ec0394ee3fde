//! How is a Python environment made from a requirements file?

use std::path::Path;

use super::part::Part;
use crate::failure::Failure;
use crate::process::Run;
use crate::workspace::Workspace;

/// The interpreters that are tried, in this order; the lock files hold for 3.11 and newer.
const INTERPRETERS: [&str; 4] = ["python3.11", "python3.12", "python3.13", "python3"];

/// Ends with an error where the interpreter is too old or cannot make environments.
const FIT: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Makes the environment and installs the locked packages into it; nothing is compiled.
pub(super) fn install(
    workspace: &Workspace,
    part: &Part,
    requirements: &[&str],
) -> Result<(), Failure> {
    let folder = part.path(workspace);
    Run::new(interpreter()?)
        .args(["-m", "venv"])
        .args([&folder])
        .captured()?;
    let python = folder.join("bin/python");
    for file in requirements {
        install_file(workspace, &python, file)?;
    }
    Run::new(&python)
        .args(["-m", "pip", "check"])
        .captured()
        .map(drop)
}

/// No resolver: the files name every package, `pip check` proves that they do. A package that is
/// published as source alone is named by its file, and is built with what is already installed:
/// what would be fetched to build it is not locked.
fn install_file(workspace: &Workspace, python: &Path, file: &str) -> Result<(), Failure> {
    Run::new(python)
        .args(["-m", "pip", "--disable-pip-version-check", "install"])
        .args(["--quiet", "--no-deps", "--no-build-isolation"])
        .args(["--only-binary", ":all:", "--require-hashes"])
        .args(["--requirement", file])
        .in_folder(workspace.root())
        .captured()
        .map(drop)
}

fn interpreter() -> Result<&'static str, Failure> {
    INTERPRETERS
        .into_iter()
        .find(|program| Run::new(program).args(["-c", FIT]).captured().is_ok())
        .ok_or_else(|| Failure::Missing {
            program: "python3.11 (or newer, with its venv module)".to_owned(),
            remedy: "install it, for example `apt-get install python3 python3-venv`, and run \
                     `cargo xtask setup` again"
                .to_owned(),
        })
}
