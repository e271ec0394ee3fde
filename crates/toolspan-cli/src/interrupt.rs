//! What happens on Ctrl-C and SIGTERM? The first asks everything to end, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio_util::sync::CancellationToken;
use toolspan::{Error, ErrorKind, Phase};

use crate::exit::{self, Code};

/// Whether the user wants the program to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    /// Cancelled by the first signal. Calls are cancelled by it too, at their servers.
    token: CancellationToken,
    /// The exit code for the signal that came; 0 before that.
    code: Arc<AtomicU8>,
}

impl Interrupt {
    /// Listens from now on, on a thread of its own: a signal is heard even while the program is
    /// stuck writing to a pipe that nobody reads. The thread ends with the process.
    ///
    /// # Errors
    ///
    /// When the system gives no thread or no signal handler.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let interrupt = Self::default();
        let listening = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let mut signals = {
            let _inside = runtime.enter();
            Signals::new()?
        };
        std::thread::Builder::new()
            .name("toolspan-signals".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    listening.note(signals.next().await);
                    exit::at_once(signals.next().await);
                });
            })?;
        Ok(interrupt)
    }

    /// What cancels a call.
    pub(crate) fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// The exit code for the signal that came, if one came.
    pub(crate) fn code(&self) -> Option<Code> {
        match self.code.load(Ordering::Acquire) {
            0 => None,
            code if code == Code::TERMINATED.number() => Some(Code::TERMINATED),
            _ => Some(Code::INTERRUPTED),
        }
    }

    /// The work's result, or `cancelled` when a signal comes first.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        let stopped = || Error::new(ErrorKind::Cancelled, Phase::Connect, "stopped by a signal");
        tokio::select! {
            biased;
            () = self.token.cancelled() => Err(stopped()),
            ended = work => Ok(ended),
        }
    }

    /// Ends the program as Ctrl-C does, for a Ctrl-C that is typed as an answer.
    pub(crate) fn stop(&self) {
        self.note(Code::INTERRUPTED);
    }

    fn note(&self, code: Code) {
        self.code.store(code.number(), Ordering::Release);
        self.token.cancel();
    }
}

/// The signals that mean the end.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Code {
        tokio::select! {
            _ = self.interrupt.recv() => Code::INTERRUPTED,
            _ = self.terminate.recv() => Code::TERMINATED,
        }
    }
}

/// The signals that mean the end.
#[cfg(not(unix))]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> Code {
        self.0.recv().await;
        Code::INTERRUPTED
    }
}
