//! The heart of a connection, without I/O and without a clock: who waits for what, and what a line
//! from the server means.
//!
//! [`slot`] is one waiting call, [`pending`] the table of them, [`receive`] turns lines into ends
//! of calls and events, [`counters`] keeps what `doctor` shows.

pub(crate) mod counters;
pub(crate) mod pending;
pub(crate) mod receive;
#[cfg(test)]
mod receive_properties;
pub(crate) mod slot;
