//! Which part of a Rust file is code, and which part of the code is a test?

/// One Rust file with its comments and texts taken out, line numbers kept.
#[derive(Debug)]
pub(super) struct Source {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    /// The first line as written.
    pub(super) first_line: String,
    /// Every line without comments and without what stands between quotes.
    pub(super) code: Vec<String>,
    /// From which line on (counted from 0) the file is test code, if at all.
    tests_from: Option<usize>,
}

impl Source {
    /// Reads a file's text.
    pub(super) fn new(path: String, text: &str) -> Self {
        let code = code_lines(text);
        let tests_from = if is_test_file(&path) {
            Some(0)
        } else {
            test_module_line(&code)
        };
        let first_line = text.lines().next().unwrap_or_default().to_owned();
        Self {
            path,
            first_line,
            code,
            tests_from,
        }
    }

    /// The lines of code, each with its number from 1.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .iter()
            .enumerate()
            .map(|(index, line)| (index + 1, line.as_str()))
    }

    /// As [`Source::numbered`], only the test code: test files, the testkit, and test modules at
    /// the end of a file.
    pub(super) fn numbered_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let from = self.tests_from.unwrap_or(self.code.len());
        self.numbered().skip(from)
    }
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/toolspan-testkit/")
}

/// The line of `#[cfg(test)]` that stands on a module with a body; by custom it is the last one.
fn test_module_line(code: &[String]) -> Option<usize> {
    let next = code.iter().skip(1);
    code.iter().zip(next).position(|(attribute, module)| {
        attribute.trim() == "#[cfg(test)]"
            && module.trim_start().starts_with("mod ")
            && module.trim_end().ends_with('{')
    })
}

/// What the scanner is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    /// A text between quotes.
    Text,
    /// A raw text, closed by a quote and so many `#`.
    Raw(usize),
    /// A comment over lines, at this depth.
    Comment(usize),
}

/// Blanks out comments and texts. Wrong only for code that a reader would stumble over, too.
fn code_lines(text: &str) -> Vec<String> {
    let mut inside = Inside::Code;
    text.lines()
        .map(|line| code_part(line, &mut inside))
        .collect()
}

fn code_part(line: &str, inside: &mut Inside) -> String {
    let mut code = String::new();
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let (taken, then) = match *inside {
            Inside::Code => match opening(rest, &code) {
                Opening::LineComment => break,
                Opening::Into(taken, then) => (taken, then),
                Opening::Nothing => {
                    code.push(next);
                    (next.len_utf8(), Inside::Code)
                }
            },
            Inside::Text if next == '\\' => (
                1 + rest.chars().nth(1).map_or(0, char::len_utf8),
                Inside::Text,
            ),
            Inside::Text if next == '"' => (1, Inside::Code),
            Inside::Raw(marks) if closes_raw(rest, marks) => (1 + marks, Inside::Code),
            Inside::Comment(depth) if rest.starts_with("/*") => (2, Inside::Comment(depth + 1)),
            Inside::Comment(depth) if rest.starts_with("*/") => (
                2,
                if depth > 1 {
                    Inside::Comment(depth - 1)
                } else {
                    Inside::Code
                },
            ),
            stay => (next.len_utf8(), stay),
        };
        *inside = then;
        rest = rest.get(taken..).unwrap_or_default();
    }
    code
}

/// What begins at this place in code.
enum Opening {
    LineComment,
    /// So many bytes are passed over, then we are inside of this.
    Into(usize, Inside),
    Nothing,
}

fn opening(rest: &str, before: &str) -> Opening {
    if rest.starts_with("//") {
        return Opening::LineComment;
    }
    if rest.starts_with("/*") {
        return Opening::Into(2, Inside::Comment(1));
    }
    // A quote as a character opens no text.
    for character in ["'\"'", "'\\\"'"] {
        if rest.starts_with(character) {
            return Opening::Into(character.len(), Inside::Code);
        }
    }
    if rest.starts_with('"') {
        return Opening::Into(1, Inside::Text);
    }
    let in_a_name = before.ends_with(|last: char| last.is_alphanumeric() || last == '_')
        && !before.ends_with('b');
    let after_r = rest.strip_prefix('r').filter(|_| !in_a_name);
    if let Some(after) = after_r {
        let marks = after.len() - after.trim_start_matches('#').len();
        if after.get(marks..).is_some_and(|rest| rest.starts_with('"')) {
            return Opening::Into(marks + 2, Inside::Raw(marks));
        }
    }
    Opening::Nothing
}

fn closes_raw(rest: &str, marks: usize) -> bool {
    rest.strip_prefix('"')
        .is_some_and(|after| after.len() - after.trim_start_matches('#').len() >= marks)
}

#[cfg(test)]
mod tests {
    use super::Source;

    fn code(text: &str) -> Vec<String> {
        Source::new("crates/a/src/lib.rs".to_owned(), text).code
    }

    #[test]
    fn comments_and_texts_are_no_code() {
        let text = "let a = \"x // y\"; // z\n/* b\n/* c */ d */ let e = 1;";
        assert_eq!(code(text), ["let a = ; ", "", " let e = 1;"]);
    }

    #[test]
    fn a_text_may_hold_escaped_quotes_and_span_lines() {
        assert_eq!(code("f(\"a\\\"b\\\n c\") + 1"), ["f(", ") + 1"]);
        assert_eq!(code("f(r#\"a \"b\" \\\"# , 'x')"), ["f( , 'x')"]);
        assert_eq!(code("if c == '\"' { d }"), ["if c ==  { d }"]);
        assert_eq!(code("for\"a\""), ["for"]);
    }

    #[test]
    fn test_code_is_a_test_file_or_the_test_module_of_a_file() {
        let text = "fn a() {}\n#[cfg(test)]\nuse b;\n#[cfg(test)]\nmod tests {\nfn c() {}\n}";
        let file = Source::new("crates/a/src/lib.rs".to_owned(), text);
        assert_eq!(file.numbered_tests().next(), Some((4, "#[cfg(test)]")));

        let file = Source::new("crates/a/tests/it/main.rs".to_owned(), "fn a() {}");
        assert_eq!(file.numbered_tests().count(), 1);

        let file = Source::new("crates/a/src/lib.rs".to_owned(), "fn a() {}");
        assert_eq!(file.numbered_tests().count(), 0);
    }
}
