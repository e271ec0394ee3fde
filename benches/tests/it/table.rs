//! Is the table produced, whatever its figures are?

use std::path::Path;
use std::process::{Command, Output};

#[expect(
    clippy::disallowed_methods,
    reason = "a test may start the program it tests"
)]
fn table(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_table"))
        .args(arguments)
        .output()
        .expect("the table can be started")
}

/// Runs these rows quickly. Each must have so many lines, and all together so many verdicts.
fn assert_rows(rows: &[(&str, usize)], verdicts: usize) {
    let names: Vec<&str> = rows.iter().map(|(row, _)| *row).collect();
    let output = table(&["--quick", &format!("--rows={}", names.join(","))]);
    let (text, talk) = (
        String::from_utf8(output.stdout).expect("text"),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{talk}");
    let first = |line: &str| line.split(' ').next().map(str::to_owned);
    for (row, lines) in rows {
        let of_row = |line: &&str| first(line).is_some_and(|first| first == *row);
        assert_eq!(text.lines().filter(of_row).count(), *lines, "{row}: {text}");
    }
    let is_verdict = |word: &&str| matches!(*word, "ok" | "MISSED");
    let found = text.split_whitespace().filter(is_verdict);
    assert_eq!(found.count(), verdicts, "{text}");
    assert!(!text.contains("NaN"), "{text}");
    assert!(talk.contains("cores"), "{talk}");
}

#[test]
fn a_quick_run_prints_every_row_of_rust_with_a_verdict_for_each_bar() {
    assert_rows(&[("P4", 11), ("P5", 5), ("P6", 10)], 14);
}

// From here on with the module that `cargo xtask py` installs.

#[test]
fn a_quick_run_prints_the_rows_about_calls_from_python() {
    assert_rows(&[("P1", 5), ("P2", 6), ("P3", 1)], 7);
}

#[test]
fn a_quick_run_prints_the_rows_about_processes_in_python() {
    assert_rows(&[("P13", 4), ("P14", 4)], 4);
}

#[test]
fn a_quick_run_prints_the_row_about_tools_of_ones_own() {
    assert_rows(&[("P7", 10)], 4);
}

#[test]
fn a_quick_run_prints_the_row_about_recorded_tools() {
    assert_rows(&[("P8", 4)], 1);
}

#[test]
fn an_unknown_option_is_refused() {
    let output = table(&["--fast"]);
    assert!(!output.status.success());
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(talk.contains("\"--fast\" is no option"), "{talk}");
}

#[test]
fn an_environment_that_is_not_there_is_named_with_what_brings_it() {
    let output = table(&["--quick", "--rows=P3", "--tools=no-such-folder"]);
    assert!(!output.status.success());
    let talk = String::from_utf8_lossy(&output.stderr);
    let missing = "no-such-folder/python-ovos/bin/python is not there: run `cargo xtask setup`";
    assert!(talk.contains(missing), "{talk}");
}

#[test]
fn a_module_that_cannot_be_imported_is_an_error_that_names_the_row() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-module");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(
        folder.join("toolspan.py"),
        "raise ImportError('on purpose')",
    )
    .expect("a file");
    let module = format!("--module={}", folder.display());
    let output = table(&["--quick", "--rows=P3", &module]);
    assert!(!output.status.success());
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(
        talk.contains("table: P1 host.call: its process ended"),
        "{talk}"
    );
}
