//! What do all views of one host share, and what becomes of it when the last one goes?

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyResourceWarning;
use pyo3::prelude::*;
use toolspan::Error;
use toolspan::blocking::Home;
use toolspan::registry::ToolSpec;
use toolspan::toolbox::ToolBoxState;

use crate::exit::{self, Place};
use crate::listener::Log;

/// A host that was connected, or is being connected.
pub(crate) struct Opened {
    pub(crate) host: toolspan::Host,
    pub(crate) home: Home,
    /// What was odd in the config. Held for looking and adding only.
    warnings: Mutex<Vec<String>>,
    /// The tools that the config names and code of Python makes.
    pub(crate) specs: Vec<ToolSpec>,
    /// Set when a server says that its tools changed.
    pub(crate) changed: Arc<AtomicBool>,
    pub(crate) log: Option<Arc<Log>>,
    /// The keys of its toolboxes, in the order of the config, as they are shown.
    toolboxes: String,
    /// Whether a program was given it, so that the program has to close it.
    given: AtomicBool,
    closed: AtomicBool,
    _place: Place,
}

/// What a host is opened with, beside the host itself.
pub(crate) struct Opening {
    pub(crate) home: Home,
    pub(crate) warnings: Vec<String>,
    pub(crate) specs: Vec<ToolSpec>,
    pub(crate) changed: Arc<AtomicBool>,
    pub(crate) log: Option<Arc<Log>>,
}

impl Opened {
    pub(crate) fn new(host: toolspan::Host, opening: Opening) -> Self {
        let status = host.status();
        // A key may be any text, and what is shown is printed.
        let keys = status
            .iter()
            .map(|status| status.toolbox.escape_debug().to_string());
        let keys: Vec<String> = keys.collect();
        Self {
            toolboxes: keys.join(", "),
            home: opening.home,
            warnings: Mutex::new(opening.warnings),
            specs: opening.specs,
            changed: opening.changed,
            log: opening.log,
            given: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            _place: Place::take(&host),
            host,
        }
    }

    /// What was odd in the config, in order.
    pub(crate) fn warnings(&self) -> Vec<String> {
        lock(&self.warnings).clone()
    }

    /// Adds what was found to be odd in the config when the host was there.
    pub(crate) fn warn(&self, warning: String) {
        lock(&self.warnings).push(warning);
    }

    /// Says that a program has it from now on.
    pub(crate) fn give(&self) {
        self.given.store(true, Ordering::Release);
    }

    /// Says that it is closed from now on, and gives what is to be waited for.
    pub(crate) fn close(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.closed.store(true, Ordering::Release);
        let host = self.host.clone();
        async move { host.close().await }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || exit::is_ending()
    }

    /// Its toolboxes that have failed, and why. Not for a forked copy of the process, where it may
    /// wait for a thread that is not there.
    pub(crate) fn failed(&self) -> Vec<(Arc<str>, Error)> {
        let status = self.host.status().into_iter();
        status
            .filter_map(|status| match status.state {
                ToolBoxState::Failed(error) => Some((status.toolbox, error)),
                _ => None,
            })
            .collect()
    }

    /// How it is shown.
    pub(crate) fn shown(&self) -> String {
        let toolboxes = &self.toolboxes;
        if self.is_closed() {
            return format!("<toolspan.Host {toolboxes} (closed)>");
        }
        let tools = match self.host.snapshot().tools().len() {
            1 => "1 tool".to_owned(),
            many => format!("{many} tools"),
        };
        let failed = match self.home.is_here() {
            true => self.failed().len(),
            false => 0,
        };
        match failed {
            0 => format!("<toolspan.Host {toolboxes}: {tools}>"),
            failed => format!("<toolspan.Host {toolboxes}: {tools}, {failed} failed>"),
        }
    }

    fn warn_unclosed(&self) {
        let message = format!(
            "unclosed {}; close it, or use it in a with block",
            self.shown()
        );
        let message = std::ffi::CString::new(message).unwrap_or_default();
        Python::try_attach(|py| {
            // Nothing that is being raised around here is to be lost.
            let raised = PyErr::take(py);
            let category = py.get_type::<PyResourceWarning>();
            if let Err(warning) = PyErr::warn(py, &category, &message, 1) {
                warning.write_unraisable(py, None);
            }
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}

impl Drop for Opened {
    /// Hands the servers over to their end, without waiting. In a forked copy of the process they are
    /// the original's, and are left alone.
    fn drop(&mut self) {
        if !self.home.is_here() {
            // Kept for ever, so that nothing of it is dropped here.
            std::mem::forget(self.host.clone());
            return;
        }
        if let Some(log) = &self.log {
            log.end();
        }
        if self.given.load(Ordering::Acquire) && !self.is_closed() {
            self.warn_unclosed();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
