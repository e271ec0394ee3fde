//! Which MCP server does the demo talk to? A real one, in a child process, made with another
//! implementation of the protocol than ours. The only file of this crate that names rmcp.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

use super::{clock, picture};

/// Time between two numbers of a countdown: ten of them take a second.
const TICK: Duration = Duration::from_millis(100);
/// Longest countdown.
const MOST_TICKS: u64 = 10;

/// Serves on standard input and output until the input ends.
///
/// # Errors
///
/// When the client's first messages are no MCP.
pub(crate) async fn serve() -> io::Result<()> {
    let running = DemoServer
        .serve(rmcp::transport::stdio())
        .await
        .map_err(io::Error::other)?;
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}

struct DemoServer;

impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new(
            "toolspan-demo",
            env!("CARGO_PKG_VERSION"),
        ))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            "echo" => echo(&arguments),
            "add" => add(&arguments),
            "now" => Ok(CallToolResult::success(vec![ContentBlock::text(
                clock::now(),
            )])),
            "countdown" => countdown(&arguments, &context).await,
            "picture" => Ok(CallToolResult::success(vec![
                ContentBlock::text("A ring."),
                ContentBlock::image(STANDARD.encode(picture::ring()), "image/png"),
            ])),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text(
                "The printer is out of paper. Put paper in and try again.",
            )])),
            _ => return Err(ErrorData::invalid_params("unknown tool", None)),
        };
        result.map(CallToolResponse::from)
    }
}

fn echo(arguments: &Map<String, Value>) -> Result<CallToolResult, ErrorData> {
    let text = arguments.get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| ErrorData::invalid_params("text is missing", None))?;
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

fn add(arguments: &Map<String, Value>) -> Result<CallToolResult, ErrorData> {
    let number = |key| arguments.get(key).and_then(Value::as_f64);
    let (Some(a), Some(b)) = (number("a"), number("b")) else {
        return Err(ErrorData::invalid_params("a and b must be numbers", None));
    };
    Ok(CallToolResult::structured(json!({ "sum": a + b })))
}

/// Counts down, tells its progress, and stops when the client cancels the call.
async fn countdown(
    arguments: &Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let from = arguments
        .get("from")
        .and_then(Value::as_u64)
        .unwrap_or(3)
        .min(MOST_TICKS);
    let token = context.meta.get_progress_token();
    for step in 1..=from {
        tokio::select! {
            () = context.ct.cancelled() => {
                return Ok(CallToolResult::error(vec![ContentBlock::text("cancelled")]));
            }
            () = tokio::time::sleep(TICK) => {}
        }
        if let Some(token) = &token {
            let progress = ProgressNotificationParam::new(token.clone(), step as f64)
                .with_total(from as f64)
                .with_message(format!("{} to go", from - step));
            // A client that is gone ends the server by itself.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    Ok(CallToolResult::success(vec![ContentBlock::text(
        "Lift-off!",
    )]))
}

fn tools() -> Vec<Tool> {
    let read_only = || ToolAnnotations::new().read_only(true).open_world(false);
    let text = json!({"type": "string", "description": "The text to say back"});
    let number = |what: &str| json!({"type": "number", "description": what});
    let from = json!({"type": "integer", "minimum": 1, "maximum": MOST_TICKS, "default": 3,
        "description": "The number to start from"});
    vec![
        tool(
            "echo",
            "Says a text back.",
            json!({"text": text}),
            &["text"],
        )
        .annotate(read_only()),
        tool(
            "add",
            "Adds two numbers.",
            json!({"a": number("The first number"), "b": number("The second number")}),
            &["a", "b"],
        )
        .with_raw_output_schema(schema(json!({"sum": number("The sum")}), &["sum"]))
        .annotate(read_only().idempotent(true)),
        tool("now", "Tells the time in UTC.", json!({}), &[]).annotate(read_only()),
        tool(
            "countdown",
            "Counts down, a tenth of a second a number.",
            json!({"from": from}),
            &[],
        )
        .annotate(read_only()),
        tool("picture", "Draws a small picture.", json!({}), &[]).annotate(read_only()),
        tool(
            "fail",
            "Always fails, as tools sometimes do.",
            json!({}),
            &[],
        ),
    ]
}

fn tool(
    name: &'static str,
    description: &'static str,
    properties: Value,
    required: &[&str],
) -> Tool {
    Tool::new(name, description, schema(properties, required))
}

fn schema(properties: Value, required: &[&str]) -> Arc<Map<String, Value>> {
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties);
    schema.insert("required".into(), required.into());
    schema.insert("additionalProperties".into(), false.into());
    Arc::new(schema)
}
