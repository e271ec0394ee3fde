//! How is a result freed of secrets before anyone reads it?

use serde_json::{Map, Value};

use super::{Blob, Content, LlmContent, Observation, Resource, ResourceBody};
use crate::guard::Redactor;
use crate::visual::Styled;

/// What stands in place of a value that cannot be freed of a secret in part.
const MASK: &str = "[redacted]";

/// Deepest nesting that is looked at; what is deeper is hidden whole.
const DEEPEST: usize = 200;

impl Observation {
    /// Frees every part of it of registered secrets: text, structured values and their names,
    /// addresses, further members. Binary data that holds one becomes a line that says so.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        if redactor.is_empty() {
            return self;
        }
        redact_across_blocks(&mut self.content, redactor);
        self.content = self
            .content
            .into_iter()
            .map(|block| redacted_block(block, redactor))
            .collect();
        for value in [&mut self.structured, &mut self.response]
            .into_iter()
            .flatten()
        {
            redact(value, redactor, DEEPEST);
        }
        for repair in &mut self.repairs {
            redact_text(&mut repair.pointer, redactor);
            redact_text(&mut repair.note, redactor);
        }
        let texts = self.for_model.iter_mut().flatten();
        redact_across(
            texts.filter_map(|part| match part {
                LlmContent::Text(text) => Some(text),
                LlmContent::Image { .. } => None,
            }),
            redactor,
        );
        for part in self.for_model.iter_mut().flatten() {
            redact_part(part, redactor);
        }
        self.visual = self.visual.map(|shown| redacted_spans(shown, redactor));
        redact_members(&mut self.extra, redactor, DEEPEST);
        if let Some(violation) = &mut self.schema_violation {
            redact_text(violation, redactor);
        }
        self
    }
}

/// A secret may begin in one text block and end in the next: who reads them reads it.
fn redact_across_blocks(content: &mut [Content], redactor: &Redactor) {
    let texts = content.iter_mut().filter_map(|block| match block {
        Content::Text(text) => Some(&mut text.text),
        _ => None,
    });
    redact_across(texts, redactor);
}

fn redact_across<'a>(texts: impl Iterator<Item = &'a mut String>, redactor: &Redactor) {
    let mut texts: Vec<&mut String> = texts.collect();
    if texts.len() < 2 {
        return;
    }
    let parts: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
    let clean = redactor.redact_across(&parts).into_iter().flatten();
    for (text, clean) in texts.iter_mut().zip(clean) {
        **text = clean;
    }
}

fn redacted_block(mut block: Content, redactor: &Redactor) -> Content {
    match &mut block {
        Content::Text(text) => {
            redact_text(&mut text.text, redactor);
            redact_members(&mut text.extra, redactor, DEEPEST);
        }
        Content::Image(blob) | Content::Audio(blob) => {
            if is_secret(&blob.data, redactor) {
                return left_out(&blob.mime_type, redactor);
            }
            redact_blob(blob, redactor);
        }
        Content::Resource(resource) => {
            if let ResourceBody::Blob(data) = &resource.body
                && is_secret(data, redactor)
            {
                let mime_type = resource.mime_type.as_deref().unwrap_or_default();
                return left_out(mime_type, redactor);
            }
            redact_resource(resource, redactor);
        }
        Content::ResourceLink(link) => {
            redact_text(&mut link.uri, redactor);
            redact_text(&mut link.name, redactor);
            redact_members(&mut link.extra, redactor, DEEPEST);
        }
        Content::Other(value) => redact(value, redactor, DEEPEST),
    }
    block
}

fn redact_part(part: &mut LlmContent, redactor: &Redactor) {
    match part {
        LlmContent::Text(text) => redact_text(text, redactor),
        LlmContent::Image { data, mime_type } if is_secret(data, redactor) => {
            *part = LlmContent::Text(note_of(mime_type, redactor));
        }
        LlmContent::Image { mime_type, .. } => redact_text(mime_type, redactor),
    }
}

/// A secret may begin in one span and end in another.
fn redacted_spans(shown: Styled, redactor: &Redactor) -> Styled {
    let parts: Vec<&str> = shown
        .spans()
        .iter()
        .map(|span| span.text.as_str())
        .collect();
    match redactor.redact_across(&parts) {
        None => shown,
        Some(clean) => {
            let mut clean = clean.into_iter();
            shown.map_text(|_| clean.next().unwrap_or_default().into())
        }
    }
}

fn redact_blob(blob: &mut Blob, redactor: &Redactor) {
    redact_text(&mut blob.mime_type, redactor);
    redact_members(&mut blob.extra, redactor, DEEPEST);
}

fn redact_resource(resource: &mut Resource, redactor: &Redactor) {
    redact_text(&mut resource.uri, redactor);
    if let Some(mime_type) = &mut resource.mime_type {
        redact_text(mime_type, redactor);
    }
    if let ResourceBody::Text(text) = &mut resource.body {
        redact_text(text, redactor);
    }
    redact_members(&mut resource.resource_extra, redactor, DEEPEST);
    redact_members(&mut resource.extra, redactor, DEEPEST);
}

/// The block in place of data that is no base64 any more once it is freed of a secret.
fn left_out(mime_type: &str, redactor: &Redactor) -> Content {
    Content::text(note_of(mime_type, redactor))
}

