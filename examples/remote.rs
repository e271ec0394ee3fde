//! How does a program call a tool of a server at a URL, and what does it learn when that fails?
//!
//! `cargo run -p toolspan --example remote -- https://example.com/mcp echo '{"text": "hi"}'`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::json;
use toolspan::{CallOptions, Host};

#[tokio::main]
async fn main() -> toolspan::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(url), Some(tool), Some(arguments)) = (words.next(), words.next(), words.next())
    else {
        println!("give the URL of a server, the name of a tool, and its arguments as JSON");
        return Ok(());
    };
    let arguments: serde_json::Value = serde_json::from_str(&arguments).unwrap_or_default();
    // Streamable HTTP is tried, then the older HTTP+SSE; "type" would name one. The headers go with
    // every request; they are shown nowhere.
    let config = json!({
        "mcpServers": {"there": {"url": url, "headers": {"X-Team": "blue"}}}
    });
    let host = Host::builder().config_value(config).connect().await?;
    // What was found: mcp/http or mcp/sse, and whether it is ready.
    for toolbox in host.status() {
        println!("{}: {}", toolbox.kind, toolbox.state.as_str());
    }

    // And these go with this call alone.
    let options = CallOptions::default().with_headers([("X-User", "ada")]);
    let tool = format!("there__{tool}");
    match host.call_with(&tool, arguments, options).await {
        Ok(seen) => println!("{}", seen.text()),
        Err(error) => {
            println!("{}, {}: {error}", error.kind(), error.outcome());
            if let Some(status) = error.http_status() {
                println!("HTTP status {status}");
            }
            if let Some(wait) = error.retry_after() {
                println!("the server asks to wait for {wait:?}");
            }
        }
    }

    host.close().await;
    Ok(())
}
