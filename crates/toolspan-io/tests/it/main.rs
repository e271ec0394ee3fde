//! Does the crate keep its promises, against real processes?

#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
mod host;
mod http;
#[cfg(target_os = "linux")]
mod launch;
mod lines;
#[cfg(target_os = "linux")]
mod operating_system;
#[cfg(target_os = "linux")]
mod pipes;
mod sse;
#[cfg(target_os = "linux")]
mod stderr;
