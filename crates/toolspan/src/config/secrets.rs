//! Which values of a server are secrets, and how is a server shown without them?

use toolspan_core::guard::secret::names_a_secret;
use toolspan_core::guard::{Redactor, Secret};

/// What stands in place of a secret.
pub(super) const HIDDEN: &str = "[redacted]";
/// A secret shorter than this is not searched and replaced: the whole text that has it is hidden.
const SHORT: usize = 8;
/// With more secrets than this no text of a server is shown: each is looked for in each text.
const MOST_SHOWN: usize = 256;

/// Collects secret values; none is empty and none is there twice.
#[derive(Default)]
pub(super) struct Collected(Vec<Secret>);

impl Collected {
    pub(super) fn add(&mut self, value: &str) {
        if !value.is_empty() && !self.0.iter().any(|known| known.reveal() == value) {
            self.0.push(Secret::new(value));
        }
    }

    /// Adds the values that follow a secret's name in arguments: `--token VALUE`, `--token=VALUE`;
    /// and passwords in URLs.
    pub(super) fn add_arguments(&mut self, args: &[String]) {
        let mut follows_a_name = false;
        for arg in args {
            let option = arg.strip_prefix('-');
            match option.and_then(|option| option.split_once('=')) {
                Some((name, value)) if names_a_secret(name) => self.add(value),
                None if follows_a_name && option.is_none() => self.add(arg),
                _ => {}
            }
            follows_a_name = option.is_some_and(|name| !name.contains('=') && names_a_secret(name));
            self.add_passwords(arg);
        }
    }

    /// Adds the password of each URL in a text (RFC 3986, section 3.2.1).
    pub(super) fn add_passwords(&mut self, text: &str) {
        for rest in text.split("://").skip(1) {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if let Some((user, _)) = authority.rsplit_once('@')
                && let Some((_, password)) = user.split_once(':')
            {
                self.add(password);
            }
        }
    }

    pub(super) fn finish(self) -> Vec<Secret> {
        self.0
    }
}

/// Shows the texts of one server without its secrets.
pub(super) struct Hider<'a> {
    secrets: &'a [Secret],
    redactor: Redactor,
}

impl<'a> Hider<'a> {
    pub(super) fn new(secrets: &'a [Secret]) -> Self {
        let redactor = Redactor::new(secrets.iter().take(MOST_SHOWN).map(Secret::reveal));
        Self { secrets, redactor }
    }

    /// As [`new`](Self::new), and hides what URLs show, whether it is known as a secret or not.
    pub(super) fn of_urls(secrets: &'a [Secret]) -> Self {
        let hider = Self::new(secrets);
        let redactor = hider.redactor.hiding_urls();
        Self { secrets, redactor }
    }

    /// A text as it may be shown.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut values = self.secrets.iter().map(Secret::reveal);
        if self.secrets.len() > MOST_SHOWN
            || values.any(|value| value == text || (value.len() < SHORT && text.contains(value)))
        {
            return HIDDEN.to_owned();
        }
        self.redactor.redact(text).into_owned()
    }
}

/// JSON with the members hidden whose keys name a secret. Recursion ends at the depth that a
/// config may have.
pub(super) fn hide_members(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Array(items) => items.iter().map(hide_members).collect(),
        Value::Object(members) => {
            let shown = |(key, value): (&String, &Value)| {
                let hidden = names_a_secret(key) && !value.is_null();
                let value = if hidden {
                    Value::from(HIDDEN)
                } else {
                    hide_members(value)
                };
                (key.clone(), value)
            };
            Value::Object(members.iter().map(shown).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_arguments(args: &[&str]) -> Vec<String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut collected = Collected::default();
        collected.add_arguments(&args);
        collected
            .finish()
            .iter()
            .map(|secret| secret.reveal().to_owned())
            .collect()
    }

    #[test]
    fn arguments_that_follow_a_secret_name_are_secrets() {
        let args = [
            "--api-key",
            "k1",
            "--token=t1",
            "-v",
            "plain",
            "--password",
            "--quiet",
            "x",
        ];
        assert_eq!(of_arguments(&args), ["k1", "t1"]);
    }

    #[test]
    fn passwords_in_urls_are_secrets() {
        let url = "db=postgres://me:p%40ss@host/db,http://host/a:b@c,ftp://only@host";
        assert_eq!(of_arguments(&[url]), ["p%40ss"]);
    }

    #[test]
    fn a_short_secret_hides_the_whole_text() {
        let secrets = [Secret::new("abc"), Secret::new("long-enough-secret")];
        let hider = Hider::new(&secrets);
        assert_eq!(hider.hide("x=abc"), HIDDEN);
        assert_eq!(hider.hide("x=long-enough-secret"), "x=[redacted]");
        assert_eq!(hider.hide("long-enough-secret"), HIDDEN);
        assert_eq!(hider.hide("plain"), "plain");
    }

    #[test]
    fn with_very_many_secrets_nothing_is_shown() {
        let secrets: Vec<Secret> = (0..=MOST_SHOWN)
            .map(|number| Secret::new(format!("secret-number-{number}")))
            .collect();
        assert_eq!(Hider::new(&secrets).hide("plain"), HIDDEN);
    }
}
