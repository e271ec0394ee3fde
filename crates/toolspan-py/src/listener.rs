//! What happens in the toolboxes outside any call, and who is told of it?

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use toolspan::Services;
use toolspan::services::Event;

use crate::callback;
use crate::exit::{self, Wait};
use crate::log_message::LogMessage;
use crate::queue::{Queue, Read};

/// Most log messages of one host that wait for its callback; of more the oldest are left out.
const MOST_WAITING: usize = 1_024;

/// Takes note of what happens in the toolboxes of one host.
pub(crate) struct Listener {
    /// Set when a server says that its tools changed.
    pub(crate) changed: Arc<AtomicBool>,
    pub(crate) log: Option<Arc<Log>>,
}

impl Services for Listener {
    fn event(&self, toolbox: &str, event: Event) {
        match (event, &self.log) {
            (Event::ToolsChanged, _) => self.changed.store(true, Ordering::Release),
            (Event::Log { level, text }, Some(log)) => log.add(Message {
                toolbox: toolbox.to_owned(),
                level,
                text,
            }),
            _ => {}
        }
    }
}

struct Message {
    toolbox: String,
    level: String,
    text: String,
}

/// The log messages of one host on their way to its callback. A thread of their own tells them, so
/// that a callback may take its time, or wait for a call of any kind.
pub(crate) struct Log {
    /// Whoever is told is held by the host, so that a host which holds itself through it can be
    /// collected.
    callback: Py<PyWeakrefReference>,
    waiting: Queue<Message>,
    /// The thread is started by the first message.
    started: Once,
}

impl Log {
    pub(crate) fn new(callback: &Bound<'_, Callback>) -> PyResult<Self> {
        Ok(Self {
            callback: PyWeakrefReference::new(callback)?.unbind(),
            waiting: Queue::new(MOST_WAITING),
            started: Once::new(),
        })
    }

    /// Tells nobody any more.
    pub(crate) fn end(&self) {
        self.waiting.end();
    }

    fn add(self: &Arc<Self>, message: Message) {
        self.started.call_once(|| {
            let log = Arc::clone(self);
            let thread = std::thread::Builder::new().name("toolspan-log".to_owned());
            // Without a thread nobody is told.
            if thread.spawn(move || log.run()).is_err() {
                self.end();
            }
        });
        self.waiting.put(message);
    }

    fn run(&self) {
        while let Some(read) = self.waiting.read() {
            let Some(_wait) = Wait::try_begin() else {
                return;
            };
            Python::attach(|py| self.tell(py, read));
        }
    }

    /// Tells the callback. What it raises is shown by `sys.unraisablehook`.
    fn tell(&self, py: Python<'_>, read: Read<Message>) {
        let left_out = match read.things.front() {
            Some(first) if read.left_out > 0 => Some(left_out(read.left_out, first)),
            _ => None,
        };
        for message in left_out.into_iter().chain(read.things) {
            let Some(callback) = self.callback(py) else {
                return;
            };
            let message = LogMessage::new(message.toolbox, message.level, message.text);
            let told = Bound::new(py, message).and_then(|it| callback::call(&callback, (it,)));
            match told {
                Ok(()) => {}
                Err(_) if exit::is_ending() => return,
                // Nothing of the program runs on this thread that it could go on to.
                Err(raised) => raised.write_unraisable(py, Some(&callback)),
            }
        }
    }

    fn callback<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let callback = self.callback.bind(py).upgrade()?;
        let callback = callback.cast::<Callback>().ok()?;
        callback.get().get(py)
    }
}

/// What a callback is told that took too long.
fn left_out(count: usize, first: &Message) -> Message {
    Message {
        toolbox: first.toolbox.clone(),
        level: "warning".to_owned(),
        text: format!("{count} log messages before this one were left out: on_log takes too long"),
    }
}

/// Holds a callback for the views of a host, which share it.
#[pyclass(frozen, weakref)]
pub(crate) struct Callback(Mutex<Option<Py<PyAny>>>);

impl Callback {
    pub(crate) fn new(callback: Py<PyAny>) -> Self {
        Self(Mutex::new(Some(callback)))
    }

    fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.lock()
            .as_ref()
            .map(|callback| callback.bind(py).clone())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Callback {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(callback) => visit.call(&*callback),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let callback = self.lock().take();
        drop(callback);
    }
}
