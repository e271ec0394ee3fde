//! Does a value that is right for a form pass the tool's own schema, unless a loss says otherwise?

use serde_json::{Map, Value, json};
use toolspan_core::call::{Preparing, RepairKind, injected::Injection};
use toolspan_core::guard::Limits;
use toolspan_core::llm::{Effect, Loss};
use toolspan_core::schema::Schema;
use toolspan_core::{CallRequest, RegisteredTool, Snapshot};

use crate::llm_odd;
use crate::llm_recorded::{FORMS, declarations, lists, schema_of};

/// Values made for one tool in one form.
const VALUES: u64 = 10;
/// Schemas inside one another for which values are made.
const DEPTH: usize = 10;

/// Makes values for schemas, the same ones in each run.
struct Maker<'s> {
    root: &'s Value,
    state: u64,
}

impl Maker<'_> {
    /// A number under `below` (xorshift).
    fn pick(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below.max(1)
    }

    fn choose<'v>(&mut self, list: &'v [Value]) -> Option<&'v Value> {
        let at = self.pick(list.len() as u64);
        list.get(usize::try_from(at).ok()?)
    }

    /// A value that the schema takes, as far as this can tell.
    fn value(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.strip_prefix('#')?)?;
            return self.value(&target.clone(), depth);
        }
        if let Some(constant) = schema.get("const") {
            return Some(constant.clone());
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) && self.pick(3) == 0 {
            return Some(Value::Null);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return self.choose(values).cloned();
        }
        if let Some(Value::Array(members)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            let member = self.choose(members)?.clone();
            return self.value(&member, depth);
        }
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.clone(),
            Some(kind) => vec![kind.clone()],
            None => ["string", "integer", "null", "boolean"]
                .map(Value::from)
                .to_vec(),
        };
        let kind = self.choose(&kinds)?.clone();
        self.typed(schema, kind.as_str()?, depth)
    }

    fn typed(&mut self, schema: &Value, kind: &str, depth: usize) -> Option<Value> {
        let size = |key: &str, other: u64| schema.get(key).and_then(Value::as_u64).unwrap_or(other);
        Some(match kind {
            "null" => Value::Null,
            "boolean" => json!(self.pick(2) == 0),
            "string" => {
                const WORDS: [&str; 7] = [
                    "",
                    "a",
                    "a b",
                    "https://a.example/b",
                    "2026-11-30",
                    "0123",
                    "ab",
                ];
                let at = usize::try_from(self.pick(WORDS.len() as u64)).ok()?;
                let word = WORDS.get(at)?;
                let least = usize::try_from(size("minLength", 0)).ok()?;
                json!(format!(
                    "{word}{}",
                    "a".repeat(least.saturating_sub(word.len()))
                ))
            }
            "integer" | "number" => {
                let least = schema.get("minimum").and_then(Value::as_i64);
                let above = schema.get("exclusiveMinimum").and_then(Value::as_i64);
                let most = schema.get("maximum").and_then(Value::as_i64);
                let start = least
                    .or(above.map(|bound| bound + 1))
                    .or(most.map(|most| most - 3))
                    .unwrap_or(-2);
                json!(start + i64::try_from(self.pick(4)).ok()?)
            }
            "array" => self.list(schema, (size("minItems", 0), size("maxItems", 3)), depth)?,
            "object" => self.object(schema, depth)?,
            _ => return None,
        })
    }

    fn list(&mut self, schema: &Value, (least, most): (u64, u64), depth: usize) -> Option<Value> {
        let length = least + self.pick(most.saturating_sub(least).min(2) + 1);
        let mut items = Vec::new();
        for at in 0..length {
            let first = schema.pointer(&format!("/prefixItems/{at}"));
            let item = first
                .or_else(|| schema.get("items"))
                .cloned()
                .unwrap_or(json!({}));
            items.push(self.value(&item, depth)?);
        }
        Some(items.into())
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let named = schema.get("properties").and_then(Value::as_object);
        for (name, property) in named.into_iter().flatten() {
            let is_required = required.contains(&name.as_str());
            if !is_required && (depth < 4 || self.pick(2) == 0) {
                continue;
            }
            match self.value(property, depth) {
                Some(value) => _ = object.insert(name.clone(), value),
                None if is_required => return None,
                None => {}
            }
        }
        let rest = schema
            .get("additionalProperties")
            .cloned()
            .unwrap_or(json!(true));
        if rest != json!(false) && self.pick(2) == 0 {
            let value = self.value(&rest, depth)?;
            object.insert("another".to_owned(), value);
        }
        Some(object.into())
    }
}

/// The form's schema as JSON Schema: the older field of Gemini says `nullable`.
fn checkable(schema: &Value) -> Value {
    match schema {
        Value::Array(list) => list.iter().map(checkable).collect(),
        Value::Object(map) => {
            let plain: Map<String, Value> = map
                .iter()
                .map(|(key, value)| (key.clone(), checkable(value)))
                .collect();
            match map.get("nullable") == Some(&Value::Bool(true))
                && (map.contains_key("type") || map.contains_key("anyOf"))
            {
                true => json!({"anyOf": [plain, {"type": "null"}]}),
                false => plain.into(),
            }
        }
        other => other.clone(),
    }
}

