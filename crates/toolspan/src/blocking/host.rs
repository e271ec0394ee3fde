//! A host whose calls return when they are done.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use toolspan_core::llm::{Answered, Api, Form, Projection};
use toolspan_core::observation::LlmContent;
use toolspan_core::toolbox::Diagnosis;
use toolspan_core::{CallOptions, Observation, RegisteredTool, Result, Snapshot};

use super::home::Home;
use crate::builder::HostBuilder;
use crate::config::Resolved;
use crate::search::FoundTool;
use crate::status::ToolboxStatus;

/// A host for synchronous callers. It may be shared between threads; calls from several threads
/// run at the same time.
///
/// Every method that waits refuses, with kind `usage`, on a thread that runs asynchronous tasks, and
/// in a process that was forked from the one that made the host. Dropping it closes it and waits, at
/// most [`Host::close_limit`](crate::Host::close_limit).
///
/// ```no_run
/// # fn main() -> toolspan::Result<()> {
/// let host = toolspan::blocking::Host::connect_file("toolspan.json")?;
/// let seen = host.call("time__get_current_time", serde_json::json!({"timezone": "UTC"}))?;
/// println!("{}", seen.text());
/// # Ok(())
/// # }
/// ```
pub struct Host {
    host: crate::Host,
    home: Home,
}

/// As that of the [`Host`](crate::Host) behind it.
impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.host.fmt(formatter)
    }
}

impl Host {
    /// Begins to put a host together. [`Host::connect_builder`] ends it; the builder's own `connect`
    /// is the asynchronous one.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Connects a config: waits until each toolbox is ready or has failed.
    ///
    /// # Errors
    ///
    /// As [`HostBuilder::connect`].
    pub fn connect(config: Resolved) -> Result<Self> {
        Self::connect_builder(HostBuilder::default().config(config))
    }

    /// Connects a config file.
    ///
    /// # Errors
    ///
    /// As [`HostBuilder::connect`].
    pub fn connect_file(path: impl AsRef<Path>) -> Result<Self> {
        Self::connect_builder(HostBuilder::default().config_file(path.as_ref()))
    }

    /// Connects what a builder holds.
    ///
    /// # Errors
    ///
    /// As [`HostBuilder::connect`].
    pub fn connect_builder(builder: HostBuilder) -> Result<Self> {
        let home = Home::get()?;
        let host = home.block_on(builder.connect())??;
        Ok(Self { host, home })
    }

    /// Makes what a builder holds and returns at once; toolboxes start when they are needed.
    ///
    /// # Errors
    ///
    /// As [`HostBuilder::start`].
    pub fn start_builder(builder: HostBuilder) -> Result<Self> {
        let home = Home::get()?;
        Ok(Self {
            host: builder.start()?,
            home,
        })
    }

    /// Calls a tool. See [`Host::call_with`](crate::Host::call_with).
    ///
    /// # Errors
    ///
    /// As [`Host::call_with`](crate::Host::call_with).
    pub fn call(&self, tool: &str, arguments: Value) -> Result<Observation> {
        self.home.block_on(self.host.call(tool, arguments))?
    }

