//! What would a config start, in lines that a person can read and compare?
//!
//! Every value of the config is in some line, also under keys that nobody knows, so that nothing
//! can be approved that was not shown.

use std::path::Path;

use serde_json::{Map, Value};

use super::super::surroundings::ReadFile;
use super::hidden::{self, Shown};
use super::visible::{visible, word};
use super::warning;

/// Keys of which an entry for a server has one.
const STARTERS: [&str; 4] = ["command", "url", "httpUrl", "serverUrl"];
/// Objects whose members are servers, so that the member's key alone says which.
const OF_SERVERS: [&str; 2] = ["mcpServers", "servers"];

/// All that a config says, in its order, without comments. Secrets that it holds itself are hidden;
/// whatever could steer a terminal is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// What it says, one fact a line.
    pub lines: Vec<Line>,
    /// What a person should think about before they approve it.
    pub warnings: Vec<Line>,
    /// How many values are secrets and not shown.
    pub hidden: usize,
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The server it is about; empty for the config as a whole.
    pub entry: String,
    /// What is said, such as `start: uvx mcp-server-time`. Never cut.
    pub text: String,
}

/// On one line: `ENTRY: TEXT`.
impl std::fmt::Display for Line {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.entry.as_str() {
            "" => formatter.write_str(&self.text),
            entry => write!(formatter, "{entry}: {}", self.text),
        }
    }
}

/// An entry that starts something or connects to something.
pub(super) struct Entry<'a> {
    pub(super) members: &'a Map<String, Value>,
}

impl<'a> Entry<'a> {
    /// A member that is a string.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.members.get(key).and_then(Value::as_str)
    }

    /// The arguments, as far as they are strings.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let items = self.members.get("args").and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The names of the variables that are set.
    pub(super) fn variables(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let members = self.members.get("env").and_then(Value::as_object);
        members.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// The URLs that are connected to.
    pub(super) fn urls(&self) -> impl Iterator<Item = &'a str> {
        let keys = STARTERS.iter().skip(1);
        keys.filter_map(|key| self.text(key))
    }
}

/// All entries of a config, wherever they are.
pub(super) fn entries(config: &Value) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    let mut open = vec![config];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if is_entry(members) {
                    found.push(Entry { members });
                }
                open.extend(members.values().rev());
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            _ => {}
        }
    }
    found
}

fn is_entry(members: &Map<String, Value>) -> bool {
    STARTERS.iter().any(|key| members.contains_key(*key))
}

impl View {
    /// What this config says.
    pub(super) fn of(config: &Value) -> Self {
        let mut view = Self::default();
        // Nothing but an object means anything.
        if config.is_object() {
            view.walk(&At::default(), config);
        }
        view
    }

    /// Adds which variables files set that were read with the config. A file in the folder is named
    /// as seen from there.
    pub(super) fn add_files(&mut self, files: &[ReadFile], folder: Option<&Path>) {
        let before = self.lines.len();
        for file in files {
            let inside = folder.and_then(|folder| file.path.strip_prefix(folder).ok());
            let path = word(&inside.unwrap_or(&file.path).to_string_lossy());
            let names: Vec<String> = file.variables.iter().map(|name| word(name)).collect();
            let line = Line {
                entry: String::new(),
                text: format!("variables of {path}: {}", names.join(" ")),
            };
            // Several servers may have one file.
            if self.lines.iter().skip(before).any(|known| *known == line) {
                continue;
            }
            self.lines.push(line);
            let names = file.variables.iter().map(String::as_str);
            self.warnings
                .extend(names.filter_map(warning::of_variable).map(|text| Line {
                    entry: String::new(),
                    text: format!("{path}: {text}"),
                }));
        }
    }

