//! Which native tools does a spec get, and what is said when it gets none?

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolspan_core::registry::{Registration, ToolRegistry, ToolSpec};
use toolspan_core::tool::{
    Action, ConversationState, IntoTools, NativeToolBox, NoParams, Tool, ToolFactory, ToolFailure,
    tool_fn,
};
use toolspan_core::{Context, ErrorKind, Result, Snapshot, ToolboxTool};

use crate::support::{answer, definition, echo, source};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Action for Nothing {}

/// A tool with a folder of its own, made for a conversation.
struct TerminalTool {
    folder: String,
    user: Option<String>,
}

impl Tool for TerminalTool {
    type Action = Nothing;
    type Observation = String;

    fn description(&self) -> &str {
        "Says where it is"
    }

    async fn call(&self, _: Nothing, _: &Context) -> Result<String, ToolFailure> {
        Ok(format!("{:?} in {}", self.user, self.folder))
    }
}

#[derive(Deserialize)]
struct TerminalParams {
    working_dir: String,
}

struct User(&'static str);

impl ToolFactory for TerminalTool {
    type Params = TerminalParams;
    type Tools = Self;

    fn create(
        params: TerminalParams,
        conversation: &ConversationState,
    ) -> Result<Self, ToolFailure> {
        if params.working_dir.is_empty() {
            return Err(ToolFailure::new("the working directory is empty"));
        }
        Ok(Self {
            folder: params.working_dir,
            user: conversation.get::<User>().map(|user| user.0.to_owned()),
        })
    }
}

/// A type whose tools cannot be used here.
struct BrowserToolSet;

impl ToolFactory for BrowserToolSet {
    type Params = NoParams;
    type Tools = Vec<ToolboxTool>;

    fn is_usable() -> bool {
        false
    }

    fn create(_: NoParams, _: &ConversationState) -> Result<Vec<ToolboxTool>, ToolFailure> {
        Ok(vec![echo("open"), echo("close")])
    }
}

fn none() -> ConversationState {
    ConversationState::none()
}

fn params(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn set(_: NoParams, _: &ConversationState) -> Result<Vec<ToolboxTool>, ToolFailure> {
    Ok(vec![echo("find"), echo("grep")])
}

fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    for registration in [
        Registration::of_type::<TerminalTool>(),
        Registration::instance(echo("finish")),
        Registration::factory("search_set", set),
        Registration::of_type::<BrowserToolSet>(),
        Registration::instance(echo("file_editor")).with_alias("edit"),
    ] {
        registry.register(registration).expect("a free name");
    }
    registry
}

fn names(tools: &[ToolboxTool]) -> Vec<&str> {
    tools
        .iter()
        .map(|tool| tool.definition.name.as_str())
        .collect()
}

/// The error in one line, as a person reads it.
fn told<T>(result: Result<T>) -> String {
    let error = result.err().expect("an error");
    let hint = error
        .hint()
        .map_or_else(String::new, |hint| format!("; {hint}"));
    let tool = error.tool().unwrap_or_default();
    format!("{} of {tool:?}: {error}{hint}", error.kind())
}

#[test]
fn an_instance_is_given_as_it_is_each_time() {
    let tool = echo("finish");
    let mut registry = ToolRegistry::new();
    registry
        .register(Registration::instance(tool.clone()))
        .unwrap();
    for _ in 0..2 {
        let tools = registry.resolve(&"finish".into(), &none()).unwrap();
        assert_eq!(tools.len(), 1);
        assert!(Arc::ptr_eq(&tools[0].definition, &tool.definition));
        assert!(Arc::ptr_eq(&tools[0].executor, &tool.executor));
    }
}

#[test]
fn a_registered_name_is_the_specs_and_the_tool_keeps_its_own() {
    let mut registry = ToolRegistry::new();
    registry
        .register(Registration::instance(echo("finish")).named("end"))
        .unwrap();
    let tools = registry.resolve(&"end".into(), &none()).unwrap();
    assert_eq!(names(&tools), ["finish"]);
    assert!(registry.find("finish").is_none());
}

#[tokio::test]
async fn params_and_the_conversation_reach_the_type_that_makes_the_tool() {
    let spec = ToolSpec::new("terminal", params(json!({"working_dir": "/srv"})));
    for (conversation, said) in [
        (
            ConversationState::new(User("ada")),
            r#"Some("ada") in /srv"#,
        ),
        (ConversationState::new("of another type"), "None in /srv"),
        (none(), "None in /srv"),
    ] {
        let tools = registry().resolve(&spec, &conversation).unwrap();
        assert_eq!(names(&tools), ["terminal"]);
        let seen = answer(&tools[0], json!({})).await.unwrap();
        assert_eq!(seen.text(), said);
    }
}

#[test]
fn a_function_makes_tools_too_one_or_several() {
    let several = registry().resolve(&"search_set".into(), &none()).unwrap();
    assert_eq!(names(&several), ["find", "grep"]);
    let mut registry = ToolRegistry::new();
    let one = |params: BTreeMap<String, String>, _: &ConversationState| {
        let words = params.get("words").cloned().unwrap_or_default();
        Ok(tool_fn("say", "Says it", move |_: Nothing| {
            let words = words.clone();
            async { Ok::<_, ToolFailure>(words) }
        }))
    };
    registry
        .register(Registration::factory("say", one))
        .unwrap();
    let spec = ToolSpec::new("say", params(json!({"words": "hi"})));
    assert_eq!(names(&registry.resolve(&spec, &none()).unwrap()), ["say"]);
}

#[test]
fn a_spec_is_found_by_name_alias_or_class() {
    let registry = registry();
    let found = |wanted| registry.find(wanted).map(Registration::name);
    for (wanted, name) in [
        ("terminal", "terminal"),
        ("execute_bash", "terminal"),
        ("TerminalTool", "terminal"),
        ("BashTool", "terminal"),
        ("ExecuteBashTool", "terminal"),
        ("edit", "file_editor"),
        ("str_replace_editor", "file_editor"),
        ("FileEditorTool", "file_editor"),
        ("StrReplaceEditorTool", "file_editor"),
        ("BrowserToolSet", "browser_tool_set"),
        ("FinishTool", "finish"),
    ] {
        assert_eq!(found(wanted), Some(name), "{wanted}");
    }
    for unknown in ["Terminal Tool", "terminaltool", "ToolFn", "bash", ""] {
        assert_eq!(found(unknown), None, "{unknown}");
    }
}

#[test]
fn an_alias_leads_the_other_way_round_and_a_registered_name_wins_over_it() {
    let mut registry = ToolRegistry::new();
    registry
        .register(Registration::instance(echo("execute_bash")))
        .unwrap();
    let found = |registry: &ToolRegistry, wanted| {
        registry
            .find(wanted)
            .map(|found| found.name().to_owned())
            .unwrap_or_default()
    };
    for wanted in ["terminal", "BashTool", "execute_bash"] {
        assert_eq!(found(&registry, wanted), "execute_bash", "{wanted}");
    }
    registry
        .register(Registration::instance(echo("terminal")))
        .unwrap();
    assert_eq!(found(&registry, "terminal"), "terminal");
    assert_eq!(found(&registry, "execute_bash"), "execute_bash");
}

#[test]
fn a_class_is_known_by_its_own_name_whatever_its_tool_is_called() {
    let mut registry = ToolRegistry::new();
    let terminal = TerminalTool {
        folder: "/".to_owned(),
        user: None,
    };
    let terminal = Registration::tool(terminal).unwrap().named("sh");
    registry.register(terminal).unwrap();
    assert!(registry.find("TerminalTool").is_some());
    assert!(registry.find("terminal").is_none());
    let closure = tool_fn("shout", "", |_: Nothing| async { Ok::<_, ToolFailure>(()) });
    registry
        .register(Registration::tool(closure).unwrap())
        .unwrap();
    assert!(registry.find("ToolFn").is_none() && registry.find("ShoutTool").is_some());
}

#[test]
fn what_cannot_be_registered_is_refused_with_the_reason() {
    let mut registry = registry();
    let alias = |name, alias| Registration::instance(echo(name)).with_alias(alias);
    let no_executor = Registration::of_parts(Arc::new(definition("idle", json!({}))), None);
    let said = [
        told(registry.register(Registration::instance(echo("finish")))),
        told(registry.register(Registration::instance(echo("edit")))),
        told(registry.register(alias("x", "edit"))),
        told(registry.register(alias("x", "finish"))),
        told(registry.register(Registration::instance(echo("x")).named("  "))),
        told(registry.register(alias("x", ""))),
        told(registry.replace(Registration::instance(echo("x")).named(""))),
        told(no_executor),
    ];
    insta::assert_snapshot!(said.join("\n"));
    assert_eq!(registry.list_registered().len(), 5);
}

#[test]
fn to_replace_is_explicit_and_keeps_the_place() {
    let mut registry = registry();
    let before: Vec<String> = registry
        .list_registered()
        .iter()
        .map(|&name| name.into())
        .collect();
    let other = Registration::factory("finish", set);
    assert!(registry.replace(other).unwrap());
    assert_eq!(registry.list_registered(), before);
    let tools = registry.resolve(&"finish".into(), &none()).unwrap();
    assert_eq!(names(&tools), ["find", "grep"]);
    assert!(
        !registry
            .replace(Registration::instance(echo("new")))
            .unwrap()
    );
    assert_eq!(registry.list_registered().last(), Some(&"new"));
    // What takes the names of two takes the place of the first.
    let both = Registration::instance(echo("terminal")).with_alias("new");
    assert!(registry.replace(both).unwrap());
    assert_eq!(registry.list_registered(), before);
    assert!(registry.unregister("terminal") && !registry.unregister("terminal"));
    assert!(registry.find("new").is_none());
}

#[test]
fn what_is_not_usable_is_registered_and_not_listed_as_usable() {
    let mut registry = registry();
    let panics = Registration::instance(echo("panics")).usable_if(|| panic!("on purpose"));
    registry.register(panics).unwrap();
    assert_eq!(
        registry.list_registered(),
        [
            "terminal",
            "finish",
            "search_set",
            "browser_tool_set",
            "file_editor",
            "panics"
        ]
    );
    assert_eq!(
        registry.list_usable(),
        ["terminal", "finish", "search_set", "file_editor"]
    );
    assert!(registry.is_usable("TerminalTool") && !registry.is_usable("panics"));
    assert!(!registry.is_usable("nobody"));
    let said = told(registry.resolve(&"browser_tool_set".into(), &none()));
    assert_eq!(
        said,
        r#"config of "browser_tool_set": the tool "browser_tool_set" says that it cannot be used here"#
    );
}

#[test]
fn the_check_is_asked_anew_each_time() {
    let is_there = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_there);
    let mut registry = ToolRegistry::new();
    let rg = Registration::instance(echo("rg")).usable_if(move || asked.load(Ordering::Acquire));
    registry.register(rg).unwrap();
    assert!(registry.list_usable().is_empty());
    is_there.store(true, Ordering::Release);
    assert_eq!(registry.list_usable(), ["rg"]);
}

