//! Which calls to the system does safe Rust not offer?
#![expect(
    unsafe_code,
    reason = "what a child does before exec, and signals, need the C library"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Signals are numbered up to this on every system we know.
const LAST_SIGNAL: libc::c_int = 64;

/// Where there is no `close_range`, descriptors up to this are marked one by one.
const LAST_DESCRIPTOR: libc::c_int = 65_536;

/// Makes the child of `command` a session of its own that has nothing of ours: no descriptor but
/// 0, 1, 2, no ignored or blocked signal, no terminal.
pub(super) fn isolate(command: &mut Command, umask: Option<u32>) {
    // SAFETY: the closure runs between fork and exec and calls only async-signal-safe functions;
    // it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            // A new session is a new group too, led by the child.
            rustix::process::setsid()?;
            if let Some(mask) = umask {
                libc::umask(mask as libc::mode_t);
            }
            reset_signals();
            close_on_exec_from_three();
            Ok(())
        });
    }
}

/// Ignored signals and the mask survive exec; handlers do not.
fn reset_signals() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: SIG_DFL is a valid disposition. It is refused for SIGKILL, SIGSTOP and the
        // C library's own signals, which is as well.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Keeps the host's signals away from the calling thread: they are for the host's own threads.
pub(super) fn block_signals() {
    // SAFETY: the set is initialised by sigfillset before it is read.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Marks rather than closes: the standard library still needs its pipe to report a failed exec.
fn close_on_exec_from_three() {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the call takes three integers and touches no memory.
        let result = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                3,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
        if result == 0 {
            return;
        }
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: getrlimit writes to the struct given; fcntl with F_SETFD touches no memory.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let last = libc::c_int::try_from(limit.rlim_cur).unwrap_or(LAST_DESCRIPTOR);
        for descriptor in 3..last.min(LAST_DESCRIPTOR) {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Writes to a pipe whose reader may be gone: that is an error, never a signal.
///
/// Rust and Python programs ignore SIGPIPE, but another host may not, and its disposition is not
/// ours to change. There the signal is held back on this thread and taken out again. Linux has a
/// write without the signal since 6.18, which saves asking for the disposition each time.
pub(super) fn write_without_signal(pipe: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    if let Some(result) = super::signalless::write(&pipe, bytes) {
        return result;
    }
    write_holding_signal_back(pipe, bytes)
}

fn write_holding_signal_back(pipe: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    if !sigpipe_is_default() {
        return write(&pipe, bytes);
    }
    // SAFETY: every set is initialised before use, and the mask found is put back.
    unsafe {
        let mut pipe_signal = std::mem::zeroed::<libc::sigset_t>();
        let mut before = std::mem::zeroed::<libc::sigset_t>();
        let mut pending = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut pipe_signal);
        libc::sigaddset(&raw mut pipe_signal, libc::SIGPIPE);
        libc::sigpending(&raw mut pending);
        let was_pending = libc::sigismember(&raw const pending, libc::SIGPIPE) == 1;
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const pipe_signal, &raw mut before);
        let result = write(&pipe, bytes);
        let broken = matches!(&result, Err(error) if error.kind() == io::ErrorKind::BrokenPipe);
        if broken && !was_pending {
            take_signal(&pipe_signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

fn write(pipe: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::write(&pipe, bytes)).map_err(io::Error::from)
}

/// Takes one pending, blocked signal of `set` out without waiting.
fn take_signal(set: &libc::sigset_t) {
    let mut taken: libc::c_int = 0;
    // SAFETY: the set is initialised and a signal of it is pending, so sigwait returns at once.
    unsafe { libc::sigwait(set, &raw mut taken) };
}

fn sigpipe_is_default() -> bool {
    // SAFETY: a null new action only asks; the old one is written to the struct given.
    unsafe {
        let mut current = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut current) == 0
            && current.sa_sigaction == libc::SIG_DFL
    }
}

/// An end of a pipe, which owns one descriptor from its making to its drop.
pub(super) trait PipeEnd: AsFd + AsRawFd {}
impl PipeEnd for io::PipeReader {}
impl PipeEnd for io::PipeWriter {}

/// Registers a pipe with the tokio runtime of the calling thread; panics where there is none.
pub(super) fn watch<P: PipeEnd>(pipe: P, interest: Interest) -> io::Result<AsyncFd<P>> {
    // SAFETY: a pipe end keeps its one descriptor open until it is dropped, and the `AsyncFd`,
    // which then owns it, never gives out a mutable reference to it.
    let registered = unsafe { AsyncFd::register_with_interest(pipe, interest) };
    registered.map_err(|error| error.into_parts().1)
}

/// Moves a descriptor out of 0, 1, 2, where it lands if the host runs with one of these closed and
/// where setting up the child would overwrite it.
pub(super) fn above_standard<F: AsFd + AsRawFd + From<std::os::fd::OwnedFd>>(
    descriptor: F,
) -> io::Result<F> {
    if descriptor.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(descriptor);
    }
    Ok(F::from(rustix::io::fcntl_dupfd_cloexec(
        &descriptor,
        libc::STDERR_FILENO + 1,
    )?))
}

/// Puts the end of a pipe that nobody uses in the place of a descriptor that is given by its number.
/// Whoever owns the descriptor keeps one that is open, and what it meant before is let go.
pub(super) fn replace_descriptor(number: RawFd) -> io::Result<()> {
    let (other, _) = io::pipe()?;
    // SAFETY: the calls take integers and touch no memory; the number stays that of an open descriptor.
    unsafe {
        if libc::dup2(other.as_raw_fd(), number) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
    }
    Ok(())
}

/// Runs `check` in a forked copy of this process and gives its answer.
#[cfg(test)]
pub(super) fn in_forked_copy(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: the copy has one thread; the C library makes its allocator usable there, and the copy
    // leaves without running anything else.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(i32::from(!check())),
            child => {
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0) == child && status == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts SIGPIPE back to what it was.
    struct Before(libc::sighandler_t);

    impl Drop for Before {
        fn drop(&mut self) {
            // SAFETY: the disposition is the one `signal` gave back.
            unsafe { libc::signal(libc::SIGPIPE, self.0) };
        }
    }

    #[test]
    fn a_broken_pipe_is_an_error_even_where_the_signal_would_end_the_process() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        // SAFETY: SIG_DFL is a valid disposition.
        let _before = Before(unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) });
        assert!(sigpipe_is_default());
        for _ in 0..2 {
            for write in [write_without_signal, write_holding_signal_back] {
                let error = write(&writer, b"x").expect_err("nobody reads");
                assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
            }
        }
    }

    #[test]
    fn a_descriptor_is_moved_only_from_the_standard_three() {
        let (reader, _writer) = io::pipe().expect("a pipe");
        let number = reader.as_raw_fd();
        assert_eq!(
            above_standard(reader).expect("nothing to do").as_raw_fd(),
            number
        );
    }
}
