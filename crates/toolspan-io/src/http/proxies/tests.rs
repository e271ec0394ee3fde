//! Does each set of variables give the proxy that users expect?

use url::Url;

use super::{Proxies, ProxyError};

const PLAIN: &str = "http://site.test/";
const SECURE: &str = "https://site.test/";

type Variables<'a> = &'a [(&'a str, &'a str)];

/// What comes out for a URL: the proxy, `direct`, or the error.
fn route(variables: Variables<'_>, url: &str) -> String {
    match Proxies::from_variables(variables.iter().copied()) {
        Ok(proxies) => proxies
            .shown(&Url::parse(url).unwrap())
            .unwrap_or_else(|| "direct".to_owned()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_variables_are_read_in_the_documented_order() {
    let all = "ALL_PROXY";
    let sets: [(Variables, &str, &str); 30] = [
        (&[], PLAIN, "direct"),
        (&[("http_proxy", "http://a:1")], PLAIN, "http://a:1"),
        (&[("http_proxy", "http://a:1")], SECURE, "direct"),
        (&[("HTTP_PROXY", "http://a:1")], PLAIN, "http://a:1"),
        (
            &[("HTTP_PROXY", "http://b:2"), ("http_proxy", "http://a:1")],
            PLAIN,
            "http://a:1",
        ),
        (
            &[("HTTP_PROXY", "http://b:2"), ("REQUEST_METHOD", "GET")],
            PLAIN,
            "direct",
        ),
        (
            &[("http_proxy", "http://a:1"), ("REQUEST_METHOD", "GET")],
            PLAIN,
            "http://a:1",
        ),
        (
            &[
                ("HTTP_PROXY", "http://b:2"),
                ("REQUEST_METHOD", "GET"),
                (all, "http://c:3"),
            ],
            PLAIN,
            "http://c:3",
        ),
        (&[("https_proxy", "http://a:1")], SECURE, "http://a:1"),
        (
            &[("HTTPS_PROXY", "http://b:2"), ("https_proxy", "http://a:1")],
            SECURE,
            "http://a:1",
        ),
        (
            &[("HTTPS_PROXY", "http://b:2"), ("REQUEST_METHOD", "GET")],
            SECURE,
            "http://b:2",
        ),
        (&[(all, "http://c:3")], PLAIN, "http://c:3"),
        (
            &[(all, "http://c:3"), ("all_proxy", "http://d:4")],
            SECURE,
            "http://d:4",
        ),
        (
            &[(all, "http://c:3"), ("HTTPS_PROXY", "http://b:2")],
            SECURE,
            "http://b:2",
        ),
        (&[(all, "socks5://c")], SECURE, "socks5://c"),
        (&[(all, "socks5h://me:pass@c:9")], SECURE, "socks5h://c:9"),
        (&[("http_proxy", "")], PLAIN, "direct"),
        (
            &[("http_proxy", " "), ("HTTP_PROXY", "http://b:2")],
            PLAIN,
            "http://b:2",
        ),
        (&[("http_proxy", "a:1")], PLAIN, "http://a:1"),
        (&[("http_proxy", "me:pass@a:1")], PLAIN, "http://a:1"),
        (
            &[("https_proxy", "https://me:p%40ss@a")],
            SECURE,
            "https://a",
        ),
        (&[(all, "http://c:3"), ("no_proxy", "*")], SECURE, "direct"),
        (
            &[(all, "http://c:3"), ("no_proxy", "site.test")],
            SECURE,
            "direct",
        ),
        (
            &[(all, "http://c:3"), ("NO_PROXY", ".test, other")],
            SECURE,
            "direct",
        ),
        (
            &[
                (all, "http://c:3"),
                ("NO_PROXY", "site.test"),
                ("no_proxy", "other"),
            ],
            SECURE,
            "http://c:3",
        ),
        (
            &[(all, "http://c:3"), ("NO_PROXY", "ite.test")],
            SECURE,
            "http://c:3",
        ),
        (
            &[(all, "http://c:3"), ("NO_PROXY", "site.test:443")],
            SECURE,
            "direct",
        ),
        (
            &[(all, "http://c:3"), ("NO_PROXY", "site.test:444")],
            SECURE,
            "http://c:3",
        ),
        (
            &[("ftp_proxy", "http://e:5"), ("Http_Proxy", "http://e:5")],
            PLAIN,
            "direct",
        ),
        (
            &[("http_proxy", "http://a:1/path?query")],
            PLAIN,
            "http://a:1",
        ),
    ];
    for (variables, url, expected) in sets {
        assert_eq!(route(variables, url), expected, "{variables:?} for {url}");
    }
}

#[test]
fn loopback_is_always_asked_directly() {
    let proxy = [("ALL_PROXY", "http://c:3")];
    for host in [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
    ] {
        assert_eq!(
            route(&proxy, &format!("http://{host}:8080/")),
            "direct",
            "{host}"
        );
    }
    for host in ["localhost.test", "10.0.0.1", "[fd00::1]", "notlocalhost"] {
        assert_eq!(
            route(&proxy, &format!("http://{host}/")),
            "http://c:3",
            "{host}"
        );
    }
}

#[test]
fn addresses_and_networks_are_asked_directly_where_the_list_says_so() {
    let list = "10.0.0.0/8,192.0.2.7 [2001:db8::]/32,2001:db9::1,0.0.0.0/32,192.0.2.8:81";
    let variables = [("ALL_PROXY", "http://c:3"), ("NO_PROXY", list)];
    for (host, expected) in [
        ("10.255.0.1", "direct"),
        ("11.0.0.1", "http://c:3"),
        ("192.0.2.7", "direct"),
        ("192.0.2.8", "http://c:3"),
        ("192.0.2.8:81", "direct"),
        ("[2001:db8:ffff::1]", "direct"),
        ("[2001:db9::1]", "direct"),
        ("[2001:db9::2]", "http://c:3"),
        ("ten.test", "http://c:3"),
    ] {
        assert_eq!(
            route(&variables, &format!("http://{host}/")),
            expected,
            "{host}"
        );
    }
    let every = [("ALL_PROXY", "http://c:3"), ("NO_PROXY", "0.0.0.0/0,::/0")];
    assert_eq!(route(&every, "http://8.8.8.8/"), "direct");
    assert_eq!(route(&every, "http://[2001:db9::2]/"), "direct");
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_variable_and_not_its_value() {
    for (variables, expected) in [
        (
            ("http_proxy", "http://"),
            "http_proxy is not usable: empty host",
        ),
        (
            ("HTTPS_PROXY", "http://a:99999"),
            "HTTPS_PROXY is not usable: invalid port number",
        ),
        (
            ("ALL_PROXY", "ftp://me:hidden@a"),
            "ALL_PROXY is not usable: a proxy is http, https, socks5 or socks5h",
        ),
        (
            ("all_proxy", "socks5://"),
            "all_proxy is not usable: it names no host",
        ),
        (
            ("NO_PROXY", "a,10.0.0.0/33"),
            "NO_PROXY is not usable: \"10.0.0.0/33\" is not a network such as 10.0.0.0/8",
        ),
        (
            ("no_proxy", "a:b"),
            "no_proxy is not usable: \"a:b\" has no readable port",
        ),
        (
            ("no_proxy", "a.*.b"),
            "no_proxy is not usable: \"a.*.b\" is neither a domain nor an address",
        ),
    ] {
        assert_eq!(route(&[variables], PLAIN), expected);
    }
    let many = "a,".repeat(1001);
    assert!(route(&[("NO_PROXY", &many)], PLAIN).contains("more than 1000"));
}

#[test]
fn credentials_are_never_shown() -> Result<(), ProxyError> {
    let proxies = Proxies::one("proxy", "http://me:hidden@proxy.test:3128")?;
    let text = format!(
        "{proxies:?} {:?}",
        proxies.shown(&Url::parse(PLAIN).unwrap())
    );
    assert!(text.contains("http://proxy.test:3128"), "{text}");
    assert!(!text.contains("hidden") && !text.contains("me:"), "{text}");
    let direct = proxies.with_bypass("no_proxy", "site.test")?;
    assert_eq!(direct.shown(&Url::parse(PLAIN).unwrap()), None);
    Ok(())
}
