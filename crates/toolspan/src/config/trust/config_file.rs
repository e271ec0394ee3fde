//! A config file, read once: what does it say, and may it start anything?

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolspan_core::guard::Secret;
use toolspan_core::guard::sanitise::one_line;
use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::super::file;
use super::super::problem::Problem;
use super::super::source::Source;
use super::super::surroundings::{ReadFile, ReadFiles};
use super::super::{AskInput, Environment, Found, Input, Origin, Resolved};
use super::approval::Approval;
use super::difference::{Change, difference};
use super::meaning::{Fingerprint, canonical, tree};
use super::permission::Access;
use super::program::programs;
use super::store::TrustStore;
use super::view::View;

/// Longest path in a warning, in characters.
const LONGEST_PATH: usize = 400;
/// What the hint says when an approval is needed.
const HINT: &str = "`toolspan trust` shows what it would start, and asks";

/// A config file whose bytes were read once: what is shown, approved and started is the same.
///
/// Its `Debug` shows no secret.
pub struct ConfigFile {
    found: Found,
    text: String,
    access: Access,
    view: View,
    /// Of a project's file, what an approval of it is bound to.
    bound: Option<Bound>,
}

/// What an approval is bound to.
struct Bound {
    fingerprint: Fingerprint,
    /// The files of variables that were read.
    files: Vec<ReadFile>,
}

/// Answers each question with something: what is looked at must not depend on a person.
struct Anything;

impl AskInput for Anything {
    fn ask(&self, input: &Input) -> Option<Secret> {
        let first = input.options.first();
        Some(Secret::new(first.map_or("x", |option| &option.value)))
    }
}

/// Whether a config file may start anything.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// The user chose the file, so that there is nothing to approve.
    Trusted,
    /// It says what it said when it was approved.
    Approved {
        /// Files of the project that it runs and that are not what they were then.
        replaced: Vec<PathBuf>,
    },
    /// It was never approved.
    New,
    /// It says something else than when it was approved.
    Changed {
        /// What of it is seen. Empty when only secrets, values in the files of `envFile` or the
        /// order of entries differ.
        difference: Vec<Change>,
    },
}

impl ConfigFile {
    /// Reads a file: JSON with comments, at most 4 MiB. If it is a project's, also the files that its
    /// `envFile` keys name.
    ///
    /// # Errors
    ///
    /// `config` when the file cannot be read or is no JSON; a project's also when it is no config as
    /// a whole.
    pub fn read(found: Found, environment: &Environment) -> Result<Self> {
        let (text, metadata) = file::read_with_metadata(&found.path, environment)?;
        let mut file = Self {
            view: View::of(&parsed(&found.path, &text)?),
            access: Access::of(&metadata),
            found,
            text,
            bound: None,
        };
        if file.found.origin == Origin::Project {
            let (_, files) = file.resolved(environment, &Anything)?;
            file.view.add_files(&files, environment.current_dir());
            let fingerprint = file.fingerprint(&files)?;
            file.bound = Some(Bound { fingerprint, files });
        }
        Ok(file)
    }

    /// The file as it was named, and who chose it.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// All that it says, in lines to be shown.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Refuses a file that has secrets in it and that somebody else may write.
    ///
    /// # Errors
    ///
    /// `config`, with the command that ends it as a hint.
    pub fn refuse_insecure(&self) -> Result<()> {
        let refusal = self.access.refusal(&self.found.path, self.has_secrets());
        refusal.map_or(Ok(()), Err)
    }

    /// What the config means, for looking at: a file of a project may say anything in it. As
    /// [`Resolved::from_file_asking`].
    pub fn resolve(&self, environment: &Environment, asker: &dyn AskInput) -> Result<Resolved> {
        Ok(self.resolved(environment, asker)?.0)
    }

    /// What the config means, for starting it.
    ///
    /// Nobody is asked for inputs before it is certain that the file was approved. A program of the
    /// project that is not what it was at the approval is among the warnings.
    ///
    /// # Errors
    ///
    /// `approval_required` when the file belongs to a project and is not approved as it is now; as
    /// [`ConfigFile::resolve`].
    pub fn resolve_trusted(
        &self,
        environment: &Environment,
        asker: &dyn AskInput,
    ) -> Result<Resolved> {
        let replaced = match self.standing(environment)? {
            Standing::Trusted => return self.resolve(environment, asker),
            Standing::Approved { replaced } => replaced,
            Standing::New => {
                return Err(self.required("it was not approved, so nothing of it is started"));
            }
            Standing::Changed { .. } => {
                return Err(self.required("it has changed since it was approved"));
            }
        };
        let (mut resolved, files) = self.resolved(environment, asker)?;
        // They were read again; of an entry without its inputs they were not.
        let known = self.bound.iter().flat_map(|bound| &bound.files);
        if !files
            .iter()
            .all(|file| known.clone().any(|known| known == file))
        {
            return Err(self.required("a file of variables changed while it was read"));
        }
        let warning = |path: &PathBuf| {
            let path = one_line(&path.to_string_lossy(), LONGEST_PATH);
            let message = format!("{path} is not what it was at the approval");
            Problem::new(message)
                .in_file(Some(self.found.path.clone()))
                .with_hint("if you do not know why, look at it before you go on")
        };
        resolved.warnings.extend(replaced.iter().map(warning));
        Ok(resolved)
    }

