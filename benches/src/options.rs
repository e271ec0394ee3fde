//! What does the command line ask for?

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

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
    /// Only these rows, by their names; all where there are none.
    pub(crate) rows: Vec<String>,
    /// Where `cargo xtask setup` has made the environments of Python.
    pub(crate) tools: PathBuf,
    /// The folder of our module for Python; without one, what is installed beside OPM.
    pub(crate) module: Option<PathBuf>,
    /// A column runs only contestants with this text in their names: for a profiler.
    pub(crate) only: String,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self {
            what: What::Table,
            effort: Effort::FULL,
            rows: Vec::new(),
            tools: Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools"),
            module: None,
            only: String::new(),
        };
        for argument in arguments {
            match argument.as_str() {
                "--quick" => options.effort = Effort::QUICK,
                "--serve" => options.what = What::Serve,
                "--serve-http" => options.what = What::ServeHttp,
                "--pinned" => options.what = What::Column(Column::Pinned),
                "--free" => options.what = What::Column(Column::Free),
                // What `cargo bench` adds.
                "--bench" => {}
                _ if options.set(&argument) => {}
                _ => return Err(Failure::Usage(argument)),
            }
        }
        Ok(options)
    }

    /// Takes an option with a value; false where there is none of that name.
    fn set(&mut self, argument: &str) -> bool {
        match argument.split_once('=') {
            Some(("--only", text)) => text.clone_into(&mut self.only),
            Some(("--rows", names)) => self.rows = names.split(',').map(str::to_owned).collect(),
            Some(("--tools", folder)) => self.tools = folder.into(),
            Some(("--module", folder)) => self.module = Some(folder.into()),
            _ => return false,
        }
        true
    }

    /// The arguments with which the table starts one of its columns.
    pub(crate) fn of_column(&self, column: Column) -> Vec<OsString> {
        let mut arguments = vec![column.option().into()];
        if self.effort == Effort::QUICK {
            arguments.push("--quick".into());
        }
        let mut add = |name: &str, value: &OsStr| {
            let mut argument = OsString::from(name);
            argument.push(value);
            arguments.push(argument);
        };
        add("--tools=", self.tools.as_os_str());
        if let Some(module) = &self.module {
            add("--module=", module.as_os_str());
        }
        if !self.rows.is_empty() {
            add("--rows=", self.rows.join(",").as_ref());
        }
        arguments
    }

    /// Whether a row is asked for.
    pub(crate) fn has_row(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|name| name == row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_started_with_what_the_table_was_asked_for() {
        let told = ["--quick", "--rows=P1,P13", "--tools=a", "--module=b c"];
        let asked = Options::parse(told.map(str::to_owned).into_iter()).expect("options");
        let passed = asked.of_column(Column::Free).into_iter();
        let passed = passed.map(|argument| argument.into_string().expect("text"));
        let column = Options::parse(passed).expect("options");
        let what = What::Column(Column::Free);
        assert_eq!(column, Options { what, ..asked });
    }

    #[test]
    fn a_row_is_asked_for_by_its_whole_name() {
        let options = Options::parse(["--rows=P13".to_owned()].into_iter()).expect("options");
        assert!(options.has_row("P13"));
        assert!(!options.has_row("P1"));
    }
}
