//! The tools of a host at one moment. A snapshot never changes; a host swaps it whole.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::call::ValidCall;
use crate::definition::ToolDefinition;
use crate::name::{self, Origin};
use crate::tool::ToolExecutor;
use crate::toolbox::{BrokenTool, Discovery};
use crate::visual::{Style, Styled};

/// A tool under the name that callers use.
#[derive(Clone)]
#[non_exhaustive]
pub struct RegisteredTool {
    /// The exposed name: `[A-Za-z0-9_-]`, at most 64 characters, unique in its snapshot.
    pub name: Arc<str>,
    /// The toolbox's key as the config writes it.
    pub toolbox: Arc<str>,
    /// What it is; `definition.name` is the source's own name for it.
    pub definition: Arc<ToolDefinition>,
    /// What does the work.
    pub executor: Arc<dyn ToolExecutor>,
}

/// Characters of what a person is shown of one call before it runs.
const SHOWN_CHARS: usize = 4_000;

impl RegisteredTool {
    /// What a person is shown before a call of this tool runs, at most 4,000 characters: what the
    /// tool's author chose, else the name and the arguments without those that look secret.
    pub fn visualize(&self, call: &ValidCall) -> Styled {
        self.chosen_view(call)
            .unwrap_or_else(|| {
                let summary = call.summary();
                let arguments = summary.strip_prefix(&*self.name).map(str::to_owned);
                match arguments {
                    Some(arguments) => Styled::new()
                        .with(Style::Name, &*self.name)
                        .with(Style::Plain, arguments),
                    None => summary.into(),
                }
            })
            .within(SHOWN_CHARS)
    }

    /// What the tool's author chose to show of a call before it runs, at most 4,000 characters; `None`
    /// where that is nothing.
    pub fn chosen_view(&self, call: &ValidCall) -> Option<Styled> {
        let chosen = catch_unwind(AssertUnwindSafe(|| self.executor.visualize(call)));
        // A view that cannot be made hides no call.
        let chosen = chosen.unwrap_or_default().filter(|view| !view.is_empty())?;
        Some(chosen.within(SHOWN_CHARS))
    }
}

impl std::fmt::Debug for RegisteredTool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RegisteredTool")
            .field("name", &self.name)
            .field("toolbox", &self.toolbox)
            .field("original_name", &self.definition.name)
            .finish_non_exhaustive()
    }
}

/// One toolbox's part of a snapshot.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the input of Snapshot::new; built by hosts"
)]
pub struct Source {
    /// The toolbox's key as the config writes it.
    pub toolbox: Arc<str>,
    /// What its exposed names begin with, when it is not the key; empty for nothing.
    pub prefix: Option<String>,
    /// Its tools.
    pub discovery: Discovery,
}

/// A tool that cannot be used, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolboxBroken {
    /// The toolbox's key.
    pub toolbox: Arc<str>,
    /// The tool and the reason.
    pub tool: BrokenTool,
}

/// An immutable set of tools with unique names, in a deterministic order: the toolboxes' order,
/// then each source's own.
#[derive(Debug, Default)]
pub struct Snapshot {
    tools: Vec<RegisteredTool>,
    broken: Vec<ToolboxBroken>,
    /// Keys of the sources, in order.
    toolboxes: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, usize, RandomState>,
    /// Indices of tools by the source's own name, and by the one that a config gives them.
    by_original: HashMap<String, Vec<usize>>,
}

impl Snapshot {
    /// A snapshot of all tools of these sources.
    pub fn new(sources: Vec<Source>) -> Self {
        let origins: Vec<Origin<'_>> = sources
            .iter()
            .flat_map(|source| {
                source.discovery.tools.iter().map(|tool| Origin {
                    toolbox: &source.toolbox,
                    prefix: source.prefix.as_deref(),
                    tool: tool.definition.shown_name(),
                })
            })
            .collect();
        let mut names = name::exposed(&origins).into_iter();
        let mut snapshot = Self::default();
        for source in sources {
            let toolbox = source.toolbox;
            snapshot.toolboxes.push(Arc::clone(&toolbox));
            let whose = |tool| ToolboxBroken {
                toolbox: Arc::clone(&toolbox),
                tool,
            };
            snapshot
                .broken
                .extend(source.discovery.broken.into_iter().map(whose));
            for (tool, name) in source.discovery.tools.into_iter().zip(names.by_ref()) {
                snapshot.add(RegisteredTool {
                    name: name.into(),
                    toolbox: Arc::clone(&toolbox),
                    definition: tool.definition,
                    executor: tool.executor,
                });
            }
        }
        snapshot
    }

    /// Adds a tool, or lists it as broken when its name is taken: the same toolbox listed the tool
    /// twice, or made up a name that another tool's digits gave.
    fn add(&mut self, tool: RegisteredTool) {
        if self.by_name.contains_key(&tool.name) {
            let reason = format!("its name {} is taken by a tool listed before it", tool.name);
            let broken = BrokenTool::new(&tool.definition.name, reason);
            self.broken.push(ToolboxBroken {
                toolbox: tool.toolbox,
                tool: broken,
            });
            return;
        }
        let index = self.tools.len();
        self.by_name.insert(Arc::clone(&tool.name), index);
        let names = [
            Some(&tool.definition.name),
            tool.definition.exposed_as.as_ref(),
        ];
        for name in names.into_iter().flatten() {
            let known = self.by_original.entry(name.clone()).or_default();
            if known.last() != Some(&index) {
                known.push(index);
            }
        }
        self.tools.push(tool);
    }

    /// All usable tools, in order.
    pub fn tools(&self) -> &[RegisteredTool] {
        &self.tools
    }

    /// Tools that are listed by their source but cannot be used, and why.
    pub fn broken(&self) -> &[ToolboxBroken] {
        &self.broken
    }

    /// How many usable tools a toolbox has, and those of it that cannot be used.
    pub fn usable_and_broken(&self, toolbox: &str) -> (usize, Vec<BrokenTool>) {
        let usable = self.tools.iter().filter(|tool| *tool.toolbox == *toolbox);
        let broken = self.broken.iter().filter(|tool| *tool.toolbox == *toolbox);
        (
            usable.count(),
            broken.map(|broken| broken.tool.clone()).collect(),
        )
    }

    /// A tool by its exposed name, exactly.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        self.by_name
            .get(name)
            .and_then(|index| self.tools.get(*index))
    }

    /// The keys of the sources, in order.
    pub(super) fn toolboxes(&self) -> impl Iterator<Item = &str> {
        self.toolboxes.iter().map(|key| &**key)
    }

    /// The tools that their sources call by this name, in order.
    pub(super) fn by_original(&self, name: &str) -> impl Iterator<Item = &RegisteredTool> {
        let indices = self.by_original.get(name).map_or(&[][..], Vec::as_slice);
        indices.iter().filter_map(|index| self.tools.get(*index))
    }
}
