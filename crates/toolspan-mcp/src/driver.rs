//! The two tasks of a connection: one reads and never waits for anything else, one writes what
//! callers could not write themselves.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use toolspan_core::{Error, ErrorKind, Outcome, Phase};
use toolspan_io::process::{EndPolicy, ExitStatus, Process};

use crate::connection::Shared;
use crate::error;
use crate::inlet::Stop;
use crate::link::Listener;
use crate::outbox::Flushed;
use crate::way::Piped;

/// After the process has exited, its output may still hold an answer: how long it is read.
const DRAIN: Duration = Duration::from_millis(200);
/// After the end of output, how long the exit status is waited for.
const EXIT_STATUS: Duration = Duration::from_millis(200);
/// How long a frame that was begun may stand still before the server is given up.
const STUCK: Duration = Duration::from_secs(30);

/// The reading task.
pub(crate) struct Reading {
    pub(crate) shared: Arc<Shared>,
    pub(crate) pipe: Arc<Piped>,
    pub(crate) listener: Arc<dyn Listener>,
}

impl Reading {
    /// Reads until the server is gone; then fails every waiting call with the reason.
    pub(crate) async fn run(self) {
        let cause = self.read().await;
        let cause = explained(cause, self.pipe.process.as_ref()).await;
        self.shared.pending.close(cause.clone());
        self.pipe.begin_close(EndPolicy::default());
        if !self.shared.closing.load(Ordering::Acquire) {
            self.listener.ended(&cause);
        }
    }

    /// Reads lines until the end of output, a fatal fault, or a while after the process exited.
    async fn read(&self) -> End {
        let pipe = &self.pipe;
        // Its timer must not depend on what is left of this turn's budget.
        let mut gone = pin!(tokio::task::unconstrained(gone(pipe)));
        poll_fn(|task| {
            // The exit is looked at second: what is there to read is read first. An output that
            // never pauses is pending now and then, too, when this turn's budget is used up;
            // `select!` would then look at nothing.
            loop {
                match pipe.inlet.poll_read(task, &pipe.outbox) {
                    Poll::Ready(None) => {}
                    Poll::Ready(Some(Stop::Output)) => return Poll::Ready(End::Output),
                    Poll::Ready(Some(Stop::Fault(error))) => return Poll::Ready(End::Fault(error)),
                    Poll::Pending => return gone.as_mut().poll(task),
                }
            }
        })
        .await
    }
}

impl Drop for Reading {
    /// Without a reader no call may wait, also when the task was cut short: its runtime was shut
    /// down, or a listener panicked. A cause given before stays.
    fn drop(&mut self) {
        let cause = "the connection is no longer served: its runtime was shut down";
        self.shared.pending.close(error::closed(cause));
        self.pipe.begin_close(EndPolicy::default());
        self.pipe.inlet.close();
    }
}

/// Why reading ended.
enum End {
    /// The end of the server's output.
    Output,
    /// The server takes no more input.
    Input,
    /// The process exited a while ago.
    Exit(ExitStatus),
    /// A fault of the connection or the server.
    Fault(Error),
}

/// The cause with the exit status and the last lines of standard error.
async fn explained(end: End, process: Option<&Process>) -> Error {
    let Some(process) = process else {
        return match end {
            End::Fault(error) => error.with_outcome(Outcome::Unknown),
            _ => error::closed("the server closed the connection"),
        };
    };
    let status = match &end {
        End::Fault(_) => None,
        End::Exit(status) => Some(*status),
        _ => tokio::time::timeout(EXIT_STATUS, process.exited())
            .await
            .ok(),
    };
    let error = match (end, status) {
        (End::Fault(error), _) => error.with_outcome(Outcome::Unknown),
        (_, Some(status)) => error::closed(format!("the server exited: {status}")),
        (End::Input, None) => error::closed("the server closed its standard input"),
        (_, None) => error::closed("the server closed its standard output"),
    };
    error.with_stderr(process.stderr_tail())
}

/// Waits until the server cannot answer any more although its output is open: its process has
/// exited, or it takes no input; then gives it a while for what it has written already.
async fn gone(pipe: &Piped) -> End {
    let exited = async {
        match &pipe.process {
            Some(process) => process.exited().await,
            None => std::future::pending().await,
        }
    };
    let end = tokio::select! {
        status = exited => End::Exit(status),
        fault = pipe.writing.wait() => fault.clone().map_or(End::Input, End::Fault),
    };
    tokio::time::sleep(DRAIN).await;
    end
}

/// The writing task: drains the outbox, and gives the server up when it stops taking a frame.
pub(crate) async fn write(pipe: Arc<Piped>) {
    loop {
        pipe.outbox.work().await;
        if let Some(fault) = flush(&pipe).await {
            // This task alone sets it, once.
            let _ = pipe.writing.set(fault);
            return;
        }
    }
}

/// Writes until nothing is left. Gives why writing cannot go on.
async fn flush(pipe: &Piped) -> Option<Option<Error>> {
    loop {
        let step = poll_fn(|task| pipe.outbox.poll_flush(task));
        match tokio::time::timeout(STUCK, step).await {
            Ok(Ok(Flushed::Some)) => {}
            Ok(Ok(Flushed::All)) => return None,
            Ok(Err(_)) => return Some(None),
            Err(_) if pipe.outbox.is_in_a_frame() => {
                let message =
                    format!("the server read nothing for {STUCK:?} in the middle of a message");
                let error = Error::new(ErrorKind::Closed, Phase::Send, message);
                return Some(Some(error.with_outcome(Outcome::Unknown)));
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::pin::Pin;
    use std::sync::atomic::AtomicU64;
    use std::task::Context;

    use tokio::io::{AsyncRead, ReadBuf};

    use super::*;
    use crate::connection::Connection;
    use crate::inlet::Stream;
    use crate::link::Setup;
    use crate::outbox::Sink;
    use crate::transport::Pipe;

    struct Broken;

    impl Sink for Broken {
        fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }
    }

    /// Always has one more empty line, as far as the turn's budget goes.
    struct Restless(tokio::io::Repeat);

    impl AsyncRead for Restless {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let mut line = [0];
            std::task::ready!(
                Pin::new(&mut self.0).poll_read(context, &mut ReadBuf::new(&mut line))
            )?;
            buffer.put_slice(&line);
            Poll::Ready(Ok(()))
        }
    }

    struct Deaf;

    impl Listener for Deaf {
        fn tools_changed(&self) {}
        fn log(&self, _level: String, _text: String) {}
        fn ended(&self, _cause: &Error) {}
    }

    #[tokio::test]
    async fn an_output_that_never_pauses_does_not_hide_the_end_of_the_server() {
        let pipe = Pipe {
            sink: Box::new(Broken),
            stream: Stream::Joined(Box::new(Restless(tokio::io::repeat(b'\n')))),
            process: None,
        };
        let setup = Setup {
            limits: toolspan_core::guard::Limits::default(),
            next_id: Arc::new(AtomicU64::new(1)),
            listener: Arc::new(Deaf),
            credentials: toolspan_core::guard::Redactor::default(),
        };
        let connection = Connection::open(pipe, setup);
        let error = connection.shake_hands().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert_eq!(error.outcome(), Outcome::NotSent);
    }
}
