//! The answer to `initialize`: which revision, and who the server is.

use serde_json::Value;
use serde_json::value::RawValue;

use super::version::Version;

/// What the handshake told (MCP 2025-11-25, `InitializeResult`).
#[derive(Debug)]
pub(crate) struct ServerHello {
    pub(crate) version: Version,
    /// The server's name and version in one line; empty when it gave none.
    pub(crate) server: String,
}

impl ServerHello {
    /// Reads the result. Only the revision and the shape of the capabilities must be right.
    ///
    /// # Errors
    ///
    /// What is wrong, in plain words.
    pub(crate) fn parse(result: &RawValue) -> Result<Self, String> {
        let result: Value = serde_json::from_str(result.get())
            .map_err(|error| format!("the answer to initialize cannot be read: {error}"))?;
        let version = match result.get("protocolVersion") {
            Some(Value::String(name)) => Version::parse(name).ok_or_else(|| {
                let name = toolspan_core::guard::sanitise::one_line(name, 40);
                format!("the server speaks protocol version \"{name}\", which is not known here")
            })?,
            Some(_) => return Err("the server's protocolVersion is not a string".to_owned()),
            None => return Err("the answer to initialize has no protocolVersion".to_owned()),
        };
        match result.get("capabilities") {
            None | Some(Value::Object(_) | Value::Null) => {}
            Some(_) => return Err("the server's capabilities are not an object".to_owned()),
        }
        let part = |key| {
            result
                .pointer(&format!("/serverInfo/{key}"))
                .and_then(Value::as_str)
        };
        let name = [part("name"), part("version")]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        let server = toolspan_core::guard::sanitise::one_line(&name.join(" "), 200);
        Ok(Self { version, server })
    }
}
