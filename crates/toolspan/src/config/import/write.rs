//! How does a file get a new content so that it is never half written?

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::problem::Problem;

/// Most names that are tried for the new file beside the old one.
const TRIES: u32 = 16;
/// Tells the new files of one process apart.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Writes the text to a new file beside this one, has it on the disk, and renames it over this one.
///
/// `before` is what the file had, `None` for none: when that is no longer so, nothing is written.
/// A link keeps its place: the file that it leads to is replaced.
pub(super) fn replace(path: &Path, text: &str, before: Option<&str>) -> Result<(), Problem> {
    let failed = |error: io::Error| Problem::new(format!("the config cannot be written: {error}"));
    let path = match before {
        Some(_) => path.canonicalize().map_err(failed)?,
        None => path.to_owned(),
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_folder(folder).map_err(failed)?;
    let (mut file, new) = create_beside(&path, folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    if before.is_some() {
        let permissions = path.metadata().map_err(failed)?.permissions();
        file.set_permissions(permissions).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    if !is_unchanged(&path, before) {
        return Err(
            Problem::new("the config has changed in the meantime, so it is not written")
                .with_hint("import again"),
        );
    }
    new.take_the_place_of(&path).map_err(failed)?;
    sync_folder(folder).map_err(failed)
}

/// Makes the folder and those above it, for this user alone.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file that is not yet what it shall be; dropping it removes it.
struct NewFile(Option<PathBuf>);

impl NewFile {
    fn take_the_place_of(mut self, path: &Path) -> io::Result<()> {
        if let Some(new) = &self.0 {
            std::fs::rename(new, path)?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Whatever went wrong before is told; a file that stays is not half of the config.
            drop(std::fs::remove_file(path));
        }
    }
}

/// A new empty file in the folder, for this user alone.
fn create_beside(path: &Path, folder: &Path) -> io::Result<(File, NewFile)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for _ in 0..TRIES {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let new = folder.join(format!(".{name}.{}-{number}.new", std::process::id()));
        match options.open(&new) {
            Ok(file) => return Ok((file, NewFile(Some(new)))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Whether the file still has what it had, but for a byte order mark.
fn is_unchanged(path: &Path, before: Option<&str>) -> bool {
    match (std::fs::read(path), before) {
        (Ok(now), Some(before)) => {
            let now = now.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&now);
            now == before.as_bytes()
        }
        (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// Has the rename on the disk, where a folder can be opened.
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_changed_in_the_meantime_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.json");
        std::fs::write(&path, "now").expect("a file");
        let problem = replace(&path, "new", Some("before")).expect_err("it changed");
        assert!(
            problem.message.contains("changed in the meantime"),
            "{problem}"
        );
        let problem = replace(&path, "new", None).expect_err("it is there now");
        assert!(
            problem.message.contains("changed in the meantime"),
            "{problem}"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "now");
        assert_eq!(names(folder.path()), ["c.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_old_file_keeps_its_mode_and_a_link_its_place() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, "old").expect("a file");
        let mode = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(&real, mode).expect("its own file");
        std::os::unix::fs::symlink("real", &link).expect("a link");
        replace(&link, "new", Some("old")).expect("it is written");
        assert!(link.symlink_metadata().expect("a link").is_symlink());
        assert_eq!(std::fs::read_to_string(&real).expect("text"), "new");
        let mode = real.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_and_its_folders_are_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/c.json");
        replace(&path, "new", None).expect("it is written");
        for (path, wanted) in [("a", 0o700), ("a/b", 0o700), ("a/b/c.json", 0o600)] {
            let mode = folder
                .path()
                .join(path)
                .metadata()
                .expect("there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, wanted, "{path}");
        }
    }
}
