//! Which rows does the table have, who runs in them, and what is claimed?
//!
//! From Rust ([`rust`]): P4 is one call at a time, asynchronous and synchronous; P5 is 64 calls in
//! flight; P6 is P4 over streamable HTTP, where the floor is a client of HTTP alone, called in the
//! same way. From Python ([`python`]): P1 to P3 are one call at a time beside clients in Python and
//! beside a bare pipe; P13 is the time of an import; P14 is memory.
//! Beside no server ([`local`]): P7 is a call of a tool of one's own, P8 is what is done once with the
//! schemas of recorded tools.

mod choice;
mod local;
mod python;
mod rust;

pub(crate) use choice::{
    Bar, Contestant, Line, Round, Start, contestants, have_module, have_python, lines,
};
