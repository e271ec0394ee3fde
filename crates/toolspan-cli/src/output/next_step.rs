//! What can a person do about an error? Its own hint, or what helps with errors of its kind.

use std::borrow::Cow;
use std::time::Duration;

use toolspan::{Error, ErrorKind, Phase};

/// What answers there is something else than a server of MCP.
const NO_SERVER: &str =
    "check the URL: what answers there is no MCP server, or a page in front of one";

/// The next step after an error, as far as one is known.
pub(crate) fn after(error: &Error) -> Option<Cow<'_, str>> {
    match (error.hint(), error.http_status()) {
        (Some(hint), Some(401)) => Some(Cow::Owned(format!(
            "{hint}; with --url, give --header \"Authorization: Bearer TOKEN\""
        ))),
        (Some(hint), _) => Some(Cow::Borrowed(hint)),
        (None, _) => of_kind(error).map(Cow::Borrowed),
    }
}

/// An error as it is told where `--timeout` was this: if that set the limit which a start met, it is
/// what to raise, and not the limit in the config.
pub(crate) fn within(timeout: Option<Duration>, error: Error) -> Error {
    let is_met = |timeout: Duration| {
        let limits = ["timeouts.connect", "timeouts.list"];
        let ends = limits.map(|limit| format!(" within {timeout:?} ({limit})"));
        ends.iter().any(|end| error.message().ends_with(end))
    };
    match error.kind() {
        ErrorKind::Timeout if timeout.is_some_and(is_met) => {
            error.with_hint("--timeout was the limit: give a longer one")
        }
        _ => error,
    }
}

fn of_kind(error: &Error) -> Option<&'static str> {
    match (error.http_status(), error.kind(), error.phase()) {
        // A POST, the one way to speak with a server, is nothing that is known there.
        (Some(501), _, Phase::Handshake) => Some(NO_SERVER),
        (Some(500..=599), ..) => Some("look at the server's own log: the fault is on its side"),
        (Some(200..=299), ErrorKind::Protocol, _) => Some(NO_SERVER),
        (None, ErrorKind::Connect, Phase::Handshake) if broke_in_plain_http(error) => {
            Some("check the port; if the server wants TLS, its URL begins with https")
        }
        (None, ErrorKind::Timeout, Phase::Handshake) => {
            Some("find out what the server waits for, or raise timeouts.connect")
        }
        _ => None,
    }
}

/// What a server behind TLS does to whoever speaks plain HTTP with it: it hangs up.
fn broke_in_plain_http(error: &Error) -> bool {
    error.message().starts_with("the exchange with http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(kind: ErrorKind, status: Option<u16>, hint: Option<&str>) -> Option<String> {
        let mut error = Error::new(kind, Phase::Handshake, "it went wrong");
        if let Some(status) = status {
            error = error.with_http_status(status);
        }
        if let Some(hint) = hint {
            error = error.with_hint(hint);
        }
        after(&error).map(Cow::into_owned)
    }

    #[test]
    fn a_hint_of_the_error_comes_first() {
        let own = next(ErrorKind::Protocol, Some(200), Some("do this"));
        assert_eq!(own.as_deref(), Some("do this"));
    }

    #[test]
    fn a_longer_timeout_helps_only_where_that_was_the_limit() {
        let hint = |kind, message: &str| {
            let error = Error::new(kind, Phase::Handshake, message).with_hint("its own");
            let told = within(Some(Duration::from_secs(2)), error);
            told.hint().map(str::to_owned).unwrap()
        };
        for limit in ["connect", "list"] {
            let met = format!("it did not answer within 2s (timeouts.{limit})");
            let own = hint(ErrorKind::Timeout, &met);
            assert_eq!(own, "--timeout was the limit: give a longer one");
            assert_eq!(hint(ErrorKind::Closed, &met), "its own");
            let shorter = met.replace("2s", "1.2s");
            assert_eq!(hint(ErrorKind::Timeout, &shorter), "its own");
        }
    }

    #[test]
    fn credentials_can_be_given_on_the_command_line_too() {
        let refused = next(ErrorKind::Auth, Some(401), Some("set it")).unwrap();
        assert!(refused.starts_with("set it; with --url, give --header "));
    }

    #[test]
    fn a_server_that_knows_no_post_is_not_blamed_for_a_fault() {
        let none = next(ErrorKind::Connect, Some(501), None).unwrap();
        assert!(none.starts_with("check the URL"), "{none}");
        let fault = next(ErrorKind::Connect, Some(500), None).unwrap();
        assert!(fault.starts_with("look at the server's own log"), "{fault}");
    }
}
