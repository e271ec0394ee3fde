//! `toolspan completions`: what can a shell complete?

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use toolspan::Result;

use crate::args::{CommandLine, Completions, ShellName};
use crate::exit::Code;
use crate::output::Output;

/// Prints the script that teaches a shell the commands and options.
pub(super) fn run(output: &Output, wanted: &Completions) -> Result<Code> {
    let shell = match wanted.shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut shown(), "toolspan", &mut script);
    output.data(&String::from_utf8_lossy(&script));
    Ok(Code::DONE)
}

/// The command line without what is hidden from people.
fn shown() -> Command {
    let whole = CommandLine::command();
    let commands = whole.get_subcommands().filter(|it| !it.is_hide_set());
    Command::new("toolspan")
        .args(whole.get_arguments())
        .subcommands(commands)
}
