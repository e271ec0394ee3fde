//! `tools --format` and `--losses`: what does each API get, and what did that cost?

use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::cli::{Cli, demo_server};

const FORMATS: [&str; 6] = [
    "openai",
    "responses",
    "anthropic",
    "gemini",
    "gemini-openapi",
    "mcp",
];

/// A server with one plain tool, one that most APIs want otherwise, and one that is too large for
/// an API without references.
fn odd() -> Cli {
    // Each level refers twice to the next: without references it is 2^14 schemas.
    let mut definitions = Map::new();
    for level in 0..13 {
        let below = json!({"$ref": format!("#/$defs/L{}", level + 1)});
        let level = format!("L{level}");
        let both = json!({"type": "object", "properties": {"a": below, "b": below}});
        definitions.insert(level, both);
    }
    definitions.insert("L13".to_owned(), json!({"type": "string"}));
    Cli::with_tools(&json!([
        {
            "name": "plain",
            "description": "Does it.",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        },
        {
            "name": "query",
            "description": "Asks.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "$filter": {"type": "string", "pattern": "^[a-z]+$"},
                    "page": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
                    "level": {"const": 3},
                },
                "required": ["$filter"],
                "anyOf": [{"required": ["page"]}, {"required": ["level"]}],
            },
        },
        {
            "name": "large",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/L0"}},
                "$defs": definitions,
            },
        },
    ]))
}

fn names(tools: &Value) -> Vec<&str> {
    let all = tools.pointer("/0/functionDeclarations").unwrap_or(tools);
    let tools = all.as_array().expect("a list").iter();
    let declared = tools.map(|tool| tool.get("function").unwrap_or(tool));
    declared
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect()
}

#[test]
fn each_format_is_the_value_of_the_tools_field_of_its_api() {
    let cli = odd();
    let mut all = String::new();
    for format in FORMATS {
        let ran = cli.run(&["tools", "plain", "--format", format]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}");
        all += &format!("{format}: {}", ran.stdout);
    }
    for format in ["openai", "responses", "anthropic"] {
        let ran = cli.run(&["tools", "plain", "--format", format, "--strict"]);
        all += &format!("{format} --strict: {}", ran.stdout);
    }
    assert_snapshot!(all);
}

#[test]
fn what_a_form_changes_is_a_table_with_the_count_below_it() {
    assert_snapshot!(odd().run(&["tools", "--format", "anthropic", "--losses"]));
}

#[test]
fn a_tool_that_is_left_out_is_in_the_table_with_the_reason() {
    assert_snapshot!(odd().run(&["tools", "--format", "gemini-openapi", "--losses"]));
}

#[test]
fn a_strict_form_says_of_each_tool_why_it_is_not_strict() {
    let arguments = [
        "tools", "query", "--format", "openai", "--strict", "--losses",
    ];
    assert_snapshot!(odd().run(&arguments));
}

#[test]
fn a_form_that_changes_nothing_is_a_count_alone() {
    let cli = Cli::with_demo();
    for format in ["openai", "responses", "anthropic", "mcp"] {
        let ran = cli.run(&["tools", "--format", format, "--losses"]);
        let expected = format!("6 tools for {format}: 0 lossy, 0 adapted, 0 left out\n");
        assert_eq!((ran.code, ran.stdout), (Some(0), expected));
    }
    let one = cli.run(&["tools", "add", "--format", "mcp", "--losses"]);
    assert!(one.stdout.starts_with("1 tool for mcp:"), "{one}");
}

