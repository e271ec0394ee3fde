//! Do the tools of real servers get usable schemas?

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toolspan_core::schema::{Schema, signature};

/// One recorded tool.
struct Recorded {
    server: String,
    name: String,
    input: Value,
    output: Option<Value>,
}

fn recorded() -> Vec<Recorded> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/toollists");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the fixtures")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    assert_eq!(files.len(), 22);
    let mut tools = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let list: Value = serde_json::from_str(&text).expect("JSON");
        let server = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        for tool in list.get("tools").and_then(Value::as_array).expect("tools") {
            tools.push(Recorded {
                server: server.clone(),
                name: tool
                    .get("name")
                    .and_then(Value::as_str)
                    .expect("a name")
                    .to_owned(),
                input: tool.get("inputSchema").expect("a schema").clone(),
                output: tool.get("outputSchema").cloned(),
            });
        }
    }
    tools
}

fn input_of(server: &str, name: &str) -> Schema {
    let tool = recorded()
        .into_iter()
        .find(|tool| tool.server == server && tool.name == name);
    Schema::for_arguments(tool.expect("is recorded").input).expect("static checks pass")
}

#[test]
fn every_recorded_schema_is_usable() {
    let (mut tools, mut schemas) = (0, 0);
    let mut broken = Vec::new();
    for tool in recorded() {
        tools += 1;
        let input = Schema::for_arguments(tool.input);
        let output = tool.output.map(Schema::for_output);
        for (kind, schema) in [("input", Some(input)), ("output", output)] {
            let Some(schema) = schema else { continue };
            schemas += 1;
            if let Err(rejected) = schema.and_then(|schema| schema.compile()) {
                broken.push(format!("{} {} {kind}: {rejected}", tool.server, tool.name));
            }
        }
    }
    assert_eq!((tools, schemas), (478, 609));
    insta::assert_snapshot!(broken.join("\n"), @"");
}

/// A value that a simple schema accepts; `None` where the schema takes more than simple means.
fn minimal(root: &Value, schema: &Value, budget: usize) -> Option<Value> {
    let budget = budget.checked_sub(1)?;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return minimal(root, root.pointer(reference.strip_prefix('#')?)?, budget);
    }
    if let Some(constant) = schema.get("const") {
        return Some(constant.clone());
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.first().cloned();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(members)) = schema.get(keyword) {
            return minimal(root, members.first()?, budget);
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first()?.as_str()?,
        Some(kind) => kind.as_str()?,
        None => return Some(json!({})),
    };
    Some(match kind {
        "string" if schema.get("pattern").is_some() => return None,
        "string" => {
            let length = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
            json!("x".repeat(usize::try_from(length).ok()?))
        }
        "integer" | "number" => {
            let above = schema
                .get("exclusiveMinimum")
                .and_then(Value::as_f64)
                .map(|n| n + 1.0);
            let least = schema.get("minimum").and_then(Value::as_f64);
            let number = least.or(above).unwrap_or(0.0);
            json!(number)
        }
        "boolean" => json!(false),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let item = minimal(root, schema.get("items").unwrap_or(&json!(true)), budget)?;
            Value::Array(vec![item; usize::try_from(least).ok()?])
        }
        "object" => {
            let mut object = Map::new();
            let required = schema.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten() {
                let property = schema.get("properties")?.get(name.as_str()?)?;
                object.insert(name.as_str()?.to_owned(), minimal(root, property, budget)?);
            }
            Value::Object(object)
        }
        _ => Value::Null,
    })
}

#[test]
fn minimal_arguments_of_real_tools_are_accepted_and_broken_ones_refused() {
    let (mut accepted, mut refused) = (0, 0);
    for tool in recorded() {
        let schema = Schema::for_arguments(tool.input.clone()).expect("static checks pass");
        let Some(arguments) = minimal(&tool.input, &tool.input, 16) else {
            continue;
        };
        let place = format!("{} {}: {arguments}", tool.server, tool.name);
        if let Err(failed) = schema.check(&arguments) {
            panic!("{place}: {failed}");
        }
        accepted += 1;
        let Some(Value::Array(required)) = tool.input.get("required") else {
            continue;
        };
        for name in required.iter().filter_map(Value::as_str) {
            let mut less = arguments.clone();
            less.as_object_mut().expect("an object").shift_remove(name);
            let failed = schema.check(&less).expect_err(&place).to_string();
            assert!(
                failed.contains(&format!("required property `{name}`")),
                "{place}: {failed}"
            );
            refused += 1;
        }
    }
    assert_eq!((accepted, refused), (444, 663));
}

