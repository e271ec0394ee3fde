//! The thread that owns the runtime of all blocking hosts in a process.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use toolspan_core::{Error, ErrorKind, Phase, Result};

/// The runtime's thread, once it runs, and the process it runs in.
static HOME: Mutex<Option<Home>> = Mutex::new(None);

/// The runtime that blocking callers wait on, and the process it runs in.
#[derive(Clone, Debug)]
pub(super) struct Home {
    handle: Handle,
    process: u32,
}

impl Home {
    /// The runtime, where it runs.
    ///
    /// # Errors
    ///
    /// `usage` in a process that was forked from the one the runtime's thread is in.
    pub(super) fn handle(&self) -> Result<&Handle> {
        match self.is_here() {
            true => Ok(&self.handle),
            false => Err(forked(self.process)),
        }
    }

    /// Whether this is the process that the runtime runs in.
    pub(super) fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// A runtime as a forked copy of its process finds it.
    #[cfg(test)]
    pub(super) fn left_behind(self) -> Self {
        Self { process: 0, ..self }
    }
}

/// The runtime of blocking hosts; its thread is started by the first one and lives as long as the
/// process.
///
/// # Errors
///
/// `usage` in a process that was forked after the thread was started: the thread is not there.
/// `internal` when the system gives no thread.
pub(super) fn home() -> Result<Home> {
    let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(home) = &*home {
        home.handle()?;
        return Ok(home.clone());
    }
    let handle = start().map_err(|error| {
        let message = format!("the runtime's thread cannot be started: {error}");
        Error::new(ErrorKind::Internal, Phase::Connect, message)
    })?;
    let started = Home {
        handle,
        process: std::process::id(),
    };
    Ok(home.insert(started).clone())
}

fn start() -> std::io::Result<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name("toolspan-home".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(handle)
}

fn forked(owner: u32) -> Error {
    let message = format!("this process was forked from {owner}, which holds the running servers");
    Error::new(ErrorKind::Usage, Phase::Connect, message)
        .with_hint("make a new host after the fork, in a program that had none before")
}
