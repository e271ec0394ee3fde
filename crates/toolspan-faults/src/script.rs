//! How is a script read, and what makes one unplayable?

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::ScriptError;
use crate::http_step::{Headers, Respond, SetHttp, Sse};
use crate::step::{Part, Step};

/// The most bytes one raw step may write: 1 GiB.
pub const MAX_RAW_BYTES: u64 = 1 << 30;

/// A list of steps that can be played.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    steps: Vec<Step>,
}

impl Script {
    /// Reads JSON Lines: one step per line; blank lines and lines that start with `#` are skipped.
    pub fn from_lines(text: &str) -> Result<Self, ScriptError> {
        let mut steps = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_text = line.trim();
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let step = serde_json::from_str(line_text).map_err(|source| ScriptError::Line {
                line: index + 1,
                step: steps.len() + 1,
                source,
            })?;
            steps.push(step);
        }
        Self::from_steps(steps)
    }

    /// Reads a JSON array of steps.
    pub fn from_array(text: &str) -> Result<Self, ScriptError> {
        let elements: Vec<Value> =
            serde_json::from_str(text).map_err(|source| ScriptError::NotAnArray { source })?;
        let steps = elements
            .iter()
            .enumerate()
            .map(|(index, element)| {
                Step::deserialize(element).map_err(|source| ScriptError::Element {
                    step: index + 1,
                    source,
                })
            })
            .collect::<Result<_, _>>()?;
        Self::from_steps(steps)
    }

    /// Reads a JSON Lines file.
    pub fn from_file(path: &Path) -> Result<Self, ScriptError> {
        let text = fs::read_to_string(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::from_lines(&text)
    }

    /// Checks steps that were made or read elsewhere.
    pub fn from_steps(steps: Vec<Step>) -> Result<Self, ScriptError> {
        for (index, step) in steps.iter().enumerate() {
            check(step).map_err(|reason| ScriptError::Unplayable {
                step: index + 1,
                reason,
            })?;
        }
        Ok(Self { steps })
    }

    /// Moves the misbehaviour to a later call: the first step that expects `tools/call` waits for
    /// the `nth` one (from 1), and the calls before it are answered honestly. A script without such
    /// a step is left as it is.
    #[must_use]
    pub fn on_call(mut self, nth: u32) -> Self {
        let first = self.steps.iter_mut().find_map(|step| match step {
            Step::Expect(expect) if expect.method == "tools/call" => Some(expect),
            _ => None,
        });
        if let Some(expect) = first {
            expect.nth = nth.max(1);
        }
        self
    }

    /// The steps in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// Finds what the types cannot rule out. Recursion is bounded: the JSON reader nests 128 deep.
fn check(step: &Step) -> Result<(), String> {
    match step {
        Step::SendRaw(raw) | Step::Stderr(raw) | Step::RawHttp(raw) => check_parts(&raw.parts),
        Step::Set(set) => set.http.as_ref().map_or(Ok(()), check_set),
        Step::ExpectRequest(expected) => check_headers(&expected.headers),
        Step::Respond(respond) => check_respond(respond),
        Step::Sse(sse) => check_sse(sse),
        Step::Split(split) if split.sizes.is_empty() || split.sizes.contains(&0) => {
            Err("`sizes` needs at least one size, and none may be 0".to_owned())
        }
        Step::Loop(inner) if inner.steps.is_empty() => {
            Err("a loop needs at least one step".to_owned())
        }
        _ => step.inner().iter().try_for_each(check),
    }
}

fn check_set(set: &SetHttp) -> Result<(), String> {
    let id = set.session_id.as_ref().map(|id| id.0.as_slice());
    check_value("session_id", id.unwrap_or_default())?;
    set.headers.as_ref().map_or(Ok(()), check_headers)
}

fn check_respond(respond: &Respond) -> Result<(), String> {
    if respond.message.is_some() && !respond.body.is_empty() {
        return Err("`message` and `body` are two bodies".to_owned());
    }
    check_status(respond.status)?;
    check_headers(&respond.headers)?;
    check_parts(&respond.body)
}

fn check_sse(sse: &Sse) -> Result<(), String> {
    check_status(sse.status)?;
    check_headers(&sse.headers)?;
    for event in &sse.events {
        if event.data.is_some() && event.message.is_some() {
            return Err("`message` and `data` are the same field of an event".to_owned());
        }
        check_parts(&event.raw)?;
    }
    Ok(())
}

fn check_status(status: u16) -> Result<(), String> {
    if (200..=599).contains(&status) {
        Ok(())
    } else {
        Err(format!("{status} is no final status; they are 200 to 599"))
    }
}

fn check_headers(headers: &Headers) -> Result<(), String> {
    let mut headers = headers.0.iter();
    headers.try_for_each(|(name, value)| check_value(name, value))
}

/// A line end would begin another header, or the body.
fn check_value(name: &str, value: &[Part]) -> Result<(), String> {
    check_parts(value)?;
    for part in value {
        let bytes = match part {
            Part::Text(text) | Part::Plain(text) => text.clone().into_bytes(),
            Part::Repeat(repeat) => repeat.text.clone().into_bytes(),
            Part::Hex(digits) => decode_hex(digits)?,
            Part::RepeatHex(repeat) => decode_hex(&repeat.text)?,
        };
        if bytes.contains(&b'\n') || bytes.contains(&b'\r') {
            return Err(format!(
                "the value of `{name}` holds a line end; write it with `raw_http`"
            ));
        }
    }
    Ok(())
}

fn check_parts(parts: &[Part]) -> Result<(), String> {
    let mut total = 0_u64;
    for part in parts {
        let length = match part {
            Part::Text(text) | Part::Plain(text) => text.len() as u64,
            Part::Hex(digits) => decode_hex(digits)?.len() as u64,
            Part::RepeatHex(repeat) => {
                (decode_hex(&repeat.text)?.len() as u64).saturating_mul(repeat.times)
            }
            Part::Repeat(repeat) => (repeat.text.len() as u64).saturating_mul(repeat.times),
        };
        total = total.saturating_add(length);
    }
    if total > MAX_RAW_BYTES {
        return Err(format!(
            "{total} bytes are more than 1 GiB; use a loop for endless output"
        ));
    }
    Ok(())
}

/// Turns `"fffe"` into two bytes.
pub(crate) fn decode_hex(digits: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{digits}` is not an even number of hexadecimal digits");
    let values = digits
        .chars()
        .map(|digit| {
            digit
                .to_digit(16)
                .and_then(|value| u8::try_from(value).ok())
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(wrong)?;
    if !values.len().is_multiple_of(2) {
        return Err(wrong());
    }
    Ok(values
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, value| (byte << 4) | value))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Script, ScriptError>) -> String {
        result.expect_err("the script is wrong").to_string()
    }

    #[test]
    fn comments_and_blank_lines_are_not_steps() {
        let script = Script::from_lines("# what it does\n\n\"handshake\"\n  # more\n\"serve\"\n");
        assert_eq!(
            script.expect("valid").steps(),
            [Step::Handshake, Step::Serve]
        );
    }

    #[test]
    fn an_error_names_the_line_the_step_and_the_choices() {
        let text = message(Script::from_lines(
            "# comment\n\"serve\"\n{\"dance\": {}}\n",
        ));
        assert!(
            text.starts_with("line 3 (step 2) is not a step: unknown variant `dance`"),
            "{text}"
        );
        assert!(text.contains("`send_raw`"), "{text}");
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        let text = message(Script::from_lines("{\"exit\": {\"code\": 1, \"cod\": 2}}"));
        assert!(text.contains("unknown field `cod`"), "{text}");
    }

    #[test]
    fn an_inline_error_names_the_element() {
        let text = message(Script::from_array(
            "[\"serve\", {\"kill_self\": {\"signal\": \"X\"}}]",
        ));
        assert!(
            text.starts_with("step 2 is not a step: unknown variant `X`"),
            "{text}"
        );
        assert!(message(Script::from_array("{}")).contains("not a JSON array"));
    }

    #[test]
    fn expect_has_a_short_and_a_long_form() {
        let short = Script::from_array("[{\"expect\": \"ping\"}]").expect("valid");
        let long = Script::from_array("[{\"expect\": {\"method\": \"ping\"}}]").expect("valid");
        assert_eq!(short, long);
        let text = message(Script::from_array(
            "[{\"expect\": {\"method\": \"a\", \"nth\": 0}}]",
        ));
        assert!(text.contains("counts from 1"), "{text}");
    }

    #[test]
    fn what_cannot_be_played_is_refused_before_playing() {
        let cases = [
            ("[{\"loop\": {\"steps\": []}}]", "at least one step"),
            (
                "[{\"split\": {\"message\": 1, \"sizes\": [0]}}]",
                "none may be 0",
            ),
            (
                "[{\"send_raw\": {\"parts\": [{\"hex\": \"f\"}]}}]",
                "hexadecimal",
            ),
            (
                "[{\"loop\": {\"steps\": [{\"send_raw\": {\"parts\": [{\"hex\": \"zz\"}]}}]}}]",
                "hexadecimal",
            ),
            (
                "[{\"stderr\": {\"parts\": [{\"repeat\": {\"text\": \"ab\", \"times\": 1000000000}}]}}]",
                "more than 1 GiB",
            ),
        ];
        for (script, expected) in cases {
            let text = message(Script::from_array(script));
            assert!(text.starts_with("step 1 cannot be played"), "{text}");
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn hexadecimal_digits_become_bytes() {
        assert_eq!(decode_hex("fFfe00").expect("valid"), [0xff, 0xfe, 0]);
        assert_eq!(decode_hex(""), Ok(Vec::new()));
    }

    #[test]
    fn on_call_moves_the_first_expected_call_only() {
        let text = "[{\"expect\": \"tools/call\"}, {\"expect\": \"tools/call\"}]";
        let script = Script::from_array(text).expect("valid").on_call(3);
        let places: Vec<u32> = script
            .steps()
            .iter()
            .filter_map(|step| match step {
                Step::Expect(expect) => Some(expect.nth),
                _ => None,
            })
            .collect();
        assert_eq!(places, [3, 1]);
    }
}
