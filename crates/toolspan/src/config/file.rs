//! What text is in a config file?

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Environment;
use super::problem::Problem;
use super::source::Source;

/// Largest config in bytes: 4 MiB.
pub(super) const LARGEST: usize = 4 << 20;

/// Where the user's own config is, whether it exists or not.
pub(super) fn user_file(environment: &Environment) -> Option<PathBuf> {
    let folder = match environment.folder("XDG_CONFIG_HOME") {
        Some(folder) => folder.to_owned(),
        None => environment.home()?.join(".config"),
    };
    Some(folder.join("toolspan").join("toolspan.json"))
}

/// The text of a config file, without a byte order mark. Never blocks on what is not a file.
pub(super) fn read(path: &Path, environment: &Environment) -> Result<String, Problem> {
    read_at_most(LARGEST, path, environment)
}

/// As [`read`], and what the system says of the file that was read.
pub(super) fn read_with_metadata(
    path: &Path,
    environment: &Environment,
) -> Result<(String, Metadata), Problem> {
    let (bytes, metadata) = read_bytes(LARGEST, path, environment)?;
    Ok((decode(path, bytes)?, metadata))
}

/// As [`read`], with another largest size in bytes.
pub(super) fn read_at_most(
    largest: usize,
    path: &Path,
    environment: &Environment,
) -> Result<String, Problem> {
    let (bytes, _) = read_bytes(largest, path, environment)?;
    decode(path, bytes)
}

/// The bytes of a file of at most `largest` bytes, and what the system says of it.
pub(super) fn read_bytes(
    largest: usize,
    path: &Path,
    environment: &Environment,
) -> Result<(Vec<u8>, Metadata), Problem> {
    let bad = |message: &str| Problem::new(message).in_file(Some(path.to_owned()));
    let io = |error: io::Error| bad(&reason(&error));
    let opened = environment.absolute(path);
    // Looked at before it is opened, since opening alone has effects on some devices.
    let check = |metadata: &Metadata| check(metadata, largest).map_err(|message| bad(&message));
    check(&std::fs::metadata(&opened).map_err(io)?)?;
    let file = open(&opened).map_err(io)?;
    // And again: it may have been replaced in between.
    let metadata = file.metadata().map_err(io)?;
    check(&metadata)?;
    let mut bytes = Vec::new();
    file.take(largest as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() > largest {
        return Err(bad(&too_large(largest)));
    }
    Ok((bytes, metadata))
}

/// A config is a regular file of at most `largest` bytes.
fn check(metadata: &Metadata, largest: usize) -> Result<(), String> {
    if metadata.is_dir() {
        return Err("this is a folder, not a file".to_owned());
    }
    if !metadata.is_file() {
        return Err("this is not a regular file, so it is not read".to_owned());
    }
    if metadata.len() > largest as u64 {
        return Err(too_large(largest));
    }
    Ok(())
}

/// What is said about a config over its largest size.
pub(super) fn too_large(largest: usize) -> String {
    format!("the config is larger than {} MiB", largest >> 20)
}

/// Opens for reading without waiting for a writer, should it have become a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "the file may not be read by this user".to_owned(),
        _ => format!("the file cannot be read: {error}"),
    }
}

fn decode(path: &Path, mut bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let readable = String::from_utf8_lossy(error.as_bytes());
        Source::new(Some(path), &readable)
            .problem(at, "", format!("byte {at} is not valid UTF-8"))
            .with_hint("save the file as UTF-8")
    })
}
