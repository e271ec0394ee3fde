//! How does the engine run a function of Python?
//!
//! The thread that brings results to loops hands it over to Python, which runs it on a thread or a
//! loop of its own; the engine waits for the answer as for that of a server.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use toolspan::execute::Resources;
use toolspan::schema::{Schema, SchemaRejected};
use toolspan::{
    BoxFuture, Context, Error, ErrorKind, Observation, Phase, Result, ToolAnnotations,
    ToolDefinition, ToolExecutor, ToolboxTool, ValidCall,
};

use super::context::{CallContext, ContextParts};
use super::job::{Answer, Job, Link, Running};
use super::kept::Kept;
use crate::convert::to_dict;
use crate::{awaitable, exit};

/// A function of Python, where the host is that it belongs to.
pub(crate) struct Parts {
    pub(crate) kept: Arc<Py<PyWeakrefReference>>,
    /// What calls of it must have for themselves; `None` where that was not declared.
    pub(crate) resources: Option<Vec<String>>,
    /// Whether it says for each call what that must have for itself; `resources` do not count then.
    pub(crate) declares: bool,
    /// Whether it holds what a close frees.
    pub(crate) closes: bool,
}

/// A tool that a function of Python is, from its definition as MCP writes it.
///
/// # Errors
///
/// `schema_rejected`; `usage` where the annotations are none.
pub(crate) fn native_tool(mut definition: Map<String, Value>, parts: Parts) -> Result<ToolboxTool> {
    let name = text(&mut definition, "name");
    let rejected = |rejected: SchemaRejected| {
        let message = format!("the tool's schema cannot be used: {rejected}");
        Error::new(ErrorKind::SchemaRejected, Phase::Discover, message).in_tool(&name)
    };
    let input = Schema::for_arguments(definition.remove("inputSchema")).map_err(rejected)?;
    let output = definition.remove("outputSchema").map(Schema::for_output);
    let description = text(&mut definition, "description");
    let mut made = ToolDefinition::new(name.clone(), description, Arc::new(input));
    made.output = output.transpose().map_err(rejected)?.map(Arc::new);
    if let Some(hints) = definition.remove("annotations") {
        made.annotations = Some(annotations(hints).map_err(|error| error.in_tool(&name))?);
    }
    if let Some(Value::String(title)) = definition.remove("title") {
        made.title = Some(title);
    }
    made.extra = definition;
    let executor = PythonTool { name, parts };
    Ok(ToolboxTool::new(Arc::new(made), Arc::new(executor)))
}

