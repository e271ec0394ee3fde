//! Is a wrong property name so near to a known one that nothing else can be meant?
//!
//! Stricter than the nearness of a suggestion, since nobody reads the outcome before it is sent:
//! `userName` is `user_name` and `querry` is `query`, but `source_id` is not `source_ip`, `file1` is
//! not `file2` and `min_size` is not `max_size`.

/// Names compared for one wrong name.
const COMPARED: usize = 1_000;
/// Characters of a name that is compared.
const LONGEST: usize = 64;
/// Characters from which on a word may have one slip.
const SLIP_FROM: usize = 5;

/// Names that a wrong one can mean, read once for all wrong ones.
pub(super) struct Known<'k> {
    names: Vec<Name<'k>>,
}

struct Name<'k> {
    text: &'k str,
    words: Vec<String>,
    /// The words without a gap.
    letters: String,
}

impl<'k> Known<'k> {
    pub(super) fn of(names: impl IntoIterator<Item = &'k str>) -> Self {
        let names = names.into_iter().take(COMPARED).filter_map(|text| {
            let words = words(text)?;
            let letters = words.concat();
            Some(Name {
                text,
                words,
                letters,
            })
        });
        Self {
            names: names.collect(),
        }
    }

    /// The only one that a wrong name can mean; `None` where none or several can be meant.
    pub(super) fn only_near(&self, wrong: &str) -> Option<&'k str> {
        let wrong = words(wrong)?;
        let letters = wrong.concat();
        let near: Vec<(&str, bool)> = self
            .names
            .iter()
            .filter_map(|name| {
                let is_same = name.letters == letters;
                (is_same || differ_by_one_slip(&wrong, &name.words)).then_some((name.text, is_same))
            })
            .collect();
        // The same letters are a better reason than a slip.
        let same: Vec<&str> = near
            .iter()
            .filter(|near| near.1)
            .map(|near| near.0)
            .collect();
        match (same.as_slice(), near.as_slice()) {
            ([only], _) | ([], [(only, _)]) => Some(only),
            _ => None,
        }
    }
}

/// Whether one word has one letter too much, too few, wrong or swapped with its neighbour, and all
/// else is the same. A first letter and digits are never a slip.
fn differ_by_one_slip(one: &[String], other: &[String]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut slips = one.iter().zip(other).filter(|(one, other)| one != other);
    match (slips.next(), slips.next()) {
        (Some((one, other)), None) => {
            let is_long = one.chars().count().min(other.chars().count()) >= SLIP_FROM;
            is_long
                && one.chars().next() == other.chars().next()
                && digits(one).eq(digits(other))
                && strsim::damerau_levenshtein(one, other) == 1
        }
        _ => false,
    }
}

fn digits(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(char::is_ascii_digit)
}

/// The words of `snake_case`, `kebab-case` and `camelCase` names, in lower case; `None` for a name
/// that is too long to be compared.
fn words(name: &str) -> Option<Vec<String>> {
    if name.chars().nth(LONGEST).is_some() {
        return None;
    }
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for char in name.chars() {
        let is_part = char.is_alphanumeric();
        if !is_part || (char.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (is_part, words.last_mut()) {
            word.extend(char.to_lowercase());
        }
        after_lower = char.is_lowercase() || char.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_near<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
        Known::of(known).only_near(wrong)
    }

    #[test]
    fn a_name_is_near_when_only_its_spelling_differs() {
        for (wrong, known) in [
            ("userName", "user_name"),
            ("user-name", "user_name"),
            ("Path", "path"),
            ("username", "user_name"),
            ("querry", "query"),
            ("qeury", "query"),
            ("timezones", "timezone"),
            ("max_resluts", "max_results"),
        ] {
            assert_eq!(only_near(wrong, [known, "other"]), Some(known), "{wrong}");
        }
    }

    #[test]
    fn a_name_that_may_mean_something_else_is_not_near() {
        for (wrong, known) in [
            ("source_id", "source_ip"),
            ("file1", "file2"),
            ("min_size", "max_size"),
            ("height", "weight"),
            ("include", "exclude"),
            ("increment", "decrement"),
            ("mode", "model"),
            ("lat", "lng"),
            ("from", "to"),
            ("x", "y"),
            ("start_date", "end_date"),
            ("querry_txet", "query_text"),
            ("", "a"),
            ("_", "__"),
        ] {
            assert_eq!(only_near(wrong, [known]), None, "{wrong} {known}");
        }
    }

    #[test]
    fn of_several_near_names_only_the_one_of_the_same_letters_is_meant() {
        assert_eq!(only_near("labels_", ["label", "labels"]), Some("labels"));
        assert_eq!(only_near("queryy", ["query", "querys"]), None);
        assert_eq!(only_near("a_b", ["ab", "aB"]), None);
    }
}
