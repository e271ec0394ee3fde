//! From a toolbox of the config to a toolbox that can be started.

use std::sync::Arc;

use toolspan_core::guard::Redactor;
use toolspan_core::{Services, ToolBox};
use toolspan_io::process::Launch;
use toolspan_mcp::{McpServer, McpToolBox};

use crate::config::{Environment, StdioServer, ToolboxConfig, Transport};

/// A toolbox for an entry of the config; nothing is started yet.
pub(crate) fn toolbox(
    config: &ToolboxConfig,
    transport: &Transport,
    environment: &Environment,
    services: Arc<dyn Services>,
) -> Arc<dyn ToolBox> {
    match transport {
        Transport::Stdio(server) => {
            let transport =
                toolspan_mcp::Transport::Stdio(Arc::new(launch(server, config, environment)));
            let secrets = server.secrets.iter().map(|secret| secret.reveal());
            let server = McpServer::new(config.key.as_str(), transport)
                .with_bounds(config.limits.clone(), config.timeouts.clone())
                .with_redactor(Redactor::new(secrets))
                .with_services(services);
            Arc::new(McpToolBox::new(server))
        }
    }
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
