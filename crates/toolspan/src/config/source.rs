//! Is the text JSON with comments, and in which line is what?

use std::collections::HashMap;
use std::path::Path;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{ParseOptions, ParseStringErrorKind, parse_to_ast};
use toolspan_core::guard::depth;

use super::file;
use super::problem::{Problem, member_path, quoted};

/// Deepest nesting of arrays and objects in a config.
pub(super) const DEEPEST: usize = 64;

/// What to do with a file of the one other program that writes TOML.
const TOML: Option<&str> =
    Some("`toolspan config import codex --from FILE` adds the servers of Codex to a config");

/// What is said about a config deeper than [`DEEPEST`].
pub(super) fn too_deep() -> Problem {
    Problem::new(format!(
        "lists and objects are nested deeper than {DEEPEST} levels"
    ))
}

/// A config's text and where it came from.
pub(super) struct Source<'a> {
    /// `None` for a config that was not a file: then problems name no lines.
    file: Option<&'a Path>,
    text: &'a str,
    /// Byte offset of each line's first character.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: Option<&'a Path>, text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |(at, byte): (usize, &u8)| {
            let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            ends.then_some(at + 1)
        };
        let starts = bytes.iter().enumerate().filter_map(ends_line);
        let lines = std::iter::once(0).chain(starts).collect();
        Self { file, text, lines }
    }

    /// The file it is.
    pub(super) fn file(&self) -> Option<&'a Path> {
        self.file
    }

    /// A problem with the value that begins at byte `at`.
    pub(super) fn problem(&self, at: usize, key_path: &str, message: impl Into<String>) -> Problem {
        let (line, column) = self.position(at);
        let known = self.file.is_some();
        Problem {
            file: self.file.map(Path::to_owned),
            key_path: key_path.to_owned(),
            line: known.then_some(line),
            column: known.then_some(column),
            message: message.into(),
            hint: None,
        }
    }

    /// Line and column of a byte, both from 1; the column in characters.
    pub(super) fn position(&self, at: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..at).unwrap_or_default();
        let column = before.chars().count() + 1;
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (narrow(line), narrow(column))
    }

    /// The value in the text; `None` if there is none but white space and comments.
    pub(super) fn parse(&self) -> Result<Option<Value<'a>>, Problem> {
        self.parse_as(file::LARGEST, &strict())
    }

    /// As [`parse`](Self::parse), for a file of another program of at most `largest` bytes: a comma
    /// may stand after a last element.
    pub(super) fn parse_lenient(&self, largest: usize) -> Result<Option<Value<'a>>, Problem> {
        let options = ParseOptions {
            allow_trailing_commas: true,
            ..strict()
        };
        self.parse_as(largest, &options)
    }

    fn parse_as(
        &self,
        largest: usize,
        options: &ParseOptions,
    ) -> Result<Option<Value<'a>>, Problem> {
        if self.text.len() > largest {
            return Err(self.problem(0, "", file::too_large(largest)));
        }
        let plain = without_comments(self.text).map_err(|at| {
            self.problem(
                at,
                "",
                "a string has a line break or another control character in it",
            )
            .with_hint("end it with a quote on its line, or write the character as \\n or \\t")
        })?;
        // The parser recurses, so the depth is known before it runs.
        if depth::of_text(&plain, DEEPEST).is_none() {
            return Err(too_deep().in_file(self.file.map(Path::to_owned)));
        }
        let parsed = parse_to_ast(self.text, &Default::default(), options)
            .map_err(|error| self.syntax(&error))?;
        if let Some(value) = &parsed.value {
            self.refuse_duplicates(value, "")?;
        }
        Ok(parsed.value)
    }

    fn syntax(&self, error: &ParseError) -> Problem {
        let (message, hint) = match self.is_toml() {
            true => ("this is TOML, and a config is JSON", TOML),
            false => wording(error.kind()),
        };
        let problem = self.problem(error.range().start, "", message);
        match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    }

    fn is_toml(&self) -> bool {
        let extension = self.file.and_then(Path::extension);
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    }

    /// Refuses an object that has a key twice. Recursion ends at [`DEEPEST`].
    fn refuse_duplicates(&self, value: &Value<'_>, path: &str) -> Result<(), Problem> {
        match value {
            Value::Array(array) => {
                for (index, item) in array.elements.iter().enumerate() {
                    if is_container(item) {
                        self.refuse_duplicates(item, &format!("{path}[{index}]"))?;
                    }
                }
            }
            Value::Object(object) => {
                let mut seen: HashMap<&str, usize> = HashMap::new();
                for member in &object.properties {
                    let (key, at) = (member.name.as_str(), member.name.range().start);
                    if let Some(first) = seen.insert(key, at) {
                        return Err(self.duplicate(member, first, path));
                    }
                    if is_container(&member.value) {
                        self.refuse_duplicates(&member.value, &member_path(path, key))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn duplicate(&self, member: &ObjectProp<'_>, first: usize, path: &str) -> Problem {
        let (key, at) = (member.name.as_str(), member.name.range().start);
        let ((first, _), (second, _)) = (self.position(first), self.position(at));
        let lines = if first == second {
            format!("both times in line {first}")
        } else {
            format!("in line {first} and in line {second}")
        };
        let message = format!(
            "the key {} stands twice in one object, {lines}",
            quoted(key)
        );
        self.problem(at, &member_path(path, key), message)
            .with_hint("remove or rename one")
    }
}

fn is_container(value: &Value<'_>) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// JSON as RFC 8259 has it, and comments.
pub(super) fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The text with each comment replaced by spaces, byte by byte; or where a string begins that has
/// a control character in it.
fn without_comments(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        at += match rest {
            [b'"', inside @ ..] => 1 + string_length(inside).ok_or(at)?,
            [b'/', b'/', ..] => {
                let ends = |byte: &u8| *byte == b'\n' || *byte == b'\r';
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                blank(&mut bytes, at, length)
            }
            [b'/', b'*', inside @ ..] => {
                let end = inside.windows(2).position(|pair| pair == b"*/");
                let length = end.map_or(rest.len(), |end| end + 4);
                blank(&mut bytes, at, length)
            }
            _ => 1,
        };
    }
    Ok(bytes)
}

/// How many bytes a string has behind its opening quote, the closing one included; `None` when a
/// control character comes first. A string that never ends is left to the parser.
fn string_length(inside: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (index, byte) in inside.iter().enumerate() {
        match byte {
            0..0x20 => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(index + 1),
            _ => {}
        }
    }
    Some(inside.len())
}

fn blank(bytes: &mut [u8], at: usize, length: usize) -> usize {
    for byte in bytes.iter_mut().skip(at).take(length) {
        *byte = b' ';
    }
    length
}

/// What is said about broken syntax, and what to do.
fn wording(kind: &ParseErrorKind) -> (&'static str, Option<&'static str>) {
    use ParseErrorKind as Kind;
    const COMMA: Option<&str> = Some("remove the comma; only comments are allowed beyond JSON");
    const NUMBER: Option<&str> = Some("write numbers as in JSON, such as 0.5 or 30");
    match kind {
        Kind::TrailingCommasNotAllowed => ("a comma stands after the last element", COMMA),
        Kind::UnexpectedComma => ("a comma stands where a value is expected", COMMA),
        Kind::ExpectedComma => ("a comma is missing", Some("put one after the value before")),
        Kind::ExpectedColonAfterObjectKey => ("a colon is missing after a key", None),
        Kind::ExpectedObjectValue | Kind::UnexpectedCloseBrace | Kind::UnexpectedCloseBracket => {
            ("a value is missing", None)
        }
        Kind::ExpectedStringObjectProperty => {
            ("a key is not in quotes", Some("put it in double quotes"))
        }
        Kind::SingleQuotedStringsNotAllowed => {
            ("a string is in single quotes", Some("use double quotes"))
        }
        Kind::UnexpectedWord | Kind::UnexpectedToken => (
            "this is no JSON value",
            Some("put a string in double quotes"),
        ),
        Kind::BareDecimalPointNumbersNotAllowed
        | Kind::ExpectedDigit
        | Kind::ExpectedDigitFollowingNegativeSign
        | Kind::ExpectedPlusMinusOrDigitInNumberLiteral
        | Kind::HexadecimalNumbersNotAllowed
        | Kind::NonFiniteNumbersNotAllowed
        | Kind::UnaryPlusNumbersNotAllowed => ("a number is not written as in JSON", NUMBER),
        Kind::UnterminatedArray => ("a list that begins here has no end", Some("add a `]`")),
        Kind::UnterminatedObject => ("an object that begins here has no end", Some("add a `}`")),
        Kind::UnterminatedCommentBlock => {
            ("a comment that begins here has no end", Some("add `*/`"))
        }
        Kind::MultipleRootJsonValues => ("something follows after the end of the config", None),
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => (
            "a string that begins here has no end",
            Some("add a double quote"),
        ),
        Kind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) => (
            "an escape in a string stands for half a character",
            Some("write the character itself"),
        ),
        Kind::String(_) => (
            "a string has an unknown escape in it",
            Some("write a backslash as \\\\"),
        ),
        _ => ("this is not valid JSON", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_in_comments_do_not_count() {
        let text = "{ // \" [[[\n /* { \" */ \"a\": \"// [\\\" /*\" }";
        let plain = without_comments(text).expect("no control characters");
        assert_eq!(plain.len(), text.len());
        assert_eq!(depth::of_text(&plain, 64), Some(1));
    }

    #[test]
    fn a_quote_in_a_comment_hides_no_depth() {
        let deep = format!("// \"\n{}", "[".repeat(65));
        let source = Source::new(None, &deep);
        assert!(
            source
                .parse()
                .expect_err("too deep")
                .message
                .contains("64 levels")
        );
    }

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = Source::new(None, "é=\r\nb\rc\n\nd");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (1, 2));
        assert_eq!(source.position(5), (2, 1));
        assert_eq!(source.position(7), (3, 1));
        assert_eq!(source.position(10), (5, 1));
        assert_eq!(source.position(999).0, 5);
    }
}
