//! Does every projected tool obey the published rules of the API it is for?
//!
//! The rules are written down here once more, from the APIs' guides and from what they are known to
//! refuse, and not with the code that they check.

use serde_json::{Map, Value};

use crate::llm_recorded::{FORMS, declarations, is_strict, lists, schema_of};

/// What is wrong, each with its place.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, at: &str, rule: &str) {
        if !holds {
            self.0.push(format!("{at}: {rule}"));
        }
    }
}

/// Sees a schema, its place, and how deep it is in objects and lists.
type Look<'l> = &'l mut dyn FnMut(&Map<String, Value>, &str, usize);

/// Calls `look` for every schema of a document with its place and how deep it is in objects and
/// lists.
fn each(schema: &Value, (at, level): (String, usize), look: Look<'_>) {
    let Value::Object(map) = schema else { return };
    look(map, &at, level);
    for (keyword, value) in map {
        let at = format!("{at}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "patternProperties" | "dependentSchemas" | "definitions",
                Value::Object(named),
            ) => {
                let level = if keyword == "$defs" { 1 } else { level + 1 };
                for (name, schema) in named {
                    each(schema, (format!("{at}/{name}"), level), look);
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => {
                list.iter()
                    .for_each(|schema| each(schema, (at.clone(), level), look));
            }
            ("prefixItems" | "items", Value::Array(list)) => {
                list.iter()
                    .for_each(|schema| each(schema, (at.clone(), level + 1), look));
            }
            ("items" | "additionalProperties" | "contains" | "propertyNames", schema) => {
                each(schema, (at, level + 1), look);
            }
            ("not" | "if" | "then" | "else", schema) => each(schema, (at, level), look),
            _ => {}
        }
    }
}

fn types(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("type") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind],
        _ => Vec::new(),
    }
}

fn names<'m>(map: &'m Map<String, Value>, keyword: &str) -> Vec<&'m str> {
    match map.get(keyword) {
        Some(Value::Object(named)) => named.keys().map(String::as_str).collect(),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether a constant is of a type.
fn is_of(kind: &str, constant: &Value) -> bool {
    match kind {
        "string" => constant.is_string(),
        "integer" => constant
            .as_f64()
            .is_some_and(|number| number.fract() == 0.0),
        "number" => constant.is_number(),
        "boolean" => constant.is_boolean(),
        "null" => constant.is_null(),
        "array" => constant.is_array(),
        _ => constant.is_object(),
    }
}

fn references_resolve(schema: &Value, faults: &mut Faults) {
    each(schema, (String::new(), 0), &mut |map, at, _| {
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| schema.pointer(pointer));
            faults.unless(target.is_some(), at, "a reference leads nowhere");
        }
    });
}

fn plain_root(schema: &Value, faults: &mut Faults) {
    let root = schema.as_object().expect("a root is an object");
    faults.unless(types(root) == ["object"], "", "the root is an object");
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        faults.unless(!root.contains_key(keyword), keyword, "stands at the root");
    }
}

/// What OpenAI's APIs refuse of a schema that is not strict.
fn openai(schema: &Value, faults: &mut Faults) {
    plain_root(schema, faults);
    references_resolve(schema, faults);
    faults.unless(
        schema["properties"].is_object(),
        "",
        "an object without properties",
    );
    each(schema, (String::new(), 0), &mut |map, at, _| {
        let is_array = types(map).contains(&"array");
        faults.unless(
            !is_array || map.contains_key("items"),
            at,
            "an array without items",
        );
        let items = map.get("items");
        faults.unless(!items.is_some_and(Value::is_array), at, "items is a list");
        for bound in ["exclusiveMinimum", "exclusiveMaximum"] {
            faults.unless(
                !map.get(bound).is_some_and(Value::is_boolean),
                at,
                "a boolean bound",
            );
        }
    });
}

