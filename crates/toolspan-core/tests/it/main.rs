//! The integration tests of the crate, one binary: each module's first line says what it asks.

mod call;
mod call_injected;
mod call_keys;
mod call_prepare;
mod call_random;
mod call_repair;
mod client_tools;
mod execute;
mod native;
mod policy_approvals;
mod policy_levels;
mod policy_patterns;
mod registry;
mod response;
mod running;
mod schema_check;
mod schema_random;
mod schema_reading;
mod schema_static;
mod schema_tools;
mod search;
mod shaping;
mod support;
mod tool_registry;
mod tool_types;
