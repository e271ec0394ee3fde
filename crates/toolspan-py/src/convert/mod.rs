//! How do values cross between Python and JSON, and what is refused on the way?
//!
//! What comes from Python is bounded while it is read: nesting by `limits.json_depth`, size by
//! `limits.arguments_bytes`, and a value that contains itself is found where it first comes again.

mod arguments;
mod bounds;
mod refused;
mod to_json;
mod to_python;
mod tool_name;

pub(crate) use arguments::{arguments_within, not_wrapped};
pub(crate) use refused::Refused;
pub(crate) use to_json::{to_json, to_json_within};
pub(crate) use to_python::{to_dict, to_python};
pub(crate) use tool_name::ToolName;
