//! The Python module `toolspan._toolspan`: converts and delegates, and decides nothing.

use pyo3::prelude::*;

/// The compiled half of the package `toolspan`.
#[pymodule(name = "_toolspan")]
mod module {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
