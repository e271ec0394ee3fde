//! How does an entry of Codex differ from ours?

use serde_json::{Map, Value, json};

use super::super::expand::is_name;
use super::super::problem::Problem;
use super::found::{Found, members};

/// Keys that have another name here and the same meaning.
const RENAMED: [(&str, &str); 4] = [
    ("http_headers", "headers"),
    ("enabled_tools", "includeTools"),
    ("disabled_tools", "excludeTools"),
    // Approvals by tool; our key of this name is a filter.
    ("tools", "codex_tools"),
];

/// The servers of a `config.toml`: `[mcp_servers.NAME]`.
pub(super) fn servers(document: &Map<String, Value>) -> Result<Found, Problem> {
    Ok(Found::of(members(document, "mcp_servers")?, None))
}

/// An entry with the keys that other programs share; what is left to add once its texts were
/// translated is kept apart, since Codex fills in no variable in a text.
pub(super) fn shared(entry: Map<String, Value>) -> (Map<String, Value>, Additions) {
    let mut shared = Map::new();
    let mut additions = Additions::default();
    let mut milliseconds = None;
    for (key, value) in entry {
        match (key.as_str(), &value) {
            ("env_vars", Value::Array(names)) => names.iter().for_each(|name| additions.env(name)),
            ("bearer_token_env_var", Value::String(name)) => {
                additions.header("Authorization", format!("Bearer ${{{name}}}"));
            }
            ("env_http_headers", Value::Object(headers)) => {
                for (header, name) in headers {
                    if let Some(name) = name.as_str() {
                        additions.header(header, format!("${{{name}}}"));
                    }
                }
            }
            ("startup_timeout_sec", Value::Number(_)) => {
                additions.startup = value.as_f64();
            }
            ("startup_timeout_ms", Value::Number(_)) => milliseconds = value.as_f64(),
            ("tool_timeout_sec", Value::Number(_)) => additions.call = value.as_f64(),
            _ => {
                let renamed = RENAMED.iter().find(|(theirs, _)| *theirs == key);
                let key = renamed.map_or(key.clone(), |(_, ours)| (*ours).to_owned());
                shared.insert(key, value);
            }
        }
    }
    // Where both are set, Codex takes the seconds.
    additions.startup = additions
        .startup
        .or(milliseconds.map(|milliseconds| milliseconds / 1_000.0));
    (shared, additions)
}

/// What is added to an entry whose texts are in our own form.
#[derive(Default)]
pub(super) struct Additions {
    env: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Seconds that a start may take.
    pub(super) startup: Option<f64>,
    /// Seconds that a call may take.
    pub(super) call: Option<f64>,
    /// What is said about what could not be taken over.
    pub(super) remarks: Vec<String>,
}

impl Additions {
    /// A variable that is handed on to the server: its name, or `{name, source}`.
    fn env(&mut self, variable: &Value) {
        let name = variable.as_str().or_else(|| variable["name"].as_str());
        let is_here = variable["source"]
            .as_str()
            .is_none_or(|source| source == "local");
        match name.filter(|name| is_name(name) && is_here) {
            Some(name) => self.env.push((name.to_owned(), format!("${{{name}}}"))),
            None => self.remarks.push(
                "an entry of env_vars is left out: it names no variable of this machine".into(),
            ),
        }
    }

    fn header(&mut self, name: &str, value: String) {
        self.headers.push((name.to_owned(), value));
    }

    /// Adds the variables and headers; what the entry says itself is kept.
    pub(super) fn add_to(&self, entry: &mut Map<String, Value>) {
        for (key, added) in [("env", &self.env), ("headers", &self.headers)] {
            if added.is_empty() {
                continue;
            }
            let members = entry.entry(key).or_insert_with(|| json!({}));
            if let Value::Object(members) = members {
                for (name, value) in added {
                    let is_there = members.keys().any(|known| known.eq_ignore_ascii_case(name));
                    if !is_there {
                        members.insert(name.clone(), value.clone().into());
                    }
                }
            }
        }
    }
}
