//! What does the config say about one toolbox, and is its entry good?

use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::name::{LONGEST, NATIVE, is_plain_key, sanitised, toolbox_prefix};
use toolspan_core::policy::Trust;

use super::bounds::{Bounds, BoundsScope};
use super::dialect::{Dialect, Entry};
use super::field::{Field, Table};
use super::filter::ToolFilter;
use super::inputs::{Asking, Inputs};
use super::keys::{self, did_you_mean, nearest, warn_unknown};
use super::pins;
use super::policy::read_trust;
use super::problem::{Problem, Warnings, quoted};
use super::remote::{self, RemoteConfig, RemoteKind};
use super::secrets::Collected;
use super::selection::Selection;
use super::shape::{self, ShapeConfig};
use super::stdio::{self, StdioServer};
use super::surroundings::{Filling, Surroundings};

/// Longest key of a toolbox, in characters.
const LONGEST_KEY: usize = 200;

/// One toolbox of the config, in the order of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolboxConfig {
    /// Its key, as the config writes it.
    pub key: String,
    /// What stands before its tools' names in place of the key; empty for nothing.
    pub prefix: Option<String>,
    /// Whether it is left out: `"disabled": true` or `"enabled": false`, or by the lists of `mcp`.
    pub disabled: bool,
    /// Whether the host fails when this toolbox does. Default false.
    pub required: bool,
    /// The global limits with its own over them.
    pub limits: Limits,
    /// The global timeouts with its own over them.
    pub timeouts: Timeouts,
    /// Which of its tools are taken.
    pub filter: ToolFilter,
    /// What its tools are for a model, where that is something else than the server says.
    pub shapes: Vec<ShapeConfig>,
    /// Whether what it says of its own tools is believed. Default: no.
    pub trust: Trust,
    /// How it is reached; or the first thing that is wrong in its entry, which disables it alone.
    pub transport: Result<Transport, Problem>,
}

/// How a toolbox is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// A process that is started and talked to over its standard input and output.
    Stdio(StdioServer),
    /// A server that is reached over HTTP.
    Remote(RemoteConfig),
}

impl ToolboxConfig {
    /// A toolbox that is reached so, with the default limits and timeouts.
    pub fn new(key: impl Into<String>, transport: Transport) -> Self {
        let mut bounds = Bounds::default();
        if matches!(transport, Transport::Remote(_)) {
            bounds.for_remote();
        }
        Self::with_bounds(key.into(), bounds, Ok(transport))
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
            shapes: Vec::new(),
            trust: Trust::default(),
            transport,
        }
    }
}

/// Reads the servers of a config.
pub(super) struct EntryReader<'a> {
    /// The limits and timeouts that hold for all.
    pub(super) bounds: &'a Bounds,
    pub(super) surroundings: Surroundings<'a>,
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) selection: &'a Selection<'a>,
    pub(super) warnings: &'a mut Warnings,
}

impl EntryReader<'_> {
    /// Reads one entry. Whatever is wrong in it ends up in `transport`; the rest is still read, so
    /// that a broken toolbox that is `required` or `disabled` stays so.
    pub(super) fn read(&mut self, entry: &Entry<'_>) -> ToolboxConfig {
        let (key, field) = (entry.key, &entry.field);
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
        let disabled =
            first.keep(read_disabled(&table)).unwrap_or_default() || self.selection.leaves_out(key);
        let asking = self.inputs.asking(key, disabled);
        let transport = first.keep(self.transport(&table, entry.dialect, asking));
        if matches!(transport, Some(Transport::Remote(_))) {
            bounds.for_remote();
        }
        first.keep(bounds.read(&table, BoundsScope::Toolbox, self.warnings));
        let toolbox = ToolboxConfig {
            key: key.to_owned(),
            prefix: first.keep(self.prefix(&table)).flatten(),
            disabled,
            required: first
                .keep(read_flag(&table, "required"))
                .flatten()
                .unwrap_or_default(),
            limits: bounds.limits,
            timeouts: bounds.timeouts,
            filter: first.keep(self.filter(&table)).unwrap_or_default(),
            shapes: first.keep(shape::read(&table)).unwrap_or_default(),
            trust: first
                .keep(read_trust(&table, self.warnings))
                .unwrap_or_default(),
            transport: first.or(transport, field),
        };
        if toolbox.prefix.is_none() && toolbox.transport.is_ok() {
            self.warn_of_prefix(key, field);
        }
        toolbox
    }

    fn transport(
        &mut self,
        table: &Table<'_>,
        dialect: Dialect,
        asking: Asking,
    ) -> Result<Transport, Problem> {
        let mut filling = Filling {
            surroundings: self.surroundings,
            inputs: self.inputs,
            asking,
            secrets: Collected::default(),
            warnings: self.warnings,
        };
        let transport = match reached(table, dialect)? {
            Reached::Command(command) => {
                stdio::read(table, &command, &mut filling).map(Transport::Stdio)
            }
            Reached::Url(url, kind) => {
                remote::read(table, &url, kind, &mut filling).map(Transport::Remote)
            }
        }?;
        let is_remote = matches!(transport, Transport::Remote(_));
        keys::warn_misplaced(table, is_remote, self.warnings);
        if let Transport::Stdio(server) = &transport
            && let Some(at) = table.get("args")
            && let Some(package) = pins::open_packages(&server.command, &server.words()).first()
        {
            self.warnings.note(|| {
                let message = format!(
                    "the version of {} is open, so any start may fetch a new one",
                    quoted(package)
                );
                at.problem(message)
                    .with_hint("write the version behind its name")
            });
        }
        Ok(transport)
    }

    fn filter(&mut self, table: &Table<'_>) -> Result<ToolFilter, Problem> {
        let mut filter = match table.get("tools") {
            Some(tools) => ToolFilter::read(&tools, self.warnings)?,
            None => ToolFilter::default(),
        };
        filter.read_names(table)?;
        Ok(filter)
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

/// How a server is reached, by the keys that its entry has.
enum Reached<'a> {
    Command(Field<'a>),
    Url(Field<'a>, RemoteKind),
}

fn reached<'a>(table: &Table<'a>, dialect: Dialect) -> Result<Reached<'a>, Problem> {
    let declared = read_declared(table)?;
    let (command, url) = (table.path_of("command"), table.path_of("url"));
    match (table.get("command"), read_address(table)?) {
        (Some(_), Some((key, at))) => Err(at
            .named(table.field().path().to_owned())
            .problem(format!("both {command} and {} are set", table.path_of(key)))
            .with_hint("keep one: a command is started, a URL is connected to")),
        (None, None) => {
            let message = format!("neither {command} nor {url} is set");
            Err(table
                .field()
                .problem(message)
                .with_hint(missing_hint(table)))
        }
        (None, Some((key, at))) => match declared {
            Some((Declared::Stdio, field)) => Err(field
                .problem("a server with a URL is not started")
                .with_hint("remove this, or set \"http\" or \"sse\"")),
            Some((Declared::Sse, field)) if key == "httpUrl" => Err(field
                .problem("\"httpUrl\" is the address of streamable HTTP")
                .with_hint("name the address \"url\", or remove this")),
            declared => {
                let kind = declared.map(|(declared, _)| declared);
                Ok(Reached::Url(at, kind_of(kind, key, dialect)))
            }
        },
        (Some(command), None) => match declared {
            Some((Declared::Stdio, _)) | None => Ok(Reached::Command(command)),
            Some((_, field)) => Err(field
                .problem("a server with a command is started, not connected to")
                .with_hint("remove this, or set \"stdio\"")),
        },
    }
}

