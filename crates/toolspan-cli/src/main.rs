//! The `toolspan` command: arguments in, text or JSON out, an exit code.
//!
//! [`args`] says what can be typed, [`command`] has one file per command, [`output`] is the only
//! door to stdout and stderr, [`exit`] the table of exit codes, [`session`] the host that most
//! commands need.

mod approval;
mod args;
mod command;
mod concern;
mod demo;
mod exit;
mod interrupt;
mod output;
mod question;
mod session;

fn main() -> std::process::ExitCode {
    command::main(std::env::args_os()).into()
}
