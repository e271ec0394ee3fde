//! How are the steps played that exist over HTTP only?

use serde_json::{Value, json};

use crate::http::exchange::{Exchange, Gone};
use crate::http::response::Head;
use crate::http::stage::{Dialect, Stage, accept};
use crate::http_step::{
    Breach, Break, Event, Framing, Headers, Place, Respond, Sse, StreamEnd, Then,
};
use crate::parts::{collect, parts_length, write_parts, write_raw};
use crate::placeholder::Placeholders;
use crate::step::{Raw, Step};
use crate::wire::{Flow, Stop, system_failure};

impl Stage {
    /// Plays one of them; others do nothing here.
    pub(super) fn play_step(&mut self, step: &Step, placeholders: &Placeholders) -> Flow {
        match step {
            Step::Respond(respond) => self.respond(respond, placeholders),
            Step::Sse(sse) => self.stream(sse, placeholders),
            Step::Break(breach) => self.break_off(*breach),
            Step::RawHttp(raw) => self.raw(raw, placeholders),
            Step::ExpireSessions => {
                let streams = self.sessions.end_all();
                self.end_streams(&streams);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn respond(&mut self, respond: &Respond, placeholders: &Placeholders) -> Flow {
        let mut head = head(respond.status, &respond.headers, placeholders);
        let message = respond.message.as_ref();
        let message = message.map(|message| placeholders.fill(message).to_string());
        if message.is_some() && !head.has("content-type") {
            head = head.with("content-type", "application/json");
        }
        let body = Body {
            message,
            parts: &respond.body,
            placeholders,
        };
        let exchange = self.bound("respond")?;
        respond_with(exchange, head, &body, &respond.framing)?;
        match respond.then {
            Then::Keep => exchange.finish()?,
            Then::Close => {
                exchange.flush()?;
                exchange.close();
            }
            Then::Reset => {
                exchange.flush()?;
                self.reset("respond")?;
            }
            Then::Hang => {
                exchange.is_kept = true;
                exchange.flush()?;
            }
        }
        Ok(())
    }

    fn raw(&mut self, raw: &Raw, placeholders: &Placeholders) -> Flow {
        let exchange = self.bound("raw_http")?;
        if exchange.is_fresh() {
            exchange.begin_raw();
            exchange.is_kept = true;
        }
        write_raw(raw, placeholders, &mut |bytes| exchange.write(bytes))?;
        exchange.flush()?;
        Ok(())
    }

    /// Over HTTP+SSE the events go to the stream of the session, which stays open unless it is cut.
    fn stream(&mut self, sse: &Sse, placeholders: &Placeholders) -> Flow {
        let session_stream = self.stream_of_message()?;
        let is_legacy = self.dialect == Dialect::Legacy;
        if let Some(stream) = session_stream {
            self.bound = Some(stream);
        }
        let exchange = self.bound("sse")?;
        if exchange.is_fresh() {
            let head = Head::events(sse.status).and(&head(sse.status, &sse.headers, placeholders));
            exchange.begin_chunks(head)?;
        }
        if sse.bom {
            exchange.write("\u{feff}".as_bytes())?;
        }
        for event in &sse.events {
            write_event(exchange, event, sse.line_end.bytes(), placeholders)?;
        }
        exchange.flush()?;
        match sse.end {
            StreamEnd::Close if is_legacy => exchange.is_kept = true,
            StreamEnd::Close => exchange.finish()?,
            StreamEnd::Keep => exchange.is_kept = true,
            StreamEnd::Cut => exchange.close(),
            StreamEnd::Reset => self.reset("sse")?,
        }
        Ok(())
    }

    /// Where a message of HTTP+SSE is answered; takes the message first.
    fn stream_of_message(&mut self) -> Result<Option<u64>, Stop> {
        if self.dialect == Dialect::Streamable {
            return Ok(None);
        }
        let exchange = self.bound("sse")?;
        if exchange.request.method != "POST" {
            return Ok(None);
        }
        if exchange.is_fresh() {
            accept(exchange)?;
        }
        Ok(self.bound_stream())
    }

    fn break_off(&mut self, breach: Break) -> Flow {
        let exchange = self.bound("break")?;
        let id = exchange.field("id").cloned().unwrap_or(Value::Null);
        let content = json!([{"type": "text", "text": "a reply that breaks off in its middle"}]);
        let reply = json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}});
        let body = reply.to_string();
        match breach.at {
            Place::BeforeStatus => {}
            Place::MidHeaders => {
                exchange.begin_raw();
                exchange.is_kept = true;
                exchange.write(b"HTTP/1.1 200 OK\r\ncontent-type: applica")?;
            }
            Place::AfterHeaders => exchange.begin_length(Head::json(200), body.len() as u64)?,
            Place::MidBody => {
                exchange.begin_length(Head::json(200), body.len() as u64)?;
                let half = body.as_bytes().get(..body.len() / 2);
                exchange.write(half.unwrap_or_default())?;
            }
        }
        exchange.flush()?;
        match breach.by {
            Breach::Reset => self.reset("break")?,
            Breach::Close => exchange.close(),
            Breach::Hang => {}
        }
        Ok(())
    }

