//! How is a host made from what a program says?

#![expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of Python's functions"
)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyWeakrefReference};
use serde_json::Value;
use toolspan::blocking::Home;
use toolspan::call::injected::{Injection, SECURITY_RISK, SUMMARY};
use toolspan::config::{Environment, Resolved};
use toolspan::guard::{Secret, sanitise};
use toolspan::registry::ToolSpec;
use toolspan::{Error, ErrorKind, HostBuilder, Phase, Result};

use crate::awaitable::{Door, Work};
use crate::exit::{self, Frame};
use crate::host::Host;
use crate::listener::{Callback, Listener, Log};
use crate::native::{Counts, Kept, Names, key, with_rules};
use crate::opened::{Opened, Opening};
use crate::{convert, error, running_loop, wait};

/// Characters of a warning about a toolbox that has failed.
const LONGEST_FAILURE: usize = 4_000;

/// Connects a config and waits until each toolbox is ready or has failed.
///
/// quiet is for code that has to be synchronous wherever it runs, such as a plugin of another
/// program: no call of the host warns that a loop is running, and what was odd in the config is in
/// its warnings alone. Without settle nothing is started or waited for: the first refresh() does
/// it, and a close() from elsewhere ends it.
#[pyfunction]
#[pyo3(signature = (config, on_log, quiet=false, settle=true, rules=None))]
pub(crate) fn connect(
    py: Python<'_>,
    config: &Bound<'_, PyAny>,
    on_log: Option<Bound<'_, PyAny>>,
    quiet: bool,
    settle: bool,
    rules: Option<Bound<'_, PyDict>>,
) -> PyResult<Host> {
    exit::refuse_ending(py)?;
    let home = home(py)?;
    let _frame = Frame::enter(py)?;
    if !quiet {
        running_loop::warn(py, "aconnect")?;
    }
    let on_log = on_log.map(callback).transpose()?;
    let rules = Rules::keep(py, rules.as_ref())?;
    let kept = rules.kept.clone_ref(py);
    let opened = open(py, &home, config, (on_log.as_ref(), rules))?;
    if settle {
        let settling = async {
            let settled = opened.host.settled().await;
            if settled.is_err() {
                opened.host.close().await;
            }
            settled
        };
        wait::wait_for(py, &home, None, Box::pin(settling))?;
    }
    given(
        py,
        Host::new(opened, quiet, (on_log.map(Bound::unbind), kept)),
        quiet,
    )
}

/// connect for asynchronous code; the future gives the host.
#[pyfunction]
#[pyo3(signature = (config, on_log, rules=None))]
pub(crate) fn aconnect<'py>(
    py: Python<'py>,
    config: &Bound<'py, PyAny>,
    on_log: Option<Bound<'py, PyAny>>,
    rules: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let home = home(py)?;
    let door = Door::open(py, &home, "connect")?;
    if let Some(never) = door.left_behind()? {
        return Ok(never);
    }
    let opened = || {
        let on_log = on_log.map(callback).transpose()?;
        let rules = Rules::keep(py, rules.as_ref())?;
        let kept = rules.kept.clone_ref(py);
        let opened = open(py, &home, config, (on_log.as_ref(), rules))?;
        Ok((opened, (on_log.map(Bound::unbind), kept)))
    };
    let (opened, held) = match opened() {
        Ok(opened) => opened,
        Err(raised) => return door.ready(Err(raised)),
    };
    let work = Work {
        told: None,
        make: |_| async move {
            let settled = opened.host.settled().await;
            if settled.is_err() {
                opened.host.close().await;
            }
            settled.map(|()| opened)
        },
        convert: |py: Python<'_>, opened| {
            let host = given(py, Host::new(opened, false, held), false)?;
            Ok(Bound::new(py, host)?.into_any().unbind())
        },
    };
    door.begin(&home, work)
}

/// The home of this process, which is one that hosts are made in from now on.
fn home(py: Python<'_>) -> PyResult<Home> {
    let home = Home::get().map_err(|failure| match failure.kind() {
        ErrorKind::Usage => error::forked_too_late(py),
        _ => error::raised(py, failure),
    })?;
    exit::watch_forks(py)?;
    Ok(home)
}

