//! Are the lists, maps and patterns of one schema short enough?

use serde_json::{Map, Value};

use super::limits::SchemaLimits;
use super::rejected::SchemaRejected;

/// Refuses lists and patterns of one schema that are longer than the limits.
pub(super) fn check_caps(
    map: &Map<String, Value>,
    limits: &SchemaLimits,
    pointer: &str,
) -> Result<(), SchemaRejected> {
    for (keyword, value) in map {
        let (limit, maximum) = match keyword.as_str() {
            "enum" => ("enum_values", limits.enum_values),
            "required" => ("required", limits.required),
            "properties" | "patternProperties" | "$defs" | "definitions" => {
                ("properties", limits.properties)
            }
            "pattern" => ("pattern_chars", limits.pattern_chars),
            _ => continue,
        };
        let size = match value {
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            Value::String(text) => text.chars().count(),
            _ => 0,
        };
        let at = || format!("{pointer}/{keyword}");
        if size > maximum {
            return Err(SchemaRejected::too_large(limit, maximum, &at()));
        }
        let patterns = value.as_object().filter(|_| keyword == "patternProperties");
        let mut patterns = patterns.into_iter().flat_map(Map::keys);
        if patterns.any(|pattern| pattern.chars().count() > limits.pattern_chars) {
            let maximum = limits.pattern_chars;
            return Err(SchemaRejected::too_large("pattern_chars", maximum, &at()));
        }
    }
    Ok(())
}
