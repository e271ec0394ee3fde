//! What does a model ask for, in the form of whichever API it speaks through?

use serde_json::{Map, Value};

use super::lenient;
use super::repair::{Repair, RepairKind};
use super::request::CallRequest;
use super::told::invalid;
use crate::guard::depth;
use crate::guard::limits::Limits;
use crate::{Error, Result};

/// Members that hold the call inside what an API returned.
const AROUND: &[&str] = &["function", "functionCall", "function_call"];
/// Members that hold the arguments.
const ARGUMENTS: &[&str] = &["arguments", "input", "args", "parameters"];
/// Members that hold the id; the Responses API names the call by the first one.
const IDS: &[&str] = &["call_id", "id"];
/// Characters of an id that is kept.
const ID_CHARS: usize = 512;

impl CallRequest {
    /// Reads a tool call as a model API gives it: [`from_model_within`](Self::from_model_within) the
    /// default limits.
    ///
    /// # Errors
    ///
    /// As [`from_model_within`](Self::from_model_within).
    pub fn from_model(call: &Value) -> Result<Self> {
        Self::from_model_within(call, &Limits::default())
    }

    /// Reads a tool call as a model API gives it.
    ///
    /// Takes OpenAI Chat (`{"id", "function": {"name", "arguments": "<JSON text>"}}`), OpenAI
    /// Responses (`{"call_id", "name", "arguments": "<JSON text>"}`), Anthropic
    /// (`{"id", "name", "input"}`), Gemini (`{"functionCall": {"id", "name", "args"}}` or
    /// `{"name", "args"}`), MCP (`{"name", "arguments"}`) and the form that Llama models are taught
    /// (`{"name", "parameters"}`). An empty arguments text means no arguments. Raw control characters
    /// in strings of the text are taken, and text after its end is left out; both are listed in
    /// [`repairs`](Self::repairs).
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when there is no name, or the arguments are not JSON, too large or nested
    /// too deeply.
    pub fn from_model_within(call: &Value, limits: &Limits) -> Result<Self> {
        let inner = inner(call);
        let name = inner.and_then(name_of);
        let (Some(inner), Some(name)) = (inner, name) else {
            let hint = "give a tool call as the model's API returned it";
            return Err(invalid("the model's call names no tool").with_hint(hint));
        };
        let given = ARGUMENTS.iter().filter_map(|key| inner.get(*key));
        let given = given.into_iter().find(|value| !value.is_null());
        let mut request = Self::new(name, Value::Null);
        request.id = id_of(inner).or_else(|| id_of(call.as_object()?));
        match given {
            None => {}
            Some(Value::String(text)) => request
                .read(text, limits)
                .map_err(|error| error.in_tool(name))?,
            // A clone recurses, so the depth is looked at first.
            Some(arguments) if depth::exceeds(arguments, limits.json_depth) => {
                return Err(too_deep(limits).in_tool(name));
            }
            Some(arguments) => request.arguments = arguments.clone(),
        }
        Ok(request)
    }

    /// Reads the arguments text.
    fn read(&mut self, text: &str, limits: &Limits) -> Result<()> {
        if text.len() > limits.arguments_bytes {
            let message = format!(
                "the arguments take {} bytes, more than limits.arguments_bytes ({})",
                text.len(),
                limits.arguments_bytes
            );
            return Err(invalid(message));
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        let read = lenient::read(text, limits.json_depth);
        let read = read.map_err(|problem| {
            invalid(format!("the arguments are not JSON: {problem}"))
                .with_hint("give the arguments as one JSON object")
        })?;
        let mut note = |kind, note| self.repairs.push(Repair::new("", kind, note));
        if read.had_controls {
            let taken = "raw control characters in strings taken as they are";
            note(RepairKind::ControlCharacters, taken);
        }
        if read.had_more {
            note(
                RepairKind::TrailingText,
                "text after the arguments left out",
            );
        }
        self.arguments = read.value;
        Ok(())
    }

    /// Cuts what a model wrote behind the tool's name, such as `</parameter`, where the name as it
    /// stands is not known and the part before is. `is_known` says what a registered name is.
    ///
    /// Only markup, brackets and quotes are cut. A name that goes on like a command line
    /// (`cat /etc/passwd`, `ls; rm`) is left whole, so that it is refused.
    #[must_use]
    pub fn with_plain_name(mut self, is_known: impl Fn(&str) -> bool) -> Self {
        if is_known(&self.tool) {
            return self;
        }
        let name = self.tool.trim();
        let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        let end = name.find(|char| !is_part(char)).unwrap_or(name.len());
        let (plain, rest) = name.split_at(end);
        let is_cut = rest.is_empty() || is_debris(rest.trim_start());
        if plain.is_empty() || !is_cut || !is_known(plain) {
            return self;
        }
        let plain = plain.to_owned();
        let note = "text around the tool's name left out";
        self.repairs
            .push(Repair::new("", RepairKind::ToolName, note));
        self.tool = plain;
        self
    }
}

/// Whether text behind a name is what is left of markup or of a call, and no command line.
fn is_debris(rest: &str) -> bool {
    let Some(first) = rest.chars().next() else {
        return true;
    };
    match first {
        '<' => {
            let tag = rest.trim_start_matches('<');
            let tag = tag.strip_prefix('/').unwrap_or(tag);
            let begins = tag.starts_with(|char: char| char.is_ascii_alphabetic() || char == '|');
            begins && !tag.contains('/')
        }
        '(' | ')' | '{' | '}' | '[' | ']' | '"' | '\'' | '`' | ',' | ':' => {
            !rest.contains(['/', ';', '|', '&', '$', '\\'])
        }
        _ => false,
    }
}

/// The object that has the call's name, and its arguments.
fn inner(call: &Value) -> Option<&Map<String, Value>> {
    let inner = AROUND.iter().find_map(|key| call.get(*key)?.as_object());
    inner.or_else(|| call.as_object())
}

fn name_of(inner: &Map<String, Value>) -> Option<&str> {
    let name = inner.get("name")?.as_str();
    name.filter(|name| !name.is_empty())
}

/// Id and name of a call, whatever its arguments are; empty where it does not say them as text.
pub(crate) fn id_and_name(call: &Value) -> (&str, &str) {
    let inner = inner(call);
    let places = [inner, call.as_object()].into_iter().flatten();
    let mut ids =
        places.flat_map(|members| IDS.iter().filter_map(|key| members.get(*key)?.as_str()));
    let id = ids.find(|id| !id.is_empty());
    let name = inner.and_then(name_of);
    (id.unwrap_or_default(), name.unwrap_or_default())
}

/// The id of a call; a number as its digits.
fn id_of(members: &Map<String, Value>) -> Option<String> {
    let id = IDS.iter().find_map(|key| match members.get(*key)? {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    });
    id.filter(|id| id.chars().nth(ID_CHARS).is_none())
}

fn too_deep(limits: &Limits) -> Error {
    invalid(format!(
        "the arguments nest more than limits.json_depth ({}) objects and arrays",
        limits.json_depth
    ))
}
