//! The tools of one MCP server as a toolbox of the house.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, Weak};

use serde_json::value::RawValue;
use tokio::time::Instant;
use toolspan_core::execute::Resources;
use toolspan_core::guard::secret::names_a_secret;
use toolspan_core::guard::{Limits, Redactor, Timeouts};
use toolspan_core::schema::SchemaLimits;
use toolspan_core::services::NoServices;
use toolspan_core::toolbox::{Diagnosis, Discovery, Step, ToolBox, ToolBoxState, ToolboxTool};
use toolspan_core::{
    BoxFuture, Context, Error, ErrorKind, Observation, Outcome, Phase, Result, Services,
    ToolExecutor, ValidCall,
};

use crate::connection::Connection;
use crate::dialect::Call;
use crate::masking::masked;
use crate::supervisor::Supervisor;
use crate::transport::Transport;
use crate::wire::tools::Page;
use crate::{content, error};

/// What is known of a server before it is started.
#[non_exhaustive]
pub struct McpServer {
    /// The toolbox's key as the config writes it.
    pub key: Arc<str>,
    /// Where the server is.
    pub transport: Transport,
    /// What is taken from it.
    pub limits: Limits,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// What must not appear in errors, logs and diagnoses.
    pub redactor: Redactor,
    /// What must not appear in results, lists of tools and reports of progress either: credentials
    /// that it was given and may say back.
    pub credentials: Redactor,
    /// What the host does for it.
    pub services: Arc<dyn Services>,
}

impl McpServer {
    /// A server with default limits and a host that does nothing for it.
    pub fn new(key: impl Into<Arc<str>>, transport: Transport) -> Self {
        Self {
            key: key.into(),
            transport,
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            redactor: Redactor::default(),
            credentials: Redactor::default(),
            services: Arc::new(NoServices),
        }
    }

    /// Sets what is taken from it and how long it may take.
    #[must_use]
    pub fn with_bounds(mut self, limits: Limits, timeouts: Timeouts) -> Self {
        (self.limits, self.timeouts) = (limits, timeouts);
        self
    }

    /// Sets what must not appear in errors, logs and diagnoses.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Sets what must not appear in results, lists of tools and reports of progress.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Redactor) -> Self {
        self.credentials = credentials;
        self
    }

    /// Sets what the host does for it.
    #[must_use]
    pub fn with_services(mut self, services: Arc<dyn Services>) -> Self {
        self.services = services;
        self
    }
}

/// One MCP server. It is started by the first discovery or call, and again when it has died; it
/// ends when this is closed or dropped, with all it started.
pub struct McpToolBox {
    supervisor: Arc<Supervisor>,
    /// Why the last listing was not whole. Held to read or write only.
    incomplete: Mutex<Option<Error>>,
}

impl McpToolBox {
    /// A toolbox over a server that is not started yet.
    pub fn new(server: McpServer) -> Self {
        Self {
            supervisor: Supervisor::new(server),
            incomplete: Mutex::new(None),
        }
    }

