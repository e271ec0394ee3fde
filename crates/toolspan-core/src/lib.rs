//! What a tool is: names, definitions, schemas, actions, observations and how a call runs.
//!
//! This crate opens no socket, file or process, reads no environment variable and prints nothing.
//! It does not know the Model Context Protocol either: a toolbox crate turns its wire into the
//! types here. Data flows one way through the modules:
//!
//! [`definition`] and [`schema`] say what a tool takes; [`registry`] puts tools in an immutable
//! [`Snapshot`]; [`call`] turns a request into a [`ValidCall`]; [`execute`] runs it and gives an
//! [`Observation`]; [`llm`] writes the form a model API takes.

pub mod annotations;
pub mod call;
pub mod definition;
pub mod error;
pub mod execute;
pub mod guard;
pub mod llm;
pub mod name;
pub mod observation;
pub mod policy;
pub mod registry;
pub mod schema;
pub mod search;
pub mod services;
pub mod tool;
pub mod toolbox;
pub mod visual;

pub use annotations::ToolAnnotations;
pub use call::{CallRequest, Injection, Preparing, Repair, RepairKind, ValidCall};
pub use definition::ToolDefinition;
pub use error::{Error, ErrorKind, Result};
pub use execute::{CallOptions, Context, Progress};
pub use guard::outcome::{Outcome, Phase};
pub use observation::{Content, Observation};
pub use registry::{RegisteredTool, Snapshot};
pub use services::Services;
pub use tool::{Action, Tool, ToolExecutor, ToolFailure};
pub use toolbox::{BrokenTool, Discovery, ToolBox, ToolboxTool};
pub use visual::{Style, Styled};

/// A boxed future that may be sent to another thread.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
