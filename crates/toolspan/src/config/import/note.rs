//! What should a person know about what was taken over?

use std::fmt;

use toolspan_core::guard::sanitise::one_line;

/// One thing to know about an import. It never holds a value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The key of the server it is about; `None` for the import as a whole.
    pub server: Option<String>,
    /// In plain words, with what to do where there is something to do.
    pub message: String,
}

impl Note {
    /// A note on one server.
    pub(super) fn on(server: &str, message: impl Into<String>) -> Self {
        Self {
            server: Some(server.to_owned()),
            message: message.into(),
        }
    }

    /// A note on the whole.
    pub(super) fn general(message: impl Into<String>) -> Self {
        Self {
            server: None,
            message: message.into(),
        }
    }

    /// The JSON object that `config import` gives.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({"server": self.server, "message": self.message})
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.server {
            write!(formatter, "{}: ", one_line(server, 200))?;
        }
        formatter.write_str(&self.message)
    }
}
