//! How does a tool work that its caller executes, not the host?

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ToolExecutor;
use crate::annotations::ToolAnnotations;
use crate::call::ValidCall;
use crate::definition::ToolDefinition;
use crate::execute::{Context, Resources};
use crate::guard::outcome::{Outcome, Phase};
use crate::observation::Observation;
use crate::schema::Schema;
use crate::toolbox::ToolboxTool;
use crate::{BoxFuture, Error, ErrorKind, Result};

/// Most calls that wait to be taken by the client; one more is `overloaded`.
const QUEUE: usize = 256;

/// What a model is told of a call that the client took and dropped.
const UNANSWERED: &str = "the client that executes this tool gave no answer";

/// A tool that the client executes, as it declares it.
///
/// As JSON: `{"name", "description", "parameters", "annotations"}`; the last one may be missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientToolSpec {
    /// The tool's name.
    pub name: String,
    /// What it does, in words for a model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments, an object. A model is given it as it is.
    pub parameters: Value,
    /// Hints about effects; `None` when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

impl ClientToolSpec {
    /// A tool by this name that takes these parameters.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            annotations: None,
        }
    }

    /// Adds hints about effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }
}

/// The tools of one host that its client executes. Clones declare for the same client.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::Observation;
/// use toolspan_core::tool::{ClientToolSpec, ClientTools};
///
/// let (tools, calls) = ClientTools::new();
/// let tool = tools.declare(ClientToolSpec::new(
///     "ask_user",
///     "Asks the user a question",
///     json!({"type": "object", "properties": {"question": {"type": "string"}}}),
/// ))?;
/// # let _ = tool;
/// // The tool goes to a host. Wherever the client lives, it takes the calls and answers them:
/// let client = async move {
///     while let Some(call) = calls.next().await {
///         let question = call.arguments().get("question").cloned();
///         call.answer(Observation::text_of(format!("to {question:?}: yes")));
///     }
/// };
/// # let _ = client;
/// # Ok::<(), toolspan_core::Error>(())
/// ```
#[derive(Clone)]
pub struct ClientTools {
    shared: Arc<Shared>,
    timeout: Duration,
}

struct Shared {
    queue: mpsc::Sender<Handed>,
    declared: Mutex<HashMap<String, Declared>>,
    next: AtomicU64,
    /// How many executors were not closed.
    open: AtomicUsize,
    /// Cancelled when the client gets no more calls.
    closed: CancellationToken,
}

struct Declared {
    spec: ClientToolSpec,
    tool: ToolboxTool,
}

impl ClientTools {
    /// How long a client has for its answer, unless it is told otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(600);

    /// No tools yet, and where the client takes the calls from.
    pub fn new() -> (Self, ClientCalls) {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let closed = CancellationToken::new();
        let shared = Shared {
            queue,
            declared: Mutex::default(),
            next: AtomicU64::new(1),
            open: AtomicUsize::new(0),
            closed: closed.clone(),
        };
        let tools = Self {
            shared: Arc::new(shared),
            timeout: Self::TIMEOUT,
        };
        let waiting = tokio::sync::Mutex::new(waiting);
        (tools, ClientCalls { waiting, closed })
    }

    /// Sets how long the client has for the answers of the tools that are declared from now on,
    /// from the call to the answer. Default: [`Self::TIMEOUT`]. The caller's own timeout holds,
    /// too; the host's time limits do not, as a client may ask a person.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The tool that a client declares; the same one when it declares it again.
    ///
    /// # Errors
    ///
    /// `usage` when the name is blank or stands for another schema; `schema_rejected` when the
    /// parameters are no usable schema of an object.
    pub fn declare(&self, spec: ClientToolSpec) -> Result<ToolboxTool> {
        if spec.name.trim().is_empty() {
            return Err(usage("the name of a client's tool is blank"));
        }
        let mut declared = self
            .shared
            .declared
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = declared.get(&spec.name) {
            if known.spec == spec {
                return Ok(known.tool.clone());
            }
            if known.spec.parameters != spec.parameters {
                let message = "the client declared a tool of this name with another schema";
                return Err(usage(message)
                    .in_tool(&spec.name)
                    .with_hint("give one of them another name"));
            }
        }
        let known = declared.get(&spec.name).map(|known| &known.tool);
        let tool = self
            .tool(&spec, known)
            .map_err(|error| error.in_tool(&spec.name))?;
        let known = Declared {
            tool: tool.clone(),
            spec,
        };
        declared.insert(known.spec.name.clone(), known);
        Ok(tool)
    }

