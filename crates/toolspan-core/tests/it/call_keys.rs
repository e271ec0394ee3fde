//! Do the names that a projection gives to properties fit every API, and lead back?

use std::collections::HashSet;

use proptest::prelude::*;
use toolspan_core::call::keys::{LONGEST_KEY, api_key, api_keys};

fn fits_every_api(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next();
    first.is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
        && name.len() <= LONGEST_KEY
}

#[test]
fn a_name_that_every_api_takes_stays() {
    let longest = "x".repeat(LONGEST_KEY);
    for name in ["query", "_id", "Name2", &longest] {
        assert_eq!(api_key(name, |_| true), name);
    }
    assert!(api_keys(["query", "limit"]).is_empty());
}

#[test]
fn a_name_that_is_too_long_or_empty_ends_in_digits_of_its_own() {
    let (one, other) = ("x".repeat(70) + "a", "x".repeat(70) + "b");
    let given = api_keys([one.as_str(), other.as_str(), "", "🦀"]);
    assert_ne!(given[one.as_str()], given[other.as_str()]);
    assert_eq!(given[one.as_str()].len(), LONGEST_KEY);
    assert!(given[""].starts_with('_') && given[""].len() == 9);
    assert_eq!(given["🦀"], "_");
}

#[test]
fn a_changed_name_never_takes_that_of_another_property() {
    let given = api_keys(["page-size", "page_size", "page.size"]);
    assert_eq!(given.len(), 2);
    for name in given.values() {
        assert!(name.starts_with("page_size_"), "{name}");
    }
    assert_ne!(given["page-size"], given["page.size"]);
}

proptest! {
    #[test]
    fn changed_names_fit_are_unique_and_do_not_depend_on_the_order(
        names in prop::collection::hash_set("[ab$. -]{0,3}|[ab]{63,70}|\\PC{0,3}", 0..30),
    ) {
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        let given = api_keys(names.iter().copied());
        let mut all: HashSet<&str> = names
            .iter()
            .copied()
            .filter(|name| !given.contains_key(name))
            .collect();
        for name in all.iter().copied().chain(given.values().map(String::as_str)) {
            prop_assert!(fits_every_api(name), "{}", name);
        }
        for name in given.values() {
            prop_assert!(all.insert(name), "{} twice", name);
        }
        names.reverse();
        prop_assert_eq!(given, api_keys(names.iter().copied()));
    }
}
