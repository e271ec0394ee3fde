//! Which program does a command run in the end, and where does it take its text from?

use super::shell::{Command, FETCHED};

/// A command without what only wraps it (`sudo`, `env`, `timeout`, `xargs`, …).
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain<'a> {
    /// The program without its folder and `.exe`; compare with [`Plain::is`].
    pub(super) name: &'a str,
    /// The program as it was written.
    pub(super) program: &'a str,
    pub(super) args: &'a [String],
    /// Runs as somebody else.
    pub(super) privileged: bool,
    /// Takes arguments from its input.
    pub(super) fed: bool,
}

/// Wrappers, and the letters of their options that take a value.
const WRAPPERS: &[(&str, &str)] = &[
    ("sudo", "ughpCrtUTD"),
    ("doas", "uC"),
    ("pkexec", "u"),
    ("env", "uCS"),
    ("nohup", ""),
    ("setsid", ""),
    ("time", "fo"),
    ("nice", "n"),
    ("ionice", "cn"),
    ("timeout", "sk"),
    ("stdbuf", "ioe"),
    ("command", ""),
    ("exec", "a"),
    ("builtin", ""),
    ("busybox", ""),
    ("toybox", ""),
    ("xargs", "IEndPLsa"),
    ("parallel", "jI"),
    ("watch", "n"),
    ("chroot", ""),
    ("nsenter", "tS"),
    ("unshare", ""),
    ("caffeinate", "t"),
    ("unbuffer", ""),
    ("chronic", ""),
    ("strace", "ope"),
];

impl<'a> Plain<'a> {
    /// Looks through the wrappers of a command.
    pub(super) fn of(words: &'a [String]) -> Option<Self> {
        let mut plain = Self {
            name: "",
            program: "",
            args: words,
            privileged: false,
            fed: false,
        };
        loop {
            let (program, args) = plain.args.split_first()?;
            plain.program = program;
            plain.name = base(program);
            plain.args = args;
            let wrapper = WRAPPERS.iter().find(|(name, _)| plain.is(&[name]));
            let Some((name, valued)) = wrapper else {
                return Some(plain);
            };
            plain.privileged |= matches!(*name, "sudo" | "doas" | "pkexec");
            plain.fed |= matches!(*name, "xargs" | "parallel");
            let mut inner = after_options(args, valued);
            if matches!(*name, "timeout" | "chroot") {
                inner = inner.get(1..).unwrap_or_default();
            }
            while inner
                .first()
                .is_some_and(|word| *name != "xargs" && is_setting(word))
            {
                inner = inner.get(1..).unwrap_or_default();
            }
            if inner.is_empty() {
                return Some(plain);
            }
            plain.args = inner;
        }
    }

    /// Whether the program is one of these, given in small letters.
    pub(super) fn is(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.name.eq_ignore_ascii_case(name))
    }

    /// Whether an option is given: a letter alone or among others, or a long name.
    pub(super) fn has(&self, letters: &str, long: &[&str]) -> bool {
        self.options()
            .any(|option| match option.strip_prefix("--") {
                Some(name) => {
                    let name = name.split('=').next().unwrap_or_default();
                    long.contains(&name)
                }
                None => option.chars().skip(1).any(|char| letters.contains(char)),
            })
    }

    /// Options, up to `--`.
    pub(super) fn options(&self) -> impl Iterator<Item = &'a str> {
        let options = self.args.iter().map(String::as_str);
        options
            .take_while(|word| *word != "--")
            .filter(|word| word.starts_with('-') && word.len() > 1)
    }

    /// What is no option.
    pub(super) fn operands(&self) -> impl DoubleEndedIterator<Item = &'a str> {
        let end = self.args.iter().position(|word| word == "--");
        let operand = move |(at, word): (usize, &'a String)| {
            let is_option = word.starts_with('-') && word.len() > 1;
            let past_end = end.is_some_and(|end| at > end);
            (past_end || !is_option).then_some(word.as_str())
        };
        self.args
            .iter()
            .enumerate()
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(operand)
    }

    /// The value of an option: `-o v`, `-ov`, `--out v`, `--out=v`.
    pub(super) fn values(&self, letter: char, long: &[&str]) -> Vec<&'a str> {
        let mut values = Vec::new();
        let mut words = self.args.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if let Some(name) = word.strip_prefix("--") {
                match name.split_once('=') {
                    Some((name, value)) if long.contains(&name) => values.push(value),
                    None if long.contains(&name) => values.extend(words.next()),
                    _ => {}
                }
            } else if let Some(cluster) = word.strip_prefix('-')
                && let Some((_, value)) = cluster.split_once(letter)
            {
                match value {
                    "" => values.extend(words.next()),
                    value => values.push(value),
                }
            }
        }
        values
    }

    pub(super) fn is_shell(&self) -> bool {
        self.is(&[
            "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
        ])
    }

    pub(super) fn is_power_shell(&self) -> bool {
        self.is(&["pwsh", "powershell"])
    }

    /// A program that runs a text in some language.
    pub(super) fn is_interpreter(&self) -> bool {
        let versioned = self
            .name
            .trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
        self.is_shell()
            || self.is_power_shell()
            || [
                "python",
                "pypy",
                "perl",
                "ruby",
                "node",
                "nodejs",
                "php",
                "lua",
                "deno",
                "bun",
                "osascript",
                "tclsh",
                "rscript",
            ]
            .iter()
            .any(|name| versioned.eq_ignore_ascii_case(name))
    }

    /// The text or file that an interpreter runs; nothing when it takes its input.
    pub(super) fn source(&self) -> Option<Source<'a>> {
        let mut words = self.args.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "-" | "/dev/stdin" | "/dev/fd/0" | "-s" => return None,
                "--" => return words.next().map(Source::File),
                "-m" => return words.next().map(Source::Module),
                "--rcfile" | "--init-file" | "-o" | "+o" | "-W" | "-X" => {
                    words.next();
                }
                "--eval" | "--print" | "-eval" | "-command" | "-Command" => {
                    return words.next().map(Source::Text);
                }
                "--version" | "--help" | "-V" => return Some(Source::Module("")),
                option if option.starts_with("--") => {}
                option if option.starts_with('-') || option.starts_with('+') => {
                    if option.contains(['c', 'e', 'E', 'r']) && !self.is_reading_option(option) {
                        return Some(Source::Text(words.next().unwrap_or_default()));
                    }
                }
                file => return Some(Source::File(file)),
            }
        }
        None
    }

    /// `-e` of a shell stops at errors and `-r` restricts it; only `-c` names a text.
    fn is_reading_option(&self, option: &str) -> bool {
        self.is_shell() && !option.contains('c')
    }

    /// Whether it runs what it reads from its input.
    pub(super) fn executes_input(&self) -> bool {
        let sourced = || {
            let first = self.args.first().map(String::as_str);
            matches!(first, Some("/dev/stdin" | "/dev/fd/0" | "-"))
        };
        self.is_interpreter() && (self.source().is_none() || self.fed)
            || self.is(&["source", "."]) && sourced()
            || self.is(&["at", "batch", "iex", "invoke-expression"])
    }
}

