//! Which values does a config leave for a person to give, and what do they say?
//!
//! The format is that of VS Code's `inputs`: a text refers to one by `${input:id}`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use toolspan_core::guard::Secret;
use toolspan_core::guard::secret::names_a_secret;

use super::Environment;
use super::expand::ExpandError;
use super::field::{Field, Table};
use super::keys::{self, warn_unknown};
use super::problem::{Problem, Warnings};
use super::surroundings::Surroundings;

/// Most inputs of a config.
const MOST: usize = 100;
/// Most options of an input.
const MOST_OPTIONS: usize = 1_000;

/// A value that a config leaves for a person to give. `Debug` does not show the default of a
/// password.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// What texts refer to it by: `${input:id}`. Never empty.
    pub id: String,
    /// What to ask, as the config's author wrote it.
    pub description: Option<String>,
    /// Whether what is typed must not be shown.
    pub password: bool,
    /// What an empty answer stands for.
    pub default: Option<String>,
    /// What can be chosen from; empty when any text may be given.
    pub options: Vec<InputOption>,
}

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = self.default.as_ref().filter(|_| !self.password);
        formatter
            .debug_struct("Input")
            .field("id", &self.id)
            .field("description", &self.description)
            .field("password", &self.password)
            .field("default", &default)
            .field("options", &self.options.len())
            .finish()
    }
}

/// One of the values that an [`Input`] can have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputOption {
    /// What a person is shown.
    pub label: String,
    /// What stands in the text.
    pub value: String,
}

/// Asks a person for the values that a config leaves open.
///
/// A library has no terminal, so that the program that has one brings this.
pub trait AskInput {
    /// The answer; `None` when there is none to be had. Called at most once for each input of a
    /// config that is read, on the thread that reads it, which waits for as long as it takes.
    fn ask(&self, input: &Input) -> Option<Secret>;

    /// Whether the inputs of the toolbox with this key are asked for; all are by default. An entry
    /// that needs one which is not cannot be used, also where the input has a default: another
    /// answer might have been given.
    fn is_asked_for(&self, toolbox: &str) -> bool {
        let _ = toolbox;
        true
    }
}

/// Whether the inputs of one toolbox are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// They are.
    Wanted,
    /// It is switched off, so that a default is as good as an answer.
    SwitchedOff,
    /// What is done does not need it.
    NotNeeded,
}

/// Asks nobody.
impl AskInput for () {
    fn ask(&self, _: &Input) -> Option<Secret> {
        None
    }
}

/// The variable that an input's value can be given by: `TOOLSPAN_INPUT_API_KEY` for `api-key`.
pub(super) fn variable(id: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = id.chars().map(plain).collect();
    format!("TOOLSPAN_INPUT_{name}")
}

/// The value of an input.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_secret: bool,
}

/// The inputs of one config and what was answered.
pub(super) struct Inputs<'a> {
    described: Vec<Described>,
    environment: &'a Environment,
    asker: &'a dyn AskInput,
    /// What was asked before; `None` for a question that was not answered.
    asked: RefCell<BTreeMap<String, Option<String>>>,
}

/// An entry of `inputs`.
enum Described {
    Asked(Input),
    /// The answer is what a command of an editor gives.
    Command(String),
}

impl Described {
    fn id(&self) -> &str {
        match self {
            Self::Asked(input) => &input.id,
            Self::Command(id) => id,
        }
    }
}

impl<'a> Inputs<'a> {
    /// No inputs; whatever is referred to must have a variable.
    pub(super) fn none(surroundings: &Surroundings<'a>) -> Self {
        Self {
            described: Vec::new(),
            environment: surroundings.environment,
            asker: surroundings.asker,
            asked: RefCell::default(),
        }
    }

    /// Adds what a config's `inputs` describes. An entry that cannot be used is warned of.
    pub(super) fn read(
        &mut self,
        field: &Field<'_>,
        warnings: &mut Warnings,
    ) -> Result<(), Problem> {
        for (index, item) in field.items()?.enumerate() {
            field.refuse_over(MOST, index + 1)?;
            match described(&item, warnings) {
                Ok(input) if self.find(input.id()).is_some() => warnings.add(|| {
                    item.problem("another input has the same id, so this one has no effect")
                        .with_hint("remove or rename one")
                }),
                Ok(input) => self.described.push(input),
                Err(problem) => warnings.add(|| problem),
            }
        }
        Ok(())
    }

