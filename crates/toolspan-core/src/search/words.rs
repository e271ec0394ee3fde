//! What are the words of a text or a name?

/// Longest word, in characters; what is longer is cut.
const LONGEST: usize = 64;

/// The words of a text in lower case: runs of letters, and runs of digits. A name in camelCase is
/// several words, and so is one with `_` in it: `getHTTPResponse2` is `get`, `http`, `response`, `2`.
/// A plural of plain English is its singular.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut chars = text.chars().peekable();
    let mut word = String::new();
    let mut before: Option<char> = None;
    std::iter::from_fn(move || {
        loop {
            let Some(char) = chars.next() else {
                return (!word.is_empty()).then(|| plain(&std::mem::take(&mut word)));
            };
            let ends = !char.is_alphanumeric()
                || before.is_some_and(|before| is_edge(before, char, chars.peek()));
            let ended = ends && !word.is_empty();
            let finished = ended.then(|| std::mem::take(&mut word));
            before = char.is_alphanumeric().then_some(char);
            if before.is_some() && word.len() < LONGEST * 4 {
                word.extend(char.to_lowercase());
            }
            if let Some(finished) = finished {
                return Some(plain(&finished));
            }
        }
    })
}

/// Whether a new word begins with `char`: after a small letter with a capital one, between a letter
/// and a digit, and with the last capital letter of several before a small one.
fn is_edge(before: char, char: char, after: Option<&char>) -> bool {
    let is_number = before.is_numeric() != char.is_numeric();
    let begins = before.is_lowercase() && char.is_uppercase();
    let last_capital = before.is_uppercase()
        && char.is_uppercase()
        && after.is_some_and(|after| after.is_lowercase());
    is_number || begins || last_capital
}

/// The word, cut, without the ending of a plural.
fn plain(word: &str) -> String {
    let word: String = word.chars().take(LONGEST).collect();
    let keeps = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if keeps || word.len() < 4 {
        return word;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    match word.strip_suffix('s') {
        Some(stem) => stem.to_owned(),
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_style_are_words() {
        for (text, expected) in [
            ("getHTTPResponse2", "get http response 2"),
            ("XMLHttpRequest", "xml http request"),
            ("str_replace_editor", "str replace editor"),
            ("time__get-current.time", "time get current time"),
            ("utf8Text", "utf 8 text"),
            ("Größe der Datei", "größe der datei"),
            ("queries files status class", "query file status class"),
            ("", ""),
            ("--__!!", ""),
            ("日本語 tool", "日本語 tool"),
        ] {
            assert_eq!(
                words(text).collect::<Vec<_>>().join(" "),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn an_endless_word_is_cut() {
        let long = "a".repeat(1_000_000);
        let all: Vec<String> = words(&long).collect();
        assert_eq!(all, ["a".repeat(LONGEST)]);
    }
}
