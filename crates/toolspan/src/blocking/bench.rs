//! The waiting of synchronous callers alone: what the benchmarks hold an engine without a host to.

use toolspan_core::Result;

use super::{home, wait};

/// Waits for a future as a call of the blocking host does.
///
/// # Errors
///
/// As a call of the blocking host, before its call begins.
pub fn wait<F: Future>(future: F) -> Result<F::Output> {
    wait::block_on(&home::handle()?, future)
}
