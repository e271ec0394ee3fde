//! At which port does a process listen? Read from `/proc`.
//!
//! A server that is told to take any free port takes it without a race, and nobody has to read its
//! output to learn which one: the kernel knows.

use std::collections::HashSet;
use std::fs;

/// The state `LISTEN` in the kernel's tables of sockets.
const LISTEN: &str = "0A";

/// The TCP port of the first listening socket of a process; nothing while there is none.
pub(super) fn listening_port(pid: u32) -> Option<u16> {
    let own = sockets_of(pid);
    ["tcp", "tcp6"].iter().find_map(|table| {
        let table = fs::read_to_string(format!("/proc/{pid}/net/{table}")).ok()?;
        listeners(&table)
            .find(|(_, inode)| own.contains(*inode))
            .map(|(port, _)| port)
    })
}

/// The numbers of the sockets that a process has open.
fn sockets_of(pid: u32) -> HashSet<String> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
    descriptors
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.ok()?.path()).ok()?;
            let number = target.to_str()?.strip_prefix("socket:[")?;
            Some(number.strip_suffix(']')?.to_owned())
        })
        .collect()
}

/// The ports and socket numbers of the listening lines of a table.
fn listeners(table: &str) -> impl Iterator<Item = (u16, &str)> {
    table.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, _, state, .., _, _, _, _, _] = fields.as_slice() else {
            return None;
        };
        let (_, port) = local.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (*state == LISTEN).then_some((port, *fields.get(9)?))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::{listeners, listening_port};

    #[test]
    fn a_listener_of_the_process_itself_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // Another test of this process may listen, too, where they share one.
        assert!(listening_port(std::process::id()).is_some());
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        assert!(listeners(&table).any(|(found, _)| found == port));
    }

    #[test]
    fn only_listening_lines_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            \x20  0: 0100007F:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n\
            \x20  1: 0100007F:0BBA 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1\n";
        assert_eq!(listeners(table).collect::<Vec<_>>(), [(3001, "4711")]);
    }
}