fn note_of(mime_type: &str, redactor: &Redactor) -> String {
    let mime_type = redactor.redact(mime_type);
    format!("[{mime_type} left out: it holds a secret]")
}

fn is_secret(text: &str, redactor: &Redactor) -> bool {
    matches!(redactor.redact(text), std::borrow::Cow::Owned(_))
}

fn redact_text(text: &mut String, redactor: &Redactor) {
    if let std::borrow::Cow::Owned(clean) = redactor.redact(text) {
        *text = clean;
    }
}

/// Frees a JSON value of secrets; a number whose digits hold one becomes the mask.
fn redact(value: &mut Value, redactor: &Redactor, depth: usize) {
    let Some(deeper) = depth.checked_sub(1) else {
        *value = MASK.into();
        return;
    };
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            if is_secret(&number.to_string(), redactor) {
                *value = MASK.into();
            }
        }
        Value::String(text) => redact_text(text, redactor),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| redact(item, redactor, deeper)),
        Value::Object(members) => redact_members(members, redactor, deeper),
    }
}

fn redact_members(members: &mut Map<String, Value>, redactor: &Redactor, depth: usize) {
    members
        .values_mut()
        .for_each(|value| redact(value, redactor, depth));
    if members.keys().any(|key| is_secret(key, redactor)) {
        *members = std::mem::take(members)
            .into_iter()
            .map(|(key, value)| (redactor.redact(&key).into_owned(), value))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use serde_json::json;

    use crate::visual::Style;

    const SECRET: &str = "hunter2-hunter2";

    fn redacted(observation: Observation) -> String {
        let redactor = Redactor::new([SECRET, "12345678"]);
        let clean = observation.redacted(&redactor);
        format!("{clean:?} {}", clean.to_mcp())
    }

    #[test]
    fn no_part_of_a_result_keeps_a_secret() {
        let encoded = base64::engine::general_purpose::STANDARD.encode(format!("key={SECRET}"));
        let mut observation = Observation::structured_of(json!({
            "deep": [{"token": format!("a {SECRET} b"), SECRET: 1}],
            "pin": 12_345_678,
        }));
        observation
            .extra
            .insert("_meta".into(), json!({"x": SECRET}));
        observation.schema_violation = Some(format!("found {SECRET}"));
        observation.response = Some(json!({"answer": SECRET}));
        let (begin, end) = SECRET.split_at(5);
        observation.visual = Some(Styled::plain(begin).with(Style::Strong, end));
        observation.for_model = Some(vec![
            LlmContent::Text(SECRET.to_owned()),
            LlmContent::Image {
                data: encoded.clone(),
                mime_type: "image/gif".to_owned(),
            },
        ]);
        for block in [
            json!({"type": "text", "text": SECRET, "annotations": {"k": SECRET}}),
            json!({"type": "image", "data": encoded, "mimeType": "image/png"}),
            json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav", "note": SECRET}),
            json!({"type": "resource", "resource": {"uri": format!("x://{SECRET}"), "text": SECRET}}),
            json!({"type": "resource", "resource": {"uri": "x://y", "blob": encoded}}),
            json!({"type": "resource_link", "uri": format!("x://{SECRET}"), "name": SECRET}),
            json!({"type": "hologram", "beam": [SECRET]}),
        ] {
            observation = observation.with_content(Content::from_json(block));
        }
        let shown = redacted(observation);
        for leak in ["hunter2", "12345678", &encoded] {
            assert!(!shown.contains(leak), "{leak} in {shown}");
        }
        assert!(
            shown.contains("[image/png left out: it holds a secret]"),
            "{shown}"
        );
    }

    #[test]
    fn a_secret_that_is_spread_over_blocks_or_spans_is_hidden_and_the_rest_stays() {
        let (begin, end) = SECRET.split_at(5);
        let observation = Observation {
            visual: Some(
                Styled::plain("a ")
                    .with(Style::Strong, begin)
                    .with(Style::Bad, end)
                    .with(Style::Good, "b"),
            ),
            for_model: Some(vec![
                LlmContent::Text(begin.to_owned()),
                LlmContent::Text(format!("{end}!")),
            ]),
            ..Observation::text_of(format!("key: {begin}"))
                .with_content(Content::image("AAAA", "image/png"))
                .with_content(Content::text(format!("{end}, done")))
        };
        let clean = observation.redacted(&Redactor::new([SECRET]));
        assert_eq!(clean.text(), "key: [redacted]\n, done");
        let told = clean.to_llm_content(1_000);
        let text = |text: &str| LlmContent::Text(text.to_owned());
        assert_eq!(told, [text("[redacted]"), text("!")]);
        let shown = clean.visualize().to_ansi();
        assert_eq!(shown, "a \x1b[1m[redacted]\x1b[0m\x1b[32mb\x1b[0m");
    }

    #[test]
    fn what_holds_no_secret_stays_as_it_is() {
        let observation = Observation::structured_of(json!({"a": [1, "b", null]}))
            .with_content(Content::image("AAAA", "image/png"));
        let redactor = Redactor::new([SECRET]);
        assert_eq!(observation.clone().redacted(&redactor), observation);
    }
}
