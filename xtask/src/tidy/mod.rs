//! Which rules of the house can a program check, and are they kept?
//!
//! One file per rule. A rule is a plain function from sources to findings, so each is tested with
//! a few lines of text. What the compiler, clippy and `clippy.toml` already check is not here.

mod architecture;
mod arrows;
mod finding;
mod first_line;
mod forgotten;
mod guard_only;
mod links;
mod python;
mod sdk;
mod source;
mod waiting;

use finding::Finding;
use source::Source;

use crate::failure::Failure;
use crate::talk;
use crate::workspace::{Workspace, read};

/// Where Rust sources lie, relative to the root.
const RUST_FOLDERS: [&str; 4] = ["benches", "crates", "examples", "xtask"];

/// Prints every finding; fails where there is one.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let findings = check(workspace)?;
    for finding in &findings {
        talk::line(&finding.to_string());
    }
    match findings.len() {
        0 => {
            talk::line("tidy: nothing found");
            Ok(())
        }
        findings => Err(Failure::Untidy { findings }),
    }
}

fn check(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    let sources = rust_sources(workspace)?;
    let packages = arrows::packages(workspace)?;
    let mut findings = Vec::new();
    findings.extend(arrows::check(&packages));
    findings.extend(first_line::check(&sources));
    findings.extend(forgotten::check(&sources));
    findings.extend(guard_only::check(&sources));
    findings.extend(python::check(&python::files(workspace)?));
    findings.extend(sdk::check(&sources));
    findings.extend(waiting::check(&sources));
    let page = read(&workspace.path(architecture::PAGE))?;
    let names: Vec<&str> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    findings.extend(architecture::check(&page, &names));
    findings.extend(links::check(&links::pages(workspace)?, &|path| {
        workspace.path(path).exists()
    }));
    Ok(findings)
}

fn rust_sources(workspace: &Workspace) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for folder in RUST_FOLDERS {
        for path in workspace.files(folder, ".rs")? {
            sources.push(Source::new(workspace.relative(&path), &read(&path)?));
        }
    }
    Ok(sources)
}
