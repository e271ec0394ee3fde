//! How is a script played as a server of HTTP, from the port to the exit code?

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use serde_json::json;

use crate::error::PlayError;
use crate::http::connection::{Gate, accept};
use crate::http::record::Record;
use crate::http::stage::{Dialect, Event, Stage};
use crate::placeholder::Placeholders;
use crate::player::{Ended, Player};
use crate::script::Script;

/// How many events may wait for the stage. Each connection has at most two, so none ever waits long.
const MAX_EVENTS: usize = 2048;

/// Where the server is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    port: u16,
    other_port: u16,
    dialect: Dialect,
}

impl Site {
    /// The path that clients are given.
    pub(crate) fn path(self) -> &'static str {
        match self.dialect {
            Dialect::Streamable => "/mcp",
            Dialect::Legacy => "/sse",
        }
    }

    /// Where messages of a session are posted over HTTP+SSE.
    pub(crate) fn endpoint(self, session: &str) -> String {
        format!("/messages?session={session}")
    }

    fn url(self) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.path())
    }

    /// Gives the names of places their values.
    pub(crate) fn tell(self, placeholders: &mut Placeholders) {
        let origin = |port: u16| format!("http://127.0.0.1:{port}");
        placeholders.tell("url", self.url().into());
        placeholders.tell("port", self.port.into());
        placeholders.tell("origin", origin(self.port).into());
        placeholders.tell("other_origin", origin(self.other_port).into());
    }
}

/// How the server ended.
pub(crate) enum Outcome {
    /// The standard input ended.
    InputEnded,
    /// The script came to an end.
    Played(Result<Ended, PlayError>),
}

/// Binds `127.0.0.1`, writes the line with the URL, and plays until the script or the input ends.
/// The threads that are left then end with the program.
pub(crate) fn serve(
    script: &Script,
    dialect: Dialect,
    port: u16,
    record: Record,
) -> io::Result<Outcome> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let other = TcpListener::bind(("127.0.0.1", 0))?;
    let site = Site {
        port: listener.local_addr()?.port(),
        other_port: other.local_addr()?.port(),
        dialect,
    };
    let (sender, events) = sync_channel(MAX_EVENTS);
    let gate = Arc::new(Gate::new(sender.clone(), record));
    for (listener, is_other) in [(listener, false), (other, true)] {
        let gate = Arc::clone(&gate);
        thread::spawn(move || accept(&listener, is_other, &gate));
    }
    announce(&site.url())?;
    let (outcome, ended) = sync_channel(2);
    let (player, script) = (outcome.clone(), script.clone());
    thread::spawn(move || {
        let stage = Stage::new(dialect, site, (sender, events));
        let played = Player::over(Box::new(stage)).play(&script);
        // Nobody listens when the input ended first.
        let _ = player.send(Outcome::Played(played));
    });
    watch_input(move || {
        let _ = gate.events.try_send(Event::End);
        let _ = outcome.send(Outcome::InputEnded);
    });
    ended
        .recv()
        .map_err(|_| io::Error::other("the script's thread died"))
}

/// Writes the one line that clients wait for.
#[expect(
    clippy::disallowed_methods,
    reason = "a server of HTTP tells its address on the standard output"
)]
pub(crate) fn announce(url: &str) -> io::Result<()> {
    let mut output = io::stdout();
    writeln!(output, "{}", json!({"url": url}))?;
    output.flush()
}

/// Reads and ignores the standard input; calls back at its end.
pub(crate) fn watch_input(at_end: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        let mut input = io::stdin();
        let mut ignored = [0; 4096];
        loop {
            match input.read(&mut ignored) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return at_end(),
                Ok(_) => {}
            }
        }
    });
}
