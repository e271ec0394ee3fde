//! What does `${VAR}` in a text of the config stand for?

use std::borrow::Cow;
use std::path::Path;

use thiserror::Error;
use toolspan_core::guard::secret::names_a_secret;

use super::Environment;
use super::field::Field;
use super::inputs;
use super::problem::{Problem, quoted};
use super::surroundings::{Filling, Surroundings};

/// Largest text after expansion, in bytes: 1 MiB.
const LARGEST: usize = 1 << 20;

/// A text with its variables filled in. It has no `Debug`: it may hold secrets.
pub(super) struct Expanded {
    pub(super) text: String,
    /// Values of variables whose names say that they are secrets; none is empty.
    pub(super) secrets: Vec<String>,
}

/// Why a text cannot be expanded. The words name variables, never values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ExpandError {
    /// `${` without `}`.
    #[error("`${{` has no closing `}}`")]
    Unclosed,
    /// What stands in the braces names no variable.
    #[error("what stands in `${{…}}` is not the name of a variable")]
    BadName,
    /// `${a:-${b}}`.
    #[error("a default in `${{…}}` cannot have `${{` in it")]
    Nested,
    /// A variable in a program's name.
    #[error("variables are not filled in here")]
    NotInCommand,
    /// `${input:id}` with an id that `inputs` does not have.
    #[error("there is no input {} in \"inputs\"", quoted(.0))]
    UnknownInput(String),
    /// An input whose value only an editor can give.
    #[error("the input {} is what a command of an editor answers, which nothing can ask here", quoted(.0))]
    CommandInput(String),
    /// An input that nobody answered and that has no default.
    #[error("the input {} has no value", quoted(.0))]
    NoAnswer(String),
    /// An input that nobody was asked for, since the entry is not needed.
    #[error("the input {} was not asked for, since nothing here needs this server", quoted(.0))]
    NotAsked(String),
    /// `${workspaceFolder}` where there is no folder.
    #[error("there is no folder that ${{{0}}} could stand for")]
    NoFolder(&'static str),
    /// The variable is not there and has no default.
    #[error("the variable {0} is not set")]
    Unset(String),
    /// The variable holds bytes that are no text.
    #[error("the value of the variable {0} is not valid UTF-8")]
    NotText(String),
    /// The result is over [`LARGEST`].
    #[error("the text is larger than 1 MiB once its variables are filled in")]
    TooLarge,
    /// A NUL character, which no argument, variable or path can hold.
    #[error("there is a NUL character in the text")]
    Nul,
}

impl ExpandError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unclosed | Self::BadName => {
                Some("write ${NAME} or ${NAME:-default}, and $$ for a plain $".to_owned())
            }
            Self::NotInCommand => Some(
                "write the program's name or path; variables work in \"args\" and \"env\""
                    .to_owned(),
            ),
            Self::UnknownInput(id) | Self::CommandInput(id) | Self::NotAsked(id) => {
                Some(format!("set the variable {}", inputs::variable(id)))
            }
            Self::NoAnswer(id) => Some(format!(
                "set the variable {}, or answer on a terminal",
                inputs::variable(id)
            )),
            Self::Unset(name) => Some(format!("set it, or write ${{{name}:-default}}")),
            Self::Nested | Self::NotText(_) | Self::TooLarge | Self::Nul | Self::NoFolder(_) => {
                None
            }
        }
    }

    /// The problem that it is at this value.
    pub(super) fn at(&self, field: &Field<'_>) -> Problem {
        let problem = field.problem(self.to_string());
        match self.hint() {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    }
}

/// Fills in `${VAR}`, `${VAR:-default}` (for a variable that is unset or empty), `${env:VAR}`,
/// `${input:id}` and the folders of [`Predefined`]; `$$` is a plain `$`, and so is a `$` before
/// anything else. One pass: what a variable holds is not looked at again.
pub(super) fn text(text: &str, filling: &Filling<'_, '_>) -> Result<Expanded, ExpandError> {
    expand(text, |reference| match reference.strip_prefix("input:") {
        Some(id) => {
            let answer = filling.inputs.value(id, filling.asking)?;
            Ok(Value {
                is_secret: answer.is_secret,
                text: answer.text.into(),
            })
        }
        None => match Predefined::named(reference) {
            Some(predefined) => predefined.value(&filling.surroundings),
            None => variable(reference, filling.surroundings.environment),
        },
    })
}

