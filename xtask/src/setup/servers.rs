//! How does a test learn to start a real server?
//!
//! `.tools/servers.json` is one object: the server's name, then `{"command", "args"}`, both with
//! absolute paths where they name files. A test adds the arguments of its own case, such as the
//! folder a file server may see. A server over HTTP has two more members: `"env"`, and the `"path"`
//! at which it serves; `{port}` stands for its port. `toolspan_testkit::real` reads it.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::node;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// The file's name in `.tools/`.
const FILE: &str = "servers.json";

/// Server name and its program in the Python environment.
const PYTHON: [(&str, &str); 4] = [
    ("fetch", "python/bin/mcp-server-fetch"),
    ("git", "python/bin/mcp-server-git"),
    ("time", "python/bin/mcp-server-time"),
    ("sqlite", "python-sqlite/bin/mcp-server-sqlite"),
];

/// The script of the reference server, which serves in three ways.
const EVERYTHING: &str = "node/node_modules/.bin/mcp-server-everything";

/// Server name and its script, run by Node.js.
const NODE: [(&str, &str); 4] = [
    ("everything", EVERYTHING),
    ("filesystem", "node/node_modules/.bin/mcp-server-filesystem"),
    ("memory", "node/node_modules/.bin/mcp-server-memory"),
    (
        "sequential-thinking",
        "node/node_modules/.bin/mcp-server-sequential-thinking",
    ),
];

/// Our own script, run by the real FastMCP package.
const FASTMCP: &str = "tests-env/python/fastmcp_server.py";

/// Our own script, run by the older official SDK in the environment of the SQLite server.
const MCP_SDK: &str = "tests-env/python/mcp_sdk_server.py";

/// The word for the port in arguments and variables, which the one who starts it fills in.
const PORT: &str = "{port}";

/// Writes the launch line of every real server.
pub(super) fn write(workspace: &Workspace) -> Result<(), Failure> {
    let path = workspace.tools().join(FILE);
    let listed = launch_lines(workspace, &node::program()?)?;
    let text = format!("{:#}\n", Value::Object(listed));
    fs::write(&path, text).map_err(Failure::file(&path))
}

fn launch_lines(workspace: &Workspace, node: &Path) -> Result<Map<String, Value>, Failure> {
    let tools = workspace.tools();
    let mut listed = Map::new();
    for (name, program) in PYTHON {
        let program = existing(tools.join(program))?;
        listed.insert(name.to_owned(), json!({"command": program, "args": []}));
    }
    for (name, script) in NODE {
        let script = existing(tools.join(script))?;
        listed.insert(name.to_owned(), json!({"command": node, "args": [script]}));
    }
    let python = existing(tools.join("python/bin/python"))?;
    let script = existing(workspace.path(FASTMCP))?;
    listed.insert(
        "fastmcp".to_owned(),
        json!({"command": python, "args": [script]}),
    );
    listed.extend(remote_launch_lines(workspace, node)?);
    Ok(listed)
}

/// The servers that are reached over HTTP.
fn remote_launch_lines(workspace: &Workspace, node: &Path) -> Result<Map<String, Value>, Failure> {
    let everything = existing(workspace.tools().join(EVERYTHING))?;
    let python = existing(workspace.tools().join("python/bin/python"))?;
    let older = existing(workspace.tools().join("python-sqlite/bin/python"))?;
    let fastmcp = existing(workspace.path(FASTMCP))?;
    let sdk = existing(workspace.path(MCP_SDK))?;
    let by_variable = |mode: &str, path: &str| json!({"command": node, "args": [everything, mode], "env": {"PORT": PORT}, "path": path});
    let by_option = |option: &str, path: &str| json!({"command": python, "args": [fastmcp, option, PORT], "env": {}, "path": path});
    let older = |options: &[&str]| {
        let mut args = vec![json!(sdk), json!(PORT)];
        args.extend(options.iter().map(|option| json!(option)));
        json!({"command": older, "args": args, "env": {}, "path": "/mcp"})
    };
    let listed = [
        ("everything-http", by_variable("streamableHttp", "/mcp")),
        ("everything-sse", by_variable("sse", "/sse")),
        ("fastmcp-http", by_option("--http", "/mcp")),
        ("fastmcp-sse", by_option("--sse", "/sse")),
        ("mcp-sdk-http", older(&[])),
        ("mcp-sdk-http-json", older(&["--json"])),
        ("mcp-sdk-http-stateless", older(&["--stateless"])),
    ];
    let listed = listed.into_iter();
    Ok(listed.map(|(name, line)| (name.to_owned(), line)).collect())
}

/// A launch line with a dead path would fail far from its cause.
fn existing(path: std::path::PathBuf) -> Result<std::path::PathBuf, Failure> {
    if path.exists() {
        return Ok(path);
    }
    Err(Failure::Unexpected {
        what: format!(
            "{} is missing although its package is installed: remove .tools/ and run \
             `cargo xtask setup` again",
            path.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{NODE, PYTHON, launch_lines};
    use crate::workspace::Workspace;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn every_server_has_a_launch_line_with_paths_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path().to_owned());
        for (_, program) in PYTHON.into_iter().chain(NODE) {
            touch(&workspace.tools().join(program));
        }
        touch(&workspace.tools().join("python/bin/python"));
        touch(&workspace.tools().join("python-sqlite/bin/python"));
        touch(&workspace.path(super::FASTMCP));
        touch(&workspace.path(super::MCP_SDK));

        let listed = launch_lines(&workspace, Path::new("/usr/bin/node")).unwrap();
        assert_eq!(listed.len(), 16);
        let everything = &listed["everything"];
        assert_eq!(everything["command"], "/usr/bin/node");
        let script = everything["args"][0].as_str().unwrap();
        assert!(Path::new(script).is_absolute() && Path::new(script).exists());
        let remote = &listed["fastmcp-sse"];
        assert_eq!(remote["args"][1], "--sse");
        assert_eq!(
            (&remote["args"][2], &remote["path"]),
            (&"{port}".into(), &"/sse".into())
        );
    }

    #[test]
    fn a_program_that_was_not_installed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path().to_owned());
        let failure = launch_lines(&workspace, Path::new("/usr/bin/node")).unwrap_err();
        assert!(
            failure.to_string().contains("mcp-server-fetch"),
            "{failure}"
        );
    }
}