/// A host whose toolboxes are not started yet.
fn open(
    py: Python<'_>,
    home: &Home,
    config: &Bound<'_, PyAny>,
    (on_log, rules): (Option<&Bound<'_, Callback>>, Rules),
) -> PyResult<Opened> {
    let frame = Frame::enter(py)?;
    let config = Config::of(config)?;
    let log = on_log.map(Log::new).transpose()?.map(Arc::new);
    // With the interpreter's lock: it is held by whoever changes the environment from Python.
    let environment = Environment::capture();
    let changed = Arc::new(AtomicBool::new(false));
    let listener = Listener {
        changed: Arc::clone(&changed),
        log: log.clone(),
    };
    let started = frame.detach(py, || {
        let mut resolved = config.resolve(&environment)?;
        let specs = rules.registered.take_from(&mut resolved);
        if let Some(policy) = rules.policy {
            let policy = serde_json::json!({"policy": policy});
            let denied = resolved.policy.take().map(|policy| policy.deny);
            resolved.policy = Resolved::from_value(&policy, &environment)?.policy;
            // As in Rust, what the config denies stays denied.
            if let (Some(policy), Some(denied)) = (&mut resolved.policy, denied) {
                policy.deny.extend(denied);
            }
        }
        let problems = resolved.warnings.iter().chain(resolved.problems());
        let warnings = problems.map(ToString::to_string).collect();
        let builder = toolspan::Host::builder().inject(rules.injection);
        let builder = with_rules(builder, &rules.weak, rules.counts);
        let builder = rules.secrets.give(builder);
        let host = builder
            .environment(environment)
            .services(Arc::new(listener))
            .config(resolved)
            .start()?;
        let opening = Opening {
            home: home.clone(),
            warnings,
            specs,
            changed,
            log,
        };
        Ok(Opened::new(host, opening))
    });
    started.map_err(|failure: Error| error::raised(py, failure))
}

/// What a program wants to happen to every call.
struct Rules {
    kept: Py<Kept>,
    weak: Arc<Py<PyWeakrefReference>>,
    counts: Counts,
    /// In place of the policy of the config.
    policy: Option<Value>,
    /// What a model is asked for beside a tool's own arguments.
    injection: Injection,
    registered: Registered,
    secrets: Secrets,
}

/// The secrets of a program, and which toolboxes may have them.
#[derive(Default)]
struct Secrets {
    values: HashMap<String, Secret>,
    /// The names by the toolboxes.
    allowed: HashMap<String, Vec<String>>,
    /// The toolboxes that have them put into arguments.
    in_arguments: Vec<String>,
}

impl Secrets {
    fn keep(rules: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Some(values) = rules.get_item("secrets")? else {
            return Ok(Self::default());
        };
        let values: HashMap<String, String> = values.extract()?;
        let allowed = rules.get_item("allow_secrets")?;
        let in_arguments = rules.get_item("secrets_in_arguments")?;
        Ok(Self {
            values: values
                .into_iter()
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
            allowed: allowed.map_or_else(|| Ok(HashMap::new()), |it| it.extract())?,
            in_arguments: in_arguments.map_or_else(|| Ok(Vec::new()), |it| it.extract())?,
        })
    }

    fn give(self, mut builder: HostBuilder) -> HostBuilder {
        if self.values.is_empty() {
            return builder;
        }
        builder = builder.secrets(self.values);
        for (toolbox, names) in self.allowed {
            builder = builder.allow_secrets(toolbox, names);
        }
        for toolbox in self.in_arguments {
            builder = builder.secrets_in_arguments(toolbox);
        }
        builder
    }
}

/// The names that tools of Python are registered by; none before the first.
struct Registered(Option<Py<Names>>);

impl Registered {
    /// Takes the tools that Python makes out of a config.
    fn take_from(&self, config: &mut Resolved) -> Vec<ToolSpec> {
        let Self(Some(names)) = self else {
            return Vec::new();
        };
        let specs = std::mem::take(&mut config.tools).into_iter();
        let (ours, others) = specs.partition(|spec| names.get().has(&spec.name));
        config.tools = others;
        ours
    }
}

impl Rules {
    /// Keeps the functions of a dict: lists by their kinds, and the policy of a config.
    fn keep(py: Python<'_>, rules: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let kept = Bound::new(py, Kept::default())?;
        let keep = |kind: &str| {
            let Some(functions) = rules
                .map(|rules| rules.get_item(kind))
                .transpose()?
                .flatten()
            else {
                return Ok(0);
            };
            let functions: Vec<Py<PyAny>> = functions.extract()?;
            let count = functions.len();
            for (number, function) in functions.into_iter().enumerate() {
                kept.get().keep(key(kind, number), function);
            }
            PyResult::Ok(count)
        };
        let counts = Counts {
            interceptors: keep("interceptor")?,
            policies: keep("policy")?,
            analyzers: keep("analyzer")?,
            approvers: keep("approver")?,
        };
        let written = rules
            .map(|rules| rules.get_item("config"))
            .transpose()?
            .flatten();
        let policy = written.map(|written| {
            let read = convert::to_json(&written, "the policy");
            read.map_err(|refused| refused.raised(py))
        });
        Ok(Self {
            weak: Arc::new(PyWeakrefReference::new(&kept)?.unbind()),
            kept: kept.unbind(),
            counts,
            policy: policy.transpose()?,
            injection: injection(rules)?,
            registered: registered(rules)?,
            secrets: rules.map_or_else(|| Ok(Secrets::default()), Secrets::keep)?,
        })
    }
}

fn registered(rules: Option<&Bound<'_, PyDict>>) -> PyResult<Registered> {
    let names = rules
        .map(|rules| rules.get_item("registered"))
        .transpose()?;
    match names.flatten() {
        Some(names) => Ok(Registered(Some(names.cast::<Names>()?.clone().unbind()))),
        None => Ok(Registered(None)),
    }
}

/// The fields that a dict of rules names.
fn injection(rules: Option<&Bound<'_, PyDict>>) -> PyResult<Injection> {
    let named = rules.map(|rules| rules.get_item("inject")).transpose()?;
    let named: Vec<String> = match named.flatten() {
        Some(named) => named.extract()?,
        None => Vec::new(),
    };
    let has = |field: &str| named.iter().any(|name| name == field);
    Ok(Injection::new(has(SECURITY_RISK), has(SUMMARY)))
}

/// Gives a program the host that was connected, and logs what was odd in its config and which
/// toolboxes have failed, unless the program is to do that. For whoever makes the end of the
/// interpreter wait.
fn given(py: Python<'_>, host: Host, quiet: bool) -> PyResult<Host> {
    if !quiet {
        let opened = host.opened();
        let failed = py.detach(|| {
            let failed = opened.failed();
            exit::stay_if_over();
            failed
        });
        let mut warnings = opened.warnings();
        for (toolbox, error) in failed {
            // Of an entry that cannot be used, the config's own warning says why.
            if !warnings.iter().any(|said| said.contains(error.message())) {
                warnings.push(failure(py, &toolbox, error)?);
            }
        }
        warn(py, &warnings)?;
    }
    host.opened().give();
    Ok(host)
}

/// A toolbox that has failed and why, in one line.
fn failure(py: Python<'_>, toolbox: &str, failure: Error) -> PyResult<String> {
    let raised = error::raised(py, failure);
    let said = raised.value(py).str()?;
    let said = format!("toolbox {toolbox:?} failed: {}", said.to_string_lossy());
    Ok(sanitise::one_line(&said, LONGEST_FAILURE))
}

/// Logs warnings, one by one.
pub(crate) fn warn(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let logging = PyModule::import(py, "logging")?;
    let logger = logging.call_method1("getLogger", ("toolspan",))?;
    for warning in warnings {
        logger.call_method1("warning", ("%s", warning))?;
    }
    Ok(())
}

fn callback(on_log: Bound<'_, PyAny>) -> PyResult<Bound<'_, Callback>> {
    let py = on_log.py();
    match on_log.is_callable() {
        true => Bound::new(py, Callback::new(on_log.unbind())),
        false => Err(PyTypeError::new_err("on_log must be callable")),
    }
}

/// What a program gives as its config.
enum Config {
    File(PathBuf),
    Value(Value),
    LookedUp,
}

impl Config {
    fn of(config: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = config.py();
        if config.is_none() {
            return Ok(Self::LookedUp);
        }
        if config.is_instance_of::<PyDict>() || config.cast::<PyMapping>().is_ok() {
            let of_config =
                |error: Error| error.with_kind(ErrorKind::Config).with_phase(Phase::Config);
            let value = convert::to_json(config, "the config");
            let value = value.map_err(|refused| refused.map(of_config).raised(py))?;
            return Ok(Self::Value(value));
        }
        let is_path =
            config.is_instance_of::<PyString>() || config.hasattr(intern!(py, "__fspath__"))?;
        if is_path {
            return Ok(Self::File(config.extract()?));
        }
        let kind = config.get_type().name()?;
        let message = format!("the config is neither a path nor a dict: {kind}");
        Err(error::raised(py, refused(message).with_hint(FORMS)))
    }

    fn resolve(self, environment: &Environment) -> Result<Resolved> {
        let path = match self {
            Self::Value(value) => return Resolved::from_value(&value, environment),
            Self::File(path) => Some(path),
            Self::LookedUp => None,
        };
        let found = Resolved::to_start(path.as_deref(), environment).map_err(name_it)?;
        found.ok_or_else(|| refused("there is no config file".to_owned()).with_hint(PLACES))
    }
}

/// What a config may be.
const FORMS: &str =
    "give the path of a config file, the config as a dict, or nothing to look it up";
/// What to do where no config is found.
const PLACES: &str = "give connect() a path or a dict, set TOOLSPAN_CONFIG, or write toolspan.json";

/// Adds to the refusal of a config that was found but not approved what a program can do.
fn name_it(error: Error) -> Error {
    match (error.kind(), error.hint()) {
        (ErrorKind::ApprovalRequired, Some(hint)) => {
            let hint = format!("{hint}; or name the file: connect(\"toolspan.json\")");
            error.with_hint(hint)
        }
        _ => error,
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Config, Phase::Config, message)
}
