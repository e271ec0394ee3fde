//! Which texts does a config hold itself that must not be shown?
//!
//! A reference such as `${TOKEN}` is no secret, and it is shown: a person must see which of their
//! variables goes where. That holds for `${TOKEN:-default}`, too, whose default may be a secret.

use toolspan_core::guard::Redactor;
use toolspan_core::guard::secret::names_a_secret;

use super::super::secrets::{HIDDEN, named_secret};

/// Words that may stand before a reference in the value of a header.
const SCHEMES: [&str; 5] = ["", "bearer", "basic", "token", "apikey"];

/// A text as it may be shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Whether something of it is not shown.
    pub(super) hides: bool,
}

impl Shown {
    fn whole(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            hides: false,
        }
    }

    fn after(self, before: &str) -> Self {
        Self {
            text: format!("{before}{}", self.text),
            ..self
        }
    }
}

/// The value of a name.
pub(super) fn named(name: &str, value: &str) -> Shown {
    if names_a_secret(name) {
        secret(value)
    } else {
        plain(value)
    }
}

/// A text that is a secret as far as it is not a reference.
pub(super) fn secret(text: &str) -> Shown {
    let split = Split::of(text);
    if SCHEMES.contains(&split.rest.trim().to_ascii_lowercase().as_str()) {
        return Shown {
            hides: split.has_default(|_| true),
            text: split.veiled,
        };
    }
    split.hidden(HIDDEN.to_owned(), true)
}

/// A text that is no secret, but for what URLs in it must not show.
pub(super) fn plain(text: &str) -> Shown {
    let redactor = Redactor::default().hiding_urls();
    let redacted = redactor.redact(text);
    if redacted == text {
        return Shown::whole(text);
    }
    let split = Split::of(text);
    // What is left of `${USER}:${PASSWORD}@`.
    let rest = split.rest.replace("://:@", "://");
    let is_seen = |reference: &Reference<'_>| redacted.contains(&reference.whole());
    let hides = redactor.redact(&rest) != rest || split.has_default(|default| !is_seen(default));
    split.hidden(redacted.into_owned(), hides)
}

/// The arguments of a command. The value behind a secret's name is one: `--token VALUE`,
/// `--token=VALUE`, `NAME_TOKEN=VALUE`, `Authorization: VALUE`.
pub(super) fn arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Vec<Shown> {
    let mut follows_a_name = false;
    let mut shown = Vec::new();
    for argument in arguments {
        let is_option = argument.starts_with('-');
        shown.push(match named_secret(argument) {
            Some((name, value)) => secret(value).after(name),
            None if follows_a_name && !is_option => secret(argument),
            None => plain(argument),
        });
        let bare = is_option && !argument.contains(['=', ':']);
        follows_a_name = bare && names_a_secret(argument);
    }
    shown
}

/// A text and the references in it.
struct Split<'a> {
    references: Vec<Reference<'a>>,
    /// The text without them.
    rest: String,
    /// The text with their defaults hidden.
    veiled: String,
}

/// `${NAME}` or `${NAME:-default}`.
struct Reference<'a> {
    /// `NAME`, `env:NAME` or `input:id`.
    name: &'a str,
    default: Option<&'a str>,
}

impl<'a> Reference<'a> {
    /// What stands in the braces, if it is a reference.
    fn of(inside: &'a str) -> Option<Self> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let bare = name
            .strip_prefix("env:")
            .or_else(|| name.strip_prefix("input:"))
            .unwrap_or(name);
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        (!bare.is_empty() && bare.bytes().all(allowed)).then_some(Self { name, default })
    }

    /// As it is written.
    fn whole(&self) -> String {
        self.with_default(self.default)
    }

    /// With its default hidden.
    fn veiled(&self) -> String {
        let hidden = |default: &str| if default.is_empty() { "" } else { HIDDEN };
        self.with_default(self.default.map(hidden))
    }

    fn with_default(&self, default: Option<&str>) -> String {
        match default {
            Some(default) => format!("${{{}:-{default}}}", self.name),
            None => format!("${{{}}}", self.name),
        }
    }
}

impl<'a> Split<'a> {
    fn of(text: &'a str) -> Self {
        let mut split = Self {
            references: Vec::new(),
            rest: String::with_capacity(text.len()),
            veiled: String::with_capacity(text.len()),
        };
        let mut ahead = text;
        while let Some((before, behind)) = ahead.split_once('$') {
            split.push(before);
            let braces = behind
                .strip_prefix('{')
                .and_then(|inside| inside.split_once('}'));
            let reference =
                braces.and_then(|(inside, after)| Some((Reference::of(inside)?, after)));
            ahead = match reference {
                Some((reference, after)) => {
                    split.veiled.push_str(&reference.veiled());
                    split.references.push(reference);
                    after
                }
                None => {
                    split.push("$");
                    // `$$` stands for one `$`, which begins nothing.
                    behind.strip_prefix('$').unwrap_or(behind)
                }
            };
        }
        split.push(ahead);
        split
    }

