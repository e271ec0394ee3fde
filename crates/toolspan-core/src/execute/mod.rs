//! How a valid call runs: a place among the calls in flight, its resources for itself, a deadline, a
//! way out, no panic.
//!
//! `context` is what the executor is given, `gate` bounds the calls in flight, `locks` keeps calls
//! apart that share a resource, `holding` lets a call within a call take part in both, `secrets`
//! puts secrets into calls, `intercept` lets others look at a call before it runs, `batch` runs
//! several, `deadline` ends a call that takes too long or is cancelled, with a timer or, for a caller
//! that polls by itself, without one (`unaided`, which also lets such a caller fetch its
//! answer). All of it comes together in [`run`].

mod batch;
mod context;
mod deadline;
mod gate;
mod holding;
mod intercept;
mod locks;
mod options;
mod panics;
mod run;
pub(crate) mod secrets;
mod unaided;

pub use batch::{Batch, FINISH};
pub use context::Context;
pub use deadline::within;
pub use gate::{Gate, Gates};
pub use intercept::{InterceptedCall, Interceptor, Next, intercepted};
pub use locks::{ResourceLocks, Resources};
pub use options::{CallOptions, Progress, ProgressSink, State};
pub use run::run;
pub use secrets::{REFERENCE, SecretAccess, SecretSource, Secrets};
pub use unaided::{Polled, Source, comes_from, poll_unaided};
