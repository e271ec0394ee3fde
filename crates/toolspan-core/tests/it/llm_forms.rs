//! What does each API get of schemas that it cannot take as they are, and is every change told?

use serde_json::{Value, json};
use toolspan_core::call::{Injection, Preparing};
use toolspan_core::guard::Limits;
use toolspan_core::llm::{Api, Effect, Form, Offered, Projection, Strict};
use toolspan_core::{CallRequest, Snapshot, ToolAnnotations};

use crate::llm_odd::{self, tool};
use crate::llm_recorded::{FORMS, declarations, is_strict, lists, schema_of};
use crate::llm_rules::faults;
use crate::support::source;

fn project(schema: Value, form: Form) -> (Value, Projection) {
    let snapshot = Snapshot::new(vec![source("box", vec![tool("tool", schema)])]);
    let projection = snapshot.project(&form);
    let declaration = declarations(&projection.tools)
        .first()
        .map(|declaration| (*declaration).clone())
        .expect("one tool");
    (declaration, projection)
}

fn schema(of: Value, form: Form) -> Value {
    let (declaration, _) = project(of, form);
    schema_of(&declaration).expect("a schema").clone()
}

fn strict(api: Api) -> Form {
    Form::new(api).with_strict(Strict::WherePossible)
}

#[test]
fn odd_schemas_are_given_to_every_api_by_its_rules() {
    let snapshot = llm_odd::snapshot();
    let mut text = String::new();
    for (form, wanted) in FORMS {
        let projection = snapshot.project(&wanted);
        assert_eq!(projection.left_out, [], "{form}");
        text += &format!("# {form}\n");
        for (tool, declaration) in snapshot.tools().iter().zip(declarations(&projection.tools)) {
            assert_eq!(
                faults(form, declaration),
                [] as [String; 0],
                "{form} {}",
                tool.name
            );
            if form.starts_with("responses") || form == "mcp" {
                continue;
            }
            let kind = if is_strict(declaration) {
                ", strict"
            } else {
                ""
            };
            let schema = schema_of(declaration).map_or("none".to_owned(), Value::to_string);
            text += &format!("\n## {}{kind}\n{schema}\n", tool.name);
            for loss in projection
                .losses
                .iter()
                .filter(|loss| loss.tool == tool.name)
            {
                text += &format!(
                    "- {} {:?}: {} | {}\n",
                    loss.effect, loss.pointer, loss.what, loss.why
                );
            }
        }
    }
    insta::assert_snapshot!("odd", text);
}

#[test]
fn each_recorded_list_has_its_form_for_every_api() {
    for (server, snapshot) in lists() {
        let mut text = String::new();
        let mut before: Vec<(String, Value)> = Vec::new();
        for (form, wanted) in FORMS
            .into_iter()
            .filter(|(form, _)| !form.starts_with("responses"))
        {
            let tools = snapshot.project(&wanted).tools;
            for (tool, declaration) in snapshot.tools().iter().zip(declarations(&tools)) {
                let Some(schema) = schema_of(declaration) else {
                    continue;
                };
                let digest = shape_of(schema);
                let kind = if is_strict(declaration) {
                    "strict "
                } else {
                    ""
                };
                let key = tool.name.to_string();
                // What is the author's own schema, or as the form before, is not shown again.
                let is_own = schema == tool.definition.input.raw();
                let is_known = before
                    .iter()
                    .any(|(name, known)| *name == key && known == schema);
                if is_own || is_known {
                    continue;
                }
                before.push((key, schema.clone()));
                text += &format!("{form} | {kind}{}{digest}\n", tool.name);
            }
        }
        insta::assert_snapshot!(format!("list_{server}"), text);
    }
}

