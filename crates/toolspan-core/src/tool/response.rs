//! How is a tool made to take, beside its own arguments, what its caller wants to know?

use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{ToolExecutor, respond::Responding};
use crate::call::CallRequest;
use crate::definition::ToolDefinition;
use crate::guard::outcome::Phase;
use crate::registry::RegisteredTool;
use crate::schema::{CheckFailed, Form, Schema, place_of};
use crate::toolbox::ToolboxTool;
use crate::{Error, ErrorKind, Result};

/// Names that a response may not use: they mean something else in a call.
const RESERVED: &[&str] = &["kind", "security_risk", "structured_output", "summary"];

/// What a response schema may say at its root.
const ROOT: &[&str] = &[
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "additionalProperties",
    "definitions",
    "description",
    "examples",
    "properties",
    "required",
    "title",
    "type",
];

/// What the schema of a tool may not say at its root if properties are to be added: it speaks of
/// all properties of the object, or of objects as a whole.
const ABOUT_ALL: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "allOf",
    "anyOf",
    "const",
    "dependencies",
    "dependentSchemas",
    "else",
    "enum",
    "if",
    "maxProperties",
    "minProperties",
    "not",
    "oneOf",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];

/// Keywords by which a schema depends on the document it stands in.
const BOUND_TO_DOCUMENT: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "id",
];

/// What a model has to say when it calls one tool, beside the tool's own arguments: the structured
/// result of a run, mostly, given with the call of `finish`.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::tool::ResponseSchema;
///
/// let response = ResponseSchema::new(json!({
///     "type": "object",
///     "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}},
///     "required": ["score"],
/// }))?;
/// let arguments = json!({"message": "Done", "score": 4});
/// assert_eq!(response.parse(&arguments)?, json!({"score": 4}));
/// assert!(response.parse(&json!({"message": "Done", "score": 9})).is_err());
/// # Ok::<(), toolspan_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseSchema {
    schema: Schema,
}

impl ResponseSchema {
    /// Reads a JSON Schema (2020-12, unless it says otherwise) of an object with named properties.
    ///
    /// # Errors
    ///
    /// `schema_rejected` when it is no valid schema, names no property or a reserved one (`kind`,
    /// `security_risk`, `structured_output`, `summary`), requires what it does not name, allows
    /// further properties, or has other keywords at its root than those of plain objects.
    pub fn new(raw: Value) -> Result<Self> {
        let refused = |reason: String| rejected(format!("the response schema {reason}"));
        let schema = Schema::for_arguments(raw)
            .and_then(|schema| schema.compile().map(|()| schema))
            .map_err(|problem| refused(format!("cannot be used: {problem}")))?;
        check_root(&schema).map_err(refused)?;
        check_references(schema.raw()).map_err(refused)?;
        Ok(Self { schema })
    }

    /// The schema of a type.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of<T: JsonSchema>() -> Result<Self> {
        Self::new(schemars::schema_for!(T).to_value())
    }

    /// The schema as it was given.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The properties of the response.
    fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        members(self.schema.raw(), "properties")
    }

    /// Whether an argument is part of the response.
    pub(super) fn has(&self, name: &str) -> bool {
        self.properties().any(|(own, _)| own == name)
    }

    /// The response among the arguments of a call, checked.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` with every violation.
    pub fn parse(&self, arguments: &Value) -> Result<Value> {
        let given = arguments.as_object().into_iter().flatten();
        let own = given.filter(|(name, _)| self.has(name));
        let response = own.map(|(name, value)| (name.clone(), value.clone()));
        let response = Value::Object(response.collect());
        match self.schema.check(&response) {
            Ok(()) => Ok(response),
            Err(CheckFailed::Violations(violations)) => {
                let message = format!("the response does not match its schema: {violations}");
                Err(
                    Error::new(ErrorKind::InvalidArguments, Phase::Validate, message)
                        .with_violations(violations.into_vec()),
                )
            }
            Err(CheckFailed::Schema(problem)) => Err(rejected(format!(
                "the response schema cannot be used: {problem}"
            ))),
        }
    }

    /// A tool that takes the response beside its own arguments. Its executor is given its own
    /// alone; the response stands in [`Observation::response`](crate::Observation::response).
    ///
    /// # Errors
    ///
    /// `schema_rejected` when both have a property or a definition of one name, the tool has a
    /// response already, or its schema says something of all properties.
    pub fn extend(&self, tool: ToolboxTool) -> Result<ToolboxTool> {
        let joined = self
            .joined(&tool.definition)
            .map_err(|reason| rejected(reason).in_tool(&tool.definition.name))?;
        let response = Arc::new(self.clone());
        let mut definition = (*tool.definition).clone();
        definition.input = Arc::new(joined);
        definition.response = Some(Arc::clone(&response));
        let executor: Arc<dyn ToolExecutor> = Arc::new(Responding {
            inner: tool.executor,
            definition: tool.definition,
            response,
        });
        Ok(ToolboxTool::new(Arc::new(definition), executor))
    }

    fn joined(&self, tool: &ToolDefinition) -> Result<Schema, String> {
        if tool.response.is_some() {
            return Err("the tool has a response schema already".to_owned());
        }
        let mut root = match tool.input.raw() {
            Value::Object(root) => root.clone(),
            _ => Map::new(),
        };
        if let Some(keyword) = root.keys().find(|key| ABOUT_ALL.contains(&key.as_str())) {
            return Err(format!(
                "the tool's own schema has {keyword:?} at its root; a response goes with plain properties only"
            ));
        }
        root.entry("type").or_insert_with(|| "object".into());
        for container in ["$defs", "definitions", "properties"] {
            for (name, value) in members(self.schema.raw(), container) {
                let own = root
                    .entry(container)
                    .or_insert_with(|| Value::Object(Map::new()));
                let Value::Object(own) = own else {
                    return Err(format!("the tool's own {container:?} is no object"));
                };
                let is_shared = container != "properties" && own.get(name) == Some(value);
                if !is_shared && own.insert(name.clone(), value.clone()).is_some() {
                    return Err(format!(
                        "the response schema and the tool's own collide: both have {name:?} in {container:?}"
                    ));
                }
            }
        }
        let required = list(self.schema.raw(), "required").cloned();
        let own = root
            .entry("required")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(own) = own {
            own.extend(required);
        }
        Schema::for_arguments(Value::Object(root))
            .and_then(|schema| schema.compile().map(|()| schema))
            .map_err(|problem| format!("the response cannot be joined to the tool: {problem}"))
    }
}

