//! Is an approval bound to all that a config says, and to nothing else?

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolspan::config::{
    AskInput, ConfigFile, Environment, Found, Input, Resolved, Standing, TrustStore, find,
};
use toolspan_core::guard::Secret;
use toolspan_core::{ErrorKind, Result};

use crate::config_case::{Case, FILE};

/// A project's config, as it is found.
struct Project(Case);

impl Project {
    fn new(config: &str) -> Self {
        let case = Case::empty(&[]);
        let project = Self(case);
        project.write(FILE, config);
        project
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.folder().join(name), text).unwrap();
    }

    fn environment(&self) -> Environment {
        let home = self.0.folder().join("home");
        let pairs = [("HOME", home)];
        Environment::from_pairs(pairs).with_current_dir(self.0.folder())
    }

    fn file(&self) -> ConfigFile {
        let environment = self.environment();
        let found = find(None, &environment).unwrap().unwrap();
        ConfigFile::read(found, &environment).unwrap()
    }

    fn approve(&self) {
        self.file().approve(&self.environment()).unwrap();
    }

    fn standing(&self) -> Standing {
        self.file().standing(&self.environment()).unwrap()
    }

    /// What changed, `None` when it is approved.
    fn difference(&self) -> Option<Vec<String>> {
        match self.standing() {
            Standing::Approved { .. } => None,
            Standing::Changed { difference } => Some(
                difference
                    .iter()
                    .map(|change| {
                        format!("{}{}", if change.is_new { "+" } else { "-" }, change.line)
                    })
                    .collect(),
            ),
            other => Some(vec![format!("{other:?}")]),
        }
    }

    fn start(&self, asker: &dyn AskInput) -> Result<Resolved> {
        self.file().resolve_trusted(&self.environment(), asker)
    }
}

const PLAIN: &str = r#"{"mcpServers": {"a": {"command": "x", "args": ["1", "2"]}}}"#;

#[test]
fn what_means_the_same_stays_approved_and_all_else_is_asked_again() {
    let project = Project::new(PLAIN);
    assert_eq!(project.standing(), Standing::New);
    project.approve();
    assert_eq!(project.difference(), None);
    project.write(FILE, "{ // new\n \"mcpServers\": {\"a\": {\"command\": \"\\u0078\",\n\"args\": [\"1\",\"2\"]}}}\n");
    assert_eq!(project.difference(), None);
    for (config, wanted) in [
        (
            PLAIN.replace('2', "3"),
            &["-a: start: x 1 2", "+a: start: x 1 3"][..],
        ),
        (
            PLAIN.replace(r#""1", "2""#, r#""1 2""#),
            &["-a: start: x 1 2", "+a: start: x \"1 2\""],
        ),
        (
            PLAIN.replace(r#""command""#, r#""cwd": "..", "command""#),
            &["+a: folder: .."],
        ),
        (
            PLAIN.replace(r#"{"a""#, r#"{"b": {"url": "https://h/"}, "a""#),
            &["+b: connect: https://h/"],
        ),
        (
            PLAIN.replace(r#""a""#, r#""b""#),
            &["+b: start: x 1 2", "-a: start: x 1 2"],
        ),
        (
            PLAIN.replace("}}}", "}}, \"unknown\": 1}"),
            &["+unknown = 1"],
        ),
    ] {
        project.write(FILE, &config);
        assert_eq!(project.difference().unwrap(), wanted, "{config}");
    }
    project.write(FILE, PLAIN);
    assert_eq!(project.difference(), None);
}

#[test]
fn a_changed_secret_is_asked_again_though_it_is_not_shown() {
    let config = |token: &str| {
        format!(r#"{{"mcpServers": {{"a": {{"command": "x", "env": {{"A_TOKEN": "{token}"}}}}}}}}"#)
    };
    let project = Project::new(&config("one"));
    project.approve();
    project.write(FILE, &config("two"));
    assert_eq!(project.difference(), Some(vec![]));
}

#[test]
fn the_variables_of_an_env_file_are_part_of_what_is_approved() {
    let project = Project::new(
        r#"{"mcpServers": {"a": {"command": "x", "envFile": "${workspaceFolder}/.env"}}}"#,
    );
    project.write(".env", "A=1");
    project.approve();
    assert_eq!(project.difference(), None);
    project.write(".env", "A=2");
    assert_eq!(project.difference(), Some(vec![]));
    assert_eq!(
        project.start(&()).unwrap_err().kind(),
        ErrorKind::ApprovalRequired
    );
    project.write(".env", "A=1\nexport NODE_OPTIONS=--require=./x.js\n");
    let wanted = [
        "-variables of .env: A",
        "+variables of .env: A NODE_OPTIONS",
    ];
    assert_eq!(project.difference().unwrap(), wanted);
    let file = project.file();
    let warnings = &file.view().warnings;
    let wanted = [".env: NODE_OPTIONS can make it run other code"];
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        wanted
    );
    std::fs::remove_file(project.0.folder().join(".env")).unwrap();
    assert_eq!(project.difference().unwrap(), ["-variables of .env: A"]);
    project.write(".env", "A=1");
    assert_eq!(project.difference(), None);
    assert!(project.start(&()).is_ok());
}

/// Counts how often it is asked, and changes a file on the way.
struct Asker<'a>(AtomicUsize, Box<dyn Fn() + 'a>);

impl AskInput for Asker<'_> {
    fn ask(&self, _: &Input) -> Option<Secret> {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1();
        Some(Secret::new("answer"))
    }
}

#[test]
fn nobody_is_asked_for_inputs_before_the_config_is_approved() {
    let project = Project::new(
        r#"{"inputs": [{"id": "k", "type": "promptString"}],
            "servers": {"a": {"command": "x", "args": ["${input:k}"]}}}"#,
    );
    let asker = Asker(AtomicUsize::new(0), Box::new(|| ()));
    assert_eq!(
        project.start(&asker).unwrap_err().kind(),
        ErrorKind::ApprovalRequired
    );
    project.approve();
    assert_eq!(project.standing(), Standing::Approved { replaced: vec![] });
    assert_eq!(asker.0.load(Ordering::Relaxed), 0);
    let resolved = project.start(&asker).unwrap();
    assert_eq!(asker.0.load(Ordering::Relaxed), 1);
    assert!(resolved.toolboxes[0].transport.is_ok());
}

#[test]
fn what_changes_between_the_look_and_the_start_is_not_started() {
    let project = Project::new(
        r#"{"inputs": [{"id": "k", "type": "promptString"}],
            "servers": {"a": {"command": "x", "args": ["${input:k}"], "envFile": ".env"}}}"#,
    );
    project.write(".env", "A=1");
    project.approve();
    let keep = Asker(AtomicUsize::new(0), Box::new(|| ()));
    assert!(project.start(&keep).unwrap().toolboxes[0].transport.is_ok());
    let swap = Asker(
        AtomicUsize::new(0),
        Box::new(|| project.write(".env", "A=2")),
    );
    assert_eq!(
        project.start(&swap).unwrap_err().kind(),
        ErrorKind::ApprovalRequired
    );
    // The config itself was read once: what another text says afterwards does not matter.
    project.write(".env", "A=1");
    let file = project.file();
    project.write(FILE, r#"{"servers": {"evil": {"command": "y"}}}"#);
    let resolved = file.resolve_trusted(&project.environment(), &()).unwrap();
    assert_eq!(resolved.toolboxes[0].key, "a");
}

#[test]
fn a_program_of_the_project_that_was_replaced_is_a_warning() {
    let project = Project::new(
        r#"{"mcpServers": {
            "a": {"command": "./run", "args": ["-c", "nowhere", "sub/../tool.py"]},
            "b": {"command": "./start", "args": ["server.py"], "cwd": "sub"},
            "c": {"command": "sh", "args": ["/bin/sh", "../outside"]}}}"#,
    );
    let folder = project.0.folder().canonicalize().unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    let programs = ["run", "start", "sub/server.py", "tool.py"];
    for program in programs {
        project.write(program, "one");
    }
    project.approve();
    assert_eq!(project.standing(), Standing::Approved { replaced: vec![] });
    for program in programs {
        project.write(program, "two");
        let replaced = vec![folder.join(program)];
        assert_eq!(project.standing(), Standing::Approved { replaced });
        let warnings = project.start(&()).unwrap().warnings;
        let count = warnings
            .iter()
            .filter(|it| it.message.contains("is not what it was"));
        assert_eq!(count.count(), 1, "{program}");
        project.write(program, "one");
    }
    std::fs::remove_file(folder.join("run")).unwrap();
    let replaced = vec![folder.join("run")];
    assert_eq!(project.standing(), Standing::Approved { replaced });
}

