//! Where do the words and commands of a shell text begin and end, and what do they come to?

use super::reader::Reader;
use super::shell::{Command, DEEPEST, FETCHED, Redirect, Script};
use super::{command, follow};

/// Most characters that variables and braces may add to a text.
const GROWTH: usize = 64 << 10;

/// What a redirection does with the word that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    Read,
    Write,
    HereString,
    HereDocument { tabs: bool },
}

/// Reads one text into a script, in one pass.
pub(super) struct Parser<'a, 's> {
    reader: Reader<'a>,
    script: &'s mut Script,
    command: Command,
    /// The word in progress; `None` between words.
    word: Option<String>,
    /// Whether any of the word was quoted, so that it is no keyword, number or brace list.
    quoted: bool,
    next: Next,
    /// The word before was `function`.
    is_function: bool,
    /// The open `(` and `{`: whether what is in them takes what stands before.
    groups: Vec<bool>,
    /// Here-documents whose text begins on the next line: delimiter, tabs, command.
    documents: Vec<(String, bool, usize)>,
    /// Delimiters of the command in progress.
    own_documents: Vec<(String, bool)>,
}

impl<'a, 's> Parser<'a, 's> {
    pub(super) fn new(text: &'a str, script: &'s mut Script, piped: bool) -> Self {
        let command = Command {
            piped,
            pipeline: script.pipelines,
            ..Command::default()
        };
        Self {
            reader: Reader::new(text),
            script,
            command,
            word: None,
            quoted: false,
            next: Next::Word,
            is_function: false,
            groups: Vec::new(),
            documents: Vec::new(),
            own_documents: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        while let Some(char) = self.reader.next() {
            self.take(char);
        }
        self.end_command(false);
    }

    fn take(&mut self, char: char) {
        match char {
            '\\' => match self.reader.next() {
                Some('\n') | None => {}
                Some(char) => self.push_quoted(char),
            },
            '\'' => {
                let text = self.reader.until('\'').to_owned();
                self.text(&text, true);
            }
            '"' => self.double_quoted(),
            '$' => self.dollar(false),
            '`' => {
                let inner = self.reader.until('`').replace("\\`", "`");
                self.substitute(&inner, false);
            }
            '#' if self.word.is_none() => {
                self.reader.skip_line();
            }
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command(false);
                self.read_documents();
            }
            ';' => self.end_command(false),
            '&' => self.ampersand(),
            '|' => {
                let or = self.reader.skip('|');
                let _both = self.reader.skip('&');
                self.end_command(!or);
            }
            '(' => self.open_group(),
            ')' => {
                self.end_command(false);
                self.groups.pop();
            }
            '<' | '>' => self.redirect(char),
            char => self.word.get_or_insert_default().push(char),
        }
    }

    fn push_quoted(&mut self, char: char) {
        self.quoted = true;
        self.word.get_or_insert_default().push(char);
    }

    fn text(&mut self, text: &str, quoted: bool) {
        self.quoted |= quoted;
        if quoted || self.word.is_some() || !text.is_empty() {
            self.word.get_or_insert_default().push_str(text);
        }
    }

    fn double_quoted(&mut self) {
        self.text("", true);
        while let Some(char) = self.reader.next() {
            match char {
                '"' => return,
                '$' => self.dollar(true),
                '`' => {
                    let inner = self.reader.until('`').replace("\\`", "`");
                    self.substitute(&inner, true);
                }
                '\\' => match self.reader.next() {
                    Some('\n') | None => {}
                    Some(char @ ('$' | '`' | '"' | '\\')) => self.push_quoted(char),
                    Some(char) => {
                        self.push_quoted('\\');
                        self.push_quoted(char);
                    }
                },
                char => self.push_quoted(char),
            }
        }
    }

