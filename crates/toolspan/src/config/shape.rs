//! What are the tools of a toolbox for a model, where the config says something else than the server?

use std::fmt;

use serde_json::{Map, Value, json};
use toolspan_core::registry::{Shaping, ToolShape};

use super::field::{Field, Table};
use super::keys::{self, did_you_mean, nearest};
use super::problem::Problem;
use super::secrets::hide_members;

/// Most tools that one toolbox shapes.
const MOST: usize = 1_000;

/// What one tool is for a model. `Debug` shows the names of arguments and no value.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShapeConfig {
    /// The tool, by its server's own name.
    pub tool: String,
    /// Its name for a model; `None` for its own.
    pub name: Option<String>,
    /// What it does, in words for a model; `None` for its own.
    pub description: Option<String>,
    /// Arguments that a model does not see, with the values that every call has.
    pub hidden: Map<String, Value>,
    /// Arguments that a model may leave out, with the values that a call then has.
    pub defaults: Map<String, Value>,
}

impl ShapeConfig {
    fn to_shape(&self) -> ToolShape {
        let mut shape = ToolShape::new();
        if let Some(name) = &self.name {
            shape = shape.renamed(name);
        }
        if let Some(description) = &self.description {
            shape = shape.described(description);
        }
        for (argument, value) in &self.hidden {
            shape = shape.hiding(argument, value.clone());
        }
        for (argument, value) in &self.defaults {
            shape = shape.with_default(argument, value.clone());
        }
        shape
    }

    /// The tool and its shape as `config show` has them.
    pub(super) fn to_json(&self) -> (String, Value) {
        let shown = |arguments: &Map<String, Value>| hide_members(&arguments.clone().into());
        let shape = json!({
            "name": self.name,
            "description": self.description,
            "hidden": shown(&self.hidden),
            "defaults": shown(&self.defaults),
        });
        (self.tool.clone(), shape)
    }
}

impl fmt::Debug for ShapeConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |arguments: &Map<String, Value>| arguments.keys().cloned().collect::<Vec<_>>();
        formatter
            .debug_struct("ShapeConfig")
            .field("tool", &self.tool)
            .field("name", &self.name)
            .field("description", &self.description)
            .field("hidden", &names(&self.hidden))
            .field("defaults", &names(&self.defaults))
            .finish()
    }
}

/// All shapes of a toolbox together.
pub(crate) fn shaping(shapes: &[ShapeConfig]) -> Shaping {
    shapes.iter().fold(Shaping::new(), |shaping, shape| {
        shaping.tool(&shape.tool, shape.to_shape())
    })
}

/// Reads `shape` in the `tools` of a server: an object from tools to what they are.
pub(super) fn read(server: &Table<'_>) -> Result<Vec<ShapeConfig>, Problem> {
    let tools = server.get("tools").filter(|tools| !tools.is_list());
    let Some(field) = tools
        .map(|tools| tools.table())
        .transpose()?
        .and_then(|it| it.get("shape"))
    else {
        return Ok(Vec::new());
    };
    let entries = field.table()?;
    field.refuse_over(MOST, entries.len())?;
    let shapes = entries.entries().filter(|(_, shape)| !shape.is_null());
    shapes.map(|(tool, shape)| read_one(tool, &shape)).collect()
}

fn read_one(tool: &str, field: &Field<'_>) -> Result<ShapeConfig, Problem> {
    let table = field.table()?;
    // An argument that is not hidden because of a slip may show what nobody was to see.
    if let Some((key, unknown)) = table.entries().find(|(key, _)| !keys::SHAPE.contains(key)) {
        let problem = unknown.problem("this key is unknown");
        return Err(match nearest(key, keys::SHAPE.iter().copied()) {
            Some(near) => problem.with_hint(did_you_mean(near)),
            None => problem.with_hint(format!("the keys are {}", keys::SHAPE.join(", "))),
        });
    }
    let text = |key| match table.get(key) {
        Some(field) => field.text().map(|text| Some((text.to_owned(), field))),
        None => Ok(None),
    };
    let name = match text("name")? {
        Some((name, field)) if name.trim().is_empty() => {
            return Err(field.problem("the name of a tool cannot be blank"));
        }
        name => name.map(|(name, _)| name),
    };
    Ok(ShapeConfig {
        tool: tool.to_owned(),
        name,
        description: text("description")?.map(|(text, _)| text),
        hidden: arguments(&table, "hidden")?,
        defaults: arguments(&table, "defaults")?,
    })
}

fn arguments(table: &Table<'_>, key: &str) -> Result<Map<String, Value>, Problem> {
    let Some(field) = table.get(key) else {
        return Ok(Map::new());
    };
    match field.to_json()? {
        Value::Object(members) => Ok(members),
        _ => Err(field.wrong_type("an object")),
    }
}
