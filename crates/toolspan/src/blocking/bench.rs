//! The waiting of synchronous callers alone: what the benchmarks hold an engine without a host to.

use toolspan_core::Result;

use super::home::Home;

/// Waits on the runtime of the blocking hosts.
#[derive(Debug)]
pub struct Waiting {
    home: Home,
}

impl Waiting {
    /// Starts the runtime's thread if need be.
    ///
    /// # Errors
    ///
    /// As the making of a blocking host.
    pub fn begin() -> Result<Self> {
        let home = Home::get()?;
        Ok(Self { home })
    }

    /// Waits for a future as a call of the blocking host does.
    ///
    /// # Errors
    ///
    /// `usage` on a thread that runs asynchronous tasks.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output> {
        self.home.block_on(future)
    }
}
