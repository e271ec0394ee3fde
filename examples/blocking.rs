//! How does a program without an async runtime call tools?
//!
//! `cargo build && cargo run -p toolspan --example blocking`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::thread;

use serde_json::json;
use toolspan::blocking::Host;

fn main() -> toolspan::Result<()> {
    let program = std::env::args().nth(1);
    let program = program.unwrap_or_else(|| "target/debug/toolspan".to_owned());
    let config = json!({
        "mcpServers": {"demo": {"command": program, "args": ["demo-server"]}}
    });
    let host = Host::connect_builder(Host::builder().config_value(config))?;

    let echo = host.call("demo__echo", json!({"text": "hello"}))?;
    println!("echo: {}", echo.text());

    // Threads share a host; their calls run at the same time.
    thread::scope(|threads| {
        for number in 1..=3 {
            let host = &host;
            threads.spawn(move || {
                match host.call("demo__add", json!({"a": number, "b": number})) {
                    Ok(sum) => println!("{number} + {number}: {}", sum.text()),
                    Err(error) => println!("{number} + {number}: {error}"),
                }
            });
        }
    });

    // Dropping the host closes it too; nothing of the server is left then.
    host.close()
}
