//! For which reasons does the policy for addresses refuse a URL?

use std::net::IpAddr;

/// What is forbidden about a URL. The limits are explained in [the module](super).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Neither `http` nor `https`.
    #[error("the scheme {scheme:?} is not http or https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL carries a name or a password.
    #[error("the URL holds credentials before its host; put them in `headers` instead")]
    Credentials,
    /// The URL names no host.
    #[error("the URL names no host")]
    NoHost,
    /// A server named a URL without TLS.
    #[error(
        "a server named this URL, and such URLs must be https or have the origin of the configured \
         URL"
    )]
    PlainHttp,
    /// A server named a host that stands for this machine or its network.
    #[error(
        "a server named this URL, and {host:?} belongs to this machine or its network; only a URL \
         in the configuration may point there"
    )]
    LocalName {
        /// The host.
        host: String,
    },
    /// A server named a host with an address that is not on the public internet.
    #[error(
        "a server named this URL, and {address} is {kind}; only a URL in the configuration may \
         point there"
    )]
    Address {
        /// The address.
        address: IpAddr,
        /// What kind of address that is, in plain words.
        kind: &'static str,
    },
}
