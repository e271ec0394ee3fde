//! What does a tool call cost, beside the least it could cost and beside the official client?
//!
//! The program prints one table on standard output and the machine's facts on standard error. It
//! starts itself twice, once held to one core and once on all of them, and these start it again as
//! the servers that are called. A missed bar is a word in the table, not an exit code.
//!
//! The bars are held under the system's usual scheduler. It lets a woken server interrupt its
//! caller, more or less often from run to run and with what else the machine does. Started with
//! `chrt -f 10`, the program shows the cost of the code alone, to a hundredth from run to run.

mod column;
mod engine;
mod failure;
mod floor;
mod host;
mod http_floor;
mod machine;
mod measure;
mod native;
mod options;
mod peer_rmcp;
mod python;
mod recorded;
mod rows;
mod runtime;
mod server;
mod table;

use std::io::Write;
use std::process::ExitCode;

use crate::failure::Failure;
use crate::options::{Options, What};

#[expect(clippy::disallowed_methods, reason = "a program tells its errors")]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // With the error stream gone, only the exit code is left to tell.
            let _ = writeln!(std::io::stderr(), "table: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the table is the output")]
fn run() -> Result<(), Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    let mut output = std::io::stdout();
    match options.what {
        What::Serve => server::serve(),
        What::ServeHttp => server::serve_http(),
        What::Column(column) => {
            let measured = column::measure(column, &options)?;
            Ok(writeln!(output, "{measured}")?)
        }
        What::Table => {
            let lines = rows::lines(&options)?;
            let mut talk = std::io::stderr();
            machine::describe(&mut talk)?;
            if rows::have_python(&lines) {
                python::describe(&mut talk, &options)?;
            }
            if rows::have_module(&lines) {
                python::describe_module(&mut talk, &options)?;
            }
            let pinned = column::run(column::Column::Pinned, &options)?;
            let free = column::run(column::Column::Free, &options)?;
            Ok(table::write(&mut output, &lines, [&pinned, &free])?)
        }
    }
}
