//! Does the program do what its contract says? Each test runs the real binary as a process.

mod batch;
mod call;
mod cli;
mod command_line;
mod completions;
mod config;
mod demo;
mod doctor_remote;
mod faults;
mod forms;
mod import;
mod listing;
mod mixed;
mod names;
mod questions;
mod remote_echo;
mod remote_real;
mod remote_secrets;
mod signals;
mod status;
mod terminal;
mod trust;
mod url;
