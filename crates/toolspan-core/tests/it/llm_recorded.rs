//! The recorded tool lists as snapshots, for the tests of the forms of model APIs.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolspan_core::llm::{Api, Form, Strict};
use toolspan_core::schema::Schema;
use toolspan_core::{Snapshot, ToolDefinition, ToolboxTool};

use crate::support::{Echo, source};

/// Every form that the tests look at, with a name for it.
pub(crate) const FORMS: [(&str, Form); 9] = [
    ("openai", Form::new(Api::OpenAi)),
    (
        "openai strict",
        Form::new(Api::OpenAi).with_strict(Strict::WherePossible),
    ),
    ("responses", Form::new(Api::Responses)),
    (
        "responses strict",
        Form::new(Api::Responses).with_strict(Strict::WherePossible),
    ),
    ("anthropic", Form::new(Api::Anthropic)),
    (
        "anthropic strict",
        Form::new(Api::Anthropic).with_strict(Strict::WherePossible),
    ),
    ("gemini", Form::new(Api::Gemini)),
    ("gemini-openapi", Form::new(Api::GeminiOpenApi)),
    ("mcp", Form::new(Api::Mcp)),
];

/// The recorded lists by the names of their servers, each as the tools of one toolbox.
pub(crate) fn lists() -> Vec<(String, Snapshot)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/toollists");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the fixtures")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).expect("readable");
            let list: Value = serde_json::from_str(&text).expect("JSON");
            let server = file.file_stem().expect("a name").to_string_lossy();
            let tools = list.get("tools").and_then(Value::as_array).expect("tools");
            let tools = tools.iter().map(tool);
            let source = source(&server, tools.collect());
            (server.into_owned(), Snapshot::new(vec![source]))
        })
        .collect()
}

fn tool(recorded: &Value) -> ToolboxTool {
    let text = |key: &str| {
        recorded
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let input = Schema::for_arguments(recorded.get("inputSchema").cloned()).expect("usable");
    let mut definition = ToolDefinition::new(text("name"), text("description"), Arc::new(input));
    if let Some(hints) = recorded.get("annotations") {
        definition.annotations = serde_json::from_value(hints.clone()).ok();
    }
    ToolboxTool::new(Arc::new(definition), Arc::new(Echo))
}

/// The parts of a projection's value that declare a tool each.
pub(crate) fn declarations(tools: &Value) -> Vec<&Value> {
    match tools.pointer("/0/functionDeclarations") {
        Some(declarations) => declarations.as_array().expect("a list").iter().collect(),
        None => tools.as_array().expect("a list").iter().collect(),
    }
}

/// The schema in a declaration; `None` where it has none.
pub(crate) fn schema_of(declaration: &Value) -> Option<&Value> {
    [
        "/function/parameters",
        "/parameters",
        "/input_schema",
        "/parametersJsonSchema",
        "/inputSchema",
    ]
    .into_iter()
    .find_map(|pointer| declaration.pointer(pointer))
}

/// Whether a declaration says that it is strict.
pub(crate) fn is_strict(declaration: &Value) -> bool {
    let stated = declaration
        .get("strict")
        .or_else(|| declaration.pointer("/function/strict"));
    stated == Some(&Value::Bool(true))
}
