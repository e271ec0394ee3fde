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

/// A whole tool in ten lines: this type, and the closure in [`find_lines`].
#[derive(Deserialize, JsonSchema)]
struct FindLines {
    text: String,
    word: String,
}

impl Action for FindLines {}

fn find_lines() -> impl Tool {
    let words = "Finds the lines of a text that have a word in them.";
    tool_fn("find_lines", words, |find: FindLines| async move {
        let found = find.text.lines().filter(|line| line.contains(&find.word));
        Ok::<_, ToolFailure>(found.collect::<Vec<_>>().join("\n"))
    })
}

#[tokio::main]
async fn main() -> toolspan::Result<()> {
    let host = Host::builder()
        .tool(DivideTool)
        .tool(find_lines())
        .connect()
        .await?;

    let half = host
        .call("divide", json!({"dividend": 1, "divisor": 2}))
        .await?;
    println!("divide: {}", half.text());

    let poem = "the sea is calm\nthe land is dry\nthe sea is wide";
    let found = host
        .call("find_lines", json!({"text": poem, "word": "sea"}))
        .await?;
    println!("find_lines: {}", found.text().replace('\n', ", "));

    // A failure that the tool reports is an answer: a model reads it and does better.
    let failed = host
        .call("divide", json!({"dividend": 1, "divisor": 0}))
        .await?;
    println!("failed: {} ({})", failed.is_error, failed.text());

    host.close().await;
    Ok(())
}
