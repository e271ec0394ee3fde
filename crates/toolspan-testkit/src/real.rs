//! How does a test start a real MCP server?
//!
//! `cargo xtask setup` installs the servers into `.tools/` at the root of the workspace and
//! writes their launch lines to `.tools/servers.json`: one object, server name ->
//! `{"command": text, "args": [text]}`, all paths absolute. A test adds the arguments of its own
//! case, such as the folder that the file server may see.
//!
//! A server that is reached over HTTP has two more members: `"env"`, an object of texts, and
//! `"path"`, where it serves. `{port}` in an argument or a variable stands for its port. A test gets
//! it running from [`remote_server`].

mod listening;
mod remote;

pub use remote::{RunningServer, remote_server, remote_server_with};

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// How to start one real server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RealServer {
    /// The program, as an absolute path.
    pub command: PathBuf,
    /// Its first arguments; what a test adds comes behind them.
    pub args: Vec<String>,
    /// Its own variables, for a server that is reached over HTTP.
    env: Vec<(String, String)>,
    /// The path at which it serves HTTP, `/mcp` or `/sse`; none for a server of stdio.
    path: Option<String>,
}

/// Returns the launch line of a server that `cargo xtask setup` installed: `everything`,
/// `fastmcp`, `fetch`, `filesystem`, `git`, `memory`, `sequential-thinking`, `sqlite`, `time`.
///
/// Panics where setup has not run, or installs no server of this name: a real server that is not
/// there is no reason for a test to pass.
/// The servers over HTTP have launch lines, too: see [`remote_server`].
#[must_use]
pub fn real_server(name: &str) -> RealServer {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/servers.json");
    launch_line(&file, name).unwrap_or_else(|reason| {
        panic!("no real server \"{name}\": {reason}; run `cargo xtask setup`")
    })
}

fn launch_line(file: &Path, name: &str) -> Result<RealServer, String> {
    let text = fs::read_to_string(file)
        .map_err(|error| format!("{} could not be read ({error})", file.display()))?;
    let listed: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{} is no JSON ({error})", file.display()))?;
    let entry = listed
        .get(name)
        .ok_or_else(|| "no server has this name".to_owned())?;
    parse(entry).ok_or_else(|| "its launch line is not as documented".to_owned())
}

fn parse(entry: &Value) -> Option<RealServer> {
    let command = PathBuf::from(entry.get("command")?.as_str()?);
    let args = entry.get("args")?.as_array()?;
    let args = args
        .iter()
        .map(|argument| argument.as_str().map(str::to_owned));
    let env = entry.get("env").and_then(Value::as_object);
    let env = env.into_iter().flatten();
    let env = env.map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let path = entry.get("path").and_then(Value::as_str);
    Some(RealServer {
        command,
        args: args.collect::<Option<_>>()?,
        env: env.collect::<Option<_>>()?,
        path: path.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{launch_line, real_server};

    #[test]
    fn a_launch_line_is_read_by_its_servers_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("servers.json");
        fs::write(
            &file,
            r#"{"time": {"command": "/bin/time-server", "args": ["--utc"]}}"#,
        )
        .unwrap();

        let server = launch_line(&file, "time").unwrap();
        assert_eq!(server.command, PathBuf::from("/bin/time-server"));
        assert_eq!(server.args, ["--utc"]);

        let error = launch_line(&file, "clock").unwrap_err();
        assert_eq!(error, "no server has this name");
    }

    #[test]
    fn without_setup_the_missing_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = launch_line(&folder.path().join("servers.json"), "time").unwrap_err();
        assert!(error.contains("servers.json could not be read"), "{error}");
    }

    #[test]
    #[should_panic(expected = "run `cargo xtask setup`")]
    fn a_server_that_nobody_installs_fails_the_test_and_says_what_to_run() {
        drop(real_server("no such server"));
    }

    #[test]
    fn a_launch_line_of_another_shape_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("servers.json");
        fs::write(&file, r#"{"time": "time-server"}"#).unwrap();
        assert!(launch_line(&file, "time").is_err());
    }
}
