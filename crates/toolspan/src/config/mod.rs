//! The config: which toolboxes and tools a host has, and within which bounds.
//!
//! [`find`] says which file is meant, [`Resolved::from_file`] reads it. One wrong entry disables
//! its own toolbox and says why ([`ToolboxConfig::transport`]); only a file that means nothing as a
//! whole is an error. Everything that is wrong or odd is a [`Problem`] with file, line and key path.
//!
//! The environment is read once, by [`Environment::capture`], and passed on from there.
//!
//! ```jsonc
//! {
//!   "mcpServers": {
//!     "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "${TZ:-UTC}"}},
//!     "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
//!               "cwd": "..", "timeouts": {"total": 120}, "tools": {"exclude": ["write_*"]}}
//!   },
//!   "limits": {"output_chars": 30000}
//! }
//! ```

mod bounds;
mod dialect;
mod dotenv;
mod environment;
mod expand;
mod field;
mod file;
mod filter;
pub mod import;
mod inputs;
mod keys;
mod lookup;
mod pins;
mod policy;
mod problem;
mod remote;
mod resolved;
mod schema;
mod secrets;
mod selection;
mod server_line;
mod shape;
mod show;
mod source;
mod stdio;
mod stricter;
mod surroundings;
mod toolbox;
mod trust;
mod url_line;

pub use environment::Environment;
pub use filter::ToolFilter;
pub use inputs::{AskInput, Input, InputOption};
pub use lookup::{Found, Origin, PROJECT_FILES, find};
pub use policy::PolicyConfig;
pub use problem::Problem;
pub use remote::{ProxyChoice, RemoteConfig, RemoteKind, TlsFiles};
pub use resolved::Resolved;
pub use schema::schema;
pub use shape::ShapeConfig;
pub(crate) use shape::shaping;
pub use stdio::StdioServer;
pub use toolbox::{ToolboxConfig, Transport};
pub use toolspan_core::registry::ToolSpec;
pub use toolspan_io::process::InheritEnv;
pub use trust::{Change, ConfigFile, Line, Standing, TrustStore, View};