    /// What follows a `$`.
    fn dollar(&mut self, quoted: bool) {
        match self.reader.peek() {
            Some('\'') if !quoted => {
                self.reader.next();
                let text = self.reader.ansi_c();
                self.text(&text, true);
            }
            Some('"') if !quoted => {}
            Some('(') => {
                self.reader.next();
                let inner = self.reader.balanced('(', ')').to_owned();
                match inner.strip_prefix('(') {
                    Some(_arithmetic) => self.text("0", quoted),
                    None => self.substitute(&inner, quoted),
                }
            }
            Some('{') => {
                self.reader.next();
                let inner = self.reader.balanced('{', '}').to_owned();
                self.parameter(&inner, quoted);
            }
            Some('@' | '*' | '1'..='9') => {
                // Empty in a text that is given to a shell: `r$@m` is `rm`.
                self.reader.next();
                self.quoted |= quoted;
            }
            Some('?' | '$' | '!' | '#' | '-') => {
                self.reader.next();
                self.text("0", quoted);
            }
            _ => {
                let name = self.reader.name().to_owned();
                match name.is_empty() {
                    true => self.text("$", quoted),
                    false => self.variable(&name, None, quoted),
                }
            }
        }
    }

    /// `${…}`: a name, and what stands for it where it is not set.
    fn parameter(&mut self, inner: &str, quoted: bool) {
        let mut reader = Reader::new(inner);
        let name = reader.name().to_owned();
        if name.is_empty() {
            // `${@}`, `${1}`: empty; `${!x}`, `${#x}`: not followed.
            if !matches!(reader.peek(), Some('@' | '*' | '0'..='9')) {
                self.text("$", quoted);
            }
            return;
        }
        let _set_but_empty = reader.skip(':');
        let stand_in = match reader.next() {
            Some('-' | '=') => Some(reader.rest().to_owned()),
            _ => None,
        };
        self.variable(&name, stand_in, quoted);
    }

    fn variable(&mut self, name: &str, stand_in: Option<String>, quoted: bool) {
        let known = self.script.variable(name).map(str::to_owned);
        match (known.or(stand_in), name) {
            (Some(value), _) if self.script.grown + value.len() <= GROWTH => {
                self.script.grown += value.len();
                self.spread(&value, quoted);
            }
            (_, "IFS") if !quoted => self.end_word(),
            (_, "HOME") => self.text("~", quoted),
            (_, "PWD") => self.text(".", quoted),
            (_, name) => self.text(&format!("${name}"), quoted),
        }
    }

    /// Text that a shell splits at spaces unless it is quoted.
    fn spread(&mut self, text: &str, quoted: bool) {
        if quoted {
            return self.text(text, true);
        }
        for char in text.chars() {
            match char.is_ascii_whitespace() {
                true => self.end_word(),
                false => self.word.get_or_insert_default().push(char),
            }
        }
    }

    /// A command substitution: its commands run too, and what it gives becomes a part of the word.
    fn substitute(&mut self, inner: &str, quoted: bool) {
        let before = self.script.commands.len();
        let folder = self.script.folder.clone();
        self.script.add(inner, false);
        self.script.folder = folder;
        let ran = self.script.commands.get(before..).unwrap_or_default();
        let given = match ran {
            ran if ran.iter().any(command::gives_foreign_text) => Some(FETCHED.to_string()),
            [only] => command::printed(only),
            _ => None,
        };
        match given {
            Some(text) => self.spread(&text, quoted),
            None => self.text("$()", quoted),
        }
    }

    fn ampersand(&mut self) {
        if self.reader.skip('>') {
            let _append = self.reader.skip('>');
            self.end_word();
            self.next = Next::Write;
        } else {
            let _and = self.reader.skip('&');
            self.end_command(false);
        }
    }

    fn open_group(&mut self) {
        if self.word.is_some() && self.reader.skip(')') {
            // `name()`: what follows is the body of a function.
            self.word = None;
            self.is_function = false;
            return self.end_command(false);
        }
        self.end_word();
        if !self.command.words.is_empty() {
            self.end_command(false);
        }
        self.groups.push(self.command.piped);
    }

    fn redirect(&mut self, char: char) {
        // The number in front is a descriptor.
        let number =
            |word: &String| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !self.quoted && self.word.as_ref().is_some_and(number) {
            self.word = None;
        }
        if self.reader.skip('(') {
            let inner = self.reader.balanced('(', ')').to_owned();
            return self.process(&inner, char == '>');
        }
        self.end_word();
        self.next = match char {
            '>' => {
                let _form = self.reader.skip('>') || self.reader.skip('|') || self.reader.skip('&');
                Next::Write
            }
            _ if self.reader.skip('<') => match self.reader.peek() {
                Some('<') => {
                    self.reader.next();
                    Next::HereString
                }
                _ => Next::HereDocument {
                    tabs: self.reader.skip('-'),
                },
            },
            _ if self.reader.skip('>') => Next::Write,
            _ => {
                let _copy = self.reader.skip('&');
                Next::Read
            }
        };
    }

