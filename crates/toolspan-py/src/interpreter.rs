//! Does this interpreter get the module?

use pyo3::exceptions::PyImportError;
use pyo3::{ffi, prelude::*};

/// # Errors
///
/// `ImportError` in any interpreter but the first: threads that come from outside, such as those of
/// this module, belong to the first one.
#[expect(
    unsafe_code,
    reason = "which interpreter this is, is said by no safe function"
)]
pub(crate) fn refuse_second(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: this thread is attached, as the token says, so that there is a current interpreter.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match number {
        0 => Ok(()),
        _ => Err(PyImportError::new_err(
            "toolspan works in the main interpreter alone, and this is a sub-interpreter",
        )),
    }
}
