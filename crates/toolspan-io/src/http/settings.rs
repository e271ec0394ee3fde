//! What does an HTTP client have to know before its first request?

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::proxies::Proxies;
use super::resolve::{Resolve, SystemResolver};
use super::tls::TlsSettings;

/// The settings of one client: those of one server of a config.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The URL that the user wrote. Derived URLs of its origin are allowed as it is.
    pub base: Url,
    /// How long a name may take to be resolved. Default 5 s.
    pub dns: Duration,
    /// How long a TCP connection may take. Default 10 s.
    pub connect: Duration,
    /// How long a TLS handshake may take. Default 15 s. For requests the two count together, with a
    /// proxy's part.
    pub tls_handshake: Duration,
    /// Authorities, own certificate, `insecure`.
    pub tls: TlsSettings,
    /// Which proxies are used for which URLs. Default: none.
    pub proxies: Proxies,
    /// Who looks names up. Default: the system.
    pub resolver: Arc<dyn Resolve>,
}

impl HttpSettings {
    /// The defaults for a URL that the user wrote.
    pub fn new(base: Url) -> Self {
        Self {
            base,
            dns: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            tls_handshake: Duration::from_secs(15),
            tls: TlsSettings::default(),
            proxies: Proxies::none(),
            resolver: Arc::new(SystemResolver),
        }
    }

    /// Bounds the look-up of a name.
    #[must_use]
    pub fn with_dns_limit(mut self, limit: Duration) -> Self {
        self.dns = limit;
        self
    }

    /// Bounds the TCP connection.
    #[must_use]
    pub fn with_connect_limit(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Bounds the TLS handshake.
    #[must_use]
    pub fn with_tls_limit(mut self, limit: Duration) -> Self {
        self.tls_handshake = limit;
        self
    }

    /// Sets what concerns TLS.
    #[must_use]
    pub fn with_tls(mut self, tls: TlsSettings) -> Self {
        self.tls = tls;
        self
    }

    /// Sets the proxies.
    #[must_use]
    pub fn with_proxies(mut self, proxies: Proxies) -> Self {
        self.proxies = proxies;
        self
    }

    /// Sets who looks names up.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }
}

impl std::fmt::Debug for HttpSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HttpSettings")
            .field("base", &super::shown::address(&self.base))
            .field("dns", &self.dns)
            .field("connect", &self.connect)
            .field("tls_handshake", &self.tls_handshake)
            .field("tls", &self.tls)
            .field("proxies", &self.proxies)
            .finish_non_exhaustive()
    }
}