#[test]
fn what_cannot_be_resolved_is_an_error_that_says_what_to_do() {
    let mut registry = registry();
    for registration in [
        Registration::factory("bomb", |_: NoParams, _: &ConversationState| {
            if true {
                panic!("on purpose");
            }
            Ok(Vec::<ToolboxTool>::new())
        }),
        Registration::factory("empty", |_: NoParams, _: &ConversationState| {
            Ok(Vec::<ToolboxTool>::new())
        }),
        Registration::factory(
            "login",
            |given: Map<String, Value>, _: &ConversationState| {
                Err::<ToolboxTool, _>(ToolFailure::new(format!(
                    "refused: {}",
                    Value::Object(given)
                )))
            },
        ),
    ] {
        registry.register(registration).unwrap();
    }
    let spec = |name: &str, given| ToolSpec::new(name, params(given));
    let said: Vec<String> = [
        spec("termnal", json!({})),
        spec("", json!({})),
        spec("finish", json!({"x": 1})),
        spec("terminal", json!({})),
        spec("terminal", json!({"working_dir": 5})),
        spec("terminal", json!({"working_dir": ""})),
        spec("search_set", json!({"x": 1})),
        spec("bomb", json!({})),
        spec("empty", json!({})),
        spec(
            "login",
            json!({"deep": [{"api_key": {"value": "hunter2-hunter2"}}]}),
        ),
    ]
    .iter()
    .map(|spec| told(registry.resolve(spec, &none())))
    .collect();
    insta::assert_snapshot!(said.join("\n"));
    let nothing = ToolRegistry::new()
        .resolve(&"x".into(), &none())
        .unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::ToolNotFound);
    assert_eq!(nothing.hint(), Some("no tool is registered"));
}

