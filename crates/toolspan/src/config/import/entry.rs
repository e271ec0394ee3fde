//! How does one server of another program become an entry of ours?

use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value, json};

use super::super::Environment;
use super::super::bounds::LONGEST;
use super::super::problem::quoted;
use super::app::{App, TimeoutRule};
use super::codex;
use super::note::Note;
use super::variables::{Translator, filled_in, literal};

/// Where an entry comes from.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) app: App,
    /// The folder of the project that it is for; `None` for a server of the user.
    pub(super) project: Option<&'a Path>,
    pub(super) environment: &'a Environment,
}

/// An entry in our own form, with the keys in the order in which they were written. Keys that are
/// not known are kept as they are.
pub(super) fn convert(
    key: &str,
    entry: &Map<String, Value>,
    origin: Origin<'_>,
    notes: &mut Vec<Note>,
) -> Map<String, Value> {
    let (entry, additions) = if origin.app == App::Codex {
        codex::shared(entry.clone())
    } else {
        (entry.clone(), codex::Additions::default())
    };
    let own = entry.get("env").and_then(Value::as_object);
    let mut conversion = Conversion {
        origin,
        translator: Translator {
            dialect: origin.app.dialect(),
            project: origin.project,
            own: own.map(set_by_itself).unwrap_or_default(),
            remarks: Vec::new(),
        },
        entry: Map::new(),
        include: None,
        exclude: None,
        times: Times {
            startup: additions.startup,
            call: additions.call,
            both: None,
        },
    };
    for (key, value) in &entry {
        conversion.member(key, value);
    }
    conversion.add_folder(&entry);
    conversion.add_filter();
    conversion.add_times();
    let remarks = conversion.translator.remarks;
    let mut converted = conversion.entry;
    additions.add_to(&mut converted);
    let remarks = remarks.into_iter().chain(additions.remarks);
    notes.extend(remarks.map(|remark| Note::on(key, remark)));
    converted
}

struct Conversion<'a> {
    origin: Origin<'a>,
    translator: Translator<'a>,
    entry: Map<String, Value>,
    include: Option<Vec<Value>>,
    exclude: Option<Vec<Value>>,
    times: Times,
}

/// Times in seconds, as far as they are set.
struct Times {
    startup: Option<f64>,
    call: Option<f64>,
    both: Option<f64>,
}

