//! Which addresses does a name have, and which of them may be connected to?
//!
//! Every name is looked up here, once per connection, and the connection goes to one of the
//! addresses that were checked: there is no second look-up that could say otherwise.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::error::HttpError;
use super::policy::{Reach, all_public};
use super::refusal::Refusal;
use super::shown;

/// Most addresses of one name that are looked at.
const ADDRESSES: usize = 64;

/// The addresses of a name, some time later.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Looks names up.
pub trait Resolve: Send + Sync {
    /// The addresses of `host`, best first. The caller bounds the time.
    fn resolve(&self, host: &str) -> Resolving;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver with its limit of time.
#[derive(Clone)]
pub(super) struct Lookup {
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) limit: Duration,
}

impl Lookup {
    /// All addresses of a name, each allowed by `reach`.
    pub(super) async fn addresses(
        &self,
        host: &str,
        reach: Reach,
    ) -> Result<Vec<IpAddr>, LookupError> {
        let failed = |reason: String| {
            LookupError::Failed(HttpError::Dns {
                host: shown::host(host),
                reason,
            })
        };
        let found = tokio::time::timeout(self.limit, self.resolver.resolve(host))
            .await
            .map_err(|_| failed(format!("no answer within {} s", self.limit.as_secs_f64())))?
            .map_err(|error| failed(error.to_string()))?;
        if found.is_empty() {
            return Err(failed("it has no address".to_owned()));
        }
        if reach == Reach::Public {
            all_public(&found).map_err(LookupError::Refused)?;
        }
        Ok(found.into_iter().take(ADDRESSES).collect())
    }
}

/// Why a name gives no address to connect to.
#[derive(Debug, thiserror::Error)]
pub(super) enum LookupError {
    #[error(transparent)]
    Failed(HttpError),
    #[error(transparent)]
    Refused(Refusal),
}

/// The one resolver that a client of reqwest has.
pub(super) struct Checked {
    pub(super) lookup: Lookup,
    pub(super) reach: Reach,
    /// Names of proxies, which the user wrote: they may be anywhere.
    pub(super) exempt: Vec<String>,
}

impl reqwest::dns::Resolve for Checked {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let lookup = self.lookup.clone();
        let host = name.as_str().to_owned();
        let reach = if self.exempt.contains(&host) {
            Reach::Anywhere
        } else {
            self.reach
        };
        Box::pin(async move {
            let found = lookup.addresses(&host, reach).await?;
            // Port 0 stands for the URL's.
            let addresses = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as reqwest::dns::Addrs)
        })
    }
}
