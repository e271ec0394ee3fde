//! Which tasks does `cargo xtask` offer, and what does each one run?

mod bench;
mod docs;
mod failure;
mod layout;
mod process;
mod python;
mod setup;
mod talk;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use failure::Failure;
use workspace::Workspace;

/// What is printed without a task, and by `--help`.
const USAGE: &str = "usage: cargo xtask <task>

  setup   install the real servers and tools that the tests need into .tools/
  test    setup, then every check and every test: what continuous integration runs
  py      build the Python wheel, install it into .tools/ and run its tests
  tidy    the house rules: crate arrows, forgotten files, sleeps in tests, dead links
  bench   the table of benchmarks, built for release; a part of it with --rows=P1,P3
  layout  list anew which functions come first in the Python module; needs valgrind
  docs    build the book in docs/";

/// One task of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Setup,
    Test,
    Py,
    Tidy,
    Bench,
    Layout,
    Docs,
    Help,
}

impl Task {
    /// Reads the arguments after `cargo xtask`; `None` where they name no task.
    fn parse(arguments: &[String]) -> Option<Self> {
        match arguments {
            // The table reads its options itself.
            [name, ..] if name == "bench" => Some(Self::Bench),
            [name] => match name.as_str() {
                "setup" => Some(Self::Setup),
                "test" => Some(Self::Test),
                "py" => Some(Self::Py),
                "tidy" => Some(Self::Tidy),
                "layout" => Some(Self::Layout),
                "docs" => Some(Self::Docs),
                "help" | "--help" | "-h" => Some(Self::Help),
                _ => None,
            },
            _ => None,
        }
    }

    fn run(self, options: &[String]) -> Result<(), Failure> {
        let workspace = Workspace::find()?;
        match self {
            Self::Setup => setup::run(&workspace),
            Self::Test => test::run(&workspace),
            Self::Py => python::run(&workspace),
            Self::Tidy => tidy::run(&workspace),
            Self::Bench => bench::run(&workspace, options),
            Self::Layout => layout::run(&workspace),
            Self::Docs => docs::run(&workspace),
            Self::Help => {
                talk::line(USAGE);
                Ok(())
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(task) = Task::parse(&arguments) else {
        talk::line(USAGE);
        return ExitCode::from(2);
    };
    match task.run(arguments.get(1..).unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            talk::line(&format!("xtask: {failure}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Task;

    fn parse(arguments: &[&str]) -> Option<Task> {
        let owned: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Task::parse(&owned)
    }

    #[test]
    fn a_task_is_named_by_exactly_one_argument_and_bench_takes_options() {
        assert_eq!(parse(&["test"]), Some(Task::Test));
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&["test", "bench"]), None);
        assert_eq!(parse(&["tests"]), None);
        assert_eq!(parse(&["bench", "--rows=P1"]), Some(Task::Bench));
    }

    #[test]
    fn the_usage_names_every_task() {
        for name in ["setup", "test", "py", "tidy", "bench", "layout", "docs"] {
            assert!(parse(&[name]).is_some(), "{name} is no task");
            assert!(
                super::USAGE.contains(&format!("\n  {name} ")),
                "{name} is not in the usage"
            );
        }
    }
}
