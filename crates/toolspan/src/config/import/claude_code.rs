//! Where in Claude Code's files are its servers?

use std::path::Path;

use serde_json::{Map, Value};

use super::super::problem::{Problem, member_path};
use super::found::{Found, members};

/// The servers of the user, and those that the user has for single projects: `projects` has the
/// folder of each as its key. A project's own `.mcp.json` has `mcpServers` alone.
pub(super) fn servers(document: &Map<String, Value>) -> Result<Found, Problem> {
    let mut found = Found::of(members(document, "mcpServers")?, None);
    for (folder, project) in members(document, "projects")?.into_iter().flatten() {
        // Whatever else stands here is the program's own business.
        let Value::Object(project) = project else {
            continue;
        };
        let servers = members(project, "mcpServers").map_err(|mut problem| {
            let path = member_path("projects", folder);
            problem.key_path = member_path(&path, "mcpServers");
            problem
        })?;
        let of_project = Found::of(servers, Some(Path::new(folder)));
        found.servers.extend(of_project.servers);
    }
    Ok(found)
}
