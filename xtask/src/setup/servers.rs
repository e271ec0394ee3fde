//! How does a test learn to start a real server?
//!
//! `.tools/servers.json` is one object: the server's name, then `{"command", "args"}`, both with
//! absolute paths where they name files. A test adds the arguments of its own case, such as the
//! folder a file server may see. `toolspan_testkit::real` reads it.

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

/// Server name and its script, run by Node.js.
const NODE: [(&str, &str); 4] = [
    ("everything", "node/node_modules/.bin/mcp-server-everything"),
    ("filesystem", "node/node_modules/.bin/mcp-server-filesystem"),
    ("memory", "node/node_modules/.bin/mcp-server-memory"),
    (
        "sequential-thinking",
        "node/node_modules/.bin/mcp-server-sequential-thinking",
    ),
];

/// Our own script, run by the real FastMCP package.
const FASTMCP: &str = "tests-env/python/fastmcp_server.py";

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
    Ok(listed)
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
        touch(&workspace.path(super::FASTMCP));

        let listed = launch_lines(&workspace, Path::new("/usr/bin/node")).unwrap();
        assert_eq!(listed.len(), 9);
        let everything = &listed["everything"];
        assert_eq!(everything["command"], "/usr/bin/node");
        let script = everything["args"][0].as_str().unwrap();
        assert!(Path::new(script).is_absolute() && Path::new(script).exists());
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
