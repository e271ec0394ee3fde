//! How is what toolboxes say outside of calls freed of the secrets that they were given in calls?
//!
//! A server that was sent a secret may log it, write it to standard error, or name it as the reason of
//! its end.

use std::sync::Arc;

use toolspan_core::execute::Secrets;
use toolspan_core::guard::Redactor;
use toolspan_core::services::Event;
use toolspan_core::toolbox::{Diagnosis, ToolBoxState};
use toolspan_core::{BrokenTool, Services};

use crate::status::ToolboxStatus;

/// Tells events on without secrets.
pub(crate) struct Hiding {
    pub(crate) services: Arc<dyn Services>,
    pub(crate) secrets: Arc<Secrets>,
}

impl Services for Hiding {
    fn event(&self, toolbox: &str, event: Event) {
        let redactor = self.secrets.redactor();
        let event = match event {
            Event::State(state) => Event::State(hidden_in_state(state, &redactor)),
            Event::Log { level, text } => Event::Log {
                level: redactor.redact(&level).into_owned(),
                text: redactor.redact(&text).into_owned(),
            },
            other => other,
        };
        self.services.event(toolbox, event);
    }
}

/// A state without secrets in its error.
fn hidden_in_state(state: ToolBoxState, redactor: &Redactor) -> ToolBoxState {
    match state {
        ToolBoxState::Degraded(error) => ToolBoxState::Degraded(error.redacted(redactor)),
        ToolBoxState::Failed(error) => ToolBoxState::Failed(error.redacted(redactor)),
        other => other,
    }
}

/// A status without secrets.
pub(crate) fn hidden_in_status(mut status: ToolboxStatus, redactor: &Redactor) -> ToolboxStatus {
    status.state = hidden_in_state(status.state, redactor);
    for BrokenTool { reason, .. } in &mut status.broken {
        *reason = redactor.redact(reason).into_owned();
    }
    status
}

/// A diagnosis without secrets.
pub(crate) fn hidden_in_diagnosis(mut diagnosis: Diagnosis, redactor: &Redactor) -> Diagnosis {
    for text in std::iter::once(&mut diagnosis.stderr).chain(&mut diagnosis.notes) {
        *text = redactor.redact(text).into_owned();
    }
    for step in &mut diagnosis.steps {
        step.what = redactor.redact(&step.what).into_owned();
        match &mut step.result {
            Ok(said) => *said = redactor.redact(said).into_owned(),
            Err(error) => *error = error.clone().redacted(redactor),
        }
    }
    diagnosis
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use toolspan_core::execute::SecretAccess;
    use toolspan_core::guard::Secret;
    use toolspan_core::{Error, ErrorKind, Phase};

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Services for Heard {
        fn event(&self, toolbox: &str, event: Event) {
            let mut heard = self.0.lock().expect("no test panics with it");
            heard.push(format!("{toolbox} {event:?}"));
            if let Event::State(state) = event {
                let stderr = state.error().and_then(Error::stderr);
                heard.extend(stderr.map(str::to_owned));
            }
        }
    }

    #[test]
    fn log_messages_and_states_tell_no_secret() {
        let source = |_: &str| Some(Secret::new("very-secret-value"));
        let secrets = Arc::new(Secrets::new(source));
        let heard = Arc::new(Heard::default());
        let hiding = Hiding {
            services: Arc::clone(&heard) as _,
            secrets: Arc::clone(&secrets),
        };
        let access = SecretAccess::new(&secrets, ["TOKEN"]);
        access.secret("TOKEN").expect("it may have it");
        let error = Error::new(ErrorKind::Closed, Phase::Call, "it ended")
            .with_stderr("bad key very-secret-value".to_owned());
        let log = Event::Log {
            level: "info".to_owned(),
            text: "got very-secret-value".to_owned(),
        };
        for event in [log, Event::State(ToolBoxState::Failed(error))] {
            hiding.event("box", event);
        }
        let heard = heard.0.lock().expect("no test panics with it").join("\n");
        assert!(heard.contains("got [redacted]"), "{heard}");
        assert!(heard.contains("bad key [redacted]"), "{heard}");
        assert!(!heard.contains("very-secret"), "{heard}");
    }
}