    fn push(&mut self, text: &str) {
        self.rest.push_str(text);
        self.veiled.push_str(text);
    }

    /// Whether one of these references has a default that says something.
    fn has_default(&self, which: impl Fn(&Reference<'a>) -> bool) -> bool {
        let speaks =
            |reference: &&Reference<'a>| reference.default.is_some_and(|it| !it.is_empty());
        self.references.iter().filter(speaks).any(which)
    }

    /// What is shown in place of the text, and which references are not seen in it any more.
    fn hidden(&self, mut text: String, hides: bool) -> Shown {
        for reference in &self.references {
            if !text.contains(&reference.whole()) {
                text.push_str(&format!(" with ${{{}}}", reference.name));
            }
        }
        Shown { text, hides }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret_text(text: &str) -> String {
        let shown = secret(text);
        format!("{}{}", if shown.hides { "!" } else { "" }, shown.text)
    }

    #[test]
    fn a_secret_is_hidden_and_a_reference_is_not() {
        for (text, wanted) in [
            ("hunter2", "![redacted]"),
            ("", ""),
            ("${TOKEN}", "${TOKEN}"),
            ("Bearer ${TOKEN}", "Bearer ${TOKEN}"),
            ("Bearer ${env:TOKEN}", "Bearer ${env:TOKEN}"),
            ("Bearer ${input:key}", "Bearer ${input:key}"),
            ("Bearer hunter2", "![redacted]"),
            ("x${TOKEN}", "![redacted] with ${TOKEN}"),
            ("${TOKEN:-hunter2}", "!${TOKEN:-[redacted]}"),
            ("${TOKEN:-}", "${TOKEN:-}"),
            ("Bearer ${TOKEN:-none}", "!Bearer ${TOKEN:-[redacted]}"),
            ("${ONE:-}${TWO:-2}", "!${ONE:-}${TWO:-[redacted]}"),
            ("x${ONE:-1}${TWO}", "![redacted] with ${ONE} with ${TWO}"),
            ("$${TOKEN}", "![redacted]"),
            ("$$${TOKEN}", "![redacted] with ${TOKEN}"),
            ("${env:TOKEN:-hunter2}", "!${env:TOKEN:-[redacted]}"),
            ("${TOKEN", "![redacted]"),
            ("${hunter2!}", "![redacted]"),
        ] {
            assert_eq!(secret_text(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_a_url_must_not_show_is_hidden() {
        for (text, wanted, hides) in [
            ("https://h/?page=2", "https://h/?page=2", false),
            ("https://me:pw@h/", "https://[redacted]@h/", true),
            ("https://h/?token=abc", "https://h/?token=[redacted]", true),
            (
                "https://h/?token=${T}",
                "https://h/?token=[redacted] with ${T}",
                false,
            ),
            (
                "https://h/?token=${T:-t}&page=${P:-2}",
                "https://h/?token=[redacted]&page=${P:-2} with ${T}",
                true,
            ),
            (
                "https://${U}:${P}@h/${X}",
                "https://[redacted]@h/${X} with ${U} with ${P}",
                false,
            ),
        ] {
            let shown = plain(text);
            assert_eq!((shown.text.as_str(), shown.hides), (wanted, hides));
        }
    }

    #[test]
    fn arguments_hide_what_stands_behind_a_secret_name() {
        let all = [
            "-y",
            "--api-key",
            "k1",
            "--token=t1",
            "-e",
            "GITHUB_TOKEN=t2",
            "--header",
            "Authorization: Bearer t3",
            "--header",
            "Authorization:Bearer ${T4}",
            "--password",
            "--quiet",
            "postgres://me:pw@h/db",
            "token:",
            "a sentence: with a token=x",
        ];
        let texts: Vec<String> = arguments(all).into_iter().map(|shown| shown.text).collect();
        assert_eq!(
            texts,
            [
                "-y",
                "--api-key",
                "[redacted]",
                "--token=[redacted]",
                "-e",
                "GITHUB_TOKEN=[redacted]",
                "--header",
                "Authorization: [redacted]",
                "--header",
                "Authorization:Bearer ${T4}",
                "--password",
                "--quiet",
                "postgres://[redacted]@h/db",
                "token:",
                "a sentence: with a token=x",
            ]
        );
    }
}
