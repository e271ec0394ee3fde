//! Where does a piece of shell text end?

/// Reads a text once, from its beginning to its end.
pub(super) struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let char = chars.next();
        self.rest = chars.as_str();
        char
    }

    /// Skips a character if it is next.
    pub(super) fn skip(&mut self, char: char) -> bool {
        match self.rest.strip_prefix(char) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The text before an ending, which is skipped; all of it where there is none.
    pub(super) fn until(&mut self, end: char) -> &'a str {
        let (inner, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        inner
    }

    pub(super) fn skip_line(&mut self) {
        let line = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = self.rest.get(line..).unwrap_or_default();
    }

    /// A name of a variable; empty where none is next.
    pub(super) fn name(&mut self) -> &'a str {
        let digit_first = self.peek().is_some_and(|char| char.is_ascii_digit());
        let ends = |char: char| !(char.is_ascii_alphanumeric() || char == '_');
        let end = match digit_first {
            true => 0,
            false => self.rest.find(ends).unwrap_or(self.rest.len()),
        };
        let (name, rest) = self.rest.split_at_checked(end).unwrap_or(("", self.rest));
        self.rest = rest;
        name
    }

    /// The text up to the ending that belongs to an opening that was read, quotes respected; all of
    /// it where there is none.
    pub(super) fn balanced(&mut self, open: char, close: char) -> &'a str {
        let text = self.rest;
        let mut depth = 1_usize;
        let mut quote = None;
        let mut chars = text.char_indices();
        while let Some((at, char)) = chars.next() {
            match (quote, char) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    chars.next();
                }
                (None, '\'' | '"') => quote = Some(char),
                (Some(_), _) => {}
                (None, char) if char == open => depth += 1,
                (None, char) if char == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = text.get(at + char.len_utf8()..).unwrap_or_default();
                return text.get(..at).unwrap_or_default();
            }
        }
        self.rest = "";
        text
    }

    /// The text of `$'…'`, its escapes decoded.
    pub(super) fn ansi_c(&mut self) -> String {
        let mut text = String::new();
        while let Some(char) = self.next() {
            match char {
                '\'' => break,
                '\\' => self.escape(&mut text),
                char => text.push(char),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut String) {
        match self.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('x') => text.extend(self.code(16, 2)),
            Some('u') => text.extend(self.code(16, 4)),
            Some('U') => text.extend(self.code(16, 8)),
            Some(digit @ '0'..='7') => {
                let first = digit.to_digit(8).unwrap_or_default();
                let more = self.digits(8, 2);
                let value = more.iter().fold(first, |value, digit| value * 8 + digit);
                text.extend(char::from_u32(value));
            }
            Some(char) => text.push(char),
            None => {}
        }
    }

    fn code(&mut self, radix: u32, most: usize) -> Option<char> {
        let digits = self.digits(radix, most);
        let value = digits.iter().fold(0_u32, |value, digit| {
            value.saturating_mul(radix).saturating_add(*digit)
        });
        char::from_u32(value)
    }

    fn digits(&mut self, radix: u32, most: usize) -> Vec<u32> {
        let mut digits = Vec::new();
        while digits.len() < most
            && let Some(digit) = self.peek().and_then(|char| char.to_digit(radix))
        {
            digits.push(digit);
            self.next();
        }
        digits
    }

    /// The lines before the one that is the delimiter alone.
    pub(super) fn document(&mut self, delimiter: &str, tabs: bool) -> &'a str {
        let text = self.rest;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            let bare = if tabs {
                bare.trim_start_matches('\t')
            } else {
                bare
            };
            if bare == delimiter {
                self.rest = text.get(at + line.len()..).unwrap_or_default();
                return text.get(..at).unwrap_or_default();
            }
            at += line.len();
        }
        self.rest = "";
        text
    }
}
