//! What marks a child and all it starts, so that they can be found again?

#[cfg(unix)]
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// 128 random bits, unique per spawn, that travel in the child's environment.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cookie(u128);

#[cfg(unix)]
impl Cookie {
    pub(super) fn new() -> Self {
        Self(u128::from(unpredictable_bits()) << 64 | u128::from(unpredictable_bits()))
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    #[cfg(target_os = "linux")]
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text)
            .ok()
            .filter(|text| text.len() == 32)?;
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

#[cfg(unix)]
impl fmt::Display for Cookie {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// Bits that nobody outside can foresee: a keyed hash, its key given by the operating system once
/// per thread, of a counter and the process id (a forked copy has the same key and counter).
pub(crate) fn unpredictable_bits() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNTER.fetch_add(1, Ordering::Relaxed));
    hasher.write_u32(std::process::id());
    hasher.finish()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_unique_and_reads_back() {
        let cookie = Cookie::new();
        assert_ne!(cookie, Cookie::new());
        assert_eq!(Cookie::parse(cookie.to_string().as_bytes()), Some(cookie));
        assert_eq!(Cookie::parse(b"12"), None);
        assert_eq!(Cookie::parse(&[b'+'; 32]), None);
    }
}