    /// `<(…)` is a file with what the commands give; `>(…)` feeds them.
    fn process(&mut self, inner: &str, fed: bool) {
        if fed {
            // The command in progress stands before the ones that it feeds.
            let so_far = self.command.clone();
            let pipeline = so_far.pipeline;
            self.script.commands.push(so_far);
            let pipelines = std::mem::replace(&mut self.script.pipelines, pipeline);
            self.script.add(inner, true);
            self.script.pipelines = pipelines;
            self.text("/dev/fd/1", true);
        } else {
            self.substitute(inner, true);
        }
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.quoted);
        let Some(word) = self.word.take() else { return };
        match std::mem::replace(&mut self.next, Next::Word) {
            Next::Word => self.add_word(word, quoted),
            Next::HereString => self.command.input = Some(word),
            Next::HereDocument { tabs } => self.own_documents.push((word, tabs)),
            way => self.command.redirects.push(Redirect {
                writes: way == Next::Write,
                target: word,
            }),
        }
    }

    fn add_word(&mut self, word: String, quoted: bool) {
        if self.command.words.is_empty() && !quoted {
            match word.as_str() {
                "{" => {
                    self.groups.push(self.command.piped);
                    return;
                }
                // What follows is a name, and then the body.
                "function" => {
                    self.is_function = true;
                    return;
                }
                _ if std::mem::take(&mut self.is_function) => return,
                "}" => {
                    self.groups.pop();
                    return;
                }
                "then" | "do" | "else" | "if" | "elif" | "while" | "until" | "!" | "fi"
                | "done" | "esac" => return,
                _ => {}
            }
        }
        let first = self.command.words.first();
        let sets =
            first.is_none_or(|first| matches!(first.as_str(), "export" | "local" | "declare"));
        if sets && let Some((name, value)) = assignment(&word) {
            self.script.set(name, value);
            return;
        }
        match quoted {
            true => self.command.words.push(word),
            false => {
                let words = braces(word, &mut self.script.grown);
                self.command.words.extend(words);
            }
        }
    }

    fn end_command(&mut self, pipe: bool) {
        self.end_word();
        self.next = Next::Word;
        let empty = self.command.words.is_empty() && self.command.redirects.is_empty();
        let pipeline = match pipe || !self.groups.is_empty() {
            true => self.command.pipeline,
            false => {
                self.script.pipelines += 1;
                self.script.pipelines
            }
        };
        let next = Command {
            // `curl … | (cd x; sh)`: all in the group take what comes.
            piped: pipe || self.groups.last() == Some(&true),
            pipeline,
            ..Command::default()
        };
        let command = std::mem::replace(&mut self.command, next);
        let documents = std::mem::take(&mut self.own_documents);
        if empty && documents.is_empty() {
            return;
        }
        let index = self.script.commands.len();
        let waits = documents
            .into_iter()
            .map(|(word, tabs)| (word, tabs, index));
        self.documents.extend(waits);
        self.script.push(command);
    }

    /// The texts of here-documents, which begin after the line that names them.
    fn read_documents(&mut self) {
        for (delimiter, tabs, index) in std::mem::take(&mut self.documents) {
            let body = self.reader.document(&delimiter, tabs).to_owned();
            if let Some(command) = self.script.commands.get_mut(index) {
                command.input = Some(body);
            }
            if self.script.depth < DEEPEST {
                follow::follow_input(self.script, index);
            }
        }
    }
}

/// `name=value` of a word.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    let starts = chars
        .next()
        .is_some_and(|char| char.is_ascii_alphabetic() || char == '_');
    (starts && chars.all(|char| char.is_ascii_alphanumeric() || char == '_'))
        .then_some((name, value))
}

/// The words that `a{b,c}d` stands for; one pair of braces, as long as they add little.
fn braces(word: String, grown: &mut usize) -> Vec<String> {
    let parts = word.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        inner.contains(',').then_some((before, inner, after))
    });
    let Some((before, inner, after)) = parts else {
        return vec![word];
    };
    let choices = inner.split(',');
    let size = choices.clone().count() * (before.len() + after.len());
    if *grown + size > GROWTH {
        return vec![word];
    }
    *grown += size;
    choices
        .map(|choice| format!("{before}{choice}{after}"))
        .collect()
}
