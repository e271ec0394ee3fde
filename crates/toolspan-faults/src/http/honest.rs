//! How does a well-behaved server answer over HTTP?

use serde_json::{Value, json};

use crate::http::exchange::{Exchange, Gone};
use crate::http::response::Head;
use crate::http::stage::{Dialect, Stage, accept};
use crate::http_step::ReplyStyle;
use crate::parts::collect;

/// What both SDKs answer where a request cannot be served: no JSON-RPC code fits.
const BAD_REQUEST: i64 = -32000;

/// What both SDKs answer under an id that is no session, with 404.
const NO_SESSION: i64 = -32001;

impl Stage {
    /// Answers a request; `reply` is the honest one to its message.
    pub(super) fn serve_honestly(
        &mut self,
        mut exchange: Exchange,
        reply: Option<Value>,
    ) -> Result<(), Gone> {
        let is_admitted = self.admits(&exchange);
        let at_stream = exchange.request.path() == self.site.path();
        match (exchange.request.method.as_str(), self.dialect) {
            ("POST", Dialect::Legacy) if at_stream => {
                let head = Head::new(405).with("allow", "GET");
                exchange.respond(head, b"")
            }
            ("POST", _) if is_admitted => self.deliver(exchange, reply),
            ("POST", _) => self.refuse(exchange),
            ("GET", Dialect::Legacy) if at_stream => self.open_legacy_stream(exchange),
            ("GET", Dialect::Streamable) if self.is_in_session(&exchange) => {
                self.open_stream(exchange)
            }
            ("DELETE", Dialect::Streamable) if self.is_in_session(&exchange) => {
                let id = self.session_of(&exchange).unwrap_or_default();
                let stream = self.sessions.end(&id);
                self.end_streams(stream.as_slice());
                exchange.respond(Head::new(200), b"")
            }
            ("GET" | "DELETE", Dialect::Streamable) => self.refuse(exchange),
            ("GET", Dialect::Legacy) => exchange.respond(Head::new(404), b""),
            _ => {
                let head = Head::new(405).with("allow", "GET, POST, DELETE");
                exchange.respond(head, b"")
            }
        }
    }

    fn is_in_session(&self, exchange: &Exchange) -> bool {
        let id = self.session_of(exchange);
        !self.has_sessions() || id.is_some_and(|id| self.sessions.knows(&id))
    }

    /// Says why a request is not served.
    fn refuse(&self, mut exchange: Exchange) -> Result<(), Gone> {
        let (status, code, reason) = if self.session_of(&exchange).is_some() {
            (404, NO_SESSION, "Session not found")
        } else if exchange.message.is_none() && exchange.request.method == "POST" {
            (400, -32700, "Parse error")
        } else {
            (400, BAD_REQUEST, "Bad Request: no session id")
        };
        let error = json!({"code": code, "message": reason});
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
        exchange.respond(Head::json(status), body.to_string().as_bytes())
    }

    /// Sends the honest reply to a message, if it has one.
    pub(super) fn deliver(
        &mut self,
        mut exchange: Exchange,
        reply: Option<Value>,
    ) -> Result<(), Gone> {
        if self.dialect == Dialect::Legacy {
            return self.deliver_by_stream(exchange, reply);
        }
        let Some(reply) = reply else {
            return accept(&mut exchange);
        };
        let more = self.head_of(&exchange, &reply);
        let is_unknown_era = exchange.rpc_method() == Some("server/discover")
            && self.has_sessions()
            && self.session_of(&exchange).is_none();
        let text = reply.to_string();
        if is_unknown_era {
            exchange.respond(Head::json(400), text.as_bytes())?;
        } else if self.settings.replies == Some(ReplyStyle::Sse) {
            exchange.begin_chunks(Head::events(200).and(&more))?;
            exchange.write_lines(text.as_bytes())?;
            exchange.write_lines(b"\n")?;
            exchange.finish()?;
        } else {
            exchange.respond(Head::json(200).and(&more), text.as_bytes())?;
        }
        if self.settings.close_after_reply == Some(true) {
            exchange.close();
        }
        Ok(())
    }

    /// Takes a message of HTTP+SSE and answers on the stream of its session.
    fn deliver_by_stream(
        &mut self,
        mut exchange: Exchange,
        reply: Option<Value>,
    ) -> Result<(), Gone> {
        let id = self.session_of(&exchange).unwrap_or_default();
        if exchange.is_fresh() {
            accept(&mut exchange)?;
        }
        let stream = self.sessions.stream(&id);
        if let (Some(reply), Some(stream)) = (reply, stream)
            && let Some(stream) = self.exchange(stream)
        {
            let text = format!("{reply}\n");
            stream.write_lines(text.as_bytes())?;
            stream.flush()?;
        }
        Ok(())
    }

    /// The head of the reply that a script sends to the request of a connection.
    pub(super) fn reply_head(&mut self, number: u64) -> Head {
        let begins = |exchange: &Exchange| {
            exchange.is_fresh() && exchange.rpc_method() == Some("initialize")
        };
        let exchange = self.open.iter().find(|it| it.number() == number);
        let begins = exchange.is_some_and(begins);
        self.head_with(begins)
    }

    fn head_of(&mut self, exchange: &Exchange, reply: &Value) -> Head {
        let begins = exchange.rpc_method() == Some("initialize") && reply.get("result").is_some();
        self.head_with(begins)
    }

    /// The headers that a script has set, and the id of a session that begins.
    fn head_with(&mut self, begins_session: bool) -> Head {
        let facts = self.facts();
        let mut head = Head::new(200);
        if begins_session && self.has_sessions() && self.dialect == Dialect::Streamable {
            let id = self.begin_session();
            // The bytes that were set, which are perhaps no text.
            let set = self.settings.session_id.as_ref();
            let bytes = set.map_or_else(|| id.into_bytes(), |set| collect(&set.0, &facts));
            head = head.with("mcp-session-id", bytes);
        }
        let more = self.settings.headers.iter().flat_map(|headers| &headers.0);
        for (name, value) in more {
            head = head.with(name, collect(value, &facts));
        }
        head
    }

    /// Opens the stream of a session for what answers no request. Nothing comes on it by itself.
    fn open_stream(&mut self, mut exchange: Exchange) -> Result<(), Gone> {
        let id = self.session_of(&exchange).unwrap_or_default();
        exchange.begin_chunks(Head::events(200))?;
        exchange.is_kept = true;
        self.sessions.attach(&id, exchange.number());
        self.open.push(exchange);
        Ok(())
    }

    /// Opens a session of HTTP+SSE and names its endpoint.
    fn open_legacy_stream(&mut self, mut exchange: Exchange) -> Result<(), Gone> {
        let id = self.begin_session();
        let endpoint = self.site.endpoint(&id);
        exchange.begin_chunks(Head::events(200))?;
        exchange.write(format!("event: endpoint\ndata: {endpoint}\n\n").as_bytes())?;
        exchange.flush()?;
        exchange.is_kept = true;
        self.sessions.attach(&id, exchange.number());
        self.open.push(exchange);
        Ok(())
    }
}
