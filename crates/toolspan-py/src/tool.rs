//! What is a caller told of a tool?

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use toolspan::guard::limits::Limits;
use toolspan::schema::{Schema, signature};
use toolspan::{RegisteredTool, ToolDefinition};

use crate::convert::{arguments_within, to_dict, to_python};
use crate::error;
use crate::exit::Frame;

/// A tool as a host knows it: a description that keeps no server running.
#[pyclass(frozen, module = "toolspan")]
pub(crate) struct Tool {
    name: Arc<str>,
    toolbox: Arc<str>,
    definition: Arc<ToolDefinition>,
    limits: Limits,
}

impl Tool {
    /// The face of a tool whose arguments are bounded by these limits.
    pub(crate) fn new(tool: &RegisteredTool, limits: &Limits) -> Self {
        Self {
            name: Arc::clone(&tool.name),
            toolbox: Arc::clone(&tool.toolbox),
            definition: Arc::clone(&tool.definition),
            limits: limits.clone(),
        }
    }

    fn hints(&self) -> Value {
        serde_json::to_value(&self.definition.annotations).unwrap_or_default()
    }
}

#[pymethods]
impl Tool {
    /// The name to call it by, unique in its host.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The toolbox it belongs to, as the config writes its key.
    #[getter]
    fn toolbox(&self) -> &str {
        &self.toolbox
    }

    /// The server's own name for it.
    #[getter]
    fn original_name(&self) -> &str {
        &self.definition.name
    }

    /// A name for people; the original name where the server gave none.
    #[getter]
    fn title(&self) -> &str {
        self.definition.title()
    }

    /// What it does, in words for a model; empty where the server gave none.
    #[getter]
    fn description(&self) -> &str {
        &self.definition.description
    }

    /// The JSON Schema of its arguments, as its author wrote it.
    #[getter]
    fn input_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        schema_dict(py, &self.definition.input)
    }

    /// The JSON Schema of its structured result, as its author wrote it; None where there is none.
    #[getter]
    fn output_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let schema = self.definition.output.as_ref();
        schema.map(|schema| schema_dict(py, schema)).transpose()
    }

    /// What the server says of its effects, such as {"readOnlyHint": True}; empty where it says
    /// nothing. It proves nothing.
    #[getter]
    fn annotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.hints() {
            Value::Null => Ok(PyDict::new(py).into_any()),
            hints => to_python(py, &hints),
        }
    }

    /// Its arguments in one line, such as (timezone: string, format?: "a" | "b").
    #[getter]
    fn signature(&self) -> String {
        signature(&self.definition.input)
    }

    /// Checks arguments against the input schema and calls nothing.
    ///
    /// Raises InvalidArguments where they do not match it, as a call would, and SchemaRejected where
    /// the schema itself cannot be used.
    #[pyo3(signature = (args=None, /, **arguments))]
    fn validate(
        &self,
        py: Python<'_>,
        args: Option<&Bound<'_, PyAny>>,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let frame = Frame::enter(py)?;
        let here = |error: toolspan::Error| error.in_toolbox(&self.toolbox).in_tool(&self.name);
        let arguments = arguments_within(args, arguments, &self.limits)
            .map_err(|refused| refused.map(here).raised(py))?;
        // The first check of a tool compiles its schema, and another thread may be doing that.
        let check = || self.definition.check_arguments(arguments, &self.limits);
        frame
            .detach(py, check)
            .map_err(|failed| error::raised(py, here(failed)))
    }

    /// The members that the command line prints for a tool as JSON.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let members = self.definition.to_json(&self.name, &self.toolbox);
        to_python(py, &members)
    }

    fn __repr__(&self) -> String {
        format!("<Tool {} of {:?}>", self.name, self.toolbox)
    }
}

/// A schema as a dict. `true` and `false` are schemas too, and become the dicts that mean the same.
fn schema_dict<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyDict>> {
    let dict = match schema.raw() {
        Value::Object(members) => return to_dict(py, members),
        Value::Bool(false) => json!({"not": {}}),
        _ => json!({}),
    };
    Ok(to_python(py, &dict)?.cast_into()?)
}
