//! Which strings must never leave the host, and how a text is freed of them.

use std::borrow::Cow;

/// Shortest value that is looked for. A shorter one would hit innocent text.
const SHORTEST: usize = 8;
/// What stands in place of a secret.
const MASK: &str = "[redacted]";

/// Replaces registered secret values in texts. Looks for each value as it is, in its JSON-escaped
/// and in its percent-encoded form, and for what stays of its base64 at each of three alignments.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret that contains another is replaced whole.
    needles: Vec<String>,
}

impl Redactor {
    /// A redactor that knows these values. Values under eight bytes are left out.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut needles: Vec<String> = secrets
            .into_iter()
            .filter(|s| s.len() >= SHORTEST)
            .flat_map(forms)
            .collect();
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { needles }
    }

    /// The text without any registered value; borrowed when there was none.
    ///
    /// ```
    /// let redactor = toolspan_core::guard::Redactor::new(["hunter2-hunter2"]);
    /// assert_eq!(redactor.redact("key=hunter2-hunter2!"), "key=[redacted]!");
    /// ```
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for needle in &self.needles {
            if text.contains(needle.as_str()) {
                text = Cow::Owned(text.replace(needle.as_str(), MASK));
            }
        }
        text
    }

    /// Whether nothing is registered.
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Redactor({} forms)", self.needles.len())
    }
}

/// Every form in which a value is looked for.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let quoted = serde_json::Value::from(secret).to_string();
    let escaped = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    forms.extend(escaped.map(str::to_owned));
    forms.push(percent_encoded(secret));
    forms.extend(base64_cores(secret.as_bytes()));
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn percent_encoded(secret: &str) -> String {
    let mut encoded = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
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
            percent_encoded(secret),
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
    fn short_values_are_left_alone() {
        assert!(Redactor::new(["abc", ""]).is_empty());
    }
}
