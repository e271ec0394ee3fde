//! Do the fields that a host injects step aside where a tool has one of that name itself?

use serde_json::{Value, json};
use toolspan_core::call::injected;
use toolspan_core::schema::Schema;

fn names(schema: Value) -> [String; 2] {
    let schema = Schema::for_arguments(schema).expect("the tests' schemas are usable");
    let names = injected::names(&schema);
    [names.security_risk.into_owned(), names.summary.into_owned()]
}

#[test]
fn a_tool_that_leaves_the_names_free_gets_the_plain_ones() {
    for schema in [
        json!(true),
        json!({"type": "object"}),
        json!({"properties": {"text": {"properties": {"summary": {}}}}}),
        json!({"$defs": {"unused": {"properties": {"security_risk": {}}}}}),
    ] {
        assert_eq!(names(schema), ["security_risk", "summary"]);
    }
}

#[test]
fn an_injected_field_takes_another_name_beside_the_tools_own() {
    let own = json!({"properties": {"security_risk": {"type": "string"}, "summary": {}}});
    assert_eq!(names(own), ["toolspan_security_risk", "toolspan_summary"]);
    let all = json!({"properties": {
        "summary": {}, "toolspan_summary": {}, "toolspan_summary_2": {},
    }});
    assert_eq!(names(all), ["security_risk", "toolspan_summary_3"]);
}

#[test]
fn a_field_of_the_tool_is_found_wherever_the_schema_names_it() {
    let declared = json!({"properties": {"summary": {"type": "string"}}});
    for schema in [
        json!({"required": ["summary"]}),
        json!({"allOf": [{"type": "object"}, declared]}),
        json!({"anyOf": [{"type": "object"}, declared]}),
        json!({"if": {"required": ["a"]}, "then": declared}),
        json!({"$ref": "#/$defs/issue", "$defs": {"issue": declared}}),
    ] {
        assert_eq!(names(schema.clone())[1], "toolspan_summary", "{schema}");
    }
}
