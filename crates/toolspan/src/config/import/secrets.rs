//! Which values of an entry are secrets that stand in it themselves, and how is it shown without?

use serde_json::{Map, Value};
use toolspan_core::guard::Redactor;
use toolspan_core::guard::secret::names_a_secret;

use super::super::problem::member_path;
use super::super::secrets::HIDDEN;
use super::note::Note;

/// Most secrets of one server that are named.
const MOST: usize = 20;
/// Words before a value in a header (RFC 9110, section 11.1) that are no secret.
const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];

/// The notes on a server's secrets, each with the text to write instead.
pub(super) fn notes(key: &str, entry: &Value) -> Vec<Note> {
    let mut walk = Walk {
        server: key,
        found: Vec::new(),
    };
    walk.value(entry, &Place::default());
    let note = |found: Found| {
        let message = format!(
            "{} holds a secret; better keep it in a variable and write {} in its place",
            found.path, found.proposal
        );
        Note::on(key, message)
    };
    walk.found.into_iter().map(note).collect()
}

/// The entries with every value hidden that is or may be a secret.
pub(super) fn hidden(servers: &Map<String, Value>) -> Map<String, Value> {
    let entry = |(key, entry): (&String, &Value)| {
        let mut walk = Walk {
            server: key,
            found: Vec::new(),
        };
        (key.clone(), walk.value(entry, &Place::default()))
    };
    servers.iter().map(entry).collect()
}

struct Walk<'a> {
    server: &'a str,
    found: Vec<Found>,
}

/// A secret: where it is, and what could stand there instead.
struct Found {
    path: String,
    proposal: String,
}

/// Where in an entry a value is.
#[derive(Default, Clone)]
struct Place {
    path: String,
    /// The key of the member it is, or is in.
    name: String,
    /// Whether it is the value of a header.
    is_header: bool,
    /// Whether what it is follows the name of a secret.
    is_secret: bool,
}

impl Walk<'_> {
    /// The value as it may be shown. Recursion ends at the depth that a config may have.
    fn value(&mut self, value: &Value, place: &Place) -> Value {
        match value {
            Value::String(text) => self.text(text, place).into(),
            Value::Number(_) if place.is_secret => self.hide("", place).into(),
            Value::Array(items) => self.items(items, place),
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| {
                    let place = Place {
                        path: member_path(&place.path, key),
                        is_secret: place.is_secret || names_a_secret(key),
                        is_header: place.name == "headers",
                        name: key.clone(),
                    };
                    (key.clone(), self.value(value, &place))
                };
                Value::Object(members.iter().map(member).collect())
            }
            other => other.clone(),
        }
    }

    /// The items of a list; in arguments, one may name what the next one is.
    fn items(&mut self, items: &[Value], place: &Place) -> Value {
        let mut follows = None;
        let mut shown = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let mut place = Place {
                path: format!("{}[{index}]", place.path),
                ..place.clone()
            };
            let text = item.as_str().unwrap_or_default();
            let option = text
                .strip_prefix('-')
                .map(|option| option.trim_start_matches('-'));
            if let (Some(name), None) = (follows.take(), option) {
                place.is_secret = true;
                place.name = name;
            }
            follows = option
                .filter(|option| !option.contains('=') && names_a_secret(option))
                .map(str::to_owned);
            shown.push(self.value(item, &place));
        }
        shown.into()
    }

    fn text(&mut self, text: &str, place: &Place) -> String {
        // Of `auth` the word for a way to log in, which is no token.
        if place.path == "auth" && text.trim() == "oauth" {
            return text.to_owned();
        }
        if place.is_secret {
            return match is_literal(text) {
                true if names_a_secret(&place.name) => self.hide(text, place),
                // It is in what is called a secret, such as `auth`, and may be one.
                true => HIDDEN.to_owned(),
                false => text.to_owned(),
            };
        }
        // The value of a header, whatever the name of the variable that has it.
        if text.split_once(' ').is_some_and(|(scheme, rest)| {
            !scheme.eq_ignore_ascii_case("token") && is_scheme(scheme) && is_literal(rest)
        }) {
            return self.hide(text, place);
        }
        // `Authorization: Bearer x`, `--token=x`, `API_KEY=x`.
        if let Some((name, value)) = text.split_once([':', '=']) {
            let name = name.trim_start_matches('-').trim_end();
            let is_name = !name.is_empty() && !name.contains([' ', '/', '?', '&']);
            if is_name && names_a_secret(name) && is_literal(value) {
                let place = Place {
                    name: name.to_owned(),
                    ..place.clone()
                };
                let hidden = self.hide(value, &place);
                let head = text.len() - value.len();
                return format!("{}{hidden}", text.get(..head).unwrap_or_default());
            }
        }
        let redacted = Redactor::default().hiding_urls().redact(text);
        if redacted != text && is_literal(text) {
            self.hide(text, place);
        }
        // Any header can be a password whose name does not say so.
        if place.is_header && is_literal(text) {
            return HIDDEN.to_owned();
        }
        redacted.into_owned()
    }

    fn hide(&mut self, text: &str, place: &Place) -> String {
        if self.found.len() < MOST {
            self.found.push(Found {
                path: place.path.clone(),
                proposal: self.proposal(text, place),
            });
        }
        HIDDEN.to_owned()
    }

    /// What to write in place of a secret: the variable of this name, or one named after the server.
    fn proposal(&self, text: &str, place: &Place) -> String {
        let parent = place.path.strip_suffix(&place.name);
        if parent.is_some_and(|parent| parent == "env.") {
            return format!("${{{}}}", place.name);
        }
        let name = match place.name.to_ascii_lowercase().as_str() {
            "authorization" | "url" | "" | "args" => "TOKEN".to_owned(),
            _ => place.name.clone(),
        };
        let variable = upper_snake(&format!("{}_{name}", self.server));
        let scheme = text.trim_start().split_once(' ').map(|(scheme, _)| scheme);
        match scheme.filter(|scheme| is_scheme(scheme)) {
            Some(scheme) => format!("{scheme} ${{{variable}}}"),
            None => format!("${{{variable}}}"),
        }
    }
}