/// More than any factory of these tests takes.
const LONG: Duration = Duration::from_secs(60);

/// Lets so many threads through together; gives up after a while, so that a test ends.
struct Meeting {
    here: Mutex<usize>,
    changed: Condvar,
    size: usize,
}

impl Meeting {
    fn is_held(&self) -> bool {
        let mut here = self.here.lock().expect("no test panics with it");
        *here += 1;
        self.changed.notify_all();
        let limit = Duration::from_secs(20);
        let (_here, waited) = self
            .changed
            .wait_timeout_while(here, limit, |here| *here < self.size)
            .expect("no test panics with it");
        !waited.timed_out()
    }
}

#[test]
fn many_specs_are_resolved_side_by_side_and_given_in_their_order() {
    let meeting = Arc::new(Meeting {
        here: Mutex::new(0),
        changed: Condvar::new(),
        size: 4,
    });
    let mut registry = registry();
    let meet = Arc::clone(&meeting);
    let meets = move |given: Map<String, Value>, _: &ConversationState| {
        let name = given
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match meet.is_held() {
            true => Ok(echo(name)),
            false => Err(ToolFailure::new("nobody came")),
        }
    };
    registry
        .register(Registration::factory("meets", meets))
        .unwrap();
    let mut specs: Vec<ToolSpec> = (0..4)
        .map(|index| ToolSpec::new("meets", params(json!({"name": format!("tool_{index}")}))))
        .collect();
    specs.insert(2, "nobody".into());
    specs.push("search_set".into());
    let resolved = registry.resolve_all(&specs, &none(), LONG);
    let shown: Vec<String> = resolved
        .iter()
        .map(|tools| match tools {
            Ok(tools) => names(tools).join(" "),
            Err(error) => error.kind().to_string(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "tool_0",
            "tool_1",
            "tool_not_found",
            "tool_2",
            "tool_3",
            "find grep"
        ]
    );
    assert!(registry.resolve_all(&[], &none(), LONG).is_empty());
}

#[test]
fn a_factory_that_never_ends_costs_its_own_spec_alone() {
    let mut registry = registry();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    let hangs = move |_: NoParams, _: &ConversationState| {
        // Until the test is over.
        let _ = ended.lock().map(|ended| ended.recv());
        Ok(echo("late"))
    };
    registry
        .register(Registration::factory("hangs", hangs))
        .unwrap();
    // As many of them as are made at once.
    let mut specs: Vec<ToolSpec> = vec!["hangs".into(); 4];
    specs.push("search_set".into());
    let mut resolved = registry.resolve_all(&specs, &none(), Duration::from_secs(2));
    assert_eq!(names(&resolved.pop().unwrap().unwrap()), ["find", "grep"]);
    for late in resolved {
        assert_eq!(
            told(late),
            "timeout of \"hangs\": its factory made nothing within 2s; \
             let the factory do less, or give it more time"
        );
    }
    drop(end);
}

#[test]
fn a_factory_may_make_ten_thousand_tools() {
    let mut registry = ToolRegistry::new();
    let many = |_: NoParams, _: &ConversationState| {
        let tools = (0..10_000).map(|index| echo(&format!("tool_{}", index % 9_999)));
        Ok(tools.collect::<Vec<_>>())
    };
    registry
        .register(Registration::factory("many", many))
        .unwrap();
    let tools = registry.resolve(&"many".into(), &none()).unwrap();
    let toolbox = NativeToolBox::new(tools);
    let listed = toolbox.listed();
    assert_eq!((listed.tools.len(), listed.broken.len()), (9_999, 1));
    assert_eq!(listed.broken[0].name, "tool_0");
    let snapshot = Snapshot::new(vec![source("native", listed.tools)]);
    assert_eq!(snapshot.tools().len(), 9_999);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn factories_may_use_the_runtime_that_specs_are_resolved_in() {
    let mut registry = ToolRegistry::new();
    let spawns = |_: NoParams, _: &ConversationState| {
        tokio::runtime::Handle::try_current()?;
        Ok(echo("spawns"))
    };
    registry
        .register(Registration::factory("spawns", spawns))
        .unwrap();
    let specs = vec!["spawns".into(); 8];
    let resolved = registry.resolve_all(&specs, &none(), LONG);
    assert!(resolved.iter().all(Result::is_ok));
}

#[test]
fn a_spec_is_read_from_json_and_written_as_it_was() {
    let written = json!({"name": "terminal", "params": {"working_dir": "."}});
    let spec: ToolSpec = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&spec).unwrap(), written);
    let bare: ToolSpec = serde_json::from_value(json!({"name": "x", "new": 1})).unwrap();
    assert_eq!(
        serde_json::to_value(&bare).unwrap(),
        json!({"name": "x", "params": {}})
    );
    for blank in [
        json!({"name": ""}),
        json!({"name": " \t"}),
        json!({"params": {}}),
    ] {
        assert!(serde_json::from_value::<ToolSpec>(blank).is_err());
    }
    let secret = ToolSpec::new("x", params(json!({"token": "hunter2"})));
    assert!(!format!("{secret:?}").contains("hunter2"));
}

#[test]
fn each_registry_is_its_own_and_a_copy_does_not_follow() {
    let mut first = registry();
    let copy = first.clone();
    first
        .register(Registration::instance(echo("late")))
        .unwrap();
    assert!(first.find("late").is_some() && copy.find("late").is_none());
    let tools = vec![echo("a")].into_tools().unwrap();
    assert_eq!(names(&tools), ["a"]);
}
