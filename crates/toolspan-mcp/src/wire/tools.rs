//! A page of `tools/list`, read tool by tool: a malformed one never costs the others.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolspan_core::schema::{Schema, SchemaLimits};
use toolspan_core::toolbox::BrokenTool;
use toolspan_core::{ToolAnnotations, ToolDefinition};

/// Longest cursor that is sent back.
const CURSOR_BYTES: usize = 64 << 10;

/// One page of a tool list.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Each listed tool: usable, or why not.
    pub(crate) tools: Vec<Result<ToolDefinition, BrokenTool>>,
    /// What asks for the next page.
    pub(crate) next_cursor: Option<String>,
    /// Why the list cannot go on although the server says there is more.
    pub(crate) bad_cursor: Option<String>,
}

impl Page {
    /// Reads a result. `first` is how many tools came before this page.
    ///
    /// # Errors
    ///
    /// When there is no list of tools in it, in plain words.
    pub(crate) fn parse(
        result: &RawValue,
        first: usize,
        limits: &SchemaLimits,
    ) -> Result<Self, String> {
        let result: Value = serde_json::from_str(result.get())
            .map_err(|error| format!("the tool list cannot be read: {error}"))?;
        let Value::Object(mut result) = result else {
            return Err("the tool list is not an object".to_owned());
        };
        let tools = match result.shift_remove("tools") {
            Some(Value::Array(tools)) => tools,
            Some(_) => return Err("the tool list's \"tools\" is not an array".to_owned()),
            None => return Err("the tool list has no \"tools\"".to_owned()),
        };
        let read = |(index, tool)| definition(tool, first + index, limits);
        let mut page = Self {
            tools: tools.into_iter().enumerate().map(read).collect(),
            ..Self::default()
        };
        match result.shift_remove("nextCursor") {
            None | Some(Value::Null) => {}
            Some(Value::String(cursor)) if cursor.len() <= CURSOR_BYTES => {
                page.next_cursor = Some(cursor);
            }
            Some(Value::String(_)) => page.bad_cursor = Some("its cursor is too long".to_owned()),
            Some(_) => page.bad_cursor = Some("its cursor is not a string".to_owned()),
        }
        Ok(page)
    }
}

/// One tool, with every member that is not understood kept in `extra`.
fn definition(
    tool: Value,
    index: usize,
    limits: &SchemaLimits,
) -> Result<ToolDefinition, BrokenTool> {
    let place = format!("tool {} of the list", index + 1);
    let Value::Object(mut tool) = tool else {
        return Err(BrokenTool::new(place, "it is not an object"));
    };
    let name = match tool.shift_remove("name") {
        Some(Value::String(name)) if !name.is_empty() => name,
        Some(Value::String(_)) => return Err(BrokenTool::new(place, "its name is empty")),
        Some(_) => return Err(BrokenTool::new(place, "its name is not a string")),
        None => return Err(BrokenTool::new(place, "it has no name")),
    };
    let Some(schema) = tool.shift_remove("inputSchema") else {
        return Err(BrokenTool::new(name, "it has no inputSchema"));
    };
    let input = match Schema::for_arguments_within(schema, limits) {
        Ok(schema) => schema,
        Err(rejected) => {
            return Err(BrokenTool::new(
                name,
                format!("its inputSchema: {rejected}"),
            ));
        }
    };
    let description = take_text(&mut tool, "description").unwrap_or_default();
    let mut definition = ToolDefinition::new(name, description, Arc::new(input));
    definition.title = take_text(&mut tool, "title");
    definition.annotations = tool
        .get("annotations")
        .and_then(Value::as_object)
        .map(annotations);
    definition.output = output_schema(&mut tool, limits);
    tool.shift_remove("annotations");
    definition.extra = tool;
    Ok(definition)
}

/// The output schema, if it can be used. One that cannot stays in the tool's further members: the
/// tool works without it, its results are then not checked.
fn output_schema(tool: &mut Map<String, Value>, limits: &SchemaLimits) -> Option<Arc<Schema>> {
    let schema = tool
        .get("outputSchema")
        .filter(|schema| !schema.is_null())?
        .clone();
    let schema = Schema::for_output_within(schema, limits).ok()?;
    tool.shift_remove("outputSchema");
    Some(Arc::new(schema))
}

fn take_text(tool: &mut Map<String, Value>, key: &str) -> Option<String> {
    match tool.get(key) {
        Some(Value::String(_) | Value::Null) => match tool.shift_remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// The hints that are what they should be; a hint of another type counts as not given.
fn annotations(members: &Map<String, Value>) -> ToolAnnotations {
    let flag = |key: &str| members.get(key).and_then(Value::as_bool);
    let mut hints = ToolAnnotations::default();
    hints.title = members
        .get("title")
        .and_then(Value::as_str)
        .map(str::to_owned);
    hints.read_only_hint = flag("readOnlyHint");
    hints.destructive_hint = flag("destructiveHint");
    hints.idempotent_hint = flag("idempotentHint");
    hints.open_world_hint = flag("openWorldHint");
    hints
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(result: &Value) -> Result<Page, String> {
        Page::parse(
            &serde_json::value::to_raw_value(result).unwrap(),
            0,
            &SchemaLimits::default(),
        )
    }

    #[test]
    fn malformed_tools_are_named_and_the_others_kept() {
        let page = page(&json!({"tools": [
            {"name": "good", "inputSchema": {"type": "object"}, "icons": [{"sizes": "x"}]},
            {"inputSchema": {"type": "object"}},
            {"name": 5, "inputSchema": {"type": "object"}},
            {"name": "", "inputSchema": {"type": "object"}},
            {"name": "schemaless"},
            {"name": "null schema", "inputSchema": null},
            {"name": "odd hints", "inputSchema": {"type": "object"}, "title": null, "description": 7,
             "annotations": {"readOnlyHint": "yes", "destructiveHint": false}, "outputSchema": "no"},
            "not a tool",
        ]}))
        .unwrap();
        let lines: Vec<String> = page
            .tools
            .iter()
            .map(|tool| match tool {
                Ok(tool) => format!(
                    "{}: usable, extra {}",
                    tool.name,
                    Value::Object(tool.extra.clone())
                ),
                Err(broken) => format!("{}: {}", broken.name, broken.reason),
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
        let odd = page.tools[6].as_ref().unwrap();
        assert_eq!(odd.hints().read_only_hint, None);
        assert_eq!(odd.hints().destructive_hint, Some(false));
        assert!(odd.output.is_none());
    }

    #[test]
    fn a_bad_cursor_keeps_the_page() {
        for cursor in [json!(5), json!("x".repeat(100_000))] {
            let page = page(&json!({"tools": [], "nextCursor": cursor})).unwrap();
            assert!(page.next_cursor.is_none() && page.bad_cursor.is_some());
        }
        assert_eq!(
            page(&json!({"tools": [], "nextCursor": "a"}))
                .unwrap()
                .next_cursor
                .as_deref(),
            Some("a")
        );
    }

    #[test]
    fn a_result_without_a_list_is_refused() {
        for result in [json!({}), json!([]), json!({"tools": {}})] {
            assert!(page(&result).is_err());
        }
    }
}
