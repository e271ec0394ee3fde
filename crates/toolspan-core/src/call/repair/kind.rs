//! What was changed in a call, in words for a person and a name for a program.

use serde_json::{Value, json};

/// What kind of change it was. The names are the same in Rust, Python and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepairKind {
    /// JSON text was read as the object or list that it spells.
    JsonText,
    /// Raw control characters inside strings of the arguments text were taken as they are.
    ControlCharacters,
    /// Text after the end of the arguments was left out.
    TrailingText,
    /// Text was read as the number that it spells.
    Number,
    /// Text was read as `true` or `false`.
    Boolean,
    /// Text was read as `null`.
    Null,
    /// A single value became a list of one.
    List,
    /// A list of one string became the string.
    ListOfOne,
    /// A `null` was left out.
    NullDropped,
    /// A property got the name that was meant.
    PropertyName,
    /// Arguments were taken out of an object around them.
    Wrapping,
    /// Text after the tool's name was left out.
    ToolName,
}

impl RepairKind {
    /// The kind's name in JSON, Python and documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonText => "json_text",
            Self::ControlCharacters => "control_characters",
            Self::TrailingText => "trailing_text",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::List => "list",
            Self::ListOfOne => "list_of_one",
            Self::NullDropped => "null_dropped",
            Self::PropertyName => "property_name",
            Self::Wrapping => "wrapping",
            Self::ToolName => "tool_name",
        }
    }
}

impl std::fmt::Display for RepairKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One change that made a call valid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// Where in the arguments as the model gave them: a JSON pointer (RFC 6901), empty for the whole.
    pub pointer: String,
    /// What kind of change it was.
    pub kind: RepairKind,
    /// What was done, in one line without any value: `text read as a number`.
    pub note: String,
}

impl Repair {
    /// A change of this kind at a JSON pointer.
    pub fn new(pointer: impl Into<String>, kind: RepairKind, note: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            kind,
            note: note.into(),
        }
    }

    /// `{"pointer", "kind", "note"}`, the same at every door.
    pub fn to_json(&self) -> Value {
        json!({"pointer": self.pointer, "kind": self.kind.as_str(), "note": self.note})
    }
}

/// `/count: text read as a number`.
impl std::fmt::Display for Repair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.pointer.is_empty() {
            write!(
                formatter,
                "{}: ",
                crate::schema::shown_pointer(&self.pointer)
            )?;
        }
        formatter.write_str(&self.note)
    }
}
