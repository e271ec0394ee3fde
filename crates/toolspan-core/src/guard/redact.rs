//! Which strings must never leave the host, and how a text is freed of them.

use std::borrow::Cow;

use super::redact_urls::without_secrets_in_urls;

/// Shortest value that is looked for. A shorter one would hit innocent text.
const SHORTEST: usize = 8;
/// What stands in place of a secret.
pub(super) const MASK: &str = "[redacted]";

/// Replaces registered secret values in texts. Looks for each value as it is, JSON-escaped,
/// percent-encoded, as a form field, and for what stays of its base64, in both alphabets, at each of
/// three alignments. On request ([`hiding_urls`](Self::hiding_urls)) also hides what a URL shows.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Sorted, each once.
    needles: Vec<String>,
    urls: bool,
}

impl Redactor {
    /// A redactor that knows these values. Values under eight bytes are left out.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut needles: Vec<String> = secrets
            .into_iter()
            .filter(|s| s.len() >= SHORTEST)
            .flat_map(forms)
            .collect();
        needles.sort();
        needles.dedup();
        Self {
            needles,
            urls: false,
        }
    }

    /// Also hides, whatever their values, the user part of every URL (`https://user:password@`) and
    /// the values of query and fragment keys whose names say that they are secret, as well as `sig`
    /// and `code`; relative references included.
    ///
    /// ```
    /// let redactor = toolspan_core::guard::Redactor::default().hiding_urls();
    /// assert_eq!(
    ///     redactor.redact("GET https://me:pw@example.com/?page=2&token=abc"),
    ///     "GET https://[redacted]@example.com/?page=2&token=[redacted]",
    /// );
    /// ```
    #[must_use]
    pub fn hiding_urls(mut self) -> Self {
        self.urls = true;
        self
    }

    /// The text without any registered value; borrowed when there was none. All values are looked
    /// for in the text as it came, so that of two that overlap nothing is left.
    ///
    /// ```
    /// let redactor = toolspan_core::guard::Redactor::new(["hunter2-hunter2"]);
    /// assert_eq!(redactor.redact("key=hunter2-hunter2!"), "key=[redacted]!");
    /// ```
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = self.without_values(text);
        if !self.urls {
            return clean;
        }
        match without_secrets_in_urls(&clean) {
            Cow::Borrowed(_) => clean,
            Cow::Owned(cleaner) => Cow::Owned(cleaner),
        }
    }

    /// These parts of one text without any registered value, also where a value begins in one of them
    /// and ends in another; `None` when there was none. The mask stands where the value begins.
    ///
    /// ```
    /// let redactor = toolspan_core::guard::Redactor::new(["hunter2-hunter2"]);
    /// let clean = redactor.redact_across(&["key=hunter2-", "hunter2", "!"]);
    /// assert_eq!(clean.as_deref(), Some(&["key=[redacted]".to_owned(), "".into(), "!".into()][..]));
    /// ```
    pub fn redact_across(&self, parts: &[&str]) -> Option<Vec<String>> {
        let whole = parts.concat();
        let found = self.stretches(&whole);
        let mut begin = 0;
        let mut changed = !found.is_empty();
        let clean = parts.iter().map(|part| {
            let bounds = (begin, begin + part.len());
            begin = bounds.1;
            let clean = masked_within(&whole, bounds, &found);
            match self.urls.then(|| without_secrets_in_urls(&clean)) {
                Some(Cow::Owned(cleaner)) => {
                    changed = true;
                    cleaner
                }
                _ => clean,
            }
        });
        let clean = clean.collect();
        changed.then_some(clean)
    }

    fn without_values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.stretches(text);
        match found.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(masked(text, found)),
        }
    }

    /// Where registered values stand, sorted by where they begin.
    fn stretches(&self, text: &str) -> Vec<(usize, usize)> {
        let hits = self.needles.iter().flat_map(|needle| {
            text.match_indices(needle.as_str())
                .map(|(start, hit)| (start, start + hit.len()))
        });
        let mut found: Vec<(usize, usize)> = hits.collect();
        found.sort_unstable();
        found
    }

    /// Whether it hides nothing at all.
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty() && !self.urls
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let urls = if self.urls { ", urls" } else { "" };
        write!(formatter, "Redactor({} forms{urls})", self.needles.len())
    }
}

