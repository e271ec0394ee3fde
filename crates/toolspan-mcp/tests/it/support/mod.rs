//! What the tests stand on: a toolbox with its tools, a server that a test plays itself, and the
//! checks that follow every fault.
//!
//! [`tools`] calls, [`peer`] is a server in memory, [`http`] one at a URL, [`case`] a faulty process
//! under a census, [`invariants`] what holds after any fault, [`clock`] lets virtual time pass.

#[cfg(target_os = "linux")]
pub(crate) mod case;
pub(crate) mod clock;
pub(crate) mod http;
#[cfg(target_os = "linux")]
pub(crate) mod invariants;
pub(crate) mod peer;
pub(crate) mod tools;

pub(crate) use clock::{pass, pass_until};
pub(crate) use http::transport_to;
pub(crate) use peer::{Peer, Server, connect, connect_to, connect_within, memory};
pub(crate) use tools::{Tools, told};
