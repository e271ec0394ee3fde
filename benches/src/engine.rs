//! What does our engine cost alone: no schema, no gate, no deadline?

use std::sync::Arc;

use tokio::runtime::Runtime;
use toolspan::blocking::bench::Waiting;
use toolspan_io::http::{HttpClient, HttpSettings};
use toolspan_mcp::Transport;
use toolspan_mcp::transport::{RemoteKind, RemoteServer};
use url::Url;

use crate::failure::Failure;
use crate::measure::{Client, Effort, in_flight, one_by_one, one_by_one_async};
use crate::runtime;
use crate::server::{self, HttpServer};

/// The engine, connected.
#[derive(Clone)]
struct Engine {
    engine: Arc<toolspan_mcp::bench::Engine>,
    /// There where the engine did not start its server; ends after it.
    _server: Option<Arc<HttpServer>>,
}

impl Engine {
    async fn start() -> Result<Self, Failure> {
        let transport = Transport::Stdio(server::launch()?);
        let engine = toolspan_mcp::bench::Engine::start(&transport).await?;
        Ok(Self {
            engine: Arc::new(engine),
            _server: None,
        })
    }

    async fn start_http() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        let url = Url::parse(server.url()).map_err(std::io::Error::other)?;
        let client = HttpClient::new(HttpSettings::new(url.clone()));
        let client = client.map_err(std::io::Error::other)?;
        let remote = RemoteServer::new(url, client).with_kind(RemoteKind::StreamableHttp);
        let transport = Transport::Remote(Arc::new(remote));
        let engine = toolspan_mcp::bench::Engine::start(&transport).await?;
        Ok(Self {
            engine: Arc::new(engine),
            _server: Some(Arc::new(server)),
        })
    }
}

impl Client for Engine {
    async fn call(&self) -> Result<(), Failure> {
        let result = self.engine.call(server::TOOL, server::ARGUMENTS).await?;
        check(result.get())
    }
}

/// The engine leaves results as text: the whole text is known.
fn check(result: &str) -> Result<(), Failure> {
    const WANTED: &str = r#"{"content":[{"type":"text","text":"ok"}],"isError":false}"#;
    if result == WANTED {
        return Ok(());
    }
    Err(Failure::WrongReply {
        who: "the engine",
        reply: result.to_owned(),
    })
}

/// Called from a task.
pub(crate) struct AsyncEngine {
    engine: Engine,
    runtime: Runtime,
}

impl AsyncEngine {
    /// Starts a server and shakes hands.
    pub(crate) fn start() -> Result<Self, Failure> {
        let runtime = runtime::here()?;
        let engine = runtime.block_on(Engine::start())?;
        Ok(Self { engine, runtime })
    }

    /// Starts a server over HTTP and shakes hands.
    pub(crate) fn start_http() -> Result<Self, Failure> {
        let runtime = runtime::here()?;
        let engine = runtime.block_on(Engine::start_http())?;
        Ok(Self { engine, runtime })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one_async(&self.runtime, &self.engine, calls)
    }

    pub(crate) fn in_flight(&self, effort: Effort) -> Result<f64, Failure> {
        in_flight(&self.runtime, &self.engine, effort)
    }
}

/// Called from a thread that waits as callers of the blocking host wait.
pub(crate) struct BlockingEngine {
    engine: Engine,
    waiting: Waiting,
}

impl BlockingEngine {
    /// Starts a server and shakes hands.
    pub(crate) fn start() -> Result<Self, Failure> {
        let waiting = Waiting::begin()?;
        let engine = waiting.block_on(Engine::start())??;
        Ok(Self { engine, waiting })
    }

    /// Starts a server over HTTP and shakes hands.
    pub(crate) fn start_http() -> Result<Self, Failure> {
        let waiting = Waiting::begin()?;
        let engine = waiting.block_on(Engine::start_http())??;
        Ok(Self { engine, waiting })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one(calls, || self.waiting.block_on(self.engine.call())?)
    }
}
