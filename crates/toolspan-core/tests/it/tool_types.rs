//! What does a typed tool's author get for the types: names, schemas, forms for models and people?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolspan_core::guard::Limits;
use toolspan_core::name::from_type;
use toolspan_core::observation::LlmContent;
use toolspan_core::tool::{Action, Json, Tool, ToolFailure, ToolOutput, native, tool_fn};
use toolspan_core::{
    CallRequest, Context, ErrorKind, Observation, Style, Styled, ToolAnnotations, ToolboxTool,
};

use crate::support::{answer, definition, tool_of};

#[test]
fn a_name_comes_from_the_type_word_by_word() {
    for (type_name, name) in [
        ("TerminalTool", "terminal"),
        ("XMLHttpRequest", "xml_http_request"),
        ("MyMCPTool", "my_mcp"),
        ("HTTP2Tool", "http2"),
        ("BrowserToolSet", "browser_tool_set"),
        ("Tool", "tool"),
        ("getURLTool", "get_url"),
        ("V2Tool", "v2"),
        ("ToolTool", "tool"),
        ("Toolbox", "toolbox"),
        ("A", "a"),
        ("", ""),
    ] {
        assert_eq!(from_type(type_name), name, "{type_name}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Action for Nothing {}

/// Counts how often it is interrupted; `T` is no part of its name.
struct XMLHttpTool<T>(Arc<AtomicUsize>, T);

impl<T: Send + Sync + 'static> Tool for XMLHttpTool<T> {
    type Action = Nothing;
    type Observation = ();

    fn description(&self) -> &str {
        "Does nothing"
    }

    async fn call(&self, _: Nothing, _: &Context) -> Result<(), ToolFailure> {
        Ok(())
    }

    fn interrupt(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn an_explicit_name_wins() {
    let tool = native(XMLHttpTool(Arc::default(), Vec::<String>::new())).unwrap();
    assert_eq!(tool.definition.name, "xml_http");
    let named = tool_fn("other", "", |_: Nothing| async { Ok::<_, ToolFailure>(()) });
    assert_eq!(native(named).unwrap().definition.name, "other");
}

#[test]
fn any_thread_may_interrupt_a_tool_any_number_of_times() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = native(XMLHttpTool(Arc::clone(&count), ())).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| tool.executor.interrupt());
        }
    });
    assert_eq!(count.load(Ordering::Acquire), 4);
    // What does not care is not disturbed.
    let plain = tool_fn("x", "", |_: Nothing| async { Ok::<_, ToolFailure>(()) });
    native(plain).unwrap().executor.interrupt();
}

#[derive(Serialize, JsonSchema)]
struct Listing {
    files: Vec<String>,
    is_error: bool,
}

impl ToolOutput for Listing {
    fn schema() -> Option<Value> {
        Json::<Self>::schema()
    }

    fn into_observation(self) -> Observation {
        let is_error = self.is_error;
        let mut observation = Json(self).into_observation();
        observation.is_error = is_error;
        observation
    }

    fn to_llm_content(&self) -> Option<Vec<LlmContent>> {
        Some(vec![LlmContent::Text(self.files.join("\n"))])
    }

    fn visualize(&self) -> Option<Styled> {
        let count = self.files.len().to_string();
        Some(Styled::plain("found ").with(Style::Strong, count))
    }
}

fn lists(is_error: bool) -> ToolboxTool {
    let list = move |_: Nothing| async move {
        let files = vec!["a".to_owned(), "b\u{1b}[2J".to_owned()];
        Ok::<_, ToolFailure>(Listing { files, is_error })
    };
    native(tool_fn("list", "", list)).expect("a usable schema")
}

#[tokio::test]
async fn a_typed_result_chooses_what_a_model_and_a_person_are_shown() {
    let seen = answer(&lists(false), json!({})).await.unwrap();
    let text = |text: &str| LlmContent::Text(text.to_owned());
    assert_eq!(seen.to_llm_content(100), [text("a\nb\u{1b}[2J")]);
    assert_eq!(seen.text_for_model(), "a\nb\u{1b}[2J");
    assert_eq!(seen.visualize().to_ansi(), "found \u{1b}[1m2\u{1b}[0m");
    // The content is kept for everyone else.
    assert_eq!(seen.structured.as_ref().unwrap()["files"][0], "a");
    let failed = answer(&lists(true), json!({})).await.unwrap();
    assert_eq!(
        failed.to_llm_content(100)[0],
        text("[The tool reported an error]")
    );
}

/// A result of which no form can be made.
struct Shapeless {
    has_form: bool,
}

impl ToolOutput for Shapeless {
    fn to_llm_content(&self) -> Option<Vec<LlmContent>> {
        assert!(self.has_form, "on purpose");
        None
    }

    fn visualize(&self) -> Option<Styled> {
        assert!(self.has_form, "on purpose");
        None
    }

    fn into_observation(self) -> Observation {
        Observation::text_of("the file was written")
    }
}

#[tokio::test]
async fn a_form_of_a_result_that_panics_does_not_cost_the_result() {
    let write = |_: Nothing| async { Ok::<_, ToolFailure>(Shapeless { has_form: false }) };
    let tool = native(tool_fn("write", "", write)).unwrap();
    let seen = answer(&tool, json!({})).await.unwrap();
    let text = LlmContent::Text("the file was written".to_owned());
    assert_eq!(seen.to_llm_content(100), [text]);
    assert_eq!(seen.visualize().to_plain(), "the file was written");
}

