//! What is a schema that passed all static checks?

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::cache;
use super::compile::{self, Compiled};
use super::cost::Costs;
use super::dialect::Dialect;
use super::graph::Graph;
use super::limits::SchemaLimits;
use super::measure::{dismantle, measure};
use super::named::has_odd_names;
use super::note::SchemaNote;
use super::notes_of::{SecretNames, notes, secret_names};
use super::rejected::{RejectedReason, SchemaRejected};
use super::wording::{alternatives, kind_of, quote};

/// A JSON Schema: the raw JSON as its author wrote it, and a validator that is compiled once.
///
/// Cheap to clone; clones and schemas with the same bytes share the validator. Thread-safe.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::schema::Schema;
///
/// let schema = Schema::for_arguments(json!({
///     "type": "object",
///     "properties": {"timezone": {"type": "string"}},
///     "required": ["timezone"],
/// }))?;
/// assert!(schema.check(&json!({"timezone": "UTC"})).is_ok());
/// let failed = schema.check(&json!({"timezone": 5})).unwrap_err();
/// assert_eq!(failed.to_string(), "/timezone: expected a string, found the number 5");
/// # Ok::<(), toolspan_core::schema::SchemaRejected>(())
/// ```
#[derive(Clone)]
pub struct Schema {
    pub(super) definition: Arc<Definition>,
    pub(super) role: Role,
}

/// SHA-256 over the schema as compact JSON, keys in the order its author wrote them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaHash([u8; 32]);

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The arguments of a call, which are always an object.
    Arguments,
    /// A result, any JSON value.
    Output,
}

/// The shared part of a schema. It has passed the static checks.
pub(super) struct Definition {
    pub(super) raw: Value,
    pub(super) hash: SchemaHash,
    pub(super) limits: SchemaLimits,
    pub(super) graph: Graph,
    pub(super) costs: Costs,
    pub(super) secrets: SecretNames,
    pub(super) has_odd_names: bool,
    pub(super) declared: Option<Dialect>,
    notes: Vec<SchemaNote>,
    pub(super) compiled: OnceLock<Result<Compiled, SchemaRejected>>,
}

impl Schema {
    /// The schema of a tool's arguments. `None` is a missing schema.
    ///
    /// The root must allow an object: its `type` is absent, `"object"`, or a list with `"object"`.
    /// `true` and `{}` mean an object with anything in it. Checks are static and bounded; whether
    /// the schema obeys its dialect is found by [`compile`](Self::compile) or the first check.
    ///
    /// # Errors
    /// Tells why the schema is not usable, and where.
    pub fn for_arguments(raw: impl Into<Option<Value>>) -> Result<Self, SchemaRejected> {
        Self::for_arguments_within(raw, &SchemaLimits::default())
    }

    /// [`for_arguments`](Self::for_arguments) with other limits.
    ///
    /// # Errors
    /// As [`for_arguments`](Self::for_arguments).
    pub fn for_arguments_within(
        raw: impl Into<Option<Value>>,
        limits: &SchemaLimits,
    ) -> Result<Self, SchemaRejected> {
        Self::new(raw.into(), Role::Arguments, limits)
    }

    /// The schema of a tool's structured result: any JSON Schema, its root of any type.
    ///
    /// # Errors
    /// Tells why the schema is not usable, and where.
    pub fn for_output(raw: impl Into<Option<Value>>) -> Result<Self, SchemaRejected> {
        Self::for_output_within(raw, &SchemaLimits::default())
    }

    /// [`for_output`](Self::for_output) with other limits.
    ///
    /// # Errors
    /// As [`for_output`](Self::for_output).
    pub fn for_output_within(
        raw: impl Into<Option<Value>>,
        limits: &SchemaLimits,
    ) -> Result<Self, SchemaRejected> {
        Self::new(raw.into(), Role::Output, limits)
    }

    /// Takes the value apart without recursion where it is refused, since it may be nested so
    /// deeply that an ordinary drop overflows the stack.
    fn new(raw: Option<Value>, role: Role, limits: &SchemaLimits) -> Result<Self, SchemaRejected> {
        let raw = raw.ok_or_else(|| SchemaRejected::new(RejectedReason::Missing, ""))?;
        let checked = check_root(&raw, role).and_then(|()| check_size(&raw, limits));
        let hash = match checked {
            Ok(hash) => hash,
            Err(rejected) => {
                dismantle(raw);
                return Err(rejected);
            }
        };
        if let Some(definition) = cache::find(&hash, limits) {
            return Ok(Self { definition, role });
        }
        let definition = cache::share(Definition::new(raw, hash, limits)?);
        Ok(Self { definition, role })
    }

    /// The JSON as its author wrote it, keys in their order.
    #[must_use]
    pub fn raw(&self) -> &Value {
        &self.definition.raw
    }

    /// The hash of the raw JSON.
    #[must_use]
    pub fn hash(&self) -> &SchemaHash {
        &self.definition.hash
    }

