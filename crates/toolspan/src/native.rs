//! How does a host get a native tool, or lose one, while it runs?

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::join_all;
use toolspan_core::tool::NativeToolBox;
use toolspan_core::toolbox::ToolBoxState;
use toolspan_core::{
    BoxFuture, Discovery, Error, ErrorKind, Phase, Result, ToolBox, ToolboxTool, name,
};

use crate::config::ToolFilter;
use crate::host::{Host, closed, lock};
use crate::member::{Member, MemberConfig};

/// Most native tools that are added to one host while it runs.
const MOST_ADDED: usize = 10_000;

impl Host {
    /// Adds a native tool to a host that runs. It can be called from now on by its plain name, and
    /// is in every snapshot that is taken from now on, behind the native tools there were before.
    ///
    /// # Errors
    ///
    /// `usage` when the name is blank or another native tool has it, or when there are 10,000 such
    /// tools; `schema_rejected` when a schema of it cannot be used; `closed`.
    pub fn add_tool(&self, tool: ToolboxTool) -> Result<()> {
        refuse_unusable(&tool)?;
        let shared = self.shared();
        // A reload swaps the toolboxes, too.
        let _one_at_a_time = lock(&shared.reloading);
        self.refuse_closed()?;
        let roster = self.roster();
        let known = roster.get(name::NATIVE);
        if let Some(natives) = known.and_then(|member| member.natives.as_ref()) {
            natives.add(tool)?;
            shared.rebuild();
            return Ok(());
        }
        let natives = Arc::new(NativeTools::new(NativeToolBox::new(Vec::new())));
        natives.add(tool)?;
        let mut members = roster.members.clone();
        members.push(Arc::new(self.native_member(natives)));
        shared.swap(members);
        Ok(())
    }

    /// Takes a native tool out that was added to the running host, by the name it was added under or
    /// the one it is called by, and gives it back: whoever has it closes its executor. Calls under way
    /// go on. `None` when no such tool was added.
    pub fn remove_tool(&self, name: &str) -> Option<ToolboxTool> {
        let roster = self.roster();
        let natives = roster.get(name::NATIVE)?.natives.as_ref()?;
        let removed = natives.remove(name).or_else(|| {
            let snapshot = self.snapshot();
            let mut tools = snapshot.tools().iter();
            let meant = tools.find(|it| &*it.name == name && &*it.toolbox == name::NATIVE)?;
            natives.remove(&meant.definition.name)
        })?;
        self.shared().rebuild();
        Some(removed)
    }

    fn native_member(&self, natives: Arc<NativeTools>) -> Member {
        let config = MemberConfig {
            key: name::NATIVE.into(),
            entry: None,
            prefix: None,
            required: false,
            filter: ToolFilter::default(),
            limits: self.limits().clone(),
            timeouts: self.shared().timeouts.clone(),
        };
        Member::native(config, natives)
    }
}

fn refuse_unusable(tool: &ToolboxTool) -> Result<()> {
    let definition = &tool.definition;
    if definition.name.trim().is_empty() {
        return Err(usage("the name of a native tool is blank"));
    }
    let schemas = [Some(&definition.input), definition.output.as_ref()];
    for schema in schemas.into_iter().flatten() {
        schema.compile().map_err(|rejected| {
            let message = format!("the tool's schema cannot be used: {rejected}");
            Error::new(ErrorKind::SchemaRejected, Phase::Discover, message)
                .in_toolbox(name::NATIVE)
                .in_tool(&definition.name)
        })?;
    }
    Ok(())
}

fn usage(message: &str) -> Error {
    Error::new(ErrorKind::Usage, Phase::Config, message).in_toolbox(name::NATIVE)
}

/// The native tools of a host: those it was built with, and those that were added since.
pub(crate) struct NativeTools {
    built: NativeToolBox,
    /// Held for looking and changing only.
    tools: Mutex<Tools>,
    closed: AtomicBool,
}

struct Tools {
    built: Discovery,
    added: Vec<ToolboxTool>,
}

impl NativeTools {
    pub(crate) fn new(built: NativeToolBox) -> Self {
        let tools = Tools {
            built: built.listed(),
            added: Vec::new(),
        };
        Self {
            built,
            tools: Mutex::new(tools),
            closed: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tools> {
        lock(&self.tools)
    }

    /// All of them, as they are now.
    pub(crate) fn listed(&self) -> Discovery {
        let tools = self.lock();
        let mut listed = tools.built.clone();
        listed.tools.extend(tools.added.iter().cloned());
        listed
    }

    fn add(&self, tool: ToolboxTool) -> Result<()> {
        let mut tools = self.lock();
        // Under the lock, so that a close comes before, and is seen, or after, and ends the tool.
        if self.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        let name = &tool.definition.name;
        let mut known = tools.built.tools.iter().chain(&tools.added);
        if known.any(|known| known.definition.name == *name) {
            return Err(usage("another native tool has this name")
                .in_tool(name)
                .with_hint("give it another name, or remove the other tool before"));
        }
        if tools.added.len() >= MOST_ADDED {
            let message = format!("{MOST_ADDED} native tools were added already");
            return Err(usage(&message).in_tool(name));
        }
        tools.added.push(tool);
        Ok(())
    }

    fn remove(&self, name: &str) -> Option<ToolboxTool> {
        let mut tools = self.lock();
        let is_it = |tool: &ToolboxTool| tool.definition.name == name;
        let place = tools.added.iter().position(is_it)?;
        Some(tools.added.remove(place))
    }
}

impl ToolBox for NativeTools {
    fn kind(&self) -> &str {
        name::NATIVE
    }

    fn discover(&self) -> BoxFuture<'_, Result<Discovery>> {
        Box::pin(std::future::ready(Ok(self.listed())))
    }

    fn state(&self) -> ToolBoxState {
        self.built.state()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let added = {
                let tools = self.lock();
                self.closed.store(true, Ordering::Release);
                tools.added.clone()
            };
            let added = NativeToolBox::new(added);
            join_all([self.built.close(), added.close()]).await;
        })
    }
}
