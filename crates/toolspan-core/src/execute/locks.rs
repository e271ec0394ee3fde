//! Which calls must not run at the same time, and who is next for what they share?
//!
//! A call joins the queues of all its keys at once, and runs when it is first in each of them. So
//! all queues have their calls in the same order, and no two calls ever wait for each other.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// What a call must have for itself while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resources {
    /// Nothing is known of it: calls of the same tool run one after the other.
    #[default]
    Undeclared,
    /// The call has these for itself, such as `file:/srv/notes.txt`; other calls that declare one of
    /// them wait, whatever their tool. With none it runs beside every other call.
    Declared(Vec<Arc<str>>),
}

impl Resources {
    /// No resource at all: the call may run beside every other one.
    pub const fn none() -> Self {
        Self::Declared(Vec::new())
    }

    /// These resources. The order does not matter, and neither does a key that comes twice.
    ///
    /// ```
    /// use toolspan_core::execute::Resources;
    /// let resources = Resources::of(["file:/srv/notes.txt"]);
    /// assert_ne!(resources, Resources::none());
    /// ```
    pub fn of<K: Into<Arc<str>>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self::Declared(keys.into_iter().map(Into::into).collect())
    }

    /// The keys that stand for it, sorted, each once.
    pub(super) fn keys(self, tool: &Arc<str>) -> Vec<Key> {
        let mut keys = match self {
            Self::Undeclared => return vec![Key::Tool(Arc::clone(tool))],
            Self::Declared(keys) => keys.into_iter().map(Key::Named).collect::<Vec<_>>(),
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// What calls queue for: a tool whose resources are not declared, by its exposed name, or a
/// declared resource. A resource that has a tool's name is not that tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Tool(Arc<str>),
    Named(Arc<str>),
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(tool) => write!(formatter, "tool:{tool}"),
            Self::Named(key) => formatter.write_str(key),
        }
    }
}

/// The resources that the calls of a host use and wait for now. One for each host.
///
/// It holds nothing for a resource that no call uses. As many calls wait as have a place among
/// those in flight (`limits.max_in_flight`, `limits.in_flight_total`).
#[derive(Default)]
pub struct ResourceLocks(Mutex<Queues>);

impl ResourceLocks {
    /// Resources of which none is in use.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many resources are in use now.
    pub fn in_use(&self) -> usize {
        self.queues().of_key.len()
    }

    /// Held for looking and changing only, never while waiting.
    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ResourceLocks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ResourceLocks({} in use)", self.in_use())
    }
}

type Ticket = u64;

#[derive(Default)]
struct Queues {
    next: Ticket,
    of_key: HashMap<Key, Queue>,
    waiting: HashMap<Ticket, Waiting>,
}

/// The calls of one key in the order in which they came. Almost always there is one alone.
struct Queue {
    first: Ticket,
    behind: VecDeque<Ticket>,
}

struct Waiting {
    /// In how many queues it is not first.
    behind_others: usize,
    waker: Option<Waker>,
}

/// A call's place in the queues of its keys; left on drop, whether its turn had come or not.
pub(super) struct Turn {
    locks: Arc<ResourceLocks>,
    ticket: Ticket,
    keys: Vec<Key>,
}

impl Turn {
    /// Joins the queues of these keys, of which there is each once.
    pub(super) fn join(locks: &Arc<ResourceLocks>, keys: Vec<Key>) -> Self {
        let mut queues = locks.queues();
        let ticket = queues.next;
        queues.next += 1;
        let mut behind_others = 0;
        for key in &keys {
            match queues.of_key.entry(key.clone()) {
                Entry::Vacant(free) => {
                    free.insert(Queue {
                        first: ticket,
                        behind: VecDeque::new(),
                    });
                }
                Entry::Occupied(mut queue) => {
                    queue.get_mut().behind.push_back(ticket);
                    behind_others += 1;
                }
            }
        }
        if behind_others > 0 {
            let waiting = Waiting {
                behind_others,
                waker: None,
            };
            queues.waiting.insert(ticket, waiting);
        }
        drop(queues);
        Self {
            locks: Arc::clone(locks),
            ticket,
            keys,
        }
    }

    /// Whether its turn has come.
    pub(super) fn has_come(&self) -> bool {
        !self.locks.queues().waiting.contains_key(&self.ticket)
    }

