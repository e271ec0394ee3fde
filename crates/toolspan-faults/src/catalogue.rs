//! Which ready-made faults are there? Each is a script in `scripts/`, described by its first line.

use crate::error::ScriptError;
use crate::script::Script;
use crate::transport::{Transport, misfit};

/// A named script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// Its name, as given to `--fault`.
    pub name: &'static str,
    /// The script as JSON Lines; a good start for one of your own.
    pub text: &'static str,
}

impl Fault {
    /// The fault of that name.
    pub fn named(name: &str) -> Result<Self, ScriptError> {
        FAULTS
            .iter()
            .find(|fault| fault.name == name)
            .copied()
            .ok_or_else(|| ScriptError::UnknownFault {
                name: name.to_owned(),
            })
    }

    /// What it does, in one line.
    #[must_use]
    pub fn description(&self) -> &'static str {
        self.text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches(['#', ' '])
    }

    /// Over what it can be played: what its second line says after `# over `, or all that its steps
    /// allow.
    #[must_use]
    pub fn transports(&self) -> Vec<Transport> {
        let second = self.text.lines().nth(1).unwrap_or_default();
        if let Some(names) = second.strip_prefix("# over ") {
            return names.split(' ').filter_map(Transport::named).collect();
        }
        let Ok(script) = self.script() else {
            return Vec::new();
        };
        let fits = |transport: &Transport| misfit(&script, *transport).is_none();
        Transport::ALL.into_iter().filter(fits).collect()
    }

    /// Its steps.
    pub fn script(&self) -> Result<Script, ScriptError> {
        Script::from_lines(self.text)
    }
}

macro_rules! faults {
    ($($name:literal),* $(,)?) => {
        &[$(Fault { name: $name, text: include_str!(concat!("../scripts/", $name, ".jsonl")) }),*]
    };
}

/// All ready-made faults in the order of their names.
pub const FAULTS: &[Fault] = faults![
    "bad_tool_in_list",
    "banner_first",
    "batch_reply",
    "both_result_and_error",
    "close_stdin_early",
    "close_stdout_on_call",
    "deep_100000",
    "deep_200",
    "discover_empty",
    "discover_silent",
    "duplicate_reply",
    "endless_line",
    "exit_at_start",
    "exit_on_call",
    "exit_on_discover",
    "exit_with_stderr",
    "flood_notifications",
    "flood_stderr",
    "grandchild",
    "grandchild_double_fork",
    "half_line_then_exit",
    "half_line_then_hang",
    "honest",
    "ignore_eof_and_term",
    "invalid_json_with_id",
    "invalid_utf8",
    "kill_self_on_call",
    "late_reply",
    "late_reply_reversed",
    "list_changed_storm",
    "list_cursor_endless",
    "list_cursor_loop",
    "modern",
    "neither_result_nor_error",
    "never_answer_call",
    "never_answer_initialize",
    "never_reads",
    "noise_between",
    "null_id_error",
    "old_version",
    "progress_forever",
    "progress_then_reply",
    "remote_error",
    "reply_20mb",
    "reply_64mb",
    "reply_then_exit",
    "server_requests_1000",
    "split_reply",
    "string_id",
    "tool_error",
    "unknown_content_block",
    "unknown_id_then_right",
    "unknown_version",
    "wrong_id",
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_fault_can_be_played_and_says_what_it_does() {
        for fault in FAULTS {
            assert!(
                fault.text.starts_with("# "),
                "{} has no description",
                fault.name
            );
            assert!(fault.description().len() > 10, "{}", fault.name);
            if let Err(error) = fault.script() {
                panic!("{}: {error}", fault.name);
            }
        }
    }

    #[test]
    fn no_script_is_forgotten_and_the_names_are_in_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts");
        let mut files: Vec<String> = fs::read_dir(folder)
            .expect("the folder of scripts")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a plain name")
            })
            .collect();
        files.sort();
        let listed: Vec<String> = FAULTS
            .iter()
            .map(|it| format!("{}.jsonl", it.name))
            .collect();
        assert_eq!(listed, files);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_says_where_to_look() {
        let error = Fault::named("nope").expect_err("no such fault").to_string();
        assert_eq!(
            error,
            "there is no fault named `nope`; `--list` shows all of them"
        );
    }
}
