//! How is a URL shown to people without a secret in it?

use url::Url;

/// Longest path that is shown, in characters. The rest is a `…`.
const PATH_SHOWN: usize = 120;

/// Scheme, host, port and path; never userinfo, query or fragment.
pub(super) fn address(url: &Url) -> String {
    let path: String = url.path().chars().take(PATH_SHOWN).collect();
    let cut = if path.len() < url.path().len() {
        "…"
    } else {
        ""
    };
    match url.host_str() {
        Some(_) => format!("{}{path}{cut}", site(url)),
        None => format!("{}:…", url.scheme()),
    }
}

/// Scheme, host and port: whom a connection is made to.
pub(super) fn site(url: &Url) -> String {
    let host = url.host_str().unwrap_or("(no host)");
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
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
    fn a_long_path_is_cut() {
        let url = Url::parse(&format!("http://host.test/{}", "é".repeat(300))).unwrap();
        assert!(address(&url).len() < 150);
        assert!(address(&url).ends_with('…'));
    }
}
