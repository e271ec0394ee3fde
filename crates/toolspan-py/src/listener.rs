//! What happens in the toolboxes outside any call, and who is told of it?

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use toolspan::Services;
use toolspan::services::Event;

use crate::delivery::Delivery;
use crate::log_message::LogMessage;

/// Most log messages of one host that wait for its callback; of more the oldest are left out.
const MOST_WAITING: usize = 1_024;

/// Calls the callbacks for log messages. Results have a thread of their own, so that a callback
/// which waits for an asynchronous call gets its result.
pub(crate) static LOGS: Delivery<Arc<Log>> = Delivery::new("toolspan-logs", deliver);

/// Takes note of what happens in the toolboxes of one host.
pub(crate) struct Listener {
    /// Set when a server says that its tools changed.
    pub(crate) changed: Arc<AtomicBool>,
    pub(crate) log: Option<Arc<Log>>,
}

impl Services for Listener {
    fn event(&self, toolbox: &str, event: Event) {
        match event {
            Event::ToolsChanged => self.changed.store(true, Ordering::Release),
            Event::Log { level, text } => {
                if let Some(log) = &self.log {
                    let toolbox = toolbox.to_owned();
                    log.add(Message {
                        toolbox,
                        level,
                        text,
                    });
                }
            }
            _ => {}
        }
    }
}

struct Message {
    toolbox: String,
    level: String,
    text: String,
}

/// The log messages of one host on their way to its callback.
pub(crate) struct Log {
    /// `None` once nobody is to be told any more. Held for looking and changing only.
    callback: Mutex<Option<Py<PyAny>>>,
    /// Held for looking and changing only.
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Message>,
    left_out: usize,
}

impl Log {
    pub(crate) fn new(callback: Py<PyAny>) -> Self {
        Self {
            callback: Mutex::new(Some(callback)),
            waiting: Mutex::default(),
        }
    }

    fn add(self: &Arc<Self>, message: Message) {
        let is_first = {
            let mut waiting = lock(&self.waiting);
            if waiting.messages.len() == MOST_WAITING {
                waiting.messages.pop_front();
                waiting.left_out += 1;
            }
            waiting.messages.push_back(message);
            waiting.messages.len() == 1
        };
        // The log is queued once for all that waits.
        if is_first {
            LOGS.put(Arc::clone(self));
        }
    }

    /// Tells the callback of all that waits. What it raises is shown by `sys.unraisablehook`.
    fn tell(&self, py: Python<'_>) {
        let waiting = mem::take(&mut *lock(&self.waiting));
        let first = waiting.messages.front();
        let left_out = (waiting.left_out > 0).then_some(first).flatten();
        let left_out = left_out.map(|first| Message {
            toolbox: first.toolbox.clone(),
            level: "warning".to_owned(),
            text: format!(
                "{} log messages before this one were left out: on_log takes too long",
                waiting.left_out
            ),
        });
        for message in left_out.into_iter().chain(waiting.messages) {
            let callback = lock(&self.callback).as_ref().map(|it| it.clone_ref(py));
            let Some(callback) = callback else {
                return;
            };
            let message = LogMessage::new(message.toolbox, message.level, message.text);
            if let Err(raised) = callback.call1(py, (message,)) {
                raised.write_unraisable(py, Some(callback.bind(py)));
            }
        }
    }

    /// Shows the collector of cycles the callback.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.callback.try_lock() {
            Ok(callback) => visit.call(&*callback),
            Err(_) => Ok(()),
        }
    }

    /// Tells nobody any more.
    pub(crate) fn end(&self) {
        let callback = lock(&self.callback).take();
        drop(callback);
    }
}

fn deliver(py: Python<'_>, logs: Vec<Arc<Log>>) {
    for log in logs {
        log.tell(py);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
