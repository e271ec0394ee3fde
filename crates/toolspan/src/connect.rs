//! From a toolbox of the config to a toolbox that can be started.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use toolspan_core::guard::{Redactor, Secret, sanitise};
use toolspan_core::{Error, ErrorKind, Phase, Result, Services, ToolBox};
use toolspan_io::http::{HttpClient, HttpSettings, Proxies, TlsSettings};
use toolspan_io::process::Launch;
use toolspan_mcp::transport::RemoteServer;
use toolspan_mcp::{McpServer, McpToolBox};

use crate::config::{
    Environment, ProxyChoice, RemoteConfig, StdioServer, TlsFiles, ToolboxConfig, Transport,
};

/// Largest PEM file, in bytes: 1 MiB. A bundle of every public authority has a quarter of it.
const LARGEST_PEM: u64 = 1 << 20;

/// A toolbox for an entry of the config; nothing is started yet.
///
/// # Errors
///
/// `config` when what the entry names beside the server cannot be used: files of certificates, a
/// proxy of the environment.
pub(crate) fn toolbox(
    config: &ToolboxConfig,
    transport: &Transport,
    environment: &Environment,
    services: Arc<dyn Services>,
) -> Result<Arc<dyn ToolBox>> {
    let (transport, redactor, credentials) = match transport {
        Transport::Stdio(server) => {
            let launch = Arc::new(launch(server, config, environment));
            let transport = toolspan_mcp::Transport::Stdio(launch);
            (transport, redactor(&server.secrets), Redactor::default())
        }
        Transport::Remote(server) => {
            let remote = Arc::new(remote(server, environment)?);
            let transport = toolspan_mcp::Transport::Remote(remote);
            let hidden = redactor(&server.secrets).hiding_urls();
            (transport, hidden, redactor(&server.credentials()))
        }
    };
    let server = McpServer::new(config.key.as_str(), transport)
        .with_bounds(config.limits.clone(), config.timeouts.clone())
        .with_redactor(redactor)
        .with_credentials(credentials)
        .with_services(services);
    Ok(Arc::new(McpToolBox::new(server)))
}

fn redactor(secrets: &[Secret]) -> Redactor {
    Redactor::new(secrets.iter().map(Secret::reveal))
}

fn remote(server: &RemoteConfig, environment: &Environment) -> Result<RemoteServer> {
    let settings = HttpSettings::new(server.url.clone())
        .with_tls(tls(&server.tls, environment)?)
        .with_proxies(proxies(server, environment)?);
    let client = HttpClient::new(settings).map_err(|error| unusable(&error.to_string()))?;
    Ok(RemoteServer::new(server.url.clone(), client)
        .with_kind(server.kind)
        .with_headers(headers(server)?))
}

/// The headers of each request, the token among them.
fn headers(server: &RemoteConfig) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in &server.headers {
        let (Ok(header), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value.reveal()),
        ) else {
            let name = sanitise::one_line(name, 60);
            return Err(unusable(&format!("the header {name:?} cannot be sent")));
        };
        headers.insert(header, value);
    }
    if let Some(token) = &server.auth {
        let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
            .map_err(|_| unusable("the token of \"auth\" cannot be sent in a header"))?;
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

fn tls(files: &TlsFiles, environment: &Environment) -> Result<TlsSettings> {
    let mut settings = TlsSettings::default().with_insecure(files.insecure);
    if let Some(ca) = &files.ca {
        settings = settings.with_ca(pem("tls.ca", ca, environment)?);
    }
    if let Some(cert) = &files.cert {
        let mut identity = pem("tls.cert", cert, environment)?;
        if let Some(key) = &files.key {
            identity.push(b'\n');
            identity.extend(pem("tls.key", key, environment)?);
        }
        settings = settings.with_identity(identity);
    }
    Ok(settings)
}

/// The bytes of a file of at most [`LARGEST_PEM`]. What is no regular file is not opened.
fn pem(key: &str, path: &Path, environment: &Environment) -> Result<Vec<u8>> {
    let failed = |reason: &str| {
        let path = sanitise::one_line(&path.to_string_lossy(), 200);
        unusable(&format!("{key}: {path}: {reason}"))
    };
    let path = environment.absolute(path);
    let io = |error: std::io::Error| failed(&format!("the file cannot be read: {error}"));
    if !std::fs::metadata(&path).map_err(io)?.is_file() {
        return Err(failed("this is no regular file"));
    }
    let file = std::fs::File::open(&path).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_PEM + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > LARGEST_PEM {
        return Err(failed("the file is larger than 1 MiB"));
    }
    Ok(bytes)
}

fn proxies(server: &RemoteConfig, environment: &Environment) -> Result<Proxies> {
    match &server.proxy {
        ProxyChoice::Direct => Ok(Proxies::none()),
        ProxyChoice::Url(url) => {
            let proxies = Proxies::one("proxy", url.reveal());
            proxies.map_err(|error| unusable(&error.to_string()))
        }
        // No proxy is ever asked for it, so a variable that cannot be used must not stop it.
        ProxyChoice::Environment if Proxies::never_for(&server.url) => Ok(Proxies::none()),
        ProxyChoice::Environment => {
            let variables = environment.variables().iter();
            let texts =
                variables.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
            Proxies::from_variables(texts).map_err(|error| {
                let hint = format!(
                    "correct or unset {}, or set \"proxy\": false for this server",
                    error.name
                );
                unusable(&error.to_string()).with_hint(hint)
            })
        }
    }
}

fn unusable(message: &str) -> Error {
    Error::new(ErrorKind::Config, Phase::Config, message)
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
