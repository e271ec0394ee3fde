//! Is a config file found, and does a bad one fail at once with its place?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toolspan::config::{Environment, Found, Origin, Resolved, find};
use toolspan_core::{ErrorKind, Phase};

use crate::config_case::{Case, FILE, report, resolved, server, write_own};

/// C1: what is in a file that is empty, odd or broken.
#[test]
fn each_odd_text_is_read_or_refused_with_its_place() {
    let server = r#"{"command": "a"}"#;
    let whole = format!(r#"{{"mcpServers": {{"a": {server}}}}}"#);
    let cases: &[(&str, Vec<u8>)] = &[
        ("empty", vec![]),
        ("white space and a comment", b" \n// nothing\n".to_vec()),
        ("null", b"null".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("a list", b"\n  []".to_vec()),
        ("a string", b"\"mcpServers\"".to_vec()),
        (
            "a byte order mark",
            [b"\xef\xbb\xbf", whole.as_bytes()].concat(),
        ),
        (
            "comments",
            format!("// a \"[\n/* b\n{{ */ {whole} // end").into_bytes(),
        ),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        (
            "a byte that is no UTF-8",
            b"{\n  \"a\": \"\xc3\xa9\xff\"}".to_vec(),
        ),
        (
            "a comma at the end of an object",
            b"{\n  \"mcpServers\": {},\n}".to_vec(),
        ),
        (
            "a comma at the end of a list",
            b"{\"tools\": [\n  {\"name\": \"a\"},\n]}".to_vec(),
        ),
        ("two commas", b"{\"tools\": [1,, 2]}".to_vec()),
        ("no comma", b"{\"a\": 1\n \"b\": 2}".to_vec()),
        ("no colon", b"{\"a\" 1}".to_vec()),
        ("no value", b"{\"a\":}".to_vec()),
        ("no quotes", b"{a: 1}".to_vec()),
        ("single quotes", b"{'a': 1}".to_vec()),
        ("a word", b"{\"a\": yes}".to_vec()),
        ("a hexadecimal number", b"{\"a\": 0x10}".to_vec()),
        ("no number", b"{\"a\": NaN}".to_vec()),
        ("an object without end", b"{\"a\": {\n".to_vec()),
        ("a list without end", b"{\"a\": [1\n".to_vec()),
        ("a comment without end", b"{} /* a".to_vec()),
        ("a string without end", b"{\"a\": \"b}".to_vec()),
        (
            "a string over two lines",
            b"{\"a\": \"b,\n \"c\": 1}".to_vec(),
        ),
        ("a Windows path", b"{\"a\": \"C:\\Users\"}".to_vec()),
        ("half a character", b"{\"a\": \"\\ud800\"}".to_vec()),
        ("two values", b"{} {}".to_vec()),
        (
            "64 levels",
            format!("{{\"a\": {}{}}}", "[".repeat(63), "]".repeat(63)).into_bytes(),
        ),
        (
            "65 levels",
            format!("{{\"a\": {}{}}}", "[".repeat(64), "]".repeat(64)).into_bytes(),
        ),
        ("a million levels", b"[".repeat(1_000_000)),
        (
            "a million levels in disguise",
            [b"// \"\n", b"[".repeat(1_000_000).as_slice()].concat(),
        ),
    ];
    let mut all = String::new();
    for (name, content) in cases {
        writeln!(all, "# {name}\n{}", Case::new(content, &[]).report()).expect("a string");
    }
    insta::assert_snapshot!(all);
}

/// C13: which one of two counts would depend on the reader.
#[test]
fn a_file_of_toml_is_told_how_it_is_taken_over() {
    let case = Case::empty(&[]);
    let file = case.folder().join("config.toml");
    write_own(&file, "[mcp_servers.time]\ncommand = \"a\"\n");
    let error = Resolved::from_file(&file, case.environment()).expect_err("TOML");
    let message = error.message();
    assert!(
        message.ends_with(": this is TOML, and a config is JSON"),
        "{message}"
    );
    let hint = error.hint().expect("a next step");
    assert!(hint.contains("toolspan config import codex"), "{hint}");
}

#[test]
fn a_key_that_stands_twice_in_one_object_is_an_error_with_both_lines() {
    let mut all = String::new();
    for content in [
        "{\"mcpServers\": {\n \"time\": {\"command\": \"a\"},\n \"time\": {\"command\": \"b\"}}}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "{\"tools\": [{\"name\": \"a\"}, {\"params\": {\n\"b c\": {\"d\": 1,\n\n\"d\": 2}}}]}",
        "{\"a\": 1, \"\\u0061\": 2}",
    ] {
        writeln!(all, "{}", Case::new(content, &[]).report()).expect("a string");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn an_error_says_kind_phase_and_hint() {
    let error = Case::new("{,}", &[]).read().expect_err("broken");
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Config, Phase::Config)
    );
    let missing = Case::empty(&[]).read().expect_err("missing");
    assert_eq!(missing.to_string(), "toolspan.json: there is no such file");
}

/// C15: only a regular file of at most 4 MiB is read.
#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_refused_and_never_waited_for() {
    let refused = |prepare: &dyn Fn(&Path)| {
        let case = Case::empty(&[]);
        prepare(&case.folder().join(FILE));
        case.read().expect_err("no config").to_string()
    };
    let folder = refused(&|path| std::fs::create_dir(path).expect("a folder"));
    assert_eq!(folder, "toolspan.json: this is a folder, not a file");
    let no_file = "toolspan.json: this is not a regular file, so it is not read";
    assert_eq!(refused(&|path| symlink("/dev/zero", path)), no_file);
    let socket = refused(&|path| drop(std::os::unix::net::UnixListener::bind(path)));
    assert_eq!(socket, no_file);
    let looped = refused(&|path| symlink(FILE, path));
    assert!(
        looped.starts_with("toolspan.json: the file cannot be read: "),
        "{looped}"
    );
    let huge = refused(&|path| {
        std::fs::File::create(path)
            .and_then(|file| file.set_len(1 << 30))
            .expect("a sparse file");
    });
    assert_eq!(huge, "toolspan.json: the config is larger than 4 MiB");
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_without_writer_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let case = Case::empty(&[]);
    let path = case.folder().join(FILE);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let error = case.read().expect_err("no config");
    assert_eq!(
        error.to_string(),
        "toolspan.json: this is not a regular file, so it is not read"
    );
}

#[cfg(unix)]
fn symlink(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).expect("a link");
}

#[test]
fn four_mebibytes_are_read_and_one_byte_more_is_not() {
    let largest = 4 << 20;
    assert!(Case::new(vec![b' '; largest], &[]).read().is_ok());
    let error = Case::new(vec![b' '; largest + 1], &[])
        .read()
        .expect_err("too large");
    assert_eq!(
        error.to_string(),
        "toolspan.json: the config is larger than 4 MiB"
    );
}

#[test]
fn the_file_named_first_wins_and_the_user_file_only_counts_if_it_is_there() {
    let case = Case::empty(&[]);
    let user = case.folder().join("toolspan").join(FILE);
    let config_home = case.folder().to_str().expect("a plain path");
    let both =
        Environment::from_pairs([("XDG_CONFIG_HOME", config_home), ("TOOLSPAN_CONFIG", "b")]);
    let home = Environment::from_pairs([("XDG_CONFIG_HOME", config_home), ("TOOLSPAN_CONFIG", "")]);
    let named = find(Some(Path::new("a")), &both).unwrap();
    assert_eq!(named, Some(Found::named("a")));
    assert_eq!(found(&both), Some(("b".into(), Origin::Variable)));
    assert_eq!(found(&home), None);
    std::fs::create_dir(case.folder().join("toolspan")).unwrap();
    std::fs::write(&user, "{}").unwrap();
    assert_eq!(found(&home), Some((user, Origin::User)));
}

/// What is found when nothing is named.
fn found(environment: &Environment) -> Option<(PathBuf, Origin)> {
    let found = find(None, environment).unwrap();
    found.map(|found| (found.path, found.origin))
}

#[test]
fn the_user_folder_is_dot_config_when_nothing_else_is_said() {
    let case = Case::empty(&[]);
    let folder = case.folder().join(".config/toolspan");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(FILE), "{}").unwrap();
    let home = case.folder().to_str().expect("a plain path");
    for config_home in ["", "relative/path"] {
        let environment =
            Environment::from_pairs([("HOME", home), ("XDG_CONFIG_HOME", config_home)]);
        assert_eq!(found(&environment), Some((folder.join(FILE), Origin::User)));
    }
}

