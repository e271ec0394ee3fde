//! Which checks make up `cargo xtask test`, and in which order?
//!
//! Quick checks first. The compiled steps share one profile and one set of features, so each
//! crate is compiled once for checking and once for running. The tests come last: their summary
//! is the last thing a person reads before the table.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::process::Run;
use crate::workspace::Workspace;
use crate::{python, setup, talk, tidy};

/// A named check.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<(), Failure>,
}

const STEPS: [Step; 12] = [
    Step {
        name: "setup",
        run: setup::run,
    },
    Step {
        name: "format",
        run: |workspace| {
            cargo(workspace, &["fmt", "--all", "--check"])?;
            dev_tool(workspace, "ruff", &["format", "--quiet", "--diff"])
        },
    },
    Step {
        name: "tidy",
        run: tidy::run,
    },
    Step {
        name: "spelling",
        run: |workspace| dev_tool(workspace, "typos", &[]),
    },
    Step {
        name: "dependencies",
        run: dependencies,
    },
    Step {
        name: "lints",
        run: |workspace| {
            dev_tool(workspace, "ruff", &["check", "--quiet"])?;
            let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--"];
            cargo(workspace, &[&lints[..], &["-D", "warnings"]].concat())
        },
    },
    // All targets, so that the features are those of the tests and nothing is built twice. The
    // tests start our own programs, those of other crates included: they are built here, too.
    Step {
        name: "build",
        run: |workspace| {
            cargo(
                workspace,
                &["build", "--workspace", "--all-targets", "--locked"],
            )
        },
    },
    // Packs what was just built.
    Step {
        name: "wheel",
        run: python::wheel,
    },
    Step {
        name: "documented examples",
        run: |workspace| cargo(workspace, &["test", "--doc", "--workspace", "--locked"]),
    },
    Step {
        name: "models",
        run: models,
    },
    Step {
        name: "Python tests",
        run: python::test,
    },
    Step {
        name: "tests",
        run: tests,
    },
];

/// One row of the table at the end.
struct Row {
    name: &'static str,
    passed: bool,
    took: Duration,
}

/// Runs the steps in order and stops at the first that fails; the table is printed either way.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut outcome = Ok(());
    for step in &STEPS {
        talk::line(&format!("\n=== {}", step.name));
        let started = Instant::now();
        let result = (step.run)(workspace);
        rows.push(Row {
            name: step.name,
            passed: result.is_ok(),
            took: started.elapsed(),
        });
        if let Err(failure) = result {
            talk::line(&failure.to_string());
            outcome = Err(Failure::Step {
                step: step.name.to_owned(),
            });
            break;
        }
    }
    talk::line(&table(&rows));
    outcome
}

fn dependencies(workspace: &Workspace) -> Result<(), Failure> {
    // Advisories are left out: their database needs a network that a test must not depend on.
    let arguments = [
        "check",
        "--hide-inclusion-graph",
        "bans",
        "licenses",
        "sources",
    ];
    dev_tool(workspace, "cargo-deny", &arguments)
}

/// Plays every order in which threads can meet at a request slot. The flag changes how the whole
/// tree is compiled, so these builds have a folder of their own.
fn models(workspace: &Workspace) -> Result<(), Failure> {
    let flag = ["--config", "build.rustflags=[\"--cfg\", \"toolspan_loom\"]"];
    let package = ["test", "--package", "toolspan-mcp", "--lib", "--locked"];
    let folder = ["--target-dir", "target/models", "models"];
    cargo(workspace, &[&flag[..], &package[..], &folder[..]].concat())
}

fn tests(workspace: &Workspace) -> Result<(), Failure> {
    let arguments = [
        "nextest",
        "run",
        "--workspace",
        "--locked",
        "--profile",
        "ci",
    ];
    dev_tool(workspace, "cargo-nextest", &arguments)
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<(), Failure> {
    Run::new("cargo")
        .args(arguments)
        .in_folder(workspace.root())
        .seen()
}

fn dev_tool(workspace: &Workspace, name: &str, arguments: &[&str]) -> Result<(), Failure> {
    let program = OsString::from(workspace.dev_tool(name));
    Run::new(program)
        .args(arguments)
        .in_folder(workspace.root())
        .seen()
}

fn table(rows: &[Row]) -> String {
    let mut text = format!("\n{:<22}{:<9}{:>8}", "step", "result", "seconds");
    for Row { name, passed, took } in rows {
        let result = if *passed { "passed" } else { "FAILED" };
        text.push_str(&format!(
            "\n{name:<22}{result:<9}{:>8.1}",
            took.as_secs_f64()
        ));
    }
    let total: Duration = rows.iter().map(|row| row.took).sum();
    text.push_str(&format!(
        "\n{:<22}{:<9}{:>8.1}",
        "all",
        "",
        total.as_secs_f64()
    ));
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Row, table};

    #[test]
    fn the_table_shows_each_step_its_result_and_its_seconds() {
        let rows = [
            Row {
                name: "format",
                passed: true,
                took: Duration::from_millis(1500),
            },
            Row {
                name: "lints",
                passed: false,
                took: Duration::from_millis(20_040),
            },
        ];
        assert_eq!(
            table(&rows),
            "
step                  result    seconds
format                passed        1.5
lints                 FAILED       20.0
all                                21.5"
        );
    }
}
