//! Can native tools come and go while a host runs?

use serde_json::{Map, Value, json};
use toolspan::registry::{Registration, ToolRegistry};
use toolspan::tool::{ClientToolSpec, ClientTools, ConversationState, native, tool_fn};
use toolspan::{ErrorKind, Host, ToolFailure, ToolboxTool};

fn saying(name: &str, says: &'static str) -> ToolboxTool {
    native(tool_fn(name, "Says it", move |_: Nothing| async move {
        Ok::<_, ToolFailure>(says.to_owned())
    }))
    .unwrap()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl toolspan::Action for Nothing {}

fn names(host: &Host) -> Vec<String> {
    let snapshot = host.snapshot();
    snapshot
        .tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

#[tokio::test]
async fn a_tool_that_is_added_can_be_called_at_once_and_one_that_is_removed_no_more() {
    let host = Host::builder().start().unwrap();
    host.add_tool(saying("first", "1")).unwrap();
    host.add_tool(saying("second", "2")).unwrap();
    assert_eq!(names(&host), ["first", "second"]);
    assert_eq!(host.call("second", Value::Null).await.unwrap().text(), "2");
    host.refresh().await.unwrap();
    assert_eq!(host.status().first().unwrap().tools, 2);

    assert!(host.remove_tool("first").is_some() && host.remove_tool("first").is_none());
    assert_eq!(names(&host), ["second"]);
    let missing = host.call("first", json!({})).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::ToolNotFound);
}

#[tokio::test]
async fn a_tool_is_removed_by_the_name_it_was_added_under_or_the_one_it_is_called_by() {
    let host = Host::builder().start().unwrap();
    for removed in ["add up", "add_up"] {
        host.add_tool(saying("add up", "1")).unwrap();
        assert_eq!(names(&host), ["add_up"]);
        assert!(host.remove_tool(removed).is_some() && host.remove_tool(removed).is_none());
        assert!(names(&host).is_empty());
    }
}

#[tokio::test]
async fn a_tool_that_is_added_has_a_name_of_its_own_and_comes_behind_those_before() {
    let tool = tool_fn("built", "Is there", |_: Nothing| async {
        Ok::<_, ToolFailure>("b".to_owned())
    });
    let host = Host::builder().tool(tool).connect().await.unwrap();
    host.add_tool(saying("added", "a")).unwrap();
    for name in ["built", "added", " "] {
        let refused = host.add_tool(saying(name, "other")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage, "{name}: {refused}");
    }
    assert_eq!(names(&host), ["built", "added"]);
    assert!(host.remove_tool("built").is_none());
    assert_eq!(host.call("built", json!({})).await.unwrap().text(), "b");
}

#[tokio::test]
async fn a_closed_host_takes_no_tool() {
    let host = Host::builder().start().unwrap();
    host.add_tool(saying("first", "1")).unwrap();
    host.close().await;
    let refused = host.add_tool(saying("second", "2")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
}

#[tokio::test]
async fn an_entry_of_the_config_finds_its_tools_by_name_alias_or_class_and_may_be_several() {
    let mut registry = ToolRegistry::new();
    let pair = |_: Map<String, Value>, _: &ConversationState| {
        Ok::<_, ToolFailure>(vec![saying("left", "l"), saying("right", "r")])
    };
    registry
        .register(Registration::factory("pair", pair))
        .unwrap();
    registry
        .register(Registration::instance(saying("terminal", "t")))
        .unwrap();
    let config = json!({"tools": [
        {"name": "pair"},
        {"name": "BashTool"},
        {"name": "terminl"},
        {"name": "terminal", "params": {"a": 1}},
    ]});
    let host = Host::builder()
        .registry(registry)
        .config_value(config)
        .connect()
        .await
        .unwrap();
    assert_eq!(names(&host), ["left", "right", "terminal"]);
    assert_eq!(
        host.call("execute_bash", json!({})).await.unwrap().text(),
        "t"
    );
    let broken = host.status().swap_remove(0).broken;
    let reasons: Vec<&str> = broken.iter().map(|tool| tool.reason.as_str()).collect();
    assert!(reasons[0].contains("near: terminal"), "{reasons:?}");
    assert!(reasons[1].contains("takes no params"), "{reasons:?}");
    host.close().await;
}

#[tokio::test]
async fn a_factory_that_panics_or_hangs_costs_its_own_entry_alone() {
    let mut registry = ToolRegistry::new();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = std::sync::Mutex::new(ended);
    let hangs = move |_: Map<String, Value>, _: &ConversationState| {
        // Until the test is over.
        let _ = ended.lock().map(|ended| ended.recv());
        Ok::<_, ToolFailure>(saying("late", "l"))
    };
    registry
        .register(Registration::factory("hangs", hangs))
        .unwrap();
    type Bomb = toolspan::tool::ToolFn<fn(Nothing) -> std::future::Ready<Said>, Nothing>;
    type Said = Result<String, ToolFailure>;
    let bomb = |_: &Map<String, Value>| -> toolspan::Result<Bomb> { panic!("on purpose") };
    let well = |_: &Map<String, Value>| {
        let says = |_: Nothing| async { Ok::<_, ToolFailure>("w".to_owned()) };
        Ok(tool_fn("well", "Says it", says))
    };
    let config = json!({
        "tools": [{"name": "hangs"}, {"name": "bomb"}, {"name": "well"}],
        "timeouts": {"connect": 1},
    });
    let host = Host::builder()
        .registry(registry)
        .tool_factory("bomb", bomb)
        .tool_factory("well", well)
        .config_value(config)
        .connect()
        .await
        .unwrap();
    assert_eq!(names(&host), ["well"]);
    let broken = host.status().swap_remove(0).broken;
    let reasons: Vec<&str> = broken.iter().map(|tool| tool.reason.as_str()).collect();
    assert!(reasons[0].contains("made nothing within 1s"), "{reasons:?}");
    assert!(reasons[1].contains("its factory panicked"), "{reasons:?}");
    drop(end);
    host.close().await;
}

#[tokio::test]
async fn a_client_executes_its_own_tool_and_the_model_gets_its_answer() {
    let (tools, calls) = ClientTools::new();
    let spec = ClientToolSpec::new("ask_user", "Asks", json!({"type": "object"}));
    let host = Host::builder()
        .made_tool(tools.declare(spec).unwrap())
        .start()
        .unwrap();
    let model = json!({"name": "ask_user", "arguments": {"question": "why?"}});
    let (seen, ()) = tokio::join!(host.run(&model), async {
        let call = calls.next().await.unwrap();
        assert_eq!(call.arguments()["question"], "why?");
        assert!(call.answer(toolspan::Observation::text_of("because")));
    });
    assert_eq!(seen.text(), "because");
    host.close().await;
}

#[test]
fn a_synchronous_caller_runs_batches_too() {
    let builder = Host::builder().made_tool(saying("first", "1"));
    let host = toolspan::blocking::Host::start_builder(builder).unwrap();
    let calls = [
        json!({"name": "first", "arguments": {}}),
        json!({"name": "other"}),
    ];
    let ended = host.run_batch(&calls).unwrap();
    assert_eq!(ended[0].text(), "1");
    assert!(ended[1].is_error);
}
