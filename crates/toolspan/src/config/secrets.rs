//! Which values of a server are secrets, and how is a server shown without them?

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolspan_core::guard::secret::names_a_secret;
use toolspan_core::guard::{Redactor, Secret};

/// What stands in place of a secret.
pub(super) const HIDDEN: &str = "[redacted]";
/// A secret shorter than this is not searched and replaced: the whole text that has it is hidden.
const SHORT: usize = 8;
/// Shortest part of a value that is a secret of its own, in bytes. `path=/` is none.
const SHORTEST_PART: usize = 8;
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

    /// Adds a value and the parts of it that a server may say back alone: what follows its scheme
    /// (`Bearer TOKEN`), the password of `Basic` (RFC 7617), the values of cookies (RFC 6265).
    pub(super) fn add_with_parts(&mut self, value: &str) {
        self.add(value);
        if let Some((scheme, rest)) = value.split_once(' ')
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            let rest = rest.trim();
            self.add(rest);
            if scheme.eq_ignore_ascii_case("basic")
                && let Ok(pair) = STANDARD.decode(rest)
                && let Ok(pair) = String::from_utf8(pair)
                && let Some((_, password)) = pair.split_once(':')
            {
                self.add(password);
            }
        }
        for part in value.split([';', ',']) {
            if let Some((_, value)) = part.split_once('=')
                && value.trim().len() >= SHORTEST_PART
            {
                self.add(value.trim());
            }
        }
    }

    /// Adds the values that follow a secret's name in arguments (`--token VALUE`, `--token=VALUE`,
    /// `API_TOKEN=VALUE`, `Authorization: VALUE`), and the secrets of URLs in them.
    pub(super) fn add_arguments(&mut self, args: &[String]) {
        let mut follows_a_name = false;
        for arg in args {
            let is_option = arg.starts_with('-');
            match named_secret(arg) {
                Some((_, value)) => self.add_with_parts(value),
                None if follows_a_name && !is_option => self.add(arg),
                None => {}
            }
            follows_a_name = is_option && !arg.contains(['=', ':']) && names_a_secret(arg);
            self.add_passwords(arg);
            self.add_queries(arg);
        }
    }

    /// Adds the secret values in the query of each URL in a text, as they are written and as they
    /// are meant.
    fn add_queries(&mut self, text: &str) {
        for rest in text.split("://").skip(1) {
            let url = rest.split(['#', ' ', '"']).next().unwrap_or_default();
            if let Some((_, query)) = url.split_once('?') {
                self.add_query(query);
            }
        }
    }

    /// Adds the values of query keys whose names say that they are secret, as they are written and
    /// as they are meant.
    pub(super) fn add_query(&mut self, query: &str) {
        let is_secret = |name: &str| {
            names_a_secret(name) || matches!(&*name.to_ascii_lowercase(), "sig" | "code")
        };
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            if is_secret(&name) {
                self.add(&value);
            }
        }
        for pair in query.split('&') {
            if let Some((name, value)) = pair.split_once('=')
                && is_secret(name)
            {
                self.add(value);
            }
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

/// An argument that is a secret's name and its value: `--token=VALUE`, `API_TOKEN=VALUE`,
/// `Authorization: VALUE`. What stands between belongs to the name.
pub(super) fn named_secret(argument: &str) -> Option<(&str, &str)> {
    let at = argument.find(['=', ':'])?;
    let name = argument.get(..at)?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !(name.bytes().all(is_name) && names_a_secret(name)) {
        return None;
    }
    let behind = argument.get(at + 1..)?;
    let value = behind.trim_start_matches(' ');
    argument.split_at_checked(argument.len() - value.len())
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
    fn what_a_launcher_is_told_for_the_server_behind_it_is_secret_too() {
        let args = [
            "-e",
            "API_TOKEN=t2",
            "-e",
            "TZ=UTC",
            "--header",
            "Authorization: Bearer b2",
            "https://me:pw@host/mcp?page=1&api_key=k%202&sig=s2#end",
        ];
        let secrets = of_arguments(&args);
        assert_eq!(
            secrets,
            ["t2", "Bearer b2", "b2", "pw", "k 2", "s2", "k%202"]
        );
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
