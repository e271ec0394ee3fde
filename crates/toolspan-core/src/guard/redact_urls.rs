//! Which parts of a URL in a text are secret, whoever wrote them?

use std::borrow::Cow;

use super::redact::masked;
use super::secret::names_a_secret;

/// Longest name of a query key that is looked at, in bytes: what no person would call a key is none.
const LONGEST_NAME: usize = 128;

/// The text with the user part of each URL masked, and the value of each secret query or fragment
/// key; borrowed when there was none. Values behind `?key=` are masked in relative references too.
/// What is hidden may reach past the URL's end, never stop before it.
pub(super) fn without_secrets_in_urls(text: &str) -> Cow<'_, str> {
    let mut found: Vec<(usize, usize)> = user_parts(text).chain(secret_values(text)).collect();
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_unstable();
    Cow::Owned(masked(text, found))
}

/// Where a user part lies between `://` and `@` (RFC 3986, section 3.2.1).
fn user_parts(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.match_indices("://").filter_map(|(at, separator)| {
        let start = at + separator.len();
        let rest = text.get(start..)?;
        let authority = rest.split(ends_authority).next()?;
        let length = authority.rfind('@')?;
        (length > 0).then_some((start, start + length))
    })
}

fn ends_authority(letter: char) -> bool {
    matches!(letter, '/' | '?' | '#') || ends_url(letter)
}

/// No letter of a URL as it is written in a text; a backslash begins an escape of JSON.
fn ends_url(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control() || matches!(letter, '"' | '<' | '>' | '`' | '\\')
}

/// Where the values of secret keys lie: `?key=value`, also behind `&`, `;`, `#`, and behind an
/// ampersand as JSON may escape it.
fn secret_values(text: &str) -> impl Iterator<Item = (usize, usize)> {
    // Up to here the text lies in a value that is hidden: looked through once, however many keys
    // it seems to hold.
    let mut done = 0;
    text.match_indices('=').filter_map(move |(equals, _)| {
        if equals < done || !is_secret(name_before(text, equals)?) {
            return None;
        }
        let start = equals + 1;
        let value = text
            .get(start..)?
            .split(|letter| matches!(letter, '&' | '#') || ends_url(letter))
            .next()?
            // The end of a sentence or of a pair of brackets around the URL.
            .trim_end_matches(['.', ',', ':', ';', '\'', ')']);
        done = start + value.len();
        (!value.is_empty()).then_some((start, done))
    })
}

fn is_secret(name: &str) -> bool {
    let short = ["sig", "code"];
    names_a_secret(name) || short.iter().any(|short| name.eq_ignore_ascii_case(short))
}

/// The key whose name ends here, without what stands before it.
fn name_before(text: &str, end: usize) -> Option<&str> {
    const ESCAPED_AMPERSAND: &str = "u0026";
    let before = text.get(..end)?;
    let start = before
        .bytes()
        .rev()
        .take(LONGEST_NAME)
        .position(|byte| !is_of_a_name(byte))
        .map(|length| end - length)?;
    let name = before.get(start..)?;
    match before.get(..start)?.bytes().next_back()? {
        b'?' | b'&' | b';' | b'#' => Some(name),
        b'\\' => name.strip_prefix(ESCAPED_AMPERSAND),
        _ => None,
    }
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~%$[]+".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::without_secrets_in_urls as clean;
    use std::borrow::Cow;

    #[test]
    fn what_a_url_must_not_show_is_hidden() {
        for (text, expected) in [
            ("https://me:pw@h/x", "https://[redacted]@h/x"),
            ("https://only-a-user@h", "https://[redacted]@h"),
            ("HTTPS://a:b@c@h:80/?q", "HTTPS://[redacted]@h:80/?q"),
            (
                "see 'http://u:p@h' and a@b",
                "see 'http://[redacted]@h' and a@b",
            ),
            ("wss://u:p@h?token=x", "wss://[redacted]@h?token=[redacted]"),
            ("http://h/?token=abc", "http://h/?token=[redacted]"),
            (
                "http://h/?a=1&api_key=abc&b=2",
                "http://h/?a=1&api_key=[redacted]&b=2",
            ),
            (
                "http://h/?a=1;key=abc#top",
                "http://h/?a=1;key=[redacted]#top",
            ),
            (
                "http://h/#access_token=abc",
                "http://h/#access_token=[redacted]",
            ),
            (
                "http://h/?X-Amz-Signature=abc",
                "http://h/?X-Amz-Signature=[redacted]",
            ),
            (
                "http://h/?sig=abc&code=d",
                "http://h/?sig=[redacted]&code=[redacted]",
            ),
            (
                "/messages?id=7&Token=abc.",
                "/messages?id=7&Token=[redacted].",
            ),
            ("(http://h/?secret=a(b)c)", "(http://h/?secret=[redacted])"),
            (
                "<a href=\"/?a=b&amp;token=x\">",
                "<a href=\"/?a=b&amp;token=[redacted]\">",
            ),
            (
                r#"{"u":"/?a=b\u0026key=x\u0026c=d"}"#,
                r#"{"u":"/?a=b\u0026key=[redacted]\u0026c=d"}"#,
            ),
            ("?token=a=b?c/d", "?token=[redacted]"),
            ("?key=a?key=b?CODE=c", "?key=[redacted]"),
            ("?SIG=a", "?SIG=[redacted]"),
            ("?token=[redacted]", "?token=[redacted]"),
            ("?token=käse", "?token=[redacted]"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn other_text_is_left_alone_and_not_copied() {
        for text in [
            "",
            "http://h/a@b?page=2&timezone=x",
            "http://h/\nme@example.com",
            "http://@h/",
            "?token=&a=b",
            "token=abc",
            "let key=5; a?b=c",
            "=://=",
        ] {
            assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_secret_survives_and_a_clean_text_stays_as_it_is(
            before in ".{0,20}",
            secret in "[A-Za-z0-9=?/:@!$*+,~_-]{8,20}[A-Za-z0-9]",
            key in "token|x-api-key|client_secret|sig|code",
            user in "[a-z]{1,8}",
        ) {
            let text = format!("{before} https://h/?a=b&{key}={secret}&c=d {before}");
            let once = clean(&text).into_owned();
            proptest::prop_assert!(!once.contains(&format!("={secret}")), "{}", once);
            proptest::prop_assert_eq!(clean(&once), once.as_str());
            let password: String = secret.replace(['/', '?'], "");
            let text = format!("{before} https://{user}:{password}@h/ {before}");
            let once = clean(&text).into_owned();
            proptest::prop_assert!(!once.contains(&format!("{user}:{password}@")), "{}", once);
        }
    }
}
