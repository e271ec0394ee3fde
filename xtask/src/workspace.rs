//! Where does everything lie in the checkout?

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The root folder of the workspace, and the places in it that tasks use.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the workspace this program was built from.
    pub(crate) fn find() -> Result<Self, Failure> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .map(Path::to_path_buf);
        root.filter(|root| root.join("Cargo.toml").is_file())
            .map(Self::at)
            .ok_or_else(|| Failure::Unexpected {
                what: "the checkout this program was built from has moved: build it again"
                    .to_owned(),
            })
    }

    /// The workspace in a given folder.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The root folder, absolute.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The ignored folder for what `setup` installs.
    pub(crate) fn tools(&self) -> PathBuf {
        self.path(".tools")
    }

    /// A prebuilt development tool, such as `cargo-nextest`.
    pub(crate) fn dev_tool(&self, name: &str) -> PathBuf {
        self.tools().join("dev/bin").join(name)
    }

    /// A path as a person would write it: relative to the root, with `/`.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/")
    }

    /// Every file with this ending below a folder, sorted; hidden folders, `target` and what
    /// package installers leave are passed over. A folder that is not there has no files.
    pub(crate) fn files(&self, below: &str, ending: &str) -> Result<Vec<PathBuf>, Failure> {
        let mut found = Vec::new();
        // A list of folders still to read instead of recursion: depth costs no stack.
        let mut folders = vec![self.path(below)];
        while let Some(folder) = folders.pop() {
            if !folder.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&folder).map_err(Failure::file(&folder))? {
                let entry = entry.map_err(Failure::file(&folder))?;
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                // A link is not followed, so a loop of links cannot hold us.
                let kind = entry.file_type().map_err(Failure::file(&path))?;
                if kind.is_dir() && !is_passed_over(&name) {
                    folders.push(path);
                } else if kind.is_file() && name.ends_with(ending) {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Reads a whole text file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(Failure::file(path))
}

fn is_passed_over(folder: &str) -> bool {
    folder.starts_with('.') || matches!(folder, "target" | "node_modules" | "__pycache__")
}