#[test]
fn a_project_s_file_comes_before_the_user_s_and_is_known_as_one() {
    let case = Case::empty(&[]);
    let folder = case.folder();
    let user = folder.join("home/toolspan");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join(FILE), "{}").unwrap();
    let config_home = folder.join("home");
    let environment = |variable: &str| {
        let config_home = config_home.to_str().expect("a plain path");
        let pairs = [
            ("XDG_CONFIG_HOME", config_home),
            ("TOOLSPAN_CONFIG", variable),
        ];
        Environment::from_pairs(pairs).with_current_dir(folder)
    };
    let of_user = Some((user.join(FILE), Origin::User));
    assert_eq!(found(&environment("")), of_user);
    std::fs::write(folder.join(".mcp.json"), "{}").unwrap();
    let project = |name: &str| Some((PathBuf::from(name), Origin::Project));
    assert_eq!(found(&environment("")), project(".mcp.json"));
    // A link to nowhere is there, too: nothing is passed over in silence.
    symlink("nowhere", &folder.join(FILE));
    assert_eq!(found(&environment("")), project(FILE));
    assert_eq!(
        found(&environment("b")),
        Some(("b".into(), Origin::Variable))
    );
    // In its own folder the user's file is the user's.
    let inside = environment("").with_current_dir(&user);
    assert_eq!(found(&inside), of_user);
}

