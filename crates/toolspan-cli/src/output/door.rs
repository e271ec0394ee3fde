//! The one door to stdout and stderr: who may see what, and what happens when nobody reads.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use clap::builder::StyledStr;
use indicatif::ProgressBar;
use serde_json::Value;
use toolspan::guard::sanitise;

use super::style::Style;
use crate::args::{Color, Global};

/// Writes results to stdout and talk to stderr.
///
/// When the reader of stdout goes away, later data is dropped and [`Output::is_closed`] says so;
/// the program then ends quietly. Any other failure to write is kept for [`Output::failure`].
pub(crate) struct Output {
    /// Whether results are JSON.
    pub(crate) json: bool,
    /// The `--timeout` that was given.
    pub(crate) timeout: Option<Duration>,
    quiet: bool,
    verbose: u8,
    stdout: Face,
    stderr: Face,
    /// Never held while something is computed, only while bytes are written.
    state: Mutex<State>,
}

/// What a stream looks like from here.
#[derive(Clone, Copy)]
struct Face {
    terminal: bool,
    colour: bool,
}

#[derive(Default)]
struct State {
    closed: bool,
    failure: Option<io::Error>,
    /// Hidden while a line is written, so that it does not tear it.
    bar: Option<ProgressBar>,
}

impl Output {
    /// The door as the options want it.
    pub(crate) fn new(global: &Global) -> Self {
        match global.color {
            Some(Color::Always) => ColorChoice::Always.write_global(),
            Some(Color::Never) => ColorChoice::Never.write_global(),
            Some(Color::Auto) | None => {}
        }
        let colour = |choice| choice != ColorChoice::Never;
        Self {
            json: global.json,
            timeout: global.timeout,
            quiet: global.quiet,
            verbose: global.verbose,
            stdout: Face {
                terminal: io::stdout().is_terminal(),
                colour: colour(AutoStream::choice(&io::stdout())),
            },
            stderr: Face {
                terminal: io::stderr().is_terminal(),
                colour: colour(AutoStream::choice(&io::stderr())),
            },
            state: Mutex::default(),
        }
    }

    /// Writes a tool's data: on a terminal without what could steer it, else byte for byte.
    pub(crate) fn data(&self, text: &str) {
        self.write(&self.shown(text));
    }

    /// Writes a line of our own making to stdout. It may hold styles from [`Output::paint`].
    pub(crate) fn line(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Writes one line of JSON to stdout; on a terminal without what could steer it.
    pub(crate) fn json(&self, value: &Value) {
        self.write(&self.shown(&format!("{value}\n")));
    }

    /// Says something on stderr, unless nothing but errors is wanted.
    pub(crate) fn talk(&self, text: &str) {
        if !self.quiet {
            self.error_line(text);
        }
    }

    /// Says on stderr what could surprise, unless nothing but errors is wanted.
    pub(crate) fn warn(&self, text: &str) {
        let label = self.paint_error(Style::Caution, "warning:");
        self.talk(&format!("{label} {text}"));
    }

    /// Says on stderr what is worth knowing, unless nothing but errors is wanted.
    pub(crate) fn note(&self, text: &str) {
        let label = self.paint_error(Style::Strong, "note:");
        self.talk(&format!("{label} {text}"));
    }

    /// Says something on stderr if the user asked for so much (`-v` is 1).
    pub(crate) fn detail(&self, level: u8, text: &str) {
        if self.verbose >= level {
            self.error_line(text);
        }
    }

    /// Writes a line to stderr, whatever the options say. A stderr that is gone is no fault.
    pub(crate) fn error_line(&self, text: &str) {
        let text = format!("{text}\n");
        let state = self.state();
        let write = || drop(io::stderr().lock().write_all(text.as_bytes()));
        match &state.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// The text in a style, for stdout.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        style.paint(text, self.stdout.colour)
    }

    /// The text in a style, for stderr.
    pub(crate) fn paint_error(&self, style: Style, text: &str) -> String {
        style.paint(text, self.stderr.colour)
    }

    /// A tool's text as stdout may have it.
    pub(crate) fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.stdout.terminal {
            sanitise::for_people(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Columns of the terminal that stdout is; `None` where lines may be of any length.
    pub(crate) fn columns(&self) -> Option<usize> {
        let size = self
            .stdout
            .terminal
            .then(terminal_size::terminal_size)
            .flatten();
        size.map(|(width, _)| usize::from(width.0))
    }

    /// Whether stdout shows colour.
    pub(crate) fn has_colour(&self) -> bool {
        self.stdout.colour
    }

    /// Writes help to stdout, coloured where stdout is.
    pub(crate) fn styled(&self, text: &StyledStr) {
        self.write(&rendered(text, self.stdout.colour));
    }

    /// Writes what is wrong with the command line to stderr, coloured where stderr is.
    pub(crate) fn styled_error(&self, text: &StyledStr) {
        self.error_line(rendered(text, self.stderr.colour).trim_end());
    }

    /// Whether a bar on stderr would be seen and is wanted.
    pub(crate) fn shows_progress(&self) -> bool {
        self.stderr.terminal && !self.quiet
    }

    /// Whether a person sees stderr.
    pub(crate) fn is_seen(&self) -> bool {
        self.stderr.terminal
    }

    /// The bar that other lines make way for.
    pub(super) fn set_bar(&self, bar: Option<ProgressBar>) {
        self.state().bar = bar;
    }

    /// Whether nobody reads stdout any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Why stdout could not be written; a reader that went away is no failure.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state().failure.as_ref().map(ToString::to_string)
    }

    fn write(&self, text: &str) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        let write = || {
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush())
        };
        let written = match &state.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        };
        if let Err(error) = written {
            state.closed = true;
            state.failure = (error.kind() != io::ErrorKind::BrokenPipe).then_some(error);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn rendered(text: &StyledStr, colour: bool) -> String {
    if colour {
        text.ansi().to_string()
    } else {
        text.to_string()
    }
}