/// Whether a loss says that this may happen: one about a keyword says it of that keyword, another one
/// of all that is at its place and what that refers to. What an alternative lacks may show at the
/// alternatives.
fn is_said(losses: &[&Loss], root: &Value, at: &str) -> bool {
    let (around, keyword) = at.rsplit_once('/').unwrap_or_default();
    let combines = matches!(
        keyword,
        "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "contains"
    );
    losses.iter().any(|loss| {
        let one = loss
            .what
            .strip_prefix('`')
            .and_then(|rest| rest.split(['`', ':']).next());
        let place = match one {
            Some("dependentRequired") => format!("{}/dependencies", loss.pointer),
            Some(keyword) if !loss.pointer.ends_with(keyword) => {
                format!("{}/{keyword}", loss.pointer)
            }
            _ => loss.pointer.clone(),
        };
        let target = root.pointer(&place).and_then(|schema| schema.get("$ref"));
        let target = target
            .and_then(Value::as_str)
            .and_then(|text| text.strip_prefix('#'));
        at.starts_with(&place)
            || target.is_some_and(|target| at.starts_with(target))
            || (combines && place.starts_with(around))
    })
}

fn check(
    tool: &RegisteredTool,
    form: &str,
    (schema, losses): (&Value, &[&Loss]),
    is_said: Said,
) -> usize {
    // Only the older field of Gemini knows `nullable`; to all others it is a word without meaning.
    let checkable = match form {
        "gemini-openapi" => checkable(schema),
        _ => schema.clone(),
    };
    let checker = Schema::for_arguments(checkable).expect(form);
    let own = tool.definition.input.raw();
    let mut passed = 0;
    for seed in 1..=VALUES {
        let mut maker = Maker {
            root: schema,
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        };
        let Some(value) = maker.value(schema, DEPTH) else {
            continue;
        };
        if checker.check(&value).is_err() {
            continue;
        }
        passed += 1;
        let place = format!("{form} {}: {value}", tool.name);
        let request = CallRequest::new(&*tool.name, value);
        match request.prepare(
            tool,
            &Limits::default(),
            &Preparing::of_model(Injection::NONE),
        ) {
            Ok(call) => {
                let undone =
                    |kind| matches!(kind, RepairKind::NullDropped | RepairKind::PropertyName);
                let only = call.repairs().iter().all(|repair| undone(repair.kind));
                assert!(only || !losses.is_empty(), "{place}: {:?}", call.repairs());
            }
            Err(error) => {
                for violation in error.violations() {
                    // What repair would have dropped is listed too.
                    let is_null = form.contains("strict") && violation.found == "null";
                    let is_said = is_said(losses, own, &violation.schema_pointer);
                    assert!(is_null || is_said, "{place}: {violation:?}");
                }
            }
        }
    }
    passed
}

/// Whether the losses of a tool tell of a place in its schema.
type Said = fn(&[&Loss], &Value, &str) -> bool;

/// Whether a tool has a loss at all: where parts are merged, a loss is told of the outcome.
pub(crate) fn is_said_somewhere(losses: &[&Loss], _: &Value, _: &str) -> bool {
    !losses.is_empty()
}

pub(crate) fn check_all(snapshot: &Snapshot, is_said: Said) -> usize {
    let mut passed = 0;
    for (form, wanted) in FORMS {
        let projection = snapshot.project(&wanted);
        let left_out: Vec<&str> = projection.left_out.iter().map(|tool| &*tool.tool).collect();
        let given = snapshot
            .tools()
            .iter()
            .filter(|tool| !left_out.contains(&&*tool.name));
        for (tool, declaration) in given.zip(declarations(&projection.tools)) {
            let of_tool = projection
                .losses
                .iter()
                .filter(|loss| loss.tool == tool.name);
            let losses: Vec<&Loss> = of_tool
                .filter(|loss| loss.effect == Effect::Wider)
                .collect();
            if let Some(schema) = schema_of(declaration) {
                passed += check(tool, form, (schema, &losses), is_said);
            }
        }
    }
    passed
}

#[test]
fn what_passes_the_form_of_a_recorded_tool_passes_its_own_schema_unless_a_loss_says_so() {
    let passed: usize = lists()
        .iter()
        .map(|(_, snapshot)| check_all(snapshot, is_said))
        .sum();
    assert!(passed > 20_000, "{passed}");
}

#[test]
fn what_passes_the_form_of_an_odd_schema_passes_the_schema_unless_a_loss_says_so() {
    let passed = check_all(&llm_odd::snapshot(), is_said);
    assert!(passed > 400, "{passed}");
}
