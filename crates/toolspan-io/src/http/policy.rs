//! May this URL be asked for at all, before anybody is contacted?

use std::net::IpAddr;

use url::{Host, Url};

use super::address::{is_local_name, not_public};
use super::error::HttpError;
use super::refusal::Refusal;
use super::request::UrlSource;
use super::shown;

/// What the addresses of a permitted URL must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Whatever its host resolves to.
    Anywhere,
    /// Addresses of the public internet alone.
    Public,
}

/// Judges a URL by itself: scheme, credentials, names and literal addresses. `base` is the URL that
/// the user wrote.
pub(super) fn judge(url: &Url, source: UrlSource, base: &Url) -> Result<Reach, HttpError> {
    verdict(url, source, base).map_err(|reason| HttpError::Refused {
        target: shown::address(url),
        reason,
    })
}

fn verdict(url: &Url, source: UrlSource, base: &Url) -> Result<Reach, Refusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme {
            scheme: shown::scheme(url),
        });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::Credentials);
    }
    let host = url.host().ok_or(Refusal::NoHost)?;
    if source == UrlSource::Written || url.origin() == base.origin() {
        return Ok(Reach::Anywhere);
    }
    if url.scheme() != "https" {
        return Err(Refusal::PlainHttp);
    }
    match host {
        Host::Domain(name) if is_local_name(name) => Err(Refusal::LocalName {
            host: shown::host(name),
        }),
        Host::Domain(_) => Ok(Reach::Public),
        Host::Ipv4(address) => public(address.into()),
        Host::Ipv6(address) => public(address.into()),
    }
}

fn public(address: IpAddr) -> Result<Reach, Refusal> {
    all_public(&[address]).map(|()| Reach::Public)
}

/// Every address must be public: one that is not spoils all, since which of them is connected to is
/// the system's choice.
pub(super) fn all_public(addresses: &[IpAddr]) -> Result<(), Refusal> {
    addresses.iter().try_for_each(|address| {
        not_public(*address).map_or(Ok(()), |kind| {
            Err(Refusal::Address {
                address: *address,
                kind,
            })
        })
    })
}

/// The address that a URL's host is, when it is not a name.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        // A URL of `socks5` keeps an address as a name.
        Host::Domain(name) => name.parse().ok(),
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::UrlSource;
    use super::{Reach, judge};
    use url::Url;

    const BASE: &str = "http://127.0.0.1:8080/mcp";

    /// `anywhere`, `public`, or the error.
    fn judged(url: &str, source: UrlSource) -> String {
        let base = Url::parse(BASE).unwrap();
        match judge(&Url::parse(url).unwrap(), source, &base) {
            Ok(Reach::Anywhere) => "anywhere".to_owned(),
            Ok(Reach::Public) => "public".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_url_of_the_user_may_point_anywhere_over_http() {
        for url in [
            "http://127.0.0.1:9/",
            "http://localhost/",
            "http://10.0.0.1/",
            "http://site.test/",
            "https://169.254.169.254/",
            "https://[fd00::1]/",
            "https://site.test/",
        ] {
            assert_eq!(judged(url, UrlSource::Written), "anywhere", "{url}");
        }
        for (url, reason) in [
            ("http://user:hidden@site.test/", "put them in `headers`"),
            ("https://hidden@site.test/", "put them in `headers`"),
            ("http://:hidden@site.test/", "put them in `headers`"),
            ("ftp://site.test/", "the scheme \"ftp\""),
            ("file:///etc/passwd", "the scheme \"file\""),
            ("javascript:alert(1)", "the scheme \"javascript\""),
            ("ws://site.test/", "the scheme \"ws\""),
        ] {
            let text = judged(url, UrlSource::Written);
            assert!(text.contains(reason), "{url}: {text}");
            assert!(!text.contains("hidden"), "{text}");
        }
    }

    #[test]
    fn a_url_of_a_server_is_public_https_or_of_the_base_origin() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/other?a=b", "anywhere"),
            ("https://site.test/", "public"),
            ("https://8.8.8.8/", "public"),
            ("https://[2606:4700::1111]/", "public"),
            // Another port or scheme is another origin.
            ("http://127.0.0.1:9090/", "must be https"),
            ("https://127.0.0.1:8080/", "a loopback address"),
            ("http://site.test/", "must be https"),
            // Names that only look like loopback, and credentials that only look like a host.
            ("http://localhost.evil.test/", "must be https"),
            ("http://127.0.0.1.evil.test/", "must be https"),
            ("http://evil.test#@127.0.0.1", "must be https"),
            ("http://127.0.0.1@evil.test/", "credentials"),
            ("https://127.0.0.1@evil.test/", "credentials"),
            // Every way to write an address.
            ("https://2130706433/", "a loopback address"),
            ("https://0x7f.1/", "a loopback address"),
            ("https://0177.0.0.1/", "a loopback address"),
            ("https://[::ffff:7f00:1]/", "a loopback address"),
            ("https://[64:ff9b::a9fe:a9fe]/", "a link-local address"),
            ("https://0/", "this machine"),
            ("https://[::]/", "this machine"),
            ("https://127.1/", "a loopback address"),
            ("https://169.254.169.254./", "a link-local address"),
            ("https://①②⑦.0.0.1/", "a loopback address"),
            ("https://169.254.169.254/", "a link-local address"),
            ("https://10.0.0.5/", "a private address"),
            ("https://[fd00:ec2::254]/", "a private address"),
            ("https://168.63.129.16/", "a cloud's metadata service"),
            // Names of this machine and its network.
            ("https://localhost/", "belongs to this machine"),
            ("https://LocalHost./", "belongs to this machine"),
            ("https://ｌocalhost/", "belongs to this machine"),
            ("https://printer.local/", "belongs to this machine"),
            (
                "https://metadata.google.internal/",
                "belongs to this machine",
            ),
            ("file:///etc/passwd", "the scheme"),
            ("gopher://evil.test/", "the scheme"),
            ("ftp://evil.test/", "the scheme"),
            ("javascript:alert(1)", "the scheme"),
        ] {
            let text = judged(url, UrlSource::Derived);
            assert!(text.contains(expected), "{url}: {text}");
        }
    }
}
