//! Which hosts are asked without a proxy?

use std::net::IpAddr;

use url::{Host, Url};

/// Most entries of `NO_PROXY`.
const ENTRIES: usize = 1000;

/// The entries of `NO_PROXY`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bypass(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// `*`
    All,
    /// A domain with all below it, and a port where one is given.
    Domain(String, Option<u16>),
    /// A network, and a port where one is given: an address has the longest prefix.
    Network(IpAddr, u32, Option<u16>),
}

impl Bypass {
    /// Reads entries separated by commas or blanks: `*`, a domain (a dot or `*.` before it changes
    /// nothing), an address, a network such as `10.0.0.0/8`; a domain or an address with `:port`.
    /// The error says what is wrong with which entry.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let entries: Vec<&str> = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|entry| !entry.is_empty())
            .take(ENTRIES + 1)
            .collect();
        if entries.len() > ENTRIES {
            return Err(format!("it has more than {ENTRIES} entries"));
        }
        entries
            .into_iter()
            .map(entry)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether a URL is asked without a proxy. Loopback always is.
    pub(super) fn covers(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        match url.host() {
            None => true,
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                is_below(&name, "localhost") || self.0.iter().any(|e| e.covers_name(&name, port))
            }
            Some(Host::Ipv4(address)) => self.covers_address(address.into(), port),
            Some(Host::Ipv6(address)) => self.covers_address(address.to_canonical(), port),
        }
    }

    fn covers_address(&self, address: IpAddr, port: Option<u16>) -> bool {
        address.is_loopback() || self.0.iter().any(|e| e.covers_address(address, port))
    }
}

impl Entry {
    fn covers_name(&self, name: &str, port: Option<u16>) -> bool {
        match self {
            Self::All => true,
            Self::Domain(domain, on) => is_below(name, domain) && fits(*on, port),
            Self::Network(..) => false,
        }
    }

    fn covers_address(&self, address: IpAddr, port: Option<u16>) -> bool {
        match self {
            Self::All => true,
            Self::Domain(..) => false,
            Self::Network(network, length, on) => {
                is_within(address, *network, *length) && fits(*on, port)
            }
        }
    }
}

fn entry(text: &str) -> Result<Entry, String> {
    if text == "*" {
        return Ok(Entry::All);
    }
    if let Some((network, length)) = text.split_once('/') {
        let network: Option<IpAddr> = bare(network).parse().ok();
        let length: Option<u32> = length.parse().ok();
        return match (network, length) {
            (Some(network), Some(length)) if length <= longest(network) => {
                Ok(Entry::Network(network, length, None))
            }
            _ => Err(format!("{text:?} is not a network such as 10.0.0.0/8")),
        };
    }
    if let Ok(address) = bare(text).parse::<IpAddr>() {
        return Ok(Entry::Network(address, longest(address), None));
    }
    let (host, port) = match text.rsplit_once(':') {
        None => (text, None),
        Some((host, port)) => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => return Err(format!("{text:?} has no readable port")),
        },
    };
    if let Ok(address) = bare(host).parse::<IpAddr>() {
        return Ok(Entry::Network(address, longest(address), port));
    }
    let domain = host.strip_prefix('*').unwrap_or(host);
    let domain = domain.trim_matches('.').to_ascii_lowercase();
    if domain.is_empty() || domain.contains(['*', '@', ':']) {
        return Err(format!("{text:?} is neither a domain nor an address"));
    }
    Ok(Entry::Domain(domain, port))
}

fn bare(address: &str) -> &str {
    address
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(address)
}

fn longest(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn fits(wanted: Option<u16>, port: Option<u16>) -> bool {
    wanted.is_none() || wanted == port
}

fn is_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn is_within(address: IpAddr, network: IpAddr, length: u32) -> bool {
    // A prefix of no bits has a shift by the whole width, which keeps nothing to compare.
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (address.to_bits() ^ network.to_bits())
                .checked_shr(32 - length)
                .unwrap_or(0)
                == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            (address.to_bits() ^ network.to_bits())
                .checked_shr(128 - length)
                .unwrap_or(0)
                == 0
        }
        _ => false,
    }
}
