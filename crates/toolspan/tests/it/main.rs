//! Do the parts of the house work together, as a user of the library sees them?

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what a test helper does not find fails its test"
)]

mod config_case;
mod config_connect;
mod config_dialects;
mod config_entry;
mod config_file;
mod config_import;
mod config_import_into;
mod config_remote;
mod config_server_line;
mod config_whole;
mod examples;
mod host_blocking;
mod host_calls;
mod host_endings;
mod host_forms;
mod host_isolation;
mod host_native;
mod host_once;
mod host_reload;
mod host_rules;
mod host_toolboxes;
mod host_watchdog;
mod pages;
mod real_servers;
mod recorded_lists;
mod remote_servers;
mod support;
mod trust;
