//! How is the table of benchmarks run?

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::process::Run;
use crate::setup;
use crate::workspace::Workspace;

/// The rows in which our module for Python is measured: others do without, and it takes minutes to
/// build.
const MODULE_ROWS: [&str; 5] = ["P1", "P2", "P3", "P13", "P14"];

/// Builds the benchmarks for release, and our module for Python where a row needs it, and prints the
/// table; with these arguments, such as `--rows=P1,P3`, a part of it.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Failure> {
    setup::run(workspace)?;
    let mut module = None;
    if need_module(arguments) {
        let mut option = OsString::from("--module=");
        option.push(python_module(workspace, &[])?);
        module = Some(option);
    }
    Run::new("cargo")
        .args(["run", "--release", "--locked"])
        .args(["--package", "toolspan-benches", "--bin", "table", "--"])
        .args(module)
        .args(arguments)
        .in_folder(workspace.root())
        .seen()
}

/// Whether a row is asked for in which the module is measured: all rows are where none is named.
fn need_module(arguments: &[String]) -> bool {
    let rows = arguments
        .iter()
        .rev()
        .find_map(|argument| argument.strip_prefix("--rows="));
    rows.is_none_or(|rows| rows.split(',').any(|row| MODULE_ROWS.contains(&row)))
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

#[cfg(test)]
mod tests {
    use super::need_module;

    #[test]
    fn the_module_is_built_for_the_rows_that_it_is_measured_in() {
        let need = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
            need_module(&arguments)
        };
        assert!(need(&[]) && need(&["--quick"]));
        assert!(need(&["--quick", "--rows=P7,P13"]));
        assert!(!need(&["--rows=P7,P8"]));
    }
}