#[test]
fn what_is_to_be_started_is_looked_up_and_has_to_be_approved() {
    let empty = Case::empty(&[]);
    assert_eq!(
        Resolved::to_start(None, empty.environment())
            .unwrap()
            .map(|it| it.source),
        None
    );
    let project = Project::new(PLAIN);
    let environment = project.environment();
    let error = Resolved::to_start(None, &environment).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    let named = Resolved::to_start(Some(Path::new(FILE)), &environment);
    assert_eq!(named.unwrap().unwrap().toolboxes.len(), 1);
    project.approve();
    let found = Resolved::to_start(None, &environment).unwrap().unwrap();
    assert_eq!(found.toolboxes.len(), 1);
}

#[test]
fn a_named_file_is_trusted_and_needs_no_home() {
    let case = Case::new(PLAIN, &[]);
    let file = ConfigFile::read(Found::named(FILE), case.environment()).unwrap();
    assert_eq!(
        file.standing(case.environment()).unwrap(),
        Standing::Trusted
    );
    assert!(file.resolve_trusted(case.environment(), &()).is_ok());
    // A project's file needs a place for its approval.
    let found = find(None, case.environment()).unwrap().unwrap();
    let file = ConfigFile::read(found, case.environment()).unwrap();
    let error = file.resolve_trusted(case.environment(), &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[test]
fn approvals_of_several_configs_are_kept_apart() {
    let (one, two) = (Project::new(PLAIN), Project::new(PLAIN));
    let home = one.0.folder().join("home");
    let environment = |project: &Project| {
        Environment::from_pairs([("XDG_STATE_HOME", &home)]).with_current_dir(project.0.folder())
    };
    for project in [&one, &two] {
        let environment = environment(project);
        let file = project.file();
        assert_eq!(file.standing(&environment).unwrap(), Standing::New);
        file.approve(&environment).unwrap();
        file.approve(&environment).unwrap();
    }
    let store = TrustStore::of(&environment(&one)).unwrap();
    assert_eq!(store.path(), home.join("toolspan/trust.json"));
    let keys = [&one, &two].map(|project| project.file().key(&environment(project)).unwrap());
    assert_eq!(store.files().unwrap(), keys);
    assert!(store.revoke(Path::new(FILE), &environment(&one)).unwrap());
    assert!(!store.revoke(Path::new(FILE), &environment(&one)).unwrap());
    assert_eq!(store.files().unwrap(), keys[1..]);
}
