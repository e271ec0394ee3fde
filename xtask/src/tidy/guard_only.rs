//! Does `toolspan-io` know nothing of `toolspan-core` but its `guard`?

use super::finding::Finding;
use super::source::Source;

const CRATE: &str = "crates/toolspan-io/";
const NAME: &str = "toolspan_core";

/// Every mention of the core in the code of io goes on with `::guard`.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| source.path.starts_with(CRATE))
        .flat_map(|source| {
            source
                .numbered()
                .filter(|(_, code)| names_more(code))
                .map(|(line, code)| Finding {
                    file: source.path.clone(),
                    line,
                    what: format!("`{}` reaches beyond toolspan_core::guard", code.trim()),
                    why: "io moves bytes and must not learn what a tool is",
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn names_more(code: &str) -> bool {
    let goes_on = |next: char| next.is_alphanumeric() || next == '_';
    code.split(NAME).skip(1).any(|after| {
        after
            .strip_prefix("::guard")
            .is_none_or(|after| after.starts_with(goes_on))
    })
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::check;

    fn findings(path: &str, text: &str) -> usize {
        check(&[Source::new(path.to_owned(), text)]).len()
    }

    #[test]
    fn io_names_the_guard_alone() {
        let io = "crates/toolspan-io/src/lib.rs";
        assert_eq!(
            findings(
                io,
                "use toolspan_core::guard::Secret;\nuse toolspan_core::guard;"
            ),
            0
        );
        assert_eq!(findings(io, "use toolspan_core::tool::Tool;"), 1);
        assert_eq!(findings(io, "use toolspan_core::{guard, tool};"), 1);
        assert_eq!(findings(io, "use toolspan_core::guardian::Angel;"), 1);
        assert_eq!(findings(io, "/// See `toolspan_core::tool`."), 0);
    }

    #[test]
    fn other_crates_may_know_the_whole_core() {
        assert_eq!(
            findings(
                "crates/toolspan-mcp/src/lib.rs",
                "use toolspan_core::tool::Tool;"
            ),
            0
        );
    }
}
