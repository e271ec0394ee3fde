//! How do contestants in Python take their turns?
//!
//! Each is a small program in `benches/python/`, started once, before the first round, most with the
//! command of the echo server as their arguments. A round is a line with a number of calls in, and a
//! line with the median call's microseconds out (`rounds.py`). All waits have a bound.

mod answers;
mod import;
mod places;
mod process;
mod runner;
mod versions;

pub(crate) use import::Import;
pub(crate) use places::{ADAPTERS, Program, SCHEMAS, SDK};
pub(crate) use runner::Runner;
pub(crate) use versions::{describe, describe_module};
