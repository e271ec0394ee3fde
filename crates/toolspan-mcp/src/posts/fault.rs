//! How the faults of HTTP become the one error of the house.

use toolspan_core::{Error, ErrorKind, Outcome, Phase};
use toolspan_io::http::HttpError;

use crate::error;

/// The error of a request, or of a response that could not be read to its end.
pub(crate) fn of(error: &HttpError, message_bytes: usize) -> Error {
    let message = error.to_string();
    let sent = match error.was_sent() {
        true => Outcome::Unknown,
        false => Outcome::NotSent,
    };
    let new = |kind, phase| Error::new(kind, phase, message.clone()).with_outcome(sent);
    match error {
        HttpError::TooLarge { .. } => error::too_large(message_bytes),
        HttpError::Unpacking { .. } => error::protocol(message),
        HttpError::Redirect { status, .. } => error::protocol(message).with_http_status(*status),
        HttpError::Invalid { .. } => new(ErrorKind::Usage, Phase::Send),
        HttpError::Timeout { .. } if error.was_sent() => new(ErrorKind::Timeout, Phase::Call),
        _ if error.was_sent() => new(ErrorKind::Closed, Phase::Call),
        _ => new(ErrorKind::Connect, Phase::Connect),
    }
}
