//! How does one tool's schema get its form: as written, or adapted by rules?

use serde_json::{Map, Value};

use super::form::Form;
use super::injection;
use super::loss::Losses;
use super::projection::Shaped;
use super::reading::{self, Document};
use super::walk::{self, Rules, Unfit};
use super::{as_written, as_written::Findings};
use crate::registry::RegisteredTool;

/// The author's schema, with the injected fields.
pub(super) fn as_it_is(tool: &RegisteredTool, form: &Form) -> Shaped {
    let mut schema = tool.definition.input.raw().clone();
    injection::into_written(&mut schema, injection::fields(tool, form.injection));
    Shaped {
        schema,
        is_strict: false,
    }
}

/// What an API may refuse of the author's schema.
pub(super) fn look(tool: &RegisteredTool) -> Findings {
    as_written::look(tool.definition.input.raw())
}

/// The author's schema as a tree, with the injected fields.
pub(super) fn read(
    tool: &RegisteredTool,
    (form, findings): (&Form, Findings),
    losses: &mut Losses,
) -> Result<Document, Unfit> {
    let mut document = reading::read(&tool.definition.input, findings, losses)?;
    injection::into_tree(&mut document.root, injection::fields(tool, form.injection));
    Ok(document)
}

/// A document adapted by rules, as JSON.
pub(super) fn by_rules(
    document: Document,
    rules: &dyn Rules,
    losses: &mut Losses,
) -> Result<Value, Unfit> {
    let Document {
        root, definitions, ..
    } = walk::adapt(document, rules, losses)?;
    let mut schema = root.write();
    if let (Value::Object(root), false) = (&mut schema, definitions.is_empty()) {
        let definitions = definitions
            .into_iter()
            .map(|(name, node)| (name, node.write()));
        root.insert(
            "$defs".to_owned(),
            Value::Object(definitions.collect::<Map<_, _>>()),
        );
    }
    Ok(schema)
}
