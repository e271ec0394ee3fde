//! One block of an observation: the content kinds of MCP, each kept whole.

use serde_json::{Map, Value};

use super::LlmContent;
use crate::guard::sanitise;

/// A content block (MCP 2025-11-25, `ContentBlock`). Members that a kind does not name, such as
/// `annotations` and `_meta`, are in its `extra`; a block of an unknown or malformed kind is kept
/// as it came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text for model and people.
    Text(Text),
    /// An image.
    Image(Blob),
    /// Sound.
    Audio(Blob),
    /// A resource with its contents.
    Resource(Resource),
    /// A resource by address; never fetched unasked.
    ResourceLink(ResourceLink),
    /// A kind that this version does not know, or a block that breaks its kind's rules.
    Other(Value),
}

/// A text block.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Text {
    /// The text as the tool wrote it; not safe for a terminal.
    pub text: String,
    /// Further members.
    pub extra: Map<String, Value>,
}

/// Binary data in base64.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Blob {
    /// Base64 (RFC 4648, section 4) as the tool wrote it.
    pub data: String,
    /// The media type as the tool wrote it, such as `image/png`.
    pub mime_type: String,
    /// Further members.
    pub extra: Map<String, Value>,
}

/// An embedded resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// The resource's address.
    pub uri: String,
    /// Its media type, where the tool says so.
    pub mime_type: Option<String>,
    /// Its contents.
    pub body: ResourceBody,
    /// Further members of the inner `resource` object.
    pub resource_extra: Map<String, Value>,
    /// Further members of the block.
    pub extra: Map<String, Value>,
}

/// The contents of an embedded resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Base64 of binary contents.
    Blob(String),
}

