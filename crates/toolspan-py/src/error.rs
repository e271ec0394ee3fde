//! Which exception does an error become?

#![expect(
    clippy::too_many_arguments,
    reason = "what is made for a function of Python has more than ours"
)]

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use toolspan::guard::sanitise;
use toolspan::schema::Violation;
use toolspan::{Error, ErrorKind, Phase};

use crate::convert::to_python;

/// Lines of a server's standard error that an error shows.
const LAST_LINES: usize = 3;
/// Characters of one such line.
const LONGEST_LINE: usize = 300;

/// The module that has the exceptions. It is imported when the first one is raised, for it is a part
/// of the package that imports this module.
static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn module<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyModule>> {
    let import = || PyModule::import(py, "toolspan._errors").map(Bound::unbind);
    Ok(MODULE.get_or_try_init(py, import)?.bind(py))
}

/// Imports the exceptions while that can be done, for what is raised when the interpreter is taken
/// apart.
pub(crate) fn prepare(py: Python<'_>) {
    // Where they cannot be had, whatever is raised later says so.
    let _ = module(py);
}

/// The exception of an error's kind, with all that the error says.
///
/// Where the exceptions themselves cannot be had, as at the end of the interpreter, it is the
/// exception that says so.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    let class = || class_of(py, error.kind());
    class()
        .and_then(|class| instance(&class, &error))
        .unwrap_or_else(|failure| failure)
}

/// `ForkedProcess`, for a host that is used in a process that was forked from its own.
pub(crate) fn forked(py: Python<'_>) -> PyErr {
    let message = "the host belongs to the process that this one was forked from";
    forked_process(py, Phase::Call, message)
}

/// `ForkedProcess`, for a host that is to be connected in a process whose parent had one before.
pub(crate) fn forked_too_late(py: Python<'_>) -> PyErr {
    let message = "this process was forked from one that had connected a host before";
    forked_process(py, Phase::Connect, message)
}

fn forked_process(py: Python<'_>, phase: Phase, message: &str) -> PyErr {
    let error = Error::new(ErrorKind::Usage, phase, message)
        .with_hint("start processes by spawn or forkserver, or connect only in forked ones");
    let class = || module(py)?.getattr(intern!(py, "ForkedProcess"));
    class()
        .and_then(|class| instance(&class, &error))
        .unwrap_or_else(|failure| failure)
}

/// `ClosedError`, for a host that was closed.
pub(crate) fn closed(py: Python<'_>) -> PyErr {
    let error = Error::new(ErrorKind::Closed, Phase::Call, "the host is closed")
        .with_hint("connect a new one");
    raised(py, error)
}

/// The class of a kind, or the root of them all for one that the package does not know.
fn class_of<'py>(py: Python<'py>, kind: ErrorKind) -> PyResult<Bound<'py, PyAny>> {
    let module = module(py)?;
    let by_kind = module.getattr(intern!(py, "BY_KIND"))?;
    let class = by_kind.call_method1(intern!(py, "get"), (kind.as_str(),))?;
    match class.is_none() {
        true => module.getattr(intern!(py, "ToolspanError")),
        false => Ok(class),
    }
}

fn instance(class: &Bound<'_, PyAny>, error: &Error) -> PyResult<PyErr> {
    let py = class.py();
    let says = PyDict::new(py);
    says.set_item("toolbox", error.toolbox())?;
    says.set_item("tool", error.tool())?;
    says.set_item("phase", error.phase().as_str())?;
    says.set_item("outcome", error.outcome().as_str())?;
    says.set_item("hint", error.hint())?;
    says.set_item("violations", violations(py, error.violations())?)?;
    says.set_item("suggestions", error.suggestions())?;
    says.set_item("code", error.code())?;
    says.set_item("http_status", error.http_status())?;
    says.set_item(
        "retry_after",
        error.retry_after().map(|it| it.as_secs_f64()),
    )?;
    says.set_item("stderr", error.stderr())?;
    let exception = class.call((error.message(),), Some(&says))?;
    Ok(PyErr::from_value(exception))
}

/// The last lines of a server's standard error in one line, bounded and safe to show.
#[pyfunction]
#[pyo3(name = "_last_words")]
pub(crate) fn last_words(stderr: &str) -> String {
    let lines = stderr.lines().rev();
    let lines = lines.map(|line| sanitise::one_line(line, LONGEST_LINE));
    let mut last: Vec<String> = lines
        .filter(|line| !line.is_empty())
        .take(LAST_LINES)
        .collect();
    last.reverse();
    last.join(" | ")
}

fn violations<'py>(py: Python<'py>, violations: &[Violation]) -> PyResult<Bound<'py, PyList>> {
    let listed: Vec<_> = violations
        .iter()
        .map(|violation| {
            let message = format!("expected {}, found {}", violation.expected, violation.found);
            let violation = serde_json::json!({"pointer": violation.pointer, "message": message});
            to_python(py, &violation)
        })
        .collect::<PyResult<_>>()?;
    PyList::new(py, listed)
}
