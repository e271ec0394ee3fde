//! Who looks after the children when nobody waits for them?
//!
//! - `mod`: the door: a place is reserved before a spawn and filled after it; the thread is woken.
//! - `thread`: the loop that waits for events of all children.
//! - `charge`: one child: its exit, its standard error, the steps of its end.
//! - `census`: who in `/proc` belongs to which child.
//! - `watchdog`: the shell that acts when the host is killed.

mod census;
mod charge;
mod door;
mod own_child;
mod thread;
mod watchdog;

pub use door::watchdog_state;
pub(super) use door::{Adopted, reserve, wake};
pub use watchdog::let_go_after_fork;