    /// Whether it may start anything, as it was when it was read.
    ///
    /// # Errors
    ///
    /// `config` when the approvals must not be used.
    pub fn standing(&self, environment: &Environment) -> Result<Standing> {
        let Some(bound) = &self.bound else {
            return Ok(Standing::Trusted);
        };
        let key = self.key(environment)?;
        let Some(approval) = TrustStore::of(environment)?.get(&key)? else {
            return Ok(Standing::New);
        };
        if approval.hash != bound.fingerprint.to_string() {
            let difference = difference(&approval.shown, &self.view.lines);
            return Ok(Standing::Changed { difference });
        }
        let programs = approval.programs.into_iter();
        let replaced = programs.filter(|program| program.is_replaced(environment));
        Ok(Standing::Approved {
            replaced: replaced.map(|program| program.path).collect(),
        })
    }

    /// Approves the file as it was read. Does nothing for one that needs no approval.
    ///
    /// # Errors
    ///
    /// `config` when the approvals cannot be kept.
    pub fn approve(&self, environment: &Environment) -> Result<()> {
        let Some(bound) = &self.bound else {
            return Ok(());
        };
        let file = self.key(environment)?;
        let folder = file.parent().unwrap_or(&file);
        let config = parsed(&self.found.path, &self.text)?;
        TrustStore::of(environment)?.put(Approval {
            hash: bound.fingerprint.to_string(),
            shown: Approval::kept(&self.view.lines),
            programs: programs(&config, folder, environment),
            file,
        })
    }

    /// What its approval is kept under: its folder without links, and its own name. A link that has
    /// this name is not followed, since relative paths in the config start from here.
    pub fn key(&self, environment: &Environment) -> Result<PathBuf> {
        key(&self.found.path, environment)
    }

    fn has_secrets(&self) -> bool {
        self.view.hidden > 0
    }

    fn resolved(
        &self,
        environment: &Environment,
        asker: &dyn AskInput,
    ) -> Result<(Resolved, Vec<ReadFile>)> {
        let source = Source::new(Some(&self.found.path), &self.text);
        let files = ReadFiles::default();
        let mut resolved = Resolved::from_source(&source, environment, asker, &files)?;
        let warnings = self.access.warnings(&self.found.path, self.has_secrets());
        resolved.warnings.splice(0..0, warnings);
        Ok((resolved, files.into_inner()))
    }

    fn fingerprint(&self, files: &[ReadFile]) -> Result<Fingerprint> {
        let source = Source::new(Some(&self.found.path), &self.text);
        let meaning = source.parse()?.as_ref().map_or_else(String::new, canonical);
        let files = files.iter().map(|file| (file.path.as_path(), &file.hash));
        Ok(Fingerprint::of(&meaning, files))
    }

    fn required(&self, why: &str) -> Error {
        let shown = self.found.path.display();
        let message = format!("{shown} is the config of a project, and {why}");
        Error::new(ErrorKind::ApprovalRequired, Phase::Config, message).with_hint(HINT)
    }
}

impl std::fmt::Debug for ConfigFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ConfigFile")
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}

/// What the approval of a config is kept under.
pub(super) fn key(path: &Path, environment: &Environment) -> Result<PathBuf> {
    let absolute = environment.absolute(path);
    let folder = absolute.parent().map(Path::canonicalize);
    match (folder, absolute.file_name()) {
        (Some(Ok(folder)), Some(name)) => Ok(folder.join(name)),
        _ => {
            let message = format!("there is no folder of {}", path.display());
            Err(Error::new(ErrorKind::Config, Phase::Config, message))
        }
    }
}

fn parsed(path: &Path, text: &str) -> Result<Value> {
    let source = Source::new(Some(path), text);
    Ok(source.parse()?.as_ref().map_or(Value::Null, tree))
}
