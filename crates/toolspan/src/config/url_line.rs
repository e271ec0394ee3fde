//! Which toolbox does a URL on the command line mean?

use toolspan_core::guard::Secret;
use toolspan_core::name::{NATIVE, toolbox_prefix};
use toolspan_core::{Error, ErrorKind, Phase, Result};
use url::{Host, Url};

use super::problem::Problem;
use super::remote::address::{self, AddressFault, PLAIN_HTTP, USE_HTTPS};
use super::remote::{RemoteConfig, headers};

/// Longest key made from a URL, in characters.
const LONGEST_KEY: usize = 40;
/// Longest part of a path that may be a name, in bytes. Longer ones are often secrets.
const LONGEST_PART: usize = 24;
/// Parts of hosts and paths that say nothing but that a server is there.
const COMMON: &[&str] = &[
    "api", "http", "mcp", "message", "messages", "server", "sse", "stream", "www",
];

/// A server for a URL, with headers for each of its requests.
pub(super) fn server(text: &str, headers: &[(String, Secret)]) -> Result<RemoteConfig> {
    let url = address::parse(text).map_err(|fault| {
        let error = usage(format!("--url: {fault}"));
        match (&fault, fault.hint()) {
            (AddressFault::UserInfo, _) => error.with_hint("give it with --header"),
            (_, Some(hint)) => error.with_hint(hint),
            (_, None) => error,
        }
    })?;
    Ok(RemoteConfig::new(url).with_headers(headers.to_vec()))
}

/// `Name: value`, as it is written in a request.
pub(super) fn header(text: &str) -> Result<(String, Secret)> {
    const HINT: &str = "write it as in --header \"Authorization: Bearer TOKEN\"";
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| usage("a --header has no colon behind its name").with_hint(HINT))?;
    let name = headers::checked_name(name.trim())
        .map_err(|fault| usage(format!("--header: {}", fault.message)).with_hint(fault.hint))?;
    let value = value.trim();
    headers::check_value(value).map_err(|message| usage(format!("--header: {message}")))?;
    Ok((name, Secret::new(value)))
}

/// Refuses headers without a URL, and for servers of which each would see what is for the others.
pub(super) fn check_headers(headers: &[(String, Secret)], servers: &[RemoteConfig]) -> Result<()> {
    if headers.is_empty() {
        return Ok(());
    }
    let Some((first, others)) = servers.split_first() else {
        return Err(usage(
            "a --header is for the servers of --url, and there is none",
        ));
    };
    let is_elsewhere = |server: &RemoteConfig| server.url.origin() != first.url.origin();
    if others.iter().any(is_elsewhere) {
        return Err(usage(
            "a --header would be sent to each --url, and they are different servers",
        )
        .with_hint("put the servers into a config, each with its own \"headers\""));
    }
    Ok(())
}

/// What is odd about a server of the command line.
pub(super) fn warning(server: &RemoteConfig) -> Option<Problem> {
    let is_open = address::is_open_to_all(&server.url);
    is_open.then(|| Problem::new(format!("--url: {PLAIN_HTTP}")).with_hint(USE_HTTPS))
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, Phase::Config, message.into())
}

/// A toolbox's key from its URL: the last part of the path that says something, else the host.
pub(super) fn name(url: &Url) -> String {
    let mut path = url.path_segments().into_iter().flatten();
    let part = path.rfind(|part| is_name(part));
    let name = part.map_or_else(|| host(url), str::to_owned);
    let name: String = toolbox_prefix(&name).chars().take(LONGEST_KEY).collect();
    match name.trim_matches(['_', '-']) {
        "" => "server".to_owned(),
        NATIVE => format!("{NATIVE}-server"),
        name => name.to_owned(),
    }
}

/// Whether a part of a path may be shown in names. Letters in capitals and digits are what keys and
/// ids are made of.
fn is_name(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_';
    (2..=LONGEST_PART).contains(&part.len())
        && part.bytes().all(is_plain)
        && !COMMON.contains(&part)
}

/// `mcp.example.com` gives `example`; a name that is one word or an address stays whole.
fn host(url: &Url) -> String {
    let Some(Host::Domain(domain)) = url.host() else {
        let address = url.host_str().unwrap_or_default();
        return address.replace(['.', ':'], "-").replace(['[', ']'], "");
    };
    let mut labels: Vec<&str> = domain.trim_end_matches('.').split('.').collect();
    if labels.len() > 1 {
        labels.pop();
    }
    if labels.iter().any(|label| !COMMON.contains(label)) {
        labels.retain(|label| !COMMON.contains(label));
    }
    labels.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_its_toolbox() {
        for (url, wanted) in [
            ("https://mcp.notion.com/mcp", "notion"),
            ("https://api.githubcopilot.com/mcp/", "githubcopilot"),
            ("https://example.com/weather/mcp", "weather"),
            (
                "https://developer.example.com/mcp/spread-sheets",
                "spread-sheets",
            ),
            ("https://docs.mcp.example.com/sse", "docs-example"),
            ("http://localhost:8080/mcp", "localhost"),
            ("http://127.0.0.1:8080/sse", "127-0-0-1"),
            ("http://[::1]:8080/", "1"),
            ("http://mcp:8080/mcp", "mcp"),
            ("https://native.com", "native-server"),
            // Nothing that looks like a key or an id ends up in a name.
            ("https://hooks.example.com/s/Zx81kQ/mcp", "hooks-example"),
            (
                "https://example.com/s/abcdefghijklmnopqrstuvwxyzabcdef",
                "example",
            ),
        ] {
            let url = address::parse(url).expect("a URL");
            assert_eq!(name(&url), wanted, "{url}");
        }
    }
}