    /// Calls a tool with options. The caller's own thread is told of progress.
    ///
    /// # Errors
    ///
    /// As [`Host::call_with`](crate::Host::call_with).
    pub fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        options: CallOptions,
    ) -> Result<Observation> {
        self.home
            .block_on(self.host.call_with(tool, arguments, options))?
    }

    /// Runs a model's tool call. See [`Host::run`](crate::Host::run).
    ///
    /// # Errors
    ///
    /// `usage` on a thread that runs asynchronous tasks; all else is an observation.
    pub fn run(&self, model_call: &Value) -> Result<Observation> {
        self.home.block_on(self.host.run(model_call))
    }

    /// Runs a model's tool call with options. See [`Host::run_with`](crate::Host::run_with).
    ///
    /// # Errors
    ///
    /// As [`Host::run`].
    pub fn run_with(&self, model_call: &Value, options: CallOptions) -> Result<Observation> {
        self.home.block_on(self.host.run_with(model_call, options))
    }

    /// Runs all tool calls of one answer of a model, several at a time. See
    /// [`Host::run_batch`](crate::Host::run_batch).
    ///
    /// # Errors
    ///
    /// As [`Host::run`].
    pub fn run_batch(&self, model_calls: &[Value]) -> Result<Vec<Observation>> {
        self.home.block_on(self.host.run_batch(model_calls))
    }

    /// The tool that a name means. See [`Host::find`](crate::Host::find).
    ///
    /// # Errors
    ///
    /// As [`Host::find`](crate::Host::find).
    pub fn find(&self, tool: &str) -> Result<RegisteredTool> {
        self.home.block_on(self.host.find(tool))?
    }

    /// The tools that fit a few words. See [`Host::search`](crate::Host::search). Never waits.
    pub fn search(&self, query: &str, limit: usize) -> Vec<FoundTool> {
        self.host.search(query, limit)
    }

    /// Starts every toolbox and waits for each. See [`Host::settled`](crate::Host::settled).
    ///
    /// # Errors
    ///
    /// As [`Host::settled`](crate::Host::settled).
    pub fn settled(&self) -> Result<()> {
        self.home.block_on(self.host.settled())?
    }

    /// Lists all tools again. See [`Host::refresh`](crate::Host::refresh).
    ///
    /// # Errors
    ///
    /// As [`Host::refresh`](crate::Host::refresh).
    pub fn refresh(&self) -> Result<()> {
        self.home.block_on(self.host.refresh())?
    }

    /// Takes over a changed config. See [`Host::reload`](crate::Host::reload).
    ///
    /// # Errors
    ///
    /// As [`Host::reload`](crate::Host::reload).
    pub fn reload(&self, config: Resolved) -> Result<()> {
        self.home.block_on(self.host.reload(config))?
    }

    /// What a person needs to find a fault. See [`Host::diagnose`](crate::Host::diagnose).
    ///
    /// # Errors
    ///
    /// As [`Host::diagnose`](crate::Host::diagnose).
    pub fn diagnose(&self, toolbox: &str) -> Result<Diagnosis> {
        self.home.block_on(self.host.diagnose(toolbox))?
    }

    /// What a model is given of an observation, within `limits.output_chars`.
    pub fn to_llm_content(&self, observation: &Observation) -> Vec<LlmContent> {
        self.host.to_llm_content(observation)
    }

    /// The answer to a model's call in the form of its API, within `limits.output_chars`.
    pub fn tool_result(&self, api: Api, call: Answered<'_>, observation: &Observation) -> Value {
        self.host.tool_result(api, call, observation)
    }

    /// The tools there are now in the form of an API, with the fields that the host asks a model for.
    /// See [`Host::project`](crate::Host::project).
    pub fn project(&self, form: &Form) -> Projection {
        self.host.project(form)
    }

    /// The same of some of the tools. See [`Host::project_some`](crate::Host::project_some).
    pub fn project_some(
        &self,
        form: &Form,
        is_wanted: &dyn Fn(&RegisteredTool) -> bool,
    ) -> Projection {
        self.host.project_some(form, is_wanted)
    }

    /// The `tools` field of an OpenAI Chat Completions request.
    pub fn to_openai(&self) -> Value {
        self.host.to_openai()
    }

    /// The `tools` field of an OpenAI Responses request.
    pub fn to_responses(&self) -> Value {
        self.host.to_responses()
    }

    /// The `tools` field of an Anthropic Messages request.
    pub fn to_anthropic(&self) -> Value {
        self.host.to_anthropic()
    }

    /// The `tools` field of a Gemini request.
    pub fn to_gemini(&self) -> Value {
        self.host.to_gemini()
    }

    /// The `tools` field of an MCP `tools/list` result.
    pub fn to_mcp(&self) -> Value {
        self.host.to_mcp()
    }

    /// The tools there are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.host.snapshot()
    }

    /// How each toolbox is now.
    pub fn status(&self) -> Vec<ToolboxStatus> {
        self.host.status()
    }

    /// Ends every toolbox and waits until nothing of them is left. See
    /// [`Host::close`](crate::Host::close).
    ///
    /// # Errors
    ///
    /// `usage` on a thread that runs asynchronous tasks.
    pub fn close(&self) -> Result<()> {
        self.home.block_on(self.host.close())
    }
}

impl Drop for Host {
    /// Closes. On a thread that may not wait, the servers are handed over and end by themselves. In a
    /// forked copy of the process they are the original's, and are left alone.
    fn drop(&mut self) {
        if self.home.is_here() {
            let _ = self.close();
        } else {
            // Kept for ever, so that nothing of it is dropped here.
            std::mem::forget(self.host.clone());
        }
    }
}
