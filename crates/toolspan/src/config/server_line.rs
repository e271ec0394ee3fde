//! Which toolbox does a command line on the command line mean?

use std::path::Path;

use toolspan_core::name::{NATIVE, toolbox_prefix};
use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::stdio::StdioServer;
use super::toolbox::{ToolboxConfig, Transport};

/// Longest key made from a program's name, in characters.
const LONGEST_KEY: usize = 40;
/// Words that only a shell gives a meaning.
const SHELL_WORDS: &[&str] = &[
    "|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "&>",
];

/// One toolbox for each line, their keys all different.
pub(super) fn toolboxes<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<ToolboxConfig>> {
    let mut toolboxes: Vec<ToolboxConfig> = Vec::new();
    for line in lines {
        let server = server(line)?;
        let key = free_key(name(&server), &toolboxes);
        toolboxes.push(ToolboxConfig::new(key, Transport::Stdio(server)));
    }
    Ok(toolboxes)
}

/// The name as a key that none of the toolboxes has, with a number behind it where one has it.
pub(super) fn free_key(name: String, toolboxes: &[ToolboxConfig]) -> String {
    // There are fewer keys taken than numbers tried.
    (1..=toolboxes.len() + 1)
        .map(|number| match number {
            1 => name.clone(),
            _ => format!("{name}-{number}"),
        })
        .find(|key| toolboxes.iter().all(|toolbox| toolbox.key != *key))
        .unwrap_or(name)
}

/// The words of the line are not repeated in errors: there may be secrets among them.
fn server(line: &str) -> Result<StdioServer> {
    let usage = |message: &str| Error::new(ErrorKind::Usage, Phase::Config, message);
    if line.contains('\0') {
        return Err(usage(
            "there is a NUL character in the server's command line",
        ));
    }
    let words = shlex::split(line).ok_or_else(|| {
        usage("a quote in the server's command line has no end")
            .with_hint("close it, or put a backslash before it")
    })?;
    if words
        .iter()
        .any(|word| SHELL_WORDS.contains(&word.as_str()))
    {
        return Err(usage(
            "the server's command line uses a shell's operator, but no shell runs it",
        )
        .with_hint("give one program and its arguments, or write sh -c '…'"));
    }
    let mut words = words.into_iter().peekable();
    let mut env = Vec::new();
    while let Some(assignment) = words.next_if(|word| assignment(word).is_some()) {
        env.extend(self::assignment(&assignment));
    }
    match words.next().filter(|program| !program.is_empty()) {
        Some(program) => Ok(StdioServer::new(program)
            .with_args(words)
            .with_env(env)
            .with_secrets_by_name()),
        None => Err(usage("the server's command line names no program")
            .with_hint("write it as in --server \"uvx mcp-server-time\"")),
    }
}

/// `NAME=value`, as a shell takes it before a program.
fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// A toolbox's key from what is started: the package that a runner runs, else the program.
fn name(server: &StdioServer) -> String {
    let words: Vec<&str> = server.args.iter().map(String::as_str).collect();
    let program = stem(&server.command);
    let what = own_part(launched(program, &words).unwrap_or(program));
    let name: String = toolbox_prefix(what).chars().take(LONGEST_KEY).collect();
    let name = name.trim_matches(['_', '-']);
    match name {
        "" => "server".to_owned(),
        NATIVE => format!("{NATIVE}-server"),
        name => name.to_owned(),
    }
}

/// A name without what only says that it is an MCP server: `mcp-server-time` gives `time`.
fn own_part(name: &str) -> &str {
    const HEADS: [&str; 5] = ["mcp-server-", "mcp_server_", "server-", "mcp-", "mcp_"];
    const TAILS: [&str; 5] = ["-mcp-server", "_mcp_server", "-mcp", "_mcp", ".mcp"];
    let head = HEADS.iter().find_map(|head| name.strip_prefix(head));
    let tail = TAILS.iter().find_map(|tail| name.strip_suffix(tail));
    match head.or(tail) {
        // `mcp-server` itself says nothing else.
        Some(part) if !part.is_empty() && part != "server" => part,
        _ => name,
    }
}

/// What a runner launches, if the program is one that is known.
fn launched<'a>(program: &str, words: &[&'a str]) -> Option<&'a str> {
    let without = |count| words.get(count..).unwrap_or_default();
    match (program, words) {
        ("uvx" | "npx" | "bunx", words) => first_operand(words).map(package),
        ("pipx", ["run", ..]) | ("pnpm" | "yarn", ["dlx", ..]) | ("bun", ["x", ..]) => {
            first_operand(without(1)).map(package)
        }
        ("uv", ["tool", "run", ..]) => first_operand(without(2)).map(package),
        ("uv", ["run", ..]) => first_operand(without(1)).map(stem),
        ("node" | "bun" | "deno", words) => {
            first_operand(words.strip_prefix(&["run"]).unwrap_or(words)).map(stem)
        }
        (program, words) if program == "py" || program.starts_with("python") => python(words),
        _ => None,
    }
}

/// `-m MODULE` or the script.
fn python<'a>(words: &[&'a str]) -> Option<&'a str> {
    let module = words.iter().position(|word| *word == "-m");
    match module.and_then(|at| words.get(at + 1)) {
        Some(module) => Some(module),
        None => first_operand(words).map(stem),
    }
}

/// The first word that is neither an option nor the value of one.
fn first_operand<'a>(words: &[&'a str]) -> Option<&'a str> {
    /// Options of the known runners that take the next word.
    const WITH_VALUE: &[&str] = &[
        "--from",
        "--with",
        "--python",
        "-p",
        "--package",
        "--index",
        "--index-url",
        "-i",
        "--spec",
        "--directory",
        "--project",
        "--env-file",
        "-W",
        "-X",
        "-r",
        "--require",
        "--import",
    ];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// A package's name without scope, version and extras: `@a/server@1.2` and `server[x]==1` give
/// `server`. What is a path or an address gives its last part.
fn package(text: &str) -> &str {
    let last = text
        .rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or(text);
    let end = last
        .find(['@', '=', '[', '<', '>', '~', '!', '#'])
        .filter(|end| *end > 0);
    end.and_then(|end| last.get(..end)).unwrap_or(last)
}

/// A file's name without folder and extension.
pub(super) fn stem(path: &str) -> &str {
    Path::new(path)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or(path)
}