/// The text with a mask for each of these stretches, which are sorted by where they begin. Stretches
/// that overlap get one.
pub(super) fn masked(text: &str, stretches: impl IntoIterator<Item = (usize, usize)>) -> String {
    let mut clean = String::with_capacity(text.len());
    // Up to here the text is in `clean`, as it is or masked.
    let mut done = 0;
    for (start, end) in stretches {
        if start >= done {
            clean.push_str(text.get(done..start).unwrap_or_default());
            clean.push_str(MASK);
        }
        done = done.max(end);
    }
    clean.push_str(text.get(done..).unwrap_or_default());
    clean
}

/// What is left of a part of a text, from one byte to another, when these stretches of the text are
/// masked where they begin.
fn masked_within(text: &str, (begin, end): (usize, usize), stretches: &[(usize, usize)]) -> String {
    let mut clean = String::with_capacity(end - begin);
    // Up to here the text is masked or left.
    let mut done = 0;
    for (start, stop) in stretches {
        if *start >= done {
            let before = done.max(begin)..(*start).min(end);
            clean.push_str(text.get(before).unwrap_or_default());
            if (begin..end).contains(start) {
                clean.push_str(MASK);
            }
        }
        done = done.max(*stop);
    }
    clean.push_str(text.get(done.max(begin)..end).unwrap_or_default());
    clean
}

/// Every form in which a value is looked for.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let quoted = serde_json::Value::from(secret).to_string();
    let escaped = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    forms.extend(escaped.map(str::to_owned));
    let percent = percent_encoded(secret, |byte| format!("%{byte:02X}"));
    forms.push(percent_encoded(secret, |byte| format!("%{byte:02x}")));
    // A form field (application/x-www-form-urlencoded) writes a space as a plus.
    forms.push(percent.replace("%20", "+"));
    forms.push(percent);
    for core in base64_cores(secret.as_bytes()) {
        // The alphabet for URLs and file names (RFC 4648, section 5).
        forms.push(core.replace('+', "-").replace('/', "_"));
        forms.push(core);
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn percent_encoded(secret: &str, escaped: impl Fn(u8) -> String) -> String {
    let mut encoded = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&escaped(byte));
        }
    }
    encoded
}

