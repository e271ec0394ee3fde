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

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use reqwest::dns::Resolve as _;

    use super::super::policy::Reach;
    use super::{Checked, Lookup, Resolve, Resolving};

    /// Public at the first look, loopback at each later one.
    #[derive(Default)]
    struct Turning(AtomicUsize);

    impl Resolve for Turning {
        fn resolve(&self, _host: &str) -> Resolving {
            let first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
            let address: IpAddr = if first {
                [8, 8, 8, 8].into()
            } else {
                [127, 0, 0, 1].into()
            };
            Box::pin(async move { Ok(vec![address]) })
        }
    }

    async fn look(checked: &Checked, name: &str) -> Result<Vec<IpAddr>, String> {
        let found = checked.resolve(name.parse().unwrap()).await;
        found
            .map(|found| found.map(|address| address.ip()).collect())
            .map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn what_is_connected_to_is_what_one_look_up_gave_and_each_is_checked() {
        let resolver = Arc::new(Turning::default());
        let checked = Checked {
            lookup: Lookup {
                resolver: resolver.clone(),
                limit: Duration::from_secs(5),
            },
            reach: Reach::Public,
            exempt: vec!["proxy.test".to_owned()],
        };
        let public: IpAddr = [8, 8, 8, 8].into();
        assert_eq!(look(&checked, "evil.test").await, Ok(vec![public]));
        assert_eq!(resolver.0.load(Ordering::SeqCst), 1);
        // The next connection would look again, and is checked again.
        let refused = look(&checked, "evil.test").await.unwrap_err();
        assert!(
            refused.contains("127.0.0.1 is a loopback address"),
            "{refused}"
        );
        assert!(look(&checked, "proxy.test").await.is_ok());
    }
}
