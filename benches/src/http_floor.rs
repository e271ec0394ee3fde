//! What is the least a call over HTTP can cost: the same bytes by reqwest alone, no client of MCP.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::runtime::Runtime;

use crate::failure::Failure;
use crate::measure::{Client, one_by_one, one_by_one_async};
use crate::runtime::{self, RuntimeThread};
use crate::server::{self, HttpServer};

/// One connection that is kept alive, and the request that goes over it again and again.
#[derive(Clone)]
struct Post {
    client: reqwest::Client,
    /// Parsed once, as a client does that calls one server.
    url: reqwest::Url,
    headers: HeaderMap,
    body: Vec<u8>,
    reply: Vec<u8>,
}

impl Post {
    #[expect(
        clippy::disallowed_methods,
        reason = "the floor is what is there without any part of ours"
    )]
    fn to(url: &str) -> Result<Self, Failure> {
        let headers = [
            (ACCEPT, "application/json, text/event-stream"),
            (CONTENT_TYPE, "application/json"),
        ];
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        let text = |bytes: Vec<u8>| bytes.trim_ascii_end().to_vec();
        Ok(Self {
            client: reqwest::Client::builder().no_proxy().build()?,
            url: reqwest::Url::parse(url).map_err(std::io::Error::other)?,
            headers: headers.into_iter().collect(),
            body: text(server::frame()),
            reply: text(server::reply()),
        })
    }
}

impl Client for Post {
    async fn call(&self) -> Result<(), Failure> {
        let request = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone());
        let response = request.body(self.body.clone()).send().await?;
        let reply = response.bytes().await?;
        if reply == self.reply {
            return Ok(());
        }
        Err(Failure::WrongReply {
            who: "the floor",
            reply: String::from_utf8_lossy(&reply).into_owned(),
        })
    }
}

/// Called from a task.
pub(crate) struct AsyncPost {
    post: Post,
    runtime: Runtime,
    _server: HttpServer,
}

impl AsyncPost {
    /// Starts a server.
    pub(crate) fn start() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        Ok(Self {
            post: Post::to(server.url())?,
            runtime: runtime::here()?,
            _server: server,
        })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one_async(&self.runtime, &self.post, calls)
    }
}

/// Called from a thread, beside the thread of the client's runtime.
pub(crate) struct BlockingPost {
    post: Post,
    runtime: RuntimeThread,
    _server: HttpServer,
}

impl BlockingPost {
    /// Starts a server.
    pub(crate) fn start() -> Result<Self, Failure> {
        let server = HttpServer::start()?;
        Ok(Self {
            post: Post::to(server.url())?,
            runtime: RuntimeThread::start()?,
            _server: server,
        })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one(calls, || self.runtime.block_on(self.post.call()))
    }
}
