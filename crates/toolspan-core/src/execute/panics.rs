//! What is told of a panic in foreign code?

use std::any::Any;

use crate::guard::outcome::{Outcome, Phase};
use crate::{Error, ErrorKind};

/// The error of something that panicked, with the panic's own words where they are text.
pub(super) fn of(what: &str, panic: &(dyn Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    let message = format!("{what} panicked: {words}");
    Error::new(ErrorKind::Internal, Phase::Call, message)
        .with_outcome(Outcome::Unknown)
        .with_hint("this is a fault in its code; other calls are not affected")
}