    /// The tool of a spec, with the executor that its name has already.
    fn tool(&self, spec: &ClientToolSpec, known: Option<&ToolboxTool>) -> Result<ToolboxTool> {
        let input = Schema::for_arguments(spec.parameters.clone())
            .and_then(|schema| schema.compile().map(|()| schema))
            .map_err(|rejected| {
                let message = format!("the parameters are no usable schema: {rejected}");
                Error::new(ErrorKind::SchemaRejected, Phase::Discover, message)
            })?;
        let mut definition = ToolDefinition::new(&spec.name, &spec.description, Arc::new(input));
        definition.annotations = spec.annotations.clone();
        let definition = Arc::new(definition);
        if let Some(known) = known {
            return Ok(ToolboxTool::new(definition, Arc::clone(&known.executor)));
        }
        self.shared.open.fetch_add(1, Ordering::AcqRel);
        let executor = ClientExecutor {
            shared: Arc::clone(&self.shared),
            timeout: self.timeout,
            closed: AtomicBool::new(false),
        };
        Ok(ToolboxTool::new(definition, Arc::new(executor)))
    }

    /// Gives the client no more calls. Its tools can be called no more.
    pub fn close(&self) {
        self.shared.closed.cancel();
    }
}

impl fmt::Debug for ClientTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClientTools")
    }
}

struct ClientExecutor {
    shared: Arc<Shared>,
    timeout: Duration,
    closed: AtomicBool,
}

/// A call on its way to the client: nobody's yet, the client's, or taken back by its caller.
#[derive(Default)]
struct Place(AtomicU8);

const QUEUED: u8 = 0;
const TAKEN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Place {
    /// Whether the call is the client's from now on: nobody took it or withdrew it before.
    fn take(&self) -> bool {
        self.claim(TAKEN)
    }

    fn claim(&self, by: u8) -> bool {
        let claimed = self
            .0
            .compare_exchange(QUEUED, by, Ordering::AcqRel, Ordering::Acquire);
        claimed.is_ok()
    }
}

/// Withdraws the call on drop, or says that it may be executed.
struct Waiting<'a> {
    place: Arc<Place>,
    context: &'a Context,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.place.claim(WITHDRAWN) {
            self.context.note_sent();
        }
    }
}

struct Handed {
    place: Arc<Place>,
    call: ClientCall,
}

impl ClientExecutor {
    async fn run(&self, call: &ValidCall, context: &Context) -> Result<Observation> {
        if self.closed.load(Ordering::Acquire) || self.shared.closed.is_cancelled() {
            return Err(gone());
        }
        let (answer, answered) = oneshot::channel();
        let place = Arc::new(Place::default());
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let handed = Handed {
            place: Arc::clone(&place),
            call: ClientCall {
                id: format!("client_{number}"),
                tool: call.exposed_name().to_owned(),
                arguments: call.arguments().clone(),
                answer,
            },
        };
        self.shared
            .queue
            .try_send(handed)
            .map_err(|failed| match failed {
                TrySendError::Full(_) => overloaded(),
                TrySendError::Closed(_) => gone(),
            })?;
        let waiting = Waiting { place, context };
        let ended = async {
            tokio::select! {
                biased;
                answer = answered => Some(answer),
                () = self.shared.closed.cancelled() => None,
            }
        };
        let ended = timeout(self.timeout, context.asking(ended)).await;
        // Only now is it known whether the client took it.
        drop(waiting);
        match ended {
            Ok(Some(Ok(observation))) => {
                context.note_outcome(Outcome::Answered);
                Ok(observation)
            }
            Ok(Some(Err(_))) if context.outcome() == Outcome::Unknown => {
                context.note_outcome(Outcome::Answered);
                Ok(Observation::error_of(UNANSWERED))
            }
            Ok(_) => Err(gone()
                .with_phase(context.phase())
                .with_outcome(context.outcome())),
            Err(_) => Err(self.timed_out(context)),
        }
    }