#[test]
fn wrong_arguments_of_real_tools_are_told_in_plain_words() {
    let tell = |server, tool, arguments: Value| {
        let failed = input_of(server, tool).check(&arguments).expect_err(tool);
        format!("{tool} {arguments}\n{failed}")
    };
    let lines = [
        tell("time", "get_current_time", json!({"timezone": 5})),
        tell(
            "time",
            "convert_time",
            json!({"source_timezone": "UTC", "time": "12:00"}),
        ),
        tell(
            "git",
            "git_log",
            json!({"repo_path": "/r", "max_count": "ten"}),
        ),
        tell(
            "fetch",
            "fetch",
            json!({"url": "https://example.com", "max_length": 0}),
        ),
        tell(
            "filesystem",
            "edit_file",
            json!({"path": "a", "edits": [{"oldText": "x"}]}),
        ),
        tell(
            "sequential-thinking",
            "sequentialthinking",
            json!({"thought": "x", "thoughtNumber": 0}),
        ),
        tell(
            "notion",
            "API-post-search",
            json!({"filter": {"property": "object", "value": "pages"}}),
        ),
        tell(
            "notion",
            "API-post-page",
            json!({"parent": {"type": "workspce"}, "properties": {}}),
        ),
        tell(
            "notion",
            "API-post-page",
            json!({"parent": {"page": "x"}, "properties": []}),
        ),
    ];
    insta::assert_snapshot!(lines.join("\n\n"), @r#"
    get_current_time {"timezone":5}
    /timezone: expected a string, found the number 5

    convert_time {"source_timezone":"UTC","time":"12:00"}
    expected required property `target_timezone`, found an object with `source_timezone`, `time`

    git_log {"repo_path":"/r","max_count":"ten"}
    /max_count: expected an integer, found the string "ten"

    fetch {"url":"https://example.com","max_length":0}
    /max_length: expected at least 1, found the number 0

    edit_file {"path":"a","edits":[{"oldText":"x"}]}
    /edits/0: expected required property `newText`, found an object with `oldText`

    sequentialthinking {"thought":"x","thoughtNumber":0}
    3 problems:
    - expected required property `nextThoughtNeeded`, found an object with `thought`, `thoughtNumber`
    - expected required property `totalThoughts`, found an object with `thought`, `thoughtNumber`
    - /thoughtNumber: expected at least 1, found the number 0

    API-post-search {"filter":{"property":"object","value":"pages"}}
    /filter/value: expected one of "page", "data_source", found the string "pages"

    API-post-page {"parent":{"type":"workspce"},"properties":{}}
    /parent: expected required property `page_id`, found an object with `type`

    API-post-page {"parent":{"page":"x"},"properties":[]}
    2 problems:
    - /parent: expected required property `page_id`, required property `database_id` or required property `type`, found an object with `page`
    - /properties: expected an object or a string, found an array of 0 items
    "#);
}

#[test]
fn signatures_of_real_tools_can_be_read() {
    let show = |server, tool| format!("{tool}{}", signature(&input_of(server, tool)));
    let lines = [
        show("time", "convert_time"),
        show("git", "git_log"),
        show("fetch", "fetch"),
        show("filesystem", "edit_file"),
        show("memory", "create_entities"),
        show("sequential-thinking", "sequentialthinking"),
        show("notion", "API-post-search"),
        show("antv-chart", "generate_mind_map"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
        convert_time(source_timezone: string, time: string, target_timezone: string)
        git_log(repo_path: string, max_count?: integer, start_timestamp?: string | null, end_timestamp?: string | null)
        fetch(url: string, max_length?: integer, start_index?: integer, raw?: boolean)
        edit_file(path: string, edits: {oldText: string, newText: string}[], dryRun?: boolean)
        create_entities(entities: {name: string, entityType: string, observations: string[]}[])
        sequentialthinking(thought: string, nextThoughtNeeded: boolean | string, thoughtNumber: integer, totalThoughts: integer, isRevision?: boolean | string, revisesThought?: integer, branchFromThought?: integer, branchId?: string, needsMoreThoughts?: boolean | string)
        API-post-search(query?: string, sort?: {direction?: string, timestamp?: string} | string, filter?: {value?: "page" | "data_source", property?: string} | string, start_cursor?: string, page_size?: integer)
        generate_mind_map(data: {name: string, children?: {name: string, children?: array}[]}, style?: {texture?: "default" | "rough"}, theme?: "default" | "academy" | "dark", width?: number, height?: number)
        "#);
    for tool in recorded() {
        let schema = Schema::for_arguments(tool.input).expect("static checks pass");
        assert!(signature(&schema).chars().count() <= 2_002, "{}", tool.name);
    }
}
