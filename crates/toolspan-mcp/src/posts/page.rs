//! What does a page for people say, without what is meant for a browser?
//!
//! Read as far as an excerpt needs it, not as a browser does (HTML Standard, section 13.2): in one
//! pass, whatever is missing or wrong in the page. Character references are left as they are.

/// Elements whose content is no text.
const SILENT: [&str; 2] = ["script", "style"];

/// Whether a text begins as a page does.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype", "<html"]
        .iter()
        .any(|start| begins_with(text, start))
}

/// The title of a page where it has one, else its text without tags, comments, scripts and styles.
/// White space is left as it is, and a space stands for what was left out.
pub(super) fn words(page: &str) -> String {
    let mut words = String::with_capacity(page.len());
    let mut rest = page;
    let mut is_title = false;
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(next_markup(rest).unwrap_or(rest.len()));
        if is_title && !text.trim().is_empty() {
            return text.to_owned();
        }
        words.push_str(text);
        words.push(' ');
        let markup = Markup::first_of(behind);
        is_title = markup.name.eq_ignore_ascii_case("title");
        rest = markup.rest;
    }
    words
}

/// Where the first tag, comment or declaration begins. A `<` before anything else is text.
fn next_markup(text: &str) -> Option<usize> {
    let opens = |start: &usize| {
        let next = text.as_bytes().get(start + 1);
        next.is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next))
    };
    let starts = text.match_indices('<').map(|(start, _)| start);
    starts.into_iter().find(opens)
}

/// A tag, a comment or a declaration.
struct Markup<'a> {
    /// The name of a start tag; empty for all else.
    name: &'a str,
    /// What comes behind it and behind content that is no text.
    rest: &'a str,
}

impl<'a> Markup<'a> {
    /// The one that a text begins with. One without an end takes all of the rest.
    fn first_of(text: &'a str) -> Self {
        let inner = text.strip_prefix('<').unwrap_or_default();
        if begins_with(inner, "!--") {
            // The dashes may be those that begin it: `<!-->` is a whole comment.
            let comment = inner.strip_prefix('!').unwrap_or_default();
            let rest = comment.split_once("-->").map(|(_, rest)| rest);
            return Self {
                name: "",
                rest: rest.unwrap_or_default(),
            };
        }
        let is_name = |byte: &u8| !byte.is_ascii_whitespace() && !b"/>".contains(byte);
        let length = inner.bytes().take_while(|byte| is_name(byte)).count();
        let name = inner.get(..length).unwrap_or_default();
        let rest = inner.get(length..).map(behind_tag).unwrap_or_default();
        let silent = SILENT
            .iter()
            .find(|silent| name.eq_ignore_ascii_case(silent));
        Self {
            name,
            rest: silent.map_or(rest, |silent| from_end_tag(rest, silent)),
        }
    }
}

/// What comes behind a tag whose name was read. A `>` in a quoted value does not end it.
fn behind_tag(attributes: &str) -> &str {
    let mut quote = None;
    let mut before = b' ';
    for (at, byte) in attributes.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return attributes.get(at + 1..).unwrap_or_default(),
            (None, b'"' | b'\'') if before == b'=' => quote = Some(byte),
            (None, _) => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    ""
}

/// What comes from the end tag of an element on.
fn from_end_tag<'a>(text: &'a str, name: &str) -> &'a str {
    let mut tags = text.match_indices("</");
    let end = tags.find(|(start, slash)| {
        let tag = text.get(start + slash.len()..);
        tag.is_some_and(|tag| begins_with(tag, name))
    });
    end.and_then(|(start, _)| text.get(start..))
        .unwrap_or_default()
}

/// Whether a text begins with this, in whatever case.
fn begins_with(text: &str, start: &str) -> bool {
    let head = text.get(..start.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(page: &str) -> String {
        let words = words(page);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_page_begins_as_one() {
        for page in [
            "<!DOCTYPE HTML>",
            "\u{feff} \n<!doctype html>",
            "<HTML lang=en>",
        ] {
            assert!(begins(page), "{page}");
        }
        for text in ["", "<", "<p>", "{\"html\":1}", "a <html>", "<htm"] {
            assert!(!begins(text), "{text}");
        }
    }

    #[test]
    fn the_title_is_what_a_page_says() {
        for (page, expected) in [
            ("<title>Sign in</title><h1>Please</h1>", "Sign in"),
            (
                "<html><TITLE lang='>'>\n A &amp; B\n</TITLE >x",
                "A &amp; B",
            ),
            ("<title>2 < 3 </title>", "2 < 3"),
            ("<title>never closed<body><p>text", "never closed"),
            ("<title></title><p>text", "text"),
            ("<titles>no</titles> <p>text", "no text"),
            (
                "<svg><title> </title></svg><title>second</title>x",
                "second",
            ),
        ] {
            assert_eq!(words_of(page), expected, "{page}");
        }
    }

    #[test]
    fn a_page_without_a_title_says_its_text() {
        for (page, expected) in [
            ("<h1>Not</h1><p>found</p>", "Not found"),
            ("<script>var a = '<title>no</title>';</script>text", "text"),
            (
                "<SCRIPT src=\"a>b\">x</b></script ><style>p{}</STYLE>text",
                "text",
            ),
            ("<script>never closed <p>text", ""),
            ("<!-- <p>no</p> -->a<!-->b<!--->c<!-- never", "a b c"),
            ("<?xml version='1.0'?><!doctype html>text", "text"),
            ("<p class=it's>one<p>two<b>three<i", "one two three"),
            ("<a href=\"/?a>b\" title = 'c>d'>link</a>", "link"),
            ("<a href=\"never closed>text", ""),
            ("1 < 2 <3 <- <", "1 < 2 <3 <- <"),
            ("</>a</ b>c", "a c"),
            ("<ä>", "<ä>"),
            ("", ""),
        ] {
            assert_eq!(words_of(page), expected, "{page}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_page_is_read_to_its_end(
            parts in proptest::collection::vec(
                proptest::prop_oneof![
                    "[<>/!?'\"= -]{0,4}",
                    "</?(title|script|STYLE|p)( a=['\"])?>?",
                    "<!-?-?|-?->",
                    "\\PC{0,3}",
                ],
                0..24,
            ),
        ) {
            let page = parts.concat();
            let words = words(&page);
            proptest::prop_assert!(words.split_whitespace().all(|word| page.contains(word)));
        }
    }
}
