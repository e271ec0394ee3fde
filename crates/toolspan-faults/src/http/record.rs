//! What is kept of the requests, for a test to look at?

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::http::request::Request;

/// Files that get a line for each message and for each request, as soon as it was read.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Held for one write.
    messages: Option<Mutex<File>>,
    /// Held for one write.
    requests: Option<Mutex<File>>,
}

impl Record {
    /// Opens the files, made where missing.
    pub(crate) fn open(messages: Option<&Path>, requests: Option<&Path>) -> io::Result<Self> {
        let open = |path: &Path| OpenOptions::new().append(true).create(true).open(path);
        Ok(Self {
            messages: messages.map(open).transpose()?.map(Mutex::new),
            requests: requests.map(open).transpose()?.map(Mutex::new),
        })
    }

    /// Adds a message as it came; a line end inside it becomes a blank.
    pub(crate) fn message(&self, body: &[u8]) {
        let ends_line = |byte: u8| matches!(byte, b'\n' | b'\r');
        let line = body
            .iter()
            .map(|byte| if ends_line(*byte) { b' ' } else { *byte });
        append(self.messages.as_ref(), line.collect());
    }

    /// Adds `{"method", "path", "port", "headers", "body"}`: the target with its query, `main` or
    /// `other`, an object of the headers, and the size of the body in bytes.
    pub(crate) fn request(&self, request: &Request) {
        let headers: Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect();
        let port = if request.at_other_port {
            "other"
        } else {
            "main"
        };
        let line = json!({"method": request.method, "path": request.target, "port": port,
            "headers": headers, "body": request.body.len()});
        append(self.requests.as_ref(), line.to_string().into_bytes());
    }
}

/// A full disk shows in the test that reads the file; here it is no reason to stop.
fn append(file: Option<&Mutex<File>>, mut line: Vec<u8>) {
    if let Some(file) = file {
        line.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(&line);
    }
}
