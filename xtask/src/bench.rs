//! How is the table of benchmarks run?

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::process::Run;
use crate::setup;
use crate::workspace::Workspace;

/// Builds the benchmarks and our module for Python for release, and prints the table; with these
/// arguments, such as `--rows=P1,P3`, a part of it.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Failure> {
    setup::run(workspace)?;
    let mut module = OsString::from("--module=");
    module.push(python_module(workspace, &[])?);
    Run::new("cargo")
        .args(["run", "--release", "--locked"])
        .args(["--package", "toolspan-benches", "--bin", "table", "--"])
        .args([module])
        .args(arguments)
        .in_folder(workspace.root())
        .seen()
}

/// Builds the module as it is shipped and installs it into a folder of its own: the environments of
/// the tests keep theirs. The compiler is given these options beside its own. Returns the folder.
pub(crate) fn python_module(workspace: &Workspace, options: &[&str]) -> Result<PathBuf, Failure> {
    let wheels = workspace.path("target/bench/wheels");
    let folder = workspace.path("target/bench/python");
    for path in [&wheels, &folder] {
        if path.exists() {
            // What an earlier version had and this one has not would be measured, too.
            fs::remove_dir_all(path).map_err(Failure::file(path))?;
        }
    }
    let python = workspace.tools().join("python-ovos/bin/python");
    Run::new(workspace.dev_tool("maturin"))
        .args(["build", "--quiet", "--profile", "wheel", "--locked"])
        // It is installed here and nowhere else.
        .args(["--auditwheel", "skip", "--compatibility", "linux"])
        .args(["--manifest-path", "crates/toolspan-py/Cargo.toml", "--out"])
        .args([&wheels])
        .args(["--"])
        .args(options)
        .in_folder(workspace.root())
        .seen()?;
    Run::new(&python)
        .args(["-m", "pip", "--disable-pip-version-check", "install"])
        .args(["--quiet", "--no-index", "--no-deps", "--find-links"])
        .args([&wheels, &PathBuf::from("--target"), &folder])
        .args(["toolspan"])
        .captured()?;
    Ok(folder)
}