/// The characters of the base64 form that depend on the secret alone, wherever it begins.
fn base64_cores(secret: &[u8]) -> Vec<String> {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    (0..3_usize)
        .filter_map(|offset| {
            let shifted = [vec![0; offset], secret.to_vec()].concat();
            let encoded = engine.encode(&shifted);
            // Characters that mix in the bits before or behind the secret are left out.
            let start = (offset * 8).div_ceil(6);
            let end = shifted.len() * 8 / 6;
            encoded.get(start..end).map(str::to_owned)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    #[test]
    fn every_form_is_found() {
        let secret = "p\"ss/word+123";
        let redactor = Redactor::new([secret]);
        for text in [
            secret.to_owned(),
            serde_json::json!({"k": secret}).to_string(),
            percent_encoded(secret, |byte| format!("%{byte:02X}")),
            percent_encoded(secret, |byte| format!("%{byte:02x}")),
        ] {
            let clean = redactor.redact(&format!("<{text}>")).into_owned();
            assert!(clean.contains(MASK), "{text} -> {clean}");
            assert!(!clean.contains("word"), "{clean}");
        }
    }

    #[test]
    fn base64_is_found_at_each_alignment() {
        let redactor = Redactor::new(["correct-horse-battery"]);
        for prefix in ["", "a", "ab", "user:"] {
            let text = format!("{prefix}correct-horse-battery!");
            let encoded = base64::engine::general_purpose::STANDARD.encode(&text);
            assert!(redactor.redact(&encoded).contains(MASK), "{encoded}");
        }
    }

    #[test]
    fn the_alphabet_for_urls_and_form_fields_are_known() {
        let secret = "??>>~~??>>~~ ??";
        let redactor = Redactor::new([secret]);
        let encoded = base64::engine::general_purpose::URL_SAFE.encode(secret);
        assert!(encoded.contains(['-', '_']), "{encoded}");
        for text in [encoded, "%3F%3F%3E%3E~~%3F%3F%3E%3E~~+%3F%3F".to_owned()] {
            assert!(redactor.redact(&text).contains(MASK), "{text}");
        }
    }

    #[test]
    fn of_values_that_overlap_or_contain_each_other_nothing_is_left() {
        let redactor = Redactor::new(["first-shared", "shared-second", "first-shared-and-more"]);
        assert_eq!(redactor.redact("<first-shared-second>"), "<[redacted]>");
        assert_eq!(redactor.redact("<first-shared-and-more>"), "<[redacted]>");
    }

    #[test]
    fn a_value_that_is_spread_over_parts_is_masked_where_it_begins() {
        let redactor = Redactor::new(["first-shared", "shared-second"]);
        let across = |parts: &[&str]| redactor.redact_across(parts);
        assert_eq!(
            across(&["a first-", "sha", "red-second b first-shared", "", " c"]).unwrap(),
            ["a [redacted]", "", " b [redacted]", "", " c"]
        );
        assert_eq!(across(&["first", "-", "other"]), None);
        assert_eq!(across(&[]), None);
        let urls = Redactor::default().hiding_urls();
        let clean = urls.redact_across(&["x", "GET https://me:pw@h/"]).unwrap();
        assert_eq!(clean, ["x", "GET https://[redacted]@h/"]);
    }

    proptest::proptest! {
        /// Parts that are put together again are as the whole text, wherever it was cut.
        #[test]
        fn it_makes_no_difference_where_a_text_is_cut(
            text in "[a-c]{0,80}",
            cuts in proptest::collection::vec(0..80_usize, 0..6),
        ) {
            let redactor = Redactor::new(["abcabcab", "bbbbbbbb", "cabcabbb"]);
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut parts = Vec::new();
            let mut rest = text.as_str();
            for cut in cuts {
                let (part, left) = rest.split_at(cut.min(rest.len()) / 2);
                parts.push(part);
                rest = left;
            }
            parts.push(rest);
            let whole = redactor.redact(&text);
            let across = redactor.redact_across(&parts).map(|parts| parts.concat());
            proptest::prop_assert_eq!(across.as_deref().unwrap_or(&text), &*whole);
        }

        #[test]
        fn no_form_of_a_secret_survives(
            secrets in proptest::collection::vec("[a-c\"/ é]{8,12}", 1..4),
            parts in proptest::collection::vec((0..4_usize, "[a-c\"/ é]{0,9}", 0..5_u8), 0..8),
        ) {
            use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
            let mut text = String::new();
            for (index, between, form) in parts {
                text.push_str(&between);
                let Some(secret) = secrets.get(index) else { continue };
                text.push_str(&match form {
                    0 => secret.clone(),
                    1 => serde_json::Value::from(secret.as_str()).to_string(),
                    2 => percent_encoded(secret, |byte| format!("%{byte:02x}")),
                    3 => STANDARD.encode(format!("{between}{secret}{between}")),
                    _ => URL_SAFE_NO_PAD.encode(format!("{between}{secret}{between}")),
                });
            }
            let clean = Redactor::new(secrets.iter().map(String::as_str)).redact(&text).into_owned();
            for form in secrets.iter().flat_map(|secret| forms(secret)) {
                proptest::prop_assert!(!clean.contains(&form), "{} in {}", form, clean);
            }
        }
    }

    #[test]
    fn short_values_are_left_alone() {
        assert!(Redactor::new(["abc", ""]).is_empty());
    }
}
