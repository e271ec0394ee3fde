//! How is the program's own code called, so that it cannot outlive the interpreter?
//!
//! A thread that computes in a callback while the interpreter is taken apart would be stopped by it in
//! the middle of our code, which brings the process down. So the end of the interpreter asks those
//! threads to leave their callbacks.

use std::ffi::c_long;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PySystemExit};
use pyo3::prelude::*;
use pyo3::{call::PyCallArgs, ffi, intern};

use crate::exit;

/// The threads that are in callbacks, each as often as it is in one. Held for looking and changing
/// only, with the interpreter's lock.
static INSIDE: Mutex<Vec<c_long>> = Mutex::new(Vec::new());

/// Calls a callback. An `Exception` in it is shown by `sys.unraisablehook`; not one that the end of the
/// interpreter causes.
///
/// # Errors
///
/// What it raises that is no `Exception`, such as `KeyboardInterrupt`.
pub(crate) fn call<'py>(
    callback: &Bound<'py, PyAny>,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<()> {
    let py = callback.py();
    let _inside = Inside::begin(py)?;
    match callback.call1(arguments) {
        Ok(_) => Ok(()),
        Err(raised) if raised.is_instance_of::<PyException>(py) => {
            if !exit::is_ending() {
                raised.write_unraisable(py, Some(callback));
            }
            Ok(())
        }
        Err(raised) => Err(raised),
    }
}

/// Asks all threads that are in callbacks to leave them, by a `SystemExit` there. It comes once they
/// run Python code again.
pub(crate) fn leave_all(py: Python<'_>) {
    let threads = inside().clone();
    for thread in threads {
        raise_in(py, thread);
    }
}

#[expect(unsafe_code, reason = "no safe function raises in another thread")]
fn raise_in(py: Python<'_>, thread: c_long) {
    let exception = py.get_type::<PySystemExit>();
    // SAFETY: this thread is attached; the class is alive during the call, which takes a reference of
    // its own. A thread that is gone is not found.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread, exception.as_ptr()) };
}

/// A thread inside a callback.
struct Inside(c_long);

impl Inside {
    fn begin(py: Python<'_>) -> PyResult<Self> {
        let threads = PyModule::import(py, intern!(py, "_thread"))?;
        let number: u64 = threads.call_method0(intern!(py, "get_ident"))?.extract()?;
        // The same bits: the one function of the interpreter gives it unsigned, the other takes it signed.
        let number = number.cast_signed() as c_long;
        inside().push(number);
        Ok(Self(number))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut inside = inside();
        if let Some(place) = inside.iter().rposition(|thread| *thread == self.0) {
            inside.swap_remove(place);
        }
    }
}

fn inside() -> MutexGuard<'static, Vec<c_long>> {
    INSIDE.lock().unwrap_or_else(PoisonError::into_inner)
}
