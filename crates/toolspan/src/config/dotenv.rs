//! Which variables are in an `envFile`?
//!
//! Lines of `NAME=value`, as the dotenv files of other programs have them: `export` before a name,
//! comments, values in single or double quotes, the latter over several lines and with `\n`, `\t`,
//! `\r`, `\"`, `\$` and `\\`. Nothing is filled in: what stands there is the value.

use thiserror::Error;

/// Largest file, in bytes: 1 MiB.
pub(super) const LARGEST: usize = 1 << 20;
/// Most variables in a file.
const MOST: usize = 1_024;

/// Why a file cannot be taken, with its line. No value is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum DotenvError {
    #[error("line {0} is not NAME=value")]
    NotAnAssignment(usize),
    #[error("line {0} begins a value in quotes that has no end")]
    Unclosed(usize),
    #[error("line {0} has something behind the quotes")]
    Behind(usize),
    #[error("there are more than {MOST} variables")]
    TooMany,
    #[error("there is a NUL character in the file")]
    Nul,
}

/// The variables in order; of one that stands there twice, the later value.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, DotenvError> {
    if text.contains('\0') {
        return Err(DotenvError::Nul);
    }
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut lines = Lines { rest: text, at: 0 };
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = assignment(line).ok_or(DotenvError::NotAnAssignment(lines.at))?;
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                quoted(value.get(1..).unwrap_or_default(), quote, &mut lines)?
            }
            _ => plain(value).to_owned(),
        };
        if let Some((_, known)) = variables.iter_mut().find(|(known, _)| known == name) {
            *known = value;
        } else if variables.len() == MOST {
            return Err(DotenvError::TooMany);
        } else {
            variables.push((name.to_owned(), value));
        }
    }
    Ok(variables)
}

struct Lines<'a> {
    rest: &'a str,
    /// The number of the line that was given last, from 1.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        self.at += 1;
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let name = match name.split_once(char::is_whitespace) {
        Some(("export", name)) => name.trim(),
        _ => name,
    };
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then_some((name, value.trim()))
}

/// A value without quotes: up to a comment, which has a blank before it.
fn plain(value: &str) -> &str {
    let comment = value.match_indices('#').find(|(at, _)| {
        value
            .get(..*at)
            .is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
    });
    match comment {
        Some((at, _)) => value.get(..at).unwrap_or(value).trim_end(),
        None => value,
    }
}

/// What stands in quotes, from behind the opening one, over as many lines as it takes.
fn quoted(first: &str, quote: char, lines: &mut Lines<'_>) -> Result<String, DotenvError> {
    let begun = lines.at;
    let mut value = String::new();
    let mut line = first;
    loop {
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match letter {
                letter if letter == quote => {
                    let behind = letters.as_str().trim_start();
                    return match behind.is_empty() || behind.starts_with('#') {
                        true => Ok(value),
                        false => Err(DotenvError::Behind(lines.at)),
                    };
                }
                '\\' if quote == '"' => match letters.next() {
                    Some('n') => value.push('\n'),
                    Some('r') => value.push('\r'),
                    Some('t') => value.push('\t'),
                    Some(letter @ ('"' | '$' | '\\')) => value.push(letter),
                    Some(letter) => value.extend(['\\', letter]),
                    None => value.push('\\'),
                },
                letter => value.push(letter),
            }
        }
        line = lines.next().ok_or(DotenvError::Unclosed(begun))?;
        value.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).expect("a dotenv file")
    }

    #[test]
    fn each_form_of_a_value_is_read() {
        for (text, wanted) in [
            ("A=b", "b"),
            ("export A = b c ", "b c"),
            ("A=", ""),
            ("A=b # comment", "b"),
            ("A=b#c", "b#c"),
            ("A=#c", ""),
            ("A='b # $c \\n'", "b # $c \\n"),
            (
                "A=\"b\\n\\t\\\"c\\\" \\$d \\\\ \\x\" # e",
                "b\n\t\"c\" $d \\ \\x",
            ),
            ("A=\"b\nc\r\nd\"", "b\nc\nd"),
            ("A=b=c", "b=c"),
            ("A=b\r\n# x\r\n\r\n", "b"),
            ("A=1\nA=2", "2"),
            ("A=it's", "it's"),
        ] {
            assert_eq!(pairs(text), [("A".to_owned(), wanted.to_owned())], "{text}");
        }
        assert_eq!(pairs("# nothing\n\n"), []);
        assert_eq!(pairs("B=1\nA=2").len(), 2);
    }

    #[test]
    fn what_is_no_assignment_is_an_error_with_its_line() {
        for (text, wanted) in [
            ("A=1\nhello", DotenvError::NotAnAssignment(2)),
            ("=b", DotenvError::NotAnAssignment(1)),
            ("A B=c", DotenvError::NotAnAssignment(1)),
            ("A=1\nB=\"x\ny", DotenvError::Unclosed(2)),
            ("A='b' c", DotenvError::Behind(1)),
            ("A=b\0", DotenvError::Nul),
        ] {
            assert_eq!(parse(text), Err(wanted), "{text}");
        }
        let many: String = (0..=MOST).map(|number| format!("A{number}=\n")).collect();
        assert_eq!(parse(&many), Err(DotenvError::TooMany));
    }
}
