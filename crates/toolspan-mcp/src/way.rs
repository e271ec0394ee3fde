//! How messages get to a server: all through one pipe, or each in an HTTP request of its own.

use std::sync::Arc;
use std::task::Waker;

use tokio::sync::SetOnce;
use toolspan_core::Error;
use toolspan_core::execute::{self, Source};
use toolspan_io::process::{EndPolicy, Process};

use crate::core::pending::CallSlot;
use crate::inlet::Inlet;
use crate::outbox::{Outbox, Sent, Withdrawn};
use crate::posts::Posts;

/// The way from a connection to its server. An enum and not a trait: on the way of every call
/// nothing is looked up and nothing allocated.
pub(crate) enum Way {
    /// One pipe that callers write to, and that two tasks read and drain.
    Piped(Arc<Piped>),
    /// Requests over HTTP, each of which may bring its own reply.
    Posted(Arc<Posts>),
}

/// A pipe to a server: what its two tasks, its callers and its owner share.
pub(crate) struct Piped {
    pub(crate) outbox: Outbox,
    pub(crate) inlet: Inlet,
    pub(crate) process: Option<Process>,
    /// Set when the writing task gave up: the server takes no more input, or the fault it is in.
    pub(crate) writing: SetOnce<Option<Error>>,
}

/// The server takes no more input.
#[derive(Debug)]
pub(crate) struct Broken;

impl Way {
    /// The process at the other end, where there is one.
    pub(crate) fn process(&self) -> Option<&Process> {
        match self {
            Self::Piped(pipe) => pipe.process.as_ref(),
            Self::Posted(_) => None,
        }
    }

    /// Tells a caller, which now waits for its reply, that it may fetch it from here by itself.
    pub(crate) fn offer(&self, caller: &Waker) {
        if let Self::Piped(pipe) = self {
            execute::comes_from(caller, || Arc::clone(pipe) as Arc<dyn Source>);
        }
    }

    /// Takes a request back, if not one byte of it was sent. Says so again when it is asked again.
    pub(crate) fn withdraw(&self, slot: &Arc<CallSlot>) -> Withdrawn {
        match self {
            Self::Piped(pipe) => pipe.outbox.withdraw(slot),
            Self::Posted(_) if slot.withdraw() => Withdrawn::Whole,
            Self::Posted(_) => Withdrawn::Written,
        }
    }

    /// Sends a notification, without waiting; whether it arrives stays unknown.
    pub(crate) fn notify(&self, frame: Vec<u8>) {
        match self {
            Self::Piped(pipe) => {
                pipe.outbox.notify(frame);
            }
            Self::Posted(posts) => posts.notify(frame),
        }
    }

    /// Says goodbye where the protocol has a word for it. The caller bounds it.
    pub(crate) async fn say_good_bye(&self) {
        match self {
            Self::Piped(_) => {}
            Self::Posted(posts) => posts.say_good_bye().await,
        }
    }

    /// An error without what is secret on this way.
    pub(crate) fn hide(&self, error: Error) -> Error {
        match self {
            Self::Piped(_) => error,
            Self::Posted(posts) => posts.hide(error),
        }
    }

    /// What a person may want to know of the way, one fact a line.
    pub(crate) fn notes(&self) -> Vec<String> {
        match self {
            Self::Piped(_) => Vec::new(),
            Self::Posted(posts) => posts.notes(),
        }
    }

    /// Starts the end and returns at once. `policy` is for the process, where there is one.
    pub(crate) fn begin_close(&self, policy: EndPolicy) {
        match self {
            Self::Piped(pipe) => pipe.begin_close(policy),
            Self::Posted(posts) => posts.begin_close(),
        }
    }
}

impl Piped {
    pub(crate) fn new(outbox: Outbox, inlet: Inlet, process: Option<Process>) -> Self {
        Self {
            outbox,
            inlet,
            process,
            writing: SetOnce::new(),
        }
    }

    /// Gives the frame of a waiting request to the outbox, waiting for room if need be.
    /// `under_way` is how many requests wait, this one included.
    ///
    /// # Errors
    ///
    /// When the server takes no more input.
    pub(crate) async fn send(
        &self,
        mut frame: Vec<u8>,
        slot: &Arc<CallSlot>,
        under_way: usize,
    ) -> Result<(), Broken> {
        // Made only when it is needed, and before the try that it follows: room that comes in
        // between is not missed.
        let mut room = None;
        loop {
            match self.outbox.send(frame, slot, under_way) {
                Sent::Taken => return Ok(()),
                Sent::Broken => return Err(Broken),
                Sent::Full(back) => {
                    frame = back;
                    match room.take() {
                        None => room = Some(self.outbox.room()),
                        Some(room) => room.await,
                    }
                }
            }
        }
    }

    /// Ends the server's input, then the server.
    pub(crate) fn begin_close(&self, policy: EndPolicy) {
        self.outbox.close();
        if let Some(process) = &self.process {
            process.begin_end(policy);
        }
    }
}
