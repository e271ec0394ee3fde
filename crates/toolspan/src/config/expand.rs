//! What does `${VAR}` in a text of the config stand for?

use thiserror::Error;
use toolspan_core::guard::secret::names_a_secret;

use super::Environment;
use super::field::Field;
use super::problem::Problem;

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
    /// `${input:id}`.
    #[error("inputs are not supported by this version")]
    Input,
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
            Self::Input => Some("use a variable: ${NAME}".to_owned()),
            Self::Unset(name) => Some(format!("set it, or write ${{{name}:-default}}")),
            Self::Nested | Self::NotText(_) | Self::TooLarge | Self::Nul => None,
        }
    }
}

/// The expanded text of a value that must be a string.
pub(super) fn field(field: &Field<'_>, environment: &Environment) -> Result<Expanded, Problem> {
    text(field.text()?, environment).map_err(|error| {
        let problem = field.problem(error.to_string());
        match error.hint() {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    })
}

/// Fills in `${VAR}`, `${VAR:-default}` (for a variable that is unset or empty) and `${env:VAR}`;
/// `$$` is a plain `$`, and so is a `$` before anything else. One pass: what a variable holds is
/// not looked at again.
fn text(text: &str, environment: &Environment) -> Result<Expanded, ExpandError> {
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
            expanded.push_variable(reference, environment)?;
            behind
        } else {
            expanded.push("$")?;
            behind
        };
    }
    expanded.push(rest)?;
    Ok(expanded)
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

    fn push_variable(
        &mut self,
        reference: &str,
        environment: &Environment,
    ) -> Result<(), ExpandError> {
        if reference.starts_with("input:") {
            return Err(ExpandError::Input);
        }
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
        let value = match default {
            Some(default) => value.filter(|value| !value.is_empty()).unwrap_or(default),
            None => value.ok_or_else(|| ExpandError::Unset(name.to_owned()))?,
        };
        if names_a_secret(name) && !value.is_empty() {
            self.secrets.push(value.to_owned());
        }
        self.push(value)
    }
}

/// A name as POSIX has it (IEEE Std 1003.1, section 3.216): letters, digits, `_`, no digit first.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment::from_pairs([
            ("A", "${B}"),
            ("B", "b"),
            ("EMPTY", ""),
            ("MY_TOKEN", "hush"),
        ])
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
            ("${input:key}", ExpandError::Input),
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
