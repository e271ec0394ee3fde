//! How is a pipe written so that its end is an error only, where the kernel offers that?

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, ReadWriteFlags, pwritev2, retry_on_intr};

/// `RWF_NOSIGNAL` of `linux/fs.h`, since Linux 6.18.
const NO_SIGNAL: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x100);

/// The offset that stands for the place where a plain write would go on.
const HERE: u64 = u64::MAX;

/// Whether the kernel has refused the flag; it will do so again.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Writes what fits now. `None`, and nothing was written, when the kernel does not know how.
pub(super) fn write(pipe: impl AsFd, bytes: &[u8]) -> Option<io::Result<usize>> {
    if REFUSED.load(Ordering::Relaxed) {
        return None;
    }
    let bytes = [IoSlice::new(bytes)];
    match retry_on_intr(|| pwritev2(&pipe, &bytes, HERE, NO_SIGNAL)) {
        // The kernel's own answer, and those of filters of system calls.
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::PERM) => {
            REFUSED.store(true, Ordering::Relaxed);
            None
        }
        result => Some(result.map_err(io::Error::from)),
    }
}
