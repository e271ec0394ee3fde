//! What does the program do? Reads its arguments, runs, and turns the end into an exit code.

use std::io::Write;
use std::process::ExitCode;

use toolspan_faults::{Command, run};

/// The exit code for arguments, scripts and streams that do not work; one no script uses by habit.
const BROKEN: u8 = 125;

#[expect(
    clippy::disallowed_methods,
    reason = "a program tells its errors on the error stream"
)]
fn main() -> ExitCode {
    let outcome = Command::parse(std::env::args_os().skip(1)).and_then(run);
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // With the error stream gone, only the exit code is left to tell.
            let _ = writeln!(std::io::stderr(), "toolspan-faults: {error}");
            ExitCode::from(BROKEN)
        }
    }
}