fn kind_of(declared: Option<Declared>, key: &str, dialect: Dialect) -> RemoteKind {
    match declared {
        Some(Declared::Sse) => RemoteKind::Sse,
        // VS Code tries SSE when a server of this type has no streamable HTTP.
        Some(Declared::Http) if dialect == Dialect::VsCode => RemoteKind::Auto,
        Some(Declared::Http) => RemoteKind::StreamableHttp,
        _ if key == "httpUrl" => RemoteKind::StreamableHttp,
        _ => RemoteKind::Auto,
    }
}

/// What to do about an entry that says neither what to start nor where to connect.
fn missing_hint(table: &Table<'_>) -> String {
    let keys = table.entries().map(|(key, _)| key);
    let unknown = keys.filter(|key| !keys::SERVER.contains(key));
    let wanted = ["command", "url"];
    let slip = unknown
        .filter_map(|key| Some((key, nearest(key, wanted)?)))
        .next();
    match slip {
        Some((slip, near)) => format!("rename {} to {}", quoted(slip), quoted(near)),
        None => {
            "set \"command\" to the program to start, or \"url\" to the server's address".to_owned()
        }
    }
}

/// The address under whichever key it has; several must be the same.
fn read_address<'a>(table: &Table<'a>) -> Result<Option<(&'static str, Field<'a>)>, Problem> {
    let mut found: Option<(&'static str, Field<'a>)> = None;
    for key in keys::ADDRESSES {
        let Some(field) = table.get(key) else {
            continue;
        };
        match &found {
            None => found = Some((key, field)),
            Some((_, first)) if first.text()? == field.text()? => {}
            Some((first, _)) => {
                let (first, second) = (table.path_of(first), table.path_of(key));
                return Err(field
                    .problem(format!("{first} and {second} are different addresses"))
                    .with_hint("keep one"));
            }
        }
    }
    Ok(found)
}

/// What `transport` or `type` says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    Stdio,
    Http,
    Sse,
    /// Over HTTP, one way or the other.
    Remote,
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

/// Every spelling that is in use: `streamable-http`, `streamableHttp`, `streamable_http` and so on.
fn declared(field: &Field<'_>) -> Result<Declared, Problem> {
    let text = field.text()?;
    let letters: String = text
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '+' | ' '))
        .take(40)
        .collect();
    match letters.to_ascii_lowercase().as_str() {
        "stdio" | "local" => Ok(Declared::Stdio),
        "http" | "https" | "streamable" | "streamablehttp" | "httpstreamable" | "shttp"
        | "httpstream" | "httpstreaming" => Ok(Declared::Http),
        "sse" | "httpsse" | "serversentevents" => Ok(Declared::Sse),
        "remote" => Ok(Declared::Remote),
        _ => {
            // A short word is near to each of these; its first letter says more.
            let is_like = |near: &&str| {
                text.to_ascii_lowercase()
                    .starts_with(near.get(..1).unwrap_or_default())
            };
            let near = nearest(text, ["stdio", "http", "sse"]).filter(is_like);
            let hint = near.map_or_else(
                || "there are \"stdio\", \"http\" and \"sse\"".to_owned(),
                did_you_mean,
            );
            Err(field
                .problem(format!("unknown transport {}", quoted(text)))
                .with_hint(hint))
        }
    }
}
