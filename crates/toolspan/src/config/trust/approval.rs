//! What is kept of an approval, and in what form?

use std::path::PathBuf;

use serde_json::{Value, json};

use super::program::Program;
use super::view::Line;

/// Most bytes of shown lines that are kept of one approval: 256 KiB. Of a longer view none is kept,
/// so that a change shows all of it again.
const MOST_SHOWN: usize = 256 << 10;

/// That a person has approved a config as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Approval {
    /// The config: its folder without links, and its name.
    pub(super) file: PathBuf,
    /// The fingerprint of what it said, in hexadecimal.
    pub(super) hash: String,
    /// What was shown, secrets hidden.
    pub(super) shown: Vec<Line>,
    /// What it runs of its project.
    pub(super) programs: Vec<Program>,
}

impl Approval {
    /// The lines as far as they are kept.
    pub(super) fn kept(lines: &[Line]) -> Vec<Line> {
        let size: usize = lines.iter().map(|it| it.entry.len() + it.text.len()).sum();
        match size > MOST_SHOWN {
            true => Vec::new(),
            false => lines.to_vec(),
        }
    }

    /// `None` when the file's name is no text.
    pub(super) fn to_json(&self) -> Option<Value> {
        let shown = self.shown.iter().map(|line| json!([line.entry, line.text]));
        let programs = self.programs.iter().filter_map(|program| {
            Some(json!({"path": program.path.to_str()?, "sha256": program.hash}))
        });
        Some(json!({
            "file": self.file.to_str()?,
            "hash": self.hash,
            "shown": shown.collect::<Vec<_>>(),
            "programs": programs.collect::<Vec<_>>(),
        }))
    }

    /// `None` when it is no approval.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let line = |value: &Value| {
            let [entry, text] = value.as_array()?.as_slice() else {
                return None;
            };
            Some(Line {
                entry: entry.as_str()?.to_owned(),
                text: text.as_str()?.to_owned(),
            })
        };
        let program = |value: &Value| {
            Some(Program {
                path: value.get("path")?.as_str()?.into(),
                hash: value.get("sha256")?.as_str()?.to_owned(),
            })
        };
        let list = |key: &str| value.get(key)?.as_array();
        Some(Self {
            file: value.get("file")?.as_str()?.into(),
            hash: value.get("hash")?.as_str()?.to_owned(),
            shown: list("shown")?.iter().map(line).collect::<Option<_>>()?,
            programs: list("programs")?
                .iter()
                .map(program)
                .collect::<Option<_>>()?,
        })
    }
}