    /// Recursion ends at the depth that a config may have.
    fn walk(&mut self, at: &At<'_>, value: &Value) {
        match value {
            Value::Object(members) if !at.path.is_empty() && is_entry(members) => {
                self.entry(at, &Entry { members });
            }
            Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    self.walk(&at.member(key), value);
                }
            }
            Value::Array(items) if items.iter().any(is_container) => {
                for (index, value) in items.iter().enumerate() {
                    self.walk(&at.item(index), value);
                }
            }
            _ => self.leaves("", at, value),
        }
    }

    fn entry(&mut self, at: &At<'_>, entry: &Entry<'_>) {
        let name = at.entry_name();
        for warning in warning::of(entry) {
            self.warnings.push(Line {
                entry: name.clone(),
                text: warning,
            });
        }
        if let Some(command) = entry.text("command") {
            self.command(&name, command, entry);
        }
        for (key, value) in entry.members {
            match (key.as_str(), value) {
                ("command", Value::String(_)) => {}
                ("args", Value::Array(items))
                    if entry.text("command").is_some() && items.iter().all(Value::is_string) => {}
                ("url" | "httpUrl" | "serverUrl", Value::String(url)) => {
                    self.add(&name, "connect", hidden::plain(url));
                }
                ("cwd", Value::String(folder)) => self.add(&name, "folder", hidden::plain(folder)),
                ("env", Value::Object(members)) => self.variables(&name, members),
                ("headers" | "http_headers", Value::Object(members)) => {
                    self.headers(&name, members);
                }
                (key, value) => self.leaves(&name, &At::default().member(key), value),
            }
        }
    }

    fn command(&mut self, name: &str, command: &str, entry: &Entry<'_>) {
        let shown = hidden::arguments(entry.arguments());
        let count = shown.iter().filter(|shown| shown.hides).count();
        self.hidden += count;
        if count > 0 {
            self.warnings.push(Line {
                entry: name.to_owned(),
                text: "its arguments hold secrets, which are not shown here; read them in the file"
                    .to_owned(),
            });
        }
        let words = shown.iter().map(|shown| word(&shown.text));
        let line: Vec<String> = std::iter::once(word(command)).chain(words).collect();
        self.lines.push(Line {
            entry: name.to_owned(),
            text: format!("start: {}", line.join(" ")),
        });
    }

    fn variables(&mut self, name: &str, members: &Map<String, Value>) {
        for (variable, value) in members {
            match value.as_str() {
                Some(value) => {
                    let what = format!("variable: {}=", word(variable));
                    self.push(name, &what, hidden::named(variable, value));
                }
                None => self.leaves(name, &At::top("env").member(variable), value),
            }
        }
    }

    fn headers(&mut self, name: &str, members: &Map<String, Value>) {
        for (header, value) in members {
            match value.as_str() {
                Some(value) => {
                    // Any header may be a password; only one that says so counts as a secret that
                    // lies in the file.
                    let mut shown = hidden::secret(value);
                    shown.hides &= hidden::named(header, value).hides;
                    self.push(name, &format!("header: {}: ", word(header)), shown);
                }
                None => self.leaves(name, &At::top("headers").member(header), value),
            }
        }
    }

    /// A line for each value in a value. Recursion ends at the depth that a config may have.
    fn leaves(&mut self, name: &str, at: &At<'_>, value: &Value) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    self.leaves(name, &at.member(key), value);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate() {
                    self.leaves(name, &at.item(index), value);
                }
            }
            Value::String(text) => {
                let shown = match at.path.as_str() {
                    // The name of a file.
                    "tls.key" => hidden::plain(text),
                    _ => hidden::named(at.key, text),
                };
                self.push(name, &format!("{} = ", at.path), shown);
            }
            other => self.lines.push(Line {
                entry: name.to_owned(),
                text: format!("{} = {other}", at.path),
            }),
        }
    }

    fn add(&mut self, name: &str, what: &str, shown: Shown) {
        self.push(name, &format!("{what}: "), shown);
    }

    fn push(&mut self, name: &str, before: &str, shown: Shown) {
        self.hidden += usize::from(shown.hides);
        self.lines.push(Line {
            entry: name.to_owned(),
            text: format!("{before}{}", word(&shown.text)),
        });
    }
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// Where a value is.
#[derive(Default)]
struct At<'a> {
    /// The path as it is shown, whole.
    path: String,
    /// The path of what it is a member of.
    parent: String,
    /// The last key in the path.
    key: &'a str,
}

impl<'a> At<'a> {
    fn top(key: &'a str) -> Self {
        At::default().member(key)
    }

