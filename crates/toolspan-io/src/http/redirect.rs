//! Is a redirect followed, and with what?
//!
//! Nothing here asks the network. A target that is followed is judged again like any other URL.

use http::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderName, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use toolspan_core::guard::secret::names_a_secret;
use url::Url;

use super::error::HttpError;
use super::request::{HttpRequest, Redirects, UrlSource};
use super::shown;

/// Most redirects of one discovery.
const DISCOVERY_HOPS: usize = 3;

/// What goes on to another origin. Any other header may hold a secret, whatever its name.
const HARMLESS: [HeaderName; 4] = [
    ACCEPT,
    ACCEPT_LANGUAGE,
    USER_AGENT,
    HeaderName::from_static("mcp-protocol-version"),
];

/// The request that follows an answer: `None` when the answer is no redirect, an error when the
/// redirect is not followed. `followed` counts those before.
pub(super) fn next(
    request: &HttpRequest,
    status: StatusCode,
    headers: &HeaderMap,
    followed: usize,
) -> Result<Option<HttpRequest>, HttpError> {
    let (301..=303 | 307 | 308, Some(location)) = (status.as_u16(), headers.get(LOCATION)) else {
        return Ok(None);
    };
    let refused = |to: String, reason: &str| HttpError::Redirect {
        status: status.as_u16(),
        to,
        reason: reason.to_owned(),
    };
    let target = location
        .to_str()
        .ok()
        .and_then(|location| request.url.join(location).ok());
    let Some(mut target) = target else {
        return Err(refused("no readable URL".to_owned(), "it has to be a URL"));
    };
    target.set_fragment(None);
    let verdict = match request.redirects {
        Redirects::None => Err("no redirect is followed here; correct the URL if it is right"),
        Redirects::SameOriginOnce => same_origin_once(request, status, &target, followed),
        Redirects::Discovery => discovery(request, &target, followed),
    };
    verdict
        .map(|()| Some(onward(request, target.clone())))
        .map_err(|reason| refused(shown::address(&target), reason))
}

fn same_origin_once(
    request: &HttpRequest,
    status: StatusCode,
    target: &Url,
    followed: usize,
) -> Result<(), &'static str> {
    if !matches!(status.as_u16(), 307 | 308) {
        Err("only 307 and 308 keep the method and the body; correct the URL if it is right")
    } else if target.origin() != request.url.origin() {
        Err("it has another origin; correct the URL if it is right")
    } else if *target == request.url {
        Err("it is the same URL again")
    } else if followed > 0 {
        Err("one redirect is followed and no second")
    } else {
        Ok(())
    }
}

fn discovery(request: &HttpRequest, target: &Url, followed: usize) -> Result<(), &'static str> {
    if !matches!(request.method, Method::GET | Method::HEAD) {
        Err("only a GET is sent on")
    } else if followed >= DISCOVERY_HOPS {
        Err("three redirects are followed and no fourth")
    } else if target.scheme() != "https" && target.origin() != request.url.origin() {
        Err("another origin must be https")
    } else {
        Ok(())
    }
}

fn onward(request: &HttpRequest, target: Url) -> HttpRequest {
    let mut next = request.clone();
    next.url = target;
    if next.url.origin() != request.url.origin() {
        next.source = UrlSource::Derived;
        next.body.clear();
        next.headers = request
            .headers
            .iter()
            .filter(|(name, _)| HARMLESS.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        drop_secrets(&mut next.url);
    }
    next
}

/// Takes away the pairs of the query whose key names a secret.
fn drop_secrets(url: &mut Url) {
    let is_secret = |key: &str| {
        names_a_secret(key) || matches!(key.to_ascii_lowercase().as_str(), "sig" | "code")
    };
    if !url.query_pairs().any(|(key, _)| is_secret(&key)) {
        return;
    }
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| !is_secret(key))
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
}

#[cfg(test)]
mod tests;
