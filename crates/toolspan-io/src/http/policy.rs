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
            scheme: url.scheme().chars().take(20).collect(),
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
            host: name.to_owned(),
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
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}