/// Fills in the folders of [`Predefined`] alone, for a program's name.
pub(super) fn program(
    text: &str,
    surroundings: &Surroundings<'_>,
) -> Result<Expanded, ExpandError> {
    expand(text, |reference| match Predefined::named(reference) {
        Some(predefined) => predefined.value(surroundings),
        None => Err(ExpandError::NotInCommand),
    })
}

/// The name in a text that other programs take for a variable, `$NAME` or `Bearer $NAME`, and that
/// stays as it is here.
pub(super) fn bare_variable(text: &str) -> Option<&str> {
    let name = text.rsplit(' ').next()?.strip_prefix('$')?;
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (is_name(name) && name.bytes().all(allowed)).then_some(name)
}

fn expand<'t>(
    text: &'t str,
    mut value: impl FnMut(&'t str) -> Result<Value<'t>, ExpandError>,
) -> Result<Expanded, ExpandError> {
    let mut expanded = Expanded {
        text: String::with_capacity(text.len()),
        secrets: Vec::new(),
    };
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        expanded.push(before)?;
        rest = if let Some(behind) = behind.strip_prefix('$') {
            expanded.push("$")?;
            behind
        } else if let Some(inside) = behind.strip_prefix('{') {
            let (reference, behind) = inside.split_once('}').ok_or(ExpandError::Unclosed)?;
            let value = value(reference)?;
            if value.is_secret && !value.text.is_empty() {
                expanded.secrets.push(value.text.clone().into_owned());
            }
            expanded.push(&value.text)?;
            behind
        } else {
            expanded.push("$")?;
            behind
        };
    }
    expanded.push(rest)?;
    Ok(expanded)
}

/// What a reference stands for.
struct Value<'t> {
    text: Cow<'t, str>,
    is_secret: bool,
}

/// What editors have names for.
#[derive(Clone, Copy)]
enum Predefined {
    WorkspaceFolder,
    WorkspaceFolderBasename,
    UserHome,
    PathSeparator,
}

impl Predefined {
    fn named(reference: &str) -> Option<Self> {
        match reference {
            "workspaceFolder" => Some(Self::WorkspaceFolder),
            "workspaceFolderBasename" => Some(Self::WorkspaceFolderBasename),
            "userHome" => Some(Self::UserHome),
            "pathSeparator" | "/" => Some(Self::PathSeparator),
            _ => None,
        }
    }

    fn value<'t>(self, surroundings: &Surroundings<'_>) -> Result<Value<'t>, ExpandError> {
        let (name, path) = match self {
            Self::PathSeparator => ("/", Some(Path::new(std::path::MAIN_SEPARATOR_STR))),
            Self::UserHome => ("userHome", surroundings.environment.home()),
            Self::WorkspaceFolder => ("workspaceFolder", surroundings.workspace),
            Self::WorkspaceFolderBasename => {
                let folder = surroundings.workspace.and_then(Path::file_name);
                ("workspaceFolderBasename", folder.map(Path::new))
            }
        };
        let path = path.ok_or(ExpandError::NoFolder(name))?;
        let text = path
            .to_str()
            .ok_or_else(|| ExpandError::NotText(name.to_owned()))?;
        Ok(Value {
            text: text.to_owned().into(),
            is_secret: false,
        })
    }
}

/// The value of `VAR`, `VAR:-default` or `env:VAR`.
fn variable<'t>(reference: &'t str, environment: &Environment) -> Result<Value<'t>, ExpandError> {
    let reference = reference.strip_prefix("env:").unwrap_or(reference);
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    if default.is_some_and(|default| default.contains("${")) {
        return Err(ExpandError::Nested);
    }
    if !is_name(name) {
        return Err(ExpandError::BadName);
    }
    let value = match environment.variable(name) {
        Some(value) => Some(
            value
                .to_str()
                .ok_or_else(|| ExpandError::NotText(name.into()))?,
        ),
        None => None,
    };
    let text = match default {
        Some(default) => match value.filter(|value| !value.is_empty()) {
            Some(value) => Cow::Owned(value.to_owned()),
            None => Cow::Borrowed(default),
        },
        None => Cow::Owned(
            value
                .ok_or_else(|| ExpandError::Unset(name.to_owned()))?
                .to_owned(),
        ),
    };
    Ok(Value {
        text,
        is_secret: names_a_secret(name),
    })
}

