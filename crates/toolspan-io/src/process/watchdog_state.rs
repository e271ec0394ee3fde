//! What does a caller see of the watchdog, on every system?

/// Whether something would act if this process were killed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchdogState {
    /// There are no children, so there is none.
    Idle,
    /// It runs.
    Running {
        /// Its process id.
        pid: u32,
    },
    /// There are children but no watchdog: there is no `/bin/sh`, or it was killed. It is tried
    /// again at the next spawn. Until then a killed host leaves servers that ignore the end of their
    /// input.
    Missing,
}
