//! How is foreign text shown in a `repr`?

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Characters of a text that are shown.
const LONGEST: usize = 60;

/// The `repr` of a text, cut after 60 characters.
pub(crate) fn text(py: Python<'_>, text: &str) -> PyResult<String> {
    let shown = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    };
    Ok(PyString::new(py, &shown).repr()?.to_string())
}
