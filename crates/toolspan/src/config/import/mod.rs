//! Taking over the servers that another program has in its config.
//!
//! [`Import::read`] finds and reads the config of an [`App`] and turns its entries into ours;
//! [`Import::from_text`] does the same with a text and touches nothing. [`Import::plan`] lays the
//! result beside an existing config, whose comments and entries stay as they are, and
//! [`Plan::write`] puts the whole in its place in one step.
//!
//! ```
//! use std::path::Path;
//! use toolspan::config::Environment;
//! use toolspan::config::import::{App, Import};
//!
//! let text = r#"{"mcpServers": {"time": {"command": "uvx", "timeout": 30000}}}"#;
//! let environment = Environment::default();
//! let import = Import::from_text(App::Gemini, text, Path::new("settings.json"), &environment)?;
//! assert_eq!(import.servers["time"]["timeout"], 30);
//! # Ok::<(), toolspan::Error>(())
//! ```

mod app;
mod claude_code;
mod codex;
mod document;
mod entry;
mod found;
mod merge;
mod note;
mod plan;
mod read;
mod secrets;
mod variables;
mod write;

pub use app::{App, Platform};
pub use note::Note;
pub use plan::{Change, ChangeState, Plan, target};
pub use read::Import;
