//! What does the config say about one toolbox, and is its entry good?

use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::name::{LONGEST, NATIVE, is_plain_key, sanitised, toolbox_prefix};

use super::bounds::{Bounds, BoundsScope};
use super::field::{Field, Table};
use super::filter::ToolFilter;
use super::keys::{self, did_you_mean, nearest, warn_unknown};
use super::problem::{Problem, Warnings, quoted};
use super::stdio::{self, StdioServer, Surroundings};

/// Longest key of a toolbox, in characters.
const LONGEST_KEY: usize = 200;
/// What is said about a server that is not started here.
const REMOTE: &str = "remote servers are not supported by this version";

/// One toolbox of the config, in the order of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolboxConfig {
    /// Its key, as the config writes it.
    pub key: String,
    /// What stands before its tools' names in place of the key; empty for nothing.
    pub prefix: Option<String>,
    /// Whether it is left out: `"disabled": true` or `"enabled": false`.
    pub disabled: bool,
    /// Whether the host fails when this toolbox does. Default false.
    pub required: bool,
    /// The global limits with its own over them.
    pub limits: Limits,
    /// The global timeouts with its own over them.
    pub timeouts: Timeouts,
    /// Which of its tools are taken.
    pub filter: ToolFilter,
    /// How it is reached; or the first thing that is wrong in its entry, which disables it alone.
    pub transport: Result<Transport, Problem>,
}

/// How a toolbox is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// A process that is started and talked to over its standard input and output.
    Stdio(StdioServer),
}

impl ToolboxConfig {
    /// A toolbox that is reached so, with the default limits and timeouts.
    pub fn new(key: impl Into<String>, transport: Transport) -> Self {
        Self::with_bounds(key.into(), Bounds::default(), Ok(transport))
    }

    fn with_bounds(key: String, bounds: Bounds, transport: Result<Transport, Problem>) -> Self {
        Self {
            key,
            prefix: None,
            disabled: false,
            required: false,
            limits: bounds.limits,
            timeouts: bounds.timeouts,
            filter: ToolFilter::default(),
            transport,
        }
    }
}

/// Reads entries of `mcpServers`.
pub(super) struct EntryReader<'a> {
    /// The limits and timeouts that hold for all.
    pub(super) bounds: &'a Bounds,
    pub(super) surroundings: Surroundings<'a>,
    pub(super) warnings: &'a mut Warnings,
}

impl EntryReader<'_> {
    /// Reads one entry. Whatever is wrong in it ends up in `transport`; the rest is still read, so
    /// that a broken toolbox that is `required` or `disabled` stays so.
    pub(super) fn read(&mut self, key: &str, field: &Field<'_>) -> ToolboxConfig {
        let mut bounds = self.bounds.clone();
        let table = match field.table() {
            Ok(table) => table,
            Err(problem) => {
                return ToolboxConfig::with_bounds(key.to_owned(), bounds, Err(problem));
            }
        };
        warn_unknown(
            &table,
            keys::SERVER.iter().copied(),
            keys::SERVER_OTHERS,
            self.warnings,
        );
        let mut first = First::default();
        first.keep(check_key(key, field));
        let transport = first.keep(read_transport(&table, self.surroundings));
        first.keep(bounds.read(&table, BoundsScope::Toolbox, self.warnings));
        let filter = table
            .get("tools")
            .map(|tools| ToolFilter::read(&tools, self.warnings));
        let toolbox = ToolboxConfig {
            key: key.to_owned(),
            prefix: first.keep(self.prefix(&table)).flatten(),
            disabled: first.keep(read_disabled(&table)).unwrap_or_default(),
            required: first
                .keep(read_flag(&table, "required"))
                .flatten()
                .unwrap_or_default(),
            limits: bounds.limits,
            timeouts: bounds.timeouts,
            filter: first.keep(filter.transpose()).flatten().unwrap_or_default(),
            transport: first.or(transport, field),
        };
        if toolbox.prefix.is_none() && toolbox.transport.is_ok() {
            self.warn_of_prefix(key, field);
        }
        toolbox
    }

    fn prefix(&mut self, table: &Table<'_>) -> Result<Option<String>, Problem> {
        let Some(field) = table.get("prefix") else {
            return Ok(None);
        };
        let prefix = field.text()?;
        if prefix.chars().count() > LONGEST {
            let message = format!("a prefix has at most {LONGEST} characters");
            return Err(field.problem(message));
        }
        let clean = sanitised(prefix);
        if clean != prefix {
            self.warnings.add(|| {
                let message =
                    format!("names of tools cannot have this prefix; theirs is {clean}__");
                field
                    .problem(message)
                    .with_hint("use letters, digits, _ and -")
            });
        }
        Ok(Some(prefix.to_owned()))
    }

    fn warn_of_prefix(&mut self, key: &str, field: &Field<'_>) {
        if !is_plain_key(key) {
            self.warnings.add(|| {
                let prefix = toolbox_prefix(key);
                field
                    .problem(format!(
                        "names of tools cannot have this key; theirs begin with {prefix}__"
                    ))
                    .with_hint("set \"prefix\" for another beginning")
            });
        }
    }
}

