//! What does a call through the host cost: name, schema, gate, deadline and observation?

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolspan::{Host, HostBuilder, Observation};

use crate::failure::Failure;
use crate::measure::{Client, Effort, in_flight, one_by_one, one_by_one_async};
use crate::runtime;
use crate::server::{self, HttpServer};

/// The tool's exposed name.
const TOOL: &str = "null__echo";

fn builder() -> Result<HostBuilder, Failure> {
    let program = server::program()?;
    let config = json!({"mcpServers": {"null": {
        "command": program.to_string_lossy(),
        "args": [server::SERVE],
    }}});
    Ok(Host::builder().config_value(config))
}

fn http_builder(server: &HttpServer) -> HostBuilder {
    let config = json!({"mcpServers": {"null": {"type": "http", "url": server.url()}}});
    Host::builder().config_value(config)
}

fn arguments() -> Value {
    Value::Object(server::ARGUMENTS_VALUE.clone())
}

fn check(observation: &Observation) -> Result<(), Failure> {
    let text = match observation.content.as_slice() {
        [only] => only.as_text(),
        _ => None,
    };
    if text == Some(server::ANSWER) && !observation.is_error {
        return Ok(());
    }
    Err(Failure::WrongReply {
        who: "the host",
        reply: observation.text(),
    })
}

impl Client for Host {
    async fn call(&self) -> Result<(), Failure> {
        check(&Host::call(self, TOOL, arguments()).await?)
    }
}

/// Called from a task.
pub(crate) struct AsyncHost {
    host: Host,
    runtime: Runtime,
    /// There where the host did not start its server; ends after it.
    _server: Option<HttpServer>,
}

impl AsyncHost {
    /// Starts a server and lists its tools.
    pub(crate) fn start() -> Result<Self, Failure> {
        let runtime = runtime::here()?;
        let host = runtime.block_on(builder()?.connect())?;
        Ok(Self {
            host,
            runtime,
            _server: None,
        })
    }

    /// Starts a server over HTTP and lists its tools.
    pub(crate) fn start_http() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        let runtime = runtime::here()?;
        let host = runtime.block_on(http_builder(&server).connect())?;
        Ok(Self {
            host,
            runtime,
            _server: Some(server),
        })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one_async(&self.runtime, &self.host, calls)
    }

    pub(crate) fn in_flight(&self, effort: Effort) -> Result<f64, Failure> {
        in_flight(&self.runtime, &self.host, effort)
    }
}

/// Called from a thread.
pub(crate) struct BlockingHost {
    host: toolspan::blocking::Host,
    /// There where the host did not start its server; ends after it.
    _server: Option<HttpServer>,
}

impl BlockingHost {
    /// Starts a server and lists its tools.
    pub(crate) fn start() -> Result<Self, Failure> {
        let host = toolspan::blocking::Host::connect_builder(builder()?)?;
        Ok(Self {
            host,
            _server: None,
        })
    }

    /// Starts a server over HTTP and lists its tools.
    pub(crate) fn start_http() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        let host = toolspan::blocking::Host::connect_builder(http_builder(&server))?;
        Ok(Self {
            host,
            _server: Some(server),
        })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one(calls, || check(&self.host.call(TOOL, arguments())?))
    }
}
