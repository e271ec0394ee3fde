//! Does a project's config start anything before a person has approved it?

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what a test helper does not find fails its test"
)]

use std::fs::{OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::cli::{BINARY, Cli, Ran, demo_server};

/// Each command that would start a server.
const STARTING: &[&[&str]] = &[
    &["tools"],
    &["tools", "--format", "openai"],
    &["describe", "demo__echo"],
    &["call", "demo__echo", "text=x"],
    &["call", "--batch", "-"],
    &["status"],
    &["doctor"],
    &["doctor", "demo"],
];

/// A project whose server leaves a file behind when it is started.
struct Project {
    cli: Cli,
    canary: PathBuf,
}

impl Project {
    fn new() -> Self {
        let cli = Cli::bare();
        let project = Self {
            canary: cli.path("canary"),
            cli,
        };
        project.write_server("one");
        project
    }

    /// The config, with one argument that can be told apart.
    fn write_server(&self, argument: &str) {
        let script = format!(
            "touch '{}'; exec '{BINARY}' demo-server",
            self.canary.display()
        );
        self.write(&json!({
            "demo": {"command": "/bin/sh", "args": ["-c", script, argument]},
        }));
    }

    fn write(&self, servers: &Value) {
        let config = json!({"mcpServers": servers});
        self.cli.write(".mcp.json", &format!("{config:#}"));
    }

    /// Every starting command ends with exit 8 and the hint, and nothing was started.
    #[track_caller]
    fn assert_inert(&self, message: &str) {
        for arguments in STARTING {
            let ran = self.cli.run(&[arguments, &["--json"][..]].concat());
            let error = &ran.json()["error"];
            assert_eq!(ran.code, Some(8), "{arguments:?}: {ran}");
            assert_eq!(error["kind"], "approval_required", "{arguments:?}");
            assert_eq!(error["outcome"], "not_sent", "{arguments:?}");
            assert!(
                error["message"].as_str().unwrap().contains(message),
                "{error}"
            );
            assert!(
                error["hint"].as_str().unwrap().contains("`toolspan trust`"),
                "{error}"
            );
            assert!(!self.canary.exists(), "{arguments:?} started the server");
        }
    }

    fn trust_file(&self) -> PathBuf {
        self.cli.path(".local/state/toolspan/trust.json")
    }
}

/// C4
#[test]
fn a_project_s_config_starts_nothing_before_it_is_approved_and_works_then() {
    let project = Project::new();
    project.assert_inert("was not approved");
    for looking in [
        ["config", "check"],
        ["config", "show"],
        ["config", "schema"],
    ] {
        let ran = project.cli.run(&looking);
        assert_eq!(ran.code, Some(0), "{looking:?}: {ran}");
    }
    let refused = project.cli.run(&["trust"]);
    assert_eq!(refused.code, Some(8), "{refused}");
    project.assert_inert("was not approved");
    let approved = project.cli.run(&["trust", "--yes"]);
    assert_eq!(approved.code, Some(0), "{approved}");
    assert!(!project.canary.exists(), "`trust` started the server");
    let ran = project.cli.run(&["call", "demo__echo", "text=x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "x\n"), "{ran}");
    assert!(project.canary.exists());
}

/// C5
#[test]
fn a_changed_argument_suspends_the_approval_and_shows_the_difference() {
    let project = Project::new();
    assert_eq!(project.cli.run(&["trust", "--yes"]).code, Some(0));
    project.write_server("two");
    project.assert_inert("has changed since it was approved");
    let asked = project.cli.run(&["trust"]);
    insta::assert_snapshot!(asked);
    assert_eq!(project.cli.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(
        project.cli.run(&["call", "demo__echo", "text=x"]).code,
        Some(0)
    );
    // Another order of keys, white space or a comment is no change of what it says; the former is.
    let text = std::fs::read_to_string(project.cli.path(".mcp.json")).unwrap();
    project
        .cli
        .write(".mcp.json", &format!("// a comment\n\n{text}\n"));
    assert_eq!(project.cli.run(&["trust"]).code, Some(0));
    assert_eq!(project.cli.run(&["tools"]).code, Some(0));
}

#[test]
fn what_would_be_started_is_shown_whole_and_with_what_is_odd_about_it() {
    let project = Project::new();
    let long = "x".repeat(300);
    project.write(&json!({
        "time": {
            "command": "npx",
            "args": ["-y", "some-server", "--zone", "${TZ:-UTC}", "two words", long],
            "env": {"TZ": "UTC", "NODE_OPTIONS": "--require ./x.js", "API_KEY": "${API_KEY}"},
            "cwd": "..",
        },
        "docs": {
            "url": "https://example.com/mcp?token=hunter2-hunter2",
            "headers": {"Authorization": "Bearer hunter2-hunter2", "X-Team": "${TEAM}"},
        },
        "sneaky": {"command": "sh", "args": ["-c", "echo a\u{1b}[2K\u{202e}b\n"], "disabled": true},
        "secret": {"command": "x", "args": ["--token", "hunter2-hunter2"]},
    }));
    let shown = project.cli.run(&["trust"]);
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    insta::assert_snapshot!(shown);
    let shown = project.cli.run(&["trust", "--json"]);
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    insta::assert_snapshot!("as_json", shown);
    assert_eq!(
        project.cli.run(&["trust", "--yes", "--json"]).json()["approved"],
        true
    );
    let kept = std::fs::read_to_string(project.trust_file()).unwrap();
    assert!(!kept.contains("hunter2"), "{kept}");
}

#[test]
fn the_refusal_tells_what_to_do() {
    let project = Project::new();
    insta::assert_snapshot!(project.cli.run(&["tools"]));
    project.cli.run(&["trust", "--yes"]);
    project.write_server("two");
    insta::assert_snapshot!("after_a_change", project.cli.run(&["tools"]));
}

#[test]
fn an_unapproved_project_is_not_passed_over_for_the_user_s_own_config() {
    let project = Project::new();
    let own = project.cli.path(".config/toolspan");
    std::fs::create_dir_all(&own).unwrap();
    let config = json!({"mcpServers": {"demo": demo_server()}});
    std::fs::write(own.join("toolspan.json"), config.to_string()).unwrap();
    project.assert_inert("was not approved");
    std::fs::remove_file(project.cli.path(".mcp.json")).unwrap();
    assert_eq!(project.cli.run(&["tools"]).code, Some(0));
}

#[test]
fn a_file_that_is_named_needs_no_approval() {
    let project = Project::new();
    assert_eq!(
        project.cli.run(&["tools", "--config", ".mcp.json"]).code,
        Some(0)
    );
    let mut command = project.cli.command(&["tools"]);
    let output = command
        .env("TOOLSPAN_CONFIG", ".mcp.json")
        .output()
        .unwrap();
    assert_eq!(project.cli.ran(output).code, Some(0));
    // Servers of the command line are the user's own, and the project's file is not read.
    let line = format!("'{BINARY}' demo-server");
    assert_eq!(project.cli.run(&["tools", "--server", &line]).code, Some(0));
}

#[test]
fn no_address_of_an_unapproved_project_is_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let project = Project::new();
    project.write(&json!({"demo": {"url": url}}));
    project.assert_inert("was not approved");
    project.cli.run(&["trust"]);
    project.cli.run(&["config", "check"]);
    let attempt = listener.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(attempt, Err(ErrorKind::WouldBlock));
}

#[test]
fn an_approval_is_for_one_folder_and_can_be_listed_and_taken_back() {
    let project = Project::new();
    assert_eq!(project.cli.run(&["trust", "--yes"]).code, Some(0));
    // The same text in another folder, also by a link to the approved file.
    let other = project.cli.path("other");
    std::fs::create_dir(&other).unwrap();
    for link in [false, true] {
        let (from, to) = (project.cli.path(".mcp.json"), other.join(".mcp.json"));
        let _ = std::fs::remove_file(&to);
        match link {
            true => std::os::unix::fs::symlink(&from, &to).unwrap(),
            false => drop(std::fs::copy(&from, &to).unwrap()),
        }
        let mut command = project.cli.command(&["tools"]);
        let ran = project
            .cli
            .ran(command.current_dir(&other).output().unwrap());
        assert_eq!(ran.code, Some(8), "{ran}");
    }
    insta::assert_snapshot!(project.cli.run(&["trust", "--list"]));
    insta::assert_snapshot!("revoked", project.cli.run(&["trust", "--revoke"]));
    project.assert_inert("was not approved");
    insta::assert_snapshot!("revoked_twice", project.cli.run(&["trust", "--revoke"]));
    insta::assert_snapshot!("an_empty_list", project.cli.run(&["trust", "--list"]));
}

#[test]
fn where_nothing_is_to_be_approved_it_says_so() {
    let cli = Cli::bare();
    insta::assert_snapshot!(cli.run(&["trust"]));
    let project = Project::new();
    insta::assert_snapshot!(
        "named",
        project.cli.run(&["trust", "--config", ".mcp.json"])
    );
    project.cli.run(&["trust", "--yes"]);
    insta::assert_snapshot!("approved_already", project.cli.run(&["trust"]));
}

/// C6
#[test]
fn a_replaced_script_is_noted_and_a_new_look_takes_it_as_it_is() {
    let project = Project::new();
    let script = |text: &str| {
        project.cli.write(
            "server.sh",
            &format!("#!/bin/sh\n# {text}\nexec '{BINARY}' demo-server\n"),
        );
    };
    script("one");
    project.write(&json!({"demo": {"command": "/bin/sh", "args": ["server.sh"]}}));
    assert_eq!(project.cli.run(&["trust", "--yes"]).code, Some(0));
    let call = ["call", "demo__echo", "text=x"];
    assert_eq!(
        project.cli.run(&call).to_string(),
        "exit 0\n--- stdout\nx\n--- stderr\n"
    );
    script("two");
    insta::assert_snapshot!(project.cli.run(&call));
    insta::assert_snapshot!("asked_again", project.cli.run(&["trust"]));
    assert_eq!(project.cli.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.cli.run(&call).stderr, "");
}

/// C16
#[test]
fn approvals_that_others_could_have_written_are_refused_with_the_fix() {
    let project = Project::new();
    project.cli.run(&["trust", "--yes"]);
    let (file, folder) = (
        project.trust_file(),
        project.cli.path(".local/state/toolspan"),
    );
    let mode = |path: &PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
    let set = |path: &PathBuf, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
    set(&file, 0o644).unwrap();
    insta::assert_snapshot!("open_to_others", project.cli.run(&["tools"]));
    set(&file, 0o600).unwrap();
    set(&folder, 0o777).unwrap();
    insta::assert_snapshot!("in_an_open_folder", project.cli.run(&["tools"]));
    set(&folder, 0o700).unwrap();
    let elsewhere = project.cli.path("elsewhere.json");
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    insta::assert_snapshot!("a_link", project.cli.run(&["tools"]));
    assert!(!project.canary.exists());
}

/// C16
#[test]
fn approvals_that_cannot_be_understood_count_as_none_and_are_kept() {
    for broken in [
        &b"{\"version\": 1, \"appro"[..],
        b"{\"version\": 2}",
        b"",
        b"\xFF\0",
    ] {
        let project = Project::new();
        project.cli.run(&["trust", "--yes"]);
        std::fs::write(project.trust_file(), broken).unwrap();
        project.assert_inert("was not approved");
        assert_eq!(std::fs::read(project.trust_file()).unwrap(), broken);
        assert_eq!(project.cli.run(&["trust", "--yes"]).code, Some(0));
        let kept = project.trust_file().with_extension("json.bad");
        assert_eq!(std::fs::read(kept).unwrap(), broken);
        assert_eq!(project.cli.run(&["tools"]).code, Some(0));
    }
}

/// C14
#[test]
fn a_config_that_others_may_write_is_warned_of_and_refused_with_secrets_in_it() {
    let cli = Cli::with_demo();
    let mode = |mode| {
        let path = cli.path("toolspan.json");
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    mode(0o666);
    insta::assert_snapshot!(
        "without_secrets",
        cli.run(&["call", "demo__echo", "text=x"])
    );
    let mut server = demo_server();
    server["env"] = json!({"SOME_TOKEN": "hunter2-hunter2"});
    cli.write(
        "toolspan.json",
        &format!("{:#}", json!({"mcpServers": {"demo": server}})),
    );
    mode(0o666);
    insta::assert_snapshot!("refused", cli.run(&["tools"]));
    assert_eq!(cli.run(&["config", "check"]).code, Some(2));
    let call = ["call", "demo__echo", "text=x"];
    let all_the_same = [&call[..], &["--allow-insecure-config"]].concat();
    insta::assert_snapshot!("all_the_same", cli.run(&all_the_same));
    mode(0o644);
    insta::assert_snapshot!("read_by_others", cli.run(&call));
    mode(0o600);
    assert_eq!(cli.run(&call).stderr, "");
}

/// The answer of a person on a terminal.
fn answered(project: &Project, answer: &str) -> Ran {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .unwrap();
    let mut command = project.cli.command(&["trust", "--color=never"]);
    command.stdin(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(command);
    let mut terminal = std::fs::File::from(master);
    let mut seen = Vec::new();
    let mut bytes = [0; 1024];
    while !String::from_utf8_lossy(&seen).contains("[y/N]") {
        let count = terminal.read(&mut bytes).unwrap();
        seen.extend_from_slice(&bytes[..count]);
    }
    terminal.write_all(answer.as_bytes()).unwrap();
    // The end of a pseudo terminal is an error; what came before it is kept.
    let _end = terminal.read_to_end(&mut seen);
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    Ran {
        code: child.wait().unwrap().code(),
        stdout,
        stderr: String::from_utf8(seen).unwrap(),
    }
}

#[test]
fn a_person_is_asked_on_a_terminal_and_nothing_but_yes_is_yes() {
    for (answer, code) in [
        ("\n", 8),
        ("n\n", 8),
        ("yep\n", 8),
        ("\u{3}", 130),
        ("y\n", 0),
    ] {
        let project = Project::new();
        let ran = answered(&project, answer);
        assert_eq!(ran.code, Some(code), "{answer:?}: {ran}");
        assert!(ran.stdout.contains("/bin/sh -c"), "{ran}");
        assert!(!project.canary.exists());
        let tools = project.cli.run(&["tools"]).code;
        assert_eq!(tools, Some(if code == 0 { 0 } else { 8 }), "{answer:?}");
    }
}
