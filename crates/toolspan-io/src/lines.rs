//! How do bytes become lines, with a bound and for any chunking?

/// Bytes offered for one read: 64 KiB, a full pipe.
pub const READ_SIZE: usize = 64 * 1024;

/// Bytes kept of a line that is too long: 4 KiB, enough to find its id.
pub const HEAD_SIZE: usize = 4 * 1024;

/// A line may be this many times the cap before the stream is called endless.
pub const ENDLESS_FACTOR: usize = 4;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What the decoder found. The bytes are borrowed from its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line<'a> {
    /// A line without its end (`\n` or `\r\n`); never empty, never longer than the cap.
    Complete(&'a [u8]),
    /// A line passed the cap. Said once for each such line, as soon as it is known; the rest of
    /// the line is dropped and decoding goes on after the next newline.
    TooLong {
        /// The first [`HEAD_SIZE`] bytes of the line, or all up to the cap if that is smaller.
        head: &'a [u8],
    },
    /// The same line has passed [`ENDLESS_FACTOR`] times the cap: the peer no longer speaks in
    /// lines. Said once for each such line, after its `TooLong`.
    Endless,
}

/// An incremental decoder of newline-separated messages. It does no I/O.
///
/// Fill it either by reading into [`space`](Self::space) and calling [`filled`](Self::filled), or
/// by [`feed`](Self::feed), which copies; then take lines with [`next_line`](Self::next_line) until
/// it gives `None`. A line that lies whole in the buffer is never copied.
///
/// The lines do not depend on how the bytes were cut. Empty lines are skipped, one `\r` before
/// `\n` and a byte order mark at the very start are dropped.
///
/// Memory: at most the cap plus 2 x [`READ_SIZE`] when lines are taken after each fill, and after a
/// large line the buffer shrinks again.
#[derive(Debug)]
pub struct LineDecoder {
    /// All of it is initialised; the bytes that count are `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// No newline lies in `start..scanned`.
    scanned: usize,
    max_line: usize,
    /// Nothing was decoded yet, so that a byte order mark may come.
    at_start: bool,
    /// Bytes seen of a line that is being dropped.
    dropping: Option<usize>,
}

impl LineDecoder {
    /// Makes a decoder for lines of up to `max_line` bytes, the line's end not counted.
    pub fn new(max_line: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            scanned: 0,
            max_line,
            at_start: true,
            dropping: None,
        }
    }

    /// Room to read into, at least [`READ_SIZE`] bytes. Say with [`filled`](Self::filled) how many
    /// were read.
    pub fn space(&mut self) -> &mut [u8] {
        self.make_room(READ_SIZE);
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// Says that `count` bytes were read into [`space`](Self::space); more than there was room for
    /// counts as all of it.
    pub fn filled(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.buffer.len());
    }

    /// Adds a copy of `bytes`.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        if let Some(room) = self.buffer.get_mut(self.end..self.end + bytes.len()) {
            room.copy_from_slice(bytes);
            self.end += bytes.len();
        }
    }

    /// The next line, or `None` when more bytes are needed.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        self.skip_byte_order_mark()?;
        loop {
            let found = memchr::memchr(b'\n', self.slice(self.scanned, self.end));
            let newline = found.map(|offset| self.scanned + offset);
            self.scanned = self.end;
            if let Some(seen) = self.dropping {
                if self.drop_more(seen, newline) {
                    return Some(Line::Endless);
                }
                newline?;
                continue;
            }
            let line_end = newline.unwrap_or(self.end);
            if self.is_too_long(line_end) {
                return Some(self.too_long());
            }
            let line = self.start..line_end;
            self.start = newline? + 1;
            self.scanned = self.start;
            let content = without_carriage_return(self.slice(line.start, line.end)).len();
            if content > 0 {
                return Some(Line::Complete(self.slice(line.start, line.start + content)));
            }
        }
    }

    /// What is left when the stream has ended without a newline: to be called once after the last
    /// [`next_line`](Self::next_line) gave `None`.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        self.at_start = false;
        let start = std::mem::replace(&mut self.start, self.end);
        let dropped = self.dropping.take().is_some();
        let line = without_carriage_return(self.slice(start, self.end));
        if dropped || line.is_empty() {
            return None;
        }
        // Only what could have become a byte order mark was not measured before.
        if line.len() > self.max_line {
            return Some(Line::TooLong {
                head: line.get(..self.max_line).unwrap_or(line),
            });
        }
        Some(Line::Complete(line))
    }

    /// Bytes held that belong to no line yet.
    pub fn pending(&self) -> usize {
        self.end - self.start
    }

    /// Bytes of memory held.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.buffer.get(from..to).unwrap_or_default()
    }

    /// `None` while the first bytes may still become a byte order mark.
    fn skip_byte_order_mark(&mut self) -> Option<()> {
        if self.at_start {
            let head = self.slice(0, self.end.min(BYTE_ORDER_MARK.len()));
            if head.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(head) {
                return None;
            }
            if head == BYTE_ORDER_MARK {
                self.start = BYTE_ORDER_MARK.len();
                self.scanned = self.start;
            }
            self.at_start = false;
        }
        Some(())
    }

    /// Whether the line in `start..line_end` has passed the cap for certain: a trailing `\r` does
    /// not count when the newline follows, or may still follow.
    fn is_too_long(&self, line_end: usize) -> bool {
        let length = line_end - self.start;
        let by_one = length == self.max_line.saturating_add(1);
        length > self.max_line && !(by_one && self.slice(self.start, line_end).ends_with(b"\r"))
    }

    /// Gives the head of the line at `start` and begins to drop that line.
    fn too_long(&mut self) -> Line<'_> {
        self.dropping = Some(0);
        self.scanned = self.start;
        let head = HEAD_SIZE.min(self.max_line);
        Line::TooLong {
            head: self.slice(self.start, self.start + head),
        }
    }

    /// Drops what is there of an over-long line, with `seen` bytes dropped before. True when it is
    /// endless and this was not said before.
    fn drop_more(&mut self, seen: usize, newline: Option<usize>) -> bool {
        let line_end = newline.unwrap_or(self.end);
        let limit = self.max_line.saturating_mul(ENDLESS_FACTOR);
        let total = seen.saturating_add(line_end - self.start);
        if seen <= limit && total > limit {
            // Stop before the newline, which the next call finds again.
            self.dropping = Some(total);
            self.start = line_end;
            self.scanned = line_end;
            return true;
        }
        self.dropping = newline.is_none().then_some(total);
        self.start = newline.map_or(self.end, |at| at + 1);
        self.scanned = self.start;
        false
    }

    /// Makes room for `wanted` more bytes: moves what is pending to the front, and grows or shrinks
    /// the buffer.
    fn make_room(&mut self, wanted: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        let needed = self.end.saturating_add(wanted);
        if self.buffer.len() < needed {
            // Doubling keeps the cost of a large line linear; the cap keeps the doubling bounded.
            let most = self.max_line.saturating_add(READ_SIZE).max(needed);
            let size = self.buffer.len().saturating_mul(2).clamp(needed, most);
            self.buffer.reserve_exact(size - self.buffer.len());
            self.buffer.resize(size, 0);
        } else if self.buffer.len() > 4 * READ_SIZE && needed <= 2 * READ_SIZE {
            self.buffer.truncate(needed);
            self.buffer.shrink_to_fit();
        }
    }
}

fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
