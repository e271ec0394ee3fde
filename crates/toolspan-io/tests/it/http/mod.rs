//! Does the HTTP client keep its promises, against servers on loopback?

mod addresses;
mod authority;
mod bodies;
mod breaks;
mod exchange;
mod names;
mod server;
mod tls;