impl Expanded {
    fn push(&mut self, text: &str) -> Result<(), ExpandError> {
        if text.contains('\0') {
            return Err(ExpandError::Nul);
        }
        if self.text.len() + text.len() > LARGEST {
            return Err(ExpandError::TooLarge);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// A name as POSIX has it (IEEE Std 1003.1, section 3.216): letters, digits, `_`, no digit first.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::inputs::{Asking, Inputs};
    use crate::config::problem::Warnings;
    use crate::config::secrets::Collected;

    fn environment() -> Environment {
        Environment::from_pairs([
            ("A", "${B}"),
            ("B", "b"),
            ("EMPTY", ""),
            ("MY_TOKEN", "hush"),
        ])
    }

    fn text(source: &str, environment: &Environment) -> Result<Expanded, ExpandError> {
        let surroundings = Surroundings::of_value(environment);
        let filling = Filling {
            surroundings,
            inputs: &Inputs::none(&surroundings),
            asking: Asking::Wanted,
            secrets: Collected::default(),
            warnings: &mut Warnings::default(),
        };
        super::text(source, &filling)
    }

    fn expanded(source: &str) -> Result<String, ExpandError> {
        text(source, &environment()).map(|expanded| expanded.text)
    }

    #[test]
    fn each_form_is_filled_in() {
        for (source, wanted) in [
            ("", ""),
            ("x${B}y${env:B}", "xbyb"),
            (
                "${NONE:-d}${NONE:-}${EMPTY:-e}${B:-d}${env:NONE:-f}",
                "debf",
            ),
            ("<${EMPTY}>", "<>"),
            ("$$ $${B} $B $ 5$", "$ ${B} $B $ 5$"),
            ("${NONE:-a:-b}", "a:-b"),
        ] {
            assert_eq!(expanded(source).as_deref(), Ok(wanted), "{source}");
        }
    }

    #[test]
    fn what_editors_have_names_for_is_filled_in() {
        let environment =
            Environment::from_pairs([("HOME", "/home/me"), ("workspaceFolder", "no")])
                .with_current_dir("/projects/project");
        let expanded = |source| text(source, &environment).map(|expanded| expanded.text);
        let source =
            "${workspaceFolder}${/}a:${workspaceFolderBasename}:${userHome}${pathSeparator}b";
        assert_eq!(
            expanded(source).as_deref(),
            Ok("/projects/project/a:project:/home/me/b")
        );
        assert_eq!(expanded("${env:workspaceFolder}").as_deref(), Ok("no"));
    }

    #[test]
    fn a_variable_without_braces_is_noticed() {
        assert_eq!(bare_variable("$MY_TOKEN"), Some("MY_TOKEN"));
        assert_eq!(bare_variable("Bearer $TOKEN2"), Some("TOKEN2"));
        for other in [
            "$$TOKEN", "pa$WORD", "$5", "$lower", "${TOKEN}", "$", "TOKEN",
        ] {
            assert_eq!(bare_variable(other), None, "{other}");
        }
    }

    #[test]
    fn what_a_variable_holds_is_not_expanded_again() {
        assert_eq!(expanded("${A}").as_deref(), Ok("${B}"));
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        for (source, wanted) in [
            ("${", ExpandError::Unclosed),
            ("a ${B", ExpandError::Unclosed),
            ("${}", ExpandError::BadName),
            ("${1}", ExpandError::BadName),
            ("${a b}", ExpandError::BadName),
            ("${file:x}", ExpandError::BadName),
            ("${NONE:-${B}}", ExpandError::Nested),
            ("${input:key}", ExpandError::UnknownInput("key".into())),
            (
                "${workspaceFolder}",
                ExpandError::NoFolder("workspaceFolder"),
            ),
            ("${userHome}", ExpandError::NoFolder("userHome")),
            ("${NONE}", ExpandError::Unset("NONE".into())),
            ("a\0b", ExpandError::Nul),
        ] {
            assert_eq!(expanded(source), Err(wanted), "{source}");
        }
    }

    #[test]
    fn a_text_that_grows_too_large_is_refused() {
        let environment = Environment::from_pairs([("A", "x".repeat(200))]);
        let grown = text(&"${A}".repeat(10_000), &environment).err();
        assert_eq!(grown, Some(ExpandError::TooLarge));
        let allowed = text(&"${A}".repeat(5_000), &environment).ok();
        assert_eq!(allowed.map(|expanded| expanded.text.len()), Some(1_000_000));
    }

    #[test]
    fn values_of_secret_variables_are_kept_apart() {
        let all = text("a${B}${MY_TOKEN}${OTHER_KEY:-fallback}", &environment()).ok();
        assert_eq!(
            all.map(|all| all.secrets),
            Some(vec!["hush".into(), "fallback".into()])
        );
    }
}
