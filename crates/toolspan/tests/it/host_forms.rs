//! Does a tool get exactly its own arguments from a model of each API, and the host the rest?

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use toolspan::call::Injection;
use toolspan::config::{Environment, Resolved};
use toolspan::llm::{Answered, Api, Form, Projection, Strict};
use toolspan::policy::{Answer, Approver, Question, SecurityRisk};
use toolspan::schema::Schema;
use toolspan::toolbox::ToolBoxState;
use toolspan::{
    BoxFuture, Content, Context, Discovery, Host, HostBuilder, Observation, Result,
    ToolAnnotations, ToolBox, ToolDefinition, ToolExecutor, ToolboxTool, ValidCall,
};

/// What a tool was given: its arguments, and what the model said of the call.
#[derive(Clone, Debug, PartialEq)]
struct Got {
    tool: String,
    arguments: Value,
    risk: Option<String>,
    summary: Option<String>,
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Got>>>);

impl Seen {
    fn take(&self) -> Vec<Got> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl ToolExecutor for Seen {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        self.0.lock().unwrap().push(Got {
            tool: call.definition().name.clone(),
            arguments: Value::Object(call.arguments().clone()),
            risk: call.risk_word().map(str::to_owned),
            summary: call.model_summary().map(str::to_owned),
        });
        let image =
            Content::from_json(json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}));
        Box::pin(async { Ok(Observation::text_of("found 2").with_content(image)) })
    }
}

/// A source whose tools all call themselves read-only.
struct Shop(Vec<(&'static str, Value)>, Seen);

impl ToolBox for Shop {
    fn kind(&self) -> &str {
        "shop"
    }

    fn discover(&self) -> BoxFuture<'_, Result<Discovery>> {
        let made = self.0.iter().map(|(name, schema)| {
            let input = Schema::for_arguments(schema.clone()).unwrap();
            let mut definition = ToolDefinition::new(*name, "Works", Arc::new(input));
            definition.annotations = Some(ToolAnnotations::read_only());
            ToolboxTool::new(Arc::new(definition), Arc::new(self.1.clone()))
        });
        let mut discovery = Discovery::default();
        discovery.tools = made.collect();
        Box::pin(async { Ok(discovery) })
    }

    fn state(&self) -> ToolBoxState {
        ToolBoxState::Ready
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// Property names that one API or another refuses, and those that a host's own fields would have.
/// Each description is the name in parentheses, so that a model finds it under any other.
fn odd() -> Value {
    let text = |name: &str| json!({"type": "string", "description": format!("({name})")});
    let number = |name: &str| json!({"type": "integer", "description": format!("({name})")});
    json!({
        "type": "object",
        "properties": {
            "$filter": text("$filter"),
            "page-size": number("page-size"),
            "security-risk": text("security-risk"),
            "summary": text("summary"),
            "where": {
                "type": "object",
                "description": "(where)",
                "properties": {"page-size": number("where/page-size"), "page_size": text("where/page_size")},
                "required": ["page-size", "page_size"],
                "additionalProperties": false,
            },
            "left out": text("left out"),
        },
        "required": ["$filter", "page-size", "security-risk", "summary", "where"],
        "additionalProperties": false,
    })
}

fn own() -> Value {
    json!({
        "$filter": "a eq 1",
        "page-size": 5,
        "security-risk": "of the tool",
        "summary": "A title",
        "where": {"page-size": 7, "page_size": "big"},
    })
}

struct Yes;

impl Approver for Yes {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Once))
    }
}

/// A host whose tools have names that begin with a digit: `7shop__find`, `7shop__look` and `7shop__free`.
fn shop(policy: Value) -> (HostBuilder, Seen) {
    let seen = Seen::default();
    let free = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools = vec![("find", odd()), ("look", odd()), ("free", free)];
    let builder = Host::builder()
        .config_value(json!({"policy": policy}))
        .toolbox("7shop", Arc::new(Shop(tools, seen.clone())))
        .approver(Arc::new(Yes));
    (builder, seen)
}

