//! What does this process own, and what is left of a test? (I4: nothing is left after a close.)

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::marker::Marker;
use crate::process::{Process, descendants_of, marked_processes};
use crate::wait::{wait_until, wait_until_async};

/// How long a test waits for what ends by itself: 5 s, the longest a close may take, and as much
/// again for a slow machine.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// What there was at one moment. Threads and descriptors are those of the whole process: exact
/// where each test has a process of its own, as under nextest.
///
/// ```no_run
/// use toolspan_testkit::{Census, Fault, Marker};
///
/// let marker = Marker::new();
/// let before = Census::take().marked(&marker);
/// let server = Fault::honest().marked(&marker);
/// // connect, call, close, then:
/// before.assert_nothing_left();
/// # drop(server);
/// ```
#[derive(Debug, Clone)]
pub struct Census {
    marks: Vec<String>,
    folders: Vec<PathBuf>,
    allowed_threads: usize,
    allowed_descriptors: usize,
    count: Count,
}

/// The counted things, each by an identity and a text for people.
#[derive(Debug, Clone, Default)]
struct Count {
    threads: BTreeMap<u32, String>,
    /// By what they point to, since a number is soon used again; with how many there are.
    descriptors: BTreeMap<String, usize>,
    processes: BTreeMap<u32, Process>,
    files: Vec<PathBuf>,
    resident_bytes: u64,
}

/// What there is now and was not there before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// New threads by number and name, more of them than allowed.
    pub threads: Vec<String>,
    /// New descriptors by what they point to, more of them than allowed.
    pub descriptors: Vec<String>,
    /// New running processes.
    pub processes: Vec<String>,
    /// New processes that ended and were not reaped.
    pub zombies: Vec<String>,
    /// New files in the watched folders.
    pub files: Vec<String>,
}

impl Census {
    /// Counts threads, open descriptors, descendants and zombies of this process.
    #[must_use]
    pub fn take() -> Self {
        Self {
            marks: Vec::new(),
            folders: Vec::new(),
            allowed_threads: 0,
            allowed_descriptors: 0,
            count: Count::take(&[], &[]),
        }
    }

    /// Counts the processes that carry the marker, too, wherever they belong by now.
    #[must_use]
    pub fn marked(self, marker: &Marker) -> Self {
        self.marked_by(&marker.assignment())
    }

    /// Counts the processes started with `NAME=value` in their environment, too.
    #[must_use]
    pub fn marked_by(mut self, assignment: &str) -> Self {
        self.marks.push(assignment.to_owned());
        self.recount()
    }

    /// Counts the files directly in a folder, too.
    #[must_use]
    pub fn watching(mut self, folder: &Path) -> Self {
        self.folders.push(folder.to_owned());
        self.recount()
    }

    /// Lets so many new threads stay, for example those of a runtime shared by the whole process.
    #[must_use]
    pub fn allowing_threads(mut self, most: usize) -> Self {
        self.allowed_threads = most;
        self
    }

    /// Lets so many new descriptors stay, for example those of a shared runtime's reactor.
    #[must_use]
    pub fn allowing_descriptors(mut self, most: usize) -> Self {
        self.allowed_descriptors = most;
        self
    }

