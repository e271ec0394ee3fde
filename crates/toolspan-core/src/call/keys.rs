//! What is a property called where a model API does not take its name?
//!
//! Some APIs refuse a whole request for one property called `$filter`. A projection gives such a
//! property another name, and a call that uses it gets the tool's own name back before anything is
//! checked. The names follow from the schema alone, so nothing has to be remembered in between, and
//! they are the same for every API: each takes the other name where its own rule needs it.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::injected;
use crate::schema::is_plain_name;

/// Longest property name that every model API takes, in characters.
pub const LONGEST_KEY: usize = 64;
/// Characters of a name that stay before `_` and the digits.
const KEPT: usize = LONGEST_KEY - 9;

/// The name that every model API takes for a property: `[A-Za-z_][A-Za-z0-9_]*`, at most
/// [`LONGEST_KEY`] characters.
///
/// A name that is so already stays. Else other characters become `_`; where the outcome is empty,
/// too long or `is_taken`, it ends in `_` and 8 hex digits of a SHA-256 over the original.
///
/// ```
/// use toolspan_core::call::keys::api_key;
/// assert_eq!(api_key("$filter", |_| false), "_filter");
/// assert_eq!(api_key("page-size", |_| false), "page_size");
/// assert_eq!(api_key("2fa", |_| false), "_2fa");
/// let other = api_key("page-size", |name| name == "page_size");
/// assert!(other.starts_with("page_size_") && other.len() == "page_size_".len() + 8);
/// ```
pub fn api_key(original: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if is_plain_name(original) {
        return original.to_owned();
    }
    let legal = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let begins_badly = original.starts_with(|char: char| char.is_ascii_digit());
    let lead = if begins_badly { "_" } else { "" };
    let name: String = lead
        .chars()
        .chain(original.chars())
        .take(LONGEST_KEY + 1)
        .map(|char| if legal(char) { char } else { '_' })
        .collect();
    if !name.is_empty() && name.len() <= LONGEST_KEY && !is_taken(&name) {
        return name;
    }
    let digits: String = Sha256::digest(original.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept: String = name.chars().take(KEPT).collect();
    format!("{kept}_{digits}")
}

/// The other names of a tool's properties, for those that need one somewhere.
///
/// `names` are the names of all its properties at every depth, in any order: one name stands for one
/// property wherever the tool has it, and none has the name of another one, or one that a field of
/// the host's own may have.
pub fn api_keys<'s>(names: impl IntoIterator<Item = &'s str>) -> HashMap<&'s str, String> {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    let mut taken: HashSet<String> = HashSet::new();
    let mut given = HashMap::new();
    for original in names.iter().copied().filter(|name| !is_plain_name(name)) {
        let is_taken = |name: &str| {
            taken.contains(name) || names.binary_search(&name).is_ok() || injected::is_ours(name)
        };
        let name = api_key(original, is_taken);
        taken.insert(name.clone());
        given.insert(original, name);
    }
    given
}
