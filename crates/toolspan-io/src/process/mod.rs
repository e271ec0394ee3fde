//! How does a server run as a process that can neither hurt its host nor outlive it?
//!
//! [`spawn`] takes a [`Launch`] and gives a [`Child`]: two pipes and a [`Process`]. On Linux:
//!
//! - The child leads a session and group of its own, gets three pipes and no other descriptor, and
//!   only the environment it was given.
//! - One plain thread per host process, `toolspan-reaper`, collects children when they exit, keeps
//!   the tail of their standard error, and carries out their end: a grace after the end of input,
//!   SIGTERM, SIGKILL. It runs while there are children and waits for events, not in steps. It waits
//!   for our own children by id only: no `waitpid(-1)`, no SIGCHLD handler, no subreaper.
//! - Whatever left the group is found in `/proc` by the cookie in its environment
//!   ([`COOKIE_VARIABLE`]) and ended too.
//! - If the host itself is killed, a watchdog (one `/bin/sh`, alive while there are children) ends
//!   the groups and looks for cookies, within 3 s. [`watchdog_state`] says whether there is one.
//!
//! Not promised: a descendant that left its group *and* scrubbed its environment, or that changed
//! to another user. If the host forks without exec, the watchdog notices the host's death only when
//! the copy is gone as well, because the copy holds the same pipe; unless the copy calls
//! [`let_go_after_fork`].
//!
//! A process id is never signalled on trust: a group only while its leader has not been collected,
//! everything else through a pidfd opened first and checked after (by id where the kernel is older
//! than pidfds, 5.3, just after a look).
//!
//! Other Unix systems have no `/proc` of this kind and no pidfd: there the group is ended on close
//! and drop, the thread looks for exits every 20 ms, and what left the group stays. On Windows
//! [`spawn`] gives [`SpawnError::Unsupported`].

mod cookie;
mod end_policy;
mod error;
mod exit_status;
mod launch;
mod watchdog_state;

#[cfg(unix)]
mod environment;
#[cfg(unix)]
mod handle;
#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod latch;
#[cfg(unix)]
mod pipes;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod reaper;
#[cfg(target_os = "linux")]
mod signalless;
#[cfg(unix)]
mod spawn;
#[cfg(unix)]
mod stderr_tail;
#[cfg(unix)]
mod system;

#[cfg(not(unix))]
mod windows;

pub(crate) use cookie::unpredictable_bits;
pub use end_policy::EndPolicy;
pub use error::SpawnError;
pub use exit_status::ExitStatus;
pub use launch::{COOKIE_VARIABLE, InheritEnv, Launch, SAFE_VARIABLES};
pub use watchdog_state::WatchdogState;

#[cfg(unix)]
pub use self::{
    handle::{Child, Process},
    interrupt::Interrupt,
    pipes::{AsyncStdin, AsyncStdout, ChildStdin, ChildStdout},
    reaper::{let_go_after_fork, watchdog_state},
    spawn::spawn,
};

#[cfg(not(unix))]
pub use windows::{
    AsyncStdin, AsyncStdout, Child, ChildStdin, ChildStdout, Interrupt, Process, let_go_after_fork,
    spawn, watchdog_state,
};
