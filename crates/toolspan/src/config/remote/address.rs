//! Which URLs does a config take for a server, and which of them show what is sent to everybody?

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;
use url::{Host, Url};

use crate::config::problem::quoted;
use crate::config::secrets::Collected;

/// Longest URL, in bytes.
const LONGEST: usize = 8_192;
/// The host names of networks that are not the internet (RFC 6761, RFC 6762, and `.internal`, which
/// ICANN keeps for this).
const PRIVATE_ENDINGS: &[&str] = &[".localhost", ".local", ".internal", ".lan", ".home.arpa"];

/// What is said about a server for which [`is_open_to_all`] holds.
pub(in crate::config) const PLAIN_HTTP: &str =
    "plain http over the internet: whoever is in between can read everything, secrets included";
/// What to do about it.
pub(in crate::config) const USE_HTTPS: &str = "use https";

/// Why a text cannot be a server's URL. The words show nothing of the text but its scheme.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(in crate::config) enum AddressFault {
    #[error("the URL is empty")]
    Empty,
    #[error("the URL is longer than {LONGEST} bytes")]
    TooLong,
    #[error("there is a space or a control character in the URL")]
    Blank,
    #[error("this is not a URL")]
    NotAUrl,
    #[error("this is not a URL: {0}")]
    Malformed(url::ParseError),
    #[error("servers are reached over http and https, not {}", quoted(.0))]
    Scheme(String),
    #[error("there is a user name or a password in the URL, where it would be shown")]
    UserInfo,
}

impl AddressFault {
    /// What to do about it.
    pub(in crate::config) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Empty => Some("write it as in https://example.com/mcp"),
            Self::NotAUrl => {
                Some("begin it with http:// or https://, as in https://example.com/mcp")
            }
            Self::UserInfo => Some("put it into \"headers\": {\"Authorization\": \"…\"}"),
            Self::TooLong | Self::Blank | Self::Malformed(_) | Self::Scheme(_) => None,
        }
    }
}

/// The URL of a server: http or https, with a host, without user and password. A fragment is left
/// out, since it is not sent (RFC 9110, section 4.2.5).
pub(in crate::config) fn parse(text: &str) -> Result<Url, AddressFault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(AddressFault::Empty);
    }
    if text.len() > LONGEST {
        return Err(AddressFault::TooLong);
    }
    if text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        return Err(AddressFault::Blank);
    }
    let mut url = Url::parse(text).map_err(|error| match text.contains("://") {
        true => AddressFault::Malformed(error),
        false => AddressFault::NotAUrl,
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        // `localhost:8080/mcp` has a scheme of its own, too.
        return Err(match text.contains("://") {
            true => AddressFault::Scheme(url.scheme().to_owned()),
            false => AddressFault::NotAUrl,
        });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressFault::UserInfo);
    }
    url.set_fragment(None);
    Ok(url)
}

/// Adds the values of query keys whose names say that they are secret, as they are written and as
/// they are meant.
pub(in crate::config) fn add_secrets(url: &Url, secrets: &mut Collected) {
    secrets.add_query(url.query().unwrap_or_default());
}

/// Whether what is sent there goes over the internet for all to read: plain http to an address, or
/// a name that looks like one, outside private networks.
pub(in crate::config) fn is_open_to_all(url: &Url) -> bool {
    url.scheme() == "http"
        && match url.host() {
            Some(Host::Ipv4(address)) => !is_private_v4(address),
            Some(Host::Ipv6(address)) => !is_private_v6(address),
            Some(Host::Domain(name)) => !is_private_name(name),
            None => false,
        }
}

fn is_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    // A name of one label is one of a local network: `localhost`, a container.
    !name.contains('.') || PRIVATE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    // 100.64.0.0/10 is shared behind carriers (RFC 6598), and used by private overlays.
    let is_shared = first == 100 && (64..128).contains(&second);
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || is_shared
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    match IpAddr::V6(address).to_canonical() {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_http_urls_without_users_are_taken() {
        for (text, wanted) in [
            ("https://example.com/mcp", "https://example.com/mcp"),
            (" HTTPS://Example.com ", "https://example.com/"),
            ("http://0x7f.1:80/a?b=c#d", "http://127.0.0.1/a?b=c"),
        ] {
            assert_eq!(
                parse(text).map(String::from),
                Ok(wanted.to_owned()),
                "{text}"
            );
        }
        for (text, wanted) in [
            ("", AddressFault::Empty),
            ("example.com/mcp", AddressFault::NotAUrl),
            ("localhost:8080/mcp", AddressFault::NotAUrl),
            ("/mcp", AddressFault::NotAUrl),
            (
                "https://",
                AddressFault::Malformed(url::ParseError::EmptyHost),
            ),
            (
                "https://example.com:99999/",
                AddressFault::Malformed(url::ParseError::InvalidPort),
            ),
            ("ws://example.com", AddressFault::Scheme("ws".into())),
            ("unix:///run/mcp.sock", AddressFault::Scheme("unix".into())),
            ("https://me@example.com", AddressFault::UserInfo),
            ("https://:pw@example.com", AddressFault::UserInfo),
            ("http://127.0.0.1@evil.test/", AddressFault::UserInfo),
            ("https://exam ple.com", AddressFault::Blank),
            ("https://example.com/\u{7f}", AddressFault::Blank),
        ] {
            assert_eq!(parse(text), Err(wanted), "{text}");
        }
        let long = format!("https://example.com/{}", "a".repeat(LONGEST));
        assert_eq!(parse(&long), Err(AddressFault::TooLong));
    }

    #[test]
    fn plain_http_is_open_to_all_outside_private_networks() {
        let is_open = |text| is_open_to_all(&parse(text).expect("a URL"));
        for private in [
            "http://localhost:1",
            "http://127.9.9.9",
            "http://2130706433",
            "http://10.0.0.5",
            "http://192.168.1.1",
            "http://172.16.0.1",
            "http://169.254.1.1",
            "http://100.64.0.1",
            "http://[::1]",
            "http://[fd00::1]",
            "http://[fe80::1]",
            "http://[::ffff:127.0.0.1]",
            "http://mcp:8080",
            "http://printer.local",
            "http://host.docker.internal",
            "http://a.localhost.",
            "https://example.com",
        ] {
            assert!(!is_open(private), "{private}");
        }
        for open in [
            "http://example.com",
            "http://8.8.8.8",
            "http://[2606:4700::1]",
            "http://127.0.0.1.evil.test",
            "http://localhost.evil.test",
            "http://100.128.0.1",
        ] {
            assert!(is_open(open), "{open}");
        }
    }

    #[test]
    fn secret_query_values_are_collected_as_written_and_as_meant() {
        let url = parse("https://example.com/?page=2&api_key=a%2Fb&sig=c+d&x").expect("a URL");
        let mut secrets = Collected::default();
        add_secrets(&url, &mut secrets);
        let secrets = secrets.finish();
        let known: Vec<&str> = secrets.iter().map(|secret| secret.reveal()).collect();
        assert_eq!(known, ["a/b", "c d", "a%2Fb", "c+d"]);
    }
}
