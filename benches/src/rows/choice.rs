//! What is a row made of, and which rows are asked for?

use crate::failure::Failure;
use crate::measure::Effort;
use crate::options::Options;
use crate::rows::{local, python, rust};

/// One way to make calls.
pub(crate) struct Contestant {
    /// Unique; its first word is the row's.
    pub(crate) name: &'static str,
    /// Runs a round.
    pub(crate) round: Round,
}

/// Runs one round and gives its figure.
pub(crate) type Round = Box<dyn FnMut(Effort) -> Result<f64, Failure>>;

/// Starts a contestant and its server.
pub(crate) type Start = fn(&Options) -> Result<Round, Failure>;

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    /// Ours over theirs, at most.
    Ratio(f64),
    /// Ours less theirs in the unit of the row, at most.
    Above(f64),
    /// Ours less the floor over theirs less the floor, at most; with the floor's name.
    AboveFloor(f64, &'static str),
    /// Ours over theirs, at least.
    Rate(f64),
    /// Ours itself, at most, in the unit of the row.
    Below(f64),
    /// Ours over theirs, for information.
    Shown,
}

/// One line of the table: a contestant, and where something is claimed of it, beside whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Its first word is the row's.
    pub(crate) name: &'static str,
    /// Whose figures these are: a contestant may stand in several rows.
    pub(crate) of: &'static str,
    pub(crate) claim: Option<(&'static str, Bar)>,
}

impl Line {
    /// A contestant in its own row.
    pub(crate) fn new(name: &'static str, claim: Option<(&'static str, Bar)>) -> Self {
        let of = name;
        Self { name, of, claim }
    }

    /// The row it stands in.
    fn row(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// Whether it needs somebody's figures.
    fn needs(&self, name: &str) -> bool {
        self.named().contains(&Some(name))
    }

    /// Itself, whom it is held against, and the floor of both.
    fn named(&self) -> [Option<&'static str>; 3] {
        let floor = match self.claim {
            Some((_, Bar::AboveFloor(_, floor))) => Some(floor),
            _ => None,
        };
        let beside = self.claim.map(|(beside, _)| beside);
        [Some(self.of), beside, floor]
    }
}

/// The lines of the rows that are asked for, in the order of the table.
pub(crate) fn lines(options: &Options) -> Result<Vec<Line>, Failure> {
    let all = python::calls().into_iter().chain(rust::lines());
    let all = all.chain(local::lines());
    let all: Vec<Line> = all.chain(python::processes()).collect();
    let is_there = |row: &String| all.iter().any(|line| line.row() == row);
    if let Some(row) = options.rows.iter().find(|row| !is_there(row)) {
        return Err(Failure::NoRow(row.clone()));
    }
    let chosen = all.into_iter().filter(|line| options.has_row(line.row()));
    Ok(chosen.collect())
}

/// Whether one of these lines needs a process in Python.
pub(crate) fn have_python(lines: &[Line]) -> bool {
    need_any(lines, &local::PEERS) || have_module(lines)
}

/// Whether one of these lines needs what has a process with our module beside it.
pub(crate) fn have_module(lines: &[Line]) -> bool {
    need_any(lines, &python::STARTS)
}

fn need_any(lines: &[Line], starts: &[(&str, Start)]) -> bool {
    let needed = |name| lines.iter().any(|line| line.needs(name));
    starts.iter().any(|(name, _)| needed(name))
}

/// Everyone, in the order of their turns.
fn starts() -> impl Iterator<Item = &'static (&'static str, Start)> {
    let servers = rust::STARTS.iter().chain(&python::STARTS);
    servers.chain(&local::OURS).chain(&local::PEERS)
}

/// Starts everyone that the lines which are asked for need, each with a server of its own.
pub(crate) fn contestants(options: &Options) -> Result<Vec<Contestant>, Failure> {
    let lines = lines(options)?;
    let needed = |name: &str| lines.iter().any(|line| line.needs(name));
    starts()
        .filter(|(name, _)| name.contains(&options.only) && needed(name))
        .map(|(name, start)| {
            Ok(Contestant {
                name,
                round: start(options)?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn options(rows: &str) -> Options {
        Options::parse([format!("--rows={rows}")].into_iter()).expect("options")
    }

    #[test]
    fn every_name_in_a_line_is_a_contestant_and_each_contestant_is_in_one() {
        let all = Options::parse(std::iter::empty()).expect("options");
        let lines = lines(&all).expect("rows");
        let names: BTreeSet<&str> = starts().map(|(name, _)| *name).collect();
        for line in &lines {
            let mut named = line.named().into_iter().flatten();
            assert_eq!(named.find(|name| !names.contains(name)), None);
        }
        for name in names {
            assert!(lines.iter().any(|line| line.needs(name)), "{name}");
        }
    }

    #[test]
    fn a_row_brings_those_it_is_held_against() {
        let lines = lines(&options("P3")).expect("a row");
        assert_eq!(lines.len(), 1);
        let starts = python::STARTS.iter();
        let needed = starts.filter(|(name, _)| lines.iter().any(|line| line.needs(name)));
        let needed: Vec<&str> = needed.map(|(name, _)| *name).collect();
        assert_eq!(needed, ["P1 floor: bare pipe in Python", "P1 host.call"]);
    }

    #[test]
    fn an_unknown_row_is_refused() {
        let refused = lines(&options("P4,P99")).expect_err("there is no such row");
        assert_eq!(refused.to_string(), "the table has no row \"P99\"");
    }
}
