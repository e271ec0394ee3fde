//! Which proxy does a URL go through?

use url::Url;

use super::bypass::Bypass;
use super::shown;

/// The proxies of a client.
///
/// A proxy is `http`, `https`, `socks5` (names are resolved here) or `socks5h` (names are resolved by
/// the proxy), with or without credentials; without a scheme it is `http`, without a port it has
/// that of its scheme (80, 443, 1080). An https URL goes through an HTTP proxy by CONNECT, an http
/// URL by a request with the whole URL. `localhost` and loopback addresses are always asked directly.
#[derive(Clone, Default)]
pub struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    bypass: Bypass,
}

/// A proxy, or the list of hosts without one, that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not usable: {problem}")]
#[non_exhaustive]
pub struct ProxyError {
    /// The variable or the key of the config.
    pub name: String,
    /// What is wrong with its value, without quoting it.
    pub problem: String,
}

impl Proxies {
    /// No proxy: every URL is asked directly.
    pub fn none() -> Self {
        Self::default()
    }

    /// One proxy for all. `name` says where it was written, for errors.
    pub fn one(name: &str, proxy: &str) -> Result<Self, ProxyError> {
        let proxy = parse(name, proxy)?;
        Ok(Self {
            http: Some(proxy.clone()),
            https: Some(proxy),
            bypass: Bypass::default(),
        })
    }

    /// The proxies that variables of the environment name, as most programs read them:
    ///
    /// - an http URL: `http_proxy`, `HTTP_PROXY`, `all_proxy`, `ALL_PROXY`; the first that is set;
    /// - an https URL: `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`;
    /// - without a proxy: `no_proxy`, `NO_PROXY`.
    ///
    /// An empty value counts as not set. `HTTP_PROXY` is ignored where `REQUEST_METHOD` is set: in a
    /// CGI program a client can set it by a header `Proxy`.
    pub fn from_variables<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ProxyError> {
        const KNOWN: [&str; 9] = [
            "http_proxy",
            "HTTP_PROXY",
            "https_proxy",
            "HTTPS_PROXY",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "NO_PROXY",
            "REQUEST_METHOD",
        ];
        let set: Vec<(&str, &str)> = variables
            .into_iter()
            .map(|(name, value)| (name, value.trim()))
            .filter(|(name, value)| KNOWN.contains(name) && !value.is_empty())
            .collect();
        let get = |wanted: &str| set.iter().find(|(name, _)| *name == wanted).copied();
        let in_cgi = get("REQUEST_METHOD").is_some();
        let first = |names: [&str; 4]| {
            names
                .into_iter()
                .filter(|name| !(in_cgi && *name == "HTTP_PROXY"))
                .find_map(get)
                .map(|(name, value)| parse(name, value))
                .transpose()
        };
        let bypass = match get("no_proxy").or_else(|| get("NO_PROXY")) {
            None => Bypass::default(),
            Some((name, value)) => bypass(name, value)?,
        };
        Ok(Self {
            http: first(["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])?,
            https: first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            bypass,
        })
    }

    /// Adds hosts to ask directly, written as in `NO_PROXY`, in place of those before.
    pub fn with_bypass(mut self, name: &str, hosts: &str) -> Result<Self, ProxyError> {
        self.bypass = bypass(name, hosts)?;
        Ok(self)
    }

    /// Whether a URL is asked directly whatever the proxies are: `localhost` and the names below it,
    /// 127.0.0.0/8, `::1`.
    pub fn never_for(url: &Url) -> bool {
        Bypass::default().covers(url)
    }

    /// The proxy for a URL; `None` when it is asked directly.
    pub(super) fn route(&self, url: &Url) -> Option<&Url> {
        let proxy = match url.scheme() {
            "http" => self.http.as_ref(),
            "https" => self.https.as_ref(),
            _ => None,
        };
        proxy.filter(|_| !self.bypass.covers(url))
    }

    /// The proxy for a URL as people may see it: without credentials.
    pub fn shown(&self, url: &Url) -> Option<String> {
        self.route(url).map(shown::site)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    /// The hosts of the proxies, as a resolver is asked for them.
    pub(super) fn hosts(&self) -> Vec<String> {
        [&self.http, &self.https]
            .into_iter()
            .flatten()
            .filter_map(|proxy| proxy.host_str().map(str::to_owned))
            .collect()
    }
}

impl std::fmt::Debug for Proxies {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Proxies")
            .field("http", &self.http.as_ref().map(shown::site))
            .field("https", &self.https.as_ref().map(shown::site))
            .finish_non_exhaustive()
    }
}

fn bypass(name: &str, hosts: &str) -> Result<Bypass, ProxyError> {
    Bypass::parse(hosts).map_err(|problem| ProxyError {
        name: name.to_owned(),
        problem,
    })
}

fn parse(name: &str, value: &str) -> Result<Url, ProxyError> {
    let wrong = |problem: &str| ProxyError {
        name: name.to_owned(),
        problem: problem.to_owned(),
    };
    let value = value.trim();
    let whole = if value.contains("://") {
        value.to_owned()
    } else {
        format!("http://{value}")
    };
    let url = Url::parse(&whole).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") {
        return Err(wrong("a proxy is http, https, socks5 or socks5h"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("it names no host"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests;
