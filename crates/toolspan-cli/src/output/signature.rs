//! How is a schema shown to a person? One row per argument; the whole as indented JSON.

use serde_json::{Map, Value, json};
use toolspan::guard::sanitise;
use toolspan::schema::{Schema, signature};

use super::Style;
use super::table::{Cell, Table};

/// Characters of a default or a type in a table.
const LONGEST_CELL: usize = 60;
/// Characters of an argument's description.
const LONGEST_DESCRIPTION: usize = 1_000;

/// The arguments of a tool, one a row; `None` where the schema names none.
pub(crate) fn arguments(schema: &Schema) -> Option<Table> {
    let raw = schema.raw();
    let properties = raw
        .get("properties")?
        .as_object()
        .filter(|map| !map.is_empty())?;
    let required = raw.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|it| it == name));
    let mut table = Table::new(&["NAME", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"]);
    for (name, property) in properties {
        let text = |key| {
            property
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let default = property
            .get("default")
            .map(Value::to_string)
            .unwrap_or_default();
        table.row([
            Cell::styled(sanitise::one_line(name, LONGEST_CELL), Style::Strong),
            kind(raw, property).into(),
            if is_required(name) { "yes" } else { "no" }.into(),
            sanitise::one_line(&default, LONGEST_CELL).into(),
            sanitise::one_line(text("description"), LONGEST_DESCRIPTION).into(),
        ]);
    }
    Some(table)
}

/// The type of one property, as the signature of a tool with this property alone writes it.
fn kind(root: &Value, property: &Value) -> String {
    /// Any name that needs no quotes.
    const NAME: &str = "x";
    let mut alone: Map<String, Value> = root.as_object().cloned().unwrap_or_default();
    alone.insert("properties".into(), json!({NAME: property}));
    alone.insert("required".into(), json!([NAME]));
    let Ok(schema) = Schema::for_arguments(Value::Object(alone)) else {
        return "any".to_owned();
    };
    let text = signature(&schema);
    let inner = text
        .strip_prefix("(x: ")
        .and_then(|rest| rest.strip_suffix(')'));
    sanitise::one_line(inner.unwrap_or("any"), LONGEST_CELL)
}