impl RegisteredTool {
    /// The response in the last of these calls that is one of this tool, by its exposed name or its
    /// own. `None` when there is no such call, or the tool has no response schema.
    ///
    /// A host gives the response of a call that it made itself, repairs included, in
    /// [`Observation::response`](crate::Observation::response).
    pub fn parse_last_response<'a>(
        &self,
        calls: impl IntoIterator<Item = &'a CallRequest>,
    ) -> Option<Result<Value>> {
        let response = self.definition.response.as_ref()?;
        let is_own =
            |call: &&CallRequest| call.tool == *self.name || call.tool == self.definition.name;
        let last = calls.into_iter().filter(is_own).last()?;
        let parsed = response.parse(&last.arguments);
        Some(parsed.map_err(|error| error.in_toolbox(&self.toolbox).in_tool(&self.name)))
    }
}

/// The members of an object that stands at the root under this keyword.
fn members<'a>(root: &'a Value, keyword: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let members = root.get(keyword).and_then(Value::as_object);
    members.into_iter().flatten()
}

fn list<'a>(root: &'a Value, keyword: &str) -> impl Iterator<Item = &'a Value> {
    root.get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn check_root(schema: &Schema) -> Result<(), String> {
    let root = schema.raw().as_object();
    let unknown = root.into_iter().flat_map(Map::keys);
    if let Some(keyword) = unknown
        .into_iter()
        .find(|key| !ROOT.contains(&key.as_str()))
    {
        return Err(format!(
            "has {keyword:?} at its root, which is not supported there"
        ));
    }
    let raw = schema.raw();
    if members(raw, "properties").next().is_none() {
        return Err("names no property".to_owned());
    }
    if let Some((name, _)) = members(raw, "properties").find(|(name, _)| is_reserved(name)) {
        return Err(format!("names {name:?}, which is reserved"));
    }
    if raw
        .get("additionalProperties")
        .is_some_and(|more| *more != Value::Bool(false))
    {
        return Err("allows further properties; a response has named ones only".to_owned());
    }
    let is_named = |name: &&Value| {
        let name = name.as_str().unwrap_or_default();
        raw.pointer("/properties")
            .and_then(|all| all.get(name))
            .is_some()
    };
    match list(raw, "required").find(|name| !is_named(name)) {
        Some(name) => Err(format!("requires {name}, which it does not name")),
        None => Ok(()),
    }
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Refuses what means something else, or nothing, in the schema of a tool.
fn check_references(root: &Value) -> Result<(), String> {
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        let is_root = std::ptr::eq(schema, root);
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            if BOUND_TO_DOCUMENT.contains(&keyword.as_str()) && !is_root {
                return Err(format!(
                    "has {keyword:?} inside, and cannot be joined to a tool's"
                ));
            }
            let target = value.as_str().filter(|_| keyword == "$ref");
            let stays = |target: &str| {
                target.starts_with("#/$defs/") || target.starts_with("#/definitions/")
            };
            if let Some(target) = target.filter(|target| !stays(target)) {
                return Err(format!(
                    "refers to {target:?}; it may refer to its $defs only"
                ));
            }
            match (place_of(keyword, value.is_array()), value) {
                (Some((Form::One, _)), one) => open.push(one),
                (Some((Form::List, _)), Value::Array(list)) => open.extend(list),
                (Some((Form::Map, _)), Value::Object(map)) => open.extend(map.values()),
                _ => {}
            }
        }
    }
    Ok(())
}

fn rejected(message: String) -> Error {
    Error::new(ErrorKind::SchemaRejected, Phase::Discover, message)
}
