//! What does a registry know of a tool before it is made?

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::definition::ToolDefinition;
use crate::guard::Redactor;
use crate::guard::outcome::Phase;
use crate::guard::secret::names_a_secret;
use crate::tool::{
    ConversationState, IntoTools, Tool, ToolExecutor, ToolFactory, ToolFailure, native,
    type_identifier,
};
use crate::toolbox::ToolboxTool;
use crate::{Error, ErrorKind, Result};

/// A name and how its tools come to be: an instance, a type or a function that makes them.
#[derive(Clone)]
#[must_use = "a registry has to be given it"]
pub struct Registration {
    pub(super) name: String,
    pub(super) class_name: Option<String>,
    pub(super) aliases: Vec<String>,
    source: Source,
    usable: Option<Check>,
}

type Check = Arc<dyn Fn() -> bool + Send + Sync>;
type Make =
    Arc<dyn Fn(Map<String, Value>, &ConversationState) -> Result<Vec<ToolboxTool>> + Send + Sync>;

#[derive(Clone)]
enum Source {
    Instance(ToolboxTool),
    Factory(Make),
}

impl Registration {
    /// A tool that is there already, under its own name: every spec gets this one, and may give no
    /// parameters.
    pub fn instance(tool: ToolboxTool) -> Self {
        let name = tool.definition.name.clone();
        Self::new(name, Source::Instance(tool))
    }

    /// A typed tool that is there already, as [`instance`](Self::instance).
    ///
    /// # Errors
    ///
    /// `schema_rejected` when the schema of its action or result cannot be used.
    pub fn tool<T: Tool>(tool: T) -> Result<Self> {
        let mut registration = Self::instance(native(tool)?);
        // A closure's type has a name that is none of its author's.
        let class = type_identifier::<T>();
        registration.class_name = (class != "ToolFn").then(|| class.to_owned());
        Ok(registration)
    }

    /// An instance of which it is known only now whether it can be executed, as
    /// [`instance`](Self::instance).
    ///
    /// # Errors
    ///
    /// `usage` without an executor.
    pub fn of_parts(
        definition: Arc<ToolDefinition>,
        executor: Option<Arc<dyn ToolExecutor>>,
    ) -> Result<Self> {
        match executor {
            Some(executor) => Ok(Self::instance(ToolboxTool::new(definition, executor))),
            None => {
                let message = format!("the tool {:?} has no executor", definition.name);
                let hint = "give it one, or declare it as a tool that the client executes";
                Err(usage(message).in_tool(&definition.name).with_hint(hint))
            }
        }
    }

    /// A type that makes the tools, with its own check of whether they are usable.
    pub fn of_type<F: ToolFactory>() -> Self {
        let mut registration = Self::factory(F::registered_name(), F::create);
        registration.class_name = Some(type_identifier::<F>().to_owned());
        registration.usable_if(F::is_usable)
    }

    /// A function that makes the tools: it is given the spec's `params`, read into its own type,
    /// and the conversation; it gives one tool or several.
    pub fn factory<P, T, F>(name: impl Into<String>, create: F) -> Self
    where
        P: DeserializeOwned,
        T: IntoTools,
        F: Fn(P, &ConversationState) -> Result<T, ToolFailure> + Send + Sync + 'static,
    {
        let make: Make = Arc::new(move |params, conversation| {
            let params = serde_json::from_value(Value::Object(params))
                .map_err(|error| config(format!("its params cannot be used: {error}")))?;
            let tools = create(params, conversation)
                .map_err(|failure| config(format!("it cannot be made: {}", failure.message)))?;
            tools.into_tools()
        });
        Self::new(name.into(), Source::Factory(make))
    }

    fn new(name: String, source: Source) -> Self {
        Self {
            name,
            class_name: None,
            aliases: Vec::new(),
            source,
            usable: None,
        }
    }

    /// Sets the name that specs use. The tools keep their own.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the name of the class, by which specs may ask for it, too.
    pub fn with_class_name(mut self, name: impl Into<String>) -> Self {
        self.class_name = Some(name.into());
        self
    }

    /// Adds another name that specs may use.
    pub fn with_alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into());
        self
    }

    /// Sets whether the tools can be used here at all, asked anew each time. A panic means no.
    pub fn usable_if(mut self, check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.usable = Some(Arc::new(check));
        self
    }

    /// The name that specs use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the tools can be used here, as their check says; without one they can.
    pub fn is_usable(&self) -> bool {
        let check = |check: &Check| catch_unwind(AssertUnwindSafe(|| check())).unwrap_or(false);
        self.usable.as_ref().is_none_or(check)
    }

    /// The tools, made with these parameters.
    ///
    /// # Errors
    ///
    /// `config` when the parameters do not fit or nothing is made, `internal` when the factory
    /// panics, and whatever [`IntoTools`] gives. No error shows a parameter whose name looks secret.
    pub(super) fn make(
        &self,
        params: Map<String, Value>,
        conversation: &ConversationState,
    ) -> Result<Vec<ToolboxTool>> {
        let make = match &self.source {
            Source::Instance(tool) if params.is_empty() => return Ok(vec![tool.clone()]),
            Source::Instance(_) => {
                let message = "it is registered as it is, and takes no params";
                return Err(config(message.to_owned()).with_hint("leave its params out"));
            }
            Source::Factory(make) => make,
        };
        let params = Value::Object(params);
        let redactor = Redactor::new(secrets_in(&params));
        let Value::Object(params) = params else {
            return Err(config("its params are not an object".to_owned()));
        };
        let made = catch_unwind(AssertUnwindSafe(|| make(params, conversation)));
        let tools = made
            .unwrap_or_else(|panic| Err(panicked(&*panic)))
            .map_err(|error| error.redacted(&redactor))?;
        match tools.is_empty() {
            true => Err(config("its factory made no tool".to_owned())),
            false => Ok(tools),
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.source {
            Source::Instance(_) => "instance",
            Source::Factory(_) => "factory",
        };
        formatter
            .debug_struct("Registration")
            .field("name", &self.name)
            .field("class_name", &self.class_name)
            .field("aliases", &self.aliases)
            .field("source", &source)
            .finish_non_exhaustive()
    }
}

/// The texts among the parameters that stand under a name that looks secret, at any depth.
fn secrets_in(params: &Value) -> Vec<&str> {
    let mut secrets = Vec::new();
    let mut open = vec![(params, false)];
    while let Some((value, is_secret)) = open.pop() {
        match value {
            Value::String(text) if is_secret => secrets.push(text.as_str()),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, is_secret))),
            Value::Object(members) => open.extend(
                members
                    .iter()
                    .map(|(name, value)| (value, is_secret || names_a_secret(name))),
            ),
            _ => {}
        }
    }
    secrets
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!(
        "its factory panicked: {}",
        words.unwrap_or("without a message")
    );
    Error::new(ErrorKind::Internal, Phase::Config, message)
        .with_hint("this is a fault in the tool's code; other tools are not affected")
}

pub(super) fn usage(message: String) -> Error {
    Error::new(ErrorKind::Usage, Phase::Config, message)
}

pub(super) fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, Phase::Config, message)
}