/// The guide to structured outputs, on supported schemas.
fn openai_strict(schema: &Value, faults: &mut Faults) {
    const KEYWORDS: [&str; 21] = [
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
        "$ref",
        "$defs",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ];
    const FORMATS: [&str; 9] = [
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ];
    openai(schema, faults);
    let (mut properties, mut deepest, mut values, mut characters) = (0, 0, 0, 0);
    each(schema, (String::new(), 0), &mut |map, at, level| {
        properties += names(map, "properties").len();
        let counted = ["properties", "$defs"].map(|keyword| names(map, keyword));
        let texts = counted.into_iter().flatten().chain(names(map, "enum"));
        let texts = texts.chain(map.get("const").and_then(Value::as_str));
        characters += texts.map(|text| text.chars().count()).sum::<usize>();
        let long = names(map, "enum");
        let length: usize = long.iter().map(|text| text.chars().count()).sum();
        faults.unless(
            long.len() <= 250 || length <= 15_000,
            at,
            "a long enum of more than 15,000 characters",
        );
        let constants = map.get("enum").and_then(Value::as_array);
        let constants = constants.into_iter().flatten().chain(map.get("const"));
        let kinds = types(map);
        for constant in constants {
            let is_of = kinds.iter().any(|kind| is_of(kind, constant));
            faults.unless(kinds.is_empty() || is_of, at, "a constant of another type");
        }
        let empty = map.get("enum").and_then(Value::as_array);
        faults.unless(
            empty.is_none_or(|list| !list.is_empty()),
            at,
            "an empty enum",
        );
        let pattern = map
            .get("pattern")
            .and_then(Value::as_str)
            .unwrap_or_default();
        for around in ["(?=", "(?!", "(?<=", "(?<!", "\\1"] {
            faults.unless(!pattern.contains(around), at, "a pattern that looks around");
        }
        deepest = deepest.max(level);
        values += map
            .get("enum")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        for keyword in map.keys() {
            faults.unless(KEYWORDS.contains(&keyword.as_str()), at, keyword);
        }
        if let Some(format) = map.get("format").and_then(Value::as_str) {
            faults.unless(FORMATS.contains(&format), at, format);
        }
        let alone = map.keys().all(|keyword| keyword == "$ref");
        faults.unless(
            alone || !map.contains_key("$ref"),
            at,
            "something beside a reference",
        );
        let typed = ["type", "anyOf", "$ref"]
            .iter()
            .any(|keyword| map.contains_key(*keyword));
        faults.unless(typed, at, "no type");
        if types(map).contains(&"object") {
            let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
            faults.unless(closed, at, "an open object");
            let (mut known, mut required) = (names(map, "properties"), names(map, "required"));
            known.sort_unstable();
            required.sort_unstable();
            faults.unless(known == required, at, "required is not all properties");
        }
    });
    faults.unless(properties <= 5_000, "", "more than 5,000 properties");
    faults.unless(deepest <= 10, "", "more than 10 levels");
    faults.unless(values <= 1_000, "", "more than 1,000 values");
    faults.unless(characters <= 120_000, "", "more than 120,000 characters");
}

fn anthropic(schema: &Value, faults: &mut Faults) {
    plain_root(schema, faults);
    references_resolve(schema, faults);
    each(schema, (String::new(), 0), &mut |map, at, _| {
        for name in names(map, "properties") {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            let fits = (1..=64).contains(&name.len()) && name.bytes().all(plain);
            faults.unless(fits, at, "the name of a property");
        }
        faults.unless(
            !map.get("items").is_some_and(Value::is_array),
            at,
            "items is a list",
        );
    });
}

fn anthropic_strict(schema: &Value, faults: &mut Faults) {
    anthropic(schema, faults);
    each(schema, (String::new(), 0), &mut |map, at, _| {
        let is_object = types(map).contains(&"object");
        let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
        faults.unless(!is_object || closed, at, "an open object");
        faults.unless(
            !map.get("type").is_some_and(Value::is_array),
            at,
            "a list of types",
        );
        for keyword in [
            "oneOf",
            "allOf",
            "not",
            "if",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "maxItems",
            "uniqueItems",
            "patternProperties",
            "propertyNames",
            "prefixItems",
            "contains",
        ] {
            faults.unless(!map.contains_key(keyword), at, keyword);
        }
        let least = map.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        faults.unless(least <= 1, at, "minItems over 1");
    });
}

