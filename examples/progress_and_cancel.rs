//! How is a long call watched, bounded and cancelled?
//!
//! `cargo build && cargo run -p toolspan --example progress_and_cancel`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::time::Duration;

use serde_json::json;
use toolspan::{CallOptions, CancellationToken, Host};

#[tokio::main]
async fn main() -> toolspan::Result<()> {
    let program = std::env::args().nth(1);
    let program = program.unwrap_or_else(|| "target/debug/toolspan".to_owned());
    let config = json!({
        "mcpServers": {"demo": {"command": program, "args": ["demo-server"]}}
    });
    let host = Host::builder().config_value(config).connect().await?;

    // Whoever holds a clone of the token can cancel. Here it is who hears of the progress.
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let options = CallOptions::default()
        .with_timeout(Duration::from_secs(30))
        .with_cancel(cancel)
        .with_progress(move |progress| {
            println!("progress: {}", progress.message.unwrap_or_default());
            stop.cancel();
        });
    let countdown = host.call_with("demo__countdown", json!({"from": 10}), options);
    match countdown.await {
        Ok(seen) => println!("too late to cancel: {}", seen.text()),
        // The server was told. Whether the tool had done something by then is not known.
        Err(error) => println!("{}, outcome {}", error.kind(), error.outcome()),
    }

    // The server goes on as if nothing had been.
    let echo = host
        .call("demo__echo", json!({"text": "still here"}))
        .await?;
    println!("echo: {}", echo.text());

    host.close().await;
    Ok(())
}
