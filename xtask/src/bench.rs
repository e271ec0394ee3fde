//! How is the table of benchmarks run?

use crate::failure::Failure;
use crate::process::Run;
use crate::workspace::Workspace;

/// Builds the benchmarks for release and prints their table.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    Run::new("cargo")
        .args([
            "run",
            "--release",
            "--package",
            "toolspan-benches",
            "--bin",
            "table",
        ])
        .in_folder(workspace.root())
        .seen()
}
