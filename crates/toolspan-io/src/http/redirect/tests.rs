//! Are redirects followed where they may be, and with no more than may go along?

use http::header::{AUTHORIZATION, COOKIE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::super::request::{HttpRequest, Redirects, UrlSource};
use super::next;

const FROM: &str = "https://a.test/mcp?x=1";

fn request(method: Method, redirects: Redirects) -> HttpRequest {
    let mut headers = HeaderMap::new();
    headers.insert(
        AUTHORIZATION,
        HeaderValue::from_static("Bearer hidden-value"),
    );
    headers.insert(COOKIE, HeaderValue::from_static("hidden-value"));
    headers.insert("x-api-key", HeaderValue::from_static("hidden-value"));
    headers.insert("accept", HeaderValue::from_static("application/json"));
    headers.insert(
        "mcp-protocol-version",
        HeaderValue::from_static("2025-06-18"),
    );
    HttpRequest::new(method, Url::parse(FROM).unwrap())
        .with_headers(headers)
        .with_body("hidden-value")
        .with_redirects(redirects)
}

fn outcome(request: &HttpRequest, status: u16, location: &str, followed: usize) -> String {
    let mut headers = HeaderMap::new();
    headers.insert("location", HeaderValue::from_str(location).unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    match next(request, status, &headers, followed) {
        Ok(None) => "taken as it is".to_owned(),
        Ok(Some(next)) => next.url.to_string(),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains("hidden"), "{text}");
            text
        }
    }
}

#[test]
fn a_post_is_sent_on_within_its_origin_alone_and_once() {
    let post = request(Method::POST, Redirects::SameOriginOnce);
    for (status, location, expected) in [
        (307, "/v2/mcp", "https://a.test/v2/mcp"),
        (308, "https://a.test:443/v2#part", "https://a.test/v2"),
        (307, "//b.test/mcp", "has another origin"),
        (307, "https://a.test:8443/mcp", "has another origin"),
        (307, "http://a.test/mcp", "has another origin"),
        (307, FROM, "it is the same URL again"),
        (307, "", "it is the same URL again"),
        (301, "/v2/mcp", "only 307 and 308 keep"),
        (302, "/v2/mcp", "only 307 and 308 keep"),
        (303, "/v2/mcp", "only 307 and 308 keep"),
        (307, "file:///etc/passwd", "has another origin"),
        (307, "http://:99999", "no readable URL"),
        (300, "/v2", "taken as it is"),
        (304, "/v2", "taken as it is"),
        (201, "/v2", "taken as it is"),
    ] {
        let text = outcome(&post, status, location, 0);
        assert!(text.contains(expected), "{status} {location}: {text}");
    }
    assert!(outcome(&post, 307, "/v3", 1).contains("no second"));
    let followed = {
        let mut headers = HeaderMap::new();
        headers.insert("location", HeaderValue::from_static("/v2"));
        next(&post, StatusCode::TEMPORARY_REDIRECT, &headers, 0)
            .unwrap()
            .unwrap()
    };
    assert_eq!(followed.method, Method::POST);
    assert_eq!(followed.body, post.body);
    assert_eq!(followed.headers, post.headers);
    assert_eq!(followed.source, UrlSource::Written);
}

#[test]
fn the_error_names_the_target_without_its_secrets() {
    let post = request(Method::POST, Redirects::SameOriginOnce);
    let text = outcome(
        &post,
        307,
        "https://hidden:hidden@b.test:8443/x?token=hidden#hidden",
        0,
    );
    assert_eq!(
        text,
        "the server answered 307 and names https://b.test:8443/x, which is not followed: it has \
         another origin; correct the URL if it is right"
    );
}

#[test]
fn where_nothing_is_followed_every_target_is_an_error() {
    let get = request(Method::GET, Redirects::None);
    assert!(outcome(&get, 302, "/v2", 0).contains("no redirect is followed here"));
}

#[test]
fn a_discovery_goes_on_three_times_and_to_https_alone() {
    let get = request(Method::GET, Redirects::Discovery);
    for status in [301, 302, 303, 307, 308] {
        assert_eq!(
            outcome(&get, status, "https://b.test/x", 2),
            "https://b.test/x"
        );
    }
    assert!(outcome(&get, 302, "https://b.test/x", 3).contains("no fourth"));
    assert!(outcome(&get, 302, "http://b.test/x", 0).contains("must be https"));
    assert!(outcome(&get, 302, "file:///etc/passwd", 0).contains("must be https"));
    let post = request(Method::POST, Redirects::Discovery);
    assert!(outcome(&post, 302, "https://b.test/x", 0).contains("only a GET"));
    let mut plain = get;
    plain.url = Url::parse("http://127.0.0.1:1/x").unwrap();
    assert_eq!(outcome(&plain, 302, "/y", 0), "http://127.0.0.1:1/y");
    assert!(outcome(&plain, 302, "http://127.0.0.1:2/y", 0).contains("must be https"));
}

#[test]
fn to_another_origin_nothing_secret_goes_along() {
    let get = request(Method::GET, Redirects::Discovery);
    let mut headers = HeaderMap::new();
    let target =
        "https://b.test/x?page=2&token=hidden&api_key=hidden&sig=hidden&Code=hidden&q=a%20b";
    headers.insert("location", HeaderValue::from_static(target));
    let on = next(&get, StatusCode::FOUND, &headers, 0).unwrap().unwrap();
    assert_eq!(on.url.as_str(), "https://b.test/x?page=2&q=a+b");
    assert_eq!(on.source, UrlSource::Derived);
    assert!(on.body.is_empty());
    let names: Vec<&str> = on.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["accept", "mcp-protocol-version"]);
    // Within the origin all stays.
    headers.insert("location", HeaderValue::from_static("/y?token=hidden"));
    let on = next(&get, StatusCode::FOUND, &headers, 0).unwrap().unwrap();
    assert_eq!(on.url.as_str(), "https://a.test/y?token=hidden");
    assert_eq!(on.headers, get.headers);
}
