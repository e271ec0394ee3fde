//! Who holds the functions that are tools, so that a host which they hold can be collected?

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// The functions that are tools of one host, by the tools' names. The views of the host hold it; the
/// engine has no more than a weak reference to it.
#[pyclass(frozen, weakref, module = "toolspan", name = "_Kept")]
#[derive(Default)]
pub(crate) struct Kept(Mutex<HashMap<String, Py<PyAny>>>);

impl Kept {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        self.lock().get(name).map(|runner| runner.clone_ref(py))
    }

    pub(crate) fn keep(&self, name: String, runner: Py<PyAny>) {
        let before = self.lock().insert(name, runner);
        drop(before);
    }

    pub(crate) fn forget(&self, name: &str) {
        let before = self.lock().remove(name);
        drop(before);
    }
}

#[pymethods]
impl Kept {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(kept) => kept.values().try_for_each(|runner| visit.call(runner)),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let kept = std::mem::take(&mut *self.lock());
        drop(kept);
    }
}