fn forms() -> impl Iterator<Item = Form> {
    let strict = [Api::OpenAi, Api::Responses, Api::Anthropic];
    let strict = strict.map(|api| Form::new(api).with_strict(Strict::WherePossible));
    Api::ALL.into_iter().map(Form::new).chain(strict)
}

/// Name and schema of a tool in a form.
fn declared(projection: &Projection, tool: &str) -> (String, Value) {
    let all = projection.tools.as_array().unwrap();
    let all = match all
        .first()
        .and_then(|first| first.get("functionDeclarations"))
    {
        Some(declarations) => declarations.as_array().unwrap(),
        None => all,
    };
    let found = all.iter().find_map(|declaration| {
        let declaration = declaration.get("function").unwrap_or(declaration);
        let name = declaration["name"].as_str().unwrap();
        let keys = [
            "parameters",
            "input_schema",
            "parametersJsonSchema",
            "inputSchema",
        ];
        let schema = keys.iter().find_map(|key| declaration.get(*key));
        let is_it = projection.tool_of(name) == tool;
        is_it.then(|| (name.to_owned(), schema.unwrap().clone()))
    });
    found.unwrap()
}

/// The arguments of a model that was given this schema and means these values: each under the name
/// that the schema has for it, and null where it must give what it would leave out.
fn given(schema: &Value, own: &Value, around: &str) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut meant = 0;
    for (name, property) in schema["properties"].as_object().unwrap() {
        let text = property.to_string();
        let is_meant = |key: &&String| text.contains(&format!("({around}{key})"));
        let value = match own
            .as_object()
            .unwrap()
            .iter()
            .find(|(key, _)| is_meant(key))
        {
            Some((key, inner)) => {
                meant += 1;
                match inner {
                    Value::Object(_) => given(property, inner, &format!("{around}{key}/")).into(),
                    plain => plain.clone(),
                }
            }
            None if schema["required"]
                .as_array()
                .is_some_and(|all| all.contains(&json!(name))) =>
            {
                Value::Null
            }
            None => continue,
        };
        arguments.insert(name.clone(), value);
    }
    assert_eq!(meant, own.as_object().unwrap().len(), "{schema}");
    arguments
}

/// A call as the API's model writes it.
fn call(api: Api, name: &str, arguments: &Map<String, Value>) -> Value {
    let text = Value::Object(arguments.clone()).to_string();
    match api {
        Api::OpenAi => {
            json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": text}})
        }
        Api::Responses => {
            json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": name, "arguments": text})
        }
        Api::Anthropic => json!({"type": "tool_use", "id": "c1", "name": name, "input": arguments}),
        Api::Gemini | Api::GeminiOpenApi => {
            json!({"functionCall": {"id": "c1", "name": name, "args": arguments}})
        }
        _ => json!({"name": name, "arguments": arguments}),
    }
}

fn keys(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().unwrap();
    properties.keys().map(String::as_str).collect()
}

#[tokio::test]
async fn a_model_of_each_api_calls_a_tool_by_its_form_and_the_tool_gets_its_own_arguments() {
    let (builder, seen) = shop(json!({"confirm": "risky"}));
    let host = builder
        .inject(Injection::new(false, true))
        .connect()
        .await
        .unwrap();
    let mut results = String::new();
    for form in forms() {
        let projection = host.project(&form);
        assert_eq!(projection.left_out, [], "{form:?}");
        let (name, schema) = declared(&projection, "7shop__find");
        let mut arguments = given(&schema, &own(), "");
        if form.api == Api::Mcp {
            assert_eq!(keys(&schema), keys(&odd()));
        } else {
            // The tool's own `summary` keeps its name.
            assert_eq!(
                keys(&schema)[..2],
                ["security_risk", "toolspan_summary"],
                "{form:?}"
            );
            arguments.insert("security_risk".to_owned(), "HIGH".into());
            arguments.insert("toolspan_summary".to_owned(), "Finds what is cheap".into());
        }
        let observation = host.run(&call(form.api, &name, &arguments)).await;
        assert_eq!(observation.text(), "found 2", "{form:?}");
        let said = (form.api != Api::Mcp).then_some("Finds what is cheap");
        let got = Got {
            tool: "find".to_owned(),
            arguments: own(),
            risk: said.map(|_| "HIGH".to_owned()),
            summary: said.map(str::to_owned),
        };
        assert_eq!(seen.take(), [got], "{form:?}");
        let risk = observation.decision.as_ref().unwrap().risk;
        let expected = match form.api {
            Api::Mcp => SecurityRisk::Unknown,
            _ => SecurityRisk::High,
        };
        assert_eq!(risk, expected, "{form:?}");
        if form.strict == Strict::Off {
            let answered = Answered {
                call_id: "c1",
                name: &name,
            };
            let result = host.tool_result(form.api, answered, &observation);
            results += &format!("{} {name}: {result}\n", form.api.as_str());
        }
    }
    insta::assert_snapshot!(results);
    host.close().await;
}

