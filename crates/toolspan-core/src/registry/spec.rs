//! How does a config or an agent ask for a native tool?

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A tool that is asked for by a name that a [`ToolRegistry`](super::ToolRegistry) knows, and what
/// it is made with. `Debug` shows the names of the parameters alone.
///
/// As JSON: `{"name": "terminal", "params": {"working_dir": "."}}`, where `params` may be missing
/// or `null`. A blank name is an error; further members are ignored.
///
/// ```
/// use toolspan_core::registry::ToolSpec;
/// let spec: ToolSpec = serde_json::from_str(r#"{"name": "glob", "params": null}"#)?;
/// assert_eq!(spec, ToolSpec::new("glob", Default::default()));
/// assert!(serde_json::from_str::<ToolSpec>(r#"{"name": " "}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// A registered name, an alias of one, or the name of its class.
    pub name: String,
    /// What the tool is made with; empty when nothing is given.
    pub params: Map<String, Value>,
}

impl ToolSpec {
    /// A tool by this name, made with these parameters.
    pub fn new(name: impl Into<String>, params: Map<String, Value>) -> Self {
        Self {
            name: name.into(),
            params,
        }
    }
}

/// A tool by this name, made with no parameters.
impl From<&str> for ToolSpec {
    fn from(name: &str) -> Self {
        Self::new(name, Map::new())
    }
}

impl<'de> Deserialize<'de> for ToolSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Written {
            name: String,
            #[serde(default)]
            params: Option<Map<String, Value>>,
        }
        let written = Written::deserialize(deserializer)?;
        if written.name.trim().is_empty() {
            return Err(D::Error::custom("the name of the tool is blank"));
        }
        Ok(Self::new(written.name, written.params.unwrap_or_default()))
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.params.keys().map(String::as_str).collect();
        formatter
            .debug_struct("ToolSpec")
            .field("name", &self.name)
            .field("params", &names)
            .finish()
    }
}