#[test]
fn the_record_as_json_tells_the_same_and_counts_the_tools() {
    let cli = odd();
    let arguments = ["tools", "--format", "gemini-openapi", "--losses", "--json"];
    let record = cli.run(&arguments).json();
    assert_eq!(record["format"], "gemini-openapi");
    assert_eq!(
        (&record["strict"], &record["tools"]),
        (&json!(false), &json!(2))
    );
    let losses = record["losses"].as_array().expect("a list");
    let renamed = losses.iter().find(|loss| loss["effect"] == "undone");
    let renamed = renamed.expect("a property has another name");
    assert_eq!(renamed["tool"], "box__query");
    assert_eq!(renamed["lossy"], false);
    assert!(
        losses
            .iter()
            .any(|loss| loss["lossy"] == true && loss["effect"] == "wider")
    );
    let keys = ["tool", "pointer", "effect", "lossy", "what", "why"];
    for loss in losses {
        assert_eq!(
            loss.as_object().map(|it| it.keys().collect::<Vec<_>>()),
            Some(keys.map(String::from).iter().collect())
        );
    }
    let left_out = record["left_out"].as_array().expect("a list");
    assert_eq!(left_out.len(), 1);
    assert_eq!(left_out[0]["tool"], "box__large");
    assert!(
        left_out[0]["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("schemas"))
    );
}

#[test]
fn a_tool_that_an_api_cannot_take_is_left_out_alone_and_said_on_stderr() {
    let cli = odd();
    let ran = cli.run(&["tools", "--format", "gemini-openapi"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(names(&ran.json()), ["box__plain", "box__query"]);
    assert_snapshot!(ran.stderr);
    let quiet = cli.run(&["tools", "--format", "gemini-openapi", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let whole = cli.run(&["tools", "--format", "gemini"]);
    assert_eq!((names(&whole.json()).len(), whole.stderr.as_str()), (3, ""));
}

#[test]
fn a_pattern_picks_the_tools_of_each_form() {
    let cli = odd();
    for format in FORMATS {
        let ran = cli.run(&["tools", "*__query", "--format", format]);
        assert_eq!(names(&ran.json()), ["box__query"], "{format}");
        let none = cli.run(&["tools", "nothing", "--format", format]);
        assert_eq!(
            (none.code, none.stdout.as_str()),
            (Some(0), "[]\n"),
            "{format}"
        );
        let losses = cli.run(&["tools", "plain", "--format", format, "--losses", "--json"]);
        let record = losses.json();
        assert_eq!(record["left_out"], json!([]), "{format}");
        let of_others = |loss: &Value| loss["tool"] != "box__plain";
        assert!(
            !record["losses"]
                .as_array()
                .expect("a list")
                .iter()
                .any(of_others),
            "{format}"
        );
    }
}

#[test]
fn options_that_mean_nothing_together_are_exit_2_before_any_server_is_started() {
    let cli = Cli::bare();
    for (arguments, said) in [
        (
            &["--losses"][..],
            "--losses tells what the form of an API changes",
        ),
        (
            &["--strict"],
            "--strict is for an API that holds a model to a schema",
        ),
        (&["--format", "gemini", "--strict"], "--strict is for"),
        (
            &["--format", "mcp", "--strict", "--losses"],
            "--strict is for",
        ),
    ] {
        let arguments: Vec<&str> = std::iter::once("tools")
            .chain(arguments.iter().copied())
            .collect();
        let ran = cli.run(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran}");
        assert!(
            ran.stderr.contains(said) && ran.stderr.contains("--format"),
            "{ran}"
        );
        let arguments: Vec<&str> = arguments.into_iter().chain(["--json"]).collect();
        let ran = cli.run(&arguments);
        assert_eq!(
            (ran.code, &ran.json()["error"]["kind"]),
            (Some(2), &json!("usage"))
        );
    }
    assert_snapshot!(cli.run(&["tools", "--format", "gemeni"]));
}

#[test]
fn a_model_is_asked_for_the_risk_where_the_config_confirms_calls() {
    let cli = Cli::bare();
    let config = json!({
        "mcpServers": {"demo": demo_server()},
        "policy": {"confirm": "risky", "annotations": {"demo.add": {"readOnlyHint": true}}},
    });
    cli.write("toolspan.json", &config.to_string());
    for format in FORMATS {
        let ran = cli.run(&["tools", "--format", format]).json();
        let all = ran
            .pointer("/0/functionDeclarations")
            .unwrap_or(&ran)
            .clone();
        for tool in all.as_array().expect("a list") {
            let is_read_only = tool.to_string().contains("demo__add");
            let asks = tool.to_string().contains("security_risk");
            assert_eq!(asks, format != "mcp" && !is_read_only, "{format} {tool}");
        }
    }
}

#[test]
fn help_of_tools_names_every_format_and_has_examples() {
    assert_snapshot!(Cli::bare().run(&["tools", "--help"]));
}

#[test]
fn shells_complete_the_formats_and_their_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Cli::bare().run(&["completions", shell]).stdout;
        for word in FORMATS.iter().chain(&["native", "losses", "strict"]) {
            assert!(script.contains(word), "{shell} {word}");
        }
    }
}
