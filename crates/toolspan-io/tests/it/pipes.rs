//! Does a child that does not read hold up nobody, and is every byte delivered?

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use tokio::time::timeout;
use toolspan_io::process::{AsyncStdin, Child, EndPolicy, Interrupt};

use crate::operating_system::{Output, PATIENCE, start};

/// Writes all of `bytes`, waiting for room as often as needed.
async fn write_all(stdin: &AsyncStdin, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match stdin.try_write(bytes) {
            Ok(count) => bytes = bytes.split_at(count).1,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                timeout(PATIENCE, stdin.writable())
                    .await
                    .expect("room in time")
                    .expect("a pipe");
            }
            Err(error) => unreachable!("the server reads: {error}"),
        }
    }
}

#[tokio::test]
async fn a_full_pipe_says_so_and_waiting_for_room_really_waits() {
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = start("echo ready; exec sleep 1000");
    assert_eq!(Output::new(stdout).line().await.as_deref(), Some("ready"));
    let stdin = stdin.into_async().expect("the pipe is watched");
    let chunk = [b'x'; 64 * 1024];
    let mut written = 0;
    let error = loop {
        match stdin.try_write(&chunk) {
            Ok(count) => written += count,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!((64 * 1024..=1024 * 1024).contains(&written), "{written}");
    let waiting = timeout(Duration::from_millis(50), stdin.writable()).await;
    assert!(waiting.is_err(), "the pipe is full, but: {waiting:?}");
    process.kill_now();
    timeout(PATIENCE, stdin.writable())
        .await
        .expect("it is told")
        .expect("a broken pipe");
    let error = stdin.try_write(&chunk).expect_err("nobody will read");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn ten_megabytes_go_through_a_slow_reader_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let gate = folder.path().join("gate");
    let gate_text = gate.to_str().expect("a plain path");
    let reader = format!("mkfifo {gate_text}; echo ready; cat {gate_text}; exec wc -c");
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = start(&reader);
    let mut output = Output::new(stdout);
    assert_eq!(output.line().await.as_deref(), Some("ready"));
    let stdin = stdin.into_async().expect("the pipe is watched");
    let bytes = vec![b'x'; 10 << 20];
    let written = stdin.try_write(&bytes).expect("the pipe has room");
    let full = stdin.try_write(&bytes).expect_err("the pipe is full");
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    // Opening a fifo waits for its reader; from here on the server reads.
    std::fs::write(&gate, "open\n").expect("the gate opens");
    write_all(&stdin, bytes.split_at(written).1).await;
    drop(stdin);
    assert_eq!(
        output.all().await,
        ["open".to_owned(), bytes.len().to_string()]
    );
    process.begin_end(EndPolicy::default());
    timeout(PATIENCE, process.ended()).await.expect("it ends");
}

// R28
#[tokio::test]
async fn a_server_that_does_not_read_holds_up_no_other() {
    let deaf = start("exec sleep 1000");
    let deaf_stdin = deaf.stdin.into_async().expect("the pipe is watched");
    while deaf_stdin.try_write(&[0; 4096]).is_ok() {}
    let Child { stdin, stdout, .. } = start("exec cat");
    let mut output = Output::new(stdout);
    let started = Instant::now();
    for round in 0..100 {
        stdin
            .try_write(format!("{round}\n").as_bytes())
            .expect("the pipe has room");
        assert_eq!(output.line().await, Some(round.to_string()));
    }
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn who_reads_past_the_runtime_takes_its_bytes_and_leaves_the_reading_task_the_rest() {
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = start("while read line; do echo \"got $line\"; done");
    let stdout = stdout.into_async().expect("the pipe is watched");
    let mut buffer = [0; 64];
    let never = Interrupt::new().expect("descriptors");
    for round in 0..20 {
        stdin.try_write(b"first\n").expect("the pipe has room");
        assert!(stdout.wait_readable(&never).expect("a pipe"));
        assert_eq!(stdout.try_read(&mut buffer).expect("bytes"), 10);
        // The runtime still holds the event of those bytes: it must not take it for new ones.
        stdin.try_write(b"2\n").expect("the pipe has room");
        let read = timeout(PATIENCE, stdout.read(&mut buffer)).await;
        assert_eq!(read.expect("in time").expect("bytes"), 6, "{round}");
    }
    let error = stdout.try_read(&mut buffer).expect_err("nothing is there");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    drop(stdin);
    assert!(stdout.wait_readable(&never).expect("a pipe"));
    for _ in 0..3 {
        assert_eq!(stdout.try_read(&mut buffer).expect("the end"), 0);
        let read = timeout(PATIENCE, stdout.read(&mut buffer)).await;
        assert_eq!(read.expect("in time").expect("the end"), 0);
    }
    process.begin_end(EndPolicy::default());
}

#[tokio::test]
async fn a_wait_for_output_ends_when_it_is_interrupted_once() {
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = start("cat");
    let stdout = stdout.into_async().expect("the pipe is watched");
    let interrupt = Interrupt::new().expect("descriptors");
    let wait = || stdout.wait_readable(&interrupt).expect("a pipe");
    // More often than its pipe has room for, and before the wait.
    for _ in 0..100_000 {
        interrupt.raise();
    }
    assert!(!wait());
    stdin.try_write(b"it\n").expect("the pipe has room");
    assert!(wait());
    interrupt.raise();
    assert!(!wait() && wait(), "the bytes are still there");
    assert_eq!(stdout.try_read(&mut [0; 64]).expect("bytes"), 3);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(wait);
        interrupt.raise();
        assert!(!waiting.join().expect("the thread ends"));
    });
    process.begin_end(EndPolicy::default());
}

#[test]
fn writing_and_reading_need_no_runtime() {
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = start("read line; echo \"got $line\"");
    let mut buffer = [0; 64];
    let error = stdout.try_read(&mut buffer).expect_err("nothing is there");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    let writer = std::thread::spawn(move || stdin.try_write(b"it\n"));
    assert_eq!(
        writer
            .join()
            .expect("the thread ends")
            .expect("the pipe has room"),
        3
    );
    process.begin_end(EndPolicy::default());
    assert!(process.wait_ended_blocking(PATIENCE));
    assert_eq!(
        stdout.try_read(&mut buffer).expect("the answer is there"),
        7
    );
    assert_eq!(&buffer[..7], b"got it\n");
    assert_eq!(stdout.try_read(&mut buffer).expect("the end"), 0);
}
