//! toolspan gives an agent its tools: MCP servers and native tools behind one typed contract,
//! called asynchronously or synchronously.
//!
//! ```no_run
//! # async fn example() -> toolspan::Result<()> {
//! use serde_json::json;
//!
//! let host = toolspan::Host::builder().server("uvx mcp-server-time").connect().await?;
//! let seen = host.call("time__get_current_time", json!({"timezone": "UTC"})).await?;
//! println!("{}", seen.text());
//! let tools = host.to_openai(); // what goes to a model
//! # let _ = tools;
//! host.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! [`Host`] is the one thing that callers hold; [`blocking::Host`] is the same for synchronous
//! callers. [`config`] reads a config file; [`tool`] says how a native tool is written.

pub mod blocking;
mod builder;
mod builder_rules;
mod calling;
pub mod config;
mod connect;
mod find;
mod forms;
mod guarded;
mod hiding;
mod host;
mod member;
mod native;
#[cfg(doctest)]
mod pages;
mod reload;
mod roster;
mod rules;
mod search;
mod status;

pub use builder::HostBuilder;
pub use host::Host;
pub use search::FoundTool;
pub use status::ToolboxStatus;

pub use tokio_util::sync::CancellationToken;
pub use toolspan_core::{
    Action, BoxFuture, BrokenTool, CallOptions, CallRequest, Content, Context, Discovery, Error,
    ErrorKind, Observation, Outcome, Phase, Progress, RegisteredTool, Result, Services, Snapshot,
    Style, Styled, Tool, ToolAnnotations, ToolBox, ToolDefinition, ToolExecutor, ToolFailure,
    ToolboxTool, ValidCall,
};
pub use toolspan_core::{
    call, execute, guard, llm, name, observation, policy, registry, schema, services, tool,
    toolbox, visual,
};
