//! Hosts over servers of the fault kit.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolspan::{Host, HostBuilder};
use toolspan_testkit::Fault;

/// Longest that a test waits for something that happens at once on an idle machine.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A config of these servers, in this order, with what else each entry says.
pub(crate) fn config<'a>(servers: impl IntoIterator<Item = (&'a str, Fault, Value)>) -> Value {
    let entries: Map<String, Value> = servers
        .into_iter()
        .map(|(key, fault, more)| {
            let mut entry = fault.config_entry();
            if let (Value::Object(entry), Value::Object(more)) = (&mut entry, more) {
                entry.extend(more);
            }
            (key.to_owned(), entry)
        })
        .collect();
    json!({"mcpServers": entries})
}

/// A host of one server called `box`.
pub(crate) fn one(fault: Fault) -> HostBuilder {
    Host::builder().config_value(config([("box", fault, json!({}))]))
}

/// The whole error as a person is shown it, for snapshots.
pub(crate) fn shown(error: &toolspan::Error) -> String {
    format!(
        "{}: {error}\ntoolbox: {}\ntool: {}\nphase: {}\noutcome: {}\nhint: {}",
        error.kind(),
        error.toolbox().unwrap_or("-"),
        error.tool().unwrap_or("-"),
        error.phase(),
        error.outcome(),
        error.hint().unwrap_or("-"),
    )
}
