//! Is the official SDK named only where it is a peer or a demo server?

use super::finding::Finding;
use super::source::Source;

const NAME: &str = "rmcp";

/// Where the SDK may be named. This folder is left out, too: its rules name it as text.
const MAY: [&str; 4] = [
    "benches/",
    "crates/toolspan-cli/src/demo/",
    "crates/toolspan-mcp/tests/",
    "xtask/",
];

/// No code outside those folders names the SDK.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| !MAY.iter().any(|folder| source.path.starts_with(folder)))
        .flat_map(|source| {
            source
                .numbered()
                .filter(|(_, code)| names_it(code))
                .map(|(line, _)| Finding {
                    file: source.path.clone(),
                    line,
                    what: format!("`{NAME}` is named"),
                    why: "the client engine is ours; the SDK serves the demo, the benchmarks and the differential tests",
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn names_it(code: &str) -> bool {
    code.split(|part: char| !part.is_alphanumeric() && part != '_')
        .any(|word| word == NAME)
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::check;

    fn findings(path: &str, text: &str) -> usize {
        check(&[Source::new(path.to_owned(), text)]).len()
    }

    #[test]
    fn the_sdk_is_for_the_demo_and_the_benchmarks() {
        assert_eq!(
            findings("crates/toolspan-mcp/src/lib.rs", "use rmcp::model::Tool;"),
            1
        );
        assert_eq!(
            findings("crates/toolspan-cli/src/main.rs", "fn a(b: rmcp::Peer) {}"),
            1
        );
        assert_eq!(
            findings("crates/toolspan-cli/src/demo/server.rs", "use rmcp::model;"),
            0
        );
        assert_eq!(findings("benches/src/peer.rs", "use rmcp::model;"), 0);
        assert_eq!(
            findings(
                "crates/toolspan-mcp/src/lib.rs",
                "// unlike rmcp\nlet rmcpx = 1;"
            ),
            0
        );
    }
}
