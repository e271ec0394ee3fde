//! How many connections did a client try to make?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

/// A count that all inner clients of one [`HttpClient`](super::HttpClient) share.
#[derive(Debug, Clone, Default)]
pub(super) struct Connections(Arc<AtomicU64>);

impl Connections {
    /// How many so far.
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl<S> Layer<S> for Connections {
    type Service = Counting<S>;

    fn layer(&self, inner: S) -> Counting<S> {
        Counting {
            inner,
            connections: self.clone(),
        }
    }
}

/// A connector that counts.
#[derive(Clone)]
pub(super) struct Counting<S> {
    inner: S,
    connections: Connections,
}

impl<S: Service<R>, R> Service<R> for Counting<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.connections.0.fetch_add(1, Ordering::Relaxed);
        self.inner.call(request)
    }
}
