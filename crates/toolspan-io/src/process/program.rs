//! Which file does a program's name mean?

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::SpawnError;

/// Bytes read of a program to find its `#!` line; Linux itself reads 256.
const FIRST_LINE_SIZE: u64 = 256;

/// Finds the file to run, as an absolute path, before anything else happens. Links are followed but
/// kept in the path: programs look at the name they were started by.
///
/// A name without `/` is looked for in the absolute directories of `path` and nowhere else: an
/// empty or relative entry means "wherever we happen to be", which is not a place to run from.
pub(super) fn resolve(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, SpawnError> {
    if program.as_bytes().contains(&0) {
        return Err(SpawnError::BadArgument { index: 0 });
    }
    if program.as_bytes().contains(&b'/') {
        let absolute = std::path::absolute(program).map_err(|source| SpawnError::System {
            step: "name the current directory",
            source,
        })?;
        return match examine(&absolute) {
            Candidate::Runnable => Ok(absolute),
            Candidate::Missing => Err(not_found(program, vec![absolute])),
            Candidate::Directory => Err(SpawnError::IsDirectory { path: absolute }),
            Candidate::NotExecutable => Err(SpawnError::NotExecutable { path: absolute }),
        };
    }
    search(program, path)
}

fn search(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, SpawnError> {
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in path.into_iter().flat_map(std::env::split_paths) {
        if directory.is_absolute() && !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    let mut forbidden = None;
    if !program.is_empty() {
        for directory in &directories {
            let candidate = directory.join(program);
            match examine(&candidate) {
                Candidate::Runnable => return Ok(candidate),
                Candidate::NotExecutable => forbidden = forbidden.or(Some(candidate)),
                Candidate::Missing | Candidate::Directory => {}
            }
        }
    }
    Err(match forbidden {
        Some(path) => SpawnError::NotExecutable { path },
        None => not_found(program, directories),
    })
}

enum Candidate {
    Runnable,
    Missing,
    Directory,
    NotExecutable,
}

fn examine(path: &Path) -> Candidate {
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Candidate::NotExecutable
        }
        Err(_) => Candidate::Missing,
        Ok(metadata) if metadata.is_dir() => Candidate::Directory,
        Ok(metadata) if metadata.is_file() && may_execute(path) => Candidate::Runnable,
        Ok(_) => Candidate::NotExecutable,
    }
}

fn may_execute(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

fn not_found(program: &OsStr, searched: Vec<PathBuf>) -> SpawnError {
    SpawnError::NotFound {
        program: program.to_string_lossy().into_owned(),
        searched,
    }
}

/// Explains why the system would not run a file that is there and executable: what its first line
/// names is missing, or for a binary, its loader is.
pub(super) fn missing_interpreter(path: PathBuf) -> SpawnError {
    let interpreter = interpreter(&path).unwrap_or_else(|| "dynamic loader".to_owned());
    SpawnError::BadInterpreter { path, interpreter }
}

fn interpreter(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(path)
        .ok()?
        .take(FIRST_LINE_SIZE)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    // A script saved with the line ends of Windows names "/bin/sh\r": show that.
    let text = String::from_utf8_lossy(line);
    let name = text.trim_start().split([' ', '\t']).next()?;
    Some(name.replace('\r', "\\r"))
}
