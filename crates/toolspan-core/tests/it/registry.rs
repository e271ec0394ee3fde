//! Which tool does a name mean, and what is said when it means none?

use toolspan_core::toolbox::BrokenTool;
use toolspan_core::{ErrorKind, Phase, Snapshot};

use crate::support::{echo, source};

fn snapshot() -> Snapshot {
    Snapshot::new(vec![
        source("time", vec![echo("now"), echo("convert")]),
        source("my.box", vec![echo("now"), echo("a.b"), echo("get x")]),
        source("native", vec![echo("terminal")]),
    ])
}

fn found(wanted: &str) -> String {
    match snapshot().resolve(wanted) {
        Ok(tool) => format!("{} of {}", tool.name, tool.toolbox),
        Err(error) => {
            assert_eq!(
                (error.kind(), error.phase()),
                (ErrorKind::ToolNotFound, Phase::Resolve)
            );
            format!("{error}; {}", error.hint().unwrap_or_default())
        }
    }
}

#[test]
fn every_form_of_a_name_finds_its_tool() {
    for (wanted, expected) in [
        ("time__now", "time__now of time"),
        ("time.now", "time__now of time"),
        ("my.box.now", "my_box__now of my.box"),
        ("my.box.a.b", "my_box__a_b of my.box"),
        ("convert", "time__convert of time"),
        ("a.b", "my_box__a_b of my.box"),
        ("get x", "my_box__get_x of my.box"),
        ("terminal", "terminal of native"),
        ("execute_bash", "terminal of native"),
    ] {
        assert_eq!(found(wanted), expected, "{wanted}");
    }
}

#[test]
fn what_means_no_tool_is_answered_with_the_nearest_names() {
    let long = "x".repeat(200);
    let answers: Vec<String> = [
        "time__nwo",
        "Time__now",
        "now",
        "time__now ",
        "str_replace_editor",
        "a/b",
        "🦀",
        "",
        "\u{1b}[2Jtime__now",
        &long,
    ]
    .into_iter()
    .map(found)
    .collect();
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn an_empty_snapshot_points_to_the_status() {
    let error = Snapshot::default().resolve("x").unwrap_err();
    assert_eq!(
        error.hint(),
        Some("no toolbox has a usable tool; look at the status")
    );
}

#[test]
fn a_tool_that_is_listed_twice_is_usable_once_and_reported() {
    let snapshot = Snapshot::new(vec![source(
        "time",
        vec![echo("now"), echo("now"), echo("b")],
    )]);
    let names: Vec<&str> = snapshot.tools().iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["time__now", "time__b"]);
    assert_eq!(snapshot.broken().len(), 1);
    assert_eq!(snapshot.broken()[0].tool.name, "now");
    let (usable, broken) = snapshot.usable_and_broken("time");
    assert_eq!((usable, broken.len()), (2, 1));
    assert_eq!(broken[0], snapshot.broken()[0].tool);
    assert_eq!(snapshot.usable_and_broken("clock"), (0, Vec::new()));
}

/// Each dot of such a name could part toolbox and tool: with work for each one this would take
/// hours.
#[test]
fn a_name_of_a_million_dots_is_answered_at_once() {
    let dots = ".".repeat(1 << 20);
    let error = snapshot().resolve(&format!("time{dots}now")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ToolNotFound);
}

#[test]
fn order_is_that_of_the_toolboxes_then_of_their_lists() {
    let names: Vec<String> = snapshot()
        .tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "time__now",
            "time__convert",
            "my_box__now",
            "my_box__a_b",
            "my_box__get_x",
            "terminal"
        ]
    );
}

#[test]
fn the_forms_for_openai_and_mcp_carry_exposed_names_and_untouched_schemas() {
    let snapshot = Snapshot::new(vec![source("my.box", vec![echo("a.b")])]);
    insta::assert_snapshot!(format!(
        "{:#}\n{:#}",
        snapshot.to_openai(),
        snapshot.to_mcp()
    ));
}

#[test]
fn a_tool_that_cannot_be_used_is_told_of_with_the_reason_by_each_of_its_names() {
    let mut time = source("time", vec![echo("now")]);
    let broken = BrokenTool::new("convert", "its schema is\nno object");
    time.discovery.broken.push(broken);
    let snapshot = Snapshot::new(vec![source("other", vec![]), time]);
    for wanted in ["convert", "time.convert", "time__convert"] {
        let error = snapshot.resolve(wanted).unwrap_err();
        let told = format!("the tool \"{wanted}\" cannot be used: its schema is no object");
        assert_eq!(error.message(), told);
        assert_eq!(error.kind(), ErrorKind::ToolNotFound);
        assert_eq!(error.toolbox(), Some("time"));
    }
    let error = snapshot.resolve("other.convert").unwrap_err();
    assert!(error.message().starts_with("there is no tool"), "{error}");
}
