//! How are tools listed for people? One row each, as much of the description as one sentence.

use toolspan::RegisteredTool;
use toolspan::guard::sanitise;

use super::Style;
use super::table::{Cell, Table};

/// Characters of a description in the table; the terminal's width cuts more.
const LONGEST_DESCRIPTION: usize = 200;

/// The table of `tools`: name, toolbox, first sentence of the description.
pub(crate) fn table(tools: &[&RegisteredTool]) -> Table {
    let mut table = Table::new(&["NAME", "TOOLBOX", "DESCRIPTION"]);
    for tool in tools {
        table.row([
            Cell::styled(&*tool.name, Style::Strong),
            sanitise::one_line(&tool.toolbox, 40).into(),
            first_sentence(&tool.definition.description).into(),
        ]);
    }
    table
}

/// A text up to the end of its first sentence or paragraph, on one line.
fn first_sentence(text: &str) -> String {
    let paragraph = text.trim_start().split("\n\n").next().unwrap_or_default();
    let line = sanitise::one_line(paragraph, LONGEST_DESCRIPTION);
    match line.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_sentence_is_listed() {
        assert_eq!(first_sentence("Gets it. Then more."), "Gets it.");
        assert_eq!(first_sentence("\n  Gets\n  it\n\nMore"), "Gets it");
        assert_eq!(first_sentence("Version 1.5 of it"), "Version 1.5 of it");
    }
}