    /// Resets the connection of the bound exchange, which has to be dropped for that.
    fn reset(&mut self, step: &'static str) -> Flow {
        let exchange = self.bound(step)?;
        exchange
            .reset()
            .map_err(|error| system_failure("reset a connection", error))?;
        self.open.retain(|exchange| !exchange.is_over());
        Ok(())
    }
}

/// The body of a response, made while it is written.
struct Body<'a> {
    message: Option<String>,
    parts: &'a [crate::step::Part],
    placeholders: &'a Placeholders,
}

impl Body<'_> {
    fn length(&self) -> u64 {
        match &self.message {
            Some(message) => message.len() as u64,
            None => parts_length(self.parts, self.placeholders),
        }
    }

    fn write(&self, exchange: &mut Exchange) -> Result<(), Gone> {
        match &self.message {
            Some(message) => exchange.write(message.as_bytes()),
            None => write_parts(self.parts, self.placeholders, &mut |bytes| {
                exchange.write(bytes)
            }),
        }
    }
}

/// Writes head and body; the caller says what comes then.
fn respond_with(
    exchange: &mut Exchange,
    head: Head,
    body: &Body<'_>,
    framing: &Framing,
) -> Result<(), Gone> {
    let length = body.length();
    match framing {
        Framing::Length => exchange.begin_length(head, length)?,
        Framing::Claims(claimed) => exchange.begin_length(head, *claimed)?,
        Framing::Chunked => exchange.begin_chunks(head)?,
        Framing::Close => exchange.begin_plain(&head)?,
        Framing::None => {
            exchange.begin_plain(&head)?;
            return Ok(());
        }
        Framing::Both => exchange.begin_chunks(head.with("content-length", length.to_string()))?,
        Framing::ChunkSize(size) => {
            exchange.begin_plain(&head.with("transfer-encoding", "chunked"))?;
            exchange.write(format!("{size}\r\n").as_bytes())?;
        }
    }
    body.write(exchange)
}

fn head(status: u16, headers: &Headers, placeholders: &Placeholders) -> Head {
    let mut head = Head::new(status);
    for (name, value) in &headers.0 {
        head = head.with(name, collect(value, placeholders));
    }
    head
}

fn write_event(
    exchange: &mut Exchange,
    event: &Event,
    line_end: &str,
    placeholders: &Placeholders,
) -> Result<(), Gone> {
    let mut line =
        |field: &str, value: &str| exchange.write(format!("{field}: {value}{line_end}").as_bytes());
    if let Some(comment) = &event.comment {
        line("", comment)?;
    }
    if let Some(name) = &event.event {
        line("event", name)?;
    }
    if let Some(id) = &event.id {
        line("id", &placeholders.fill_text(id))?;
    }
    match &event.retry {
        Some(Value::String(text)) => line("retry", text)?,
        Some(value) => line("retry", &value.to_string())?,
        None => {}
    }
    if let Some(data) = &event.data {
        for data in placeholders.fill_raw(data).split('\n') {
            line("data", data)?;
        }
    }
    if let Some(message) = &event.message {
        line("data", &placeholders.fill(message).to_string())?;
    }
    write_parts(&event.raw, placeholders, &mut |bytes| exchange.write(bytes))?;
    let is_whole = event.raw.is_empty() && !event.unfinished;
    exchange.write(if is_whole { line_end.as_bytes() } else { b"" })
}
