//! From a toolbox of the config to a toolbox that can be started.

use std::sync::Arc;

use toolspan_core::guard::Redactor;
use toolspan_core::{Error, ErrorKind, Phase, Result, Services, ToolBox};
use toolspan_io::process::Launch;
use toolspan_mcp::{McpServer, McpToolBox};

use crate::config::{Environment, StdioServer, ToolboxConfig, Transport};

/// A toolbox for an entry of the config; nothing is started yet.
///
/// # Errors
///
/// `config` when what the entry names cannot be used.
pub(crate) fn toolbox(
    config: &ToolboxConfig,
    transport: &Transport,
    environment: &Environment,
    services: Arc<dyn Services>,
) -> Result<Arc<dyn ToolBox>> {
    let (transport, secrets) = match transport {
        Transport::Stdio(server) => {
            let launch = Arc::new(launch(server, config, environment));
            (toolspan_mcp::Transport::Stdio(launch), &server.secrets)
        }
        Transport::Remote(_) => {
            let message = "remote servers are not supported by this version";
            return Err(Error::new(ErrorKind::Config, Phase::Config, message));
        }
    };
    let secrets = secrets.iter().map(|secret| secret.reveal());
    let server = McpServer::new(config.key.as_str(), transport)
        .with_bounds(config.limits.clone(), config.timeouts.clone())
        .with_redactor(Redactor::new(secrets))
        .with_services(services);
    Ok(Arc::new(McpToolBox::new(server)))
}

fn launch(server: &StdioServer, config: &ToolboxConfig, environment: &Environment) -> Launch {
    let launch = Launch::new(server.command.as_str())
        .with_args(server.args.iter().map(String::as_str))
        .with_env(
            server
                .env
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        )
        .with_inherit(server.inherit_env.clone())
        .with_parent_env(Arc::clone(environment.variables()))
        .with_stderr_bytes(config.limits.stderr_bytes);
    match &server.cwd {
        Some(cwd) => launch.with_cwd(cwd),
        None => launch,
    }
}