    /// Compiles the validator now, unless it is compiled already. [`check`](Self::check) does the
    /// same when it is first called; use this to find a broken schema before the first call.
    ///
    /// # Errors
    /// Tells which rule of its dialect the schema breaks, and where; the same each time.
    pub fn compile(&self) -> Result<(), SchemaRejected> {
        self.compiled().map(|_| ())
    }

    /// The dialect the schema is read in; compiles it if need be.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn dialect(&self) -> Result<Dialect, SchemaRejected> {
        self.compiled().map(|compiled| compiled.dialect)
    }

    /// What is odd about the schema without making it unusable; at most 33 notes.
    pub fn notes(&self) -> impl Iterator<Item = &SchemaNote> {
        let raw = &self.definition.raw;
        let anything =
            raw == &Value::Bool(true) || raw.as_object().is_some_and(serde_json::Map::is_empty);
        let own = (anything && self.role == Role::Arguments).then_some(&SchemaNote::AnyObject);
        own.into_iter().chain(&self.definition.notes)
    }

    /// Whether both share one definition, and so one compiled validator.
    #[must_use]
    pub fn shares_validator_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.definition, &other.definition)
    }

    pub(super) fn compiled(&self) -> Result<&Compiled, SchemaRejected> {
        let definition = &self.definition;
        let compiled = definition.compiled.get_or_init(|| {
            compile::compile(&definition.raw, definition.declared, &definition.limits)
        });
        compiled.as_ref().map_err(Clone::clone)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("role", &self.role)
            .field("raw", self.raw())
            .finish()
    }
}

/// Equal when the raw JSON is the same and both describe the same thing.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role && self.hash() == other.hash()
    }
}

impl Eq for Schema {}

impl Definition {
    fn new(raw: Value, hash: SchemaHash, limits: &SchemaLimits) -> Result<Self, SchemaRejected> {
        let declared = Dialect::declared(&raw)?;
        let graph = Graph::build(&raw, declared, limits)?;
        let costs = Costs::of(&graph, limits)?;
        let notes = notes(&raw, &graph);
        let secrets = secret_names(&graph);
        let has_odd_names = has_odd_names(&graph);
        let limits = limits.clone();
        let compiled = OnceLock::new();
        Ok(Self {
            raw,
            hash,
            limits,
            graph,
            costs,
            secrets,
            has_odd_names,
            declared,
            notes,
            compiled,
        })
    }
}

impl SchemaHash {
    /// The 32 bytes of the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Lower-case hexadecimal, 64 digits.
impl fmt::Display for SchemaHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SchemaHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchemaHash({self})")
    }
}

fn check_root(raw: &Value, role: Role) -> Result<(), SchemaRejected> {
    let reject = |reason, pointer| Err(SchemaRejected::new(reason, pointer));
    let kind = match raw {
        Value::Bool(true) => return Ok(()),
        Value::Bool(false) if role == Role::Output => return Ok(()),
        Value::Bool(false) => {
            return reject(
                RejectedReason::RootNotObject {
                    found: "nothing".to_owned(),
                },
                "",
            );
        }
        Value::Object(map) => map.get("type"),
        other => {
            return reject(
                RejectedReason::NotASchema {
                    found: kind_of(other),
                },
                "",
            );
        }
    };
    let names: Vec<&Value> = match kind {
        None => return Ok(()),
        Some(Value::Array(list)) => list.iter().take(16).collect(),
        Some(one) => vec![one],
    };
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    let mut known = Vec::new();
    for name in names {
        match name.as_str() {
            Some(name) if TYPES.contains(&name) => known.push(name),
            Some(name) => {
                return reject(
                    RejectedReason::UnknownType {
                        name: quote(name, 60),
                    },
                    "/type",
                );
            }
            None => {
                let name = kind_of(name).to_owned();
                return reject(RejectedReason::UnknownType { name }, "/type");
            }
        }
    }
    if role == Role::Arguments && !known.contains(&"object") {
        let found: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
        let found = if found.is_empty() {
            "no type".to_owned()
        } else {
            alternatives(&found)
        };
        return reject(RejectedReason::RootNotObject { found }, "/type");
    }
    Ok(())
}

fn check_size(raw: &Value, limits: &SchemaLimits) -> Result<SchemaHash, SchemaRejected> {
    if measure(raw, limits.json_depth).is_err() {
        return Err(SchemaRejected::too_large(
            "json_depth",
            limits.json_depth,
            "",
        ));
    }
    let mut hashing = Hashing {
        sha: Sha256::new(),
        room: limits.bytes,
    };
    // Writing a value fails only where the writer does.
    match serde_json::to_writer(&mut hashing, raw) {
        Ok(()) => Ok(SchemaHash(hashing.sha.finalize().into())),
        Err(_) => Err(SchemaRejected::too_large("bytes", limits.bytes, "")),
    }
}

/// Hashes what is written, and fails when there is more than its room.
struct Hashing {
    sha: Sha256,
    /// Bytes that may still be written.
    room: usize,
}

impl std::io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = self.room.checked_sub(bytes.len());
        self.room = room.ok_or(std::io::ErrorKind::FileTooLarge)?;
        self.sha.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
