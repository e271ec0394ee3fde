//! Which arguments does a call have? The object of `--args`, its members replaced by pairs.

use serde_json::{Map, Value};
use toolspan::guard::sanitise;
use toolspan::schema::{Schema, coerce_text};
use toolspan::{Error, ErrorKind, Phase, Result};

/// An argument as it was typed.
#[derive(Debug, PartialEq)]
struct Pair<'a> {
    key: &'a str,
    value: Typed<'a>,
}

#[derive(Debug, PartialEq)]
enum Typed<'a> {
    /// `key=text`: becomes what the schema asks for.
    Text(&'a str),
    /// `key:=JSON`: is taken as it is.
    Json(Value),
}

/// Checks how pairs are written, before anything is started for them.
///
/// # Errors
///
/// `usage` when a pair makes no sense, or a key is given twice.
pub(super) fn check(pairs: &[String]) -> Result<()> {
    pairs_of(pairs).map(|_| ())
}

/// The pairs as they were typed, each key once.
fn pairs_of(typed: &[String]) -> Result<Vec<Pair<'_>>> {
    let mut pairs: Vec<Pair<'_>> = Vec::with_capacity(typed.len());
    for typed in typed {
        let pair = parse(typed)?;
        if pairs.iter().any(|known| known.key == pair.key) {
            return Err(usage(format!("{} is given twice", shown(pair.key)))
                .with_hint("write a list as key:='[\"a\", \"b\"]'"));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

/// The arguments of a call. Nothing is checked against the schema here; it only says what kind of
/// value a text becomes. Without `--args` and pairs they are `{}`.
///
/// # Errors
///
/// `usage` when a pair makes no sense, or a key is given twice; `--args` that is no object is left
/// to validation, which says so, unless there are pairs to put into it.
pub(super) fn build(whole: Option<Value>, pairs: &[String], schema: &Schema) -> Result<Value> {
    let mut arguments = match whole {
        None => Map::new(),
        Some(Value::Object(members)) => members,
        Some(other) if pairs.is_empty() => return Ok(other),
        Some(_) => {
            return Err(usage(
                "--args must be a JSON object when there are pairs too",
            ));
        }
    };
    for Pair { key, value } in pairs_of(pairs)? {
        let value = match value {
            Typed::Json(value) => value,
            Typed::Text(text) => coerce_text(schema, key, text),
        };
        arguments.insert(key.to_owned(), value);
    }
    Ok(Value::Object(arguments))
}

/// Reads `key=value` or `key:=JSON`. The first `=` counts; the value may have more of them.
fn parse(typed: &str) -> Result<Pair<'_>> {
    let Some((key, text)) = typed
        .split_once('=')
        .filter(|(key, _)| !matches!(*key, "" | ":"))
    else {
        return Err(usage(format!(
            "{} is not key=value or key:=JSON",
            shown(typed)
        )));
    };
    let Some(key) = key.strip_suffix(':') else {
        return Ok(Pair {
            key,
            value: Typed::Text(text),
        });
    };
    match serde_json::from_str(text) {
        Ok(value) => Ok(Pair {
            key,
            value: Typed::Json(value),
        }),
        Err(error) => Err(
            usage(format!("the value of {} is not JSON: {error}", shown(key)))
                .with_hint("write text as key=text"),
        ),
    }
}

fn shown(text: &str) -> String {
    format!("\"{}\"", sanitise::one_line(text, 60))
}

pub(super) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, Phase::Validate, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn built(whole: Option<Value>, pairs: &[&str]) -> Result<Value> {
        let schema = json!({"type": "object", "properties": {
            "count": {"type": "integer"}, "tags": {"type": "array"}, "name": {"type": "string"}}});
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        build(whole, &pairs, &Schema::for_arguments(schema).unwrap())
    }

    #[test]
    fn texts_follow_the_schema_and_json_is_taken_as_it_is() {
        let pairs = [
            "count=3",
            "name=3",
            "tags:=[1, \"=\"]",
            "other=a=b",
            "empty=",
        ];
        assert_eq!(
            built(None, &pairs).unwrap(),
            json!({"count": 3, "name": "3", "tags": [1, "="], "other": "a=b", "empty": ""}),
        );
    }

    #[test]
    fn pairs_replace_members_of_the_whole() {
        let whole = json!({"count": 1, "name": "a"});
        assert_eq!(
            built(Some(whole), &["count=2"]).unwrap(),
            json!({"count": 2, "name": "a"})
        );
        assert_eq!(built(Some(json!([1])), &[]).unwrap(), json!([1]));
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        for (whole, pairs) in [
            (None, &["count"][..]),
            (None, &["=3"]),
            (None, &[":=3"]),
            (None, &["tags:=[1"]),
            (None, &["count=1", "count:=2"]),
            (Some(json!([1])), &["count=1"]),
        ] {
            assert_eq!(
                built(whole, pairs).unwrap_err().kind(),
                ErrorKind::Usage,
                "{pairs:?}"
            );
        }
    }
}
