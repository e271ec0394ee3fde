//! How does a person read an error? What happened, where, whether the tool ran, what to do next.

use toolspan::guard::sanitise;
use toolspan::{Error, ErrorKind, Outcome, Phase};

use super::{Output, Style, next_step};

/// Lines of a server's standard error that are shown with an error.
const STDERR_LINES: usize = 10;
/// Characters of one such line.
const STDERR_COLUMNS: usize = 300;
/// Characters of a message or a hint; both may quote what a server said.
const LONGEST_MESSAGE: usize = 4_000;

/// Writes an error to stderr.
pub(crate) fn error(output: &Output, error: &Error) {
    let label = output.paint_error(Style::Bad, "error:");
    let mut message = clean(error.message()).into_iter();
    output.error_line(&format!("{label} {}", message.next().unwrap_or_default()));
    for line in message {
        output.error_line(&format!("  {line}"));
    }
    violations(output, error);
    for (name, value) in place(error) {
        let name = output.paint_error(Style::Faint, &format!("{name}:"));
        output.error_line(&format!("  {name} {value}"));
    }
    if let Some(stderr) = error.stderr() {
        let title = output.paint_error(Style::Faint, "its last words on standard error:");
        output.error_line(&format!("  {title}"));
        for line in last_lines(stderr, STDERR_LINES) {
            output.error_line(&format!("    {line}"));
        }
    }
    if let Some(hint) = next_step::after(error) {
        let label = output.paint_error(Style::Hint, "hint:");
        output.error_line(&format!("{label} {}", clean(&hint).join(" ")));
    }
}

/// An error in one line, for a table or a list.
pub(crate) fn one_line(error: &Error) -> String {
    sanitise::one_line(error.message(), LONGEST_MESSAGE)
}

/// The last lines of a server's standard error, clean and bounded, without empty ones.
pub(crate) fn last_lines(stderr: &str, count: usize) -> Vec<String> {
    let lines = stderr
        .lines()
        .map(|line| sanitise::one_line(line, STDERR_COLUMNS));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let skipped = lines.len().saturating_sub(count);
    lines.into_iter().skip(skipped).collect()
}

/// What in the arguments broke the schema, unless the message says it already.
fn violations(output: &Output, error: &Error) {
    for violation in error.violations() {
        let line = sanitise::one_line(&violation.to_string(), LONGEST_MESSAGE);
        if !error.message().contains(&violation.to_string()) {
            output.error_line(&format!("  {line}"));
        }
    }
}

/// Where it happened, as far as it is known.
fn place(error: &Error) -> Vec<(&'static str, String)> {
    let name = |name: &str| sanitise::one_line(name, 200);
    let mut place = Vec::new();
    if let Some(toolbox) = error.toolbox() {
        place.push(("toolbox", name(toolbox)));
    }
    if let Some(tool) = error.tool() {
        place.push(("tool", name(tool)));
    }
    if let Some(code) = error.code() {
        place.push(("code", code.to_string()));
    }
    let is_start = matches!(
        error.phase(),
        Phase::Connect | Phase::Handshake | Phase::Discover
    );
    if is_start && error.toolbox().is_some() {
        place.push(("phase", error.phase().to_string()));
    }
    let was_called = matches!(error.phase(), Phase::Send | Phase::Call | Phase::Observe);
    if was_called && error.kind() != ErrorKind::ToolNotFound {
        place.push(("outcome", outcome(error.outcome()).to_owned()));
    }
    place
}

/// An outcome, and what it means for a second try.
fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::NotSent => "not_sent (the tool did not run)",
        Outcome::Unknown => "unknown (the tool may have run)",
        _ => "answered (the server replied)",
    }
}

fn clean(text: &str) -> Vec<String> {
    let bounded: String = text.chars().take(LONGEST_MESSAGE).collect();
    let clean = sanitise::for_people(&bounded).into_owned();
    clean
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_shown_and_they_are_harmless() {
        let stderr = "one\n\n\u{1b}[31mtwo\u{1b}[0m\nthree\n";
        assert_eq!(last_lines(stderr, 2), ["two", "three"]);
    }

    #[test]
    fn an_outcome_is_shown_where_a_call_was_tried() {
        let tried = Error::new(ErrorKind::Timeout, Phase::Call, "x").with_outcome(Outcome::Unknown);
        assert_eq!(
            place(&tried),
            [("outcome", "unknown (the tool may have run)".to_owned())]
        );
        assert!(place(&Error::new(ErrorKind::Config, Phase::Config, "x")).is_empty());
    }

    #[test]
    fn a_start_that_failed_says_how_far_it_came() {
        let failed = Error::new(ErrorKind::Timeout, Phase::Handshake, "x").in_toolbox("a");
        let expected = [("toolbox", "a"), ("phase", "handshake")];
        assert_eq!(
            place(&failed),
            expected.map(|(name, value)| (name, value.to_owned()))
        );
    }
}
