//! How does text leave this program? Through [`Output`] alone: data to stdout, talk to stderr.
//!
//! [`human`], [`json`] and [`losses`] turn values into text, [`table`] lines it up, [`progress`] shows that
//! something is under way; [`report`] tells an error.

#[expect(
    clippy::disallowed_methods,
    reason = "the one door to stdout and stderr"
)]
mod door;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod losses;
pub(crate) mod next_step;
pub(crate) mod observation;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod signature;
mod style;
pub(crate) mod table;
pub(crate) mod tools;

pub(crate) use door::Output;
pub(crate) use style::Style;