/// The first problem of an entry.
#[derive(Default)]
struct First(Option<Problem>);

impl First {
    /// The value, or nothing and the problem kept if it is the first.
    fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problem) => {
                self.0.get_or_insert(problem);
                None
            }
        }
    }

    fn or<T>(self, value: Option<T>, field: &Field<'_>) -> Result<T, Problem> {
        match (self.0, value) {
            (Some(problem), _) => Err(problem),
            (None, Some(value)) => Ok(value),
            (None, None) => Err(field.problem("this entry cannot be used")),
        }
    }
}

fn check_key(key: &str, field: &Field<'_>) -> Result<(), Problem> {
    let message = if key.is_empty() {
        "the key of a toolbox cannot be empty".to_owned()
    } else if key.chars().count() > LONGEST_KEY {
        format!("the key of a toolbox has at most {LONGEST_KEY} characters")
    } else if toolbox_prefix(key) == NATIVE {
        format!("the key {} is kept for native tools", quoted(NATIVE))
    } else {
        return Ok(());
    };
    Err(field.problem(message).with_hint("choose another key"))
}

fn read_flag(table: &Table<'_>, key: &str) -> Result<Option<bool>, Problem> {
    table.get(key).map(|field| field.flag()).transpose()
}

fn read_disabled(table: &Table<'_>) -> Result<bool, Problem> {
    match (read_flag(table, "disabled")?, read_flag(table, "enabled")?) {
        (Some(disabled), Some(enabled)) if disabled == enabled => {
            let message = format!(
                "{} and {} contradict each other",
                table.path_of("disabled"),
                table.path_of("enabled")
            );
            Err(table.field().problem(message).with_hint("keep one"))
        }
        (disabled, enabled) => Ok(disabled.or(enabled.map(|on| !on)).unwrap_or_default()),
    }
}

/// What `transport` or `type` says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    Stdio,
    Remote,
}

fn read_transport(table: &Table<'_>, surroundings: Surroundings<'_>) -> Result<Transport, Problem> {
    let declared = read_declared(table)?;
    let (command, url) = (table.path_of("command"), table.path_of("url"));
    match (table.get("command"), table.get("url")) {
        (Some(_), Some(at)) => Err(at
            .named(table.field().path().to_owned())
            .problem(format!("both {command} and {url} are set"))
            .with_hint("keep one: a command is started, a URL is connected to")),
        (None, None) => {
            let message = format!("neither {command} nor {url} is set");
            let keys = table.entries().map(|(key, _)| key);
            let mut unknown = keys.filter(|key| !keys::SERVER.contains(key));
            let slip = unknown.find(|key| nearest(key, ["command"]).is_some());
            Err(table.field().problem(message).with_hint(match slip {
                Some(slip) => format!("rename {} to \"command\"", quoted(slip)),
                None => "set \"command\" to the program to start".to_owned(),
            }))
        }
        (None, Some(url)) => Err(url.problem(REMOTE)),
        (Some(command), None) => match declared {
            Some((Declared::Remote, field)) => Err(field
                .problem(REMOTE)
                .with_hint("a server with a command has the transport \"stdio\"")),
            Some((Declared::Stdio, _)) | None => {
                stdio::read(table, &command, surroundings).map(Transport::Stdio)
            }
        },
    }
}

/// Reads `transport` and its other name `type`, which must agree where both are there.
fn read_declared<'a>(table: &Table<'a>) -> Result<Option<(Declared, Field<'a>)>, Problem> {
    let read = |key| match table.get(key) {
        Some(field) => declared(&field).map(|declared| Some((declared, field))),
        None => Ok(None),
    };
    match (read("transport")?, read("type")?) {
        (Some((transport, field)), Some((kind, _))) if transport != kind => {
            let message = format!(
                "{} and {} contradict each other",
                table.path_of("transport"),
                table.path_of("type")
            );
            Err(field.problem(message).with_hint("keep one"))
        }
        (transport, kind) => Ok(transport.or(kind)),
    }
}

fn declared(field: &Field<'_>) -> Result<Declared, Problem> {
    match field.text()? {
        "stdio" => Ok(Declared::Stdio),
        "http" | "streamable-http" | "streamableHttp" | "streamable_http" | "shttp" | "sse" => {
            Ok(Declared::Remote)
        }
        other => {
            let hint = nearest(other, ["stdio"]).map_or_else(
                || "this version has \"stdio\" alone".to_owned(),
                did_you_mean,
            );
            Err(field
                .problem(format!("unknown transport {}", quoted(other)))
                .with_hint(hint))
        }
    }
}
