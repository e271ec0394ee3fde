//! Starts the server given as program and arguments, lists its tools, prints its process id, and
//! keeps it until the end of standard input.

#![expect(
    clippy::print_stdout,
    reason = "a program for a person or a test to watch"
)]

use std::error::Error;
use std::io::Read;
use std::sync::Arc;

use toolspan_core::ToolBox;
use toolspan_io::process::Launch;
use toolspan_mcp::{McpServer, McpToolBox, Transport};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments
        .next()
        .ok_or("usage: keep_a_server PROGRAM ARGUMENT...")?;
    let launch = Launch::new(program).with_args(arguments);
    let toolbox = McpToolBox::new(McpServer::new("kept", Transport::Stdio(Arc::new(launch))));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(toolbox.discover())?;
    println!("{}", toolbox.pid().ok_or("the server has gone")?);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    runtime.block_on(toolbox.close());
    Ok(())
}
