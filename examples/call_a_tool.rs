//! How does a program call a tool of an MCP server?
//!
//! `cargo build && cargo run -p toolspan --example call_a_tool`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::json;
use toolspan::Host;

#[tokio::main]
async fn main() -> toolspan::Result<()> {
    // The server of `toolspan demo`. Any other one is named in the same way.
    let program = std::env::args().nth(1);
    let program = program.unwrap_or_else(|| "target/debug/toolspan".to_owned());
    let config = json!({
        "mcpServers": {"demo": {"command": program, "args": ["demo-server"]}}
    });
    let host = Host::builder().config_value(config).connect().await?;

    for tool in host.snapshot().tools() {
        println!("{}", tool.name);
    }

    // An observation means that the tool answered, also when it says that it failed.
    let sum = host.call("demo__add", json!({"a": 2, "b": 40})).await?;
    println!("text: {}", sum.text());
    if let Some(structured) = &sum.structured {
        println!("sum: {}", structured["sum"]);
    }

    // Everything else is an error, which says what was wrong and how far the call came.
    let wrong = host.call("demo__add", json!({"a": "two", "b": 40})).await;
    if let Err(error) = wrong {
        println!("{}, {}: {error}", error.kind(), error.outcome());
    }

    host.close().await;
    Ok(())
}
