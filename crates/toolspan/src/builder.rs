//! How a host is put together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::registry::{ToolRegistry, ToolSpec};
use toolspan_core::services::NoServices;
use toolspan_core::tool::{ConversationState, NativeToolBox, native};
use toolspan_core::{
    BrokenTool, Error, ErrorKind, Phase, Result, Services, Tool, ToolBox, ToolboxTool, name,
};

use crate::config::{Environment, Resolved, ToolFilter, ToolboxConfig};
use crate::connect;
use crate::hiding::Hiding;
use crate::host::Host;
use crate::member::{Member, MemberConfig, MemberSource};
use crate::native::NativeTools;
use crate::rules::{Rules, RulesGiven};

/// Makes a native tool from the `params` of the config.
type Factory = Box<dyn Fn(&Map<String, Value>) -> Result<ToolboxTool> + Send + Sync>;

/// Puts a host together. Configs, files, servers and tools add up, in the order given; the limits
/// and timeouts of the last config with any hold. Of several policies the stricter of each rule holds
/// ([`PolicyConfig::and_then`](crate::config::PolicyConfig::and_then)).
#[derive(Default)]
#[must_use]
pub struct HostBuilder {
    configs: Vec<Part>,
    tools: Vec<Result<ToolboxTool>>,
    factories: Vec<(String, Factory)>,
    registry: ToolRegistry,
    conversation: ConversationState,
    toolboxes: Vec<(Arc<str>, Arc<dyn ToolBox>)>,
    services: Option<Arc<dyn Services>>,
    environment: Option<Environment>,
    rules: RulesGiven,
}

enum Part {
    Resolved(Box<Resolved>),
    File(PathBuf),
    Value(Value),
    Server(String),
    Url(String),
}

impl HostBuilder {
    /// Adds a config that was read before.
    pub fn config(mut self, config: Resolved) -> Self {
        self.configs.push(Part::Resolved(Box::new(config)));
        self
    }

    /// Adds a config file, read when the host is started.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.configs.push(Part::File(path.into()));
        self
    }

    /// Adds a config as a JSON value.
    pub fn config_value(mut self, config: Value) -> Self {
        self.configs.push(Part::Value(config));
        self
    }

    /// Adds an MCP server by its command line, such as `uvx mcp-server-time`. No shell runs it.
    pub fn server(mut self, command_line: impl Into<String>) -> Self {
        self.configs.push(Part::Server(command_line.into()));
        self
    }

    /// Adds an MCP server by its URL, such as `https://example.com/mcp`.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.configs.push(Part::Url(url.into()));
        self
    }

    /// Adds a native tool. It belongs to the toolbox `native` and keeps its plain name.
    pub fn tool<T: Tool>(mut self, tool: T) -> Self {
        self.tools.push(native(tool));
        self
    }

    /// Adds a native tool that is made already, such as one that a client executes
    /// ([`ClientTools::declare`](crate::tool::ClientTools::declare)).
    pub fn made_tool(mut self, tool: ToolboxTool) -> Self {
        self.tools.push(Ok(tool));
        self
    }

    /// Sets the tools that the config's `tools` may ask for: by a registered name, an alias or the name
    /// of a class, each with its `params`; one entry may become several tools. A
    /// [`tool_factory`](Self::tool_factory) of the same name wins.
    pub fn registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the conversation that the registry's tools are made for. Default: none.
    pub fn conversation(mut self, conversation: ConversationState) -> Self {
        self.conversation = conversation;
        self
    }

    /// Makes a native tool available to the config's `tools`: an entry of this name is given its
    /// `params` and becomes the tool that the function returns.
    pub fn tool_factory<T: Tool>(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Map<String, Value>) -> Result<T> + Send + Sync + 'static,
    ) -> Self {
        let factory: Factory = Box::new(move |params| native(make(params)?));
        self.factories.push((name.into(), factory));
        self
    }

    /// Adds a toolbox of the caller's own under a key; any but `native`, which is kept for native
    /// tools.
    pub fn toolbox(mut self, key: impl Into<Arc<str>>, toolbox: Arc<dyn ToolBox>) -> Self {
        self.toolboxes.push((key.into(), toolbox));
        self
    }

    /// Sets what the host does for its toolboxes. Default: nothing.
    pub fn services(mut self, services: Arc<dyn Services>) -> Self {
        self.services = Some(services);
        self
    }

    /// Sets the environment that configs are expanded with and servers inherit from. Default: that
    /// of the process, read once, when the host is started.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets what the host does with every call.
    pub(crate) fn with_rules(mut self, set: impl FnOnce(&mut RulesGiven)) -> Self {
        set(&mut self.rules);
        self
    }

    /// Makes the host and returns at once. Each toolbox is started by the first call that needs
    /// it, or by [`Host::settled`].
    ///
    /// # Errors
    ///
    /// `config` when a config cannot be read, when it leaves nothing that could be used, or when two
    /// toolboxes have one key; `schema_rejected` when a native tool's schema cannot be used.
    pub fn start(self) -> Result<Host> {
        let environment = self.environment.unwrap_or_else(Environment::capture);
        let services = self.services.unwrap_or_else(|| Arc::new(NoServices));
        let services = match &self.rules.secrets {
            Some(secrets) => Arc::new(Hiding {
                services,
                secrets: Arc::clone(secrets),
            }),
            None => services,
        };
        let mut config = Resolved::default();
        for part in self.configs {
            merge(&mut config, part.resolve(&environment)?)?;
        }
        let making = Making {
            environment,
            services,
        };
        let mut members: Vec<Member> = config
            .toolboxes
            .iter()
            .map(|toolbox| making.member(toolbox))
            .collect();
        for (key, toolbox) in self.toolboxes {
            refuse_known(&members, &key)?;
            let source = MemberSource::ToolBox(toolbox);
            members.push(Member::new(own(key, &config), source));
        }
        refuse_useless(&config, &members, self.tools.len())?;
        let natives = Natives {
            tools: self.tools,
            factories: self.factories,
            registry: self.registry,
            conversation: self.conversation,
        };
        if let Some(native) = natives.into_toolbox(&config)? {
            let natives = Arc::new(NativeTools::new(native));
            members.push(Member::native(own(name::NATIVE.into(), &config), natives));
        }
        set_prefixes(&mut members, &[]);
        let rules = Rules::new(self.rules, &config, &making.environment);
        let bounds = (&config.limits, config.timeouts.clone());
        Ok(Host::new(members, making, rules, bounds))
    }

    /// Makes the host, starts all its toolboxes at once and waits until each is ready or has
    /// failed, at most its `connect` and `list` limits. Must be awaited in a tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`HostBuilder::start`]; the error of the first required toolbox that failed, once the
    /// others are ended.
    pub async fn connect(self) -> Result<Host> {
        let host = self.start()?;
        if let Err(error) = host.settled().await {
            host.close().await;
            return Err(error);
        }
        Ok(host)
    }
}

