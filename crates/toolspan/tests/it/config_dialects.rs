//! Do the files of other programs mean here what they mean there?

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;

use toolspan::config::{
    AskInput, Environment, Input, RemoteKind, Resolved, ToolboxConfig, Transport,
};
use toolspan_core::guard::Secret;

use crate::config_case::{Case, report, server, write_own};

/// A file of each program, where it lies in a project.
const FILES: [(&str, &str); 11] = [
    (
        "claude_desktop_config.json",
        include_str!("../fixtures/configs/claude_desktop.json"),
    ),
    (
        ".mcp.json",
        include_str!("../fixtures/configs/claude_code.json"),
    ),
    (
        ".cursor/mcp.json",
        include_str!("../fixtures/configs/cursor.json"),
    ),
    (
        "windsurf/mcp_config.json",
        include_str!("../fixtures/configs/windsurf.json"),
    ),
    (
        ".vscode/mcp.json",
        include_str!("../fixtures/configs/vscode.json"),
    ),
    (
        ".gemini/settings.json",
        include_str!("../fixtures/configs/gemini_cli.json"),
    ),
    (
        "cline_mcp_settings.json",
        include_str!("../fixtures/configs/cline.json"),
    ),
    (
        "fastmcp.json",
        include_str!("../fixtures/configs/fastmcp.json"),
    ),
    (
        "openhands.json",
        include_str!("../fixtures/configs/openhands.json"),
    ),
    (
        "copilot.json",
        include_str!("../fixtures/configs/copilot.json"),
    ),
    (
        "two.json",
        include_str!("../fixtures/configs/two_places.json"),
    ),
];

/// A project with all the files in it, and what an environment around it says.
struct Project {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in FILES
            .into_iter()
            .chain([(".env", "FROM_FILE=1\nTOKEN=file\n")])
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            write_own(&path, text);
        }
        let environment = Environment::from_pairs([
            ("HOME", "/home/ada"),
            ("TICKETS_TOKEN", "tickets-token"),
            ("TOOLSPAN_INPUT_API_TOKEN", "input-token"),
        ])
        .with_current_dir(folder.path());
        Self {
            folder,
            environment,
        }
    }

    fn read(&self, file: &str) -> Resolved {
        Resolved::from_file(Path::new(file), &self.environment).expect("a config")
    }

    /// A text without the folder's own name.
    fn steady(&self, text: &str) -> String {
        let folder = self.folder.path();
        let name = folder.file_name().expect("a name").to_string_lossy();
        text.replace(&*folder.to_string_lossy(), "[PROJECT]")
            .replace(&*name, "[NAME]")
    }
}

/// What of a toolbox is another one's, in a line.
fn line(toolbox: &ToolboxConfig) -> String {
    let off = if toolbox.disabled { " off" } else { "" };
    let total = toolbox.timeouts.total.as_secs();
    let how = match &toolbox.transport {
        Ok(Transport::Stdio(server)) => format!(
            "{} {:?} env {:?} in {:?}",
            server.command, server.args, server.env, server.cwd
        ),
        Ok(Transport::Remote(server)) => {
            let headers = server.headers.iter();
            let headers: Vec<String> = headers
                .map(|(name, value)| format!("{name}: {}", value.reveal()))
                .collect();
            let auth = server.auth.as_ref().map(Secret::reveal);
            format!("{} {:?} {headers:?} auth {auth:?}", server.url, server.kind)
        }
        other => format!("{other:?}"),
    };
    format!("{}{off} total {total} s: {how}", toolbox.key)
}

#[test]
fn a_file_of_each_program_is_read_without_a_problem() {
    let project = Project::new();
    let mut all = String::new();
    for (file, _) in FILES {
        let read = project.read(file);
        assert_eq!(read.problems().next(), None, "{file}");
        assert!(!read.toolboxes.is_empty(), "{file}");
        writeln!(all, "# {file}").expect("a string");
        for toolbox in &read.toolboxes {
            writeln!(all, "{}", line(toolbox)).expect("a string");
        }
        for warning in &read.warnings {
            writeln!(all, "warning: {warning}").expect("a string");
        }
        for note in &read.notes {
            writeln!(all, "note: {note}").expect("a string");
        }
        all.push('\n');
    }
    insta::assert_snapshot!(project.steady(&all));
}

