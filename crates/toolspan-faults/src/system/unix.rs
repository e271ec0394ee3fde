//! How are streams closed for real, signals ignored and grandchildren started on Unix?

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::stdio::{dup2_stdin, dup2_stdout};

use crate::player::Streams;
use crate::step::{Grandchild, Signal};

/// The longest life in seconds of a grandchild whose parent has no limit of its own, so that a
/// failed test leaves nothing for ever.
const GRANDCHILD_SECONDS: libc::c_uint = 600;

/// Takes the standard input and output of the process away from it: `/dev/null` comes in their
/// place, so that dropping what is returned closes the last end of the pipe.
pub(crate) fn take_streams() -> io::Result<Streams> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    Ok(Streams {
        input: Box::new(input),
        output: Box::new(output),
        errors: Box::new(io::stderr()),
    })
}

/// Opens a FIFO for reading without waiting for a writer.
pub(crate) fn open_barrier(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
}

/// Waits for one byte, or until every writer there was is gone. No time limit but the lifetime of
/// the process: how long to wait is up to the client under test.
pub(crate) fn wait_at(mut barrier: File) -> io::Result<()> {
    loop {
        retry_on_intr(|| poll(&mut [PollFd::new(&barrier, PollFlags::IN)], None))?;
        match barrier.read(&mut [0]) {
            // Another script waiting at the same barrier was quicker.
            Err(error) if error.raw_os_error() == Some(Errno::AGAIN.raw_os_error()) => {}
            outcome => return outcome.map(drop),
        }
    }
}

/// Makes the end of a connection a reset: what is not sent by then is lost, and the peer's next read
/// fails instead of seeing the end.
pub(crate) fn reset_when_closed(connection: &TcpStream) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(connection, Some(Duration::ZERO))?;
    Ok(())
}

/// The number of a signal on this system.
fn number(signal: Signal) -> libc::c_int {
    match signal {
        Signal::Abrt => libc::SIGABRT,
        Signal::Hup => libc::SIGHUP,
        Signal::Int => libc::SIGINT,
        Signal::Kill => libc::SIGKILL,
        Signal::Pipe => libc::SIGPIPE,
        Signal::Quit => libc::SIGQUIT,
        Signal::Segv => libc::SIGSEGV,
        Signal::Term => libc::SIGTERM,
        Signal::Usr1 => libc::SIGUSR1,
        Signal::Usr2 => libc::SIGUSR2,
    }
}

/// Ignores the signals; fails for the ones that cannot be ignored.
pub(crate) fn ignore_signals(signals: &[Signal]) -> io::Result<()> {
    for signal in signals {
        set_disposition(number(*signal), libc::SIG_IGN)?;
    }
    Ok(())
}

#[expect(
    unsafe_code,
    reason = "no safe crate in use sets a signal's disposition"
)]
fn set_disposition(signal: libc::c_int, disposition: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the two dispositions used, SIG_IGN and SIG_DFL, run no code in this process.
    let previous = unsafe { libc::signal(signal, disposition) };
    if previous == libc::SIG_ERR {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Sends the signal to this process with its default effect. Returns only if that effect is not
/// to end the process.
#[expect(unsafe_code, reason = "the signal's number is known only at run time")]
pub(crate) fn kill_self(signal: Signal) -> io::Result<()> {
    let signal = number(signal);
    if signal != libc::SIGKILL {
        set_disposition(signal, libc::SIG_DFL)?;
    }
    // SAFETY: kill(2) on our own process id touches no memory.
    let status = unsafe { libc::kill(libc::getpid(), signal) };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Ends the process by SIGALRM after so many seconds; 0 takes the limit away. It survives exec.
#[expect(unsafe_code, reason = "alarm(2) has no safe wrapper in use")]
pub(crate) fn limit_lifetime(seconds: u32) {
    // SAFETY: alarm(2) touches no memory; the default effect of SIGALRM is the wanted one.
    unsafe { libc::alarm(seconds) };
}

/// How many seconds are left of the limit of this process; a grandchild gets the same, since an
/// alarm does not survive a fork.
#[expect(unsafe_code, reason = "alarm(2) has no safe wrapper in use")]
fn seconds_left() -> libc::c_uint {
    // SAFETY: as above; between the two calls there is no alarm, which is then set again.
    unsafe {
        match libc::alarm(0) {
            0 => GRANDCHILD_SECONDS,
            left => {
                libc::alarm(left);
                left
            }
        }
    }
}

/// Forks a process that does nothing, and reports its id once it is as the step wants it.
///
/// A fork, not a new program: the script can then be played by any program, and the grandchild
/// keeps the environment by which a client may look for it.
pub(crate) fn spawn_grandchild(wanted: &Grandchild, errors: &mut dyn Write) -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    let child = fork(wanted, &writer)?;
    drop(writer);
    if wanted.double_fork {
        reap(child)?;
    }
    let id = read_id(&mut reader)?;
    match &wanted.pid_file {
        // Renamed into place, so that a reader never sees half a number.
        Some(path) => {
            let unfinished = path.with_added_extension("part");
            fs::write(&unfinished, id.to_string())?;
            fs::rename(&unfinished, path)
        }
        None => writeln!(errors, "grandchild {id}"),
    }
}

fn read_id(reader: &mut PipeReader) -> io::Result<i32> {
    let mut bytes = [0; size_of::<i32>()];
    reader
        .read_exact(&mut bytes)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::other("the grandchild ended before it was ready")
            }
            _ => error,
        })?;
    Ok(i32::from_ne_bytes(bytes))
}

#[expect(unsafe_code, reason = "waitpid(2) with a number kept by fork(2)")]
fn reap(child: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the result; `child` is a child of ours nobody else
    // waits for.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    if waited == child {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Forks; returns the id of the direct child in this process and never returns in the new ones.
#[expect(unsafe_code, reason = "fork(2) is what is wanted here")]
fn fork(wanted: &Grandchild, writer: &PipeWriter) -> io::Result<libc::pid_t> {
    let writer = writer.as_raw_fd();
    let seconds = seconds_left();
    // SAFETY: the new process calls only functions that are async-signal-safe, allocates nothing,
    // runs no destructor and never returns from `live`, so it is sound even if this process has
    // other threads.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: this is the new process; see `live`.
        0 => unsafe { live(wanted, writer, seconds) },
        child => Ok(child),
    }
}

/// The whole life of a grandchild.
///
/// # Safety
/// May be called only right after fork(2), in the new process.
#[expect(unsafe_code, reason = "system calls in a forked process")]
unsafe fn live(wanted: &Grandchild, writer: libc::c_int, seconds: libc::c_uint) -> ! {
    // SAFETY: all of these are async-signal-safe (signal-safety(7)) and get valid arguments;
    // `id` lives until it is written.
    unsafe {
        if wanted.double_fork {
            match libc::fork() {
                0 => {}
                -1 => libc::_exit(1),
                _ => libc::_exit(0),
            }
        }
        if wanted.setsid && libc::setsid() == -1 {
            libc::_exit(1);
        }
        for signal in &wanted.ignore_signals {
            if libc::signal(number(*signal), libc::SIG_IGN) == libc::SIG_ERR {
                libc::_exit(1);
            }
        }
        libc::alarm(seconds);
        let id = libc::getpid().to_ne_bytes();
        if wanted.close_streams {
            // The pipes are held by numbers above 2, too; a process of ours has few of them.
            for descriptor in 0..256 {
                if descriptor != writer {
                    libc::close(descriptor);
                }
            }
        }
        libc::write(writer, id.as_ptr().cast(), id.len());
        libc::close(writer);
        loop {
            libc::pause();
        }
    }
}
