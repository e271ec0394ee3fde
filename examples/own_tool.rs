//! How is a tool of one's own written: as a struct, and as a closure?
//!
//! `cargo run -p toolspan --example own_tool`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolspan::tool::{Action, Json, Tool, ToolFailure, tool_fn};
use toolspan::{Context, Host};

/// What goes in. Doc comments become descriptions in the schema that a model reads.
#[derive(Deserialize, JsonSchema)]
struct Divide {
    /// The number to divide
    dividend: f64,
    /// The number to divide it by
    divisor: f64,
}

impl Action for Divide {}

/// What comes out.
#[derive(Serialize, JsonSchema)]
struct Quotient {
    quotient: f64,
}

/// Its name for callers is `divide`.
struct DivideTool;

impl Tool for DivideTool {
    type Action = Divide;
    type Observation = Json<Quotient>;

    fn description(&self) -> &str {
        "Divides a number by another one."
    }

    async fn call(
        &self,
        action: Divide,
        _context: &Context,
    ) -> Result<Json<Quotient>, ToolFailure> {
        if action.divisor == 0.0 {
            return Err(ToolFailure::new("nothing can be divided by zero"));
        }
        let quotient = action.dividend / action.divisor;
        Ok(Json(Quotient { quotient }))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Shout {
    text: String,
}

impl Action for Shout {}

#[tokio::main]
async fn main() -> toolspan::Result<()> {
    let shout = tool_fn("shout", "Says a text louder.", |shout: Shout| async move {
        Ok::<_, ToolFailure>(shout.text.to_uppercase())
    });
    let host = Host::builder()
        .tool(DivideTool)
        .tool(shout)
        .connect()
        .await?;

    let half = host
        .call("divide", json!({"dividend": 1, "divisor": 2}))
        .await?;
    println!("divide: {}", half.text());

    let loud = host.call("shout", json!({"text": "hello"})).await?;
    println!("shout: {}", loud.text());

    // A failure that the tool reports is an answer: a model reads it and does better.
    let failed = host
        .call("divide", json!({"dividend": 1, "divisor": 0}))
        .await?;
    println!("failed: {} ({})", failed.is_error, failed.text());

    host.close().await;
    Ok(())
}
