//! Does every Rust file begin by saying which question it answers?

use super::finding::Finding;
use super::source::Source;

/// The first line of a file is `//! ` and a sentence.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| {
            let words = source.first_line.strip_prefix("//! ");
            words.is_none_or(|words| words.trim().is_empty())
        })
        .map(|source| Finding {
            file: source.path.clone(),
            line: 1,
            what: "the first line is no `//! ` sentence".to_owned(),
            why: "a file answers one question and says which on its first line",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::check;

    fn findings(text: &str) -> usize {
        check(&[Source::new("crates/a/src/lib.rs".to_owned(), text)]).len()
    }

    #[test]
    fn a_file_begins_with_a_sentence_about_itself() {
        assert_eq!(findings("//! What is a name?\n\nfn a() {}"), 0);
        assert_eq!(findings("use a;\n//! Too late."), 1);
        assert_eq!(findings("//! \n//! Still too late."), 1);
        assert_eq!(findings("// Not for the reader of the docs."), 1);
        assert_eq!(findings(""), 1);
    }
}
