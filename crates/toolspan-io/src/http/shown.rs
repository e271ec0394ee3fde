//! How is a URL shown to people without a secret in it?

use url::Url;

/// Longest path that is shown, in characters. The rest is a `…`.
const PATH_SHOWN: usize = 120;

/// Longest name of a host in DNS (RFC 1035, section 2.3.4); a URL may hold longer ones.
const HOST_SHOWN: usize = 255;

/// Longest scheme that is shown.
const SCHEME_SHOWN: usize = 20;

/// Scheme, host, port and path; never userinfo, query or fragment.
pub(super) fn address(url: &Url) -> String {
    match url.host_str() {
        Some(_) => format!("{}{}", site(url), cut(url.path(), PATH_SHOWN)),
        None => format!("{}:…", scheme(url)),
    }
}

/// The scheme alone.
pub(super) fn scheme(url: &Url) -> String {
    cut(url.scheme(), SCHEME_SHOWN)
}

/// A name of a host.
pub(super) fn host(name: &str) -> String {
    cut(name, HOST_SHOWN)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Scheme, host and port: whom a connection is made to.
pub(super) fn site(url: &Url) -> String {
    let (scheme, host) = (scheme(url), host(url.host_str().unwrap_or_default()));
    match url.port() {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{address, site};
    use url::Url;

    #[test]
    fn userinfo_query_and_fragment_are_never_shown() {
        let url = Url::parse("https://me:pass@host.test:8443/mcp/a?token=abc#code=d").unwrap();
        assert_eq!(address(&url), "https://host.test:8443/mcp/a");
        assert_eq!(site(&url), "https://host.test:8443");
        assert_eq!(
            address(&Url::parse("javascript:alert(1)").unwrap()),
            "javascript:…"
        );
    }

    #[test]
    fn what_is_long_is_cut() {
        let url = Url::parse(&format!("http://host.test/{}", "é".repeat(300))).unwrap();
        assert!(address(&url).len() < 150);
        assert!(address(&url).ends_with('…'));
        let url = format!("{}://{}.test:1/x", "s".repeat(300), "h".repeat(3000));
        assert!(address(&Url::parse(&url).unwrap()).len() < 300);
    }
}