    /// Waits until its turn has come.
    pub(super) async fn come(&self) {
        poll_fn(|task| {
            let mut queues = self.locks.queues();
            match queues.waiting.get_mut(&self.ticket) {
                None => Poll::Ready(()),
                Some(waiting) => {
                    waiting.waker = Some(task.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
    }

    /// The first key that another call has now.
    pub(super) fn waits_for(&self) -> Option<String> {
        let queues = self.locks.queues();
        let mut keys = self.keys.iter();
        let held = keys.find(|key| {
            let queue = queues.of_key.get(key);
            queue.is_some_and(|queue| queue.first != self.ticket)
        });
        held.map(Key::to_string)
    }

    /// Whether this is a place in a queue of these locks for this key.
    pub(super) fn has(&self, locks: &Arc<ResourceLocks>, key: &Key) -> bool {
        Arc::ptr_eq(&self.locks, locks) && self.keys.binary_search(key).is_ok()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queues = self.locks.queues();
        queues.waiting.remove(&self.ticket);
        let woken: Vec<Waker> = self
            .keys
            .iter()
            .filter_map(|key| queues.leave(key, self.ticket))
            .collect();
        drop(queues);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Queues {
    /// Takes a call out of a queue. Gives the waker of the call whose turn has come so.
    fn leave(&mut self, key: &Key, ticket: Ticket) -> Option<Waker> {
        let queue = self.of_key.get_mut(key)?;
        if queue.first != ticket {
            queue.behind.retain(|other| *other != ticket);
            return None;
        }
        let Some(next) = queue.behind.pop_front() else {
            self.of_key.remove(key);
            return None;
        };
        queue.first = next;
        let waiting = self.waiting.get_mut(&next)?;
        waiting.behind_others -= 1;
        match waiting.behind_others {
            0 => self.waiting.remove(&next)?.waker,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use proptest::prelude::*;

    fn named(keys: &[&str]) -> Vec<Key> {
        Resources::of(keys.iter().copied()).keys(&"tool".into())
    }

    #[test]
    fn keys_are_sorted_and_each_is_there_once() {
        assert_eq!(named(&["b", "a", "b"]), named(&["a", "b"]));
        assert_eq!(named(&[]), []);
    }

    #[test]
    fn a_resource_with_the_name_of_a_tool_is_not_that_tool() {
        let tool = Resources::Undeclared.keys(&"edit".into());
        assert_ne!(tool, named(&["tool:edit"]));
        assert_eq!(
            tool.first().map(Key::to_string).as_deref(),
            Some("tool:edit")
        );
    }

    #[test]
    fn who_came_first_is_first_and_nothing_stays_behind() {
        let locks = Arc::new(ResourceLocks::new());
        let first = Turn::join(&locks, named(&["a"]));
        let both = Turn::join(&locks, named(&["a", "b"]));
        let last = Turn::join(&locks, named(&["b"]));
        assert!(first.has_come());
        // What is behind both waits, also for the key that no call uses yet.
        assert_eq!(both.waits_for().as_deref(), Some("a"));
        assert_eq!(last.waits_for().as_deref(), Some("b"));
        drop(first);
        assert!(both.has_come() && !last.has_come());
        drop(both);
        assert!(last.has_come());
        drop(last);
        assert_eq!(locks.in_use(), 0);
    }

    #[test]
    fn one_that_gives_up_lets_the_next_one_through() {
        let locks = Arc::new(ResourceLocks::new());
        let first = Turn::join(&locks, named(&["a"]));
        let gives_up = Turn::join(&locks, named(&["a"]));
        let last = Turn::join(&locks, named(&["a"]));
        let mut come = Box::pin(last.come());
        assert!(come.as_mut().now_or_never().is_none());
        drop(gives_up);
        assert!(!last.has_come());
        drop(first);
        assert!(come.now_or_never().is_some());
    }

    proptest! {
        /// Any calls with any keys, that end, or give up while they wait, in any order: no two run
        /// at the same time with a key in common, there is always one that runs, and nothing is left.
        #[test]
        fn calls_never_wait_for_each_other_whatever_their_keys(
            calls in proptest::collection::vec(proptest::collection::vec(0..5_u8, 0..4), 1..20),
            ends in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 64),
        ) {
            let locks = Arc::new(ResourceLocks::new());
            let mut to_come = calls.into_iter();
            let mut turns: Vec<Turn> = Vec::new();
            for (which, joins) in ends {
                if joins && let Some(keys) = to_come.next() {
                    let keys = Resources::of(keys.iter().map(u8::to_string)).keys(&"t".into());
                    turns.push(Turn::join(&locks, keys));
                } else if !turns.is_empty() {
                    turns.remove(which.index(turns.len()));
                }
                let running: Vec<&Turn> = turns.iter().filter(|turn| turn.has_come()).collect();
                prop_assert_eq!(running.is_empty(), turns.is_empty());
                for (at, turn) in running.iter().enumerate() {
                    for other in running.iter().skip(at + 1) {
                        prop_assert!(turn.keys.iter().all(|key| !other.keys.contains(key)));
                    }
                }
            }
            turns.clear();
            prop_assert_eq!(locks.in_use(), 0);
            prop_assert!(locks.queues().waiting.is_empty());
        }
    }
}