    /// The process of the server, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.supervisor.pid()
    }

    /// How many requests wait for the server.
    pub fn waiting(&self) -> usize {
        self.supervisor.waiting()
    }

    /// Lists the tools, and once more on a new start where the server turns out to have died since
    /// it was last asked: a listing changes nothing, so it may be asked for twice.
    async fn list(&self) -> Result<Discovery> {
        let ready = self.supervisor.ready().await?;
        match self.list_over(&ready.connection).await {
            Err(error) if error.kind() == ErrorKind::Closed && ready.was_dead() => {}
            listed => return listed,
        }
        let ready = self.supervisor.ready().await?;
        self.list_over(&ready.connection).await
    }

    async fn list_over(&self, connection: &Arc<Connection>) -> Result<Discovery> {
        self.supervisor.note_listed();
        let began = Instant::now();
        let limit = self.supervisor.server.timeouts.list;
        let listing = Listing::new(&self.supervisor);
        let listed = match tokio::time::timeout(limit, listing.read(connection)).await {
            Ok(listed) => listed,
            Err(_) => Err(error::timeout(
                Phase::Discover,
                "the server did not list its tools",
                limit,
                "timeouts.list",
            )),
        };
        let listed = listed.map_err(|error| {
            let error = self.supervisor.placed(error);
            self.supervisor.note_error(connection, &error);
            error
                .with_phase(Phase::Discover)
                .with_outcome(Outcome::NotSent)
        });
        if listed.is_ok() {
            self.supervisor.note_answer();
        }
        let said = listed.as_ref().map(summary).map_err(Error::clone);
        self.supervisor.note_step(Step::new(
            "list the tools (tools/list)",
            began.elapsed(),
            said,
        ));
        let incomplete = listed
            .as_ref()
            .ok()
            .and_then(|listed| listed.incomplete.clone());
        *self
            .incomplete
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = incomplete.map(|why| {
            self.supervisor
                .placed(Error::new(ErrorKind::Protocol, Phase::Discover, why))
        });
        listed
    }
}

impl ToolBox for McpToolBox {
    fn kind(&self) -> &str {
        self.supervisor.kind()
    }

    fn discover(&self) -> BoxFuture<'_, Result<Discovery>> {
        Box::pin(self.list())
    }

    fn state(&self) -> ToolBoxState {
        let state = self.supervisor.toolbox_state();
        let incomplete = self
            .incomplete
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match (state, &*incomplete) {
            (ToolBoxState::Ready, Some(why)) => ToolBoxState::Degraded(why.clone()),
            (state, _) => state,
        }
    }

    fn diagnosis(&self) -> Diagnosis {
        self.supervisor.diagnosis()
    }

    fn probe(&self) -> BoxFuture<'_, Vec<Step>> {
        Box::pin(self.supervisor.probe())
    }

    fn ends_calls(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.supervisor.close())
    }
}

impl Drop for McpToolBox {
    /// Ends the server without waiting; calls that still wait end as `closed`. Needs no runtime.
    fn drop(&mut self) {
        drop(self.supervisor.begin_close());
    }
}

fn summary(discovery: &Discovery) -> String {
    let count = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    let mut words = count(discovery.tools.len(), "tool");
    if !discovery.broken.is_empty() {
        words = format!("{words}, {} broken", discovery.broken.len());
    }
    match &discovery.incomplete {
        Some(why) => format!("{words}; {why}"),
        None => words,
    }
}

/// One listing under way.
struct Listing<'a> {
    supervisor: &'a Arc<Supervisor>,
    schema_limits: SchemaLimits,
    discovery: Discovery,
}

impl<'a> Listing<'a> {
    fn new(supervisor: &'a Arc<Supervisor>) -> Self {
        let schema_limits = SchemaLimits::of_host(&supervisor.server.limits);
        Self {
            supervisor,
            schema_limits,
            discovery: Discovery::default(),
        }
    }

    /// Reads page after page, within `limits.pages` and `limits.tools`; a cursor that comes again
    /// ends the list. What was read before a limit is kept.
    async fn read(mut self, connection: &Connection) -> Result<Discovery> {
        let limits = &self.supervisor.server.limits;
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..limits.pages.max(1) {
            let result = match connection.list_tools(cursor.as_deref()).await {
                // A server without tools may not know the method (JSON-RPC 2.0: -32601).
                Err(error) if error.code() == Some(-32601) => return Ok(self.discovery),
                result => result?,
            };
            let result = masked(&self.supervisor.server.credentials, result);
            let read = self.discovery.tools.len() + self.discovery.broken.len();
            let page = Page::parse(&result, read, &self.schema_limits).map_err(error::protocol)?;
            if !self.take(page.tools, limits.tools) {
                let why = format!("the list is longer than limits.tools ({})", limits.tools);
                return Ok(self.stopped(why));
            }
            if let Some(why) = page.bad_cursor {
                return Ok(self.stopped(format!("the list does not go on: {why}")));
            }
            match page.next_cursor {
                None => return Ok(self.discovery),
                Some(next) if seen.insert(next.clone()) => cursor = Some(next),
                Some(_) => {
                    return Ok(self.stopped("the list does not go on: a cursor came twice".into()));
                }
            }
        }
        let why = format!(
            "the list has more pages than limits.pages ({})",
            limits.pages
        );
        Ok(self.stopped(why))
    }

