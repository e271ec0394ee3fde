//! What can the program be told, and what does it do then?

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use crate::catalogue::{FAULTS, Fault};
use crate::error::{PlayError, ScriptError};
use crate::http::{Dialect, Outcome, Record, serve, serve_nothing_over_http};
use crate::null_server::serve_nothing;
use crate::player::{Ended, Player};
use crate::script::Script;
use crate::system;
use crate::transport::{Transport, misfit};

/// How long a play may last unless told otherwise, in seconds. A test that fails then leaves no
/// process for ever.
const DEFAULT_LIFETIME: u32 = 600;

const USAGE: &str = "\
usage: toolspan-faults [OPTIONS] WHAT

WHAT is one of
  --fault NAME      play a ready-made fault
  --script FILE     play a file of steps, one JSON value a line
  --steps JSON      play a JSON array of steps
  --null-server     serve as cheaply as possible, for benchmarks
  --null-http-server  the same over streamable HTTP
  --list            print the ready-made faults: name, transports, description
  --show NAME       print the script of a ready-made fault
  --help            print this text

OPTIONS
  --http            play over streamable HTTP on 127.0.0.1 instead of the standard streams; the
                    first and only line of output is {\"url\": \"http://127.0.0.1:PORT/mcp\"}, and the
                    end of input ends the server; without WHAT it behaves
  --sse             the same over the older HTTP+SSE, at /sse
  --port N          the port (default 0: a free one)
  --on-call N       misbehave on the N-th call, and answer those before it honestly
  --record FILE     add every incoming message to FILE, one a line
  --record-http FILE  add every request to FILE: {method, path, port, headers, body (its size)}
  --lifetime SECS   end by SIGALRM after so long (default 600; 0 means never)
";

/// What the program was told to do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Play a script.
    Play(Performance),
    /// Serve as cheaply as possible.
    NullServer,
    /// Serve as cheaply as possible over HTTP, at this port; 0 is a free one.
    NullHttpServer(u16),
    /// Print the names and descriptions of all faults.
    List,
    /// Print the script of a fault.
    Show(Fault),
    /// Print how the program is used.
    Help,
}

/// A script and how it is played.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Performance {
    /// The script.
    pub script: Script,
    /// Over what it is played.
    pub transport: Transport,
    /// The port, if it is played over HTTP; 0 is a free one.
    pub port: u16,
    /// A file that gets every incoming message, one a line.
    pub record: Option<PathBuf>,
    /// A file that gets a line of JSON for every request, if it is played over HTTP.
    pub record_http: Option<PathBuf>,
    /// How many seconds the process may live; 0 means for ever.
    pub lifetime: u32,
}

impl Performance {
    /// Plays a script over the standard streams, without recording and for at most ten minutes.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script,
            transport: Transport::Stdio,
            port: 0,
            record: None,
            record_http: None,
            lifetime: DEFAULT_LIFETIME,
        }
    }
}

/// Why the program did not do what it was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The arguments make no sense.
    #[error("{reason}; `toolspan-faults --help` shows how it is used")]
    Usage {
        /// What is wrong.
        reason: String,
    },
    /// The script cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The script cannot be played to its end.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The script has a step that the transport cannot carry.
    #[error(
        "`{step}` cannot be played over {transport}; `--list` shows over what each fault can be, and a \
         script over HTTP needs an `expect` before it answers"
    )]
    Misfit {
        /// The step's name.
        step: &'static str,
        /// The transport asked for.
        transport: Transport,
    },
    /// A stream or the record file failed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

impl Command {
    /// Reads the arguments that follow the name of the program; reads the script, too.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, CommandError> {
        let mut arguments = arguments.into_iter();
        let mut what = None;
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            let name = argument.to_str().unwrap_or_default().to_owned();
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| usage(format!("{name} needs a value")))
            };
            let chosen = match name.as_str() {
                "--fault" => Self::play(Fault::named(&text(&value()?))?.script()?),
                "--script" => Self::play(Script::from_file(value()?.as_ref())?),
                "--steps" => Self::play(Script::from_array(&text(&value()?))?),
                "--show" => Self::Show(Fault::named(&text(&value()?))?),
                "--null-server" => Self::NullServer,
                "--null-http-server" => Self::NullHttpServer(0),
                "--list" => Self::List,
                "--help" | "-h" => Self::Help,
                _ if options.take(&name, &mut value)? => continue,
                _ => return Err(usage(format!("`{}` is no option", text(&argument)))),
            };
            if what.replace(chosen).is_some() {
                return Err(usage(format!("{name} is a second thing to do")));
            }
        }
        options.complete(what)
    }

    fn play(script: Script) -> Self {
        Self::Play(Performance::new(script))
    }
}

