//! How is a text with another program's variables written so that it means the same here?

use std::path::Path;

use toolspan_core::guard::secret::names_a_secret;

use super::super::Environment;
use super::super::expand::is_name;
use super::super::problem::quoted;

/// What editors have names for and our own reader fills in, too.
const PREDEFINED: [&str; 5] = [
    "workspaceFolder",
    "workspaceFolderBasename",
    "userHome",
    "pathSeparator",
    "/",
];

/// How a program names variables in its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Not at all: every `$` is itself.
    Plain,
    /// `${VAR}` and `${VAR:-default}`.
    Braces,
    /// `$VAR` and `${VAR}`; one that is not set stays as it is written.
    Dollar,
    /// `${env:VAR}`, `${input:ID}` and what an editor knows: `${workspaceFolder}`, `${userHome}`.
    Editor,
}

/// Rewrites the texts of one server.
pub(super) struct Translator<'a> {
    pub(super) dialect: Dialect,
    /// What `${workspaceFolder}` stands for; `None` where the file is the user's.
    pub(super) project: Option<&'a Path>,
    /// Names that the entry itself sets for its server. In [`Dialect::Dollar`] a text that names one
    /// is meant for the server.
    pub(super) own: Vec<&'a str>,
    /// What is said about variables that have no equal here.
    pub(super) remarks: Vec<String>,
}

impl Translator<'_> {
    /// The text as our own reader must find it to understand the same.
    pub(super) fn translate(&mut self, text: &str) -> String {
        let mut translated = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('$') {
            translated.push_str(before);
            match self.reference(behind) {
                Some((reference, behind)) => {
                    translated.push_str(&reference);
                    rest = behind;
                }
                None => {
                    translated.push_str(plain_dollar(behind));
                    rest = behind;
                }
            }
        }
        translated + rest
    }

    /// What the reference that begins behind a `$` becomes, and the text behind it; `None` when
    /// there is none.
    fn reference<'t>(&mut self, behind: &'t str) -> Option<(String, &'t str)> {
        let braced = behind
            .strip_prefix('{')
            .and_then(|inside| inside.split_once('}'));
        match (self.dialect, braced) {
            (Dialect::Plain, _) => None,
            (Dialect::Braces, Some((inside, behind))) => {
                is_reference(inside).then(|| (format!("${{{inside}}}"), behind))
            }
            (Dialect::Dollar, Some((inside, behind))) => (is_reference(inside)
                && !self.is_own(inside))
            .then(|| (format!("${{{inside}}}"), behind)),
            (Dialect::Dollar, None) => {
                let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
                let end = behind.find(|char| !is_part(char)).unwrap_or(behind.len());
                let (name, behind) = behind.split_at_checked(end)?;
                (is_name(name) && !self.is_own(name)).then(|| (format!("${{{name}}}"), behind))
            }
            (Dialect::Editor, Some((inside, behind))) => {
                self.of_editor(inside).map(|becomes| (becomes, behind))
            }
            (Dialect::Braces | Dialect::Editor, None) => None,
        }
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.contains(&name)
    }

    /// What `${inside}` of an editor becomes.
    fn of_editor(&mut self, inside: &str) -> Option<String> {
        if let Some(name) = inside.strip_prefix("env:") {
            return is_name(name).then(|| format!("${{env:{name}}}"));
        }
        if inside.starts_with("input:") {
            return Some(format!("${{{inside}}}"));
        }
        match (inside, self.project) {
            // The folder of a project stays the same wherever the config goes.
            ("workspaceFolder", Some(project)) => Some(literal(&project.to_string_lossy())),
            ("workspaceFolderBasename", Some(project)) => {
                let name = project.file_name().unwrap_or_default();
                Some(literal(&name.to_string_lossy()))
            }
            (inside, _) if PREDEFINED.contains(&inside) => Some(format!("${{{inside}}}")),
            _ => {
                let kind = inside.split([':', ' ']).next().unwrap_or_default();
                self.remark(format!(
                    "${{…}} with {} is taken as plain text: it stands for nothing here",
                    quoted(kind)
                ));
                None
            }
        }
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// A text in which nothing is filled in, as our own reader must find it.
pub(super) fn literal(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        plain.push_str(before);
        plain.push_str(plain_dollar(behind));
        rest = behind;
    }
    plain + rest
}