/// What an interpreter is given to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// A text in an option.
    Text(&'a str),
    File(&'a str),
    /// Something installed.
    Module(&'a str),
}

/// The last part of a program's path, without `.exe`.
fn base(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let end = name.len().saturating_sub(4);
    match name.split_at_checked(end) {
        Some((name, suffix)) if suffix.eq_ignore_ascii_case(".exe") => name,
        _ => name,
    }
}

fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The words after the options; a letter of `valued` at the end of an option takes a word with it.
fn after_options<'a>(words: &'a [String], valued: &str) -> &'a [String] {
    let mut rest = words;
    while let Some((word, more)) = rest.split_first() {
        if word == "--" {
            return more;
        }
        if !word.starts_with('-') || word.len() < 2 {
            return rest;
        }
        rest = more;
        let takes_value = !word.starts_with("--")
            && word.len() == 2
            && word.ends_with(|last| valued.contains(last));
        if takes_value {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    rest
}

/// Programs that give what they fetch from the network.
pub(super) fn is_fetcher(plain: Plain<'_>) -> bool {
    plain.is(&[
        "curl",
        "wget",
        "fetch",
        "aria2c",
        "http",
        "https",
        "xh",
        "lwp-request",
        "lynx",
        "nc",
        "ncat",
        "netcat",
        "iwr",
        "invoke-webrequest",
        "irm",
        "invoke-restmethod",
    ]) || plain.is(&["openssl"]) && plain.args.first().is_some_and(|word| word == "s_client")
}

/// Programs that turn an encoding back into text.
pub(super) fn is_decoder(plain: Plain<'_>) -> bool {
    plain.is(&["base64", "base32", "openssl"]) && plain.has("dD", &["decode"])
        || plain.is(&["xxd"]) && plain.has("r", &["revert"])
        || plain.is(&["rev", "uudecode"])
}

/// Whether a command gives text that nobody here wrote or can read.
pub(super) fn gives_foreign_text(command: &Command) -> bool {
    Plain::of(&command.words).is_some_and(|plain| {
        is_fetcher(plain)
            || is_decoder(plain)
            || plain.is(&["cat", "echo", "printf"])
                && plain.args.iter().any(|word| word.contains(FETCHED))
    })
}

/// The text that a command prints, where that can be said.
pub(super) fn printed(command: &Command) -> Option<String> {
    let plain = Plain::of(&command.words)?;
    let writes = command.redirects.iter().any(|redirect| redirect.writes);
    match &command.input {
        _ if writes => None,
        Some(input) if plain.is(&["cat", "tee"]) => Some(input.clone()),
        _ if plain.is(&["echo"]) => {
            let words = plain
                .args
                .iter()
                .skip_while(|word| matches!(word.as_str(), "-n" | "-e" | "-en" | "-ne"));
            Some(words.map(String::as_str).collect::<Vec<_>>().join(" "))
        }
        _ if plain.is(&["printf"]) => {
            let format = plain.args.iter().find(|word| *word != "--")?;
            let text = match format.contains('%') {
                true => plain
                    .args
                    .iter()
                    .skip(1)
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
                false => format.clone(),
            };
            Some(text.replace("\\n", "\n"))
        }
        _ => None,
    }
}
