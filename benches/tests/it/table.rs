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

#[test]
fn a_quick_run_prints_every_row_of_rust_with_a_verdict_for_each_bar() {
    let output = table(&["--quick", "--rows=P4,P5,P6"]);
    let (text, talk) = (
        String::from_utf8(output.stdout).expect("text"),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{talk}");
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    let counts = (count("P4 "), count("P5 "), count("P6 "));
    assert_eq!(counts, (11, 5, 10), "{text}");
    let verdicts = text
        .split_whitespace()
        .filter(|word| matches!(*word, "ok" | "MISSED"));
    assert_eq!(verdicts.count(), 14, "{text}");
    assert!(!text.contains("NaN"), "{text}");
    assert!(talk.contains("cores"), "{talk}");
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