#[test]
fn without_a_choice_a_person_is_shown_the_text_and_whether_it_failed() {
    let seen = Observation::text_of("done\u{1b}[2J");
    assert_eq!(seen.text_for_model(), seen.text());
    let seen = seen.visualize();
    assert_eq!(seen.to_ansi(), "done");
    let failed = Observation::error_of("no such file").visualize();
    assert_eq!(failed.to_ansi(), "\u{1b}[31mno such file\u{1b}[0m");
}

#[derive(Deserialize, JsonSchema)]
struct Shown {
    #[serde(default)]
    token: String,
}

impl Action for Shown {
    fn visualize(&self) -> Option<Styled> {
        assert_ne!(self.token, "panic", "on purpose");
        (self.token == "long").then(|| "x".repeat(10_000).into())
    }
}

#[test]
fn a_view_that_is_missing_fails_or_is_too_long_hides_no_call() {
    let tool = tool_fn("show", "", |_: Shown| async { Ok::<_, ToolFailure>(()) });
    let tool = native(tool).unwrap();
    let tool = tool_of((*tool.definition).clone(), tool.executor);
    let shown = |token: &str| {
        let request = CallRequest::new("show", json!({"token": token}));
        let call = request.validate(&tool, &Limits::default()).unwrap();
        tool.visualize(&call)
    };
    assert_eq!(shown("x").to_plain(), "box__show(token: [redacted])");
    assert_eq!(shown("panic").to_plain(), "box__show(token: [redacted])");
    assert_eq!(shown("long").to_plain().chars().count(), 4_001);
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
    #[serde(default)]
    forest: Option<Box<Forest>>,
}

#[derive(Deserialize, JsonSchema)]
struct Forest {
    trees: Vec<Tree>,
}

impl Tree {
    fn count(&self) -> usize {
        let inner = self.forest.iter().flat_map(|forest| &forest.trees);
        1 + self
            .children
            .iter()
            .chain(inner)
            .map(Self::count)
            .sum::<usize>()
    }
}

impl Action for Tree {}

#[tokio::test]
async fn types_that_hold_themselves_or_each_other_are_checked_at_every_depth() {
    let count = |tree: Tree| async move {
        Ok::<_, ToolFailure>(format!("{}: {}", tree.name, tree.count()))
    };
    let tool = native(tool_fn("count", "", count)).unwrap();
    let tree =
        json!({"name": "a", "children": [{"name": "b", "forest": {"trees": [{"name": "c"}]}}]});
    assert_eq!(answer(&tool, tree).await.unwrap().text(), "a: 3");
    let wrong =
        json!({"name": "a", "children": [{"name": "b", "forest": {"trees": [{"name": 5}]}}]});
    let error = answer(&tool, wrong).await.unwrap_err();
    assert_eq!(
        error.violations()[0].pointer,
        "/children/0/forest/trees/0/name"
    );
}

#[test]
fn a_schema_has_the_fields_of_its_type_and_nothing_of_ours() {
    let tool = lists(false);
    let input = tool.definition.input.raw().as_object().unwrap();
    assert!(
        input
            .get("properties")
            .is_none_or(|all| all.as_object().unwrap().is_empty())
    );
    let output = tool.definition.output.as_ref().unwrap().raw();
    let names: Vec<&String> = output["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["files", "is_error"]);
    for injected in ["kind", "summary", "security_risk"] {
        assert!(
            !output.to_string().contains(injected) && !json!(input).to_string().contains(injected)
        );
    }
}

#[test]
fn every_form_of_a_type_is_checked_as_the_schema_says() {
    let takes = |property: Value, value: Value| {
        let schema = json!({"type": "object", "properties": {"a": property}});
        let checked =
            definition("x", schema).check_arguments(json!({"a": value}), &Limits::default());
        checked.map_err(|error| error.kind()) != Err(ErrorKind::InvalidArguments)
    };
    let either = json!({"type": ["string", "null"]});
    assert!(takes(either.clone(), json!("x")) && takes(either.clone(), json!(null)));
    assert!(!takes(either, json!(5)));
    let both = json!({"type": ["string", "integer"]});
    assert!(
        takes(both.clone(), json!("x")) && takes(both.clone(), json!(5)) && !takes(both, json!([]))
    );
    for anything in [json!({}), json!(true)] {
        assert!(takes(anything.clone(), json!([{}])) && takes(anything, json!(null)));
    }
    assert!(!takes(json!(false), json!(1)) && !takes(json!({"type": "null"}), json!(1)));
    assert!(takes(json!({"type": "array"}), json!([1, "x", null])));
    let lists = json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}});
    assert!(takes(lists.clone(), json!([[1]])) && !takes(lists, json!([["x"]])));
}

#[test]
fn equal_definitions_are_equal_and_a_copy_is_its_own() {
    let first = lists(false).definition;
    assert_eq!(*first, *lists(true).definition);
    let mut copy = (*first).clone();
    copy.annotations = Some(ToolAnnotations::read_only());
    assert_ne!(copy, *first);
    assert_eq!(first.annotations, None);
}

#[test]
fn threads_that_make_the_same_tool_at_once_share_one_validator() {
    let made: Vec<ToolboxTool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| lists(false))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let first = &made[0].definition.input;
    assert!(
        made.iter()
            .all(|tool| tool.definition.input.shares_validator_with(first))
    );
}
