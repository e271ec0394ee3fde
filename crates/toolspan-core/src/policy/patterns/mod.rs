//! Known kinds of harm in the commands and paths of a call, found by what they do, not how they are
//! spelt.
//!
//! [`Patterns`] is an analyzer: it knows what is risky and never says that something is not.
//! [`Protected`] is the rule of level 4, which holds without an analyzer too. Both look at the
//! checked arguments of any tool: an argument named like a command (`command`, `cmd`, `argv`, …) is
//! read as a shell reads it, one named like a path (`path`, `file_path`, `uri`, …) is brought to one
//! form. A call with no argument so named costs a look at the names.
//!
//! This is a net for mistakes and for common tricks, not a wall: a program that was written to hide
//! what it does can hide it. Walls are the sandbox that a shell runs in and the person who is asked.
//!
//! `arguments` finds commands and paths; `shell`, `parser` and `reader` read a text, `command` and `follow` say
//! what a command runs in the end; `place` says what a path is; `rules`, `rights`, `writes` and `bombs` judge;
//! `harmless` is what lowers a level.

mod arguments;
mod bombs;
mod command;
mod follow;
mod harmless;
mod parser;
mod place;
mod reader;
mod rights;
mod rules;
mod shell;
mod writes;

use arguments::Piece;
pub(super) use harmless::harmless;
use place::Place;
use rules::Finding;

use super::analyzer::{Analyzer, Assessment};
use super::facts::Facts;
use super::risk::{KnownRisk, SecurityRisk};

/// Finds known kinds of harm in commands and paths: high or medium with the reason, else unknown.
///
/// High: running what was just fetched or decoded, writing over disks, deleting a system or a home,
/// a fork bomb, writing to shell start files, `.ssh`, `.git/hooks`, our own configuration or what
/// decides what a system runs, changing who may do what, giving a shell away, sending credentials
/// away. Medium: running with another's rights, reading credentials, deleting all of a folder,
/// throwing work away in git, stopping the machine.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Patterns {}

impl Patterns {
    /// The built-in rules.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Analyzer for Patterns {
    fn analyze(&self, action: &Facts<'_>) -> SecurityRisk {
        self.assess(action).risk
    }

    fn assess(&self, action: &Facts<'_>) -> Assessment {
        let mut worst = None;
        arguments::each(&action.definition.name, action.arguments, &mut |piece| {
            rules::note(&mut worst, of_piece(&piece));
            !matches!(worst, Some((KnownRisk::High, _)))
        });
        match worst {
            Some((risk, reason)) => Assessment::new(risk.into(), reason),
            None => SecurityRisk::Unknown.into(),
        }
    }
}

fn of_piece(piece: &Piece<'_>) -> Option<Finding> {
    match piece {
        Piece::Command(text, script) => {
            let mut worst = rules::worst(script);
            rules::note(&mut worst, rules::of_text(text));
            worst
        }
        Piece::Code(code) => {
            let mut worst = rules::of_text(code);
            if rules::code_fetches_and_runs(code) {
                let words = "runs a text that comes from the network or out of an encoding";
                rules::note(&mut worst, Some((KnownRisk::High, words)));
            }
            if rules::code_deletes_ruin(code) {
                let words = "deletes a system or a home";
                rules::note(&mut worst, Some((KnownRisk::High, words)));
            }
            worst
        }
        Piece::Path {
            text,
            writes,
            deletes,
        } => {
            let place = Place::new(text, None);
            match (*writes, *deletes) {
                (_, true) if place::is_ruin(&place) => {
                    Some((KnownRisk::High, "deletes a system or a home"))
                }
                (true, _) => rules::of_written(&place),
                (false, _) if place::holds_credentials(&place) => {
                    Some((KnownRisk::Medium, "reads credentials"))
                }
                _ => None,
            }
        }
    }
}

/// What level 4 keeps from being written: the built-in places and the host's own.
#[derive(Clone, Debug, Default)]
pub(super) struct Protected {
    more: Vec<Place>,
}

impl Protected {
    /// Adds a file, or a folder with all in it.
    pub(super) fn add(&mut self, path: &str) {
        let place = Place::new(path, None);
        if !place.parts.is_empty() {
            self.more.push(place);
        }
    }

    /// The protected place that a call writes to, in words.
    pub(super) fn written_by(&self, facts: &Facts<'_>) -> Option<&'static str> {
        let mut found = None;
        arguments::each(&facts.definition.name, facts.arguments, &mut |piece| {
            found = match piece {
                Piece::Command(_, script) => script
                    .commands
                    .iter()
                    .flat_map(writes::written)
                    .find_map(|place| self.names(&place)),
                Piece::Path {
                    text, writes: true, ..
                } => self.names(&Place::new(text, None)),
                Piece::Path { .. } | Piece::Code(_) => None,
            };
            found.is_none()
        });
        found
    }

    fn names(&self, place: &Place) -> Option<&'static str> {
        let own = || self.more.iter().any(|folder| place.lies_in(folder));
        place::protected(place).or_else(|| own().then_some("a path that the policy protects"))
    }
}
