//! What is the only door to processes, HTTP and byte streams?
//!
//! Everything here is mechanism: it knows no protocol and no configuration file. It reads neither
//! the environment nor a home directory; whoever starts a process passes a snapshot in.
//!
//! - [`process`]: start a server in its own session, write to and read from it, and leave nothing
//!   behind whatever happens to it or to us.
//! - [`http`]: ask a server within bounds, and only one that may be asked.
//! - [`lines`]: bytes to lines with a cap, the same result for any chunking.
//! - [`sse`]: bytes to server-sent events with a cap, the same result for any chunking.
//! - [`backoff`]: how long to wait before the next try.

pub mod backoff;
pub mod http;
pub mod lines;
pub mod process;
pub mod sse;
