//! How are many calls made with one host? One JSON line in, one out, in order.

use std::io;
use std::thread;

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use toolspan::guard::sanitise;
use toolspan::{Error, Host, Result};

use super::arguments::usage;
use super::input::{self, LARGEST, Line};
use super::save::Folder;
use super::single::{self, Answered};
use crate::exit::Code;
use crate::output::json::{self, Answer};
use crate::output::next_step;
use crate::session::Session;

/// Lines that are read ahead. One: a batch that waits for its own results must not be starved.
const READ_AHEAD: usize = 1;

/// Calls the tools of a batch, one after another, so that sessions and state live on from line to
/// line. A line that fails has its error as its result, and the next one follows. Gives the code of
/// the first line that failed.
pub(super) async fn run(
    session: &Session,
    source: &str,
    files: Option<&Folder>,
    limit: Option<usize>,
) -> Result<Code> {
    let mut lines = read(source)?;
    let batch = Batch {
        session,
        files,
        limit,
    };
    session
        .with_host(async |host| {
            let mut code = Code::DONE;
            let mut number = 0;
            while let Some(line) = session.interrupt.or(lines.recv()).await? {
                let line = line.map_err(|error| input::unreadable(source, &error))?;
                number += 1;
                if let Some((result, line_code)) = batch.line(host, line, number).await {
                    session.output.json(&result);
                    code = code.or(line_code);
                }
                if session.output.is_closed() {
                    break;
                }
            }
            Ok(code)
        })
        .await
}

/// Reads lines on a thread of its own, since standard input cannot be waited for together with a
/// signal. The thread ends with the input, with the receiver, or with the process.
fn read(source: &str) -> Result<mpsc::Receiver<io::Result<Line>>> {
    let mut input = input::open(source)?;
    let (sender, receiver) = mpsc::channel(READ_AHEAD);
    let reader = move || {
        while let Some(line) = input::next_line(&mut *input, LARGEST).transpose() {
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    };
    let started = thread::Builder::new()
        .name("toolspan-batch".to_owned())
        .spawn(reader);
    started
        .map(|_| receiver)
        .map_err(|error| input::unreadable(source, &error))
}

struct Batch<'a> {
    session: &'a Session,
    files: Option<&'a Folder>,
    limit: Option<usize>,
}

impl Batch<'_> {
    /// The result of a line and its exit code; `None` for an empty line.
    async fn line(&self, host: &Host, line: Line, number: u64) -> Option<(Value, Code)> {
        let request = match parse(line) {
            Ok(request) => request?,
            Err(reason) => {
                let error = usage(format!("line {number}: {reason}"))
                    .with_hint("a line is {\"tool\": \"name\", \"args\": {…}}");
                return Some((json::error(&error), Code::USAGE));
            }
        };
        let result = self.call(host, request).await;
        Some(result.unwrap_or_else(|error| {
            let error = next_step::within(self.session.output.timeout, error);
            (json::failed_call(&error), Code::of(&error))
        }))
    }

    async fn call(&self, host: &Host, request: Request) -> Result<(Value, Code), Error> {
        let tool = self
            .session
            .interrupt
            .or(host.find(&request.tool))
            .await??;
        let answered = single::once(self.session, host, &tool, request.arguments).await?;
        let Answered { observation, took } = answered;
        let saved = self
            .files
            .map(|files| files.save(&tool.name, &observation))
            .transpose();
        let code = match &saved {
            Err(error) => Code::of(error),
            Ok(_) if observation.is_error => Code::TOOL_ERROR,
            Ok(_) => Code::DONE,
        };
        let answer = Answer {
            tool: &tool,
            observation: &observation,
            took,
            limit: self.limit,
            saved: saved.as_ref().ok().and_then(Option::as_deref),
            not_saved: saved.as_ref().err(),
        };
        Ok((json::answer(&answer), code))
    }
}

/// What a line asks for.
#[derive(Debug, PartialEq)]
struct Request {
    tool: String,
    /// Anything: whether it is an object is checked with the schema.
    arguments: Value,
}

/// Reads a line; `None` for an empty one. A member that is unknown is refused, since `arguments`
/// in place of `args` would else call the tool without any.
fn parse(line: Line) -> Result<Option<Request>, String> {
    let Line::Whole(bytes) = line else {
        return Err(format!("it has more than {LARGEST} bytes"));
    };
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut members: Map<String, Value> =
        serde_json::from_slice(&bytes).map_err(|error| format!("not a JSON object: {error}"))?;
    let arguments = members.shift_remove("args").unwrap_or_default();
    let Some(Value::String(tool)) = members.shift_remove("tool") else {
        return Err("\"tool\" must name a tool".to_owned());
    };
    match members.keys().next() {
        Some(key) => Err(format!(
            "\"{}\" means nothing here",
            sanitise::one_line(key, 60)
        )),
        None => Ok(Some(Request { tool, arguments })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(text: &str) -> Result<Option<Request>, String> {
        parse(Line::Whole(text.as_bytes().to_vec()))
    }

    #[test]
    fn a_line_names_a_tool_and_its_arguments() {
        let request = |arguments| {
            Ok(Some(Request {
                tool: "t".to_owned(),
                arguments,
            }))
        };
        assert_eq!(
            parsed("{\"tool\": \"t\", \"args\": {\"a\": 1}}"),
            request(json!({"a": 1}))
        );
        assert_eq!(parsed("{\"tool\": \"t\"}"), request(Value::Null));
        assert_eq!(parsed(" \r"), Ok(None));
    }

    #[test]
    fn a_line_that_could_mean_something_else_is_refused() {
        for wrong in [
            "[]",
            "{",
            "{}",
            "{\"tool\": 1}",
            "{\"tool\": \"t\", \"arguments\": {}}",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        assert!(parse(Line::TooLong).is_err());
    }
}
