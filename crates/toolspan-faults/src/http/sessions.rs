//! Which sessions are there, and which stream belongs to which?

/// The most sessions that are remembered; the oldest is forgotten for one more.
const MAX_SESSIONS: usize = 1024;

/// The sessions that were begun and not ended.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    begun: u64,
    open: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    id: String,
    /// The connection of the stream opened last.
    stream: Option<u64>,
}

impl Sessions {
    /// Begins a session under an id, or under a new one. An id may be given again.
    pub(crate) fn begin(&mut self, id: Option<String>) -> String {
        self.begun += 1;
        let id = id.unwrap_or_else(|| format!("session-{}", self.begun));
        self.open.retain(|session| session.id != id);
        if self.open.len() >= MAX_SESSIONS {
            self.open.remove(0);
        }
        let stream = None;
        self.open.push(Session {
            id: id.clone(),
            stream,
        });
        id
    }

    /// Whether a session of that id is open.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.open.iter().any(|session| session.id == id)
    }

    /// Notes the stream of a session.
    pub(crate) fn attach(&mut self, id: &str, stream: u64) {
        if let Some(session) = self.open.iter_mut().find(|session| session.id == id) {
            session.stream = Some(stream);
        }
    }

    /// The stream of a session.
    pub(crate) fn stream(&self, id: &str) -> Option<u64> {
        self.open.iter().find(|session| session.id == id)?.stream
    }

    /// Ends a session and returns its stream.
    pub(crate) fn end(&mut self, id: &str) -> Option<u64> {
        let stream = self.stream(id);
        self.open.retain(|session| session.id != id);
        stream
    }

    /// Ends all sessions and returns their streams.
    pub(crate) fn end_all(&mut self) -> Vec<u64> {
        let ended = std::mem::take(&mut self.open);
        ended
            .into_iter()
            .filter_map(|session| session.stream)
            .collect()
    }

    /// Ends the sessions that lived by a stream, as those of HTTP+SSE do.
    pub(crate) fn end_with_stream(&mut self, stream: u64) {
        self.open.retain(|session| session.stream != Some(stream));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lives_until_it_is_ended_or_its_stream_is() {
        let mut sessions = Sessions::default();
        let first = sessions.begin(None);
        let second = sessions.begin(None);
        assert_ne!(first, second);
        sessions.attach(&first, 7);
        assert_eq!(sessions.end(&first), Some(7));
        assert!(!sessions.knows(&first) && sessions.knows(&second));
        sessions.attach(&second, 8);
        sessions.end_with_stream(8);
        assert!(!sessions.knows(&second));
    }

    #[test]
    fn the_oldest_session_is_forgotten() {
        let mut sessions = Sessions::default();
        let first = sessions.begin(None);
        for _ in 0..MAX_SESSIONS {
            sessions.begin(None);
        }
        assert!(!sessions.knows(&first));
        assert_eq!(sessions.open.len(), MAX_SESSIONS);
    }
}