#[test]
fn lists_of_names_take_and_leave_tools_as_they_do_elsewhere() {
    let project = Project::new();
    let gemini = project.read(".gemini/settings.json");
    let allows = |name| gemini.toolboxes[0].filter.allows(name);
    assert!(allows("safe_tool") && !allows("delete_file") && !allows("other"));
    let content = r#"{"mcpServers": {"x": {"command": "a",
        "tools": {"exclude": ["b*"]}, "disabledTools": ["c*[d]"], "excludeTools": ["e"]}}}"#;
    let read = Case::new(content, &[]).read().expect("a config");
    let allows = |name| read.toolboxes[0].filter.allows(name);
    assert!(!allows("bb") && !allows("c*[d]") && !allows("e"));
    // A name is no pattern.
    assert!(allows("ccd") && allows("a"));
}

/// The keys of the servers that are switched on, of `a`, `b` and `c`.
fn switched_on(lists: &str) -> Vec<String> {
    let content = format!(
        r#"{{"mcp": {lists}, "mcpServers": {{
            "a": {{"command": "x"}}, "b": {{"command": "x"}}, "c": {{"command": "x", "enabled": true}}}}}}"#
    );
    let read = Case::new(content, &[]).read().expect("a config");
    assert_eq!(read.problems().next(), None, "{lists}");
    let on = read.toolboxes.into_iter().filter(|it| !it.disabled);
    on.map(|toolbox| toolbox.key).collect()
}

