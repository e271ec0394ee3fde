//! How is a person asked for a value that the config leaves open?

use std::cell::Cell;
use std::io::{self, IsTerminal};

use toolspan::config::{AskInput, Input};
use toolspan::guard::{Secret, sanitise};
use toolspan::{Error, ErrorKind, Phase};

use crate::interrupt::Interrupt;
use crate::output::{Output, Style};

/// Characters of what a config says about an input.
const LONGEST: usize = 200;
/// Options of an input that are listed.
const MOST_LISTED: usize = 40;
/// How often an input with options is asked for, until an answer is one of them.
const TRIES: usize = 3;

/// Asks on the terminal, if there is one to ask and to be answered on.
pub(crate) struct Questions<'a> {
    output: &'a Output,
    interrupt: &'a Interrupt,
    /// Whether a question was answered by Ctrl-C or SIGTERM; then there are no further ones.
    stopped: Cell<bool>,
    /// The toolboxes that nobody is asked about.
    left_out: Vec<String>,
}

impl<'a> Questions<'a> {
    pub(crate) fn new(output: &'a Output, interrupt: &'a Interrupt) -> Self {
        Self {
            output,
            interrupt,
            stopped: Cell::new(false),
            left_out: Vec::new(),
        }
    }

    /// The same, but nothing is asked for the toolboxes with these keys.
    pub(crate) fn leaving_out(self, keys: Vec<&str>) -> Self {
        Self {
            left_out: keys.into_iter().map(str::to_owned).collect(),
            ..self
        }
    }

    /// # Errors
    ///
    /// `cancelled` when the person wanted the program to end, not to give an answer.
    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.stopped.get() {
            let message = "stopped while it was asked for a value";
            return Err(Error::new(ErrorKind::Cancelled, Phase::Config, message));
        }
        Ok(())
    }

    /// Whether a person says yes; `None` when there is nobody to ask, or the answer was Ctrl-C.
    pub(crate) fn is_yes(&self, question: &str) -> Option<bool> {
        let line = self.line_of(&format!("{question} [y/N]"))?;
        let answer = line.trim();
        Some(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
    }

    /// What a person answers to a question; `None` for Ctrl-C, or when there is nobody to ask.
    pub(crate) fn line_of(&self, question: &str) -> Option<String> {
        if !self.is_answered() {
            return None;
        }
        let label = self.output.paint_error(Style::Strong, question);
        self.line(false, || self.output.error_line(&label))
    }

    /// Whether there is somebody to ask.
    pub(crate) fn is_answered(&self) -> bool {
        !self.stopped.get() && io::stdin().is_terminal() && self.output.is_seen()
    }

    /// What is typed. The question is shown once the terminal is ready, so that not even the first
    /// letter is seen of what must not be.
    fn line(&self, is_hidden: bool, show: impl FnOnce()) -> Option<String> {
        let line = terminal::line(is_hidden, show, self.interrupt);
        if line.is_none() {
            self.stopped.set(true);
        }
        line
    }

    /// The options and, in the last line, what is asked.
    fn show(&self, input: &Input) {
        let safe = |text: &str| sanitise::one_line(text, LONGEST);
        for (index, option) in input.options.iter().take(MOST_LISTED).enumerate() {
            let line = format!("  {}  {}", index + 1, safe(&option.label));
            self.output.error_line(&line);
        }
        let label = self.output.paint_error(Style::Strong, "input:");
        let what = safe(input.description.as_deref().unwrap_or(&input.id));
        let how = match (input.password, input.options.is_empty()) {
            (true, _) => " (not shown)",
            (false, false) => " (a number from the list)",
            (false, true) => "",
        };
        let default = match input.default.as_deref().filter(|_| !input.password) {
            Some(default) => format!(" [{}]", safe(default)),
            None => String::new(),
        };
        self.output
            .error_line(&format!("{label} {what}{how}{default}"));
    }
}

impl AskInput for Questions<'_> {
    fn ask(&self, input: &Input) -> Option<Secret> {
        if !self.is_answered() {
            return None;
        }
        for _ in 0..TRIES {
            let line = self.line(input.password, || self.show(input))?;
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(value) = chosen(line, input) {
                return Some(Secret::new(value));
            }
            self.output.warn("this is none of the list");
        }
        None
    }

    /// Where nobody can be asked, no answer is kept from any toolbox.
    fn is_asked_for(&self, toolbox: &str) -> bool {
        !self.is_answered() || !self.left_out.iter().any(|key| key == toolbox)
    }
}

/// The value that a line means: the line itself, or where there are options one of them by its
/// number, label or value. An empty line stands for the default.
fn chosen(line: &str, input: &Input) -> Option<String> {
    if input.options.is_empty() || line.is_empty() {
        return Some(line.to_owned());
    }
    let number: Option<usize> = line.trim().parse().ok();
    let by_number = || input.options.get(number?.checked_sub(1)?);
    let by_name = input.options.iter().find(|it| it.label == line);
    let by_value = || input.options.iter().find(|it| it.value == line);
    let option = by_name.or_else(by_value).or_else(by_number)?;
    Some(option.value.clone())
}

#[cfg(unix)]
mod terminal {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
    };

    use crate::interrupt::Interrupt;

    /// How often a signal is looked for while nothing is typed.
    const LOOK: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    /// The byte of Ctrl-C.
    const CTRL_C: u8 = 3;
    /// Longest answer, in bytes; a terminal gives 4 KiB at most.
    const LONGEST: usize = 16 << 10;

    /// A line that a person types; `None` for Ctrl-C, a signal, or a terminal that is gone.
    pub(super) fn line(
        is_hidden: bool,
        show: impl FnOnce(),
        interrupt: &Interrupt,
    ) -> Option<String> {
        let _mode = Mode::new(is_hidden)?;
        show();
        let mut answer = Vec::new();
        let mut byte = [0; 1024];
        while answer.len() < LONGEST {
            if interrupt.code().is_some() {
                return None;
            }
            let stdin = rustix::stdio::stdin();
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(_) => return None,
            }
            let read = rustix::io::read(stdin, &mut byte).ok()?;
            answer.extend_from_slice(byte.get(..read)?);
            match answer.last() {
                Some(b'\n') => return String::from_utf8(answer).ok(),
                Some(&CTRL_C) => return None,
                // Ctrl-D: what was typed so far, or nothing at all.
                _ if read == 0 => return String::from_utf8(answer).ok(),
                _ => {}
            }
        }
        None
    }

    /// The terminal while a question is open. What it was before is set again whatever happens:
    /// so Ctrl-C ends the line in place of the program.
    struct Mode(Termios);

    impl Mode {
        fn new(is_hidden: bool) -> Option<Self> {
            let before = tcgetattr(rustix::stdio::stdin()).ok()?;
            let mut asking = before.clone();
            asking.local_modes.remove(LocalModes::ISIG);
            asking.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
            if is_hidden {
                asking.local_modes.remove(LocalModes::ECHO);
                asking.local_modes.insert(LocalModes::ECHONL);
            }
            set(&asking)?;
            Some(Self(before))
        }
    }

    impl Drop for Mode {
        fn drop(&mut self) {
            let _ = set(&self.0);
        }
    }

    fn set(mode: &Termios) -> Option<()> {
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, mode).ok()
    }
}

#[cfg(not(unix))]
mod terminal {
    use crate::interrupt::Interrupt;

    /// Nobody is asked here.
    pub(super) fn line(_: bool, _: impl FnOnce(), _: &Interrupt) -> Option<String> {
        None
    }
}