    /// Takes over a page's tools, up to `most` of them. Gives false when there are more.
    fn take(
        &mut self,
        tools: Vec<std::result::Result<toolspan_core::ToolDefinition, toolspan_core::BrokenTool>>,
        most: usize,
    ) -> bool {
        for tool in tools {
            if self.discovery.tools.len() + self.discovery.broken.len() >= most {
                return false;
            }
            match tool {
                Ok(definition) => {
                    let executor = McpTool {
                        supervisor: Arc::downgrade(self.supervisor),
                    };
                    let tool = ToolboxTool::new(Arc::new(definition), Arc::new(executor));
                    self.discovery.tools.push(tool);
                }
                Err(broken) => self.discovery.broken.push(broken),
            }
        }
        true
    }

    fn stopped(mut self, why: String) -> Discovery {
        self.discovery.incomplete = Some(why);
        self.discovery
    }
}

/// Calls one tool of a server. Does not keep the server alive: its toolbox does.
struct McpTool {
    supervisor: Weak<Supervisor>,
}

impl McpTool {
    /// Calls the tool, and once more on a new start where the server turns out to have died before
    /// one byte of the call was sent.
    async fn run(&self, call: &ValidCall, context: &Context) -> Result<Observation> {
        let Some(supervisor) = self.supervisor.upgrade() else {
            return Err(error::closed("the toolbox was dropped").with_outcome(Outcome::NotSent));
        };
        let wire_call = Call {
            name: &call.definition().name,
            arguments: call.arguments_text(),
            meta: context.meta(),
        };
        let ready = supervisor.ready().await?;
        let result = match result_of(&supervisor, &ready.connection, &wire_call, context).await {
            Err(error) if error.outcome() == Outcome::NotSent && ready.was_dead() => {
                let ready = supervisor.ready().await?;
                result_of(&supervisor, &ready.connection, &wire_call, context).await?
            }
            result => result?,
        };
        context.note_outcome(Outcome::Answered);
        supervisor.note_success();
        let credentials = &supervisor.server.credentials;
        let result = masked(&of_call(context), masked(credentials, result));
        content::observation(&result)
    }
}

/// What the server answers to a call over this connection.
async fn result_of(
    supervisor: &Supervisor,
    connection: &Arc<Connection>,
    call: &Call<'_>,
    context: &Context,
) -> Result<Box<RawValue>> {
    let result = connection.call(call, Some(context)).await;
    result.map_err(|error| {
        let error = without_headers(supervisor.placed(error), context);
        supervisor.note_error(connection, &error);
        error
    })
}

/// The credentials among the headers that the caller wanted for the call.
fn of_call(context: &Context) -> Redactor {
    let headers = context.headers().iter();
    let credentials = headers.filter(|(name, _)| names_a_secret(name));
    Redactor::new(credentials.map(|(_, value)| value.reveal()))
}

/// An error without the headers that the caller wanted for the call, which are secrets.
fn without_headers(error: Error, context: &Context) -> Error {
    let values = context.headers().iter().map(|(_, value)| value.reveal());
    error.redacted(&Redactor::new(values))
}

impl ToolExecutor for McpTool {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(self.run(call, context))
    }

    /// A server keeps its own calls apart where they must be; how many it gets at once is bounded by
    /// `limits.max_in_flight`.
    fn resources(&self, _: &ValidCall) -> Resources {
        Resources::none()
    }
}