#[test]
fn an_empty_path_is_a_usage_error() {
    let error = find(Some(Path::new("")), &Environment::default()).expect_err("no path");
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn a_value_is_read_like_a_file_but_without_lines() {
    let value = serde_json::json!({
        "mcpServers": {"a": {"command": "a", "timeout": 5}, "b": {"command": 1, "comand": 2}},
    });
    let environment = Environment::from_pairs([("A", "a")]).with_current_dir("/somewhere");
    let resolved = Resolved::from_value(&value, &environment).unwrap();
    assert_eq!(resolved.toolboxes.len(), 2);
    assert_eq!(resolved.source, None);
    insta::assert_snapshot!(report(&Ok(resolved)), @r#"
    disabled: mcpServers.b.command: this must be a string, not a number
     warning: mcpServers.b.comand: this key is unknown and has no effect; did you mean "command"?
    "#);
    let deep = (0..100).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
    let error = Resolved::from_value(&deep, &environment).expect_err("too deep");
    assert_eq!(
        error.to_string(),
        "lists and objects are nested deeper than 64 levels"
    );
}

#[test]
fn relative_directories_start_from_the_folder_of_the_file() {
    let case = Case::empty(&[("DIR", "data")]);
    let folder = case.folder().join("sub");
    std::fs::create_dir(&folder).unwrap();
    let content = r#"{"mcpServers": {
        "a": {"command": "a", "cwd": "${DIR}/x"}, "b": {"command": "b", "cwd": "/abs"},
        "c": {"command": "c"}, "d": {"command": "d", "cwd": "~/x"}}}"#;
    std::fs::write(folder.join(FILE), content).unwrap();
    let read = Resolved::from_file(Path::new("sub/toolspan.json"), case.environment()).unwrap();
    let cwds: Vec<_> = read
        .toolboxes
        .iter()
        .map(|toolbox| server(toolbox).cwd.clone())
        .collect();
    let under = |path| Some(folder.join(path));
    assert_eq!(
        cwds,
        [under("data/x"), Some("/abs".into()), None, under("~/x")]
    );
    assert_eq!(read.source, Some("sub/toolspan.json".into()));
}

#[test]
fn a_program_that_is_a_path_starts_from_the_folder_of_the_file() {
    let case = Case::empty(&[]);
    let folder = case.folder().join("sub");
    std::fs::create_dir(&folder).unwrap();
    let content = r#"{"mcpServers": {
        "a": {"command": "./run", "cwd": "x"}, "b": {"command": "../b/run"}, "c": {"command": "run"},
        "d": {"command": "/bin/run"}, "e": {"command": "my programs/run"}}}"#;
    std::fs::write(folder.join(FILE), content).unwrap();
    std::fs::create_dir(folder.join("my programs")).unwrap();
    std::fs::write(folder.join("my programs/run"), "").unwrap();
    let read = Resolved::from_file(Path::new("sub/toolspan.json"), case.environment()).unwrap();
    let commands = read.toolboxes.iter().map(|it| server(it).command.clone());
    let under = |path| folder.join(path).to_str().unwrap().to_owned();
    assert_eq!(
        commands.collect::<Vec<_>>(),
        [
            under("run"),
            under("../b/run"),
            "run".to_owned(),
            "/bin/run".to_owned(),
            under("my programs/run"),
        ]
    );
}

#[test]
fn the_environment_of_the_process_is_captured_and_not_shown() {
    let environment = Environment::capture();
    #[expect(clippy::disallowed_methods, reason = "what the snapshot must hold")]
    let current_dir = std::env::current_dir().ok();
    assert_eq!(environment.current_dir(), current_dir.as_deref());
    let path = environment
        .variable("PATH")
        .and_then(|path| path.to_str())
        .expect("a PATH");
    assert!(!format!("{environment:?}").contains(path));
}

#[test]
fn no_text_brings_the_reader_down() {
    use proptest::prelude::*;
    let example = r#"{"mcpServers": {"a": {"command": "x", "args": ["${A:-é}", "$$"], "env": {"B": "c"},
        "timeout": "30", "tools": {"include": ["a*", "{b,[c]}"]}}}, // note
        "tools": [{"name": "t", "params": {"p": [1.5e3, null, true]}}], "limits": {"tools": 5}}"#;
    let case = Case::empty(&[("A", "a")]);
    let mutated = (0..example.len(), 0..8_usize, ".{0,6}").prop_map(|(at, cut, insert)| {
        let mut bytes = example.as_bytes().to_vec();
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, insert.into_bytes());
        bytes
    });
    let noise = r#"([{}\[\],:"/*\\ \n$é0-9a-z'-]|null|"a":){0,40}"#.prop_map(String::into_bytes);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    };
    proptest!(config, |(text in prop_oneof![mutated, noise])| {
        std::fs::write(case.folder().join(FILE), &text).unwrap();
        if let Ok(resolved) = case.read() {
            resolved.to_json();
        }
    });
    assert_eq!(resolved(example).toolboxes.len(), 1);
}
