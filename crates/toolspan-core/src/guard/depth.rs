//! How deep a JSON text or value nests, found without recursion.

use serde_json::Value;

/// The deepest nesting of arrays and objects in a JSON text, or `None` when it passes `limit`.
///
/// Looks at brackets outside strings only, so it works on broken JSON too and never allocates.
/// A scalar has depth 0, `[]` has depth 1.
///
/// ```
/// use toolspan_core::guard::depth::of_text;
/// assert_eq!(of_text(br#"{"a":[1,"]"]}"#, 64), Some(2));
/// assert_eq!(of_text(&b"[".repeat(100_000), 64), None);
/// ```
pub fn of_text(text: &[u8], limit: usize) -> Option<usize> {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return None;
                }
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Some(deepest)
}

/// Moves behind the closing quote of a string whose opening quote was just read.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

/// Whether a value nests deeper than `limit`, as [`of_text`] counts.
pub fn exceeds(value: &Value, limit: usize) -> bool {
    let mut open = vec![(value, 0_usize)];
    while let Some((value, depth)) = open.pop() {
        let inner: &mut dyn Iterator<Item = &Value> = match value {
            Value::Array(items) => &mut items.iter(),
            Value::Object(members) => &mut members.values(),
            _ => continue,
        };
        if depth + 1 > limit {
            return true;
        }
        open.extend(
            inner
                .filter(|v| v.is_array() || v.is_object())
                .map(|v| (v, depth + 1)),
        );
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(of_text(br#"["[[[\"[[", {}]"#, 64), Some(2));
    }

    #[test]
    fn the_limit_itself_is_allowed_and_one_more_is_not() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(of_text(nested(64).as_bytes(), 64), Some(64));
        assert_eq!(of_text(nested(65).as_bytes(), 64), None);
    }

    #[test]
    fn values_and_texts_agree() {
        let value = json!({"a": [1, {"b": {}}], "c": "["});
        assert!(exceeds(&value, 3));
        assert!(!exceeds(&value, 4));
        assert_eq!(of_text(value.to_string().as_bytes(), 64), Some(4));
        assert!(!exceeds(&json!("x"), 0));
    }
}
