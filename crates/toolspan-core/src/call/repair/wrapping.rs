//! Do the arguments stand inside an object that the tool knows nothing of?

use serde_json::{Map, Value};

use super::text::spelled;
use crate::schema::Schema;

/// Names that APIs and frameworks give to the whole of the arguments.
const WRAPPERS: &[&str] = &["arguments", "input", "args", "parameters"];

/// The arguments inside the only member, and its name, where the member is one that APIs put around
/// arguments and the tool has no property of that name. The member may be JSON text.
pub(in crate::call) fn unwrapped(
    schema: &Schema,
    arguments: &Value,
    maximum_depth: usize,
) -> Option<(&'static str, Map<String, Value>)> {
    let members = arguments.as_object().filter(|members| members.len() == 1)?;
    let (name, inner) = members.iter().next()?;
    let wrapper = *WRAPPERS.iter().find(|wrapper| *wrapper == name)?;
    if schema.names_property(wrapper) {
        return None;
    }
    let inner = match inner {
        Value::Object(inner) => inner.clone(),
        Value::String(text) => match spelled(text, maximum_depth)?.value {
            Value::Object(inner) => inner,
            _ => return None,
        },
        _ => return None,
    };
    Some((wrapper, inner))
}
