//! How is the Python package built, and how is it tested?
//!
//! The wheel is made by maturin from what `cargo build` made, installed into each of the
//! environments of [`ENVIRONMENTS`], and tested there as its users have it. Nothing is written
//! into the sources.

mod leftover;
mod suite;
mod wheel;

pub(crate) use suite::run as test;
pub(crate) use wheel::run as wheel;

use std::path::PathBuf;

use crate::failure::Failure;
use crate::setup;
use crate::workspace::Workspace;

/// The folder of the package, relative to the root.
const PACKAGE: &str = "crates/toolspan-py";

/// An installed environment, and the tests that run in it.
#[derive(Debug, Clone, Copy)]
struct Environment {
    /// Its folder in `.tools/`.
    folder: &'static str,
    /// The folder of its tests, relative to that of the package.
    tests: &'static str,
}

/// Everywhere the wheel is tested.
const ENVIRONMENTS: [Environment; 3] = [
    Environment {
        folder: "python-core",
        tests: "tests/core",
    },
    Environment {
        folder: "python-ovos",
        tests: "tests/ovos",
    },
    Environment {
        folder: "python-ovos-next",
        tests: "tests/ovos",
    },
];

impl Environment {
    /// Its interpreter.
    fn python(self, workspace: &Workspace) -> PathBuf {
        workspace.tools().join(self.folder).join("bin/python")
    }
}

/// Everything, from the sources to the last test.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    setup::run(workspace)?;
    wheel(workspace)?;
    test(workspace)
}
