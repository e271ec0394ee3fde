//! Does the HTTP client keep its promises, against servers on loopback?

mod addresses;
mod authority;
mod bodies;
mod breaks;
mod exchange;
mod http2;
#[cfg(target_os = "linux")]
mod memory;
mod names;
mod probe;
mod proxy;
mod server;
mod tls;
