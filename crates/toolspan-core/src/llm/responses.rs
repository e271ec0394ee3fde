//! Tools and results as OpenAI's Responses API takes them.
//!
//! The schemas are those of Chat Completions. A tool that does not state `strict` is tried as a
//! strict one there, so it is stated always.

use serde_json::{Value, json};

use super::form::Form;
use super::loss::Losses;
use super::projection::{Declared, Shaped};
use super::result::{Parts, Piece, data_url};
use super::walk::Unfit;
use crate::registry::RegisteredTool;

/// The schema of a tool.
pub(super) fn shape(
    tool: &RegisteredTool,
    form: &Form,
    losses: &mut Losses,
) -> Result<Shaped, Unfit> {
    super::openai::shape(tool, form, losses)
}

/// One element of the `tools` field.
pub(super) fn declare(declared: Declared<'_>) -> Value {
    let Declared {
        name,
        description,
        shaped,
        ..
    } = declared;
    json!({
        "type": "function",
        "name": &*name,
        "description": description,
        "parameters": shaped.schema,
        "strict": shaped.is_strict,
    })
}

/// The item that answers a call: a text, or a list of texts and images where there is an image.
pub(super) fn tool_result(call_id: &str, parts: &Parts) -> Value {
    let output = match parts.images().next() {
        None => Value::String(parts.text_with_images_named()),
        Some(_) => parts
            .pieces()
            .map(|piece| match piece {
                Piece::Text(text) => json!({"type": "input_text", "text": text}),
                Piece::Image { data, mime_type } => {
                    json!({"type": "input_image", "image_url": data_url(data, mime_type)})
                }
            })
            .collect(),
    };
    json!({"type": "function_call_output", "call_id": call_id, "output": output})
}
