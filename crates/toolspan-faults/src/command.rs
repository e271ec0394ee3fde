//! What can the program be told, and what does it do then?

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::catalogue::{FAULTS, Fault};
use crate::error::{PlayError, ScriptError};
use crate::null_server::serve_nothing;
use crate::player::{Ended, Player};
use crate::script::Script;
use crate::system;

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
  --list            print the names of the ready-made faults
  --show NAME       print the script of a ready-made fault
  --help            print this text

OPTIONS
  --on-call N       misbehave on the N-th call, and answer those before it honestly
  --record FILE     add every incoming line to FILE
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
    /// A file that gets every incoming line.
    pub record: Option<PathBuf>,
    /// How many seconds the process may live; 0 means for ever.
    pub lifetime: u32,
}

impl Performance {
    /// Plays a script without recording and for at most ten minutes.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script,
            record: None,
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
        let (mut on_call, mut record, mut lifetime) = (None, None, DEFAULT_LIFETIME);
        while let Some(argument) = arguments.next() {
            let name = argument.to_str().unwrap_or_default().to_owned();
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| usage(format!("{name} needs a value")))
            };
            let chosen = match name.as_str() {
                "--on-call" => {
                    on_call = Some(number(&name, &value()?)?);
                    continue;
                }
                "--record" => {
                    record = Some(PathBuf::from(value()?));
                    continue;
                }
                "--lifetime" => {
                    lifetime = number(&name, &value()?)?;
                    continue;
                }
                "--fault" => Self::play(Fault::named(&text(&value()?))?.script()?),
                "--script" => Self::play(Script::from_file(value()?.as_ref())?),
                "--steps" => Self::play(Script::from_array(&text(&value()?))?),
                "--show" => Self::Show(Fault::named(&text(&value()?))?),
                "--null-server" => Self::NullServer,
                "--list" => Self::List,
                "--help" | "-h" => Self::Help,
                _ => return Err(usage(format!("`{}` is no option", text(&argument)))),
            };
            if what.replace(chosen).is_some() {
                return Err(usage(format!("{name} is a second thing to do")));
            }
        }
        let mut command = what.ok_or_else(|| usage("nothing to do".to_owned()))?;
        if let Self::Play(performance) = &mut command {
            if let Some(nth) = on_call {
                performance.script = performance.script.clone().on_call(nth);
            }
            performance.record = record;
            performance.lifetime = lifetime;
        }
        Ok(command)
    }

    fn play(script: Script) -> Self {
        Self::Play(Performance::new(script))
    }
}

fn usage(reason: String) -> CommandError {
    CommandError::Usage { reason }
}

fn text(value: &OsString) -> String {
    value.to_string_lossy().into_owned()
}

fn number(name: &str, value: &OsString) -> Result<u32, CommandError> {
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
        Command::List => print(list()),
        Command::Show(fault) => print(fault.text.to_owned()),
        Command::Help => print(USAGE.to_owned()),
    }
}

/// Plays a script over the standard streams of the process, which it takes away from it, and
/// returns the exit code. Does not return when the script kills the process or hangs.
pub fn perform(performance: &Performance) -> Result<u8, CommandError> {
    system::limit_lifetime(performance.lifetime);
    let streams = system::take_streams()
        .map_err(|source| system_error("take the standard streams", source))?;
    let mut player = Player::new(streams);
    if let Some(path) = &performance.record {
        let file = OpenOptions::new().append(true).create(true).open(path);
        player = player.recording(
            file.map_err(|source| system_error(&format!("open {}", path.display()), source))?,
        );
    }
    match player.play(&performance.script)? {
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
    let width = FAULTS
        .iter()
        .map(|fault| fault.name.len())
        .max()
        .unwrap_or_default();
    FAULTS
        .iter()
        .map(|fault| format!("{:width$}  {}\n", fault.name, fault.description()))
        .collect()
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
