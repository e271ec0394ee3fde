//! How is input read that a user names: a file, or `-` for standard input? With a bound.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;
use toolspan::guard::sanitise;
use toolspan::{Error, Result};

use super::arguments::usage;

/// Largest `--args` and largest line of a batch, in bytes: that of `limits.arguments_bytes`.
pub(super) const LARGEST: usize = 16 << 20;

/// The JSON of `--args`: the text itself, `@FILE`, or `-` for standard input.
///
/// # Errors
///
/// `usage` when it cannot be read, is larger than [`LARGEST`] or is no JSON.
pub(super) fn json(source: &str) -> Result<Value> {
    let named = match source.strip_prefix('@') {
        Some(file) => Some(file),
        None => (source == "-").then_some("-"),
    };
    let text = match named {
        None => source.to_owned(),
        Some(name) => {
            let mut text = String::new();
            let limit = u64::try_from(LARGEST).unwrap_or(u64::MAX).saturating_add(1);
            let read = open(name)?.take(limit).read_to_string(&mut text);
            read.map_err(|error| unreadable(name, &error))?;
            if text.len() > LARGEST {
                return Err(usage(format!("--args is larger than {LARGEST} bytes")));
            }
            text
        }
    };
    serde_json::from_str(&text).map_err(|error| {
        usage(format!("--args is not JSON: {error}"))
            .with_hint("write --args '{\"key\": \"value\"}', --args @FILE, or key=value pairs")
    })
}

/// Opens a file, or standard input for `-`.
///
/// # Errors
///
/// `usage` when there is no such file.
pub(super) fn open(name: &str) -> Result<Box<dyn BufRead + Send>> {
    match name {
        "-" => Ok(Box::new(BufReader::new(io::stdin()))),
        name => {
            let file = File::open(name).map_err(|error| unreadable(name, &error))?;
            Ok(Box::new(BufReader::new(file)))
        }
    }
}

pub(super) fn unreadable(name: &str, error: &io::Error) -> Error {
    let name = if name == "-" { "standard input" } else { name };
    usage(format!(
        "failed to read {}: {error}",
        sanitise::one_line(name, 300)
    ))
}

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without the line's end.
    Whole(Vec<u8>),
    /// It has more than [`LARGEST`] bytes; they are skipped.
    TooLong,
}

/// Reads the next line, keeping at most `largest` bytes of it; `None` at the end of input.
pub(super) fn next_line(input: &mut dyn BufRead, largest: usize) -> io::Result<Option<Line>> {
    let limit = u64::try_from(largest).unwrap_or(u64::MAX).saturating_add(2);
    let mut line = Vec::new();
    if input.take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let is_ended = line.last() == Some(&b'\n');
    if is_ended {
        line.pop();
    }
    if line.len() <= largest {
        return Ok(Some(Line::Whole(line)));
    }
    if !is_ended {
        skip_line(input)?;
    }
    Ok(Some(Line::TooLong))
}

fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (length, end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(length);
        if end {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_skipped_and_the_next_one_is_read() {
        let text = b"12345\n123456\n1234567890123\nabc\n\nlast";
        let mut input = &text[..];
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, 5).unwrap() {
            lines.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            lines,
            [
                whole("12345"),
                Line::TooLong,
                Line::TooLong,
                whole("abc"),
                whole(""),
                whole("last")
            ],
        );
    }

    #[test]
    fn arguments_are_read_from_the_text_or_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::fs::write(&file, "{\"a\": 1}").unwrap();
        assert_eq!(
            json("{\"a\": 1}").unwrap(),
            json(&format!("@{}", file.display())).unwrap()
        );
        assert!(json("@/no/such/file").is_err());
        assert!(json("{a: 1}").is_err());
    }
}
