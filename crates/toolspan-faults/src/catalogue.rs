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
    "accepted_202_to_request",
    "bad_chunk_size",
    "bad_tool_in_list",
    "banner_first",
    "batch_reply",
    "body_256mb",
    "body_256mb_chunked",
    "body_endless",
    "both_lengths",
    "both_result_and_error",
    "chunk_size_no_number",
    "close_after_headers",
    "close_before_status",
    "close_mid_body",
    "close_mid_headers",
    "close_stdin_early",
    "close_stdout_on_call",
    "closes_idle",
    "deep_100000",
    "deep_200",
    "delete_405",
    "delete_hangs",
    "discover_empty",
    "discover_silent",
    "duplicate_reply",
    "empty_200",
    "endless_line",
    "exit_at_start",
    "exit_on_call",
    "exit_on_discover",
    "exit_with_stderr",
    "flood_notifications",
    "flood_stderr",
    "get_405",
    "get_hangs",
    "get_html",
    "get_stream_closes_often",
    "get_stream_cut_often",
    "get_stream_notifications",
    "get_stream_requests",
    "grandchild",
    "grandchild_double_fork",
    "gzip_bomb",
    "half_line_then_exit",
    "half_line_then_hang",
    "hang_after_headers",
    "hang_mid_body",
    "headers_endless",
    "honest",
    "html_200",
    "html_200_at_start",
    "ignore_eof_and_term",
    "invalid_json_with_id",
    "invalid_utf8",
    "kill_self_on_call",
    "late_reply",
    "late_reply_reversed",
    "list_changed_storm",
    "list_cursor_endless",
    "list_cursor_loop",
    "long_content_length",
    "modern",
    "neither_result_nor_error",
    "never_answer_call",
    "never_answer_initialize",
    "never_reads",
    "no_content_type",
    "no_http",
    "no_sessions",
    "noise_between",
    "null_id_error",
    "old_version",
    "progress_forever",
    "progress_then_reply",
    "redirect_303",
    "redirect_307_other_port",
    "redirect_307_same_origin",
    "redirect_308_set_cookie",
    "redirect_chain_4",
    "redirect_loop",
    "redirect_to_https",
    "redirect_without_location",
    "remote_error",
    "reply_20mb",
    "reply_64mb",
    "reply_then_exit",
    "reset_after_headers",
    "reset_before_status",
    "reset_mid_body",
    "server_requests_1000",
    "session_id_10kb",
    "session_id_changes",
    "session_id_control_byte",
    "session_id_empty",
    "session_id_non_ascii",
    "session_lost_always",
    "session_lost_once",
    "short_content_length",
    "slow_headers_hang",
    "split_reply",
    "sse_bom",
    "sse_closes_before_endpoint",
    "sse_comments_and_crlf",
    "sse_comments_forever",
    "sse_cr_only",
    "sse_cut_always",
    "sse_cut_then_replay",
    "sse_cut_with_event_id",
    "sse_cut_without_event_id",
    "sse_data_not_json",
    "sse_endless_event",
    "sse_endpoint_absolute",
    "sse_endpoint_empty",
    "sse_endpoint_javascript",
    "sse_endpoint_other_origin",
    "sse_endpoint_other_port",
    "sse_endpoint_scheme_relative",
    "sse_endpoint_second",
    "sse_get_hangs",
    "sse_get_html",
    "sse_hang",
    "sse_huge_event",
    "sse_id_with_nul",
    "sse_invalid_utf8",
    "sse_multi_data_lines",
    "sse_no_endpoint",
    "sse_no_final_blank_line",
    "sse_no_reply_close",
    "sse_post_500",
    "sse_post_reply_in_body",
    "sse_replies",
    "sse_reset",
    "sse_resume_404",
    "sse_retry_field",
    "sse_retry_garbage",
    "sse_server_requests",
    "sse_stream_cut_on_call",
    "sse_stream_ends_on_call",
    "status_204",
    "status_400",
    "status_401",
    "status_401_at_start",
    "status_403",
    "status_404",
    "status_405_at_start",
    "status_429",
    "status_429_always",
    "status_429_retry_1",
    "status_429_retry_99999",
    "status_429_retry_garbage",
    "status_429_retry_past",
    "status_500_at_start",
    "status_500_html",
    "status_503_retry_after",
    "streamable_400_sse_ok",
    "streamable_404_sse_ok",
    "streamable_405_sse_ok",
    "string_id",
    "tool_error",
    "two_content_lengths",
    "two_json_documents",
    "unknown_content_block",
    "unknown_id_then_right",
    "unknown_version",
    "wrong_content_type",
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
    fn what_a_fault_says_it_can_be_played_over_fits_its_steps() {
        for fault in FAULTS {
            let script = fault.script().expect("valid");
            assert!(!fault.transports().is_empty(), "{}", fault.name);
            for transport in fault.transports() {
                assert_eq!(misfit(&script, transport), None, "{}", fault.name);
            }
        }
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