    /// How many threads this process had.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.count.threads.len()
    }

    /// How many descriptors this process had open.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        self.count.descriptors.values().sum()
    }

    /// The descendants of this process and the marked processes that ran.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.count
            .processes
            .values()
            .filter(|process| !process.is_zombie())
    }

    /// The descendants that had ended and were not reaped.
    pub fn zombies(&self) -> impl Iterator<Item = &Process> {
        self.count
            .processes
            .values()
            .filter(|process| process.is_zombie())
    }

    /// How much memory of this process was resident, in bytes.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        self.count.resident_bytes
    }

    /// What there is now and was not there when this census was taken.
    #[must_use]
    pub fn leftover(&self) -> Leftover {
        let now = Count::take(&self.marks, &self.folders);
        let before = &self.count;
        let threads = new_keys(&now.threads, &before.threads);
        let descriptors = more_of(&now.descriptors, &before.descriptors);
        let of_kind = |zombies: bool| {
            now.processes
                .values()
                .filter(|process| process.is_zombie() == zombies)
                .filter(|process| match before.processes.get(&process.pid) {
                    Some(known) => known.is_zombie() != zombies,
                    None => true,
                })
                .map(describe)
                .collect()
        };
        Leftover {
            threads: beyond(self.allowed_threads, threads),
            descriptors: beyond(self.allowed_descriptors, descriptors),
            processes: of_kind(false),
            zombies: of_kind(true),
            files: now
                .files
                .iter()
                .filter(|file| !before.files.contains(file))
                .map(|file| file.display().to_string())
                .collect(),
        }
    }

    /// Waits at most 10 s until nothing is left that was not there when this census was taken.
    /// Panics with a list of what is left. Blocks the thread: in an async test use
    /// [`assert_nothing_left_async`](Self::assert_nothing_left_async).
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        self.assert_nothing_left_within(DEFAULT_WAIT);
    }

    /// As [`assert_nothing_left`](Self::assert_nothing_left) with a time of one's own, to check how
    /// fast a close is.
    #[track_caller]
    pub fn assert_nothing_left_within(&self, within: Duration) {
        let start = std::time::Instant::now();
        let mut last = Leftover::default();
        let mut is_over = || {
            last = self.leftover();
            last.is_empty() || start.elapsed() >= within
        };
        // The outer limit only guards the wait itself; the panic below is the better message.
        wait_until(
            within * 2 + DEFAULT_WAIT,
            "the census is over",
            &mut is_over,
        );
        assert!(last.is_empty(), "left after {within:?}:\n{last}");
    }

    /// As [`assert_nothing_left`](Self::assert_nothing_left), but other tasks go on meanwhile.
    pub async fn assert_nothing_left_async(&self) {
        let start = std::time::Instant::now();
        let mut last = Leftover::default();
        let is_over = || {
            last = self.leftover();
            last.is_empty() || start.elapsed() >= DEFAULT_WAIT
        };
        wait_until_async(DEFAULT_WAIT * 3, "the census is over", is_over).await;
        assert!(last.is_empty(), "left after {DEFAULT_WAIT:?}:\n{last}");
    }

    /// Panics when more memory is resident now than at the census and `most` bytes on top (I3).
    #[track_caller]
    pub fn assert_memory_grew_at_most(&self, most: u64) {
        let grown = resident_bytes().saturating_sub(self.count.resident_bytes);
        assert!(
            grown <= most,
            "resident memory grew by {grown} bytes, {most} are allowed"
        );
    }

    fn recount(mut self) -> Self {
        self.count = Count::take(&self.marks, &self.folders);
        self
    }
}

impl Count {
    fn take(marks: &[String], folders: &[PathBuf]) -> Self {
        let own = std::process::id();
        let marked = marks.iter().flat_map(|mark| marked_processes(mark));
        Self {
            threads: threads(),
            descriptors: descriptors(),
            processes: descendants_of(own)
                .into_iter()
                .chain(marked)
                .map(|process| (process.pid, process))
                .collect(),
            files: folders.iter().flat_map(|folder| files(folder)).collect(),
            resident_bytes: resident_bytes(),
        }
    }
}

impl Leftover {
    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            ("thread", &self.threads),
            ("descriptor", &self.descriptors),
            ("process", &self.processes),
            ("zombie", &self.zombies),
            ("file", &self.files),
        ];
        let mut text = String::new();
        for (kind, names) in kinds {
            for name in names {
                writeln!(text, "  {kind} {name}")?;
            }
        }
        formatter.write_str(text.trim_end())
    }
}

fn threads() -> BTreeMap<u32, String> {
    let tasks = fs::read_dir("/proc/self/task").expect("/proc is mounted");
    tasks
        .filter_map(|task| task.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|id| {
            // A thread that ends between the two reads is not there.
            let name = fs::read_to_string(format!("/proc/self/task/{id}/comm")).ok()?;
            Some((id, format!("{id} {}", name.trim_end())))
        })
        .collect()
}

fn descriptors() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let folder = format!("/proc/{}/fd", std::process::id());
    for entry in fs::read_dir(&folder).expect("/proc is mounted") {
        // The descriptor of this reading is in the list, too; it points to the folder itself.
        let target = entry
            .ok()
            .and_then(|entry| fs::read_link(entry.path()).ok());
        let Some(target) = target.filter(|target| target != Path::new(&folder)) else {
            continue;
        };
        *found.entry(target.display().to_string()).or_insert(0) += 1;
    }
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or_default() * 1024
}

fn describe(process: &Process) -> String {
    let Process {
        pid,
        name,
        parent,
        group,
        ..
    } = process;
    format!("{pid} {name} (parent {parent}, group {group})")
}

fn new_keys(now: &BTreeMap<u32, String>, before: &BTreeMap<u32, String>) -> Vec<String> {
    now.iter()
        .filter(|(id, _)| !before.contains_key(id))
        .map(|(_, name)| name.clone())
        .collect()
}

fn more_of(now: &BTreeMap<String, usize>, before: &BTreeMap<String, usize>) -> Vec<String> {
    now.iter()
        .flat_map(|(target, count)| {
            let more = count.saturating_sub(before.get(target).copied().unwrap_or_default());
            std::iter::repeat_n(target.clone(), more)
        })
        .collect()
}

/// The names when there are more than allowed, none otherwise.
fn beyond(allowed: usize, names: Vec<String>) -> Vec<String> {
    if names.len() > allowed {
        names
    } else {
        Vec::new()
    }
}
