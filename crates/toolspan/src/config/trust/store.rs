//! Where are the approvals of a user kept, and how are they read and changed?

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolspan_core::guard::depth;
use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::super::Environment;
use super::approval::Approval;
use super::config_file::key;
use super::state_file::StateFile;

/// The version of the format. A file of another one counts as none.
const VERSION: u64 = 1;
/// Largest file in bytes: 16 MiB. The oldest approvals go when more is to be written.
const LARGEST: usize = 16 << 20;
/// Most approvals. The oldest goes when there is one more.
const MOST: usize = 1_000;
/// Deepest nesting in the file.
const DEEPEST: usize = 8;

/// The approvals of this user: `toolspan/trust.json` in `$XDG_STATE_HOME` (default
/// `~/.local/state`), a file that nobody else may read or write.
#[derive(Clone, Debug)]
pub struct TrustStore {
    file: StateFile,
}

/// What is in the file.
enum Content {
    /// The oldest first.
    Approvals(Vec<Approval>),
    /// It cannot be understood, or is of another version.
    Unusable,
}

impl TrustStore {
    /// Where this user's approvals are, whether there are any or not.
    ///
    /// # Errors
    ///
    /// `config` when neither `XDG_STATE_HOME` nor `HOME` names a folder.
    pub fn of(environment: &Environment) -> Result<Self> {
        let state = match environment.folder("XDG_STATE_HOME") {
            Some(folder) => folder.to_owned(),
            None => environment
                .home()
                .ok_or_else(homeless)?
                .join(".local")
                .join("state"),
        };
        let file = StateFile::new(state.join("toolspan"), "trust.json");
        Ok(Self { file })
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// The configs that are approved as they were at some time, the oldest approval first.
    ///
    /// # Errors
    ///
    /// `config` when the file must not be used: a link, of another user, open to others, too large.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let approvals = self.approvals()?;
        Ok(approvals
            .into_iter()
            .map(|approval| approval.file)
            .collect())
    }

    /// Takes the approval of a config back, whether the file is still there or not. Gives false
    /// when there was none.
    ///
    /// # Errors
    ///
    /// As [`TrustStore::files`]; also when the file cannot be written.
    pub fn revoke(&self, path: &Path, environment: &Environment) -> Result<bool> {
        let file = key(path, environment)?;
        if self.get(&file)?.is_none() {
            return Ok(false);
        }
        self.change(|approvals| approvals.retain(|approval| approval.file != file))?;
        Ok(true)
    }

    /// The approval of a config.
    pub(super) fn get(&self, file: &Path) -> Result<Option<Approval>> {
        let approvals = self.approvals()?;
        Ok(approvals.into_iter().find(|approval| approval.file == file))
    }

    /// Adds an approval in place of an earlier one of the same config.
    pub(super) fn put(&self, approval: Approval) -> Result<()> {
        self.change(|approvals| {
            approvals.retain(|known| known.file != approval.file);
            approvals.push(approval);
        })
    }

    fn approvals(&self) -> Result<Vec<Approval>> {
        Ok(match self.content()? {
            Content::Approvals(approvals) => approvals,
            Content::Unusable => Vec::new(),
        })
    }

    fn content(&self) -> Result<Content> {
        Ok(match self.file.read(LARGEST)? {
            None => Content::Approvals(Vec::new()),
            Some(bytes) => parse(&bytes).map_or(Content::Unusable, Content::Approvals),
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Approval>)) -> Result<()> {
        let lock = self.file.lock()?;
        let mut approvals = match self.content()? {
            Content::Approvals(approvals) => approvals,
            Content::Unusable => {
                self.file.set_aside(&lock)?;
                Vec::new()
            }
        };
        change(&mut approvals);
        self.file.write(&text(&approvals), &lock)
    }
}

fn homeless() -> Error {
    let message = "there is no folder for approvals: neither XDG_STATE_HOME nor HOME is set";
    Error::new(ErrorKind::Config, Phase::Config, message)
        .with_hint("set HOME to a folder of your own")
}

fn parse(bytes: &[u8]) -> Option<Vec<Approval>> {
    depth::of_text(bytes, DEEPEST)?;
    let value: Value = serde_json::from_slice(bytes).ok()?;
    if value.get("version")?.as_u64() != Some(VERSION) {
        return None;
    }
    let approvals = value.get("approvals")?.as_array()?;
    approvals.iter().map(Approval::from_json).collect()
}

/// The file's text; the oldest approvals are left out where there are too many.
fn text(approvals: &[Approval]) -> Vec<u8> {
    let mut size = 0;
    let mut kept: Vec<Value> = approvals
        .iter()
        .rev()
        .take(MOST)
        .filter_map(Approval::to_json)
        // Each is on a line of its own.
        .take_while(|approval| {
            size += approval.to_string().len() + 8;
            size < LARGEST - 1024
        })
        .collect();
    kept.reverse();
    let lines: Vec<String> = kept.iter().map(Value::to_string).collect();
    let list = match lines.is_empty() {
        true => "[]".to_owned(),
        false => format!("[\n    {}\n  ]", lines.join(",\n    ")),
    };
    format!(
        "{{\n  \"version\": {},\n  \"approvals\": {list}\n}}\n",
        json!(VERSION)
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::program::Program;
    use super::super::view::Line;
    use super::*;

    fn approval(file: &str) -> Approval {
        Approval {
            file: file.into(),
            hash: "ab".repeat(32),
            shown: vec![Line {
                entry: "time".to_owned(),
                text: "start: \"x\" y".to_owned(),
            }],
            programs: vec![Program {
                path: "/p/x.py".into(),
                hash: "cd".repeat(32),
            }],
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for approvals in [vec![], vec![approval("/p/a.json"), approval("/p/b.json")]] {
            assert_eq!(parse(&text(&approvals)), Some(approvals));
        }
    }

    #[test]
    fn what_is_not_of_this_version_is_none() {
        let good = String::from_utf8(text(&[approval("/p/a.json")])).expect("text");
        for bad in [
            String::new(),
            good[..good.len() / 2].to_owned(),
            good.replace("\"version\": 1", "\"version\": 2"),
            good.replace("\"version\": 1", "\"version\": \"1\""),
            good.replace("\"hash\"", "\"hush\""),
            good.replace("[\"time\"", "[5"),
            "[".repeat(100_000),
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad:.80}");
        }
    }

    #[test]
    fn the_oldest_approvals_go_when_there_are_too_many() {
        let all: Vec<Approval> = (0..=MOST)
            .map(|number| approval(&format!("/p/{number}")))
            .collect();
        let kept = parse(&text(&all)).expect("approvals");
        assert_eq!(kept.len(), MOST);
        assert_eq!(kept.first().map(|it| it.file.clone()), Some("/p/1".into()));
        let large: Vec<Approval> = (0..100)
            .map(|number| Approval {
                shown: vec![Line {
                    entry: String::new(),
                    text: "x".repeat(250 << 10),
                }],
                ..approval(&format!("/p/{number}"))
            })
            .collect();
        let bytes = text(&large);
        assert!(bytes.len() < LARGEST, "{}", bytes.len());
        let last = parse(&bytes).and_then(|mut kept| kept.pop());
        assert_eq!(last.map(|it| it.file), Some("/p/99".into()));
    }
}
