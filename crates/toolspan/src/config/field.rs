//! What type has a value of the config, and what is said when it is the wrong one?

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use serde_json::Value as Json;

use super::problem::{Problem, Warnings, member_path};
use super::source::Source;

/// A value of the config with its key path and place.
#[derive(Clone)]
pub(super) struct Field<'a> {
    source: &'a Source<'a>,
    value: &'a Value<'a>,
    path: String,
    /// Byte offset that problems point to: the key, or the item of a list.
    at: usize,
}

/// A number as it was written.
pub(super) struct Number<'a> {
    /// Its text, without quotes. Infinite texts such as `1e309` are possible.
    pub(super) text: &'a str,
    /// Its value; infinite when it is too large for a double.
    pub(super) value: f64,
}

impl<'a> Field<'a> {
    /// The whole config.
    pub(super) fn root(source: &'a Source<'a>, value: &'a Value<'a>) -> Self {
        Self {
            source,
            value,
            path: String::new(),
            at: value.range().start,
        }
    }

    /// Where it is in the config.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Says that it has another path, for a key that must not be shown.
    pub(super) fn named(mut self, path: String) -> Self {
        self.path = path;
        self
    }

    /// A problem with this value.
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        self.source.problem(self.at, &self.path, message)
    }

    /// The string it is.
    pub(super) fn text(&self) -> Result<&'a str, Problem> {
        match self.value {
            Value::StringLit(string) => Ok(&string.value),
            _ => Err(self.wrong_type("a string")),
        }
    }

    /// The truth value it is.
    pub(super) fn flag(&self) -> Result<bool, Problem> {
        match self.value {
            Value::BooleanLit(flag) => Ok(flag.value),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// The number it is; one written as a string is taken, with a warning.
    pub(super) fn number(&self, warnings: &mut Warnings) -> Result<Number<'a>, Problem> {
        let (text, is_quoted): (&'a str, bool) = match self.value {
            Value::NumberLit(number) => (number.value, false),
            Value::StringLit(string) => (string.value.trim(), true),
            _ => return Err(self.wrong_type("a number")),
        };
        let numeric = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let value = text.parse().ok().filter(|_| text.bytes().all(numeric));
        let value = value.ok_or_else(|| self.wrong_type("a number"))?;
        if is_quoted {
            warnings.add(|| {
                self.problem("a number is written as a string; it is taken as a number")
                    .with_hint("remove the quotes")
            });
        }
        Ok(Number { text, value })
    }

    /// The object it is.
    pub(super) fn table(&self) -> Result<Table<'a>, Problem> {
        match self.value {
            Value::Object(object) => Ok(Table {
                field: self.clone(),
                object,
            }),
            _ => Err(self.wrong_type("an object")),
        }
    }

    /// Whether it is `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(self.value, Value::NullKeyword(_))
    }

    /// Whether it is a list.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.value, Value::Array(_))
    }

    /// Whether it is a string.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.value, Value::StringLit(_))
    }

    /// The items of the list it is.
    pub(super) fn items(&self) -> Result<impl Iterator<Item = Field<'a>>, Problem> {
        let Value::Array(array) = self.value else {
            return Err(self.wrong_type("a list"));
        };
        let (source, path) = (self.source, self.path.clone());
        Ok(array
            .elements
            .iter()
            .enumerate()
            .map(move |(index, value)| Field {
                source,
                value,
                path: format!("{path}[{index}]"),
                at: value.range().start,
            }))
    }

    /// Refuses a list or an object that has more than `most` entries.
    pub(super) fn refuse_over(&self, most: usize, count: usize) -> Result<(), Problem> {
        if count > most {
            return Err(self.problem(format!("there are more than {most} entries")));
        }
        Ok(())
    }

    /// The value as plain JSON. Recursion ends at the depth that the source was checked for.
    pub(super) fn to_json(&self) -> Result<Json, Problem> {
        to_json(self.value).ok_or_else(|| self.problem("a number in here is too large"))
    }

    /// Says what it must be and what it is, but not its value: that may be a secret.
    pub(super) fn wrong_type(&self, wanted: &str) -> Problem {
        let given = match self.value {
            Value::StringLit(_) => "a string",
            Value::NumberLit(_) => "a number",
            Value::BooleanLit(_) => "true or false",
            Value::Object(_) => "an object",
            Value::Array(_) => "a list",
            Value::NullKeyword(_) => "null",
        };
        // A number may be written as a string, so "not a string" would mislead.
        let given = match (given, wanted) {
            ("a string", "a number") => "other text",
            _ => given,
        };
        let what = if self.path.is_empty() {
            "the config"
        } else {
            "this"
        };
        self.problem(format!("{what} must be {wanted}, not {given}"))
    }
}

fn to_json(value: &Value<'_>) -> Option<Json> {
    Some(match value {
        Value::NullKeyword(_) => Json::Null,
        Value::BooleanLit(flag) => Json::Bool(flag.value),
        Value::NumberLit(number) => Json::Number(number.value.parse().ok()?),
        Value::StringLit(string) => Json::String(string.value.as_ref().to_owned()),
        Value::Array(array) => array.elements.iter().map(to_json).collect::<Option<_>>()?,
        Value::Object(object) => {
            let member = |name: &str, value| Some((name.to_owned(), to_json(value)?));
            let members = object
                .properties
                .iter()
                .map(|p| member(p.name.as_str(), &p.value));
            Json::Object(members.collect::<Option<_>>()?)
        }
    })
}

/// An object of the config. A member that is `null` counts as absent.
pub(super) struct Table<'a> {
    field: Field<'a>,
    object: &'a Object<'a>,
}

impl<'a> Table<'a> {
    /// The object as a value.
    pub(super) fn field(&self) -> &Field<'a> {
        &self.field
    }

    /// The member with this key.
    pub(super) fn get(&self, key: &str) -> Option<Field<'a>> {
        let member = self
            .object
            .properties
            .iter()
            .find(|member| member.name.as_str() == key)?;
        let present = !matches!(member.value, Value::NullKeyword(_));
        present.then(|| self.member(key, member.name.range().start, &member.value))
    }

    /// The path that a member with this key has.
    pub(super) fn path_of(&self, key: &str) -> String {
        member_path(&self.field.path, key)
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        self.object.properties.len()
    }

    /// All members in the order they are written, `null` ones too.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> + '_ {
        self.object.properties.iter().map(|member| {
            let key = member.name.as_str();
            (
                key,
                self.member(key, member.name.range().start, &member.value),
            )
        })
    }

    fn member(&self, key: &str, at: usize, value: &'a Value<'a>) -> Field<'a> {
        Field {
            source: self.field.source,
            value,
            path: self.path_of(key),
            at,
        }
    }
}
