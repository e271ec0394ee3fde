//! Who owns what runs on the home's runtime while nobody waits for it on a thread?

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::{AbortHandle, JoinSet};
use toolspan_core::Result;

use super::home::Home;

/// Tasks on the runtime of a [`Home`], with one owner: dropping it ends them all.
///
/// It holds what runs and no more; bounded by whoever begins tasks, for calls by the limits of their
/// host.
#[derive(Debug, Default)]
pub struct Tasks {
    /// Held for adding, looking and ending, never while waiting.
    running: Mutex<JoinSet<()>>,
}

/// A task that was begun. Dropping this changes nothing.
#[derive(Clone, Debug)]
pub struct Task(AbortHandle);

impl Tasks {
    /// Runs a future on the runtime's own thread. It must not block, and what it panics with is
    /// lost.
    ///
    /// # Errors
    ///
    /// `usage` in a forked copy of the process.
    pub fn begin(
        &self,
        home: &Home,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Task> {
        let drive = home.here()?.drive();
        let mut running = self.lock();
        // Ended ones are taken out, so that the set never grows.
        while running.try_join_next().is_some() {}
        let task = Task(running.spawn_on(future, drive.handle()));
        drive.attend();
        Ok(task)
    }

    /// Ends all tasks that run: their futures are dropped soon, on the runtime's thread.
    pub fn end(&self) {
        self.lock().abort_all();
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// Ends the task: its future is dropped soon, on the runtime's thread. Nothing for one that has
    /// ended.
    pub fn end(&self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    /// A future that never ends, and what is told once it is dropped.
    fn endless() -> (
        impl Future<Output = ()> + Send + 'static,
        oneshot::Receiver<()>,
    ) {
        let (held, dropped) = oneshot::channel::<()>();
        let future = async move {
            let _held = held;
            std::future::pending::<()>().await;
        };
        (future, dropped)
    }

    #[test]
    fn a_task_that_is_ended_drops_its_future_and_no_other() {
        let (home, tasks) = (Home::get().unwrap(), Tasks::default());
        let ((first, first_dropped), (second, mut second_dropped)) = (endless(), endless());
        let task = tasks.begin(&home, first).unwrap();
        tasks.begin(&home, second).unwrap();
        task.end();
        assert!(home.block_on(first_dropped).unwrap().is_err());
        assert!(second_dropped.try_recv() == Err(oneshot::error::TryRecvError::Empty));
        tasks.end();
        assert!(home.block_on(second_dropped).unwrap().is_err());
    }

    #[test]
    fn tasks_end_with_their_owner() {
        let (home, tasks) = (Home::get().unwrap(), Tasks::default());
        let (future, dropped) = endless();
        tasks.begin(&home, future).unwrap();
        drop(tasks);
        assert!(home.block_on(dropped).unwrap().is_err());
    }

    #[test]
    fn a_forked_copy_begins_no_task() {
        let home = Home::get().unwrap().left_behind();
        assert!(Tasks::default().begin(&home, async {}).is_err());
    }
}
