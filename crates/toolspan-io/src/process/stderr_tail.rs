//! What did a process say last on standard error?

use std::collections::VecDeque;

/// The newest `limit` bytes of a stream, and how many came before them.
#[derive(Debug)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    limit: usize,
    dropped: u64,
}

impl StderrTail {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            limit,
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let total = self.bytes.len() + chunk.len();
        let excess = total.saturating_sub(self.limit);
        self.bytes.drain(..excess.min(self.bytes.len()));
        let kept = chunk.len().min(self.limit);
        self.bytes
            .extend(chunk.get(chunk.len() - kept..).unwrap_or_default());
        self.dropped += u64::try_from(excess).unwrap_or(u64::MAX);
    }

    /// Bytes that were let go of.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The bytes kept as text; a character that was cut in two at the front is left out.
    pub(super) fn text(&self) -> String {
        let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let cut = match self.dropped {
            0 => 0,
            _ => self
                .bytes
                .iter()
                .take(3)
                .take_while(is_continuation)
                .count(),
        };
        let bytes: Vec<u8> = self.bytes.iter().skip(cut).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_bytes_are_kept_and_the_others_counted() {
        let mut tail = StderrTail::new(8);
        for chunk in ["abc", "", "defghijkl", "m", "nopqrstuvwxyz"] {
            tail.push(chunk.as_bytes());
        }
        assert_eq!(tail.text(), "stuvwxyz");
        assert_eq!(tail.dropped(), 18);
    }

    #[test]
    fn a_character_cut_by_the_limit_is_left_out() {
        let mut tail = StderrTail::new(4);
        tail.push("x€ab".as_bytes());
        assert_eq!(tail.text(), "ab");
        assert_eq!(tail.dropped(), 2);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let mut tail = StderrTail::new(4);
        tail.push(b"a\xFFb");
        assert_eq!(tail.text(), "a\u{FFFD}b");
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        let mut tail = StderrTail::new(0);
        tail.push(b"abc");
        assert_eq!((tail.text().as_str(), tail.dropped()), ("", 3));
    }
}
