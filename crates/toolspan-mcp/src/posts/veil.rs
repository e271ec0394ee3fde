//! Which secrets a server's response may repeat, and how they are kept out of what is shown.

use http::HeaderValue;
use toolspan_core::Error;
use toolspan_core::guard::Redactor;

use super::{Post, Posts};

/// Hides the secrets of the config, the name of the session, and the headers of one call.
pub(super) struct Veil {
    of_config: Redactor,
    of_exchange: Redactor,
}

impl Veil {
    /// The text without secrets.
    pub(super) fn over(&self, text: &str) -> String {
        let text = self.of_config.redact(text);
        self.of_exchange.redact(&text).into_owned()
    }

    /// The secrets of a config alone.
    pub(super) fn of_config(redactor: &Redactor) -> Self {
        Self {
            of_config: redactor.clone(),
            of_exchange: Redactor::default(),
        }
    }
}

impl Posts {
    /// An error without the name of the session: whoever has that can act in it.
    pub(crate) fn hide(&self, error: Error) -> Error {
        let live = self.session.live();
        let name = live.name().and_then(text);
        error.redacted(&Redactor::new(name))
    }

    /// What hides the secrets of this way, and of a request on it.
    pub(super) fn veil(&self, post: Option<&Post>) -> Veil {
        let live = self.session.live();
        let of_call = post.into_iter().flat_map(Post::header_values);
        let values = live.name().into_iter().chain(of_call);
        Veil {
            of_config: self.redactor.clone(),
            of_exchange: Redactor::new(values.filter_map(text)),
        }
    }
}

fn text(value: &HeaderValue) -> Option<&str> {
    std::str::from_utf8(value.as_bytes()).ok()
}
