//! Which headers may a config set, and what may be in them?

use http::{HeaderName, HeaderValue};
use toolspan_core::guard::Secret;
use toolspan_mcp::transport::is_reserved_header;

use crate::config::field::{Field, Table};
use crate::config::problem::{Problem, member_path, quoted};
use crate::config::surroundings::Filling;

/// Most headers of a server.
const MOST: usize = 100;
/// Longest value of a header, in bytes: more than servers take.
const LONGEST: usize = 32 << 10;
/// The header that a bearer token is sent in (RFC 6750, section 2.1).
pub(super) const AUTHORIZATION: &str = "authorization";

/// Headers that the protocol sets itself, and that configs of other programs repeat.
const SET_ANYWAY: &[&str] = &["accept", "accept-encoding", "content-type"];

/// Reads a server's `headers`: names in lower case, values filled in.
pub(super) fn read(
    field: &Field<'_>,
    filling: &mut Filling<'_, '_>,
) -> Result<Vec<(String, Secret)>, Problem> {
    let table: Table<'_> = field.table()?;
    field.refuse_over(MOST, table.len())?;
    let mut headers: Vec<(String, Secret)> = Vec::new();
    for (name, value) in table.entries() {
        let value = value.named(header_path(field.path(), name));
        if SET_ANYWAY.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            filling
                .warnings
                .add(|| value.problem("this header is set by the protocol, so this has no effect"));
            continue;
        }
        let name = checked_name(name)
            .map_err(|fault| value.problem(fault.message).with_hint(fault.hint))?;
        if headers.iter().any(|(known, _)| *known == name) {
            let message = format!("the header {} stands here twice", quoted(&name));
            return Err(value.problem(message).with_hint("remove one"));
        }
        let text = filling.value(&value)?;
        let text = text.trim_matches([' ', '\t']);
        check_value(text).map_err(|message| value.problem(message))?;
        filling.secrets.add_with_parts(text);
        headers.push((name, Secret::new(text)));
    }
    Ok(headers)
}

/// The key path of a header. What cannot be a name is not repeated behind the first letter that
/// does not belong: it may be a whole header with its value.
fn header_path(parent: &str, name: &str) -> String {
    match name.find([':', ' ', '\r', '\n']) {
        Some(end) => member_path(parent, &format!("{}…", name.get(..end).unwrap_or_default())),
        None => member_path(parent, name),
    }
}

/// Why a text cannot be the name of a header that is set.
pub(in crate::config) struct NameFault {
    pub(in crate::config) message: &'static str,
    pub(in crate::config) hint: &'static str,
}

/// The name in lower case.
pub(in crate::config) fn checked_name(name: &str) -> Result<String, NameFault> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| NameFault {
        message: "this is not the name of a header",
        hint: "a name is made of letters, digits and -, such as X-Api-Key",
    })?;
    let name = name.as_str();
    if is_reserved_header(name) {
        return Err(NameFault {
            message: "this header belongs to the protocol and cannot be set",
            hint: "remove it",
        });
    }
    Ok(name.to_owned())
}

/// Says what is wrong with a value, without repeating it.
pub(in crate::config) fn check_value(text: &str) -> Result<(), &'static str> {
    if text.len() > LONGEST {
        return Err("the value is longer than 32 KiB");
    }
    if text.contains(['\r', '\n']) {
        return Err("the value has a line break in it, which no header can hold");
    }
    if !text.is_ascii() {
        return Err(
            "the value has a letter in it that is not ASCII, which servers read differently",
        );
    }
    match HeaderValue::from_str(text) {
        Ok(_) => Ok(()),
        Err(_) => Err("the value has a control character in it, which no header can hold"),
    }
}
