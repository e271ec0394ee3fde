//! How deep and how large is a JSON value? Answered without recursion.

use serde_json::Value;

/// The measured size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Objects and arrays nested in one another; a scalar has depth 0.
    pub(super) depth: usize,
    /// Values at every place, the root included; names of properties do not count.
    pub(super) values: u64,
    /// Bytes of all strings and names.
    pub(super) text: u64,
}

/// The value is nested more deeply than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooDeep;

/// Measures `value`, stopping at the first place deeper than `maximum`. A flat object costs no
/// allocation.
pub(super) fn measure<'v>(value: &'v Value, maximum: usize) -> Result<Size, TooDeep> {
    let mut size = Size {
        depth: 0,
        values: 1,
        text: 0,
    };
    if let Value::String(text) = value {
        size.text = bytes(text);
    }
    let mut open: Vec<(&'v Value, usize)> = Vec::new();
    let mut next = is_container(value).then_some((value, 1));
    while let Some((container, depth)) = next {
        if depth > maximum {
            return Err(TooDeep);
        }
        size.depth = size.depth.max(depth);
        let mut enter = |name: &str, child: &'v Value| {
            size.values = size.values.saturating_add(1);
            size.text = size.text.saturating_add(bytes(name));
            match child {
                Value::String(text) => size.text = size.text.saturating_add(bytes(text)),
                Value::Array(_) | Value::Object(_) => open.push((child, depth + 1)),
                _ => {}
            }
        };
        match container {
            Value::Array(items) => items.iter().for_each(|item| enter("", item)),
            Value::Object(map) => map.iter().for_each(|(name, child)| enter(name, child)),
            _ => {}
        }
        next = open.pop();
    }
    Ok(size)
}

/// Bytes of all strings and names in `value`, plus a few for every other value: about the memory
/// a copy takes. `value` must have passed [`measure`] or be otherwise known to be small.
pub(super) fn weight(value: &Value) -> u64 {
    let mut total: usize = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        total = total.saturating_add(std::mem::size_of::<Value>());
        match value {
            Value::String(text) => total = total.saturating_add(text.len()),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                for (key, child) in map {
                    total = total.saturating_add(key.len());
                    open.push(child);
                }
            }
            _ => {}
        }
    }
    u64::try_from(total).unwrap_or(u64::MAX)
}

/// Drops a value without recursion: the ordinary drop of a value nested 100,000 deep overflows
/// the stack.
pub(super) fn dismantle(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.into_iter().filter(is_container)),
            Value::Object(map) => {
                open.extend(map.into_iter().map(|(_, child)| child).filter(is_container));
            }
            _ => {}
        }
    }
}

pub(super) fn bytes(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}
