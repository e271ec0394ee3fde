//! Does the HTTP client keep its promises, against servers on loopback?

mod exchange;
mod server;