fn gemini(schema: &Value, faults: &mut Faults) {
    plain_root(schema, faults);
    references_resolve(schema, faults);
    const KEYWORDS: [&str; 16] = [
        "$defs",
        "$ref",
        "type",
        "format",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    each(schema, (String::new(), 0), &mut |map, at, _| {
        for keyword in map.keys() {
            faults.unless(KEYWORDS.contains(&keyword.as_str()), at, keyword);
        }
        let parts = map.get("properties").and_then(Value::as_object);
        let parts = parts.into_iter().flatten().map(|(_, part)| part);
        let parts = parts.chain(map.get("items"));
        for part in parts {
            faults.unless(part.is_object(), at, "a part that is no object");
        }
        gemini_node(map, at, faults);
        let alone = map.keys().all(|keyword| keyword.starts_with('$'));
        faults.unless(
            alone || !map.contains_key("$ref"),
            at,
            "something beside a reference",
        );
    });
}

/// What both of Gemini's fields refuse.
fn gemini_node(map: &Map<String, Value>, at: &str, faults: &mut Faults) {
    let kinds = types(map);
    let of = |kind: &str| kinds.contains(&kind);
    for keyword in ["properties", "required"] {
        faults.unless(
            !map.contains_key(keyword) || of("object"),
            at,
            "properties of no object",
        );
    }
    for keyword in ["items", "minItems", "maxItems"] {
        faults.unless(
            !map.contains_key(keyword) || of("array"),
            at,
            "items of no array",
        );
    }
    faults.unless(
        !of("array") || map.contains_key("items"),
        at,
        "an array without items",
    );
    let known = names(map, "properties");
    let described = names(map, "required")
        .iter()
        .all(|name| known.contains(name));
    faults.unless(described, at, "requires what is not described");
    let texts = map.get("enum").and_then(Value::as_array);
    let texts = texts.is_none_or(|values| values.iter().all(Value::is_string));
    faults.unless(texts, at, "an enum of no texts");
    let number = of("integer") || of("number");
    faults.unless(
        number || !map.contains_key("format"),
        at,
        "a format of a text",
    );
}

fn gemini_open_api(schema: &Value, faults: &mut Faults) {
    plain_root(schema, faults);
    let filled = schema["properties"]
        .as_object()
        .is_some_and(|map| !map.is_empty());
    faults.unless(filled, "", "parameters without properties");
    const KEYWORDS: [&str; 18] = [
        "type",
        "description",
        "nullable",
        "properties",
        "required",
        "items",
        "anyOf",
        "enum",
        "format",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "minProperties",
        "maxProperties",
    ];
    each(schema, (String::new(), 0), &mut |map, at, _| {
        for keyword in map.keys() {
            faults.unless(KEYWORDS.contains(&keyword.as_str()), at, keyword);
        }
        gemini_node(map, at, faults);
        faults.unless(
            !map.get("type").is_some_and(Value::is_array),
            at,
            "a list of types",
        );
        faults.unless(types(map) != ["null"], at, "the type null");
        faults.unless(
            map.contains_key("type") || map.contains_key("anyOf"),
            at,
            "no type",
        );
        for name in names(map, "properties") {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let begins = name
                .bytes()
                .next()
                .is_some_and(|byte| !byte.is_ascii_digit());
            let fits = begins && name.len() <= 64 && name.bytes().all(plain);
            faults.unless(fits, at, "the name of a property");
        }
    });
}

/// Checks one declaration by the rules of its form.
pub(crate) fn faults(form: &str, declaration: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    let Some(schema) = schema_of(declaration) else {
        faults.unless(form == "gemini-openapi", "", "no schema");
        return faults.0;
    };
    match (
        form.split(' ').next().unwrap_or_default(),
        is_strict(declaration),
    ) {
        ("openai" | "responses", true) => openai_strict(schema, &mut faults),
        ("openai" | "responses", false) => openai(schema, &mut faults),
        ("anthropic", true) => anthropic_strict(schema, &mut faults),
        ("anthropic", false) => anthropic(schema, &mut faults),
        ("gemini", _) => gemini(schema, &mut faults),
        ("gemini-openapi", _) => gemini_open_api(schema, &mut faults),
        _ => faults.unless(schema["type"] == "object", "", "the root is an object"),
    }
    faults.0
}

#[test]
fn every_recorded_tool_obeys_the_rules_of_each_api() {
    let mut found = Vec::new();
    for (_, snapshot) in lists() {
        for (form, wanted) in FORMS {
            let projection = snapshot.project(&wanted);
            for declaration in declarations(&projection.tools) {
                let name = declaration
                    .pointer("/function/name")
                    .or_else(|| declaration.get("name"));
                let name = name.and_then(Value::as_str).expect("a name");
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
                assert!(
                    (1..=64).contains(&name.len()) && name.bytes().all(plain),
                    "{name}"
                );
                let faults = faults(form, declaration);
                found.extend(
                    faults
                        .into_iter()
                        .map(|fault| format!("{form} {name} {fault}")),
                );
            }
        }
    }
    assert_eq!(found, [] as [String; 0]);
}

#[test]
fn responses_always_states_whether_a_tool_is_strict() {
    for (_, snapshot) in lists() {
        for (form, wanted) in FORMS
            .into_iter()
            .filter(|(form, _)| form.starts_with("responses"))
        {
            let tools = snapshot.project(&wanted).tools;
            let stated = declarations(&tools)
                .into_iter()
                .filter(|tool| tool["strict"].is_boolean());
            assert_eq!(stated.count(), snapshot.tools().len(), "{form}");
        }
    }
}

#[test]
fn a_request_to_anthropic_stays_within_the_limits_of_strict_tools() {
    for (server, snapshot) in lists() {
        let (_, form) = FORMS
            .into_iter()
            .find(|(form, _)| *form == "anthropic strict")
            .expect("a form");
        let tools = snapshot.project(&form).tools;
        let (mut strict, mut optional, mut unions) = (0, 0, 0);
        for tool in declarations(&tools)
            .into_iter()
            .filter(|tool| is_strict(tool))
        {
            strict += 1;
            each(
                schema_of(tool).expect("a schema"),
                (String::new(), 0),
                &mut |map, _, _| {
                    optional += names(map, "properties").len() - names(map, "required").len();
                    unions += usize::from(map.contains_key("anyOf"));
                },
            );
        }
        assert!(
            strict <= 20 && optional <= 24 && unions <= 16,
            "{server}: {strict} {optional} {unions}"
        );
    }
}
