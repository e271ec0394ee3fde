//! Does a synchronous call hold up a loop that runs functions of tools?
//!
//! What such a call waits for may need a loop itself. Then it must get another one.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;

thread_local! {
    /// The waits on this thread, where it runs a loop of the package.
    static HERE: RefCell<Option<Arc<AtomicUsize>>> = const { RefCell::new(None) };
}

/// Whether the thread of a loop waits in a synchronous call.
#[pyclass(frozen, module = "toolspan._toolspan", name = "_Held")]
#[derive(Default)]
pub(crate) struct Held(Arc<AtomicUsize>);

#[pymethods]
impl Held {
    #[new]
    fn of_no_thread() -> Self {
        Self::default()
    }

    /// Says that it is this thread.
    fn begin(&self) {
        HERE.with_borrow_mut(|here| *here = Some(Arc::clone(&self.0)));
    }

    /// Whether the thread waits now.
    #[getter]
    fn is_held(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

/// A wait of this thread, from [`hold`] on.
pub(crate) struct Holding(Option<Arc<AtomicUsize>>);

/// Says that this thread waits from now on.
pub(crate) fn hold() -> Holding {
    let here = HERE.with_borrow(Clone::clone);
    if let Some(waits) = &here {
        waits.fetch_add(1, Ordering::AcqRel);
    }
    Holding(here)
}

impl Drop for Holding {
    fn drop(&mut self) {
        if let Some(waits) = &self.0 {
            waits.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
