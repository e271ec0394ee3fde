//! How is a Python environment made from a requirements file?

use super::part::Part;
use crate::failure::Failure;
use crate::process::Run;
use crate::workspace::Workspace;

/// The interpreters that are tried, in this order; the lock files hold for 3.11 and newer.
const INTERPRETERS: [&str; 4] = ["python3.11", "python3.12", "python3.13", "python3"];

/// Ends with an error where the interpreter is too old or cannot make environments.
const FIT: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Makes the environment and installs the locked wheels into it; nothing is compiled.
pub(super) fn install(
    workspace: &Workspace,
    part: &Part,
    requirements: &str,
) -> Result<(), Failure> {
    let folder = part.path(workspace);
    Run::new(interpreter()?)
        .args(["-m", "venv"])
        .args([&folder])
        .captured()?;
    let python = folder.join("bin/python");
    // No resolver: the file names every package, `pip check` proves that it does.
    Run::new(&python)
        .args([
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "--quiet",
        ])
        .args([
            "--no-deps",
            "--only-binary",
            ":all:",
            "--require-hashes",
            "--requirement",
        ])
        .args([requirements])
        .in_folder(workspace.root())
        .captured()?;
    Run::new(&python)
        .args(["-m", "pip", "check"])
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
