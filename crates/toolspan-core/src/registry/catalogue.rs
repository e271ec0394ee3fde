//! Which native tools can a config or an agent ask for, and what does it get?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::registration::{Registration, config, usage};
use super::resolve::quoted;
use super::{ToolSpec, alias};
use crate::guard::outcome::Phase;
use crate::tool::{ConversationState, ResponseSchema};
use crate::toolbox::ToolboxTool;
use crate::{Error, ErrorKind, Result, name};

/// How many specs are resolved at once.
const AT_ONCE: usize = 4;

/// The parameter of a spec that is about its tool, and not for its factory.
const RESPONSE_SCHEMA: &str = "response_schema";

/// How many near names an error offers.
const OFFERED: usize = 3;

/// Names and how their tools are made, in the order of registration.
///
/// A registry is a value: it belongs to whoever makes it, and there is none of the process. A spec
/// finds its tools by a registered name, by another name of it ([`Registration::with_alias`];
/// `execute_bash` means `terminal` and `str_replace_editor` means `file_editor`, and the other way
/// round), or by the name of a class (`TerminalTool`). A registered name always wins.
#[derive(Clone, Debug, Default)]
pub struct ToolRegistry {
    entries: Vec<Registration>,
}

impl ToolRegistry {
    /// A registry without tools.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Adds tools under a name.
    ///
    /// # Errors
    ///
    /// `usage` when the name or one of its aliases is blank or taken.
    pub fn register(&mut self, registration: Registration) -> Result<()> {
        refuse_blank(&registration)?;
        for name in names_of(&registration) {
            if let Some(other) = self.entries.iter().find(|entry| is_named(entry, name)) {
                let message = format!("a tool is registered as {:?} already", other.name);
                let message = match other.name == *name {
                    true => message,
                    false => format!("{message}, which has the alias {name:?}"),
                };
                return Err(usage(message)
                    .in_tool(&registration.name)
                    .with_hint("choose another name, or replace the tool explicitly"));
            }
        }
        self.entries.push(registration);
        Ok(())
    }

    /// Adds tools under a name, in place of those that have the name, or an alias of it, by now. The
    /// place in the order stays. Gives whether there were any.
    ///
    /// # Errors
    ///
    /// `usage` when the name or one of its aliases is blank.
    pub fn replace(&mut self, registration: Registration) -> Result<bool> {
        refuse_blank(&registration)?;
        let is_replaced =
            |entry: &Registration| names_of(&registration).any(|name| is_named(entry, name));
        let place = self.entries.iter().position(is_replaced);
        self.entries.retain(|entry| !is_replaced(entry));
        let end = self.entries.len();
        self.entries
            .insert(place.unwrap_or(end).min(end), registration);
        Ok(place.is_some())
    }

