//! What does the official Rust client cost, from its registry and unmodified?

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{Peer, RoleClient, ServiceExt};
use tokio::runtime::Runtime;

use crate::failure::Failure;
use crate::measure::{Client, Effort, in_flight, one_by_one, one_by_one_async};
use crate::runtime::{self, RuntimeThread};
use crate::server::{self, HttpServer};

#[expect(
    clippy::disallowed_types,
    reason = "the peer starts its server its own way"
)]
async fn start() -> Result<RunningService<RoleClient, ()>, Failure> {
    let mut command = tokio::process::Command::new(server::program()?);
    command.arg(server::SERVE);
    let transport = TokioChildProcess::new(command)?;
    Ok(().serve(transport).await.map_err(Box::new)?)
}

/// Its client over HTTP as it comes.
async fn start_http(url: &str) -> Result<RunningService<RoleClient, ()>, Failure> {
    let transport = StreamableHttpClientTransport::from_uri(url);
    Ok(().serve(transport).await.map_err(Box::new)?)
}

fn check(result: &CallToolResult) -> Result<(), Failure> {
    let text = match result.content.as_slice() {
        [only] => only.as_text().map(|text| text.text.as_str()),
        _ => None,
    };
    if text == Some(server::ANSWER) && result.is_error == Some(false) {
        return Ok(());
    }
    Err(Failure::WrongReply {
        who: "rmcp",
        reply: format!("{result:?}"),
    })
}

impl Client for Peer<RoleClient> {
    async fn call(&self) -> Result<(), Failure> {
        let call = CallToolRequestParams::new(server::TOOL)
            .with_arguments(server::ARGUMENTS_VALUE.clone());
        check(&self.call_tool(call).await?)
    }
}

/// Called from a task.
pub(crate) struct AsyncRmcp {
    /// There until it is dropped.
    service: Option<RunningService<RoleClient, ()>>,
    peer: Peer<RoleClient>,
    runtime: Runtime,
    /// Dropped after the client.
    _server: Option<HttpServer>,
}

impl AsyncRmcp {
    /// Starts a server and shakes hands.
    pub(crate) fn start() -> Result<Self, Failure> {
        let runtime = runtime::here()?;
        let service = runtime.block_on(start())?;
        Ok(Self {
            peer: service.peer().clone(),
            service: Some(service),
            runtime,
            _server: None,
        })
    }

    /// Starts a server over HTTP and shakes hands.
    pub(crate) fn start_http() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        let runtime = runtime::here()?;
        let service = runtime.block_on(start_http(server.url()))?;
        Ok(Self {
            peer: service.peer().clone(),
            service: Some(service),
            runtime,
            _server: Some(server),
        })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one_async(&self.runtime, &self.peer, calls)
    }

    pub(crate) fn in_flight(&self, effort: Effort) -> Result<f64, Failure> {
        in_flight(&self.runtime, &self.peer, effort)
    }
}

impl Drop for AsyncRmcp {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            let _ = self.runtime.block_on(service.cancel());
        }
    }
}

/// Called from a thread, beside the thread of the client's runtime.
pub(crate) struct BlockingRmcp {
    /// There until it is dropped.
    service: Option<RunningService<RoleClient, ()>>,
    peer: Peer<RoleClient>,
    runtime: RuntimeThread,
    /// Dropped after the client.
    _server: Option<HttpServer>,
}

impl BlockingRmcp {
    /// Starts a server and shakes hands.
    pub(crate) fn start() -> Result<Self, Failure> {
        let runtime = RuntimeThread::start()?;
        let service = runtime.block_on(start())?;
        Ok(Self {
            peer: service.peer().clone(),
            service: Some(service),
            runtime,
            _server: None,
        })
    }

    /// Starts a server over HTTP and shakes hands.
    pub(crate) fn start_http() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        let runtime = RuntimeThread::start()?;
        let service = runtime.block_on(start_http(server.url()))?;
        Ok(Self {
            peer: service.peer().clone(),
            service: Some(service),
            runtime,
            _server: Some(server),
        })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one(calls, || self.runtime.block_on(self.peer.call()))
    }
}

impl Drop for BlockingRmcp {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            let _ = self.runtime.block_on(service.cancel());
        }
    }
}
