//! How much work is it to match one byte of text against a pattern, at worst?
//!
//! The unit is that of [`SchemaLimits::evaluations`](super::SchemaLimits::evaluations), about
//! 16 ns. Measured on texts made to be bad: a large automaton takes up to 2 µs a byte, and a match
//! with look-around may pass over the rest of the text at each of its steps.

/// For a pattern without look-around, which takes time linear in the text.
const LINEAR: u64 = 16;
/// For a pattern that the matcher has to backtrack for.
const BACKTRACKING: u64 = 1_000;

/// What only a backtracking matcher can do. Where one of these stands in a set of characters the
/// pattern is taken for a dear one by mistake, and its text may be 10 KB instead of 600 KB.
const BACKTRACKED: &[&str] = &[
    "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?(", "\\k", "\\g", "\\K", "\\G", "*+", "++", "?+", "}+",
];

/// The work of matching one byte against `pattern`.
pub(super) fn pattern_cost(pattern: &str) -> u64 {
    let numbered = (b'1'..=b'9').any(|digit| pattern.contains(&format!("\\{}", char::from(digit))));
    if numbered || BACKTRACKED.iter().any(|part| pattern.contains(part)) {
        BACKTRACKING
    } else {
        LINEAR
    }
}
