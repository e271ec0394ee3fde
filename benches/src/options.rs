//! What does the command line ask for?

use crate::column::Column;
use crate::failure::Failure;
use crate::measure::Effort;

/// What one process of this program is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The whole table: what a person starts.
    Table,
    /// One column of it: started by the table.
    Column(Column),
    /// The server that is called: started by a column.
    Serve,
    /// The server that is called over HTTP.
    ServeHttp,
}

/// The command line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) what: What,
    pub(crate) effort: Effort,
    /// A column runs only contestants with this text in their names: for a profiler.
    pub(crate) only: String,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self {
            what: What::Table,
            effort: Effort::FULL,
            only: String::new(),
        };
        for argument in arguments {
            match argument.as_str() {
                "--quick" => options.effort = Effort::QUICK,
                "--serve" => options.what = What::Serve,
                "--serve-http" => options.what = What::ServeHttp,
                "--pinned" => options.what = What::Column(Column::Pinned),
                "--free" => options.what = What::Column(Column::Free),
                _ if argument.starts_with("--only=") => {
                    argument
                        .trim_start_matches("--only=")
                        .clone_into(&mut options.only);
                }
                // What `cargo bench` adds.
                "--bench" => {}
                _ => return Err(Failure::Usage(argument)),
            }
        }
        Ok(options)
    }
}
