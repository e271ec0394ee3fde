//! What does a model see of tools that the config shapes, and what is sent to them?

use std::sync::Arc;

use serde_json::{Value, json};
use toolspan_core::registry::{NamePattern, Shaping, ToolShape};
use toolspan_core::{BrokenTool, Discovery, ErrorKind, Result, Snapshot, ToolboxTool};

use crate::support::{answer, definition, echo, source};

fn search() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "maximum": 100},
            "api_key": {"type": "string", "minLength": 3},
        },
        "required": ["query", "limit", "api_key"],
        "minProperties": 3,
        "maxProperties": 3,
        "dependentRequired": {"api_key": ["limit"], "query": ["api_key"]},
        "additionalProperties": false,
    })
}

fn tool(name: &str, input: Value) -> ToolboxTool {
    ToolboxTool::new(Arc::new(definition(name, input)), echo(name).executor)
}

fn shaped(input: Value, shape: ToolShape) -> Result<ToolboxTool, BrokenTool> {
    Shaping::new()
        .tool("search", shape)
        .shape(tool("search", input))
}

fn keyed() -> ToolShape {
    ToolShape::new()
        .hiding("api_key", json!("hunter2-hunter2"))
        .with_default("limit", json!(10))
}

#[tokio::test]
async fn hidden_and_defaulted_arguments_are_added_on_the_way() {
    let tool = shaped(search(), keyed()).unwrap();
    let sent = |arguments| {
        let tool = tool.clone();
        async move { answer(&tool, arguments).await.map(|seen| seen.text()) }
    };
    assert_eq!(
        sent(json!({"query": "a"})).await.unwrap(),
        r#"{"query":"a","limit":10,"api_key":"hunter2-hunter2"}"#
    );
    assert_eq!(
        sent(json!({"limit": 5, "query": "a"})).await.unwrap(),
        r#"{"limit":5,"query":"a","api_key":"hunter2-hunter2"}"#
    );
    let error = sent(json!({"query": "a", "api_key": "mine"}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[test]
fn a_model_does_not_see_what_is_hidden_and_sees_the_defaults() {
    let tool = shaped(search(), keyed()).unwrap();
    insta::assert_snapshot!(format!("{:#}", tool.definition.input.raw()));
    assert!(!format!("{:?}", keyed()).contains("hunter2"));
}

#[tokio::test]
async fn a_hidden_argument_is_the_hosts_also_where_a_model_may_give_anything() {
    let open = json!({"type": "object", "properties": {"region": {}}});
    let tool = shaped(open, ToolShape::new().hiding("region", json!("eu"))).unwrap();
    let seen = answer(&tool, json!({"region": "us", "x": 1}))
        .await
        .unwrap();
    assert_eq!(seen.text(), r#"{"region":"eu","x":1}"#);
}

#[tokio::test]
async fn the_tools_own_schema_has_the_last_word_and_tells_nothing_of_what_is_hidden() {
    let input = json!({
        "type": "object",
        "properties": {"mode": {"enum": ["fast", "deep"]}, "steps": {"type": "integer"}},
        "if": {"properties": {"mode": {"const": "fast"}}},
        "then": {"properties": {"steps": {"maximum": 3}}},
    });
    let tool = shaped(input, ToolShape::new().hiding("mode", json!("fast"))).unwrap();
    assert!(tool.definition.input.raw().get("if").is_none());
    assert_eq!(
        answer(&tool, json!({"steps": 3})).await.unwrap().text(),
        r#"{"steps":3,"mode":"fast"}"#
    );
    let error = answer(&tool, json!({"steps": 4})).await.unwrap_err();
    assert_eq!(
        error.message(),
        "the arguments do not go with those that the host adds: /steps: expected at most 3, found the number 4"
    );
}

#[tokio::test]
async fn what_alternatives_and_references_say_of_an_argument_stands_in_nobodys_way() {
    let alternatives = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "token": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["token"]}],
    });
    let told_apart = json!({
        "type": "object",
        "properties": {"token": {}},
        "oneOf": [
            {"properties": {"token": {"const": "a"}}, "required": ["token"]},
            {"properties": {"token": {"const": "t"}}, "required": ["token"]},
        ],
    });
    let shared = json!({
        "allOf": [{"$ref": "#/$defs/Base"}],
        "properties": {"token": {"type": "string"}},
        "$defs": {"Base": {"type": "object", "required": ["token"]}},
    });
    let by_reference = json!({
        "$ref": "#/$defs/Base",
        "$defs": {"Base": {"type": "object", "properties": {"token": {}}, "required": ["token"]}},
    });
    for input in [alternatives, told_apart, shared, by_reference] {
        let shape = ToolShape::new().hiding("token", json!("t"));
        let tool = shaped(input.clone(), shape).unwrap();
        let seen = answer(&tool, json!({})).await;
        assert_eq!(seen.unwrap().text(), r#"{"token":"t"}"#, "{input}");
    }
}

#[test]
fn a_tool_that_cannot_have_its_shape_is_broken_alone_and_its_reason_shows_no_value() {
    let of = |shape| shaped(search(), shape).unwrap_err().reason;
    let secret = || json!("hunter2-hunter2");
    let reasons = [
        of(ToolShape::new().hiding("limit", secret())),
        of(ToolShape::new().with_default("limit", json!(1000))),
        of(ToolShape::new().hiding("apikey", secret())),
        of(ToolShape::new().renamed(" ")),
        of(keyed().with_default("api_key", secret())),
    ];
    insta::assert_snapshot!(reasons.join("\n"));
}

fn listing() -> Discovery {
    let mut listing = Discovery::default();
    listing.tools = ["search", "read", "read_all", "drop_table"]
        .map(echo)
        .into();
    listing.broken = vec![BrokenTool::new("drop_all", "odd")];
    listing
}

fn names(listing: &Discovery) -> (Vec<&str>, Vec<String>) {
    let tools = listing
        .tools
        .iter()
        .map(|tool| tool.definition.shown_name());
    let broken = listing.broken.iter();
    (
        tools.collect(),
        broken
            .map(|tool| format!("{}: {}", tool.name, tool.reason))
            .collect(),
    )
}

#[test]
fn tools_are_allowed_and_denied_by_their_sources_names_and_a_deny_wins() {
    let exact = NamePattern::exact;
    let glob = |pattern| NamePattern::glob(pattern).unwrap();
    let shaping = Shaping::new()
        .allow(glob("read*"))
        .allow(exact("drop_table"))
        .deny(glob("drop_*"));
    assert_eq!(
        names(&shaping.apply(listing())),
        (vec!["read", "read_all"], vec![])
    );
    let shaping = Shaping::new()
        .deny(exact("read"))
        .tool("search", ToolShape::new().renamed("read"));
    let (tools, broken) = (shaping.apply(listing()), ["drop_all: odd".to_owned()]);
    assert_eq!(
        names(&tools),
        (vec!["read", "read_all", "drop_table"], broken.into())
    );
    let untouched = Shaping::new().apply(listing());
    assert_eq!((untouched.tools.len(), untouched.broken.len()), (4, 1));
}

#[test]
fn a_shape_for_a_tool_that_is_not_listed_is_told() {
    let shaping = Shaping::new().tool("serach", ToolShape::new().described("Finds"));
    let broken = shaping.apply(listing()).broken;
    assert_eq!(
        broken[1].reason,
        "the config shapes it, and its source does not list it; near: search, read, drop_all"
    );
    // A listing that stopped half way may just lack it.
    let mut part = listing();
    part.incomplete = Some("the server ended".to_owned());
    assert_eq!(shaping.apply(part).broken.len(), 1);
}

#[tokio::test]
async fn a_renamed_tool_is_found_by_both_names_and_its_source_is_called_by_its_own() {
    let shape = ToolShape::new().renamed("find").described("Finds things");
    let tools = vec![
        Shaping::new()
            .tool("search", shape.clone())
            .shape(echo("search"))
            .unwrap(),
        echo("other"),
    ];
    let snapshot = Snapshot::new(vec![source("docs", tools)]);
    for name in ["docs__find", "docs.find", "docs.search", "find", "search"] {
        let tool = snapshot.resolve(name).unwrap();
        assert_eq!(
            (&*tool.name, tool.definition.name.as_str()),
            ("docs__find", "search")
        );
        assert_eq!(tool.definition.description, "Finds things");
    }
    let json = snapshot.tools()[0].definition.to_json("docs__find", "docs");
    assert_eq!(json["original_name"], "search");
    // A name that another tool has is that tool's, whoever is listed first.
    let shaping = Shaping::new().tool("search", shape.renamed("other"));
    let mut listing = Discovery::default();
    listing.tools = vec![echo("search"), echo("other")];
    let snapshot = Snapshot::new(vec![source("docs", shaping.apply(listing).tools)]);
    assert_eq!((snapshot.tools().len(), snapshot.broken().len()), (1, 1));
}

#[test]
fn names_are_matched_exactly_by_glob_or_from_their_beginning_by_regular_expression() {
    for (pattern, name, is_meant) in [
        ("read", "read", true),
        ("read", "Read", false),
        ("read", "read_all", false),
        ("read*", "read_all", true),
        ("*all", "read_all", true),
        ("rea?", "read", true),
        ("a.b", "axb", false),
        ("/allow/", "allowed", true),
        ("/allow/", "disallowed", false),
        ("/allow|deny/", "deny_all", true),
        ("/allow$/", "allowed", false),
    ] {
        let found = NamePattern::parse(pattern).unwrap().matches(name);
        assert_eq!(found, is_meant, "{pattern} {name}");
    }
}

#[test]
fn the_tools_of_a_snapshot_are_filtered_by_the_exposed_name_or_their_own() {
    let tools = ["read", "read_all", "write"].map(echo).into();
    let snapshot = Snapshot::new(vec![source("files", tools)]);
    let found = |pattern: &str| -> Vec<String> {
        let pattern = NamePattern::parse(pattern).unwrap();
        let tools = snapshot.matching(&pattern);
        tools.map(|tool| tool.definition.name.clone()).collect()
    };
    assert_eq!(found("files__*"), ["read", "read_all", "write"]);
    assert_eq!(found("read"), ["read"]);
    assert_eq!(found("/.*rea/"), ["read", "read_all"]);
    assert!(found("files").is_empty());
}

#[test]
fn a_pattern_that_cannot_be_used_or_would_cost_too_much_is_refused() {
    let large = format!("/{}/", "a".repeat(1_001));
    for pattern in [
        "/(/",
        "/a{1000}{1000}/",
        &large,
        &"*".repeat(300),
        "/(?=a)/",
    ] {
        let error = NamePattern::parse(pattern).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{pattern}");
    }
    // What makes others backtrack for ever takes no time here.
    let costly = NamePattern::regex("(a+)+$").unwrap();
    assert!(!costly.matches(&format!("{}!", "a".repeat(100_000))));
}
