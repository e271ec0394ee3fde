//! The Python module `toolspan._toolspan`: converts and delegates, and decides nothing.

mod awaitable;
mod callback;
mod connect;
mod content;
mod convert;
mod error;
mod exit;
mod forms;
mod host;
mod interpreter;
mod listener;
mod log_message;
mod native;
mod observation;
mod opened;
mod options;
mod progress;
mod queue;
mod running_loop;
mod shown;
mod tool;
mod wait;

use pyo3::prelude::*;

/// The compiled half of the package `toolspan`.
#[pymodule(name = "_toolspan")]
mod module {
    use super::*;

    #[pymodule_export]
    use crate::connect::{aconnect, connect};
    #[pymodule_export]
    use crate::content::{
        AudioContent, EmbeddedResource, ImageContent, OtherContent, ResourceLink, TextContent,
    };
    #[pymodule_export]
    use crate::error::last_words;
    #[pymodule_export]
    use crate::host::Host;
    #[pymodule_export]
    use crate::log_message::LogMessage;
    #[pymodule_export]
    use crate::native::{
        CallContext, Held, Job, Names, Passing, Question, Verdict, made_observation, tool_name,
    };
    #[pymodule_export]
    use crate::observation::Observation;
    #[pymodule_export]
    use crate::progress::Progress;
    #[pymodule_export]
    use crate::tool::Tool;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interpreter::refuse_second(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("Content", crate::content::union(module.py())?)?;
        let end = wrap_pyfunction!(crate::exit::end, module)?;
        PyModule::import(module.py(), "atexit")?.call_method1("register", (end,))?;
        Ok(())
    }
}
