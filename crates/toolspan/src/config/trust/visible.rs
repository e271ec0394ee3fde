//! How is a text of a stranger shown so that each character can be seen for what it is?

use std::fmt::Write as _;

/// The text with everything escaped that could steer a terminal, hide, or turn the order of what
/// stands around it: all but printable ASCII, and letters and digits of other scripts that are
/// seen. Nothing is left out; a backslash is doubled.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        // Writing to a string does not fail.
        let _ = match letter {
            '\\' => write!(shown, "\\\\"),
            '\n' => write!(shown, "\\n"),
            '\r' => write!(shown, "\\r"),
            '\t' => write!(shown, "\\t"),
            letter if is_seen(letter) => write!(shown, "{letter}"),
            letter => write!(shown, "\\u{{{:x}}}", u32::from(letter)),
        };
    }
    shown
}

/// The text as a word of a command line: as it is, or in double quotes if it is empty, has blanks
/// or quotes in it, or something that must be escaped.
pub(super) fn word(text: &str) -> String {
    let is_plain = |letter| is_seen(letter) && !matches!(letter, ' ' | '"' | '\'' | '\\' | '`');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("\"{}\"", visible(text).replace('"', "\\\""))
}

/// Whether there are letters in it that can look like other ones.
pub(super) fn has_foreign_letters(text: &str) -> bool {
    !text.is_ascii()
}

fn is_seen(letter: char) -> bool {
    // Letters by their class that show nothing.
    const FILLERS: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];
    letter == ' '
        || letter.is_ascii_graphic()
        || (!letter.is_ascii() && letter.is_alphanumeric() && !FILLERS.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_hide_is_escaped_and_nothing_is_lost() {
        for (text, wanted) in [
            ("plain text", "plain text"),
            ("Käse 日本 9", "Käse 日本 9"),
            (r"C:\Users", r"C:\\Users"),
            ("a\u{1b}[2Jb", r"a\u{1b}[2Jb"),
            ("a\nb\rc\td\0", r"a\nb\rc\td\u{0}"),
            ("x\u{202e}gpj", r"x\u{202e}gpj"),
            (
                "x\u{200b}y\u{2028}z\u{feff}",
                r"x\u{200b}y\u{2028}z\u{feff}",
            ),
            ("a\u{3164}b\u{e0041}", r"a\u{3164}b\u{e0041}"),
            ("e\u{301}", r"e\u{301}"),
            ("a\\n\u{85}", r"a\\n\u{85}"),
            ("no\u{a0}break", r"no\u{a0}break"),
        ] {
            assert_eq!(visible(text), wanted);
        }
    }

    #[test]
    fn a_word_is_quoted_where_its_end_could_be_mistaken() {
        for (text, wanted) in [
            ("--tz=UTC", "--tz=UTC"),
            ("${TZ:-UTC}", "${TZ:-UTC}"),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\\\"b\""),
            ("it's", "\"it's\""),
            ("a\nb", "\"a\\nb\""),
            ("a\\b", "\"a\\\\b\""),
        ] {
            assert_eq!(word(text), wanted);
        }
    }

    proptest::proptest! {
        #[test]
        fn words_that_differ_are_shown_differently(one in "\\PC{0,6}|.{0,6}", other in ".{0,6}") {
            proptest::prop_assert_eq!(one == other, word(&one) == word(&other));
            proptest::prop_assert!(word(&one).chars().all(is_seen));
        }
    }
}
