//! Does a text start itself again and again, until the machine stands still?

/// Longest name of a function that is looked for.
const LONGEST_NAME: usize = 32;

/// Whether a text has a function that pipes itself into itself in the background, or a loop that
/// starts its own program.
pub(super) fn is_fork_bomb(text: &str) -> bool {
    let bare: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    defines_one(&bare)
        || bare.contains("%0|%0")
        || bare.contains("forkwhilefork")
        || bare.contains("while1:os.fork()")
        || bare.contains("whileTrue:os.fork()")
        || bare.contains("do$0&done")
        || bare.contains("do./$0&done")
        || bare.contains("loop{fork}")
}

/// `name(){name|name&};name`, whatever the name is.
fn defines_one(bare: &str) -> bool {
    bare.match_indices('{').any(|(at, _)| {
        let before = bare.get(..at).unwrap_or_default();
        let before = before.strip_suffix("()").unwrap_or(before);
        let name = last_name(before);
        let body = bare.get(at + 1..).unwrap_or_default();
        // Of `function bomb{`, the word before is glued to the name.
        let name = name.strip_prefix("function").unwrap_or(name);
        !name.is_empty()
            && body
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('|'))
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with('&'))
    })
}

/// The name that a text ends with.
fn last_name(text: &str) -> &str {
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | ':' | '.' | '-');
    let start = text
        .char_indices()
        .rev()
        .take(LONGEST_NAME)
        .take_while(|(_, char)| is_name(*char))
        .last()
        .map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default()
}
