//! The Python module `toolspan._toolspan`: converts and delegates, and decides nothing.

mod content;
mod convert;
mod error;
mod log_message;
mod observation;
mod progress;
mod shown;
mod tool;

use pyo3::prelude::*;

/// The compiled half of the package `toolspan`.
#[pymodule(name = "_toolspan")]
mod module {
    use super::*;

    #[pymodule_export]
    use crate::content::{
        AudioContent, EmbeddedResource, ImageContent, OtherContent, ResourceLink, TextContent,
    };
    #[pymodule_export]
    use crate::log_message::LogMessage;
    #[pymodule_export]
    use crate::observation::Observation;
    #[pymodule_export]
    use crate::progress::Progress;
    #[pymodule_export]
    use crate::tool::Tool;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