#[tokio::test]
async fn a_model_is_asked_for_the_risk_of_what_may_change_something_and_not_by_a_servers_word() {
    let policy =
        json!({"confirm": "always", "annotations": {"7shop.look": {"readOnlyHint": true}}});
    let (builder, seen) = shop(policy);
    let host = builder.connect().await.unwrap();
    for form in forms().filter(|form| form.api != Api::Mcp) {
        let projection = host.project(&form);
        let fields = |tool: &str| {
            let (_, schema) = declared(&projection, tool);
            let keys = keys(&schema).into_iter();
            keys.filter(|key| key.starts_with("security_risk") || *key == "toolspan_summary")
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        // Its server calls it read-only, and nobody believes that.
        assert_eq!(fields("7shop__free"), ["security_risk"], "{form:?}");
        // The user says so.
        assert!(
            !fields("7shop__look").contains(&"security_risk".to_owned()),
            "{form:?}"
        );
    }
    // A model that says it all the same does no harm.
    let said = json!({"name": "7shop__free", "input": {"a": "b", "security_risk": "LOW"}});
    host.run(&said).await;
    let [got] = &seen.take()[..] else {
        panic!("one call")
    };
    assert_eq!(
        (&got.arguments, got.risk.as_deref()),
        (&json!({"a": "b"}), Some("LOW"))
    );
    host.close().await;
}

#[tokio::test]
async fn nothing_is_asked_for_where_nothing_is_confirmed_unless_the_program_wants_it() {
    let asks = |host: &Host| {
        let (_, schema) = declared(&host.project(&Form::new(Api::OpenAi)), "7shop__free");
        keys(&schema)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (builder, seen) = shop(json!({"confirm": "never"}));
    let host = builder.connect().await.unwrap();
    assert_eq!(asks(&host), ["a"]);
    // The form's own wish is not the host's: what it names would not be taken out of a call.
    let wished = Form::new(Api::OpenAi).with_injection(Injection::new(true, true));
    assert_eq!(host.project(&wished), host.project(&Form::new(Api::OpenAi)));
    let own = json!({"a": "b", "summary": "the tool's own, for all that is known"});
    host.run(&json!({"name": "7shop__free", "input": own}))
        .await;
    assert_eq!(seen.take()[0].arguments, own);
    host.close().await;

    let (builder, _) = shop(json!({"confirm": "never"}));
    let host = builder
        .inject(Injection::new(true, true))
        .connect()
        .await
        .unwrap();
    assert_eq!(asks(&host), ["security_risk", "summary", "a"]);
    assert_eq!(
        host.to_openai(),
        host.project(&Form::new(Api::OpenAi)).tools
    );
    assert_eq!(
        host.to_responses(),
        host.project(&Form::new(Api::Responses)).tools
    );
    assert_eq!(
        host.to_anthropic(),
        host.project(&Form::new(Api::Anthropic)).tools
    );
    assert_eq!(
        host.to_gemini(),
        host.project(&Form::new(Api::Gemini)).tools
    );
    assert_eq!(host.to_mcp(), host.snapshot().to_mcp());
    host.close().await;
}

#[tokio::test]
async fn what_a_model_was_asked_for_before_a_reload_is_still_taken_out() {
    let (builder, seen) = shop(json!({"confirm": "always"}));
    let host = builder.connect().await.unwrap();
    let (name, schema) = declared(&host.project(&Form::new(Api::Gemini)), "7shop__find");
    let nothing = Environment::from_pairs::<&str, &str>([]);
    let milder = Resolved::from_value(&json!({"policy": {"confirm": "never"}}), &nothing).unwrap();
    host.reload(milder).await.unwrap();
    let mut arguments = given(&schema, &own(), "");
    arguments.insert("security_risk".to_owned(), "LOW".into());
    let observation = host.run(&call(Api::Gemini, &name, &arguments)).await;
    assert!(!observation.is_error, "{}", observation.text());
    assert_eq!(seen.take()[0].arguments, own());
    host.close().await;
}

#[tokio::test]
async fn a_name_that_a_form_gave_and_one_with_markup_behind_it_lead_to_their_tool() {
    for name in [
        "_7shop__free",
        "7shop__free</parameter",
        "_7shop__free\"}",
        "7shop__free",
    ] {
        // Nothing is listed yet, or all.
        for is_connected in [false, true] {
            let (builder, seen) = shop(json!({"confirm": "never"}));
            let host = builder.start().unwrap();
            if is_connected {
                host.settled().await.unwrap();
            }
            let model = json!({"name": name, "input": {"a": "b"}});
            let observation = host.run(&model).await;
            assert_eq!(seen.take().len(), 1, "{name}: {}", observation.text());
            let observations = host.run_batch(&[model.clone(), model.clone()]).await;
            assert!(observations.iter().all(|it| !it.is_error), "{name}");
            // Other callers use the names of the host.
            let called = host.call(name, json!({"a": "b"})).await;
            assert_eq!(called.is_ok(), name == "7shop__free", "{name}");
            host.close().await;
        }
    }
    let (builder, seen) = shop(json!({"confirm": "never"}));
    let host = builder.connect().await.unwrap();
    let observation = host
        .run(&json!({"name": "7shop__free; rm -r /", "input": {}}))
        .await;
    assert!(observation.is_error && seen.take().is_empty());
    host.close().await;
}

#[tokio::test]
async fn some_of_the_tools_have_the_names_that_all_of_them_have() {
    let (builder, _) = shop(json!({"confirm": "always"}));
    let host = builder.connect().await.unwrap();
    let all = host.project(&Form::new(Api::Gemini));
    let found = host.search("find", 1);
    let some = host.project_some(&Form::new(Api::Gemini), &|tool| {
        found.iter().any(|found| found.tool.name == tool.name)
    });
    assert_eq!(
        some.tools[0]["functionDeclarations"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        declared(&some, "7shop__find"),
        declared(&all, "7shop__find")
    );
    host.close().await;
}

#[test]
fn a_host_for_synchronous_callers_gives_the_same_forms_and_runs_the_same_calls() {
    let (builder, seen) = shop(json!({"confirm": "risky"}));
    let builder = builder.inject(Injection::new(false, true));
    let host = toolspan::blocking::Host::connect_builder(builder).unwrap();
    let form = Form::new(Api::GeminiOpenApi);
    let (name, schema) = declared(&host.project(&form), "7shop__find");
    assert_eq!(keys(&schema)[..2], ["security_risk", "toolspan_summary"]);
    let observation = host
        .run(&call(form.api, &name, &given(&schema, &own(), "")))
        .unwrap();
    assert_eq!(seen.take()[0].arguments, own());
    let answered = Answered {
        call_id: "c1",
        name: &name,
    };
    let result = host.tool_result(form.api, answered, &observation);
    assert_eq!(result["functionResponse"]["response"]["output"], "found 2");
    for (short, api) in [
        (host.to_openai(), Api::OpenAi),
        (host.to_responses(), Api::Responses),
        (host.to_anthropic(), Api::Anthropic),
        (host.to_gemini(), Api::Gemini),
        (host.to_mcp(), Api::Mcp),
    ] {
        assert_eq!(short, host.project_some(&Form::new(api), &|_| true).tools);
    }
    host.close().unwrap();
}
