//! Does a property look as if its value must not be shown?

use crate::guard::secret::names_a_secret;

/// Words that mark a property as secret when they are among the words of its name.
const WORDS: &[&str] = &[
    "auth", "bearer", "cvc", "cvv", "key", "keys", "otp", "passcode", "pin", "pwd", "ssn",
];

/// Whether a name looks secret: `api_key`, `accessKey`, `X-Authorization`. Stricter than what is
/// used for names that people choose: a harmless name taken for a secret costs an excerpt in a
/// message, the other mistake costs a secret.
pub(super) fn looks_secret(name: &str) -> bool {
    names_a_secret(name)
        || words(name)
            .iter()
            .any(|word| WORDS.contains(&word.as_str()))
}

/// The words of `snake_case`, `kebab-case` and `camelCase` names, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for character in name.chars() {
        let starts = character.is_uppercase() && after_lower;
        if starts || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (character.is_alphanumeric(), words.last_mut()) {
            word.extend(character.to_lowercase());
        }
        after_lower = character.is_lowercase() || character.is_numeric();
    }
    words
}
