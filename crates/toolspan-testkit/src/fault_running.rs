//! How does a test reach a misbehaving server over HTTP?

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::fault::Fault;
use crate::wait::{wait_until, wait_until_async};

/// A misbehaving server that listens on 127.0.0.1. Dropping it ends it and gives its port back.
///
/// ```no_run
/// use toolspan_testkit::Fault;
///
/// let server = Fault::named("session_lost_once").over_http();
/// // call a tool at server.url(), then:
/// let initialized = server.recorded().iter().filter(|it| it["method"] == "initialize").count();
/// assert_eq!(initialized, 2);
/// ```
#[derive(Debug)]
pub struct RunningFault {
    url: String,
    child: Child,
    /// Held open: its end would end the server.
    _input: ChildStdin,
    messages: PathBuf,
    requests: PathBuf,
    errors: PathBuf,
    /// Deleted when dropped, after the server has ended.
    _folder: TempDir,
}

impl RunningFault {
    /// Starts the program and waits for its URL. Panics, with what it wrote, where there is none.
    pub(crate) fn start(fault: Fault, option: &str) -> Self {
        let folder = tempfile::tempdir().expect("a writable folder for temporary files");
        let path = |name: &str| folder.path().join(name);
        let (messages, requests, errors) = (path("messages"), path("requests"), path("errors"));
        let mut command = fault.recording(&messages).command();
        if !option.is_empty() {
            command.arg(option);
        }
        command.arg("--record-http").arg(&requests);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(File::create(&errors).expect("a file in a new folder"));
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("readable");
        let url = serde_json::from_str::<Value>(&line).ok();
        let url = url.and_then(|it| Some(it["url"].as_str()?.to_owned()));
        let input = child.stdin.take().expect("piped");
        let mut running = Self {
            url: String::new(),
            child,
            _input: input,
            messages,
            requests,
            errors,
            _folder: folder,
        };
        running.url = url.unwrap_or_else(|| panic!("the server gave no URL: {}", running.errors()));
        running
    }

    /// Where clients reach it: `http://127.0.0.1:PORT/mcp`, or `/sse`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// As an entry of `mcpServers` in a config file: `url`, and `type` over HTTP+SSE.
    #[must_use]
    pub fn config_entry(&self) -> Value {
        if self.url.ends_with("/sse") {
            serde_json::json!({"type": "sse", "url": self.url})
        } else {
            serde_json::json!({"url": self.url})
        }
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Every message that came, in order; also those it answered with an error.
    #[must_use]
    pub fn recorded(&self) -> Vec<Value> {
        lines(&self.messages)
    }

    /// Every HTTP request that came, in order: `{"method", "path", "port", "headers", "body"}`. The
    /// path has its query, `port` is `main` or `other` (the second port, to which only redirects and
    /// endpoints point), headers are an object with names in small letters, `body` is its size.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        lines(&self.requests)
    }

    /// How many messages with this method came.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        let recorded = self.recorded();
        recorded.iter().filter(|it| it["method"] == method).count()
    }

    /// What it wrote to its error stream.
    #[must_use]
    pub fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Waits until the messages are as wanted. Panics, and shows them, when the time is over. Blocks
    /// the thread.
    #[track_caller]
    pub fn await_recorded(&self, within: Duration, what: &str, wanted: impl Fn(&[Value]) -> bool) {
        wait_until(within, what, || wanted(&self.recorded()));
    }

    /// As [`await_recorded`](Self::await_recorded), but looks at the requests, and other tasks go on
    /// meanwhile.
    pub async fn requested(&self, within: Duration, what: &str, wanted: impl Fn(&[Value]) -> bool) {
        wait_until_async(within, what, || wanted(&self.requests())).await;
    }

    /// Whether its process still runs; one that has ended is reaped.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it at once, as a crash would; its connections end with it.
    pub fn kill(&mut self) {
        // It may have ended already; either way it is reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for RunningFault {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The whole lines of a file, which may not be there yet.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |line| serde_json::from_str(line).expect("each line is JSON");
    whole.lines().map(parse).collect()
}
