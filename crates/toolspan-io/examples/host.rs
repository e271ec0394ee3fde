//! How does a host look that runs servers, and what is left when it is killed?
//!
//! `host serve SCRIPT` runs SCRIPT in `/bin/sh` as a server, says `watchdog PID`, and prints what
//! the server prints until it is killed or the server's output ends.
//! `host cycle COUNT` starts and ends COUNT short processes and prints what is left of them.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program talks to its caller"
)]

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use toolspan_io::process::{Child, EndPolicy, Launch, WatchdogState, spawn, watchdog_state};

const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve", script] => serve(script).await,
        ["cycle", count] => cycle(count.parse()?).await,
        _ => Err("usage: host serve SCRIPT | host cycle COUNT".into()),
    }
}

async fn serve(script: &str) -> Result<(), Box<dyn Error>> {
    let child = spawn(&Launch::new("/bin/sh").with_args(["-c", script]))?;
    if let WatchdogState::Running { pid } = watchdog_state() {
        println!("watchdog {pid}");
    }
    let output = child.stdout.into_async()?;
    let mut buffer = vec![0; 4096];
    loop {
        let count = output.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        std::io::stdout().write_all(buffer.get(..count).unwrap_or_default())?;
        std::io::stdout().flush()?;
    }
}

async fn cycle(count: usize) -> Result<(), Box<dyn Error>> {
    let before = open_descriptors()?;
    let mut exits = Vec::new();
    for round in 0..count {
        let child = spawn(&Launch::new("/bin/true"))?;
        let exited = child.process.exited();
        if round % 2 == 0 {
            // Dropped while it runs.
            exits.push(exited);
            continue;
        }
        exited.await;
        child.process.begin_end(EndPolicy::default());
        if round % 4 == 1 {
            child.process.ended().await;
        }
    }
    for exited in exits {
        tokio::time::timeout(PATIENCE, exited).await?;
    }
    // This one outlasts the others, so nothing may be left when it has ended.
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = spawn(&Launch::new("/bin/true"))?;
    drop((stdin, stdout));
    process.begin_end(EndPolicy::default());
    tokio::time::timeout(PATIENCE, process.ended()).await?;
    println!("zombies {}", zombies()?);
    println!("descriptors {before} {}", open_descriptors()?);
    Ok(())
}

fn open_descriptors() -> std::io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/fd")?.count())
}

/// Processes of ours that have exited and were not collected.
fn zombies() -> std::io::Result<usize> {
    let parent = format!(" Z {} ", std::process::id());
    let stats = std::fs::read_dir("/proc")?
        .flatten()
        .map(|entry| entry.path().join("stat"));
    Ok(stats
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .filter(|stat| stat.contains(&parent))
        .count())
}