impl Part {
    fn resolve(self, environment: &Environment) -> Result<Resolved> {
        match self {
            Self::Resolved(config) => Ok(*config),
            Self::File(path) => Resolved::from_file(&path, environment),
            Self::Value(value) => Resolved::from_value(&value, environment),
            Self::Server(line) => Resolved::from_server_lines(&[line]),
            Self::Url(url) => Resolved::default().with_urls::<_, &str>(&[url], &[]),
        }
    }
}

/// Adds a config to those before it.
fn merge(config: &mut Resolved, next: Resolved) -> Result<()> {
    for toolbox in next.toolboxes {
        if config
            .toolboxes
            .iter()
            .any(|known| known.key == toolbox.key)
        {
            return Err(twice(&toolbox.key));
        }
        config.toolboxes.push(toolbox);
    }
    config.tools.extend(next.tools);
    config.broken_tools.extend(next.broken_tools);
    config.warnings.extend(next.warnings);
    if next.limits != Limits::default() {
        config.limits = next.limits;
    }
    if next.timeouts != Timeouts::default() {
        config.timeouts = next.timeouts;
    }
    config.policy = match (config.policy.take(), next.policy) {
        (Some(earlier), Some(later)) => Some(earlier.and_then(later)),
        (earlier, later) => earlier.or(later),
    };
    config.repair = next.repair.or(config.repair);
    config.source = config.source.take().or(next.source);
    Ok(())
}

pub(crate) fn twice(key: &str) -> Error {
    let message = format!("there are two toolboxes called \"{key}\"");
    Error::new(ErrorKind::Config, Phase::Config, message).with_hint("give one of them another key")
}

fn refuse_known(members: &[Member], key: &str) -> Result<()> {
    if name::toolbox_prefix(key) == name::NATIVE {
        let message = format!("the key \"{key}\" is kept for native tools");
        return Err(
            Error::new(ErrorKind::Config, Phase::Config, message).with_hint("choose another key")
        );
    }
    match members.iter().any(|member| &*member.key == key) {
        true => Err(twice(key)),
        false => Ok(()),
    }
}

/// Tells toolboxes apart whose names would begin alike, whether they come up or not. The others
/// are there already and keep their names.
pub(crate) fn set_prefixes(members: &mut [Member], others: &[&Member]) {
    let all = members.iter().chain(others.iter().copied());
    let written: Vec<(&str, Option<&str>)> = all
        .map(|member| (&*member.key, member.prefix.as_deref()))
        .collect();
    let prefixes = name::prefixes(&written);
    for (member, prefix) in members.iter_mut().zip(prefixes) {
        member.set_exposed_prefix(prefix);
    }
}

/// The tool of a factory, whose panic is its own failure.
fn made(make: &Factory, spec: &ToolSpec) -> Result<Vec<ToolboxTool>> {
    let made = catch_unwind(AssertUnwindSafe(|| make(&spec.params)));
    let panicked = |_| {
        let message = "its factory panicked: this is a fault in the tool's code";
        Err(Error::new(ErrorKind::Internal, Phase::Config, message).in_tool(&spec.name))
    };
    Ok(vec![made.unwrap_or_else(panicked)?])
}