fn text(definition: &mut Map<String, Value>, member: &str) -> String {
    match definition.remove(member) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

fn annotations(hints: Value) -> Result<ToolAnnotations> {
    const KNOWN: [&str; 5] = [
        "title",
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ];
    let usage = |message: String| {
        Error::new(ErrorKind::Usage, Phase::Config, message)
            .with_hint(format!("annotations are {}", KNOWN.join(", ")))
    };
    let unknown = hints.as_object().into_iter().flat_map(Map::keys);
    if let Some(unknown) = unknown.into_iter().find(|it| !KNOWN.contains(&it.as_str())) {
        return Err(usage(format!("{unknown:?} is no annotation of a tool")));
    }
    serde_json::from_value(hints)
        .map_err(|error| usage(format!("the annotations cannot be used: {error}")))
}

/// Runs a function of Python.
struct PythonTool {
    name: String,
    parts: Parts,
}

/// What is done with the runner of a function, on the thread that runs no code of a program. It may
/// be gone.
type Ask = Box<dyn FnOnce(Python<'_>, Option<Py<PyAny>>) -> PyResult<()> + Send>;

impl PythonTool {
    fn ask(&self, ask: Ask) {
        let (name, kept) = (self.name.clone(), Arc::clone(&self.parts.kept));
        awaitable::ask(move |py| {
            let runner = kept.bind(py).upgrade();
            let runner = runner
                .and_then(|kept| kept.cast_into::<Kept>().ok())
                .and_then(|kept| kept.get().get(py, &name));
            ask(py, runner)
        });
    }

    async fn run(&self, call: &ValidCall, context: &Context) -> Answer {
        let (sender, mut answer) = oneshot::channel();
        let running = Running(Arc::new(Link::new(sender)));
        let link = Arc::clone(&running.0);
        let parts = ContextParts::of(call.exposed_name(), context);
        let reports = Arc::clone(&parts.reports);
        let arguments = call.arguments().clone();
        context.note_sent();
        self.ask(Box::new(move |py, runner| {
            let Some(runner) = runner else {
                link.end(Err(gone()));
                return Ok(());
            };
            let state = parts.state.clone();
            let event_loop = state.as_ref().and_then(|state| state.event_loop.as_ref());
            let event_loop = event_loop.map(|it| it.clone_ref(py));
            let context = Py::new(py, CallContext::new(py, parts))?;
            let job = Job::new(Arc::clone(&link), arguments, context, event_loop);
            let begun = runner.call_method1(py, intern!(py, "begin"), (job,));
            if let Err(raised) = &begun {
                link.end(Err(not_begun(&raised.to_string())));
            }
            Ok(())
        }));
        loop {
            tokio::select! {
                biased;
                () = reports.news.notified() => {
                    if let Some(progress) = reports.take() {
                        context.report(progress);
                    }
                }
                answer = &mut answer => return answer.unwrap_or_else(|_| Err(gone())),
            }
        }
    }
}

fn gone() -> Error {
    Error::new(
        ErrorKind::Closed,
        Phase::Call,
        "the function of the tool is gone",
    )
    .with_hint("keep the host as long as its tools are called")
}

fn not_begun(why: &str) -> Error {
    let message = format!("the function of the tool cannot be run: {why}");
    Error::new(ErrorKind::Overloaded, Phase::Send, message)
}

impl ToolExecutor for PythonTool {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(self.run(call, context))
    }

    fn resources(&self, _call: &ValidCall) -> Resources {
        match &self.parts.resources {
            Some(keys) => Resources::of(keys.iter().map(String::as_str)),
            None => Resources::Undeclared,
        }
    }

    fn resources_later<'a>(&'a self, call: &'a ValidCall) -> Option<BoxFuture<'a, Resources>> {
        if !self.parts.declares {
            return None;
        }
        Some(Box::pin(async {
            let (sender, declared) = oneshot::channel();
            let arguments = call.arguments().clone();
            self.ask(Box::new(move |py, runner| match runner {
                Some(runner) => {
                    let declared = Declared(std::sync::Mutex::new(Some(sender)));
                    let arguments = to_dict(py, &arguments)?;
                    let declare = intern!(py, "declare");
                    runner
                        .call_method1(py, declare, (arguments, declared))
                        .map(drop)
                }
                None => Ok(()),
            }));
            // Dropped without a word nothing is known.
            match declared.await {
                Ok(Some(keys)) => Resources::of(keys),
                _ => Resources::Undeclared,
            }
        }))
    }

    fn interrupt(&self) {
        if self.parts.closes {
            self.ask(Box::new(|py, runner| match runner {
                Some(runner) => runner.call_method0(py, intern!(py, "interrupt")).map(drop),
                None => Ok(()),
            }));
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        // At the end of the interpreter Python closes what is left by itself.
        if !self.parts.closes || exit::is_ending() {
            return Box::pin(std::future::ready(()));
        }
        let (sender, closed) = oneshot::channel::<()>();
        self.ask(Box::new(move |py, runner| match runner {
            Some(runner) => {
                let done = Done(std::sync::Mutex::new(Some(sender)));
                runner
                    .call_method1(py, intern!(py, "close"), (done,))
                    .map(drop)
            }
            None => Ok(()),
        }));
        Box::pin(async move {
            // Dropped without a word is closed, too.
            let _ = closed.await;
        })
    }
}

/// Is called when something is done.
#[pyclass(frozen, module = "toolspan", name = "_Done")]
struct Done(std::sync::Mutex<Option<oneshot::Sender<()>>>);

#[pymethods]
impl Done {
    fn __call__(&self) {
        let sender = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(sender) = sender {
            let _ = sender.send(());
        }
    }
}

/// Is told what a call must have for itself; nothing where that is not known.
#[pyclass(frozen, module = "toolspan", name = "_Declared")]
struct Declared(std::sync::Mutex<Option<oneshot::Sender<Option<Vec<String>>>>>);

#[pymethods]
impl Declared {
    #[pyo3(signature = (keys, /))]
    fn __call__(&self, keys: Option<Vec<String>>) {
        let sender = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(sender) = sender {
            let _ = sender.send(keys);
        }
    }
}
