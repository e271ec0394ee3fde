//! Definitions and registered tools for the tests.

use std::sync::Arc;

use serde_json::Value;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::registry::Source;
use toolspan_core::schema::Schema;
use toolspan_core::{
    BoxFuture, CallOptions, CallRequest, Context, Discovery, Observation, RegisteredTool, Result,
    Snapshot, ToolDefinition, ToolExecutor, ToolboxTool, ValidCall,
};

/// A definition without words.
pub(crate) fn definition(name: &str, input: Value) -> ToolDefinition {
    let input = Schema::for_arguments(input).expect("the tests' schemas are usable");
    ToolDefinition::new(name, "", Arc::new(input))
}

/// The schema, where it is usable.
pub(crate) fn schema_of(raw: Value) -> Option<Schema> {
    let schema = Schema::for_arguments(raw).ok()?;
    schema.compile().is_ok().then_some(schema)
}

/// The only tool of a toolbox called `box`.
pub(crate) fn tool_of(
    definition: ToolDefinition,
    executor: Arc<dyn ToolExecutor>,
) -> RegisteredTool {
    let tool = ToolboxTool::new(Arc::new(definition), executor);
    let snapshot = Snapshot::new(vec![source("box", vec![tool])]);
    snapshot.tools().first().expect("one tool").clone()
}

/// A toolbox's part of a snapshot.
pub(crate) fn source(toolbox: &str, tools: Vec<ToolboxTool>) -> Source {
    let mut discovery = Discovery::default();
    discovery.tools = tools;
    Source {
        toolbox: toolbox.into(),
        prefix: None,
        discovery,
    }
}

/// What a tool answers when it is called by itself.
pub(crate) async fn answer(tool: &ToolboxTool, arguments: Value) -> Result<Observation> {
    let registered = tool_of((*tool.definition).clone(), Arc::clone(&tool.executor));
    let request = CallRequest::new(&*tool.definition.name, arguments);
    let call = request.validate(&registered, &Limits::default())?;
    let context = Context::new(CallOptions::default(), &Timeouts::default());
    registered.executor.call(&call, &context).await
}

/// A tool of this name that answers with the arguments it was given.
pub(crate) fn echo(name: &str) -> ToolboxTool {
    let definition = definition(name, serde_json::json!({"type": "object"}));
    ToolboxTool::new(Arc::new(definition), Arc::new(Echo))
}

pub(crate) struct Echo;

impl ToolExecutor for Echo {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async { Ok(Observation::text_of(call.arguments_text())) })
    }
}
