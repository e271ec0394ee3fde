//! What does a program in Python do with a host?

#![expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of Python's functions"
)]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyWeakrefReference};
use serde_json::Value;
use toolspan::guard::Limits;
use toolspan::llm::Api;
use toolspan::{CallOptions, Error, RegisteredTool, Result};

use crate::awaitable::{Door, Sink, Work};
use crate::connect;
use crate::convert::ToolName;
use crate::exit::{self, Frame};
use crate::listener::Callback;
use crate::native::{Kept, Parts, native_tool};
use crate::observation::Observation;
use crate::opened::Opened;
use crate::options::{Given, Options};
use crate::tool::Tool;
use crate::wait::{self, Told};
use crate::{convert, error, forms, running_loop};

/// All toolboxes of an agent behind one door. connect() and aconnect() make one.
///
/// It may be used by many threads and loops at once. Each method that waits has a twin that is
/// awaited, such as call() and acall().
#[pyclass(frozen, module = "toolspan", weakref)]
pub(crate) struct Host {
    opened: Arc<Opened>,
    options: Options,
    /// Who is told of log messages, as long as there is a view.
    on_log: Option<Py<Callback>>,
    /// The functions that are its tools, as long as there is a view.
    kept: Py<Kept>,
}

impl Host {
    pub(crate) fn new(
        opened: Opened,
        quiet: bool,
        (on_log, kept): (Option<Py<Callback>>, Py<Kept>),
    ) -> Self {
        Self {
            opened: Arc::new(opened),
            options: Options::new(quiet),
            on_log,
            kept,
        }
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    fn view(&self, py: Python<'_>, options: Options) -> Self {
        Self {
            opened: Arc::clone(&self.opened),
            options,
            on_log: self.on_log.as_ref().map(|on_log| on_log.clone_ref(py)),
            kept: self.kept.clone_ref(py),
        }
    }

    fn limits(&self) -> &Limits {
        self.opened.host.limits()
    }

    fn warn(&self, py: Python<'_>, asynchronous: &str) -> PyResult<()> {
        match self.options.quiet {
            true => Ok(()),
            false => running_loop::warn(py, asynchronous),
        }
    }

    fn wait<F, T>(&self, py: Python<'_>, told: Option<&Told>, future: Pin<Box<F>>) -> PyResult<T>
    where
        F: Future<Output = Result<T>> + Send,
        T: Send,
    {
        wait::wait_for(py, &self.opened.home, told, future)
    }

    fn door<'py>(&self, py: Python<'py>, synchronous: &str) -> PyResult<Door<'py>> {
        Door::open(py, &self.opened.home, synchronous)
    }

    /// The options of one call, and who is told of its progress on this thread.
    fn options_here(&self, py: Python<'_>) -> (CallOptions, Option<Told>) {
        let told = self.options.told(py);
        let options = self.options.of_call(py, None);
        match &told {
            None => (options, None),
            Some(news) => {
                let latest = news.latest.clone();
                let sink = move |progress| {
                    latest.set(progress);
                };
                (options.with_progress(sink), told)
            }
        }
    }

    /// Begins a call for a loop, and gives the future of its observation.
    fn begin_call<'py, F>(
        &self,
        door: &Door<'py>,
        make: impl FnOnce(toolspan::Host, CallOptions) -> F,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future<Output = Result<toolspan::Observation>> + Send + 'static,
    {
        let (py, host) = (door.python(), self.opened.host.clone());
        let mut options = self.options.of_call(py, Some(door.event_loop()));
        let characters = self.limits().output_chars;
        let work = Work {
            told: self.options.told(py),
            make: |sink: Option<Sink>| {
                options.on_progress = sink;
                make(host, options)
            },
            convert: move |py: Python<'_>, output| {
                let observation = Observation::new(output, characters);
                Ok(Bound::new(py, observation)?.into_any().unbind())
            },
        };
        door.begin(&self.opened.home, work)
    }
}

