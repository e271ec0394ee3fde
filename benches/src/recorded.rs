//! What does it cost to make the recorded tools of real servers ready: validators, and every form?
//!
//! A round takes all of them once, from parsed JSON. Nothing is left over from the round before: a
//! definition lives as long as somebody holds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolspan::llm::{Api, Form};
use toolspan::registry::Source;
use toolspan::schema::Schema;
use toolspan::{
    BoxFuture, Context, Discovery, Observation, Snapshot, ToolDefinition, ToolExecutor,
    ToolboxTool, ValidCall,
};

use crate::failure::Failure;

/// How many tools there are: a row says it.
const TOOLS: usize = 478;

/// The APIs whose forms are made.
const APIS: [Api; 5] = [
    Api::OpenAi,
    Api::Responses,
    Api::Anthropic,
    Api::Gemini,
    Api::Mcp,
];

/// Where the lists are: one file for each server, `{"tools": [...]}` as it answers `tools/list`.
fn folder() -> Result<PathBuf, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../crates/toolspan-core/tests/fixtures/toollists");
    Ok(folder.canonicalize()?)
}

/// One recorded tool.
#[derive(Clone, Debug)]
struct Recorded {
    name: String,
    description: String,
    schema: Value,
}

/// The recorded tools by their servers.
#[derive(Debug)]
pub(crate) struct Lists(Vec<(Arc<str>, Vec<Recorded>)>);

impl Lists {
    /// Reads the files, in the order of their names.
    pub(crate) fn read() -> Result<Self, Failure> {
        let entries = std::fs::read_dir(folder()?)?;
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut paths = paths.map_err(|error: std::io::Error| error)?;
        paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
        paths.sort();
        let lists: Result<Vec<_>, Failure> = paths.iter().map(|path| list(path)).collect();
        Ok(Self(lists?))
    }

    /// What a program in Python is told: the folder, and how many tools there are.
    pub(crate) fn words() -> Result<Vec<String>, Failure> {
        let folder = folder()?.to_string_lossy().into_owned();
        Ok(vec![folder, TOOLS.to_string()])
    }

    /// Milliseconds to compile all validators and to make the tools in all forms.
    pub(crate) fn once(&self) -> Result<f64, Failure> {
        // A schema is taken, so that the copy is made before the time runs.
        let lists = self.0.clone();
        let began = Instant::now();
        let sources: Result<Vec<Source>, Failure> = lists.into_iter().map(source).collect();
        let snapshot = Snapshot::new(sources?);
        let forms = APIS.map(|api| snapshot.project(&Form::new(api)));
        let time = began.elapsed().as_secs_f64() * 1e3;
        let left_out: usize = forms.iter().map(|form| form.left_out.len()).sum();
        if snapshot.tools().len() == TOOLS && left_out == 0 {
            return Ok(time);
        }
        Err(Failure::WrongReply {
            who: "the recorded tools",
            reply: format!("{} tools, {left_out} left out", snapshot.tools().len()),
        })
    }
}

fn list(path: &Path) -> Result<(Arc<str>, Vec<Recorded>), Failure> {
    let list: Value = serde_json::from_str(&std::fs::read_to_string(path)?).map_err(unreadable)?;
    let tools = list.get("tools").and_then(Value::as_array);
    let server = path.file_stem().unwrap_or_default().to_string_lossy();
    let tools = tools.into_iter().flatten().map(|tool| {
        let text = |key| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        Recorded {
            name: text("name").to_owned(),
            description: text("description").to_owned(),
            schema: tool.get("inputSchema").cloned().unwrap_or_default(),
        }
    });
    Ok((server.into(), tools.collect()))
}

/// A server's tools, their validators compiled.
fn source((server, tools): (Arc<str>, Vec<Recorded>)) -> Result<Source, Failure> {
    let mut discovery = Discovery::default();
    for tool in tools {
        let schema = Schema::for_arguments(tool.schema).map_err(unreadable)?;
        schema.compile().map_err(unreadable)?;
        let definition = ToolDefinition::new(tool.name, tool.description, Arc::new(schema));
        let tool = ToolboxTool::new(Arc::new(definition), Arc::new(NeverCalled));
        discovery.tools.push(tool);
    }
    Ok(Source {
        toolbox: server,
        prefix: None,
        discovery,
    })
}

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::Unreadable(error.to_string())
}

/// What is behind the recorded tools.
struct NeverCalled;

impl ToolExecutor for NeverCalled {
    fn call<'a>(
        &'a self,
        _call: &'a ValidCall,
        _context: &'a Context,
    ) -> BoxFuture<'a, toolspan::Result<Observation>> {
        Box::pin(async { Ok(Observation::text_of("")) })
    }
}