#[test]
fn the_lists_of_gemini_switch_servers_off_as_they_do_there() {
    for (lists, wanted) in [
        (r#"{"excluded": ["a", "c", "other"]}"#, &["b"][..]),
        (r#"{"allowed": ["c", "a"]}"#, &["a", "c"]),
        (r#"{"allowed": ["a", "b"], "excluded": ["a"]}"#, &["b"]),
        (r#"{"allowed": []}"#, &[]),
        (r#"{"allowed": null, "excluded": []}"#, &["a", "b", "c"]),
        ("null", &["a", "b", "c"]),
        // What is no list has no effect, and is warned of below.
        (r#"{"allowed": "a"}"#, &["a", "b", "c"]),
        (r#"{"excluded": ["a", 1]}"#, &["b", "c"]),
        (r#"["a"]"#, &["a", "b", "c"]),
    ] {
        assert_eq!(switched_on(lists), wanted, "{lists}");
    }
}

#[test]
fn what_is_wrong_with_the_lists_of_gemini_is_a_warning() {
    let mut all = String::new();
    for lists in [
        r#"["a"]"#,
        r#"{"allowed": "a", "excluded": {"b": true}}"#,
        r#"{"allowed": [1], "exclude": ["a"]}"#,
        r#"{"servers": {"x": {"command": "y"}}, "serverCommand": "y", "inputs": []}"#,
    ] {
        let content = format!("{{\"mcp\": {lists}}}");
        let report = Case::new(&content, &[]).report();
        writeln!(all, "# {content}\n{report}").expect("a string");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn nobody_is_asked_for_a_server_that_a_list_leaves_out() {
    let person = Person::default();
    let content = ASKING.replacen('{', r#"{"mcp": {"allowed": ["off"]},"#, 1);
    asking(&content, &person, &[]);
    assert_eq!(person.asked.borrow().len(), 0);
}

/// Answers every question, and remembers them.
#[derive(Default)]
struct Person {
    answer: Option<&'static str>,
    asked: RefCell<Vec<Input>>,
}

impl AskInput for Person {
    fn ask(&self, input: &Input) -> Option<Secret> {
        self.asked.borrow_mut().push(input.clone());
        self.answer.map(Secret::new)
    }
}

const ASKING: &str = r#"{
  "inputs": [
    {"type": "promptString", "id": "token", "description": "A token", "password": true},
    {"id": "user", "default": "nobody"},
    {"type": "pickString", "id": "zone", "options": ["eu", {"label": "America", "value": "us"}]},
    {"type": "command", "id": "file", "command": "pick"}
  ],
  "servers": {
    "a": {"command": "a", "args": ["${input:token}", "${input:user}"]},
    "b": {"url": "https://example.com/${input:user}", "headers": {"X-A": "${input:token}"}},
    "off": {"command": "a", "args": ["${input:zone}"], "disabled": true}
  }
}"#;

fn asking(content: &str, person: &Person, variables: &[(&str, &str)]) -> Resolved {
    let case = Case::new(content, variables);
    let file = Path::new(crate::config_case::FILE);
    Resolved::from_file_asking(file, case.environment(), person).expect("a config")
}

#[test]
fn each_input_is_asked_for_once_and_none_for_a_server_that_is_off() {
    let person = Person {
        answer: Some("typed-secret"),
        ..Person::default()
    };
    let read = asking(ASKING, &person, &[]);
    assert_eq!(read.problems().next(), None);
    let asked = person.asked.borrow();
    let asked: Vec<(&str, bool)> = asked.iter().map(|it| (&*it.id, it.password)).collect();
    assert_eq!(asked, [("token", true), ("user", false)]);
    let first = server(&read.toolboxes[0]);
    assert_eq!(first.args, ["typed-secret", "typed-secret"]);
    assert_eq!(first.secrets, [Secret::new("typed-secret")]);
    assert!(!format!("{:?}", read.to_json()).contains("typed-secret"));
}

/// Answers for one toolbox alone.
struct PersonFor(&'static str);

impl AskInput for PersonFor {
    fn ask(&self, _: &Input) -> Option<Secret> {
        Some(Secret::new("typed"))
    }

    fn is_asked_for(&self, toolbox: &str) -> bool {
        toolbox == self.0
    }
}

#[test]
fn an_entry_whose_inputs_are_not_asked_for_cannot_be_used() {
    let case = Case::new(ASKING, &[]);
    let file = Path::new(crate::config_case::FILE);
    let read = Resolved::from_file_asking(file, case.environment(), &PersonFor("a"));
    assert_eq!(
        server(&read.as_ref().unwrap().toolboxes[0]).args,
        ["typed"; 2]
    );
    insta::assert_snapshot!(report(&read));
    // A variable answers for all of them.
    let variables = [("TOOLSPAN_INPUT_TOKEN", "x"), ("TOOLSPAN_INPUT_USER", "y")];
    let case = Case::new(ASKING, &variables);
    let read = Resolved::from_file_asking(file, case.environment(), &PersonFor("a")).unwrap();
    assert_eq!(read.problems().next(), None);
}

#[test]
fn an_input_has_a_variable_and_a_default_where_nobody_answers() {
    let variables = [("TOOLSPAN_INPUT_TOKEN", "from-variable")];
    let person = Person::default();
    let read = asking(ASKING, &person, &variables);
    assert_eq!(server(&read.toolboxes[0]).args, ["from-variable", "nobody"]);
    // The variable answers beforehand.
    assert_eq!(person.asked.borrow().len(), 1);
    assert_eq!(server(&read.toolboxes[0]).secrets.len(), 1);
    let empty = Person {
        answer: Some(""),
        ..Person::default()
    };
    let read = asking(ASKING, &empty, &variables);
    assert_eq!(server(&read.toolboxes[0]).args[1], "nobody");
}

#[test]
fn an_input_without_a_value_is_told_with_its_variable() {
    let mut all = String::new();
    let with = |entry: &str| {
        ASKING.replace(
            "\"a\": {\"command\": \"a\", \"args\": [\"${input:token}\", \"${input:user}\"]}",
            &format!("\"a\": {entry}"),
        )
    };
    for entry in [
        r#"{"command": "a", "args": ["${input:token}"]}"#,
        r#"{"command": "a", "args": ["${input:file}"]}"#,
        r#"{"command": "a", "args": ["${input:other}"]}"#,
        r#"{"command": "a", "args": ["${input:zone}"]}"#,
        r#"{"command": "a", "args": ["${input:}"]}"#,
    ] {
        let report = report(&Ok(asking(&with(entry), &Person::default(), &[])));
        let report = report.lines().next().expect("a problem");
        writeln!(all, "# {entry}\n{report}\n").expect("a string");
    }
    // Only one of the options is an answer.
    let person = Person {
        answer: Some("moon"),
        ..Person::default()
    };
    let moon = asking(
        &with(r#"{"command": "a", "args": ["${input:zone}"]}"#),
        &person,
        &[],
    );
    writeln!(all, "# moon\n{}", report(&Ok(moon))).expect("a string");
    insta::assert_snapshot!(all);
}

#[test]
fn what_is_wrong_with_inputs_and_places_is_told() {
    let mut all = String::new();
    for content in [
        r#"{"inputs": {}}"#,
        r#"{"inputs": ["a"], "servers": {}}"#,
        r#"{"inputs": [{"type": "promptString"}, {"id": ""}, {"id": 1}]}"#,
        r#"{"inputs": [{"id": "a"}, {"id": "a"}]}"#,
        r#"{"inputs": [{"id": "a", "type": "askString"}, {"id": "b", "pasword": true}]}"#,
        r#"{"inputs": [{"id": "a", "options": "b"}, {"id": "b", "options": [{"label": "c"}]}]}"#,
        r#"{"servers": []}"#,
        r#"{"mcpServers": {"a": {"command": "b"}}, "servers": {"a": {"command": "b"}}}"#,
        r#"{"sse_servers": ["http://localhost/sse"], "mcp": {"servers": {}}}"#,
        r#"{"time": {"command": "uvx"}, "broken": {"comand": "x"}, "$schema": "s"}"#,
        r#"{"time": {"command": "uvx"}, "policy": {"deny": ["*"]}}"#,
        r#"{"time": {"command": "uvx"}, "limits": {}}"#,
        r#"{"time": {"command": "uvx"}, "version": 1}"#,
        r#"{"time": {"comand": "uvx"}}"#,
    ] {
        writeln!(all, "# {content}\n{}", Case::new(content, &[]).report()).expect("a string");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn an_env_file_is_read_and_env_wins_over_it() {
    let content = r#"{"mcpServers": {"x": {"command": "a", "envFile": "some.env",
        "env": {"B": "own"}}}}"#;
    let case = Case::new(content, &[]);
    std::fs::write(
        case.folder().join("some.env"),
        "\u{feff}export A='file secret' # comment\nB=file\nC=\"x\\ny\"\n",
    )
    .expect("a file");
    let read = case.read().expect("a config");
    let server = server(&read.toolboxes[0]);
    let wanted = [("A", "file secret"), ("C", "x\ny"), ("B", "own")];
    let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(server.env, wanted);
    assert!(server.secrets.contains(&Secret::new("file secret")));
    assert!(!read.to_json().to_string().contains("file secret"));
}

#[test]
fn an_env_file_that_cannot_be_used_is_told_without_its_values() {
    let mut all = String::new();
    let long = "A=b\n".repeat(1 << 19);
    for (name, text) in [
        ("missing", None),
        ("no assignment", Some("A=1\nsecret words")),
        ("open quotes", Some("A=\"secret")),
        ("too large", Some(&*long)),
        ("a name of our own", Some("TOOLSPAN_COOKIE=secret")),
    ] {
        let content = r#"{"mcpServers": {"x": {"command": "a", "envFile": "some.env"}}}"#;
        let case = Case::new(content, &[]);
        if let Some(text) = text {
            std::fs::write(case.folder().join("some.env"), text).expect("a file");
        }
        writeln!(all, "# {name}\n{}", case.report()).expect("a string");
    }
    assert!(!all.contains("secret"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn a_workspace_is_the_project_and_for_the_users_own_config_the_current_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let content = r#"{"mcpServers": {"x": {"command": "${workspaceFolder}/run", "args": ["${workspaceFolder}"]}}}"#;
    let root = folder.path();
    let home = root.join("home");
    let environment = Environment::from_pairs([("XDG_CONFIG_HOME", &home), ("HOME", &home)])
        .with_current_dir(root.join("current"));
    for (file, wanted) in [
        ("project/toolspan.json", "project"),
        ("project/.vscode/mcp.json", "project"),
        ("project/.cursor/mcp.json", "project"),
        ("home/toolspan/toolspan.json", "current"),
        ("home/.cursor/mcp.json", "current"),
    ] {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, content).expect("a file");
        let read = Resolved::from_file(&path, &environment).expect("a config");
        let server = server(&read.toolboxes[0]);
        assert_eq!(Path::new(&server.args[0]), root.join(wanted), "{file}");
        assert_eq!(Path::new(&server.command), root.join(wanted).join("run"));
    }
}

#[test]
fn a_type_http_of_vs_code_means_that_sse_is_tried_too() {
    let project = Project::new();
    let kinds = |file| {
        let read = project.read(file);
        let kinds = read
            .toolboxes
            .iter()
            .filter_map(|toolbox| match &toolbox.transport {
                Ok(Transport::Remote(server)) => Some(server.kind),
                _ => None,
            });
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(
        kinds(".vscode/mcp.json"),
        [RemoteKind::Auto, RemoteKind::Sse]
    );
    assert_eq!(
        kinds("two.json"),
        [RemoteKind::StreamableHttp, RemoteKind::Auto]
    );
}