    fn timed_out(&self, context: &Context) -> Error {
        let after = self.timeout;
        let message = match context.outcome() {
            Outcome::NotSent => format!("no client took the call within {after:?}"),
            _ => format!("the client gave no answer within {after:?}"),
        };
        Error::new(ErrorKind::Timeout, context.phase(), message)
            .with_outcome(context.outcome())
            .with_hint("let the client answer earlier, or give its tools a longer timeout")
    }
}

impl ToolExecutor for ClientExecutor {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(self.run(call, context))
    }

    /// The client knows best which of its calls go together.
    fn resources(&self, _: &ValidCall) -> Resources {
        Resources::none()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        if !self.closed.swap(true, Ordering::AcqRel)
            && self.shared.open.fetch_sub(1, Ordering::AcqRel) == 1
        {
            self.shared.closed.cancel();
        }
        Box::pin(std::future::ready(()))
    }
}

/// The calls that wait for the client. Several threads or tasks may take them; each call is given
/// once. Dropped, it leaves the tools without a client.
pub struct ClientCalls {
    waiting: tokio::sync::Mutex<mpsc::Receiver<Handed>>,
    closed: CancellationToken,
}

impl ClientCalls {
    /// The next call, in the order in which they were made; waits for one. `None` when there will be
    /// no more: the tools were closed or dropped. A call whose caller went away is left out.
    /// Dropping the future loses no call.
    pub async fn next(&self) -> Option<ClientCall> {
        let next = async {
            let mut waiting = self.waiting.lock().await;
            loop {
                let handed = waiting.recv().await?;
                if handed.place.take() {
                    return Some(handed.call);
                }
            }
        };
        tokio::select! {
            biased;
            () = self.closed.cancelled() => None,
            call = next => call,
        }
    }

    /// A call that waits now, if there is one.
    pub fn try_next(&self) -> Option<ClientCall> {
        let mut waiting = self.waiting.try_lock().ok()?;
        loop {
            let handed = waiting.try_recv().ok()?;
            if !self.closed.is_cancelled() && handed.place.take() {
                return Some(handed.call);
            }
        }
    }
}

impl fmt::Debug for ClientCalls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClientCalls")
    }
}

/// A call for the client to execute. Dropped without an answer, it ends as a failure that says so.
pub struct ClientCall {
    id: String,
    tool: String,
    arguments: Map<String, Value>,
    answer: oneshot::Sender<Observation>,
}

impl ClientCall {
    /// What tells this call from every other one of the host's client.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool's exposed name.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments, which match the schema.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// Gives the call its result. Gives whether somebody waited for it still.
    pub fn answer(self, observation: Observation) -> bool {
        self.answer.send(observation).is_ok()
    }

    /// Whether nobody waits for the answer any more: the call was cancelled, or took too long.
    pub fn is_over(&self) -> bool {
        self.answer.is_closed()
    }

    /// Waits until nobody waits for the answer any more.
    pub async fn over(&mut self) {
        self.answer.closed().await;
    }
}

/// Without the arguments, which may hold secrets.
impl fmt::Debug for ClientCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientCall")
            .field("id", &self.id)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

fn usage(message: &str) -> Error {
    Error::new(ErrorKind::Usage, Phase::Config, message)
}

fn overloaded() -> Error {
    let message = format!("{QUEUE} calls wait for the client already");
    Error::new(ErrorKind::Overloaded, Phase::Send, message)
        .with_hint("let the client take its calls, or send fewer at once")
}

fn gone() -> Error {
    let message = "there is no client any more that executes this tool";
    Error::new(ErrorKind::Closed, Phase::Send, message)
}