    /// Forgets a registered name. Tools that were made stay as they are. Gives whether there was one.
    pub fn unregister(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.name != name);
        self.entries.len() < before
    }

    /// All registered names, in order.
    pub fn list_registered(&self) -> Vec<&str> {
        self.entries.iter().map(Registration::name).collect()
    }

    /// The registered names whose tools can be used here, in order.
    pub fn list_usable(&self) -> Vec<&str> {
        let usable = self.entries.iter().filter(|entry| entry.is_usable());
        usable.map(Registration::name).collect()
    }

    /// Whether the tools of this name can be used here. Not so when nothing is registered as it.
    pub fn is_usable(&self, name: &str) -> bool {
        self.find(name).is_some_and(Registration::is_usable)
    }

    /// What a spec's name means: a registered name, an alias or the name of a class.
    pub fn find(&self, wanted: &str) -> Option<&Registration> {
        let of_class = |entry: &&Registration| entry.class_name.as_deref() == Some(wanted);
        self.named(wanted)
            .or_else(|| self.entries.iter().find(of_class))
            .or_else(|| self.named(&alias::of_class(wanted)?))
    }

    fn named(&self, name: &str) -> Option<&Registration> {
        let exact = self.entries.iter().find(|entry| entry.name == name);
        let known_as = |name: &str| self.entries.iter().find(|entry| is_named(entry, name));
        exact
            .or_else(|| known_as(name))
            .or_else(|| alias::of_name(name).find_map(known_as))
    }

    /// The tools that a spec asks for: one or several, each under its own name.
    ///
    /// The member `response_schema` of the parameters is not the factory's: it extends the one tool
    /// that is made ([`ResponseSchema`]), an instance included.
    ///
    /// Runs the factory on this thread, however long that takes.
    ///
    /// # Errors
    ///
    /// `tool_not_found` with the nearest names; `config` when the name is blank, the tools cannot be
    /// used here, the parameters do not fit, or the factory gives a failure; `internal` when it
    /// panics; `schema_rejected` for a schema that cannot be used.
    pub fn resolve(
        &self,
        spec: &ToolSpec,
        conversation: &ConversationState,
    ) -> Result<Vec<ToolboxTool>> {
        self.resolved(spec, conversation)
            .map_err(|error| error.in_tool(&spec.name))
    }

    /// The tools of several specs, resolved up to four at once, each on a thread of its own, in the
    /// order of the specs. One that fails costs the others nothing, and neither does a factory that
    /// takes longer than `limit`: its spec is an error of kind `timeout`, and what it makes later is
    /// dropped.
    ///
    /// Waits until all are made, at most `limit` for each four specs: in asynchronous code, do this
    /// where waiting is allowed. Factories may use the runtime that this is called in.
    pub fn resolve_all(
        &self,
        specs: &[ToolSpec],
        conversation: &ConversationState,
        limit: Duration,
    ) -> Vec<Result<Vec<ToolboxTool>>> {
        let (sender, ended) = mpsc::channel();
        let resolving = Resolving {
            registry: Arc::new(self.clone()),
            conversation: conversation.clone(),
            runtime: Handle::try_current().ok(),
            sender,
        };
        let mut results: Vec<Option<Result<_>>> = specs.iter().map(|_| None).collect();
        let mut running: Vec<(usize, Instant)> = Vec::with_capacity(AT_ONCE);
        let mut waiting = specs.iter().cloned().enumerate();
        loop {
            while running.len() < AT_ONCE
                && let Some((place, spec)) = waiting.next()
            {
                resolving.begin(place, spec);
                running.push((place, Instant::now()));
            }
            let Some(oldest) = running.iter().map(|(_, began)| *began).min() else {
                break;
            };
            let left = limit.saturating_sub(oldest.elapsed());
            let ended = ended.recv_timeout(left);
            running.retain(|(place, began)| {
                let result = match &ended {
                    Ok((other, result)) if other == place => result.clone(),
                    Err(_) if began.elapsed() >= limit => Err(too_slow(limit)),
                    _ => return true,
                };
                if let (Some(slot), Some(spec)) = (results.get_mut(*place), specs.get(*place)) {
                    *slot = Some(result.map_err(|error| error.in_tool(&spec.name)));
                }
                false
            });
        }
        let results = results.into_iter();
        results.map(|result| result.unwrap_or_else(lost)).collect()
    }

    fn resolved(
        &self,
        spec: &ToolSpec,
        conversation: &ConversationState,
    ) -> Result<Vec<ToolboxTool>> {
        if spec.name.trim().is_empty() {
            return Err(config("the name of the tool is blank".to_owned()));
        }
        let entry = self
            .find(&spec.name)
            .ok_or_else(|| self.unknown(&spec.name))?;
        if !entry.is_usable() {
            let message = format!("the tool {:?} says that it cannot be used here", entry.name);
            return Err(config(message));
        }
        let mut params = spec.params.clone();
        let response = params.shift_remove(RESPONSE_SCHEMA);
        let response = response.filter(|schema| !schema.is_null());
        let response = response.map(ResponseSchema::new).transpose()?;
        let mut tools = entry.make(params, conversation)?;
        let Some(response) = response else {
            return Ok(tools);
        };
        match (tools.pop(), tools.is_empty()) {
            (Some(only), true) => Ok(vec![response.extend(only)?]),
            _ => Err(config(
                "it makes several tools, and a response schema is for one".to_owned(),
            )),
        }
    }

    fn unknown(&self, wanted: &str) -> Error {
        let near: Vec<String> = name::nearest(wanted, self.list_registered(), OFFERED)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let hint = match near.is_empty() {
            false => format!("the nearest names are {}", near.join(", ")),
            true => "no tool is registered".to_owned(),
        };
        let message = format!("no tool is registered as {}", quoted(wanted));
        Error::new(ErrorKind::ToolNotFound, Phase::Resolve, message)
            .with_hint(hint)
            .with_suggestions(near)
    }
}

/// Resolves specs on threads that nobody has to wait for.
struct Resolving {
    registry: Arc<ToolRegistry>,
    conversation: ConversationState,
    runtime: Option<Handle>,
    sender: mpsc::Sender<(usize, Result<Vec<ToolboxTool>>)>,
}

impl Resolving {
    /// Begins with a spec, whose result is sent with its place; on this thread where there can be no
    /// other.
    fn begin(&self, place: usize, spec: ToolSpec) {
        let (registry, conversation) = (Arc::clone(&self.registry), self.conversation.clone());
        let resolve = Arc::new(move || registry.resolve(&spec, &conversation));
        let (on_thread, sender) = (Arc::clone(&resolve), self.sender.clone());
        let runtime = self.runtime.clone();
        let thread = thread::Builder::new().name("toolspan-resolve".to_owned());
        let began = thread.spawn(move || {
            let _entered = runtime.as_ref().map(Handle::enter);
            let made = catch_unwind(AssertUnwindSafe(|| on_thread()));
            // Nobody waits any more for one that is late.
            let _ = sender.send((place, made.unwrap_or_else(|_| lost())));
        });
        if began.is_err() {
            let _ = self.sender.send((place, resolve()));
        }
    }
}

fn lost<T>() -> Result<T> {
    Err(config("it was not resolved".to_owned()))
}

fn too_slow(limit: Duration) -> Error {
    let message = format!("its factory made nothing within {limit:?}");
    Error::new(ErrorKind::Timeout, Phase::Config, message)
        .with_hint("let the factory do less, or give it more time")
}

/// The names that a registration takes for itself.
fn names_of(registration: &Registration) -> impl Iterator<Item = &String> {
    std::iter::once(&registration.name).chain(&registration.aliases)
}

/// Whether an entry has this name, or an alias of it.
fn is_named(entry: &Registration, name: &str) -> bool {
    names_of(entry).any(|own| own == name)
}

fn refuse_blank(registration: &Registration) -> Result<()> {
    match names_of(registration).any(|name| name.trim().is_empty()) {
        true => Err(usage(
            "a tool cannot be registered under a blank name".to_owned(),
        )),
        false => Ok(()),
    }
}
