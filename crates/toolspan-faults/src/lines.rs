//! How are incoming bytes cut into lines, with a bound?

use std::io::{self, Read};

/// The longest line that is read, in bytes: 64 MiB.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// How much is read at a time.
const READ_BYTES: usize = 256 << 10;

/// Why there is no next line.
#[derive(Debug)]
pub(crate) enum LineError {
    /// More than [`MAX_LINE_BYTES`] came without a newline.
    TooLong,
    /// Reading failed.
    Read(io::Error),
}

/// Lines of a byte source. A last line without a newline is dropped: it is half a message.
pub(crate) struct Lines {
    source: Box<dyn Read>,
    /// What was read; the bytes before `start` have been handed out, those after `end` are free.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// How many bytes from `start` on are known to hold no newline.
    searched: usize,
}

impl Lines {
    pub(crate) fn new(source: Box<dyn Read>) -> Self {
        Self {
            source,
            buffer: vec![0; READ_BYTES],
            start: 0,
            end: 0,
            searched: 0,
        }
    }

    /// The next line without its newline; nothing at the end of input.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        loop {
            if let Some(length) = self.find_newline() {
                let line = self.start..self.start + length;
                self.start = line.end + 1;
                self.searched = 0;
                return Ok(self.buffer.get(line));
            }
            if self.fill()? == 0 {
                return Ok(None);
            }
        }
    }

    /// The next line if it is there without reading.
    pub(crate) fn next_buffered(&mut self) -> Option<&[u8]> {
        let length = self.find_newline()?;
        let line = self.start..self.start + length;
        self.start = line.end + 1;
        self.searched = 0;
        self.buffer.get(line)
    }

    fn find_newline(&mut self) -> Option<usize> {
        let unread = self.buffer.get(self.start..self.end)?;
        let found = memchr::memchr(b'\n', unread.get(self.searched..)?);
        match found {
            Some(at) => Some(self.searched + at),
            None => {
                self.searched = unread.len();
                None
            }
        }
    }

    /// Reads once; returns how many bytes came.
    pub(crate) fn fill(&mut self) -> Result<usize, LineError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end > MAX_LINE_BYTES {
            return Err(LineError::TooLong);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        loop {
            match self.source.read(free) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LineError::Read(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of a fixed size.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(target.len());
            target[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn lines_are_the_same_for_every_piece_size() {
        for size in 1..12 {
            let mut lines = Lines::new(Box::new(Slow(b"one\n\ntwo three\nhalf".to_vec(), size)));
            let mut seen = Vec::new();
            while let Some(line) = lines.next().expect("readable") {
                seen.push(String::from_utf8(line.to_vec()).expect("text"));
            }
            assert_eq!(seen, ["one", "", "two three"], "pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = Lines::new(Box::new(io::repeat(b'x')));
        assert!(matches!(lines.next(), Err(LineError::TooLong)));
    }
}
