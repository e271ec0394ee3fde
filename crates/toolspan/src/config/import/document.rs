//! What does another program's file say, as plain JSON?

use std::path::Path;

use serde_json::{Map, Value};
use toolspan_core::guard::depth;

use super::super::field::Field;
use super::super::file::too_large;
use super::super::problem::Problem;
use super::super::source::{DEEPEST, Source, too_deep};
use super::app::App;

/// Largest file of another program in bytes: 32 MiB. Claude Code keeps its history beside its
/// servers, so its file can be large.
pub(super) const LARGEST: usize = 32 << 20;

/// The object that the text is. Problems name the line.
pub(super) fn parse(app: App, text: &str, file: &Path) -> Result<Map<String, Value>, Problem> {
    let source = Source::new(Some(file), text);
    if app == App::Codex {
        return toml(&source, text);
    }
    let Some(value) = source.parse_lenient(LARGEST)? else {
        return Err(source.problem(0, "", "the file is empty"));
    };
    let root = Field::root(&source, &value);
    match root.to_json()? {
        Value::Object(members) => Ok(members),
        _ => Err(root.wrong_type("an object")),
    }
}

fn toml(source: &Source<'_>, text: &str) -> Result<Map<String, Value>, Problem> {
    if text.len() > LARGEST {
        return Err(source.problem(0, "", too_large(LARGEST)));
    }
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        source.problem(
            at,
            "",
            format!("this is not valid TOML: {}", error.message()),
        )
    })?;
    let value = of_toml(toml::Value::Table(table));
    if depth::exceeds(&value, DEEPEST) {
        return Err(too_deep().in_file(source.file().map(Path::to_owned)));
    }
    match value {
        Value::Object(members) => Ok(members),
        _ => Ok(Map::new()),
    }
}

/// TOML as JSON: a time becomes its text, and a number that JSON cannot have becomes `null`.
/// Recursion ends at the depth that the TOML parser allows.
fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(of_toml).collect(),
        toml::Value::Table(members) => members
            .into_iter()
            .map(|(key, value)| (key, of_toml(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}