#[pymethods]
impl Host {
    /// Raises TypeError, and says how a host is made.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn refuse_new(
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Err(PyTypeError::new_err(
            "a Host is made by connect(config), or by aconnect(config) in asynchronous code",
        ))
    }

    /// The tools there are now, in the order of the config and then of their servers.
    #[getter]
    fn tools(&self) -> Vec<Tool> {
        let snapshot = self.opened.host.snapshot();
        let tools = snapshot.tools().iter();
        tools.map(|tool| Tool::new(tool, self.limits())).collect()
    }

    /// Whether a server has said, since the last refresh, that its tools changed.
    #[getter]
    fn tools_changed(&self) -> bool {
        self.opened.changed.load(Ordering::Acquire)
    }

    /// What was odd in the config, and what of it cannot be used: one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.opened.warnings()
    }

    /// The tools that the config names and code of Python makes: the name and params of each.
    fn _specs<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let specs = self.opened.specs.iter().map(|spec| {
            let params = Value::Object(spec.params.clone());
            Ok((spec.name.clone(), convert::to_python(py, &params)?))
        });
        specs.collect()
    }

    /// Logs that something of the config cannot be used, and adds it to the warnings.
    fn _warn(&self, py: Python<'_>, warning: String) -> PyResult<()> {
        let _frame = Frame::enter(py)?;
        connect::warn(py, std::slice::from_ref(&warning))?;
        self.opened.warn(warning);
        Ok(())
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.opened.is_closed()
    }

    /// How each toolbox is now, in the order of the config. Never waits.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // In a forked copy a thread that is not there may hold what the toolboxes hold.
        wait::refuse_forked(py, &self.opened.home)?;
        let frame = Frame::enter(py)?;
        let status = frame.detach(py, || self.opened.host.status());
        let status: Vec<Value> = status.iter().map(|status| status.to_json()).collect();
        convert::to_python(py, &Value::Array(status))
    }

    /// Calls a tool by its name and waits for what it answers. The arguments are a mapping, keywords,
    /// or both; what the call itself is to have, such as a timeout, is said by with_options().
    ///
    /// An observation means that the tool answered, also when it says that it failed; look at
    /// is_error. Raises ToolspanError for every other end.
    #[pyo3(signature = (name, args=None, /, **arguments))]
    fn call(
        &self,
        py: Python<'_>,
        name: ToolName<'_>,
        args: Option<&Bound<'_, PyAny>>,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Observation> {
        let _frame = Frame::enter(py)?;
        self.warn(py, "acall")?;
        let ToolName(name) = name;
        let arguments = self.arguments(name, args, arguments);
        let arguments = arguments.map_err(|refused| refused.raised(py))?;
        let (options, told) = self.options_here(py);
        let host = &self.opened.host;
        let call = Box::pin(async {
            let ended = host.call_with(name, arguments, options).await;
            ended.map(Arc::new).map_err(convert::not_wrapped)
        });
        let observation = self.wait(py, told.as_ref(), call)?;
        Ok(Observation::new(observation, self.limits().output_chars))
    }

    /// call() for asynchronous code: the future gives the observation. Cancelling it cancels the call,
    /// here and at the server.
    #[pyo3(signature = (name, args=None, /, **arguments))]
    fn acall<'py>(
        &self,
        py: Python<'py>,
        name: ToolName<'_>,
        args: Option<&Bound<'py, PyAny>>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let door = self.door(py, "call")?;
        if let Some(never) = door.left_behind()? {
            return Ok(never);
        }
        let _frame = Frame::enter(py)?;
        let ToolName(name) = name;
        let arguments = match self.arguments(name, args, arguments) {
            Ok(arguments) => arguments,
            Err(refused) => return door.ready(Err(refused.raised(py))),
        };
        let name = name.to_owned();
        self.begin_call(&door, |host, options| async move {
            let ended = host.call_with(&name, arguments, options).await;
            ended.map_err(convert::not_wrapped)
        })
    }

    /// Runs a tool call as a model made it, in the form of any of the big APIs. Every end is an
    /// observation that the model can read.
    #[pyo3(signature = (model_call, /))]
    fn run(&self, py: Python<'_>, model_call: &Bound<'_, PyAny>) -> PyResult<Observation> {
        let _frame = Frame::enter(py)?;
        self.warn(py, "arun")?;
        let model_call = self.json(model_call)?;
        let (options, told) = self.options_here(py);
        let host = &self.opened.host;
        let run = async { Ok(host.run_with(&model_call, options).await) };
        let observation = self.wait(py, told.as_ref(), Box::pin(run))?;
        Ok(Observation::new(observation, self.limits().output_chars))
    }

    /// run() for asynchronous code: the future gives the observation.
    #[pyo3(signature = (model_call, /))]
    fn arun<'py>(
        &self,
        py: Python<'py>,
        model_call: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let door = self.door(py, "run")?;
        if let Some(never) = door.left_behind()? {
            return Ok(never);
        }
        let _frame = Frame::enter(py)?;
        let model_call = match self.json(model_call) {
            Ok(model_call) => model_call,
            Err(raised) => return door.ready(Err(raised)),
        };
        self.begin_call(&door, |host, options| async move {
            Ok(host.run_with(&model_call, options).await)
        })
    }

    /// Runs all tool calls of one answer of a model, several at a time, and gives an observation for
    /// each, in the order of the calls. What comes after a call of the tool "finish" is not run. A
    /// failure of one call leaves the others alone.
    #[pyo3(signature = (model_calls, /))]
    fn run_batch(
        &self,
        py: Python<'_>,
        model_calls: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Observation>> {
        let _frame = Frame::enter(py)?;
        self.warn(py, "arun_batch")?;
        let model_calls = self.json_of_all(&model_calls)?;
        let (options, told) = self.options_here(py);
        let host = &self.opened.host;
        let run = async { Ok(host.run_batch_with(&model_calls, options).await) };
        let observations = self.wait(py, told.as_ref(), Box::pin(run))?.into_iter();
        let characters = self.limits().output_chars;
        Ok(observations
            .map(|it| Observation::new(it, characters))
            .collect())
    }

    /// run_batch() for asynchronous code: the future gives the observations.
    #[pyo3(signature = (model_calls, /))]
    fn arun_batch<'py>(
        &self,
        py: Python<'py>,
        model_calls: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let door = self.door(py, "run_batch")?;
        if let Some(never) = door.left_behind()? {
            return Ok(never);
        }
        let _frame = Frame::enter(py)?;
        let model_calls = match self.json_of_all(&model_calls) {
            Ok(model_calls) => model_calls,
            Err(raised) => return door.ready(Err(raised)),
        };
        let host = self.opened.host.clone();
        let mut options = self.options.of_call(py, Some(door.event_loop()));
        let characters = self.limits().output_chars;
        let work = Work {
            told: self.options.told(py),
            make: |sink: Option<Sink>| {
                options.on_progress = sink;
                async move { Ok(host.run_batch_with(&model_calls, options).await) }
            },
            convert: move |py: Python<'_>, observations: Vec<toolspan::Observation>| {
                let observations = observations.into_iter();
                let observations = observations.map(|it| Observation::new(it, characters));
                let list = observations.collect::<Vec<_>>().into_pyobject(py)?;
                Ok(list.into_any().unbind())
            },
        };
        door.begin(&self.opened.home, work)
    }

    /// The tools there are now that have a word of the query in their name, their description or their
    /// parameters: the best first, at most limit. Never starts a server.
    #[pyo3(signature = (query, /, *, limit=10))]
    fn search(&self, py: Python<'_>, query: &str, limit: usize) -> PyResult<Vec<Tool>> {
        wait::refuse_forked(py, &self.opened.home)?;
        let frame = Frame::enter(py)?;
        let found = frame.detach(py, || self.opened.host.search(query, limit));
        let found = found.iter();
        Ok(found
            .map(|found| Tool::new(&found.tool, self.limits()))
            .collect())
    }

    /// The tool that a name means, after starting what needs to be started to know it.
    #[pyo3(signature = (name, /))]
    fn find(&self, py: Python<'_>, name: ToolName<'_>) -> PyResult<Tool> {
        let _frame = Frame::enter(py)?;
        self.warn(py, "afind")?;
        let tool = self.wait(py, None, Box::pin(self.opened.host.find(name.0)))?;
        Ok(Tool::new(&tool, self.limits()))
    }

    /// find() for asynchronous code: the future gives the tool.
    #[pyo3(signature = (name, /))]
    fn afind<'py>(&self, py: Python<'py>, name: ToolName<'_>) -> PyResult<Bound<'py, PyAny>> {
        let name = name.0.to_owned();
        let (host, limits) = (self.opened.host.clone(), self.limits().clone());
        let work = Work {
            told: None,
            make: |_| async move { host.find(&name).await },
            convert: move |py: Python<'_>, tool: RegisteredTool| {
                let tool = Tool::new(&tool, &limits);
                Ok(Bound::new(py, tool)?.into_any().unbind())
            },
        };
        self.door(py, "find")?.begin(&self.opened.home, work)
    }

    /// Lists the tools of every toolbox again; one that has failed is started again.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let _frame = Frame::enter(py)?;
        self.warn(py, "arefresh")?;
        self.wait(py, None, Box::pin(refreshed(&self.opened)))
    }

    /// refresh() for asynchronous code.
    fn arefresh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let door = self.door(py, "refresh")?;
        self.opened.changed.store(false, Ordering::Release);
        let host = self.opened.host.clone();
        let work = Work {
            told: None,
            make: |_| async move { host.refresh().await },
            convert: none,
        };
        door.begin(&self.opened.home, work)
    }

    /// A view of the same host whose calls have options. Options add up; of two that say the same,
    /// the later one holds.
    ///
    /// timeout is the longest time for a whole call, in seconds. headers are sent with the requests of
    /// a call over HTTP, meta in the _meta of the request. on_progress is called with Progress: for
    /// call() on the caller's thread, for acall() on its loop. conversation is any object, for the
    /// tools of Python that look at the context of their call.
    #[pyo3(signature = (
        *, timeout=None, headers=None, meta=None, on_progress=None, conversation=None
    ))]
    fn with_options(
        &self,
        py: Python<'_>,
        timeout: Option<Bound<'_, PyAny>>,
        headers: Option<Bound<'_, PyAny>>,
        meta: Option<Bound<'_, PyAny>>,
        on_progress: Option<Bound<'_, PyAny>>,
        conversation: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let _frame = Frame::enter(py)?;
        let given = Given {
            timeout,
            headers,
            meta,
            on_progress,
            conversation,
        };
        Ok(self.view(py, self.options.with(py, &given)?))
    }

    /// Makes a tool of a function, which may be asynchronous; a decorator.
    ///
    /// Its parameters and their types are what a model is told, and what arguments are checked against
    /// before the function sees them; its docstring says what it does. What it returns becomes an
    /// observation, and so does an exception: type and message, the traceback goes to the logger
    /// "toolspan". A first parameter of the type CallContext is given the surroundings of the call.
    ///
    /// Calls run side by side, unless resources names what each call must have for itself. Raises
    /// TypeError for a function that cannot be described, and ToolspanError where the name is taken.
    #[pyo3(signature = (
        function=None, /, *, name=None, description=None, annotations=None, resources=None
    ))]
    fn tool<'py>(
        this: &Bound<'py, Self>,
        function: Option<Bound<'py, PyAny>>,
        name: Option<&str>,
        description: Option<&str>,
        annotations: Option<Bound<'py, PyAny>>,
        resources: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let _frame = Frame::enter(py)?;
        let own = PyModule::import(py, "toolspan._own")?;
        let arguments = (this, function, name, description, annotations, resources);
        own.call_method1("decorate", arguments)
    }

    /// Adds a ToolDefinition of toolspan.tools, or the tools that a ToolSpec asks for. Gives their
    /// names. conv_state is handed to whoever makes the tools of a spec.
    ///
    /// Raises what resolve_tool() does, and ToolspanError where a name is taken: then none is added.
    #[pyo3(signature = (tool, /, *, conv_state=None))]
    fn add_tool<'py>(
        this: &Bound<'py, Self>,
        tool: &Bound<'py, PyAny>,
        conv_state: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let _frame = Frame::enter(py)?;
        let own = PyModule::import(py, "toolspan._own")?;
        own.call_method1("add_defined", (this, tool, conv_state))
    }

    /// Takes a tool out that was added by tool() or add_tool(). Calls under way go on. Gives whether there was one.
    #[pyo3(signature = (name, /))]
    fn remove_tool(&self, py: Python<'_>, name: ToolName<'_>) -> PyResult<bool> {
        wait::refuse_forked(py, &self.opened.home)?;
        let _frame = Frame::enter(py)?;
        let ToolName(name) = name;
        let Some(removed) = self.opened.host.remove_tool(name) else {
            return Ok(false);
        };
        let closed = async {
            removed.executor.close().await;
            Ok(())
        };
        let closed = self.wait(py, None, Box::pin(closed));
        self.kept.get().forget(&removed.definition.name);
        closed.map(|()| true)
    }

    /// Adds a tool that a runner of Python runs. With declares the runner says for each call what that
    /// must have for itself.
    #[pyo3(signature = (definition, runner, resources, closes, declares=false))]
    fn _add_tool(
        &self,
        py: Python<'_>,
        definition: &Bound<'_, PyAny>,
        runner: Py<PyAny>,
        resources: Option<Vec<String>>,
        closes: bool,
        declares: bool,
    ) -> PyResult<()> {
        wait::refuse_forked(py, &self.opened.home)?;
        let frame = Frame::enter(py)?;
        let Value::Object(definition) = self.json(definition)? else {
            return Err(PyTypeError::new_err("a definition is a dict"));
        };
        let parts = Parts {
            kept: Arc::new(PyWeakrefReference::new(self.kept.bind(py))?.unbind()),
            resources,
            declares,
            closes,
        };
        let host = &self.opened.host;
        let added = frame.detach(py, || {
            let tool = native_tool(definition, parts)?;
            let name = tool.definition.name.clone();
            host.add_tool(tool).map(|()| name)
        });
        let name = added.map_err(|failure| error::raised(py, failure))?;
        self.kept.get().keep(name, runner);
        Ok(())
    }

    /// A view of the same host that never warns of a running loop.
    fn _quiet(&self, py: Python<'_>) -> Self {
        let mut options = self.options.copy(py);
        options.quiet = true;
        self.view(py, options)
    }

    /// The tools in the form of the OpenAI APIs: the tools of a Chat Completions request. With strict
    /// the API holds the model to the schema of each tool that can be given so. What the host asks a
    /// model for beside a tool's own arguments (see connect()) stands first in each schema, and run()
    /// takes it out again.
    #[pyo3(signature = (*, strict=false))]
    fn to_openai<'py>(&self, py: Python<'py>, strict: bool) -> PyResult<Bound<'py, PyAny>> {
        self.in_form(py, Api::OpenAi, strict)
    }

    /// The tools of an OpenAI Responses request. strict is as in to_openai().
    #[pyo3(signature = (*, strict=false))]
    fn to_responses<'py>(&self, py: Python<'py>, strict: bool) -> PyResult<Bound<'py, PyAny>> {
        self.in_form(py, Api::Responses, strict)
    }

    /// The tools of an Anthropic Messages request. strict is as in to_openai().
    #[pyo3(signature = (*, strict=false))]
    fn to_anthropic<'py>(&self, py: Python<'py>, strict: bool) -> PyResult<Bound<'py, PyAny>> {
        self.in_form(py, Api::Anthropic, strict)
    }

    /// The tools of a Gemini request: one element with all function declarations. They have their
    /// schemas as parametersJsonSchema; with openapi as parameters, for what does not take that.
    #[pyo3(signature = (*, openapi=false))]
    fn to_gemini<'py>(&self, py: Python<'py>, openapi: bool) -> PyResult<Bound<'py, PyAny>> {
        let api = match openapi {
            true => Api::GeminiOpenApi,
            false => Api::Gemini,
        };
        self.in_form(py, api, false)
    }

    /// The answers to the calls of one turn of a model, in the form of its API: messages for "openai",
    /// items for "responses", content blocks for "anthropic", parts for "gemini". The calls are as the
    /// API gave them, the observations those of run() or run_batch(), in the same order. Images go
    /// along where the API takes them.
    #[pyo3(signature = (api, model_calls, observations, /))]
    fn tool_results<'py>(
        &self,
        py: Python<'py>,
        api: &str,
        model_calls: Vec<Bound<'py, PyAny>>,
        observations: Vec<Bound<'py, Observation>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let api = forms::api_of(api)?;
        let model_calls = self.json_of_all(&model_calls)?;
        if model_calls.len() != observations.len() {
            let message = "there must be one observation for each call";
            return Err(PyValueError::new_err(message));
        }
        let seen = observations.iter().map(|seen| seen.get().shared());
        let answered: Vec<_> = model_calls.into_iter().zip(seen).collect();
        let frame = Frame::enter(py)?;
        let results = frame.detach(py, || forms::results(&self.opened.host, api, &answered));
        convert::to_python(py, &results)
    }

    /// What the form of an API changes of the tools: dicts with tool, pointer, effect, what and why. A
    /// tool that the API cannot take is left out alone, with the effect "left_out". The api is
    /// "openai", "responses", "anthropic", "gemini", "gemini-openapi" or "mcp".
    #[pyo3(signature = (api, /, *, strict=false))]
    fn losses<'py>(&self, py: Python<'py>, api: &str, strict: bool) -> PyResult<Bound<'py, PyAny>> {
        let api = forms::api_of(api)?;
        let frame = Frame::enter(py)?;
        let projection = frame.detach(py, || forms::projected(&self.opened.host, api, strict));
        forms::losses(py, &projection)
    }

    /// The tools as an MCP server lists them, under the names to call them by.
    fn to_mcp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.in_form(py, Api::Mcp, false)
    }

    /// Ends every server, and waits until nothing of them is left, within timeouts.close. Calls under
    /// way end as ClosedError. A second close does nothing, and so does one in a forked process.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.opened.home.is_here() || exit::is_ending() {
            return Ok(());
        }
        let _frame = Frame::enter(py)?;
        let was_open = !self.opened.is_closed();
        wait::wait(py, &self.opened.home, None, Box::pin(self.opened.close()))?;
        // The program may make an error of the warning, and then it has closed the host all the same.
        match was_open {
            true => self.warn(py, "aclose"),
            false => Ok(()),
        }
    }

    /// close() for asynchronous code.
    fn aclose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let door = Door::find(py, "close")?;
        if !self.opened.home.is_here() || exit::is_ending() {
            return door.ready(Ok(py.None()));
        }
        let closing = self.opened.close();
        let work = Work {
            told: None,
            make: |_| async move {
                closing.await;
                Ok(())
            },
            convert: none,
        };
        door.begin(&self.opened.home, work)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (kind, error, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<Bound<'_, PyAny>>,
        error: Option<Bound<'_, PyAny>>,
        traceback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (kind, error, traceback);
        self.close(py)
    }

    fn __aenter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let door = this.get().door(this.py(), "connect")?;
        door.ready(Ok(this.clone().into_any().unbind()))
    }

    #[pyo3(signature = (kind, error, traceback, /))]
    fn __aexit__<'py>(
        &self,
        py: Python<'py>,
        kind: Option<Bound<'py, PyAny>>,
        error: Option<Bound<'py, PyAny>>,
        traceback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (kind, error, traceback);
        self.aclose(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let frame = Frame::enter(py)?;
        Ok(frame.detach(py, || self.opened.shown()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.options.traverse(&visit)?;
        visit.call(&self.kept)?;
        visit.call(&self.on_log)
    }

    fn __clear__(&self) {
        self.options.clear();
    }
}

impl Host {
    fn arguments(
        &self,
        name: &str,
        args: Option<&Bound<'_, PyAny>>,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> Result<Value, convert::Refused> {
        let arguments = convert::arguments_within(args, arguments, self.limits());
        arguments.map_err(|refused| refused.map(|error: Error| error.in_tool(name)))
    }

    fn in_form<'py>(&self, py: Python<'py>, api: Api, strict: bool) -> PyResult<Bound<'py, PyAny>> {
        let frame = Frame::enter(py)?;
        let projection = frame.detach(py, || forms::projected(&self.opened.host, api, strict));
        convert::to_python(py, &projection.tools)
    }

    fn json_of_all(&self, values: &[Bound<'_, PyAny>]) -> PyResult<Vec<Value>> {
        values.iter().map(|value| self.json(value)).collect()
    }

    fn json(&self, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        let value_of = convert::to_json_within(value, "the call", self.limits());
        value_of.map_err(|refused| refused.raised(value.py()))
    }
}

async fn refreshed(opened: &Opened) -> Result<()> {
    opened.changed.store(false, Ordering::Release);
    opened.host.refresh().await
}

fn none(py: Python<'_>, (): ()) -> PyResult<Py<PyAny>> {
    Ok(py.None())
}
