//! How do `$id` and its relatives get their values?

use serde_json::Value;

/// What placeholders stand for: the messages expected so far, the loop count, the process id.
///
/// A string that is exactly `$name` becomes the value itself; `${name}` inside a longer string
/// becomes its text. Names: `id`, `method`, `params`, `text` (the argument `text` of a call),
/// `token` (its progress token), `version` (the protocol version asked for), `cursor`, all of the
/// latest expected message or, as `first.id`, of the one expected `as` `first`; and `n`, `pid`.
/// Over HTTP also `url` (what clients are given), `origin`, `port`, `other_origin` (the same server at
/// another port), and of the latest expected request `session` and `endpoint` (where HTTP+SSE takes
/// the messages of that session).
/// An unknown name is left as written; a name without a value gives `null`.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    latest: Value,
    named: Vec<(String, Value)>,
    /// The rounds of the loops being played, outermost first.
    rounds: Vec<u64>,
    /// What the wire knows, by name.
    facts: Vec<(&'static str, Value)>,
}

impl Placeholders {
    /// Remembers an expected message, also under the name it was given.
    pub(crate) fn bind(&mut self, message: Value, name: Option<&str>) {
        if let Some(name) = name {
            self.named.retain(|(existing, _)| existing != name);
            self.named.push((name.to_owned(), message.clone()));
        }
        self.latest = message;
    }

    /// Gives a name a value that no message has.
    pub(crate) fn tell(&mut self, name: &'static str, value: Value) {
        self.facts.retain(|(existing, _)| *existing != name);
        self.facts.push((name, value));
    }

    /// Enters a loop; `$n` is 0.
    pub(crate) fn enter_loop(&mut self) {
        self.rounds.push(0);
    }

    /// Begins the next round of the innermost loop.
    pub(crate) fn next_round(&mut self) {
        if let Some(round) = self.rounds.last_mut() {
            *round += 1;
        }
    }

    /// Leaves the innermost loop.
    pub(crate) fn leave_loop(&mut self) {
        self.rounds.pop();
    }

    /// Fills in a message. Recursion is bounded: a script nests at most 128 deep.
    pub(crate) fn fill(&self, template: &Value) -> Value {
        match template {
            Value::String(text) => self.fill_string(text),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (key.clone(), self.fill(value)))
                .collect(),
            other => other.clone(),
        }
    }

    /// Fills `${name}` in text that is written as it stands, each as JSON.
    pub(crate) fn fill_raw(&self, text: &str) -> String {
        self.replace(text, &|value| value.to_string())
    }

    /// Fills `${name}` in text for people, strings without their quotes.
    pub(crate) fn fill_text(&self, text: &str) -> String {
        self.replace(text, &|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn fill_string(&self, text: &str) -> Value {
        match text.strip_prefix('$').and_then(|name| self.value(name)) {
            Some(value) => value,
            None => Value::String(self.fill_text(text)),
        }
    }

    fn replace(&self, text: &str, show: &dyn Fn(Value) -> String) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            filled.push_str(before);
            let known = after
                .split_once('}')
                .and_then(|(name, tail)| self.value(name).map(|value| (value, tail)));
            match known {
                Some((value, tail)) => {
                    filled.push_str(&show(value));
                    rest = tail;
                }
                None => {
                    filled.push_str("${");
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// The value of a name, or nothing when there is no such name.
    fn value(&self, name: &str) -> Option<Value> {
        match name {
            "n" => return Some(self.rounds.last().copied().into()),
            "pid" => return Some(std::process::id().into()),
            _ => {}
        }
        if let Some((_, value)) = self.facts.iter().find(|(existing, _)| *existing == name) {
            return Some(value.clone());
        }
        let (message, field) = match name.split_once('.') {
            None => (&self.latest, name),
            Some((owner, field)) => {
                let found = self.named.iter().find(|(existing, _)| existing == owner);
                (found.map(|(_, message)| message)?, field)
            }
        };
        let pointer = match field {
            "id" => "/id",
            "method" => "/method",
            "params" => "/params",
            "text" => "/params/arguments/text",
            "token" => "/params/_meta/progressToken",
            "version" => "/params/protocolVersion",
            "cursor" => "/params/cursor",
            _ => return None,
        };
        Some(message.pointer(pointer).cloned().unwrap_or(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_call() -> Placeholders {
        let mut placeholders = Placeholders::default();
        let call =
            json!({"id": 7, "method": "tools/call", "params": {"arguments": {"text": "a\"b"}}});
        placeholders.bind(call, Some("first"));
        placeholders.bind(json!({"id": "eight"}), None);
        placeholders
    }

    #[test]
    fn a_whole_string_becomes_the_value_with_its_type() {
        let filled = with_call().fill(&json!({"a": "$first.id", "b": ["$id"], "c": "$first.text"}));
        assert_eq!(filled, json!({"a": 7, "b": ["eight"], "c": "a\"b"}));
    }

    #[test]
    fn a_part_of_a_string_becomes_text_and_a_part_of_raw_text_becomes_json() {
        assert_eq!(
            with_call().fill(&json!("n${first.id}-${id}")),
            json!("n7-eight")
        );
        assert_eq!(with_call().fill_raw("{\"id\":${id}"), "{\"id\":\"eight\"");
    }

    #[test]
    fn an_unknown_name_stays_and_a_missing_value_is_null() {
        let filled = with_call().fill(&json!(["$schema", "${nope} ${", "$token", "$other.id"]));
        assert_eq!(filled, json!(["$schema", "${nope} ${", null, "$other.id"]));
    }

    #[test]
    fn the_innermost_loop_counts() {
        let mut placeholders = Placeholders::default();
        placeholders.enter_loop();
        placeholders.next_round();
        placeholders.enter_loop();
        assert_eq!(placeholders.fill(&json!("$n")), json!(0));
        placeholders.leave_loop();
        assert_eq!(placeholders.fill(&json!("page-${n}")), json!("page-1"));
    }
}