/// What was told beside what to do.
struct Options {
    transport: Transport,
    port: u16,
    on_call: Option<u32>,
    record: Option<PathBuf>,
    record_http: Option<PathBuf>,
    lifetime: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            transport: Transport::Stdio,
            port: 0,
            on_call: None,
            record: None,
            record_http: None,
            lifetime: DEFAULT_LIFETIME,
        }
    }
}

impl Options {
    /// Takes an option with its value; says whether the name is one.
    fn take(
        &mut self,
        name: &str,
        value: &mut dyn FnMut() -> Result<OsString, CommandError>,
    ) -> Result<bool, CommandError> {
        match name {
            "--http" | "--sse" if self.transport != Transport::Stdio => {
                return Err(usage(format!("{name} is a second transport")));
            }
            "--http" => self.transport = Transport::Http,
            "--sse" => self.transport = Transport::Sse,
            "--port" => self.port = number(name, &value()?)?,
            "--on-call" => self.on_call = Some(number(name, &value()?)?),
            "--record" => self.record = Some(PathBuf::from(value()?)),
            "--record-http" => self.record_http = Some(PathBuf::from(value()?)),
            "--lifetime" => self.lifetime = number(name, &value()?)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The command with its options.
    fn complete(self, what: Option<Command>) -> Result<Command, CommandError> {
        let is_server = self.transport != Transport::Stdio;
        let what = match what {
            None if is_server => Some(Command::play(Fault::named("honest")?.script()?)),
            what => what,
        };
        match what.ok_or_else(|| usage("nothing to do".to_owned()))? {
            Command::Play(performance) => self.performance(performance.script),
            Command::NullHttpServer(_) => Ok(Command::NullHttpServer(self.port)),
            command => Ok(command),
        }
    }

    fn performance(self, script: Script) -> Result<Command, CommandError> {
        let transport = self.transport;
        if let Some(step) = misfit(&script, transport) {
            return Err(CommandError::Misfit { step, transport });
        }
        Ok(Command::Play(Performance {
            script: match self.on_call {
                Some(nth) => script.on_call(nth),
                None => script,
            },
            transport,
            port: self.port,
            record: self.record,
            record_http: self.record_http,
            lifetime: self.lifetime,
        }))
    }
}

fn usage(reason: String) -> CommandError {
    CommandError::Usage { reason }
}

fn text(value: &OsString) -> String {
    value.to_string_lossy().into_owned()
}

fn number<N: FromStr>(name: &str, value: &OsString) -> Result<N, CommandError> {
    let parsed = value.to_str().and_then(|digits| digits.parse().ok());
    parsed.ok_or_else(|| usage(format!("{name} needs a number, not `{}`", text(value))))
}

/// Does what a command says over the standard streams and returns the exit code.
pub fn run(command: Command) -> Result<u8, CommandError> {
    let print = |text: String| {
        io::stdout()
            .write_all(text.as_bytes())
            .map(|()| 0)
            .map_err(|source| system_error("write to the output", source))
    };
    match command {
        Command::Play(performance) => perform(&performance),
        Command::NullServer => {
            let mut streams = system::take_streams()
                .map_err(|source| system_error("take the standard streams", source))?;
            serve_nothing(streams.input, &mut streams.output)
                .map(|()| 0)
                .map_err(|source| system_error("serve", source))
        }
        Command::NullHttpServer(port) => serve_nothing_over_http(port)
            .map(|()| 0)
            .map_err(|source| system_error("serve", source)),
        Command::List => print(list()),
        Command::Show(fault) => print(fault.text.to_owned()),
        Command::Help => print(USAGE.to_owned()),
    }
}

/// Plays a script over the standard streams of the process, which it takes away from it, or over
/// HTTP, and returns the exit code. Does not return when the script kills the process or hangs.
pub fn perform(performance: &Performance) -> Result<u8, CommandError> {
    system::limit_lifetime(performance.lifetime);
    let ended = match performance.transport {
        Transport::Stdio => perform_over_streams(performance)?,
        Transport::Http => perform_over_http(performance, Dialect::Streamable)?,
        Transport::Sse => perform_over_http(performance, Dialect::Legacy)?,
    };
    match ended {
        Ended::Streams => Ok(0),
        Ended::Exit(code) => Ok(code),
        Ended::Kill(signal) => {
            let outcome = system::kill_self(signal);
            outcome
                .map(|()| 0)
                .map_err(|source| system_error("send itself a signal", source))
        }
        Ended::Hang => {
            // Tells who watches that from here on only a signal helps; the stream may be closed.
            let _ = writeln!(io::stderr(), "stays until it is killed");
            hang(performance.lifetime);
            Ok(0)
        }
    }
}

fn perform_over_streams(performance: &Performance) -> Result<Ended, CommandError> {
    let streams = system::take_streams()
        .map_err(|source| system_error("take the standard streams", source))?;
    let player = match &performance.record {
        Some(path) => {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file =
                file.map_err(|source| system_error(&format!("open {}", path.display()), source))?;
            Player::recording(streams, file)
        }
        None => Player::new(streams),
    };
    Ok(player.play(&performance.script)?)
}

fn perform_over_http(performance: &Performance, dialect: Dialect) -> Result<Ended, CommandError> {
    let (messages, requests) = (&performance.record, &performance.record_http);
    let record = Record::open(messages.as_deref(), requests.as_deref())
        .map_err(|source| system_error("open a record", source))?;
    let outcome = serve(&performance.script, dialect, performance.port, record)
        .map_err(|source| system_error("serve", source))?;
    match outcome {
        Outcome::InputEnded => Ok(Ended::Streams),
        Outcome::Played(ended) => Ok(ended?),
    }
}

/// Waits for the signal that ends the process. The alarm ends it where there are signals; the
/// time limit here does it elsewhere.
fn hang(lifetime: u32) {
    let seconds = if lifetime == 0 {
        u64::MAX
    } else {
        u64::from(lifetime)
    };
    let start = std::time::Instant::now();
    while start.elapsed().as_secs() < seconds {
        thread::park_timeout(Duration::from_secs(3600.min(seconds)));
    }
}

fn list() -> String {
    let widest = FAULTS.iter().map(|fault| fault.name.len()).max();
    let width = widest.unwrap_or_default();
    let line = |fault: &Fault| {
        let over: Vec<&str> = fault.transports().iter().map(|it| it.name()).collect();
        let over = over.join(" ");
        format!(
            "{:width$}  {over:14}  {}\n",
            fault.name,
            fault.description()
        )
    };
    FAULTS.iter().map(line).collect()
}

fn system_error(what: &str, source: io::Error) -> CommandError {
    CommandError::System {
        what: what.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Command, CommandError> {
        Command::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn options_may_come_before_and_after() {
        let before = parse(&[
            "--on-call",
            "2",
            "--lifetime",
            "0",
            "--fault",
            "exit_on_call",
        ]);
        let after = parse(&[
            "--fault",
            "exit_on_call",
            "--lifetime",
            "0",
            "--on-call",
            "2",
        ]);
        let before = before.expect("valid");
        assert_eq!(before, after.expect("valid"));
        let Command::Play(performance) = before else {
            panic!("not a play")
        };
        assert_eq!(performance.lifetime, 0);
        assert_ne!(
            performance.script,
            Fault::named("exit_on_call").unwrap().script().unwrap()
        );
    }

    #[test]
    fn what_makes_no_sense_is_explained() {
        let cases: [(&[&str], &str); 5] = [
            (&[], "nothing to do;"),
            (&["--fault"], "--fault needs a value;"),
            (
                &["--list", "--null-server"],
                "--null-server is a second thing to do;",
            ),
            (
                &["--on-call", "x", "--list"],
                "--on-call needs a number, not `x`;",
            ),
            (&["--dance"], "`--dance` is no option;"),
        ];
        for (arguments, expected) in cases {
            let error = parse(arguments).expect_err("no sense").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_list_has_a_line_for_each_fault() {
        assert_eq!(list().lines().count(), FAULTS.len());
    }
}
