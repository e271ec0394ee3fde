//! Over what can a script be played?

use std::fmt;

use crate::script::Script;
use crate::step::Step;

/// A way in which messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// The standard streams, one message a line.
    Stdio,
    /// Streamable HTTP of the revisions with a handshake (2025-03-26 to 2025-11-25).
    Http,
    /// HTTP+SSE (2024-11-05).
    Sse,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Stdio, Self::Http, Self::Sse];

    /// Its name: `stdio`, `http`, `sse`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The first step that cannot be played over a transport.
pub(crate) fn misfit(script: &Script, transport: Transport) -> Option<&'static str> {
    let mut is_bound = false;
    find(script.steps(), transport, &mut is_bound)
}

/// Recursion is bounded: a script nests at most 128 deep.
fn find(steps: &[Step], transport: Transport, is_bound: &mut bool) -> Option<&'static str> {
    for step in steps {
        let fits = match step {
            Step::CloseStdin
            | Step::CloseStdout
            | Step::StopReading
            | Step::IgnoreEof
            | Step::SpawnGrandchild(_) => transport == Transport::Stdio,
            Step::ExpectRequest(_) => transport != Transport::Stdio,
            Step::Respond(_) | Step::Sse(_) | Step::Break(_) | Step::RawHttp(_) => {
                transport != Transport::Stdio && *is_bound
            }
            Step::ExpireSessions => transport != Transport::Stdio,
            // Over HTTP nothing can be said before somebody asked.
            Step::Send(_) | Step::SendRaw(_) | Step::Split(_) | Step::Cut(_) | Step::Answer => {
                transport == Transport::Stdio || *is_bound
            }
            _ => true,
        };
        if !fits {
            return Some(step.name());
        }
        *is_bound |= matches!(step, Step::Expect(_) | Step::ExpectRequest(_));
        if let Some(misfit) = find(step.inner(), transport, is_bound) {
            return Some(misfit);
        }
    }
    None
}
