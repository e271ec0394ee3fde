//! Which runtimes do the contestants run on?
//!
//! Asynchronous callers share one thread with their client, as in a small asynchronous program.
//! Synchronous callers have a thread of their own, beside the thread of the client's runtime.

use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::failure::Failure;

/// A runtime on the caller's own thread.
pub(crate) fn here() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// A runtime on a thread of its own; dropping it ends both.
#[derive(Debug)]
pub(crate) struct RuntimeThread {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RuntimeThread {
    pub(crate) fn start() -> Result<Self, Failure> {
        let runtime = here()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("peer-runtime".to_owned())
            .spawn(move || {
                let _ = runtime.block_on(stopped);
            })?;
        Ok(Self {
            handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Waits on the caller's thread for a future that uses this runtime.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }
}

impl Drop for RuntimeThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
