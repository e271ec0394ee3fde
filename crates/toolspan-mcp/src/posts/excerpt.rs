//! What is shown of a body that is not what was asked for?

use toolspan_core::guard::sanitise;

use super::headers::Media;
use super::page;
use super::veil::Veil;

/// Bytes of a body that are read for what they say.
pub(super) const HEAD: usize = 16 << 10;
/// Bytes at the end of a body that was cut to its head that are not shown: the cut may have left a
/// part of a secret there, which is not known for one. No header is as long as this.
const MARGIN: usize = 8 << 10;
/// Bytes of a body that are shown.
pub(super) const SHOWN: usize = 200;

/// What a body says to people, in one line of at most 200 bytes and a sign that it was cut: of a page
/// its title or else its text, of anything else its beginning. Secrets go before anything is cut or
/// left out, so that none is cut in two.
pub(super) fn of(body: &[u8], media: &Media, veil: &Veil) -> String {
    let head = body.get(..HEAD).unwrap_or(body);
    let mut text = veil.over(&String::from_utf8_lossy(head));
    if body.len() >= HEAD {
        text.truncate(text.floor_char_boundary(text.len().saturating_sub(MARGIN)));
    }
    let text = match is_page(media) || page::begins(&text) {
        true => page::words(&text),
        false => text,
    };
    let mut line = sanitise::one_line(&text, SHOWN);
    if line.len() > SHOWN + '…'.len_utf8() {
        line.truncate(line.floor_char_boundary(SHOWN));
        line.push('…');
    }
    line
}

fn is_page(media: &Media) -> bool {
    let name = match media {
        Media::Other(name) => name,
        Media::Json | Media::Events => return false,
    };
    let pages = ["text/html", "application/xhtml+xml"];
    pages.iter().any(|page| name.eq_ignore_ascii_case(page))
}

#[cfg(test)]
mod tests {
    use toolspan_core::guard::Redactor;

    use super::*;

    const SECRET: &str = "a-planted-secret";

    fn shown(body: &str) -> String {
        shown_of(body, "text/html")
    }

    fn shown_of(body: &str, media: &str) -> String {
        let redactor = Redactor::new([SECRET]).hiding_urls();
        let media = Media::Other(media.to_owned());
        of(body.as_bytes(), &media, &Veil::of_config(&redactor))
    }

    #[test]
    fn a_page_is_known_by_its_kind_or_by_how_it_begins() {
        let page = "<p>Hello</p>";
        assert_eq!(shown_of(page, "Text/HTML"), "Hello");
        assert_eq!(shown_of(page, "text/plain"), page);
        let whole = format!("\n<!DOCTYPE html>{page}");
        assert_eq!(shown_of(&whole, "text/plain"), "Hello");
    }

    #[test]
    fn pages_of_common_servers_are_one_short_line() {
        let express = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                       <title>Error</title>\n</head>\n<body>\n<pre>Cannot POST /</pre>\n\
                       </body>\n</html>\n";
        let python = "<!DOCTYPE HTML>\n<html lang=\"en\">\n    <head>\n        \
                      <meta charset=\"utf-8\">\n        <style type=\"text/css\">\n            \
                      :root {\n            color-scheme: light dark;\n            }\n        \
                      </style>\n        <title>Error response</title>\n    </head>\n    <body>\n        \
                      <h1>Error response</h1>\n        <p>Error code: 404</p>\n        \
                      <p>Message: File not found.</p>\n    </body>\n</html>\n";
        let bare = "<html>\n <body>\n  <h1>It works!</h1>\n  <p>Nothing\n  here</p></body></html>";
        assert_eq!(shown(express), "Error");
        assert_eq!(shown(python), "Error response");
        assert_eq!(shown(bare), "It works! Nothing here");
    }

    #[test]
    fn a_long_page_is_cut_to_its_bound() {
        let page = format!(
            "<script>{}</script><p>{}",
            "x".repeat(4_000),
            "ä".repeat(400)
        );
        let line = shown(&page);
        assert_eq!(line, format!("{}…", "ä".repeat(100)));
        let title = format!("<title>{}</title>", "x".repeat(12_000));
        assert_eq!(shown(&title), format!("{}…", "x".repeat(200)));
    }

    #[test]
    fn no_secret_in_a_title_is_shown_wherever_it_is_cut() {
        for padding in 180..=200 {
            let page = format!("<title>{} {SECRET}</title>", "x".repeat(padding));
            let line = shown(&page);
            assert!(!line.contains("a-pl") && !line.contains("secret"), "{line}");
        }
        assert_eq!(
            shown(&format!("<title>No {SECRET} at /?token=abc</title>")),
            "No [redacted] at /?token=[redacted]"
        );
    }

    #[test]
    fn what_is_left_out_brings_no_part_of_a_cut_secret_to_the_front() {
        for start in HEAD - SECRET.len() - 1..HEAD {
            for (before, behind) in [("<script>", "</script>"), ("", "")] {
                let padding = " ".repeat(start - before.len() - behind.len());
                let page = format!("{before}{padding}{behind}{SECRET}");
                for media in ["text/html", "text/plain"] {
                    let line = shown_of(&page, media);
                    assert!(!line.contains("a-"), "{start}: {line}");
                }
            }
        }
    }
}
