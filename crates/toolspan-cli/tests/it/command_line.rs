//! What happens before any server is started: help, the version, wrong command lines.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::cli::Cli;

#[test]
fn without_arguments_a_short_screen_shows_the_first_steps() {
    assert_snapshot!(Cli::bare().run(&[]));
}

#[test]
fn help_lists_commands_options_and_exit_codes() {
    assert_snapshot!(Cli::bare().run(&["--help"]));
}

#[test]
fn help_of_call_has_examples() {
    assert_snapshot!(Cli::bare().run(&["call", "--help"]));
}

#[test]
fn the_version_is_one_line() {
    let ran = Cli::bare().run(&["--version"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "toolspan [VERSION]\n"));
}

#[test]
fn a_wrong_command_is_a_usage_error_with_a_suggestion() {
    assert_snapshot!(Cli::bare().run(&["tols"]));
}

#[test]
fn a_wrong_command_line_is_told_as_json_too() {
    let ran = Cli::bare().run(&["tools", "--nonsense", "--json"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.json()["error"]["kind"], "usage");
}

#[test]
fn without_a_config_the_error_says_what_to_do() {
    assert_snapshot!(Cli::bare().run(&["tools"]));
}

#[test]
fn a_file_of_the_current_folder_is_no_config_before_it_is_approved() {
    let cli = Cli::with_demo();
    let output = cli
        .command(&["tools"])
        .env_remove("TOOLSPAN_CONFIG")
        .output()
        .unwrap();
    assert_eq!(cli.ran(output).code, Some(8));
}

#[test]
fn global_options_may_stand_before_and_after_the_command() {
    let cli = Cli::with_demo();
    for arguments in [["--json", "tools"], ["tools", "--json"]] {
        assert_eq!(cli.run(&arguments).json().as_array().map(Vec::len), Some(6));
    }
}

#[test]
fn a_server_of_the_command_line_needs_no_config() {
    let ran = Cli::bare().run(&["--server", &crate::cli::server_line("honest"), "tools"]);
    assert_snapshot!(ran);
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let cli = Cli::with_demo();
    let mut child = cli.command(&["tools"]).spawn().unwrap();
    drop(child.stdout.take());
    let ran = cli.ran(child.wait_with_output().unwrap());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let cli = Cli::with_demo();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = cli
        .command(&["tools"])
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    let ran = cli.ran(output);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("failed to write the output"), "{ran}");
}

#[test]
fn colour_is_there_only_when_it_is_asked_for() {
    let cli = Cli::with_demo();
    let has_colour = |arguments: &[&str]| cli.run(arguments).stdout.contains('\u{1b}');
    assert!(!has_colour(&["tools"]));
    assert!(has_colour(&["tools", "--color", "always"]));
    assert!(!has_colour(&["tools", "--color=never"]));
}