/// A link to a resource.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource's address.
    pub uri: String,
    /// Its name; empty when the tool gave none.
    pub name: String,
    /// Further members (`title`, `description`, `mimeType`, `size`, …).
    pub extra: Map<String, Value>,
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            extra: Map::new(),
        })
    }

    /// An image block from base64 data.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data.into(), mime_type.into());
        Self::Image(Blob {
            data,
            mime_type,
            extra: Map::new(),
        })
    }

    /// Reads a block as MCP writes it. Never fails: what breaks the rules is [`Content::Other`].
    pub fn from_json(block: Value) -> Self {
        let Value::Object(mut members) = block else {
            return Self::Other(block);
        };
        let kind = members
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let known = match kind {
            "text" => is_text(&members, &["text"]),
            "image" | "audio" => is_text(&members, &["data", "mimeType"]),
            "resource_link" => is_text(&members, &["uri"]),
            "resource" => members.get("resource").is_some_and(is_resource),
            _ => false,
        };
        if !known {
            return Self::Other(Value::Object(members));
        }
        let is_audio = kind == "audio";
        let kind = kind.to_owned();
        members.shift_remove("type");
        match kind.as_str() {
            "text" => Self::Text(Text {
                text: take(&mut members, "text"),
                extra: members,
            }),
            "image" | "audio" => {
                let data = take(&mut members, "data");
                let mime_type = take(&mut members, "mimeType");
                let blob = Blob {
                    data,
                    mime_type,
                    extra: members,
                };
                if is_audio {
                    Self::Audio(blob)
                } else {
                    Self::Image(blob)
                }
            }
            "resource_link" => {
                let uri = take(&mut members, "uri");
                let name = take(&mut members, "name");
                Self::ResourceLink(ResourceLink {
                    uri,
                    name,
                    extra: members,
                })
            }
            _ => Self::Resource(Resource::take_from(members)),
        }
    }

    /// The block as MCP writes it.
    pub fn to_json(&self) -> Value {
        let object = |kind: &str, own: Vec<(&str, Value)>, extra: &Map<String, Value>| {
            let mut members = Map::new();
            members.insert("type".into(), kind.into());
            members.extend(own.into_iter().map(|(key, value)| (key.to_owned(), value)));
            members.extend(extra.clone());
            Value::Object(members)
        };
        let blob = |kind: &str, blob: &Blob| {
            let own = vec![
                ("data", blob.data.as_str().into()),
                ("mimeType", blob.mime_type.as_str().into()),
            ];
            object(kind, own, &blob.extra)
        };
        match self {
            Self::Text(text) => object(
                "text",
                vec![("text", text.text.as_str().into())],
                &text.extra,
            ),
            Self::Image(image) => blob("image", image),
            Self::Audio(audio) => blob("audio", audio),
            Self::Resource(resource) => object(
                "resource",
                vec![("resource", resource.inner_json())],
                &resource.extra,
            ),
            Self::ResourceLink(link) => {
                let own = vec![
                    ("uri", link.uri.as_str().into()),
                    ("name", link.name.as_str().into()),
                ];
                object("resource_link", own, &link.extra)
            }
            Self::Other(raw) => raw.clone(),
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// What a model is given of this block: text or an image.
    pub(super) fn to_llm(&self) -> LlmContent {
        let text = match self {
            Self::Text(text) => text.text.clone(),
            Self::Image(image) => {
                let (data, mime_type) = (image.data.clone(), image.mime_type.clone());
                return LlmContent::Image { data, mime_type };
            }
            Self::Resource(Resource {
                body: ResourceBody::Text(text),
                ..
            }) => text.clone(),
            other => format!("[{}]", other.summary()),
        };
        LlmContent::Text(text)
    }

    /// One line for people: the kind, what it is and its size; never its data.
    pub fn summary(&self) -> String {
        let size = |base64: &str| {
            let padding = base64
                .bytes()
                .rev()
                .take_while(|byte| *byte == b'=')
                .count();
            format!("{} bytes", (base64.len() - padding) * 3 / 4)
        };
        let line = |text: &str| sanitise::one_line(text, 200);
        match self {
            Self::Text(text) => format!("text, {} characters", text.text.chars().count()),
            Self::Image(blob) => format!("image {}, {}", line(&blob.mime_type), size(&blob.data)),
            Self::Audio(blob) => format!("audio {}, {}", line(&blob.mime_type), size(&blob.data)),
            Self::Resource(resource) => match &resource.body {
                ResourceBody::Text(text) => {
                    format!(
                        "resource {}, {} characters",
                        line(&resource.uri),
                        text.chars().count()
                    )
                }
                ResourceBody::Blob(blob) => {
                    format!("resource {}, {}", line(&resource.uri), size(blob))
                }
            },
            Self::ResourceLink(link) if link.name.is_empty() => {
                format!("link to {}", line(&link.uri))
            }
            Self::ResourceLink(link) => {
                format!("link to {} ({})", line(&link.uri), line(&link.name))
            }
            Self::Other(raw) => {
                let kind = raw
                    .get("type")
                    .and_then(Value::as_str)
                    .unwrap_or("without a type");
                format!("content of an unknown kind: {}", line(kind))
            }
        }
    }
}

impl Resource {
    /// Takes the members of a block that [`is_resource`] accepted.
    fn take_from(mut members: Map<String, Value>) -> Self {
        let mut inner = match members.shift_remove("resource") {
            Some(Value::Object(inner)) => inner,
            _ => Map::new(),
        };
        let uri = take(&mut inner, "uri");
        let mime_type = inner
            .get("mimeType")
            .is_some_and(Value::is_string)
            .then(|| take(&mut inner, "mimeType"));
        let body = if inner.get("text").is_some_and(Value::is_string) {
            ResourceBody::Text(take(&mut inner, "text"))
        } else {
            ResourceBody::Blob(take(&mut inner, "blob"))
        };
        Self {
            uri,
            mime_type,
            body,
            resource_extra: inner,
            extra: members,
        }
    }

    fn inner_json(&self) -> Value {
        let mut inner = Map::new();
        inner.insert("uri".into(), self.uri.as_str().into());
        if let Some(mime_type) = &self.mime_type {
            inner.insert("mimeType".into(), mime_type.as_str().into());
        }
        let (key, body) = match &self.body {
            ResourceBody::Text(text) => ("text", text),
            ResourceBody::Blob(blob) => ("blob", blob),
        };
        inner.insert(key.into(), body.as_str().into());
        inner.extend(self.resource_extra.clone());
        Value::Object(inner)
    }
}

fn is_text(members: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter()
        .all(|key| members.get(*key).is_some_and(Value::is_string))
}

fn is_resource(resource: &Value) -> bool {
    let text = |key| resource.get(key).is_some_and(Value::is_string);
    text("uri") && (text("text") || text("blob"))
}

/// Takes a string member out; empty when it is absent or no string.
fn take(members: &mut Map<String, Value>, key: &str) -> String {
    match members.get(key) {
        Some(Value::String(_)) => match members.shift_remove(key) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_comes_back_as_it_was() {
        for block in [
            json!({"type": "text", "text": "a", "annotations": {"audience": ["robot"]}, "_meta": {"x": 1}}),
            json!({"type": "image", "data": "AAAA", "mimeType": "image/png", "new": true}),
            json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}),
            json!({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "x", "_meta": {}}}),
            json!({"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}, "annotations": {}}),
            json!({"type": "resource_link", "uri": "file:///a", "name": "a", "size": 5}),
            json!({"type": "hologram", "beam": [1, 2]}),
        ] {
            assert_eq!(Content::from_json(block.clone()).to_json(), block);
        }
    }

    #[test]
    fn a_block_that_breaks_its_kind_is_kept_whole() {
        for block in [
            json!({"type": "text", "text": null}),
            json!({"type": "image", "data": "AAAA"}),
            json!({"type": "resource", "resource": {"uri": "x"}}),
            json!({"text": "no type"}),
            json!("just text"),
            json!(null),
        ] {
            assert_eq!(Content::from_json(block.clone()), Content::Other(block));
        }
    }
}
