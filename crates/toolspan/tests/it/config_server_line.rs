//! Is a server given on the command line taken apart as its writer meant it?

use toolspan::config::Resolved;
use toolspan_core::ErrorKind;

use crate::config_case::server;

fn key_of(line: &str) -> String {
    let read = Resolved::from_server_lines(&[line]).expect("a good line");
    read.toolboxes.first().expect("one toolbox").key.clone()
}

#[test]
fn a_toolbox_is_named_after_its_program_or_package() {
    for (line, key) in [
        ("uvx mcp-server-time", "time"),
        ("uvx mcp-server-time@1.2 --local-timezone UTC", "time"),
        (
            "uvx --python 3.12 --from git+https://example.com/x mcp-server-git",
            "git",
        ),
        ("uvx 'mcp-server[cli]>=1'", "mcp-server"),
        ("uv tool run mcp-server-time", "time"),
        ("uv run --directory /srv server.py", "server"),
        (
            "npx -y @modelcontextprotocol/server-everything",
            "everything",
        ),
        (
            "npx -y @modelcontextprotocol/server-everything@2026.1.1 stdio",
            "everything",
        ),
        ("npx --package=a -y b@latest", "b"),
        ("bunx @a/b", "b"),
        ("pnpm dlx @a/b@1", "b"),
        ("pipx run --spec x==1 mcp-x", "x"),
        ("python -m mcp_server_fetch", "fetch"),
        ("/usr/bin/python3.12 -u -m mcp_server_fetch", "fetch"),
        ("python servers/my.server.py --x", "my_server"),
        ("node build/everything.js", "everything"),
        ("deno run -A main.ts", "main"),
        ("/opt/bin/my-server --flag", "my-server"),
        ("'./my server.sh'", "my_server"),
        ("npx -y chrome-devtools-mcp@1", "chrome-devtools"),
        ("npx @playwright/mcp", "mcp"),
        ("npx @notionhq/notion-mcp-server", "notion"),
        ("uvx", "uvx"),
        ("npx -y", "npx"),
        ("native", "native-server"),
        ("🦀", "server"),
    ] {
        assert_eq!(key_of(line), key, "{line}");
    }
    assert_eq!(key_of(&"x".repeat(300)).len(), 40);
}

#[test]
fn words_are_split_as_a_shell_would_and_nothing_is_filled_in() {
    let line = r#"A=1 B='2 3' prog "a b" 'c "d"' e\ f $HOME ${HOME} * ~ x=y"#;
    let read = Resolved::from_server_lines(&[line]).unwrap();
    let server = server(&read.toolboxes[0]);
    assert_eq!(server.command, "prog");
    assert_eq!(
        server.args,
        ["a b", "c \"d\"", "e f", "$HOME", "${HOME}", "*", "~", "x=y"]
    );
    let env = [("A", "1"), ("B", "2 3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(server.env, env);
}

#[test]
fn equal_names_are_told_apart_in_order() {
    let lines = ["uvx time", "npx time", "time-3", "/bin/time", "native"];
    let read = Resolved::from_server_lines(&lines).unwrap();
    let keys: Vec<&str> = read
        .toolboxes
        .iter()
        .map(|toolbox| toolbox.key.as_str())
        .collect();
    assert_eq!(
        keys,
        ["time", "time-2", "time-3", "time-4", "native-server"]
    );
}

#[test]
fn a_line_that_starts_nothing_is_a_usage_error_in_plain_words() {
    let mut all = String::new();
    for line in [
        "",
        "  ",
        "# comment",
        "A=1",
        "''",
        "prog 'open",
        "a | b",
        "a && b",
        "a > f",
        "a\0",
    ] {
        let error = Resolved::from_server_lines(&["good", line]).expect_err(line);
        assert_eq!(error.kind(), ErrorKind::Usage);
        let hint = error.hint().unwrap_or_default();
        all.push_str(&format!("{line:12?} {error}; {hint}\n"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn secrets_on_the_line_are_known_and_not_shown() {
    let line = "API_KEY=one-secret prog --token two-secret https://me:three-secret@host/";
    let read = Resolved::from_server_lines(&[line]).unwrap();
    let known: Vec<&str> = server(&read.toolboxes[0])
        .secrets
        .iter()
        .map(|secret| secret.reveal())
        .collect();
    assert_eq!(known.len(), 3);
    let shown = format!("{read:?} {}", read.to_json());
    assert!(
        known.iter().all(|secret| !shown.contains(secret)),
        "{shown}"
    );
}
