//! What does each command do? One file per command; this one leads from the arguments to them.

mod call;
mod completions;
mod config;
mod demo;
mod describe;
mod doctor;
mod import;
mod search;
mod status;
mod tools;
mod trust;

mod run;

pub(crate) use run::main;