/// A `$` that is itself, before the rest of a text: doubled only where it would mean something.
fn plain_dollar(behind: &str) -> &'static str {
    if behind.starts_with(['$', '{']) {
        "$$"
    } else {
        "$"
    }
}

/// A text in our own form with its variables filled in as they are now; what is predefined stays.
///
/// # Errors
///
/// The reference that has no value, or one that must not be shown.
pub(super) fn filled_in<'t>(text: &'t str, environment: &Environment) -> Result<String, &'t str> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        filled.push_str(before);
        let (inside, behind) = behind.split_once('}').ok_or(rest)?;
        if PREDEFINED.contains(&inside) {
            filled.push_str(&format!("${{{inside}}}"));
        } else {
            filled.push_str(&value(inside, environment).ok_or(inside)?);
        }
        rest = behind;
    }
    Ok(filled + rest)
}

/// The value of `NAME`, `NAME:-default` or `env:NAME`, unless its name says that it is a secret.
fn value(reference: &str, environment: &Environment) -> Option<String> {
    let reference = reference.strip_prefix("env:").unwrap_or(reference);
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    let value = environment.variable(name).and_then(|value| value.to_str());
    let value = value.filter(|value| !value.is_empty()).or(default)?;
    (is_name(name) && !names_a_secret(name)).then(|| value.to_owned())
}

/// `NAME` or `NAME:-default`.
fn is_reference(inside: &str) -> bool {
    match inside.split_once(":-") {
        Some((name, default)) => is_name(name) && !default.contains("${"),
        None => is_name(inside),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(dialect: Dialect, text: &str) -> String {
        let mut translator = Translator {
            dialect,
            project: Some(Path::new("/p/$q")),
            own: vec!["OWN"],
            remarks: Vec::new(),
        };
        translator.translate(text)
    }

    #[test]
    fn each_dialect_is_written_in_ours() {
        for (dialect, text, ours) in [
            (Dialect::Plain, "${A} $B $$ 5$", "$${A} $B $$$ 5$"),
            (Dialect::Braces, "${A} ${B:-c} $A", "${A} ${B:-c} $A"),
            (Dialect::Braces, "${a b} ${", "$${a b} $${"),
            (Dialect::Dollar, "$A-${B}/$C", "${A}-${B}/${C}"),
            (
                Dialect::Dollar,
                "$OWN ${OWN} $5 $$A",
                "$OWN $${OWN} $5 $$${A}",
            ),
            (Dialect::Editor, "${env:A} ${A}", "${env:A} $${A}"),
            (Dialect::Editor, "${userHome}${/}x", "${userHome}${/}x"),
            (Dialect::Editor, "${workspaceFolder}/x", "/p/$q/x"),
            (Dialect::Editor, "${workspaceFolderBasename}", "$q"),
            (
                Dialect::Editor,
                "Bearer ${input:key}",
                "Bearer ${input:key}",
            ),
        ] {
            assert_eq!(translated(dialect, text), ours, "{dialect:?} {text}");
        }
    }

    #[test]
    fn without_a_project_its_folder_stays_and_what_stands_for_nothing_has_a_remark() {
        let mut translator = Translator {
            dialect: Dialect::Editor,
            project: None,
            own: Vec::new(),
            remarks: Vec::new(),
        };
        let folder = "${workspaceFolder}";
        assert_eq!(translator.translate(folder), folder);
        assert!(translator.remarks.is_empty());
        let twice = translator.translate("${command:x} ${command:y}");
        assert_eq!(twice, "$${command:x} $${command:y}");
        assert_eq!(translator.remarks.len(), 1);
    }

    #[test]
    fn a_command_is_filled_in_with_what_is_there_and_may_be_shown() {
        let environment = Environment::from_pairs([("A", "a"), ("A_TOKEN", "hush")]);
        let filled = |text| filled_in(text, &environment);
        assert_eq!(
            filled("${A}/${env:A}/${B:-b}/${userHome}"),
            Ok("a/a/b/${userHome}".into())
        );
        assert_eq!(filled("x ${B}"), Err("B"));
        assert_eq!(filled("${A_TOKEN}"), Err("A_TOKEN"));
    }
}