/// A config with entries of which none can be used is an error as a whole: the first one's.
pub(crate) fn refuse_useless(config: &Resolved, members: &[Member], tools: usize) -> Result<()> {
    let usable = members
        .iter()
        .any(|member| !matches!(member.source, MemberSource::Broken(_)));
    if usable || tools > 0 || !config.tools.is_empty() {
        return Ok(());
    }
    match members.iter().find_map(Member::fault) {
        Some(fault) => Err(fault),
        None => Ok(()),
    }
}

fn own(key: Arc<str>, config: &Resolved) -> MemberConfig {
    MemberConfig {
        key,
        entry: None,
        prefix: None,
        required: false,
        filter: ToolFilter::default(),
        limits: config.limits.clone(),
        timeouts: config.timeouts.clone(),
    }
}

/// What toolboxes are made with, at the start and at a reload.
pub(crate) struct Making {
    environment: Environment,
    services: Arc<dyn Services>,
}

impl Making {
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The member of an entry of the config; nothing is started yet.
    pub(crate) fn member(&self, entry: &ToolboxConfig) -> Member {
        let source = match &entry.transport {
            _ if entry.disabled => MemberSource::Disabled,
            Err(problem) => {
                MemberSource::Broken(Error::from(problem.clone()).in_toolbox(&entry.key))
            }
            Ok(transport) => {
                let services = Arc::clone(&self.services);
                match connect::toolbox(entry, transport, &self.environment, services) {
                    Ok(toolbox) => MemberSource::ToolBox(toolbox),
                    Err(error) => MemberSource::Broken(error.in_toolbox(&entry.key)),
                }
            }
        };
        Self::member_over(entry, source)
    }

    /// The member of an entry over a source that is there already.
    pub(crate) fn member_over(entry: &ToolboxConfig, source: MemberSource) -> Member {
        let config = MemberConfig {
            key: entry.key.as_str().into(),
            entry: Some(entry.clone()),
            prefix: entry.prefix.clone(),
            required: entry.required,
            filter: entry.filter.clone(),
            limits: entry.limits.clone(),
            timeouts: entry.timeouts.clone(),
        };
        Member::new(config, source)
    }
}

/// The native tools of a host: those given, and those that the config asks for by name.
struct Natives {
    tools: Vec<Result<ToolboxTool>>,
    factories: Vec<(String, Factory)>,
    registry: ToolRegistry,
    conversation: ConversationState,
}

impl Natives {
    /// # Errors
    ///
    /// `schema_rejected` when a tool that was given has an unusable schema: a fault of the
    /// program. What the config asks for in vain is a broken tool instead.
    fn into_toolbox(mut self, config: &Resolved) -> Result<Option<NativeToolBox>> {
        let given = std::mem::take(&mut self.tools);
        let mut tools = given.into_iter().collect::<Result<Vec<_>>>()?;
        let mut broken = Vec::new();
        let factory = |spec: &ToolSpec| self.factories.iter().find(|(name, _)| *name == spec.name);
        let registered: Vec<ToolSpec> = config
            .tools
            .iter()
            .filter(|spec| factory(spec).is_none() && self.registry.find(&spec.name).is_some())
            .cloned()
            .collect();
        let limit = config.timeouts.connect;
        let resolved = self
            .registry
            .resolve_all(&registered, &self.conversation, limit);
        let mut resolved = resolved.into_iter();
        for spec in &config.tools {
            let made = match factory(spec) {
                Some((_, make)) => made(make, spec),
                None if self.registry.find(&spec.name).is_some() => {
                    resolved.next().unwrap_or_else(|| Ok(Vec::new()))
                }
                None => {
                    broken.push(BrokenTool::new(&spec.name, self.unknown(&spec.name)));
                    continue;
                }
            };
            match made {
                Ok(made) => tools.extend(made),
                Err(error) => broken.push(BrokenTool::new(&spec.name, error.to_string())),
            }
        }
        let unreadable = config
            .broken_tools
            .iter()
            .map(|problem| BrokenTool::new(&problem.key_path, problem.statement()));
        broken.extend(unreadable);
        if tools.is_empty() && broken.is_empty() {
            return Ok(None);
        }
        Ok(Some(NativeToolBox::new(tools).with_broken(broken)))
    }
    /// Why there is no tool of a name that the config asks for.
    fn unknown(&self, wanted: &str) -> String {
        let made = self.factories.iter().map(|(name, _)| name.as_str());
        let known: Vec<&str> = made.chain(self.registry.list_registered()).collect();
        let near = name::nearest(wanted, known, 3);
        match near.is_empty() {
            true => "this program has no native tool of this name".to_owned(),
            false => format!("there is no such tool; near: {}", near.join(", ")),
        }
    }
}
