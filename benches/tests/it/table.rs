//! Is the table produced, whatever its figures are?

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
fn a_quick_run_prints_every_row_with_a_verdict_for_each_bar() {
    let output = table(&["--quick"]);
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
