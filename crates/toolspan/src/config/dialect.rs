//! Under which key does a config have its servers, and in whose dialect?

use super::field::{Field, Table};
use super::keys;
use super::problem::Problem;

/// Most servers of a config.
const MOST: usize = 1_000;
/// Keys of which one makes an object look like a server.
const MARKS: &[&str] = &["command", "url", "httpUrl", "serverUrl", "serverURL"];

/// In whose words a server is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `mcpServers`, as most programs have it.
    Common,
    /// `servers`, as VS Code has it: its type `http` means that SSE is tried, too.
    VsCode,
}

/// A server of a config, not yet read.
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) field: Field<'a>,
    pub(super) dialect: Dialect,
}

/// The servers in the order they are written, those of `mcpServers` before those of `servers`.
///
/// # Errors
///
/// When one of the two is no object, when there are too many, and when both have a key.
pub(super) fn entries<'a>(table: &Table<'a>) -> Result<Vec<Entry<'a>>, Problem> {
    let mut entries: Vec<Entry<'a>> = Vec::new();
    if is_flat(table) {
        add(table, Dialect::Common, &mut entries);
        entries.retain(|entry| entry.key != keys::SCHEMA);
        table.field().refuse_over(MOST, entries.len())?;
        return Ok(entries);
    }
    for (key, dialect) in [
        ("mcpServers", Dialect::Common),
        ("servers", Dialect::VsCode),
    ] {
        let Some(servers) = table.get(key) else {
            continue;
        };
        let servers = servers.table()?;
        let before = entries.len();
        servers.field().refuse_over(MOST, before + servers.len())?;
        add(&servers, dialect, &mut entries);
        let (known, added) = entries.split_at(before);
        for entry in added {
            if known.iter().any(|known| known.key == entry.key) {
                return Err(entry
                    .field
                    .problem("this server stands in \"mcpServers\", too")
                    .with_hint("remove or rename one"));
            }
        }
    }
    Ok(entries)
}

/// Whether the servers stand at the top themselves, as OpenHands has them: nothing but objects, none
/// under a key that means something, and one at least that looks like a server.
pub(super) fn is_flat(table: &Table<'_>) -> bool {
    let mut found = false;
    for (key, field) in table.entries() {
        if key == keys::SCHEMA {
            continue;
        }
        let Ok(server) = field.table() else {
            return false;
        };
        if keys::is_of_top(key) {
            return false;
        }
        found = found || looks_like_a_server(&server);
    }
    found
}

/// Whether an object says what to start or where to connect.
pub(super) fn looks_like_a_server(table: &Table<'_>) -> bool {
    MARKS.iter().any(|mark| table.get(mark).is_some())
}

fn add<'a>(servers: &Table<'a>, dialect: Dialect, entries: &mut Vec<Entry<'a>>) {
    entries.extend(servers.entries().map(|(key, field)| Entry {
        key,
        field,
        dialect,
    }));
}
