//! How are the JavaScript servers installed from their lock file?

use std::fs;
use std::path::PathBuf;

use super::part::Part;
use crate::failure::Failure;
use crate::process::Run;
use crate::workspace::Workspace;

/// The oldest major version of Node.js that the locked servers run on.
const OLDEST_NODE: u32 = 20;

/// Copies the lock files beside the packages, then lets `npm ci` fetch exactly those.
pub(super) fn install(workspace: &Workspace, part: &Part, source: &str) -> Result<(), Failure> {
    program()?;
    let folder = part.path(workspace);
    fs::create_dir_all(&folder).map_err(Failure::file(&folder))?;
    for file in ["package.json", "package-lock.json", ".npmrc"] {
        let from = workspace.path(source).join(file);
        fs::copy(&from, folder.join(file)).map_err(Failure::file(&from))?;
    }
    // No package's install script runs: none of the servers needs one.
    Run::new("npm")
        .args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ])
        .in_folder(&folder)
        .captured()
        .map(drop)
        .map_err(missing)
}

/// The absolute path of Node.js, for launch lines that do not depend on `PATH`.
pub(super) fn program() -> Result<PathBuf, Failure> {
    let asked = "console.log(process.versions.node); console.log(process.execPath)";
    let answer = Run::new("node")
        .args(["-e", asked])
        .captured()
        .map_err(missing)?;
    let mut lines = answer.lines();
    let version = lines.next().unwrap_or_default();
    if !is_new_enough(version) {
        return Err(missing(Failure::Missing {
            program: format!("node {OLDEST_NODE} or newer, not {version},"),
            remedy: String::new(),
        }));
    }
    Ok(PathBuf::from(lines.next().unwrap_or_default()))
}

fn is_new_enough(version: &str) -> bool {
    let major = version
        .split('.')
        .next()
        .and_then(|number| number.parse::<u32>().ok());
    major.is_some_and(|major| major >= OLDEST_NODE)
}

/// Says what to install where Node.js or npm is not there; other failures stay as they are.
fn missing(failure: Failure) -> Failure {
    match failure {
        Failure::Missing { program, .. } => Failure::Missing {
            program,
            remedy: format!(
                "install Node.js {OLDEST_NODE} or newer with npm, and run `cargo xtask setup` again"
            ),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn an_old_or_unreadable_version_is_not_enough() {
        assert!(is_new_enough("20.0.0"));
        assert!(is_new_enough("24.1.2"));
        assert!(!is_new_enough("18.20.1"));
        assert!(!is_new_enough("v20"));
        assert!(!is_new_enough(""));
    }
}
