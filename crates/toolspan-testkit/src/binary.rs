//! Where is a program of this workspace that a test of another package wants to start?

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The program `toolspan-faults`. Built when missing; see [`bin`].
#[must_use]
pub fn faults_binary() -> PathBuf {
    bin("toolspan-faults")
}

/// The program of that name, in the folder of the profile the running test was built with.
///
/// Cargo builds the programs of a package for that package's tests only. When the program is
/// missing or older than one of its sources, it is built once, however many tests and test
/// processes ask at the same time.
///
/// Panics when it cannot be built, with what cargo said.
#[must_use]
pub fn bin(name: &str) -> PathBuf {
    /// Keeps the threads of this process apart; a file lock keeps processes apart.
    static BUILDING: Mutex<()> = Mutex::new(());
    let folder = profile_folder();
    let path = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    if is_fresh(&path) {
        return path;
    }
    let _one_thread = BUILDING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let lock =
        File::create(folder.join(format!(".{name}.build-lock"))).expect("a writable target folder");
    lock.lock().expect("the target folder supports locks");
    if !is_fresh(&path) {
        build(name, &folder);
    }
    assert!(
        path.is_file(),
        "cargo built {name}, but {} is missing",
        path.display()
    );
    path
}

/// Whether the program is there and no older than any of its sources. Cargo lists those beside it,
/// in a file of the form `program: source source`.
fn is_fresh(program: &Path) -> bool {
    let built = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let Some(program_built) = built(program) else {
        return false;
    };
    let list = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let (_, sources) = list.split_once(": ").unwrap_or_default();
    // A blank inside a path has a backslash before it.
    let sources = sources.trim_end().replace("\\ ", "\0");
    let mut sources = sources.split(' ').map(|source| source.replace('\0', " "));
    sources.all(|source| built(Path::new(&source)).is_some_and(|time| time <= program_built))
}

/// `target/debug` for a test in `target/debug/deps`.
fn profile_folder() -> PathBuf {
    let test = env::current_exe().expect("a test knows its own path");
    let folder = test.parent().expect("a file is in a folder");
    match folder.parent() {
        Some(parent) if folder.ends_with("deps") || folder.ends_with("examples") => {
            parent.to_owned()
        }
        _ => folder.to_owned(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test may have cargo build the program it starts"
)]
fn build(name: &str, folder: &Path) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::canonicalize(workspace.join("Cargo.toml")).expect("the workspace is there");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args([
        "build",
        "--quiet",
        "--workspace",
        "--bin",
        name,
        "--profile",
        profile,
    ]);
    command.arg("--manifest-path").arg(manifest);
    if let Some(target) = folder.parent() {
        command.arg("--target-dir").arg(target);
    }
    let output = command.output().expect("cargo can be started");
    assert!(
        output.status.success(),
        "cargo could not build {name}; try `cargo build --bin {name}`:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
