//! Which registered name does a spec mean? Core decides; what is behind a name is Python's.

#![expect(
    clippy::too_many_arguments,
    reason = "pyo3 writes the functions that read the parameters of Python's"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use serde_json::{Map, Value};
use toolspan::registry::{Registration, ToolRegistry, ToolSpec};
use toolspan::tool::{ConversationState, ToolFailure};
use toolspan::{ToolboxTool, name};

use crate::error;

/// The names of the tools that Python code registered, and their aliases.
#[pyclass(frozen, module = "toolspan._toolspan", name = "_Names")]
#[derive(Default)]
pub(crate) struct Names(Mutex<ToolRegistry>);

impl Names {
    /// Whether a spec by this name finds something.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.lock().find(wanted).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, ToolRegistry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Names {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Registers a name, and the name of its class. Gives the names that it takes the place of.
    fn register(
        &self,
        py: Python<'_>,
        name: &str,
        class_name: Option<&str>,
        replace: bool,
    ) -> PyResult<Vec<String>> {
        // Never asked for a tool: Python makes those by itself.
        let make = |_: Map<String, Value>, _: &ConversationState| -> Result<Vec<ToolboxTool>, _> {
            Err(ToolFailure::new("it is made by Python"))
        };
        let registration = Registration::factory(name, make);
        let registration = match class_name {
            Some(class_name) => registration.with_class_name(class_name),
            None => registration,
        };
        let mut names = self.lock();
        let before = owned(names.list_registered());
        let registered = match replace {
            true => names.replace(registration).map(drop),
            false => names.register(registration),
        };
        let after = owned(names.list_registered());
        drop(names);
        registered.map_err(|failure| error::raised(py, failure))?;
        let is_gone = |known: &String| known == name || !after.contains(known);
        Ok(before.into_iter().filter(is_gone).collect())
    }

    /// Forgets a registered name. Gives whether there was one.
    fn unregister(&self, name: &str) -> bool {
        self.lock().unregister(name)
    }

    /// All registered names, in order.
    fn names(&self) -> Vec<String> {
        owned(self.lock().list_registered())
    }

    /// The registered name that a name, an alias or the name of a class means.
    fn find(&self, py: Python<'_>, wanted: &str) -> PyResult<String> {
        let names = self.lock();
        if let Some(found) = names.find(wanted) {
            return Ok(found.name().to_owned());
        }
        let spec = ToolSpec::new(wanted, Map::new());
        let refused = names.resolve(&spec, &ConversationState::none());
        drop(names);
        match refused {
            Ok(_) => Ok(wanted.to_owned()),
            Err(failure) => Err(error::raised(py, failure)),
        }
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// The name of the tool that a class is: TerminalTool is terminal.
#[pyfunction]
#[pyo3(name = "_tool_name")]
pub(crate) fn tool_name(class_name: &str) -> String {
    name::from_type(class_name)
}