impl Conversion<'_> {
    fn member(&mut self, key: &str, value: &Value) {
        let converted = match (key, value) {
            ("command", Value::String(command)) => self.command(command).into(),
            ("args", Value::Array(items)) => {
                let items = items.iter().filter_map(|item| self.text(item, "args"));
                items.collect()
            }
            ("env" | "headers", Value::Object(members)) => self.texts(key, members),
            ("cwd" | "envFile", Value::String(path)) => self.path(key, path).into(),
            ("url" | "httpUrl" | "serverUrl" | "serverURL", Value::String(url)) => {
                return self.url(key, url);
            }
            ("type", Value::String(kind)) if self.is_default_type(kind) => return,
            ("timeout", Value::Number(_) | Value::String(_)) => return self.timeout(value),
            ("includeTools", Value::Array(names)) => {
                self.include = Some(patterns(names));
                return;
            }
            ("excludeTools" | "disabledTools", Value::Array(names)) => {
                self.exclude.get_or_insert_default().extend(patterns(names));
                return;
            }
            _ => value.clone(),
        };
        self.entry.insert(key.to_owned(), converted);
    }

    /// What VS Code calls `http` is what we do without a type: HTTP first, then SSE.
    fn is_default_type(&self, kind: &str) -> bool {
        self.origin.app == App::VsCode && kind == "http"
    }

    /// A URL under its name here. `httpUrl` says that it is streamable HTTP, and wins over `url`.
    fn url(&mut self, key: &str, url: &str) {
        let translated = self.translator.translate(url);
        let known = self.entry.contains_key("url");
        match key {
            "httpUrl" => {
                self.entry.insert("url".to_owned(), translated.into());
                self.entry.insert("type".to_owned(), "http".into());
            }
            _ if known => self.remark(format!("{key} is left out: there is another URL")),
            _ => {
                self.entry.insert("url".to_owned(), translated.into());
            }
        }
    }

    /// The members as texts; a number or a truth value becomes its text, as these programs have it.
    fn texts(&mut self, key: &str, members: &Map<String, Value>) -> Value {
        let mut texts = Map::new();
        for (name, value) in members {
            if let Some(text) = self.text(value, key) {
                texts.insert(name.clone(), text);
            }
        }
        texts.into()
    }

    /// A text in our own form; `None` for a `null`, which means that nothing is set.
    fn text(&mut self, value: &Value, key: &str) -> Option<Value> {
        match value {
            // What an entry sets for its server can be meant for the server in its arguments alone.
            Value::String(text) if key == "args" => Some(self.translator.translate(text).into()),
            Value::String(text) => {
                let own = std::mem::take(&mut self.translator.own);
                let translated = self.translator.translate(text);
                self.translator.own = own;
                Some(translated.into())
            }
            Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
            Value::Null => {
                self.remark(format!("a null in {key} is left out"));
                None
            }
            other => Some(other.clone()),
        }
    }

    /// A program. Variables are filled in now, since none is when it is started.
    fn command(&mut self, command: &str) -> String {
        let translated = self.translator.translate(command);
        let translated = self.program_path(translated);
        if !translated.contains("${") {
            return translated;
        }
        match filled_in(&translated, self.origin.environment) {
            Ok(filled) => {
                if filled != translated {
                    self.remark("the variables in \"command\" were filled in as they are now");
                }
                filled
            }
            Err(reference) => {
                let reference = quoted(reference.split(":-").next().unwrap_or_default());
                self.remark(format!(
                    "\"command\" has a variable that cannot be filled in: {reference}"
                ));
                command.to_owned()
            }
        }
    }

    /// A program. One of a project that is a relative path starts from the project's folder.
    fn program_path(&mut self, program: String) -> String {
        let is_path = program.contains('/') && !program.contains(char::is_whitespace);
        let is_relative = Path::new(&program).is_relative() && !program.starts_with(['$', '~']);
        match self.origin.project {
            Some(project) if is_path && is_relative => {
                let joined: PathBuf = project.join(program).components().collect();
                joined.to_string_lossy().into_owned()
            }
            None if is_path && is_relative => {
                self.remark(
                    "the relative path of \"command\" starts from the config's folder here",
                );
                program
            }
            _ => program,
        }
    }

    /// A path. A relative one of a project starts from the project's folder.
    fn path(&mut self, key: &str, path: &str) -> String {
        let translated = self.translator.translate(path);
        let is_relative = Path::new(path).is_relative() && !path.starts_with(['$', '~']);
        match self.origin.project {
            Some(project) if is_relative => {
                let folder = literal(&project.to_string_lossy());
                let joined: PathBuf = Path::new(&folder).join(translated).components().collect();
                joined.to_string_lossy().into_owned()
            }
            None if is_relative => {
                self.remark(format!(
                    "the relative path of {key} starts from the config's folder here"
                ));
                translated
            }
            _ => translated,
        }
    }

    fn timeout(&mut self, value: &Value) {
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        let Some(number) = number.filter(|number: &f64| number.is_finite() && *number > 0.0) else {
            return self.remark("\"timeout\" is left out: it is no positive number");
        };
        match self.origin.app.timeout() {
            TimeoutRule::Milliseconds => self.times.both = Some(number / 1_000.0),
            TimeoutRule::MillisecondsOfCalls if number < 1_000.0 => {
                self.remark("\"timeout\" is left out: less than 1000 ms counts for nothing");
            }
            TimeoutRule::MillisecondsOfCalls => self.times.call = Some(number / 1_000.0),
            TimeoutRule::Guessed if number >= 1_000.0 => {
                self.remark("\"timeout\" was taken for milliseconds");
                self.times.both = Some(number / 1_000.0);
            }
            TimeoutRule::Guessed => self.times.both = Some(number),
        }
    }

    /// The folder of the project, for a program that starts there.
    fn add_folder(&mut self, entry: &Map<String, Value>) {
        if let Some(project) = self.origin.project
            && self.origin.app.starts_in_project()
            && entry.contains_key("command")
            && !entry.contains_key("cwd")
        {
            let folder = literal(&project.to_string_lossy());
            self.entry.insert("cwd".to_owned(), folder.into());
        }
    }

    fn add_filter(&mut self) {
        let mut filter = Map::new();
        for (key, names) in [
            ("include", self.include.take()),
            ("exclude", self.exclude.take()),
        ] {
            if let Some(names) = names {
                filter.insert(key.to_owned(), names.into());
            }
        }
        if filter.is_empty() {
            return;
        }
        if self.entry.contains_key("tools") {
            return self.remark("two filters of tools: the one in \"tools\" is kept");
        }
        self.entry.insert("tools".to_owned(), filter.into());
    }

    /// `timeout` for a time that holds for both, else `timeouts`. These programs know no silence
    /// that ends a call, so a call may be silent as long as it may take.
    fn add_times(&mut self) {
        /// Longest `timeout` in seconds that our reader does not take for milliseconds.
        const LONGEST_TIMEOUT: f64 = 3_600.0;
        let Times {
            mut startup,
            mut call,
            both,
        } = self.times;
        match both {
            Some(seconds) if seconds > LONGEST_TIMEOUT => {
                startup = startup.or(both);
                call = call.or(both);
            }
            Some(seconds) => {
                self.entry.insert("timeout".to_owned(), number(seconds));
            }
            None => {}
        }
        if startup.is_none() && call.is_none() {
            return;
        }
        let timeouts = self.entry.entry("timeouts").or_insert_with(|| json!({}));
        let Value::Object(timeouts) = timeouts else {
            return;
        };
        for (key, seconds) in [("connect", startup), ("idle", call), ("total", call)] {
            if let Some(seconds) = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0) {
                timeouts.insert(key.to_owned(), number(seconds));
            }
        }
    }

    fn remark(&mut self, remark: impl Into<String>) {
        self.translator.remarks.push(remark.into());
    }
}

/// Seconds within what a config can give; whole ones as an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is whole and at most a day"
)]
fn number(seconds: f64) -> Value {
    let seconds = seconds.clamp(0.001, LONGEST);
    if seconds.fract() == 0.0 {
        return (seconds as u64).into();
    }
    Number::from_f64(seconds).map_or(Value::Null, Value::Number)
}

/// Names of the variables whose values an entry has itself, not from a variable.
fn set_by_itself(env: &Map<String, Value>) -> Vec<&str> {
    let is_plain = |value: &Value| value.as_str().is_none_or(|text| !text.contains('$'));
    let names = env.iter().filter(|(_, value)| is_plain(value));
    names.map(|(name, _)| name.as_str()).collect()
}

/// Names of tools as patterns that match them alone.
fn patterns(names: &[Value]) -> Vec<Value> {
    let pattern = |name: &Value| match name {
        Value::String(name) => name
            .chars()
            .map(|char| match char {
                '*' | '?' | '[' | '{' | '}' => format!("[{char}]"),
                '\\' => "\\\\".to_owned(),
                other => other.to_string(),
            })
            .collect::<String>()
            .into(),
        other => other.clone(),
    };
    names.iter().map(pattern).collect()
}
