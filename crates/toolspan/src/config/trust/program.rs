//! Which files of the project are run, and are they still those that were there at the approval?

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::Environment;
use super::super::file;
use super::meaning::{hash, hexadecimal};
use super::view::{Entry, entries};

/// Most files of a project that are looked at.
const MOST: usize = 16;
/// Most words of command lines that are tried as names of files.
const MOST_TRIED: usize = 256;
/// Largest such file in bytes: 4 MiB. A larger one is not looked at.
const LARGEST: usize = 4 << 20;

/// A file that a config runs, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Where it is, without links.
    pub(super) path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub(super) hash: String,
}

/// The programs and scripts in a project's folder, which has no links in its path, that its config
/// names as commands or arguments. A name with a variable in it is not looked at.
pub(super) fn programs(config: &Value, folder: &Path, environment: &Environment) -> Vec<Program> {
    let mut found: Vec<Program> = Vec::new();
    let entries = entries(config);
    let words = entries.iter().flat_map(|entry| words(entry, folder));
    for path in words.take(MOST_TRIED) {
        let Ok(path) = path.canonicalize() else {
            continue;
        };
        let is_known = found.iter().any(|program| program.path == path);
        if is_known || !path.starts_with(folder) {
            continue;
        }
        if let Some(program) = Program::read(path, environment) {
            found.push(program);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

impl Program {
    /// The file as it is now; `None` when it cannot be read or is too large.
    fn read(path: PathBuf, environment: &Environment) -> Option<Self> {
        let (bytes, _) = file::read_bytes(LARGEST, &path, environment).ok()?;
        let hash = hexadecimal(&hash(&bytes));
        Some(Self { path, hash })
    }

    /// Whether something else has this name now, or nothing.
    pub(super) fn is_replaced(&self, environment: &Environment) -> bool {
        let now = Self::read(self.path.clone(), environment);
        now.is_none_or(|now| now.hash != self.hash)
    }
}

/// What could be the name of a file in a command line. The command starts from the config's folder,
/// its arguments are seen from where the server runs.
fn words<'a>(entry: &Entry<'a>, folder: &Path) -> impl Iterator<Item = PathBuf> + use<'a> {
    let runs_in = match entry.text("cwd") {
        Some(cwd) => folder.join(cwd),
        None => folder.to_owned(),
    };
    // A command without a slash is looked for in `PATH`, not here.
    let command = entry
        .text("command")
        .filter(|command| command.contains('/') && is_file_name(command))
        .map(|command| folder.join(command));
    let arguments = entry.arguments().filter(|word| is_file_name(word));
    command
        .into_iter()
        .chain(arguments.map(move |word| runs_in.join(word)))
}

fn is_file_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && !word.contains(['$', '\0'])
}
