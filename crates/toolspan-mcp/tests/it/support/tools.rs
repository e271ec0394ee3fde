//! A toolbox and the tools it last listed, called the way a host calls them.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolspan_core::execute::{self, CallOptions, Context, Gate, Gates};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::registry::{Snapshot, Source};
use toolspan_core::services::Event;
use toolspan_core::{CallRequest, Discovery, Error, Observation, Result, Services, ToolBox};
use toolspan_mcp::{McpServer, McpToolBox, Transport};

/// The key of the toolbox under test.
pub(crate) const KEY: &str = "peer";

/// What a toolbox told its host, in order.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<Vec<Event>>);

impl Heard {
    /// How many events this picks.
    pub(crate) fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|event| wanted(event))
            .count()
    }

    /// The names of the states it came to.
    pub(crate) fn states(&self) -> Vec<&'static str> {
        let events = self.0.lock().unwrap();
        let state = |event: &Event| match event {
            Event::State(state) => Some(state.as_str()),
            _ => None,
        };
        events.iter().filter_map(state).collect()
    }

    /// The texts that it logged.
    pub(crate) fn logged(&self) -> Vec<String> {
        let events = self.0.lock().unwrap();
        let text = |event: &Event| match event {
            Event::Log { text, .. } => Some(text.clone()),
            _ => None,
        };
        events.iter().filter_map(text).collect()
    }
}

impl Services for Heard {
    fn event(&self, _toolbox: &str, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A toolbox, its host's bounds, and the tools of its last listing.
pub(crate) struct Tools {
    pub(crate) toolbox: Arc<McpToolBox>,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) heard: Arc<Heard>,
    snapshot: Mutex<Arc<Snapshot>>,
    place: Gate,
    host: Gate,
}

impl Tools {
    /// A toolbox over a server that is not started.
    pub(crate) fn new(transport: Transport, limits: Limits, timeouts: Timeouts) -> Self {
        Self::of(McpServer::new(KEY, transport).with_bounds(limits, timeouts))
    }

    /// A toolbox over this server, with a host that listens.
    pub(crate) fn of(server: McpServer) -> Self {
        let heard = Arc::<Heard>::default();
        let (limits, timeouts) = (server.limits.clone(), server.timeouts.clone());
        let server = server.with_services(Arc::clone(&heard) as Arc<dyn Services>);
        Self {
            toolbox: Arc::new(McpToolBox::new(server)),
            place: Gate::new(limits.max_in_flight, limits.queue, "limits.max_in_flight"),
            host: Gate::new(
                limits.in_flight_total,
                limits.queue,
                "limits.in_flight_total",
            ),
            limits,
            timeouts,
            heard,
            snapshot: Mutex::default(),
        }
    }

    /// Lists the tools and keeps them for calls.
    pub(crate) async fn discover(&self) -> Result<Discovery> {
        let discovery = self.toolbox.discover().await?;
        let source = Source {
            toolbox: KEY.into(),
            prefix: Some(String::new()),
            discovery: discovery.clone(),
        };
        *self.snapshot.lock().unwrap() = Arc::new(Snapshot::new(vec![source]));
        Ok(discovery)
    }

    /// The tools of the last listing.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.lock().unwrap())
    }

    /// Calls a tool, as a host does.
    pub(crate) async fn run(
        &self,
        tool: &str,
        arguments: Value,
        options: CallOptions,
    ) -> Result<Observation> {
        let snapshot = self.snapshot();
        let tool = snapshot.resolve(tool)?;
        let call = CallRequest::new(&*tool.name, arguments).validate(tool, &self.limits)?;
        let context = Context::new(options, &self.timeouts);
        let gates = Gates {
            toolbox: &self.place,
            host: &self.host,
        };
        execute::run(tool, &call, &context, gates)
            .await
            .map(|observation| *observation)
    }

    /// Calls the tool `echo` with a text.
    pub(crate) async fn echo_with(&self, text: &str, options: CallOptions) -> Result<Observation> {
        self.run("echo", json!({"text": text}), options).await
    }

    /// Calls the tool `echo` with a text, and gives the text that came back.
    pub(crate) async fn echo(&self, text: &str) -> Result<String> {
        let observation = self.echo_with(text, CallOptions::default()).await?;
        Ok(observation.text())
    }

    /// Calls within a time limit of the caller.
    pub(crate) async fn echo_within(&self, text: &str, limit: Duration) -> Result<String> {
        let options = CallOptions::default().with_timeout(limit);
        let observation = self.echo_with(text, options).await?;
        Ok(observation.text())
    }

    /// What `doctor` would show of skipped lines and ignored replies.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.toolbox.diagnosis().notes
    }
}

/// Everything of an error that a person may see, one part a line.
pub(crate) fn told(error: &Error) -> String {
    let mut told = format!(
        "{} in {}, {}\nmessage: {error}\n",
        error.kind(),
        error.phase(),
        error.outcome()
    );
    let parts = [
        ("toolbox", error.toolbox().map(str::to_owned)),
        ("tool", error.tool().map(str::to_owned)),
        ("code", error.code().map(|code| code.to_string())),
        ("hint", error.hint().map(str::to_owned)),
        ("stderr", error.stderr().map(str::to_owned)),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            writeln!(told, "{name}: {}", part.trim_end()).unwrap();
        }
    }
    told
}