/// A schema without its words, in one line.
fn shape_of(schema: &Value) -> String {
    match schema {
        Value::Object(map) => match (map.get("properties"), map.get("type")) {
            (Some(Value::Object(named)), _) => {
                let required = map.get("required").and_then(Value::as_array);
                let is_required = |name: &str| {
                    required.is_some_and(|names| names.iter().any(|known| known == name))
                };
                let parts = named.iter().map(|(name, schema)| {
                    let mark = if is_required(name) { "" } else { "?" };
                    format!("{name}{mark}: {}", shape_of(schema))
                });
                format!("({})", parts.collect::<Vec<_>>().join(", "))
            }
            (None, kind) => {
                let kind = kind.map_or(String::new(), |kind| kind.to_string().replace('"', ""));
                let nullable = if map.get("nullable").is_some() {
                    "?"
                } else {
                    ""
                };
                let items = map
                    .get("items")
                    .map_or(String::new(), |items| format!("[{}]", shape_of(items)));
                let any = map.get("anyOf").and_then(Value::as_array);
                let any: Vec<String> = any.into_iter().flatten().map(shape_of).collect();
                let reference = map.get("$ref").and_then(Value::as_str).unwrap_or_default();
                let values = map
                    .get("enum")
                    .and_then(Value::as_array)
                    .map_or(String::new(), |values| format!("={}", values.len()));
                format!(
                    "{kind}{nullable}{items}{}{reference}{values}",
                    any.join("|")
                )
            }
            _ => "object".to_owned(),
        },
        other => other.to_string(),
    }
}

#[test]
fn a_schema_that_openai_takes_is_given_as_its_author_wrote_it() {
    let raw = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "x-own": [1],
        "properties": {"a": {"type": "string", "format": "uri", "default": null, "minLength": 2}, "b": true},
        "additionalProperties": false, "required": ["a"],
    });
    for api in [Api::OpenAi, Api::Responses, Api::Anthropic, Api::Mcp] {
        let (declaration, projection) = project(raw.clone(), Form::new(api));
        assert_eq!(
            schema_of(&declaration).unwrap().to_string(),
            raw.to_string(),
            "{api:?}"
        );
        assert_eq!(projection.losses, []);
    }
}

#[test]
fn a_property_named_as_a_keyword_is_a_property() {
    let raw = json!({"type": "object", "required": ["definitions"], "properties": {
        "definitions": {"type": "string"}, "$ref": {"type": "string"}, "items": {"type": "array"},
    }});
    for (form, wanted) in FORMS
        .into_iter()
        .filter(|(form, _)| *form != "gemini-openapi")
    {
        let schema = schema(raw.clone(), wanted);
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let (kept, renamed) = (
            ["definitions", "$ref", "items"],
            ["definitions", "_ref", "items"],
        );
        let expected = if form.starts_with("anthropic") {
            renamed
        } else {
            kept
        };
        assert_eq!(names, expected, "{form}");
    }
}

#[test]
fn an_optional_property_of_a_strict_tool_is_null_in_place_of_left_out_and_told_so() {
    let raw = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"enum": ["x"]}, "c": {"$ref": "#/$defs/C"}, "d": {"type": ["integer", "null"]},
    }, "required": ["a"], "$defs": {"C": {"type": "object", "properties": {"e": {"type": "number"}}}}});
    let (declaration, projection) = project(raw, strict(Api::OpenAi));
    assert_eq!(declaration["function"]["strict"], true);
    let schema = schema_of(&declaration).unwrap();
    assert_eq!(schema["required"], json!(["a", "b", "c", "d"]));
    assert_eq!(schema["properties"]["b"]["enum"], json!(["x", null]));
    assert_eq!(
        schema["properties"]["c"]["anyOf"],
        json!([{"$ref": "#/$defs/C"}, {"type": "null"}])
    );
    assert_eq!(
        schema["properties"]["d"]["type"],
        json!(["integer", "null"])
    );
    assert_eq!(
        schema["$defs"]["C"]["properties"]["e"]["type"],
        json!(["number", "null"])
    );
    let undone = projection
        .losses
        .iter()
        .filter(|loss| loss.effect == Effect::Undone);
    let places: Vec<&str> = undone.map(|loss| loss.pointer.as_str()).collect();
    assert_eq!(
        places,
        ["/properties/b", "/properties/c", "/$defs/C/properties/e"]
    );
}

