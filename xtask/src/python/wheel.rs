//! How is the wheel built and installed?

use std::fs;
use std::path::{Path, PathBuf};

use super::{ENVIRONMENTS, Environment, PACKAGE};
use crate::failure::Failure;
use crate::process::Run;
use crate::talk;
use crate::workspace::Workspace;

/// Where the wheel lies, relative to the root.
const FOLDER: &str = "target/wheels";

/// What maturin calls as cargo, relative to the root.
const CARGO: &str = "xtask/cargo-for-maturin.sh";

/// One wheel for every CPython from 3.10 on.
const TAG: &str = "-cp310-abi3-";

/// Prints where the package and its compiled half were loaded from.
const ORIGIN: &str = "import toolspan, toolspan._toolspan as compiled; \
                      print(toolspan.__file__); print(compiled.__file__)";

/// Builds the wheel with the profile of the tests, and puts it into each environment.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let wheel = build(workspace)?;
    talk::line(&format!("wheel: {}", workspace.relative(&wheel)));
    // Each takes a second or two, most of it for one large file.
    std::thread::scope(|scope| {
        ENVIRONMENTS
            .map(|environment| {
                let wheel = &wheel;
                scope.spawn(move || install(workspace, environment, wheel))
            })
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(panicked())))
            .fold(Ok(()), Result::and)
    })
}

fn build(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let folder = workspace.path(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Failure::file(&folder))?;
    }
    Run::new(workspace.dev_tool("maturin"))
        .args(["build", "--quiet", "--profile", "dev", "--locked"])
        // It is installed here and nowhere else: nothing is packed, no old system is thought of.
        .args(["--compression-method", "stored"])
        .args(["--auditwheel", "skip", "--compatibility", "linux"])
        .args(["--manifest-path", &format!("{PACKAGE}/Cargo.toml")])
        .args(["--out", FOLDER])
        .with("CARGO", workspace.path(CARGO))
        .in_folder(workspace.root())
        .seen()?;
    only_wheel(&folder)
}

/// The one wheel of a folder.
fn only_wheel(folder: &Path) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder).map_err(Failure::file(folder))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .collect();
    let is_right = |path: &PathBuf| path.to_string_lossy().contains(TAG);
    match (found.pop().filter(is_right), found.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        _ => Err(Failure::Unexpected {
            what: format!(
                "{} should hold one wheel whose name has {TAG}",
                folder.display()
            ),
        }),
    }
}

fn install(workspace: &Workspace, environment: Environment, wheel: &Path) -> Result<(), Failure> {
    let python = environment.python(workspace);
    Run::new(&python)
        .args(["-I", "-m", "pip", "--disable-pip-version-check", "install"])
        .args(["--quiet", "--no-index", "--no-deps", "--force-reinstall"])
        .args([wheel])
        .captured()?;
    let origin = Run::new(&python).args(["-I", "-c", ORIGIN]).captured()?;
    let home = workspace.tools().join(environment.folder);
    match origin
        .lines()
        .find(|path| !Path::new(path).starts_with(&home))
    {
        None => Ok(()),
        Some(path) => Err(Failure::Unexpected {
            what: format!(
                "the tests would not test the wheel in {}, but {path}",
                home.display()
            ),
        }),
    }
}

fn panicked() -> Failure {
    Failure::Unexpected {
        what: "an installing thread panicked".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::only_wheel;

    #[test]
    fn a_wheel_for_another_interpreter_or_a_second_one_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert!(only_wheel(folder.path()).is_err());

        let old = folder
            .path()
            .join("toolspan-1-cp311-cp311-linux_x86_64.whl");
        fs::write(&old, "").unwrap();
        assert!(only_wheel(folder.path()).is_err());

        fs::remove_file(&old).unwrap();
        let wheel = folder.path().join("toolspan-1-cp310-abi3-linux_x86_64.whl");
        fs::write(&wheel, "").unwrap();
        assert_eq!(only_wheel(folder.path()).unwrap(), wheel);

        fs::write(
            folder.path().join("toolspan-2-cp310-abi3-linux_x86_64.whl"),
            "",
        )
        .unwrap();
        assert!(only_wheel(folder.path()).is_err());
    }
}
