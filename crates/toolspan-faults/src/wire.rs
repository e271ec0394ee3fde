//! What does a player need of the way its messages travel?

use std::fs::File;
use std::io;

use serde_json::Value;

use crate::error::PlayFailure;
use crate::http_step::ExpectRequest;
use crate::placeholder::Placeholders;
use crate::player::Ended;
use crate::step::{Hold, Set, Step};

/// Why a step is not followed by the next one.
pub(crate) enum Stop {
    /// The play ends.
    End(Ended),
    /// The play cannot go on.
    Failure(PlayFailure),
    /// Nobody is left to read this answer: the loop that writes it ends, the script goes on.
    Gone,
}

pub(crate) type Flow = Result<(), Stop>;

/// What came in; it stays the wire's until it is answered, ignored or bound.
pub(crate) enum Incoming {
    /// A JSON-RPC message.
    Message(Value),
    /// A request of HTTP that carries no message, or one that the server does not let in.
    Request,
    /// The barrier that was waited at is open.
    Released,
}

/// Whether a wait was over at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The barrier is open.
    Passed,
    /// [`Incoming::Released`] will come; meanwhile other messages may.
    Waiting,
}

/// What the script will do with the message it has just bound, up to the next step that reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outlook {
    /// Whether more than one message or raw text is sent, so that HTTP needs a stream.
    pub(crate) sends_several: bool,
    /// Whether a step of HTTP's own answers.
    pub(crate) answers_http: bool,
}

/// Where messages come from and go to. One message is open at a time: the one received last.
pub(crate) trait Wire {
    /// Waits for what comes next.
    fn receive(&mut self) -> Result<Incoming, Stop>;

    /// Answers what was received last as a well-behaved server does; a request of HTTP that is no
    /// message has no `reply`.
    fn answer(&mut self, reply: Option<Value>) -> Flow;

    /// As [`answer`](Self::answer), once the barrier is open.
    fn answer_when_released(&mut self, reply: Option<Value>, hold: &Hold) -> Flow;

    /// Leaves what was received last without an answer.
    fn ignore(&mut self) -> Flow;

    /// From here on the script acts on what was received last.
    fn bind(&mut self, outlook: Outlook, placeholders: &mut Placeholders) -> Flow;

    /// Whether what was received last is the request that a script waits for.
    fn is_expected(&self, expected: &ExpectRequest) -> Result<bool, Stop>;

    /// So many bytes follow, one message (which can be looked at) or raw text; the newline of a
    /// message is counted.
    fn begin(&mut self, message: Option<&Value>, length: u64) -> Flow;

    /// Writes some of these bytes.
    fn write(&mut self, bytes: &[u8]) -> Flow;

    /// No more of them are written, whether or not all have been.
    fn end(&mut self) -> Flow;

    /// Hands everything written to the system.
    fn flush(&mut self) -> Flow;

    /// Writes to the standard error stream.
    fn errors(&mut self) -> &mut dyn io::Write;

    /// Waits at a barrier, or begins to.
    fn wait_at(&mut self, barrier: File) -> Result<Held, Stop>;

    /// Takes over what a script sets about HTTP.
    fn set(&mut self, set: &Set);

    /// Plays a step that exists over HTTP only.
    fn play_http(&mut self, step: &Step, placeholders: &Placeholders) -> Flow;

    /// Closes or ignores a standard stream, as one of the steps about these says.
    fn change_streams(&mut self, step: &Step) -> Flow;

    /// What happens after the last step, and before anything is read then.
    fn linger(&mut self) -> Flow;
}

/// The end of a play because the operating system refused something.
pub(crate) fn system_failure(what: &str, source: io::Error) -> Stop {
    Stop::Failure(PlayFailure::System {
        what: what.to_owned(),
        source,
    })
}

/// Finds out what steps will do up to the next one that reads. Recursion is bounded: a script nests
/// at most 128 deep.
pub(crate) fn outlook(steps: &[Step]) -> Outlook {
    let mut found = Outlook::default();
    look_ahead(steps, &mut 0, &mut found);
    found
}

/// Returns whether a step that reads was met.
fn look_ahead(steps: &[Step], sent: &mut u32, found: &mut Outlook) -> bool {
    for step in steps {
        match step {
            Step::Send(_) | Step::SendRaw(_) | Step::Split(_) | Step::Cut(_) | Step::Answer => {
                *sent += 1;
            }
            Step::Respond(_) | Step::Sse(_) | Step::Break(_) | Step::RawHttp(_) => {
                found.answers_http = true;
            }
            _ => {
                let before = *sent;
                if step.reads() || look_ahead(step.inner(), sent, found) {
                    return true;
                }
                // A second round sends again.
                if matches!(step, Step::Loop(inner) if inner.times != Some(1)) && *sent > before {
                    *sent += 1;
                }
            }
        }
        found.sends_several = *sent > 1;
    }
    false
}
