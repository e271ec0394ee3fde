//! How are tools given to a model, and how are its calls run?
//!
//! `cargo build && cargo run -p toolspan --example model_loop`
//!
//! The messages are those of OpenAI's Chat Completions API. A script stands in for the model: it
//! makes a mistake, reads what was wrong, and tries again.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::{Value, json};
use toolspan::Host;
use toolspan::llm::{Answered, Api};

#[tokio::main]
async fn main() -> toolspan::Result<()> {
    let program = std::env::args().nth(1);
    let program = program.unwrap_or_else(|| "target/debug/toolspan".to_owned());
    let config = json!({
        "mcpServers": {"demo": {"command": program, "args": ["demo-server"]}}
    });
    let host = Host::builder().config_value(config).connect().await?;

    let mut messages = vec![json!({"role": "user", "content": "What is 2 + 40?"})];
    loop {
        let request = json!({"messages": messages, "tools": host.to_openai()});
        let message = &ask_the_model(&request);
        messages.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            println!("model: {}", message["content"]);
            break;
        };
        for call in calls {
            println!("call:  {}", call["function"]);
            // Whatever comes of the call is something that the model can read.
            let seen = host.run(call).await;
            println!("tool:  {}", seen.text());
            messages.push(host.tool_result(Api::OpenAi, Answered::of(call), &seen));
        }
    }

    host.close().await;
    Ok(())
}

/// Here a program sends the request to its model and takes `choices[0].message` of the response.
fn ask_the_model(request: &Value) -> Value {
    let call = |arguments: &str| {
        json!({"role": "assistant", "tool_calls": [{
            "id": "call_1",
            "type": "function",
            "function": {"name": "demo__add", "arguments": arguments},
        }]})
    };
    match request["messages"].as_array().map_or(0, Vec::len) {
        1 => call(r#"{"a": "two", "b": 40}"#),
        3 => call(r#"{"a": 2, "b": 40}"#),
        _ => json!({"role": "assistant", "content": "It is 42."}),
    }
}
