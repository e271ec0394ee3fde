//! Is a synchronous method used where the asynchronous one is meant?

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Whether there is nothing more to warn of.
static DONE: AtomicBool = AtomicBool::new(false);
/// `asyncio._get_running_loop`, once the program has imported it.
static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
/// `sys.modules`. The dict stays the same, and every call looks at it: to import `sys` each time
/// would take a twentieth of the call.
static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// Warns, once in the process, that a synchronous method holds up the loop that runs on this thread;
/// names the asynchronous one. A notebook always runs a loop, and is not warned.
///
/// # Errors
///
/// The warning itself, where the program turns warnings into errors.
pub(crate) fn warn(py: Python<'_>, asynchronous: &str) -> PyResult<()> {
    if DONE.load(Ordering::Relaxed) || !is_running(py)? {
        return Ok(());
    }
    DONE.store(true, Ordering::Relaxed);
    if modules(py)?.contains(intern!(py, "ipykernel"))? {
        return Ok(());
    }
    let message = format!(
        "a synchronous call of toolspan stops the running event loop until it returns; \
         use `await` with {asynchronous}() there"
    );
    let message = CString::new(message)?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 1)
}

fn is_running(py: Python<'_>) -> PyResult<bool> {
    if let Some(running_loop) = RUNNING_LOOP.get(py) {
        return Ok(!running_loop.bind(py).call0()?.is_none());
    }
    // Not imported by us: without it no loop can run.
    let Some(events) = modules(py)?.get_item(intern!(py, "asyncio.events"))? else {
        return Ok(false);
    };
    let Ok(running_loop) = events.getattr(intern!(py, "_get_running_loop")) else {
        return Ok(false);
    };
    let is_running = !running_loop.call0()?.is_none();
    let _ = RUNNING_LOOP.set(py, running_loop.unbind());
    Ok(is_running)
}

fn modules(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    let modules = MODULES.get_or_try_init(py, || {
        let modules = PyModule::import(py, intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
        PyResult::Ok(modules.cast_into()?.unbind())
    });
    Ok(modules?.bind(py))
}
