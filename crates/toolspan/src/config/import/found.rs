//! Where in a program's file are its servers?

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::problem::Problem;
use super::super::selection::Selection;
use super::app::App;
use super::{claude_code, codex};

/// Servers of one file as its program wrote them.
#[derive(Default)]
pub(super) struct Found {
    /// In the order of the file; a key may be there twice, from different projects.
    pub(super) servers: Vec<FoundServer>,
    /// The questions that VS Code asks its user: `inputs`.
    pub(super) inputs: Vec<Value>,
}

/// One server as its program wrote it.
pub(super) struct FoundServer {
    pub(super) key: String,
    pub(super) entry: Value,
    /// The folder of the project that it is for, where the file says so.
    pub(super) project: Option<PathBuf>,
}

/// The servers of a file, which is known to be an object.
pub(super) fn servers(
    app: App,
    document: &Map<String, Value>,
    file: &Path,
) -> Result<Found, Problem> {
    let problem = |problem: Problem| problem.in_file(Some(file.to_owned()));
    let found = match app {
        App::ClaudeCode => claude_code::servers(document),
        App::Codex => codex::servers(document),
        App::VsCode => of_vscode(document),
        App::Gemini => of_gemini(document),
        App::ClaudeDesktop | App::Cursor | App::Windsurf => {
            members(document, "mcpServers").map(|servers| Found::of(servers, None))
        }
    };
    found.map_err(problem)
}

impl Found {
    /// The servers of one object.
    pub(super) fn of(servers: Option<&Map<String, Value>>, project: Option<&Path>) -> Self {
        let server = |(key, entry): (&String, &Value)| FoundServer {
            key: key.clone(),
            entry: entry.clone(),
            project: project.map(Path::to_owned),
        };
        Self {
            servers: servers.into_iter().flatten().map(server).collect(),
            inputs: Vec::new(),
        }
    }
}

/// The object with this key; none where it is absent or `null`.
pub(super) fn members<'a>(
    document: &'a Map<String, Value>,
    key: &str,
) -> Result<Option<&'a Map<String, Value>>, Problem> {
    match document.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(members)) => Ok(Some(members)),
        Some(_) => {
            let mut problem = Problem::new("this must be an object");
            key.clone_into(&mut problem.key_path);
            Err(problem)
        }
    }
}

/// `servers` and `inputs` of an `mcp.json`, or of `mcp` in a `settings.json`.
fn of_vscode(document: &Map<String, Value>) -> Result<Found, Problem> {
    let document = members(document, "mcp")?.unwrap_or(document);
    let servers = match members(document, "servers")? {
        Some(servers) => Some(servers),
        None => members(document, "mcpServers")?,
    };
    let mut found = Found::of(servers, None);
    if let Some(Value::Array(inputs)) = document.get("inputs") {
        found.inputs.clone_from(inputs);
    }
    Ok(found)
}

/// `mcpServers`; those that `mcp` leaves out are disabled.
fn of_gemini(document: &Map<String, Value>) -> Result<Found, Problem> {
    let mut found = Found::of(members(document, "mcpServers")?, None);
    let rules = members(document, "mcp")?;
    let selection = rules.map(Selection::of_json).unwrap_or_default();
    for server in &mut found.servers {
        let is_out = selection.leaves_out(&server.key);
        if let (true, Value::Object(entry)) = (is_out, &mut server.entry) {
            entry.insert("disabled".to_owned(), true.into());
        }
    }
    Ok(found)
}
