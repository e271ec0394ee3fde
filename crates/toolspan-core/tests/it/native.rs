//! Native tools: typed, from a struct or a closure, behind the same door as every other tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolspan_core::execute::{self, Gate, Gates};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::tool::{Action, Json, NativeToolBox, Tool, ToolFailure, native, tool_fn};
use toolspan_core::toolbox::ToolBox;
use toolspan_core::{
    BoxFuture, CallOptions, CallRequest, Context, Observation, Snapshot, Style, Styled,
    ToolExecutor, ToolboxTool, ValidCall,
};

use crate::support;

#[derive(Deserialize, JsonSchema)]
struct Divide {
    /// What is divided
    dividend: i64,
    divisor: i64,
}

impl Action for Divide {
    fn visualize(&self) -> Option<Styled> {
        let dividend = Styled::plain(format!("{} : ", self.dividend));
        Some(dividend.with(Style::Strong, self.divisor.to_string()))
    }
}

#[derive(Serialize, JsonSchema)]
struct Quotient {
    quotient: i64,
}

struct DivideTool;

impl Tool for DivideTool {
    type Action = Divide;
    type Observation = Json<Quotient>;

    fn description(&self) -> &str {
        "Divides whole numbers"
    }

    async fn call(&self, divide: Divide, _: &Context) -> Result<Json<Quotient>, ToolFailure> {
        let quotient = divide.dividend.checked_div(divide.divisor);
        let quotient = quotient.ok_or_else(|| ToolFailure::new("this cannot be divided"))?;
        Ok(Json(Quotient { quotient }))
    }
}

async fn call(tool: ToolboxTool, arguments: Value) -> toolspan_core::Result<Observation> {
    let snapshot = Snapshot::new(vec![support::source("native", vec![tool])]);
    let tool = snapshot.tools().first().expect("one tool");
    let gate = || Gate::new(1, 1, "limits.max_in_flight");
    let (toolbox, host) = (gate(), gate());
    let call = CallRequest::new(&*tool.name, arguments).validate(tool, &Limits::default())?;
    let context = Context::new(CallOptions::default(), &Timeouts::default());
    execute::run(
        tool,
        &call,
        &context,
        Gates {
            toolbox: &toolbox,
            host: &host,
        },
    )
    .await
    .map(|observation| *observation)
}

#[tokio::test]
async fn a_typed_tool_gives_text_and_structure() {
    let seen = call(
        native(DivideTool).unwrap(),
        json!({"dividend": 7, "divisor": 2}),
    )
    .await;
    let seen = seen.unwrap();
    assert_eq!(seen.text(), r#"{"quotient":3}"#);
    assert_eq!(seen.structured, Some(json!({"quotient": 3})));
    assert_eq!(seen.schema_violation, None);
}

#[tokio::test]
async fn a_failure_is_an_observation_for_the_model() {
    let seen = call(
        native(DivideTool).unwrap(),
        json!({"dividend": 7, "divisor": 0}),
    )
    .await;
    let seen = seen.unwrap();
    assert!(seen.is_error);
    assert_eq!(seen.text(), "this cannot be divided");
}

#[test]
fn its_definition_comes_from_its_types() {
    let tool = native(DivideTool).unwrap();
    insta::assert_snapshot!(format!(
        "{:#}",
        tool.definition.to_mcp(&tool.definition.name)
    ));
}

#[tokio::test]
async fn a_person_is_shown_what_its_author_chose() {
    let tool = native(DivideTool).unwrap();
    let registered = support::tool_of((*tool.definition).clone(), tool.executor);
    let request = CallRequest::new("divide", json!({"dividend": 7, "divisor": 2}));
    let call = request.validate(&registered, &Limits::default()).unwrap();
    assert_eq!(
        registered.visualize(&call).to_ansi(),
        "7 : \u{1b}[1m2\u{1b}[0m"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Shout {
    text: String,
}

impl Action for Shout {}

#[tokio::test]
async fn a_closure_is_a_tool_too() {
    let shout = tool_fn("shout", "Says it louder", |shout: Shout| async move {
        Ok::<_, ToolFailure>(shout.text.to_uppercase())
    });
    let seen = call(native(shout).unwrap(), json!({"text": "hi"}))
        .await
        .unwrap();
    assert_eq!(seen.text(), "HI");
}

#[tokio::test]
async fn a_second_native_tool_of_a_name_is_reported_and_the_first_stays() {
    let toolbox = NativeToolBox::new(vec![
        native(DivideTool).unwrap(),
        native(DivideTool).unwrap(),
    ]);
    let discovery = toolbox.discover().await.unwrap();
    assert_eq!((discovery.tools.len(), discovery.broken.len()), (1, 1));
}

/// Counts how often it is closed.
struct Closing(Arc<AtomicUsize>);

impl ToolExecutor for Closing {
    fn call<'a>(
        &'a self,
        _: &'a ValidCall,
        _: &'a Context,
    ) -> BoxFuture<'a, toolspan_core::Result<Observation>> {
        Box::pin(async { Ok(Observation::default()) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn what_tools_share_is_closed_once_and_what_was_left_out_is_closed_too() {
    let (shared, alone) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let browser: Arc<dyn ToolExecutor> = Arc::new(Closing(Arc::clone(&shared)));
    let tool = |name: &str, executor: &Arc<dyn ToolExecutor>| {
        let definition = support::definition(name, json!({"type": "object"}));
        ToolboxTool::new(Arc::new(definition), Arc::clone(executor))
    };
    let second: Arc<dyn ToolExecutor> = Arc::new(Closing(Arc::clone(&alone)));
    let toolbox = NativeToolBox::new(vec![
        tool("open", &browser),
        tool("click", &browser),
        tool("open", &second),
    ]);
    toolbox.close().await;
    toolbox.close().await;
    let closed = [&shared, &alone].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(closed, [1, 1]);
}
