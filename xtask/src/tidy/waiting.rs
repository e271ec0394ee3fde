//! Does a test wait for a while, or not run at all?

use super::finding::Finding;
use super::source::Source;

/// What a test must not say, and why.
const BANNED: [(&str, &str); 4] = [
    ("thread::sleep", SLEEP),
    ("time::sleep", SLEEP),
    ("std::thread::{sleep", SLEEP),
    ("tokio::time::{sleep", SLEEP),
];

const SLEEP: &str =
    "a test waits for an event with a deadline, or pauses the clock: never for a while";
const IGNORE: &str = "a test that does not run proves nothing: repair it or remove it";

/// No sleep in test code, no `#[ignore]` anywhere.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().flat_map(check_one).collect()
}

fn check_one(source: &Source) -> Vec<Finding> {
    let finding = |line, what: String, why| Finding {
        file: source.path.clone(),
        line,
        what,
        why,
    };
    let ignored = source
        .numbered()
        .filter(|(_, code)| code.contains("#[ignore"))
        .map(|(line, _)| finding(line, "`#[ignore]`".to_owned(), IGNORE));
    let sleeping = source.numbered_tests().filter_map(|(line, code)| {
        let (what, why) = BANNED.iter().find(|(what, _)| code.contains(what))?;
        Some(finding(line, format!("`{what}` in a test"), *why))
    });
    ignored.chain(sleeping).collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::check;

    fn findings(path: &str, text: &str) -> Vec<usize> {
        let sources = [Source::new(path.to_owned(), text)];
        check(&sources)
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn a_sleep_is_found_in_test_code_alone() {
        let code = "async fn a() { tokio::time::sleep(b).await }";
        assert_eq!(findings("crates/a/src/lib.rs", code), [0_usize; 0]);
        assert_eq!(findings("crates/a/tests/it/main.rs", code), [1]);
        let module = format!("fn c() {{}}\n#[cfg(test)]\nmod tests {{\n{code}\n}}");
        assert_eq!(findings("crates/a/src/lib.rs", &module), [4]);
    }

    #[test]
    fn an_ignored_test_is_found_everywhere() {
        assert_eq!(
            findings(
                "crates/a/src/lib.rs",
                "#[test]\n#[ignore = \"slow\"]\nfn a() {}"
            ),
            [2]
        );
    }
}
