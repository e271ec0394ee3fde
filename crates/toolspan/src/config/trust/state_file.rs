//! How is a file kept that only its user may read and write, and that is never half written?

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind as Io, Read, Write};
use std::path::{Path, PathBuf};

use toolspan_core::{Error, ErrorKind, Phase, Result};

/// A file in a folder of the user's state.
#[derive(Clone, Debug)]
pub(super) struct StateFile {
    folder: PathBuf,
    name: &'static str,
}

/// Holds others of this program off for as long as it lives.
#[derive(Debug)]
pub(super) struct Locked {
    _file: File,
}

impl StateFile {
    pub(super) fn new(folder: PathBuf, name: &'static str) -> Self {
        Self { folder, name }
    }

    /// Where it is.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    /// Its bytes; `None` if there is no such file. Refuses a link, a file of another user, one that
    /// others may read or write, and one of more than `largest` bytes.
    pub(super) fn read(&self, largest: usize) -> Result<Option<Vec<u8>>> {
        if !self.folder_is_there()? {
            return Ok(None);
        }
        let path = self.path();
        let file = match options().read(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == Io::NotFound => return Ok(None),
            Err(error) => return Err(self.not_opened(&path, &error)),
        };
        let metadata = file
            .metadata()
            .map_err(|error| failed("read", &path, &error))?;
        check_file(&path, &metadata)?;
        let mut bytes = Vec::new();
        file.take(largest as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| failed("read", &path, &error))?;
        if bytes.len() > largest {
            let message = format!("{} is larger than {} MiB", path.display(), largest >> 20);
            return Err(refused(
                message,
                format!("remove it: `rm {}`", path.display()),
            ));
        }
        Ok(Some(bytes))
    }

    /// Holds others off who want to change the file. Makes the folder if it is missing.
    pub(super) fn lock(&self) -> Result<Locked> {
        let is_new = !self.folder_is_there()?;
        if is_new {
            make_folder(&self.folder).map_err(|error| failed("make", &self.folder, &error))?;
            self.folder_is_there()?;
        }
        let path = self.beside("lock");
        let file = options()
            .write(true)
            .create(true)
            .open(&path)
            .map_err(|error| self.not_opened(&path, &error))?;
        lock(&file, &path)?;
        Ok(Locked { _file: file })
    }

    /// Replaces the file as a whole: after a crash it is the old one or the new one.
    pub(super) fn write(&self, bytes: &[u8], _lock: &Locked) -> Result<()> {
        let (path, new) = (self.path(), self.beside("new"));
        let write = || {
            // What a crash left behind.
            match std::fs::remove_file(&new) {
                Err(error) if error.kind() != Io::NotFound => return Err(error),
                _ => {}
            }
            let mut file = options().write(true).create_new(true).open(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&new, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(|error| failed("write", &path, &error))
    }

    /// Gives the file the ending `.bad`, in place of an earlier one, and says where it is now.
    pub(super) fn set_aside(&self, _lock: &Locked) -> Result<PathBuf> {
        let bad = self.beside("bad");
        std::fs::rename(self.path(), &bad)
            .map_err(|error| failed("rename", &self.path(), &error))?;
        Ok(bad)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    /// Whether there is a folder, and it is one where nobody else can put files.
    fn folder_is_there(&self) -> Result<bool> {
        let metadata = match std::fs::symlink_metadata(&self.folder) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == Io::NotFound => return Ok(false),
            Err(error) => return Err(failed("look at", &self.folder, &error)),
        };
        check_folder(&self.folder, &metadata)?;
        Ok(true)
    }

    fn not_opened(&self, path: &Path, error: &io::Error) -> Error {
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
        if is_link {
            let message = format!("{} is a link, so it is not used", path.display());
            return refused(message, format!("remove it: `rm {}`", path.display()));
        }
        failed("open", path, error)
    }
}

fn refused(message: String, hint: String) -> Error {
    Error::new(ErrorKind::Config, Phase::Config, message).with_hint(hint)
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("failed to {what} {}: {error}", path.display());
    Error::new(ErrorKind::Config, Phase::Config, message)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// For files of this user alone; a link is not followed, and a pipe not waited for.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options
}

#[cfg(unix)]
fn lock(file: &File, path: &Path) -> Result<()> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => {
            let message = "another toolspan changes the approvals at this moment".to_owned();
            Err(refused(message, "try again".to_owned()))
        }
        Err(error) => Err(failed("lock", path, &error.into())),
    }
}

#[cfg(not(unix))]
fn lock(_: &File, _: &Path) -> Result<()> {
    Ok(())
}

fn check_file(path: &Path, metadata: &Metadata) -> Result<()> {
    let shown = path.display();
    if !metadata.is_file() {
        let message = format!("{shown} is not a regular file, so it is not used");
        return Err(refused(message, format!("remove it: `rm -r {shown}`")));
    }
    check_owner(path, metadata)?;
    if others_may(metadata, 0o077) {
        let message = format!("other users may read or write {shown}, so it is not used");
        return Err(refused(
            message,
            format!("look through it, then `chmod 600 {shown}`"),
        ));
    }
    Ok(())
}

fn check_folder(path: &Path, metadata: &Metadata) -> Result<()> {
    let shown = path.display();
    if !metadata.is_dir() {
        let message = format!("{shown} is not a folder, so nothing in it is used");
        return Err(refused(message, format!("remove it: `rm {shown}`")));
    }
    check_owner(path, metadata)?;
    if others_may(metadata, 0o022) {
        let message = format!("other users may put files into {shown}, so none is used");
        return Err(refused(message, format!("`chmod 700 {shown}`")));
    }
    Ok(())
}

#[cfg(unix)]
fn check_owner(path: &Path, metadata: &Metadata) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    if metadata.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let shown = path.display();
    let message = format!("{shown} belongs to another user, so it is not used");
    Err(refused(
        message,
        format!("remove it, or `chown` it to yourself: {shown}"),
    ))
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &Metadata) -> Result<()> {
    Ok(())
}

#[cfg(unix)]
fn others_may(metadata: &Metadata, bits: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & bits != 0
}

#[cfg(not(unix))]
fn others_may(_: &Metadata, _: u32) -> bool {
    false
}