#[test]
fn a_tool_that_cannot_be_strict_is_given_without_and_the_reason_is_told() {
    for (raw, reason) in [
        (json!({"properties": {"a": {}}}), "takes anything"),
        (
            json!({"properties": {"a": {"type": "object"}}}),
            "names no properties",
        ),
        (
            json!({"properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}),
            "takes other properties",
        ),
        (
            json!({"properties": {"a": {"type": "array"}}}),
            "what its items are",
        ),
        (json!({"required": ["ghost"]}), "does not describe"),
        (
            json!({"properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}}}}),
            "by position",
        ),
    ] {
        for api in [Api::OpenAi, Api::Responses, Api::Anthropic] {
            let (declaration, projection) = project(raw.clone(), strict(api));
            assert!(!is_strict(&declaration), "{raw}");
            let told = projection
                .losses
                .iter()
                .find(|loss| loss.what == "the tool is not strict");
            assert!(
                told.is_some_and(|loss| loss.why.contains(reason)),
                "{raw}: {told:?}"
            );
        }
    }
}

#[test]
fn a_strict_schema_of_more_than_ten_levels_is_given_without_strict() {
    let nest = |levels: usize| {
        let leaf = json!({"type": "string"});
        (0..levels).fold(
            leaf,
            |inner, _| json!({"type": "object", "properties": {"a": inner}}),
        )
    };
    let is_given_strict = |levels| is_strict(&project(nest(levels), strict(Api::OpenAi)).0);
    assert!(is_given_strict(10));
    assert!(!is_given_strict(11));
}

#[test]
fn injected_fields_come_first_and_are_not_required() {
    let raw = json!({"type": "object", "properties": {"z": {"type": "string"}, "summary": {"type": "string"}}, "required": ["z", "summary"]});
    for (form, wanted) in FORMS {
        let schema = schema(
            raw.clone(),
            wanted.with_injection(Injection::new(true, true)),
        );
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        if form == "mcp" {
            assert_eq!(names, ["z", "summary"]);
            continue;
        }
        assert_eq!(
            names,
            ["security_risk", "toolspan_summary", "z", "summary"],
            "{form}"
        );
        let levels = schema["properties"]["security_risk"]["enum"]
            .as_array()
            .unwrap();
        assert_eq!(
            levels[..4],
            ["UNKNOWN", "LOW", "MEDIUM", "HIGH"].map(Value::from)
        );
        if !form.contains("strict") || form.starts_with("anthropic") {
            assert_eq!(schema["required"], json!(["z", "summary"]), "{form}");
        }
    }
}

#[test]
fn a_tool_that_changes_nothing_is_not_asked_for_its_risk() {
    let snapshot = llm_odd::snapshot();
    let form = Form::new(Api::OpenAi).with_injection(Injection::new(true, false));
    let asked = |projection: &Projection| {
        let tools = declarations(&projection.tools);
        tools
            .iter()
            .filter(|tool| tool.to_string().contains("security_risk"))
            .count()
    };
    assert_eq!(asked(&snapshot.project(&form)), snapshot.tools().len());
    assert_eq!(
        asked(&snapshot.project_for(&form, &|tool| match &*tool.name {
            "odd__bare" => Offered::ReadOnly,
            _ => Offered::Yes,
        })),
        snapshot.tools().len() - 1
    );
}

#[test]
fn a_servers_own_word_that_a_tool_changes_nothing_is_not_believed() {
    let mut own = tool("tool", json!({"type": "object"}));
    std::sync::Arc::get_mut(&mut own.definition)
        .unwrap()
        .annotations = Some(ToolAnnotations::read_only());
    let snapshot = Snapshot::new(vec![source("box", vec![own])]);
    let form = Form::new(Api::OpenAi).with_injection(Injection::new(true, false));
    let asks = |tools: &Value| tools.to_string().contains("security_risk");
    assert!(asks(&snapshot.project(&form).tools));
    let known = snapshot.project_for(&form, &|_| Offered::ReadOnly);
    assert!(!asks(&known.tools));
}

#[test]
fn a_property_has_one_other_name_wherever_it_stands_and_none_that_is_taken() {
    let raw = json!({
        "type": "object",
        "properties": {
            "page-size": {"type": "integer"},
            "security-risk": {"type": "string"},
            "inner": {"type": "object", "properties": {"page_size": {"type": "string"}, "page-size": {"type": "integer"}}},
        },
        "required": ["page-size", "security-risk"],
    });
    let own = json!({"security-risk": "mine", "page-size": 1, "inner": {"page-size": 2, "page_size": "a"}});
    let snapshot = Snapshot::new(vec![source("box", vec![tool("tool", raw)])]);
    let form = Form::new(Api::GeminiOpenApi).with_injection(Injection::new(true, true));
    let projection = snapshot.project(&form);
    let schema = schema_of(declarations(&projection.tools)[0]).unwrap();
    let name_of = |place: &Value, own: &str| -> String {
        let names = place["properties"].as_object().unwrap().keys();
        let mut names = names.filter(|name| name.starts_with(own));
        names.next().unwrap().clone()
    };
    let size = name_of(schema, "page_size_");
    assert_eq!(name_of(&schema["properties"]["inner"], "page_size_"), size);
    let risk = name_of(schema, "security_risk_");
    assert_eq!(schema["required"], json!([size, risk]));
    let given = json!({
        "security_risk": "LOW", risk: "mine", "summary": "Does it",
        size.clone(): 1, "inner": {size: 2, "page_size": "a"},
    });
    let call = CallRequest::new("box__tool", given)
        .prepare(
            &snapshot.tools()[0],
            &Limits::default(),
            &Preparing::of_model(form.injection),
        )
        .unwrap();
    assert_eq!(Value::Object(call.arguments().clone()), own);
    assert_eq!(
        (call.risk_word(), call.model_summary()),
        (Some("LOW"), Some("Does it"))
    );
    assert_eq!(call.repairs(), []);
}

#[test]
fn a_name_that_gemini_refuses_gets_another_that_leads_back() {
    let schema = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut own = source(
        "",
        vec![
            tool("2fa", schema()),
            tool("_2fa", schema()),
            tool("-x", schema()),
        ],
    );
    own.prefix = Some(String::new());
    let snapshot = Snapshot::new(vec![own]);
    let projection = snapshot.project(&Form::new(Api::Gemini));
    let names: Vec<&str> = declarations(&projection.tools)
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    // A tool whose name is taken as it is keeps it, wherever it stands.
    assert_eq!(names, ["_2fa_2", "_2fa", "_-x"]);
    let back: Vec<&str> = names.iter().map(|name| projection.tool_of(name)).collect();
    assert_eq!(back, ["2fa", "_2fa", "-x"]);
    let meant: Vec<&str> = names
        .iter()
        .map(|name| &*snapshot.shown_as(name).unwrap().name)
        .collect();
    assert_eq!(meant, back);
    assert!(snapshot.shown_as("_3").is_none());
    // The names are those of the whole snapshot, whichever tools are given.
    let some = snapshot.project_for(&Form::new(Api::Gemini), &|tool| match &*tool.name {
        "2fa" => Offered::Yes,
        _ => Offered::No,
    });
    assert_eq!(declarations(&some.tools)[0]["name"], "_2fa_2");
}

#[test]
fn a_description_is_cut_where_the_form_has_a_bound() {
    let mut long = tool("tool", json!({"type": "object"}));
    std::sync::Arc::get_mut(&mut long.definition)
        .unwrap()
        .description = "word ".repeat(500);
    let snapshot = Snapshot::new(vec![source("box", vec![long])]);
    let cut = snapshot.project(&Form::new(Api::OpenAi).with_description_chars(1_024));
    let text = cut.tools[0]["function"]["description"].as_str().unwrap();
    assert!(text.chars().count() <= 1_024);
    assert!(cut.losses.iter().any(|loss| loss.effect == Effect::Words));
    let whole = snapshot.project(&Form::new(Api::OpenAi));
    assert_eq!(
        whole.tools[0]["function"]["description"]
            .as_str()
            .unwrap()
            .len(),
        2_500
    );
}

#[test]
fn one_tool_that_does_not_fit_is_left_out_alone_with_its_reason() {
    // Each level refers twice to the next: without references it is 2^14 schemas.
    let mut definitions = serde_json::Map::new();
    for level in 0..13 {
        let below = json!({"$ref": format!("#/$defs/L{}", level + 1)});
        definitions.insert(
            format!("L{level}"),
            json!({"type": "object", "properties": {"a": below, "b": below}}),
        );
    }
    definitions.insert("L13".to_owned(), json!({"type": "string"}));
    let large = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": definitions});
    let snapshot = Snapshot::new(vec![source(
        "box",
        vec![
            tool("large", large),
            tool("small", json!({"properties": {"a": {"type": "string"}}})),
        ],
    )]);
    let projection = snapshot.project(&Form::new(Api::GeminiOpenApi));
    assert_eq!(declarations(&projection.tools).len(), 1);
    assert_eq!(&*projection.left_out[0].tool, "box__large");
    assert!(
        projection.left_out[0].reason.contains("schemas"),
        "{:?}",
        projection.left_out
    );
    let kept = snapshot.project(&Form::new(Api::Gemini));
    assert_eq!(kept.left_out, []);
}

#[test]
fn a_tool_whose_schema_takes_nothing_is_left_out_alone_and_no_request_has_it() {
    let nothing =
        json!({"type": "object", "$ref": "#/$defs/never", "$defs": {"never": {"allOf": [false]}}});
    let some = json!({"properties": {"a": {"type": "string"}}});
    let tools = vec![tool("nothing", nothing), tool("some", some)];
    let snapshot = Snapshot::new(vec![source("box", tools)]);
    for (name, form) in FORMS.into_iter().filter(|(name, _)| *name != "mcp") {
        let projection = snapshot.project(&form);
        let reasons: Vec<&str> = projection
            .left_out
            .iter()
            .map(|left| &*left.reason)
            .collect();
        assert_eq!(reasons, ["its schema takes no arguments at all"], "{name}");
        assert_eq!(declarations(&projection.tools).len(), 1, "{name}");
    }
}

#[test]
fn a_list_of_one_type_is_that_type_where_an_api_takes_no_lists_of_types() {
    let one = json!({"type": "object", "properties": {"a": {"type": ["number"]}}});
    for form in [Form::new(Api::GeminiOpenApi), strict(Api::Anthropic)] {
        let given = schema(one.clone(), form);
        assert_eq!(given["properties"]["a"]["type"], "number", "{form:?}");
    }
}

#[test]
fn null_alone_is_a_text_that_may_be_null_where_null_is_no_type() {
    let null = json!({"type": "object", "properties": {"a": {"type": "null"}}});
    let (declaration, projection) = project(null, Form::new(Api::GeminiOpenApi));
    assert_eq!(
        declaration["parameters"]["properties"]["a"],
        json!({"type": "string", "nullable": true, "description": "only null is right"})
    );
    let mut effects = projection.losses.iter().map(|loss| loss.effect);
    assert!(effects.any(|effect| effect == Effect::Wider));
}

#[test]
fn a_part_that_takes_nothing_or_anything_is_an_object_with_words_for_gemini() {
    let parts = json!({"type": "object", "properties": {
        "never": {"allOf": [{"type": "object"}, false]},
        "list": {"type": "array", "items": true},
    }});
    let given = schema(parts, Form::new(Api::Gemini));
    assert_eq!(
        given["properties"],
        json!({
            "never": {"description": "nothing is right here"},
            "list": {"type": "array", "items": {}},
        })
    );
}

#[test]
fn what_is_about_an_unstated_type_is_told_in_words_where_an_api_refuses_it() {
    let open = json!({"type": "object", "properties": {
        "a": {"anyOf": [{"type": "array", "items": {}}, {"type": "null"}], "minItems": 2},
    }});
    let a = schema(open, Form::new(Api::Gemini))["properties"]["a"].clone();
    assert_eq!(
        (a.get("minItems"), &a["description"]),
        (None, &json!("minItems: 2"))
    );
}

#[test]
fn a_strict_constant_is_of_its_type_and_a_part_without_one_makes_the_tool_loose() {
    let a =
        |schema: Value| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
    let given = schema(
        a(json!({"type": "string", "enum": ["x", 1, null]})),
        strict(Api::OpenAi),
    );
    assert_eq!(
        given["properties"]["a"],
        json!({"type": "string", "enum": ["x"]})
    );
    let given = schema(
        a(json!({"const": "x", "enum": ["x", "y"]})),
        strict(Api::OpenAi),
    );
    assert_eq!(
        given["properties"]["a"],
        json!({"type": "string", "const": "x"})
    );
    for never in [
        json!({"type": "string", "const": 1}),
        json!({"const": "x", "enum": ["y"]}),
        json!({"type": "integer", "enum": ["y"]}),
    ] {
        let (declaration, projection) = project(a(never), strict(Api::OpenAi));
        assert!(!is_strict(&declaration));
        let mut why = projection.losses.iter().map(|loss| &*loss.why);
        assert!(why.any(|why| why == "a part takes nothing (at /properties/a)"));
    }
}
