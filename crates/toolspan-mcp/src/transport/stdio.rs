//! A server as a child process: its pipes as sink and source.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use toolspan_core::guard::sanitise;
use toolspan_core::{Error, ErrorKind, Phase, Result};
use toolspan_io::process::{self, AsyncStdin, Launch};

use super::Pipe;
use crate::error;
use crate::inlet::Stream;
use crate::outbox::Sink;

/// The name of the program in one line, without folder, arguments and environment: a long path
/// would push out the part that tells programs apart.
pub(super) fn describe(launch: &Launch) -> String {
    let program = Path::new(&launch.program);
    let name = program.file_name().unwrap_or(program.as_os_str());
    sanitise::one_line(&name.to_string_lossy(), 200)
}

/// Starts the process and registers its pipes with the runtime.
pub(super) fn open(launch: &Launch) -> Result<Pipe> {
    let child = process::spawn(launch).map_err(|error| error::spawn(&error))?;
    let unwatched = |error: io::Error| {
        let message = format!("the server's pipes cannot be watched: {error}");
        Error::new(ErrorKind::Startup, Phase::Connect, message)
    };
    let stdin = child.stdin.into_async().map_err(unwatched)?;
    let stdout = child.stdout.into_async().map_err(unwatched)?;
    Ok(Pipe {
        sink: Box::new(Stdin(stdin)),
        stream: Stream::Output(Arc::new(stdout)),
        process: Some(child.process),
    })
}

struct Stdin(AsyncStdin);

impl Sink for Stdin {
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::task::ready!(self.0.poll_writable(context))?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }
}
