//! Text from a peer made safe to show on a terminal, in a log or in a prompt.

use std::borrow::Cow;

/// Removes what could steer a terminal or hide text, and keeps everything else.
///
/// Escape sequences (ECMA-48 CSI, OSC, DCS and the like) go whole; other control characters but
/// tab and newline go alone; a carriage return becomes a newline unless one follows. Bidirectional
/// overrides and isolates, zero-width and other invisible characters and interlinear marks are
/// written as `<U+202E>`, also a variation selector that follows no visible character; tag
/// characters and the selectors behind them (U+E0000 to U+E01EF), which can carry a hidden text, are
/// dropped. The text is borrowed when nothing changes.
///
/// ```
/// use toolspan_core::guard::sanitise::for_people;
/// assert_eq!(for_people("a\x1b[2Jb\x1b]0;title\x07c"), "abc");
/// assert_eq!(for_people("user\u{202e}gpj"), "user<U+202E>gpj");
/// ```
pub fn for_people(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) && !has_stray_selector(text) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_control_string(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            char if is_selector(char) && !clean.ends_with(is_selected) => {
                push_named(&mut clean, char)
            }
            char if is_harmless(char) => clean.push(char),
            char if is_invisible(char) => push_named(&mut clean, char),
            _ => {}
        }
    }
    Cow::Owned(clean)
}

/// [`for_people`] on one line of at most `max_chars` characters, cut with `…`.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let clean = for_people(text);
    let mut line: String = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(max_chars) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn is_harmless(char: char) -> bool {
    match char {
        '\t' | '\n' => true,
        char if char.is_control() => false,
        char => !is_invisible(char) && !is_tag(char),
    }
}

fn push_named(clean: &mut String, char: char) {
    clean.push_str(&format!("<U+{:04X}>", u32::from(char)));
}

/// A variation selector, which chooses between forms of the visible character before it.
fn is_selector(char: char) -> bool {
    matches!(char, '\u{fe00}'..='\u{fe0f}')
}

/// Whether a selector may stand behind this character.
fn is_selected(char: char) -> bool {
    !is_selector(char) && !char.is_whitespace()
}

/// Whether a selector stands where it chooses nothing: at the beginning, or behind another one.
fn has_stray_selector(text: &str) -> bool {
    let before = std::iter::once(' ').chain(text.chars());
    text.chars()
        .zip(before)
        .any(|(char, before)| is_selector(char) && !is_selected(before))
}

fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' |
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{61c}' | '\u{180e}')
}

fn is_tag(char: char) -> bool {
    matches!(char, '\u{e0000}'..='\u{e01ef}')
}

/// Skips the rest of an escape sequence whose ESC was read.
fn skip_escape(chars: &mut Chars<'_>) {
    match chars.next() {
        Some('[') => skip_control_sequence(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_control_string(chars),
        // ESC with intermediate bytes (such as a character set choice) ends at the final byte.
        Some(' '..='/') => while matches!(chars.next(), Some(' '..='/')) {},
        _ => {}
    }
}

/// Skips parameters and intermediates up to the final byte (0x40 to 0x7e).
fn skip_control_sequence(chars: &mut Chars<'_>) {
    while let Some(' '..='?') = chars.peek() {
        chars.next();
    }
    if let Some('@'..='~') = chars.peek() {
        chars.next();
    }
}

/// Skips up to BEL or ST. An unfinished string takes the rest of the text with it.
fn skip_control_string(chars: &mut Chars<'_>) {
    while let Some(char) = chars.next() {
        match char {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if chars.peek() == Some(&'\\') => {
                chars.next();
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_is_borrowed() {
        assert!(matches!(for_people("naïve ✓ 日本\tx\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn clipboard_links_and_strings_go_whole() {
        assert_eq!(for_people("a\x1b]52;c;aGk=\x07b"), "ab");
        assert_eq!(
            for_people("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b"),
            "alinkb"
        );
        assert_eq!(for_people("a\x1bPq\u{9c}b\u{9b}31mc\x1b(Bd"), "abcd");
    }

    #[test]
    fn controls_go_and_carriage_returns_become_lines() {
        assert_eq!(for_people("a\0b\x08c\r\nd\re"), "abc\nd\ne");
    }

    #[test]
    fn hidden_characters_are_shown_and_tags_dropped() {
        assert_eq!(
            for_people("a\u{200b}b\u{e0041}c\u{2066}"),
            "a<U+200B>bc<U+2066>"
        );
    }

    #[test]
    fn a_selector_stays_behind_what_it_selects_and_hides_nothing_elsewhere() {
        assert!(matches!(for_people("\u{2714}\u{fe0f}"), Cow::Borrowed(_)));
        assert_eq!(
            for_people("\u{fe01}a\u{fe0f}\u{fe02}"),
            "<U+FE01>a\u{fe0f}<U+FE02>"
        );
        assert_eq!(for_people("a\u{e0101}\u{e0120}b\u{3164}c"), "ab<U+3164>c");
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_steers_or_hides_comes_through(
            parts in proptest::collection::vec(
                proptest::prop_oneof![
                    "[ -~\u{7f}-\u{9f}\u{200b}-\u{206f}\u{e0000}-\u{e01ff}\u{fe00}-\u{fe0f}]{0,4}",
                    "\u{1b}[\\[\\]PX^_(]?[0-9;\u{1b}]{0,3}[\u{7}\\\\mJ]?",
                    "\\PC{0,3}",
                ],
                0..12,
            ),
        ) {
            let text = parts.concat();
            let clean = for_people(&text);
            for char in clean.chars() {
                proptest::prop_assert!(is_harmless(char), "{:?} of {:?}", char, text);
            }
            proptest::prop_assert!(!has_stray_selector(&clean));
            // What is clean stays as it is.
            proptest::prop_assert!(matches!(for_people(&clean), Cow::Borrowed(_)));
            let line = one_line(&text, 5);
            proptest::prop_assert!(line.chars().count() <= 6 && !line.contains('\n'));
        }
    }

    #[test]
    fn one_line_is_bounded() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
