//! What is asked before a risky call, of whom, and what can be answered?

use std::borrow::Cow;
use std::fmt::Write;

use super::decision::Decision;
use super::facts::Facts;
use super::fingerprint::definition_hash;
use super::level::Level;
use super::risk::SecurityRisk;
use crate::BoxFuture;
use crate::guard::sanitise;
use crate::visual::Styled;

/// Answers for a person whether a call may run. Several calls may ask at once; whoever has but one
/// screen puts the questions in a row.
///
/// Dropping the future takes the question back: the call was cancelled or took too long. A panic
/// counts as no answer.
pub trait Approver: Send + Sync {
    /// Puts the question and waits for the answer.
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What is asked about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The tool's exposed name.
    pub tool: String,
    /// The toolbox's key as the config writes it.
    pub toolbox: String,
    /// The source's own name for the tool.
    pub original_name: String,
    /// The arguments as the JSON text that is sent, byte for byte.
    pub arguments: String,
    /// What [`definition_hash`] gives.
    pub definition_hash: String,
    /// The level of the call.
    pub level: Level,
    /// The risk as the analyzers see it.
    pub risk: SecurityRisk,
    /// The rule that led to the question.
    pub rule: String,
    /// Where the tool comes from.
    pub origin: Option<String>,
    /// What the tool's author shows of the call beside the arguments.
    pub view: Option<Styled>,
}

/// What an approver answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// This call runs.
    Once,
    /// This call runs, and later ones of the same tool as long as its definition stays the same.
    /// At level 3 it means once.
    Session,
    /// It does not run; why, for the caller and the model. May be empty.
    Refuse(String),
}

impl Question {
    pub(super) fn new(facts: &Facts<'_>, decision: &Decision) -> Self {
        Self {
            tool: facts.tool.to_owned(),
            toolbox: facts.toolbox.to_owned(),
            original_name: facts.definition.name.clone(),
            arguments: facts.arguments_text.to_owned(),
            definition_hash: definition_hash(facts),
            level: decision.level,
            risk: decision.risk,
            rule: decision.rule.clone().into_owned(),
            origin: facts.origin.map(str::to_owned),
            view: facts.view.cloned(),
        }
    }

    /// Whether [`Answer::Session`] is remembered.
    pub fn may_remember(&self) -> bool {
        self.level <= Level::AskOnce
    }

    /// The question for a terminal or a window, several lines, whole: what cannot be seen or could
    /// steer a terminal is written as a JSON escape in the arguments, so that the text still means
    /// exactly what is sent, and made harmless elsewhere.
    pub fn text(&self) -> String {
        let line = |text: &str| sanitise::one_line(text, usize::MAX);
        let mut text = format!("tool: {}\n", line(&self.tool));
        let origin = self.origin.as_deref().unwrap_or_default();
        let comma = if origin.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "from: {} of toolbox {}{comma}{}",
            line(&self.original_name),
            line(&self.toolbox),
            line(origin)
        );
        let _ = writeln!(text, "arguments: {}", visible(&self.arguments));
        // Each line is set in, so that none can pass for one of the question's own.
        let view = self.view.as_ref().map(Styled::to_plain).unwrap_or_default();
        for (number, line) in view.lines().enumerate() {
            let begin = if number == 0 {
                "shown as:"
            } else {
                "         "
            };
            let _ = writeln!(text, "{begin} {line}");
        }
        let _ = write!(
            text,
            "why: {} (level {}, risk {})",
            line(&self.rule),
            self.level.number(),
            self.risk
        );
        text
    }
}

/// JSON text with every character that is not plainly visible as a `\u` escape. Outside of strings
/// JSON has no such character, and inside an escape is the same string (RFC 8259, section 7).
fn visible(json: &str) -> Cow<'_, str> {
    if json.chars().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len() + 64);
    for char in json.chars() {
        if is_plain(char) {
            text.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    Cow::Owned(text)
}

/// Whether a character shows as itself wherever it stands.
fn is_plain(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_control();
    }
    let mut bytes = [0; 4];
    let alone = char.encode_utf8(&mut bytes);
    matches!(sanitise::for_people(alone), Cow::Borrowed(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_mean_the_same() {
        let value = serde_json::json!({"p": "a\u{202e}b\u{e0041}\u{7f}\u{200b}é日\\u", "q": "\n"});
        let json = value.to_string();
        let shown = visible(&json);
        for hidden in ['\u{202e}', '\u{e0041}', '\u{7f}', '\u{200b}'] {
            assert!(!shown.contains(hidden), "{shown}");
        }
        assert!(shown.contains("é日"), "{shown}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            value
        );
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_is_what_is_sent(text in "\\PC{0,20}|[\u{0}-\u{2fff}]{0,20}") {
            let json = serde_json::Value::from(text).to_string();
            let shown = visible(&json);
            let (shown, sent): (serde_json::Value, serde_json::Value) =
                (serde_json::from_str(&shown).unwrap(), serde_json::from_str(&json).unwrap());
            proptest::prop_assert_eq!(shown, sent);
        }
    }
}