/// Whether a text has more in it than variables and the name of a scheme.
fn is_literal(text: &str) -> bool {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, behind)) = rest.split_once("${") {
        // `$${NAME}` is a variable that the server fills in itself.
        plain.push_str(before.strip_suffix('$').unwrap_or(before));
        let (inside, behind) = behind.split_once('}').unwrap_or((behind, ""));
        // A default is as plain as the rest.
        if let Some((_, default)) = inside.split_once(":-") {
            plain.push_str(default);
        }
        rest = behind;
    }
    plain.push_str(rest);
    let plain = plain.trim();
    !plain.is_empty() && !is_scheme(plain)
}

fn is_scheme(word: &str) -> bool {
    SCHEMES
        .iter()
        .any(|scheme| scheme.eq_ignore_ascii_case(word))
}

/// A text as the name of a variable.
fn upper_snake(text: &str) -> String {
    let letters = text.chars().take(100).map(|char| {
        if char.is_ascii_alphanumeric() {
            char.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    let name: String = letters.collect();
    let name = name.trim_matches('_');
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Everything in here that begins with `s3` is a secret.
    fn entry() -> Value {
        json!({
            "command": "npx",
            "args": ["mcp-remote", "https://me:s3a@host/?api_key=s3b&page=2", "--header",
                     "Authorization: Bearer s3c", "--token", "s3d", "--api-key=s3e", "-e", "MY_KEY=s3f"],
            "env": {"API_TOKEN": "s3g", "OTHER_TOKEN": "${OTHER_TOKEN}", "PORT": "80",
                    "DEFAULT_TOKEN": "${X:-s3h}"},
            "headers": {"Authorization": "Bearer s3i", "X-Odd": "s3j", "Cookie": "${COOKIE}",
                        "X-Key": "Token ${KEY}"},
            "oauth": {"clientSecret": "s3k", "clientId": "me", "password": 33333},
            "auth": {"CLIENT_ID": "s3m", "scopes": ["s3n"], "CLIENT_SECRET": "s3o"},
            "url": "https://host/mcp?token=s3l",
        })
    }

    #[test]
    fn no_secret_is_shown_and_what_is_none_stays() {
        let shown = hidden(&Map::from_iter([("my server".to_owned(), entry())]));
        let text = serde_json::to_string_pretty(&shown).expect("JSON");
        assert!(!text.contains("s3") && !text.contains("33333"), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn each_secret_has_a_note_that_names_a_variable_and_no_value() {
        let notes: Vec<String> = notes("my server", &entry())
            .iter()
            .map(ToString::to_string)
            .collect();
        let notes = notes.join("\n");
        assert!(!notes.contains("s3"), "{notes}");
        insta::assert_snapshot!(notes);
    }

    #[test]
    fn the_word_for_a_way_to_log_in_is_no_secret() {
        let entry = |auth: &str| json!({"url": "https://host/mcp", "auth": auth});
        assert!(notes("a", &entry("oauth")).is_empty());
        let servers = Map::from_iter([("a".to_owned(), entry("oauth"))]);
        assert_eq!(hidden(&servers), servers);
        // Any other word is a token, and so is this one where nothing else is meant.
        assert_eq!(notes("a", &entry("oauth2")).len(), 1);
        let env = json!({"command": "x", "env": {"AUTH_TOKEN": "oauth"}});
        assert_eq!(notes("a", &env).len(), 1);
    }

    #[test]
    fn variables_and_schemes_alone_are_no_secret() {
        for plain in ["${A}", "Bearer ${A}", " ${A}${B} ", "$${A}", "", "basic "] {
            assert!(!is_literal(plain), "{plain}");
        }
        for literal in ["x", "Bearer x", "${A}x", "${A:-x}", "x${", "$A", "x$${A}"] {
            assert!(is_literal(literal), "{literal}");
        }
    }
}
