//! When is one part of `.tools/` up to date?
//!
//! A part is current when its stamp equals the lock files of now. The stamp is written last, so
//! an installation that was interrupted is begun again from an empty folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::workspace::{Workspace, read};

/// Raise it when a part is installed in another way from the same lock files.
const RECIPE: &str = "recipe 1";

/// One separately installed folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// What a person calls it.
    pub(super) what: &'static str,
    /// Its folder in `.tools/`.
    pub(super) folder: &'static str,
    /// Where it comes from.
    pub(super) source: Source,
}

/// The lock files of a part, relative to the root.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// Pip requirements files with a version and hashes for every package, installed in this order.
    Python {
        requirements: &'static [&'static str],
    },
    /// A folder with `package.json`, `package-lock.json` and `.npmrc`.
    Node { folder: &'static str },
}

impl Part {
    /// The installed folder, absolute.
    pub(super) fn path(&self, workspace: &Workspace) -> PathBuf {
        workspace.tools().join(self.folder)
    }

    /// Whether the folder was completely installed from the lock files as they are now.
    pub(super) fn is_current(&self, workspace: &Workspace) -> Result<bool, Failure> {
        let wanted = self.stamp(workspace)?;
        let path = self.stamp_path(workspace);
        let installed = self.path(workspace).is_dir() && path.is_file();
        Ok(installed && read(&path)? == wanted)
    }

    /// Takes away what an earlier installation left.
    pub(super) fn begin(&self, workspace: &Workspace) -> Result<(), Failure> {
        let path = self.path(workspace);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(Failure::file(&path))?;
        }
        Ok(())
    }

    /// Writes the stamp: the installation is complete.
    pub(super) fn finish(&self, workspace: &Workspace) -> Result<(), Failure> {
        let path = self.stamp_path(workspace);
        fs::write(&path, self.stamp(workspace)?).map_err(Failure::file(&path))
    }

    fn stamp_path(&self, workspace: &Workspace) -> PathBuf {
        workspace.tools().join(format!("{}.stamp", self.folder))
    }

    /// The lock files themselves, and the place: a Python environment cannot be moved.
    fn stamp(&self, workspace: &Workspace) -> Result<String, Failure> {
        let mut stamp = format!("{RECIPE}\n{}\n", workspace.root().display());
        for file in self.lock_files() {
            stamp.push_str(&read(&workspace.root().join(file))?);
        }
        Ok(stamp)
    }

    fn lock_files(&self) -> Vec<PathBuf> {
        match self.source {
            Source::Python { requirements } => requirements.iter().map(PathBuf::from).collect(),
            Source::Node { folder } => ["package.json", "package-lock.json", ".npmrc"]
                .map(|file| Path::new(folder).join(file))
                .to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Part, Source};
    use crate::workspace::Workspace;

    const PART: Part = Part {
        what: "a part",
        folder: "part",
        source: Source::Python {
            requirements: &["lock.txt"],
        },
    };

    fn workspace(folder: &std::path::Path) -> Workspace {
        let workspace = Workspace::at(folder.to_owned());
        fs::write(workspace.path("lock.txt"), "one==1\n").unwrap();
        fs::create_dir_all(workspace.tools()).unwrap();
        workspace
    }

    #[test]
    fn a_part_is_current_from_its_last_step_until_its_lock_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        assert!(!PART.is_current(&workspace).unwrap());

        PART.begin(&workspace).unwrap();
        fs::create_dir(PART.path(&workspace)).unwrap();
        assert!(
            !PART.is_current(&workspace).unwrap(),
            "interrupted, yet current"
        );

        PART.finish(&workspace).unwrap();
        assert!(PART.is_current(&workspace).unwrap());

        fs::write(workspace.path("lock.txt"), "one==2\n").unwrap();
        assert!(
            !PART.is_current(&workspace).unwrap(),
            "locked anew, yet current"
        );
    }

    #[test]
    fn a_part_whose_folder_was_removed_is_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        fs::create_dir(PART.path(&workspace)).unwrap();
        PART.finish(&workspace).unwrap();
        fs::remove_dir(PART.path(&workspace)).unwrap();
        assert!(!PART.is_current(&workspace).unwrap());
    }

    #[test]
    fn beginning_empties_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        fs::create_dir_all(PART.path(&workspace).join("old")).unwrap();
        PART.begin(&workspace).unwrap();
        assert!(!PART.path(&workspace).exists());
    }
}
