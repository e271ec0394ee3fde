//! How are the credentials that a server was given kept out of what it says?
//!
//! A server can say back what it was sent, in a result, a list of tools or a report of progress, and
//! from there it would get into a model's context, a transcript or a terminal.

use serde_json::Value;
use serde_json::value::RawValue;
use toolspan_core::guard::Redactor;

/// A result without the credentials. It comes back as it is, without a copy, where it has none.
pub(crate) fn masked(credentials: &Redactor, result: Box<RawValue>) -> Box<RawValue> {
    if credentials.is_empty() {
        return result;
    }
    let masked = match credentials.redact(result.get()) {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(text) => Some(text),
    };
    let Some(text) = masked else {
        return result;
    };
    RawValue::from_string(text)
        .or_else(|_| value_by_value(credentials, &result))
        // What cannot be masked is not shown.
        .unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// For a mask that would break the JSON: a credential of digits may stand there as a number.
fn value_by_value(
    credentials: &Redactor,
    result: &RawValue,
) -> Result<Box<RawValue>, serde_json::Error> {
    let mut value: Value = serde_json::from_str(result.get())?;
    mask_in(credentials, &mut value);
    serde_json::value::to_raw_value(&value)
}

/// Recursion ends at the depth of a message, which was checked before it was read.
fn mask_in(credentials: &Redactor, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| mask_in(credentials, item)),
        Value::Object(members) => {
            let masked = std::mem::take(members).into_iter().map(|(key, mut value)| {
                mask_in(credentials, &mut value);
                (credentials.redact(&key).into_owned(), value)
            });
            *members = masked.collect();
        }
        Value::String(text) => *text = credentials.redact(text).into_owned(),
        Value::Number(number) => {
            let digits = number.to_string();
            let clean = credentials.redact(&digits);
            if clean != digits {
                *value = Value::String(clean.into_owned());
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(secrets: &[&str], json: &str) -> String {
        let credentials = Redactor::new(secrets.iter().copied());
        let result = RawValue::from_string(json.to_owned()).unwrap();
        masked(&credentials, result).get().to_owned()
    }

    #[test]
    fn what_a_server_says_back_is_masked_in_every_form() {
        let said = r#"{"content":[{"type":"text","text":"got Bearer pa\"ss-word-1 and cGEic3Mtd29yZC0x"}]}"#;
        let masked = of(&["pa\"ss-word-1"], said);
        assert_eq!(
            masked,
            r#"{"content":[{"type":"text","text":"got Bearer [redacted] and [redacted]"}]}"#
        );
    }

    #[test]
    fn a_credential_of_digits_leaves_json_wherever_it_stands() {
        let said = r#"{"content":[],"structuredContent":{"pin":1234567890,"12345678901":[1,"x1234567890"]}}"#;
        let masked = of(&["1234567890"], said);
        assert_eq!(
            masked,
            r#"{"content":[],"structuredContent":{"pin":"[redacted]","[redacted]1":[1,"x[redacted]"]}}"#
        );
    }

    #[test]
    fn a_result_without_a_credential_stays_as_it_came() {
        let said = r#"{ "content" : [ ] }"#;
        assert_eq!(of(&["a-long-secret"], said), said);
        assert_eq!(of(&[], said), said);
    }
}
