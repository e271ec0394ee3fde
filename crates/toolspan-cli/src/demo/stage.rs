//! How is the demo shown? Each call with its answer, indented; with `--json` one line at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolspan::guard::sanitise;
use toolspan::{CallOptions, Content, Error, Host, Observation, RegisteredTool, Result, Snapshot};

use crate::output::tools;
use crate::output::{Output, Style, json as json_output};

/// A call that the demo makes.
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

impl From<(&'static str, Value)> for Call {
    fn from((tool, arguments): (&'static str, Value)) -> Self {
        Self { tool, arguments }
    }
}

impl Call {
    /// Makes it.
    pub(crate) async fn run(&self, host: &Host, options: CallOptions) -> Result<Observation> {
        host.call_with(self.tool, self.arguments.clone(), options)
            .await
    }
}

/// Where the demo is shown.
pub(crate) struct Stage {
    output: Arc<Output>,
    cancel: CancellationToken,
    calls: AtomicUsize,
}

impl Stage {
    /// A stage; the token cancels the calls shown on it.
    pub(crate) fn new(output: Arc<Output>, cancel: CancellationToken) -> Self {
        Self {
            output,
            cancel,
            calls: AtomicUsize::new(0),
        }
    }

    /// The options of a call.
    pub(crate) fn options(&self) -> CallOptions {
        CallOptions::default().with_cancel(self.cancel.clone())
    }

    fn line(&self, text: &str) {
        if !self.output.json {
            self.output.line(text);
        }
    }

    /// Begins a part.
    pub(crate) fn heading(&self, text: &str) {
        self.line(&self.output.paint(Style::Strong, text));
    }

    /// Sums up.
    pub(crate) fn remark(&self, text: &str) {
        self.line(&format!("  {}\n", self.output.paint(Style::Good, text)));
    }

    /// Shows the tools.
    pub(crate) fn tools(&self, snapshot: &Snapshot) {
        let all: Vec<&RegisteredTool> = snapshot.tools().iter().collect();
        let columns = self
            .output
            .columns()
            .map(|columns| columns.saturating_sub(2));
        for line in tools::table(&all).lines(columns, self.output.has_colour()) {
            self.line(&format!("  {line}"));
        }
        self.line("");
    }

    fn call(&self, call: &Call, note: &str) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let note = self.output.paint(Style::Faint, note);
        let tool = self.output.paint(Style::Hint, call.tool);
        self.line(&format!("  {tool} {}  {note}", call.arguments));
    }

    /// Shows a call and its answer.
    pub(crate) fn answered(&self, call: &Call, observation: &Observation, took: Duration) {
        self.call(call, &shown(took));
        for block in &observation.content {
            let text = match block {
                Content::Text(text) => sanitise::one_line(&text.text, 200),
                block => format!("[{}]", block.summary()),
            };
            let text = match observation.is_error {
                true => self
                    .output
                    .paint(Style::Caution, &format!("the tool failed: {text}")),
                false => text,
            };
            self.line(&format!("    {text}"));
        }
        self.line("");
    }

    /// Shows a call that was refused, and why.
    pub(crate) fn refused(&self, call: &Call, error: &Error) {
        self.call(call, "not sent");
        let mut lines = error.message().lines();
        let first = lines.next().unwrap_or_default();
        let kind = self.output.paint(Style::Bad, error.kind().as_str());
        self.line(&format!("    {kind}: {}", sanitise::one_line(first, 300)));
        for line in lines {
            self.line(&format!("    {}", sanitise::one_line(line, 300)));
        }
        if let Some(hint) = error.hint() {
            let label = self.output.paint(Style::Hint, "hint:");
            self.line(&format!("    {label} {}", sanitise::one_line(hint, 300)));
        }
        self.line("");
    }

    /// Ends the demo; `at_once` is how many calls ran at once and how long they took together.
    pub(crate) fn finish(&self, tools: usize, at_once: (usize, Duration), took: Duration) {
        let calls = self.calls.load(Ordering::Relaxed);
        if self.output.json {
            self.output.json(&json!({
                "tools": tools,
                "calls": calls,
                "at_once": {"calls": at_once.0, "duration_ms": json_output::milliseconds(at_once.1)},
                "duration_ms": json_output::milliseconds(took),
            }));
            return;
        }
        self.remark(&format!("{tools} tools, {calls} calls, {}", shown(took)));
        self.line("Next, with a server of yours:");
        self.line("  toolspan --server \"uvx mcp-server-time\" tools");
        self.line("  toolspan --server \"uvx mcp-server-time\" call get_current_time timezone=UTC");
    }
}

/// A time for people.
pub(crate) fn shown(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1_000.0)
}
