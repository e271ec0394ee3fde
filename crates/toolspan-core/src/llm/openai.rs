//! Tools and results as OpenAI's Chat Completions API takes them.
//!
//! Strict is what the guide to structured outputs says of schemas: every object closed and all of
//! its properties required, no `allOf`, `not`, `if` or `default`, at most 5,000 properties and 10
//! levels.

use serde_json::{Value, json};

use super::form::{Form, Strict};
use super::loose::LooseRules;
use super::loss::{Effect, Losses};
use super::projection::{Declared, Shaped};
use super::result::{Parts, data_url};
use super::root::RootRules;
use super::shape;
use super::strict::{self, Counts, StrictRules};
use super::walk::Unfit;
use crate::observation::Observation;
use crate::registry::RegisteredTool;

const ROOT: RootRules = RootRules {
    why: "OpenAI takes no alternatives at the root",
    refused: &["not", "enum", "const", "if", "then", "else"],
};

const STRICT: StrictRules = StrictRules {
    root: ROOT,
    why: "OpenAI's strict form",
    every_property_required: true,
    type_lists: true,
    recursion: true,
    min_items: u64::MAX,
    keys: None,
    keywords: &[
        "$ref",
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "const",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ],
};

/// The schema of a tool.
pub(super) fn shape(
    tool: &RegisteredTool,
    form: &Form,
    losses: &mut Losses,
) -> Result<Shaped, Unfit> {
    let findings = shape::look(tool);
    if form.strict == Strict::WherePossible {
        let mut changes = Losses::new(&tool.name);
        let document = shape::read(tool, (form, findings), &mut changes);
        let schema = document.and_then(|document| shape::by_rules(document, &STRICT, &mut changes));
        match schema.and_then(within_limits) {
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
    if !findings.is_refused_by_openai() {
        return Ok(shape::as_it_is(tool, form));
    }
    let rules = LooseRules {
        root: ROOT,
        items: Some("OpenAI refuses a list without `items`"),
        keys: None,
    };
    let document = shape::read(tool, (form, findings), losses)?;
    let schema = shape::by_rules(document, &rules, losses)?;
    Ok(Shaped {
        schema,
        is_strict: false,
    })
}

/// Refuses what is larger than the guide allows.
fn within_limits(schema: Value) -> Result<Value, Unfit> {
    let counts: Counts = strict::count(&schema);
    let limits = [
        (counts.levels, 10, "levels"),
        (counts.properties, 5_000, "properties"),
        (counts.values, 1_000, "values of enums"),
        (
            counts.characters,
            120_000,
            "characters of names and constants",
        ),
        (counts.long_enum, 15_000, "characters in one enum"),
    ];
    match limits.into_iter().find(|(found, most, _)| found > most) {
        Some((found, most, what)) => Err(Unfit(format!(
            "it has {found} {what}, and {most} are allowed"
        ))),
        None => Ok(schema),
    }
}

/// One element of the `tools` field.
pub(super) fn declare(declared: Declared<'_>) -> Value {
    let Declared {
        name,
        description,
        shaped,
        ..
    } = declared;
    let mut function = json!({
        "name": &*name,
        "description": description,
        "parameters": shaped.schema,
    });
    if let (true, Value::Object(members)) = (shaped.is_strict, &mut function) {
        members.insert("strict".to_owned(), true.into());
    }
    json!({"type": "function", "function": function})
}

/// The message that answers a call. Such a message takes text only: each image is a line that names
/// it, and [`images`] gives the images themselves.
pub(super) fn tool_result(call_id: &str, parts: &Parts) -> Value {
    json!({"role": "tool", "tool_call_id": call_id, "content": parts.text_with_images_named()})
}

/// The user message with the images of a result; `None` where it has none.
///
/// The API takes images from a user only, and wants the answers to all calls of one turn before
/// anything else: put this message behind the last of them.
pub fn images(call_id: &str, observation: &Observation) -> Option<Value> {
    let parts = Parts::of(observation, usize::MAX);
    let mut content = vec![json!({
        "type": "text",
        "text": format!("The images in the result of call {call_id}:"),
    })];
    let images = parts.images();
    content.extend(images.map(|(data, mime_type)| {
        json!({"type": "image_url", "image_url": {"url": data_url(data, mime_type)}})
    }));
    (content.len() > 1).then(|| json!({"role": "user", "content": content}))
}