    fn member<'b>(&self, key: &'b str) -> At<'b> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let path = if key.is_empty() || !key.bytes().all(is_plain) {
            format!("{}[\"{}\"]", self.path, visible(key).replace('"', "\\\""))
        } else if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        };
        At {
            path,
            parent: self.path.clone(),
            key,
        }
    }

    fn item(&self, index: usize) -> At<'a> {
        At {
            path: format!("{}[{index}]", self.path),
            parent: self.path.clone(),
            key: self.key,
        }
    }

    /// What a server is called that lies here: its key among servers, else its path.
    fn entry_name(&self) -> String {
        if OF_SERVERS.contains(&self.parent.as_str()) && !self.path.ends_with(']') {
            self.key.to_owned()
        } else if OF_SERVERS.contains(&self.parent.as_str()) {
            word(self.key)
        } else {
            self.path.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(config: &Value) -> Vec<String> {
        View::of(config).lines.iter().map(Line::to_string).collect()
    }

    #[test]
    fn every_value_has_a_line_and_nothing_is_cut() {
        let long = "x".repeat(5_000);
        let config = json!({
            "mcpServers": {
                "time": {
                    "command": "uvx",
                    "args": ["mcp-server-time", "--local-timezone", "${TZ:-UTC}", "a b", &long],
                    "env": {"TZ": "UTC", "A_TOKEN": "hunter2", "B_TOKEN": "${B_TOKEN}", "N": 1},
                    "cwd": "..",
                    "timeout": 5,
                    "tools": {"include": ["get_*"], "exclude": []},
                },
                "my server": {
                    "type": "http",
                    "url": "https://me:pw@h/mcp?token=x",
                    "headers": {"Authorization": "Bearer ${T}", "X-Session": "s3cret"},
                    "auth": {"api_key": "k", "nested": [{"deep": "v"}]},
                },
                "odd": "text",
                "empty": {},
            },
            "sse_servers": ["https://a/sse", {"url": "https://b/sse"}],
            "limits": {"output_chars": 5},
        });
        let view = View::of(&config);
        let shown = lines(&config);
        let wanted = [
            format!(
                "time: start: uvx mcp-server-time --local-timezone ${{TZ:-UTC}} \"a b\" {long}"
            ),
            "time: variable: TZ=UTC".into(),
            "time: variable: A_TOKEN=[redacted]".into(),
            "time: variable: B_TOKEN=${B_TOKEN}".into(),
            "time: env.N = 1".into(),
            "time: folder: ..".into(),
            "time: timeout = 5".into(),
            "time: tools.include[0] = get_*".into(),
            "time: tools.exclude = []".into(),
            "\"my server\": type = http".into(),
            "\"my server\": connect: https://[redacted]@h/mcp?token=[redacted]".into(),
            "\"my server\": header: Authorization: \"Bearer ${T}\"".into(),
            "\"my server\": header: X-Session: [redacted]".into(),
            "\"my server\": auth.api_key = [redacted]".into(),
            "\"my server\": auth.nested[0].deep = v".into(),
            "mcpServers.odd = text".into(),
            "mcpServers.empty = {}".into(),
            "sse_servers[0] = https://a/sse".into(),
            "sse_servers[1]: connect: https://b/sse".into(),
            "limits.output_chars = 5".into(),
        ];
        assert_eq!(shown, wanted);
        assert_eq!(view.hidden, 3);
        for secret in ["hunter2", "pw", "s3cret"] {
            assert!(!shown.iter().any(|line| line.contains(secret)), "{secret}");
        }
    }

    #[test]
    fn a_text_cannot_steer_the_terminal_or_look_like_another_line() {
        let config = json!({"mcpServers": {"a\u{202e}\n": {
            "command": "x\u{1b}[2J", "args": ["a\nb: start: ls", "\u{200b}"], "k\"ey\n": "\u{7}",
        }}});
        assert_eq!(
            lines(&config),
            [
                r#""a\u{202e}\n": start: "x\u{1b}[2J" "a\nb: start: ls" "\u{200b}""#,
                r#""a\u{202e}\n": ["k\"ey\n"] = "\u{7}""#,
            ]
        );
    }

    #[test]
    fn the_file_of_a_key_is_no_secret() {
        let config = json!({"mcpServers": {"a": {
            "url": "https://h/", "tls": {"cert": "c.pem", "key": "k.pem"}, "key": "hunter2"}}});
        assert_eq!(
            lines(&config),
            [
                "a: connect: https://h/",
                "a: tls.cert = c.pem",
                "a: tls.key = k.pem",
                "a: key = [redacted]",
            ]
        );
        assert_eq!(View::of(&config).hidden, 1);
    }

    #[test]
    fn arguments_that_are_no_texts_are_shown_too() {
        let config = json!({"mcpServers": {"a": {"command": "x", "args": ["y", 1]}}});
        assert_eq!(
            lines(&config),
            ["a: start: x y", "a: args[0] = y", "a: args[1] = 1"]
        );
    }

    #[test]
    fn entries_are_found_wherever_they_are() {
        let config = json!({
            "mcpServers": {"a": {"command": "x"}},
            "servers": {"b": {"url": "u"}},
            "list": [{"serverUrl": "v"}, {"other": {"httpUrl": "w"}}],
        });
        let found = entries(&config);
        let texts: Vec<&str> = found
            .iter()
            .flat_map(|entry| entry.text("command").into_iter().chain(entry.urls()))
            .collect();
        assert_eq!(texts, ["x", "u", "v", "w"]);
    }
}