    /// The value of an input: that of its variable, else what is answered, else its default.
    pub(super) fn value(&self, id: &str, asking: Asking) -> Result<Answer, ExpandError> {
        let described = self.find(id);
        let is_secret = match described {
            Some(Described::Asked(input)) => input.password || names_a_secret(id),
            _ => names_a_secret(id),
        };
        let name = variable(id);
        if let Some(value) = self.environment.variable(&name) {
            let text = value.to_str().ok_or(ExpandError::NotText(name))?;
            return Ok(Answer {
                text: text.to_owned(),
                is_secret,
            });
        }
        let input = match described {
            Some(Described::Asked(input)) => input,
            Some(Described::Command(_)) => return Err(ExpandError::CommandInput(id.to_owned())),
            None => return Err(ExpandError::UnknownInput(id.to_owned())),
        };
        let given = match asking {
            Asking::Wanted => self.asked(input),
            Asking::SwitchedOff => None,
            Asking::NotNeeded => return Err(ExpandError::NotAsked(id.to_owned())),
        };
        let text = given
            .filter(|given| !given.is_empty())
            .or_else(|| input.default.clone())
            .ok_or_else(|| ExpandError::NoAnswer(id.to_owned()))?;
        Ok(Answer { text, is_secret })
    }

    /// Whether the inputs of a toolbox are asked for.
    pub(super) fn asking(&self, toolbox: &str, is_off: bool) -> Asking {
        match is_off {
            true => Asking::SwitchedOff,
            false if self.asker.is_asked_for(toolbox) => Asking::Wanted,
            false => Asking::NotNeeded,
        }
    }

    fn asked(&self, input: &Input) -> Option<String> {
        let mut asked = self.asked.borrow_mut();
        let answer = asked.entry(input.id.clone()).or_insert_with(|| {
            let answer = self.asker.ask(input)?.reveal().to_owned();
            let is_offered = |option: &InputOption| option.value == answer;
            let is_allowed = input.options.is_empty() || input.options.iter().any(is_offered);
            is_allowed.then_some(answer)
        });
        answer.clone()
    }

    fn find(&self, id: &str) -> Option<&Described> {
        self.described.iter().find(|input| input.id() == id)
    }
}

fn described(field: &Field<'_>, warnings: &mut Warnings) -> Result<Described, Problem> {
    let table = field.table()?;
    let id = match table.get("id") {
        Some(id) => id.text()?.to_owned(),
        None => String::new(),
    };
    if id.is_empty() {
        return Err(field.problem("this input has no \"id\", so no text can refer to it"));
    }
    let kind = table.get("type");
    match kind.as_ref().map(|kind| kind.text()).transpose()? {
        Some("promptString" | "pickString") | None => {
            warn_unknown(&table, keys::INPUT.iter().copied(), &[], warnings);
            Ok(Described::Asked(Input {
                id,
                description: text(&table, "description")?,
                password: match table.get("password") {
                    Some(password) => password.flag()?,
                    None => false,
                },
                default: text(&table, "default")?,
                options: match table.get("options") {
                    Some(options) => read_options(&options)?,
                    None => Vec::new(),
                },
            }))
        }
        Some("command") => Ok(Described::Command(id)),
        Some(_) => Err(kind
            .as_ref()
            .unwrap_or(field)
            .problem("an input has the type \"promptString\" or \"pickString\"")),
    }
}

fn text(table: &Table<'_>, key: &str) -> Result<Option<String>, Problem> {
    let text = table.get(key).map(|field| field.text().map(str::to_owned));
    text.transpose()
}

/// A list of texts, or of `{"label", "value"}`.
fn read_options(field: &Field<'_>) -> Result<Vec<InputOption>, Problem> {
    let mut options = Vec::new();
    for item in field.items()? {
        field.refuse_over(MOST_OPTIONS, options.len() + 1)?;
        let (label, value) = if item.is_text() {
            (item.text()?.to_owned(), item.text()?.to_owned())
        } else {
            let table = item.table()?;
            let value =
                text(&table, "value")?.ok_or_else(|| item.problem("\"value\" is missing"))?;
            (
                text(&table, "label")?.unwrap_or_else(|| value.clone()),
                value,
            )
        };
        options.push(InputOption { label, value });
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_a_variable_of_its_own() {
        assert_eq!(variable("api-key"), "TOOLSPAN_INPUT_API_KEY");
        assert_eq!(variable("Figma Token"), "TOOLSPAN_INPUT_FIGMA_TOKEN");
        assert_eq!(variable("é"), "TOOLSPAN_INPUT__");
    }
}
