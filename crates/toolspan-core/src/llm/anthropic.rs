//! Tools and results as Anthropic's Messages API takes them.
//!
//! The root is an object without alternatives, and the names of properties are of a small alphabet,
//! or the whole request is refused. Strict tools share limits: 20 of them, 24 optional properties
//! and 16 unions in one request.

use serde_json::{Value, json};

use super::form::{Form, Strict};
use super::keys;
use super::loose::LooseRules;
use super::loss::{Effect, Losses};
use super::projection::{Declared, Shaped};
use super::result::{Parts, Piece};
use super::root::RootRules;
use super::shape;
use super::strict::{self, StrictRules};
use super::walk::Unfit;
use crate::registry::RegisteredTool;

/// Strict tools of one request.
const STRICT_TOOLS: usize = 20;
/// Properties of them that may be left out.
const OPTIONAL: usize = 24;
/// Schemas of them with `anyOf` or a list of types.
const UNIONS: usize = 16;

const ROOT: RootRules = RootRules {
    why: "Anthropic takes no alternatives at the root",
    refused: &["not", "enum", "const", "if", "then", "else"],
};

const STRICT: StrictRules = StrictRules {
    root: ROOT,
    why: "Anthropic's strict form",
    every_property_required: false,
    type_lists: false,
    recursion: false,
    min_items: 1,
    keys: Some(keys::ANTHROPIC),
    keywords: &[
        "$ref",
        "type",
        "title",
        "description",
        "default",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "const",
        "pattern",
        "format",
        "minItems",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ],
};

/// What the strict tools of a request count against its limits so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Spent {
    /// Counts one more tool, or tells which limit it would pass.
    fn take(&mut self, schema: &Value) -> Result<(), Unfit> {
        let counts = strict::count(schema);
        let after = Self {
            tools: self.tools + 1,
            optional: self.optional + counts.optional,
            unions: self.unions + counts.unions,
        };
        let limits = [
            (after.tools, STRICT_TOOLS, "strict tools"),
            (
                after.optional,
                OPTIONAL,
                "optional properties of strict tools",
            ),
            (after.unions, UNIONS, "unions in strict tools"),
        ];
        match limits.into_iter().find(|(found, most, _)| found > most) {
            Some((_, most, what)) => Err(Unfit(format!("a request may have {most} {what}"))),
            None => {
                *self = after;
                Ok(())
            }
        }
    }
}

/// The schema of a tool.
pub(super) fn shape(
    tool: &RegisteredTool,
    form: &Form,
    (spent, losses): (&mut Spent, &mut Losses),
) -> Result<Shaped, Unfit> {
    let findings = shape::look(tool);
    if form.strict == Strict::WherePossible {
        let mut changes = Losses::new(&tool.name);
        let document = shape::read(tool, (form, findings), &mut changes);
        let schema = document.and_then(|document| shape::by_rules(document, &STRICT, &mut changes));
        match schema.and_then(|schema| spent.take(&schema).map(|()| schema)) {
            Ok(schema) => {
                losses.list.append(&mut changes.list);
                return Ok(Shaped {
                    schema,
                    is_strict: true,
                });
            }
            Err(Unfit(reason)) => losses.say("", Effect::Same, ("the tool is not strict", reason)),
        }
    }
    if !findings.is_refused_by_anthropic() {
        return Ok(shape::as_it_is(tool, form));
    }
    let document = shape::read(tool, (form, findings), losses)?;
    let rules = LooseRules {
        root: ROOT,
        items: None,
        keys: Some(keys::ANTHROPIC),
    };
    let schema = shape::by_rules(document, &rules, losses)?;
    Ok(Shaped {
        schema,
        is_strict: false,
    })
}

/// One element of the `tools` field.
pub(super) fn declare(declared: Declared<'_>) -> Value {
    let Declared {
        name,
        description,
        shaped,
        ..
    } = declared;
    let mut tool = json!({
        "name": &*name,
        "description": description,
        "input_schema": shaped.schema,
    });
    if let (true, Value::Object(members)) = (shaped.is_strict, &mut tool) {
        members.insert("strict".to_owned(), true.into());
    }
    tool
}

/// The content block that answers a call; it goes into a user message, before any text.
///
/// Images of the four kinds that the API takes are blocks, other ones a line that names them. An
/// error's blocks may be text only, so its images are named too.
pub(super) fn tool_result(call_id: &str, parts: &Parts) -> Value {
    let mut content: Vec<Value> = Vec::new();
    for piece in parts.pieces() {
        content.push(match piece {
            Piece::Text(text) => json!({"type": "text", "text": text}),
            Piece::Image { data, mime_type } if !parts.is_error && takes_image(mime_type) => {
                json!({
                    "type": "image",
                    "source": {"type": "base64", "media_type": mime_type, "data": data},
                })
            }
            image @ Piece::Image { .. } => json!({"type": "text", "text": image.named()}),
        });
    }
    let mut block = json!({"type": "tool_result", "tool_use_id": call_id, "content": content});
    if let (true, Value::Object(members)) = (parts.is_error, &mut block) {
        members.insert("is_error".to_owned(), true.into());
    }
    block
}

fn takes_image(mime_type: &str) -> bool {
    matches!(
        mime_type,
        "image/jpeg" | "image/png" | "image/gif" | "image/webp"
    )
}
