//! How does a test decide when a script goes on, without either of them sleeping?

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::wait::wait_until_async;

/// Two FIFOs in a folder of their own: one on which the script waits, one on which it reports.
///
/// The test holds both open in both directions, so that neither side ever blocks in `open`. A byte
/// is a permission: [`release`](Self::release) lets exactly one `hold` pass, before or after it was
/// reached. When the barrier is dropped, what waits at it goes on.
///
/// ```no_run
/// use serde_json::json;
/// use toolspan_testkit::{Barrier, Fault};
///
/// let barrier = Barrier::new();
/// let server = Fault::script([
///     json!({"expect": "tools/call"}),
///     barrier.hold_step(),
///     json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {}}}),
/// ]);
/// // start the server, call it, then:
/// barrier.await_reached(std::time::Duration::from_secs(10));
/// barrier.release();
/// # drop(server);
/// ```
#[derive(Debug)]
pub struct Barrier {
    hold_path: PathBuf,
    hold: File,
    reached_path: PathBuf,
    reached: File,
    /// Deleted when dropped, after the files above.
    _folder: TempDir,
}

impl Barrier {
    /// Makes the two FIFOs.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "it makes files, which a default should not"
    )]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a writable folder for temporary files");
        let (hold_path, hold) = fifo(folder.path(), "hold");
        let (reached_path, reached) = fifo(folder.path(), "reached");
        Self {
            hold_path,
            hold,
            reached_path,
            reached,
            _folder: folder,
        }
    }

    /// The step that reports and then waits here.
    #[must_use]
    pub fn hold_step(&self) -> Value {
        json!({"hold": {"fifo": self.hold_path, "reached": self.reached_path}})
    }

    /// The step that only reports.
    #[must_use]
    pub fn reached_step(&self) -> Value {
        json!({"reached": {"fifo": self.reached_path}})
    }

    /// Lets one hold pass.
    pub fn release(&self) {
        (&self.hold)
            .write_all(b"\n")
            .expect("a FIFO takes one byte");
    }

    /// Waits until a script has reported, once for each report. Panics when the time is over.
    /// Blocks the thread; in an async test use [`reached`](Self::reached).
    #[track_caller]
    pub fn await_reached(&self, within: Duration) {
        assert!(
            self.reported(within),
            "not within {within:?}: the script reached the barrier"
        );
    }

    /// As [`await_reached`](Self::await_reached), but other tasks go on meanwhile.
    pub async fn reached(&self, within: Duration) {
        wait_until_async(within, "the script reached the barrier", || {
            self.reported(Duration::ZERO)
        })
        .await;
    }

    /// Takes one report if it comes in time.
    fn reported(&self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).expect("a test waits less than 2^63 seconds");
            let mut watched = [PollFd::new(&self.reached, PollFlags::IN)];
            match poll(&mut watched, Some(&timeout)) {
                Ok(0) => return false,
                Ok(_) => {
                    (&self.reached)
                        .read_exact(&mut [0])
                        .expect("a readable FIFO has a byte");
                    return true;
                }
                Err(Errno::INTR) => {}
                Err(error) => panic!("cannot wait at the barrier: {error}"),
            }
        }
    }
}

fn fifo(folder: &Path, name: &str) -> (PathBuf, File) {
    let path = folder.join(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a new FIFO");
    // Both directions: opening never blocks (fifo(7)), and the other side always has a partner.
    let file = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("the FIFO just made");
    (path, file)
}
