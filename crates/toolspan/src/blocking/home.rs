//! The thread that owns the runtime of all blocking hosts in a process.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use toolspan_core::{Error, ErrorKind, Phase, Result};

/// The runtime's thread, once it runs, and the process it runs in.
static HOME: Mutex<Option<Home>> = Mutex::new(None);

struct Home {
    handle: Handle,
    process: u32,
}

/// The runtime of blocking hosts; its thread is started by the first one and lives as long as the
/// process.
///
/// # Errors
///
/// `usage` in a process that was forked after the thread was started: the thread is not there.
/// `internal` when the system gives no thread.
pub(super) fn handle() -> Result<Handle> {
    let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match &*home {
        Some(home) if home.process == process => return Ok(home.handle.clone()),
        Some(home) => return Err(forked(home.process)),
        None => {}
    }
    let handle = start().map_err(|error| {
        let message = format!("the runtime's thread cannot be started: {error}");
        Error::new(ErrorKind::Internal, Phase::Connect, message)
    })?;
    *home = Some(Home {
        handle: handle.clone(),
        process,
    });
    Ok(handle)
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
