//! How does one column come about: all contestants in turns, on one core or on all?

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;
use crate::options::Options;
use crate::rows::{self, Contestant};
use crate::server;

/// Where the processes of a column may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// We and the servers on one core: the cost of the code, and stable.
    Pinned,
    /// On every core: what users see, with the noise of wake-ups from core to core.
    Free,
}

impl Column {
    /// The option that asks for it.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Pinned => "--pinned",
            Self::Free => "--free",
        }
    }
}

/// The figures of each contestant, round by round.
pub(crate) type Figures = BTreeMap<String, Vec<f64>>;

/// Measures a column in a process of its own, since threads keep the cores they began with.
#[expect(
    clippy::disallowed_methods,
    reason = "the program starts itself, and waits for it"
)]
pub(crate) fn run(column: Column, options: &Options) -> Result<Figures, Failure> {
    let mut command = Command::new(server::program()?);
    command.args(options.of_column(column));
    let output = command.stderr(Stdio::inherit()).output()?;
    let figures = output
        .status
        .success()
        .then(|| serde_json::from_slice(&output.stdout).ok());
    figures.flatten().ok_or(Failure::NoFigures(column.option()))
}

/// Measures a column here; the figures as JSON.
pub(crate) fn measure(column: Column, options: &Options) -> Result<Value, Failure> {
    if column == Column::Pinned {
        pin()?;
    }
    let effort = options.effort;
    let mut contestants = rows::contestants(options)?;
    let mut figures = Figures::new();
    for contestant in &mut contestants {
        // The first round of each warms up and does not count.
        (contestant.round)(effort)?;
    }
    for _ in 0..effort.rounds {
        for Contestant { name, round } in &mut contestants {
            let figure = round(effort)?;
            figures.entry((*name).to_owned()).or_default().push(figure);
        }
    }
    Ok(serde_json::to_value(figures).unwrap_or_default())
}

/// Holds this thread, and all threads and processes that it will start, to the last of its cores.
fn pin() -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let may = sched_getaffinity(None).map_err(std::io::Error::from)?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|core| may.is_set(*core));
    let mut only = CpuSet::new();
    only.set(last.unwrap_or(0));
    sched_setaffinity(None, &only).map_err(std::io::Error::from)?;
    Ok(())
}
