//! What the supervisor hears of its connection, passed on to the host.

use std::sync::Weak;
use std::sync::atomic::Ordering;

use toolspan_core::Error;
use toolspan_core::services::Event;
use toolspan_core::toolbox::ToolBoxState;

use super::Supervisor;
use crate::link::Listener;

/// What the supervisor hears of its connection.
pub(super) struct Ear {
    pub(super) supervisor: Weak<Supervisor>,
}

impl Listener for Ear {
    fn tools_changed(&self) {
        if let Some(supervisor) = self.supervisor.upgrade()
            && !supervisor.change_told.swap(true, Ordering::AcqRel)
        {
            supervisor
                .server
                .services
                .event(&supervisor.server.key, Event::ToolsChanged);
        }
    }

    fn log(&self, level: String, text: String) {
        if let Some(supervisor) = self.supervisor.upgrade() {
            let text = supervisor.server.redactor.redact(&text).into_owned();
            supervisor
                .server
                .services
                .event(&supervisor.server.key, Event::Log { level, text });
        }
    }

    fn ended(&self, cause: &Error) {
        if let Some(supervisor) = self.supervisor.upgrade() {
            let cause = supervisor.placed(cause.clone());
            let state = ToolBoxState::Degraded(cause);
            supervisor
                .server
                .services
                .event(&supervisor.server.key, Event::State(state));
        }
    }
}
