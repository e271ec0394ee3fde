//! Is a process left of a run of tests?
//!
//! All processes of a run, those of servers included, have the run's folder for temporary files in
//! their environment: it is one of the variables that a server inherits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The longest that the watchdog of a host that was killed takes, and as much again.
const PATIENCE: Duration = Duration::from_secs(6);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The folder for temporary files of one run; it is removed with the mark.
#[derive(Debug)]
pub(super) struct Mark {
    folder: PathBuf,
}

impl Mark {
    /// Makes a folder. Its path is short: a socket in it must have a name of at most 107 bytes.
    pub(super) fn new() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("toolspan-py-{}", std::process::id()));
        // Of an earlier process with this number, which was killed.
        drop(fs::remove_dir_all(&folder));
        fs::create_dir(&folder).map_err(Failure::file(&folder))?;
        Ok(Self { folder })
    }

    /// The value of `TMPDIR` for the run.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until no process of the run is left; fails with a list of them.
    #[expect(
        clippy::disallowed_methods,
        reason = "there is no event for the end of a process whose number is not known"
    )]
    pub(super) fn assert_nothing_left(self) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(Failure::Unexpected {
                    what: format!("processes are left of the tests:\n{}", left.join("\n")),
                });
            }
            thread::sleep(PAUSE);
        }
    }

    /// The processes of the run, each by its number and command. None where there is no `/proc`.
    fn left(&self) -> Vec<String> {
        let wanted = format!("TMPDIR={}", self.folder.display());
        let entries = fs::read_dir("/proc").into_iter().flatten();
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|process| is_of(process, wanted.as_bytes()))
            .filter_map(|process| command(&process).ok())
            .collect()
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Whether a variable of the process begins so. A process that is gone or another user's is not.
fn is_of(process: &Path, wanted: &[u8]) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable.starts_with(wanted))
}

fn command(process: &Path) -> io::Result<String> {
    let words = fs::read(process.join("cmdline"))?;
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    Ok(format!("  {}: {}", process.display(), words.trim()))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::Mark;
    use crate::process::Run;

    #[test]
    fn a_process_of_the_run_is_found_until_it_has_ended() {
        let mark = Mark::new().unwrap();
        let folder = mark.folder().to_owned();
        let pipe = folder.join("pipe");
        Run::new("mkfifo").args([&pipe]).captured().unwrap();
        let path = pipe.clone();
        let within = folder.join("deeper");
        // Ends when somebody writes to the pipe.
        let child = std::thread::spawn(move || {
            Run::new("cat")
                .args([&path])
                .with("TMPDIR", &within)
                .captured()
        });
        let began = std::time::Instant::now();
        while mark.left().is_empty() {
            assert!(began.elapsed() < super::PATIENCE, "it never started");
            std::thread::yield_now();
        }
        assert!(mark.left()[0].contains("cat"), "{:?}", mark.left());

        std::fs::write(&pipe, "").unwrap();
        child.join().unwrap().unwrap();
        mark.assert_nothing_left().unwrap();
        assert!(!folder.exists());
    }
}
