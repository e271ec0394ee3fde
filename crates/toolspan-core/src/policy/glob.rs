//! Which names does a pattern such as `*__drop_*` mean?

use std::borrow::Cow;

use crate::name;
use crate::registry::alias;

/// Longest pattern, in characters. A name is at most 64, `toolbox.tool` may be longer.
const LONGEST: usize = 256;

/// A pattern over names: `*` is any run of characters, `?` is one; everything else is itself, case
/// included. It matches a whole name, never a part of it.
///
/// Matching takes at most the pattern's length times the name's steps and no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    pattern: Box<[char]>,
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGlob {
    /// It is empty, and would match nothing.
    #[error("a pattern of tool names is empty; * means all")]
    Empty,
    /// It has more than 256 characters.
    #[error("a pattern of tool names has {0} characters, more than 256")]
    TooLong(usize),
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// When it is blank or longer than 256 characters.
    pub fn new(pattern: &str) -> Result<Self, InvalidGlob> {
        let chars: Box<[char]> = pattern.chars().collect();
        match chars.len() {
            _ if pattern.trim().is_empty() => Err(InvalidGlob::Empty),
            length if length > LONGEST => Err(InvalidGlob::TooLong(length)),
            _ => Ok(Self {
                text: pattern.to_owned(),
                pattern: chars,
            }),
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern means this name, from its first character to its last.
    pub fn matches(&self, name: &str) -> bool {
        let mut rest = name.chars();
        let mut at = 0;
        // Where to go on when a run of `*` has to take one character more.
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let before = rest.clone();
            match (self.pattern.get(at), rest.next()) {
                (Some('*'), _) => {
                    at += 1;
                    retry = Some((at, before.clone()));
                    rest = before;
                }
                (Some('?'), Some(_)) => at += 1,
                (Some(wanted), Some(char)) if *wanted == char => at += 1,
                (None, None) => return true,
                _ => {
                    let Some((after_star, mut taken)) = retry.take() else {
                        return false;
                    };
                    if taken.next().is_none() {
                        return false;
                    }
                    at = after_star;
                    rest = taken.clone();
                    retry = Some((after_star, taken));
                }
            }
        }
    }
}

impl std::str::FromStr for Glob {
    type Err = InvalidGlob;

    fn from_str(pattern: &str) -> Result<Self, InvalidGlob> {
        Self::new(pattern)
    }
}

/// The names of a tool that a pattern is tried on.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) exposed: &'a str,
    pub(super) toolbox: &'a str,
    /// The source's own name.
    pub(super) original: &'a str,
    /// The name that a config gives it, or the source's own.
    pub(super) shown: &'a str,
}

impl Names<'_> {
    /// Every name by which somebody may mean the tool, some of them twice: those that calls may use,
    /// its own names alone, and the exposed name as it is without the digits that tell it from another
    /// tool's, so that a source cannot slip away by listing two tools of almost one name.
    fn all(&self) -> Vec<Cow<'_, str>> {
        let prefix = name::toolbox_prefix(self.toolbox);
        let mut all = vec![Cow::Borrowed(self.exposed)];
        all.extend(name::without_digits(self.exposed).map(Cow::Borrowed));
        for own in [self.original, self.shown] {
            all.push(own.into());
            all.push(format!("{}.{own}", self.toolbox).into());
            all.push(format!("{prefix}{}{}", name::SEPARATOR, name::sanitised(own)).into());
        }
        for known in [self.exposed, self.original, self.shown] {
            for other in alias::of_name(known) {
                all.push(Cow::Borrowed(other));
            }
        }
        all
    }
}

/// The first pattern that means the tool by any of its names: for rules that forbid.
pub(super) fn first_of_any<'g>(globs: &'g [Glob], names: Names<'_>) -> Option<&'g Glob> {
    if globs.is_empty() {
        return None;
    }
    let all = names.all();
    let means = |glob: &&Glob| all.iter().any(|name| glob.matches(name));
    globs.iter().find(means)
}

/// The first pattern that means the tool by its exposed name, by `toolbox.tool`, or, for native tools,
/// by an alias: for rules that allow. A source chooses the names of its tools, so that they count only
/// together with its own.
pub(super) fn first<'g>(globs: &'g [Glob], names: Names<'_>) -> Option<&'g Glob> {
    if globs.is_empty() {
        return None;
    }
    let dotted = format!("{}.{}", names.toolbox, names.original);
    let is_native = names.toolbox == name::NATIVE;
    let by_alias =
        |glob: &Glob| is_native && alias::of_name(names.exposed).any(|other| glob.matches(other));
    globs
        .iter()
        .find(|glob| glob.matches(names.exposed) || glob.matches(&dotted) || by_alias(glob))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).unwrap().matches(name)
    }

    #[test]
    fn a_pattern_means_whole_names() {
        for (pattern, name, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a", "ba", false),
            ("*", "", true),
            ("*", "anything at all", true),
            ("?", "", false),
            ("?", "é", true),
            ("??", "a", false),
            ("*__drop_*", "db__drop_table", true),
            ("*__drop_*", "db__dropped", false),
            ("*__drop_*", "__drop_", true),
            ("get_*", "get_", true),
            ("get_*", "forget_me", false),
            ("*_delete", "file_delete", true),
            ("*_delete", "file_delete_all", false),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1b2b3", false),
            ("**a", "bba", true),
            ("a*", "A1", false),
            ("fs.*", "fs.read", true),
            ("fs.*", "fsxread", false),
            ("[ab]", "a", false),
            ("[ab]", "[ab]", true),
            ("*?", "", false),
            ("a?c", "a.c", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} on {name}");
        }
    }

    #[test]
    fn both_names_of_a_tool_are_tried_and_the_first_pattern_that_fits_is_named() {
        let globs = ["x*", "my box.dr*", "*"].map(|pattern| Glob::new(pattern).unwrap());
        let names = Names {
            exposed: "my_box__drop",
            toolbox: "my box",
            original: "drop",
            shown: "drop",
        };
        assert_eq!(first(&globs, names).unwrap().as_str(), "my box.dr*");
        assert!(first(&globs[..1], names).is_none());
    }

    #[test]
    fn a_rule_that_forbids_means_a_tool_by_every_name_and_one_that_allows_by_no_bare_name() {
        let names = Names {
            exposed: "my_box__drop_1_0a1b2c3d",
            toolbox: "my box",
            original: "drop/1",
            shown: "tidy",
        };
        for pattern in [
            "my_box__drop_1_0a1b2c3d",
            "my_box__drop_1",
            "my box.drop/1",
            "my box.tidy",
            "my_box__tidy",
            "drop/1",
            "tidy",
            "t*y",
        ] {
            let globs = [Glob::new(pattern).unwrap()];
            assert!(first_of_any(&globs, names).is_some(), "{pattern}");
            let allows = matches!(pattern, "my_box__drop_1_0a1b2c3d" | "my box.drop/1");
            assert_eq!(first(&globs, names).is_some(), allows, "{pattern}");
        }
        let other = [Glob::new("drop").unwrap(), Glob::new("box.tidy").unwrap()];
        assert!(first_of_any(&other, names).is_none());
    }

    #[test]
    fn an_alias_means_the_native_tool_and_to_forbid_it_every_tool_of_the_name() {
        let globs = [Glob::new("execute_bash").unwrap()];
        let native = Names {
            exposed: "terminal",
            toolbox: name::NATIVE,
            original: "terminal",
            shown: "terminal",
        };
        let foreign = Names {
            exposed: "box__terminal",
            toolbox: "box",
            ..native
        };
        assert!(first_of_any(&globs, native).is_some() && first(&globs, native).is_some());
        assert!(first_of_any(&globs, foreign).is_some() && first(&globs, foreign).is_none());
    }

    #[test]
    fn an_empty_or_endless_pattern_is_refused() {
        assert_eq!(Glob::new(" "), Err(InvalidGlob::Empty));
        assert_eq!(Glob::new(&"a".repeat(257)), Err(InvalidGlob::TooLong(257)));
    }

    #[test]
    fn many_stars_cost_no_more_than_pattern_times_name() {
        let pattern = "*a".repeat(120) + "b";
        let name = "a".repeat(20_000);
        assert!(!matches(&pattern, &name));
    }

    proptest::proptest! {
        #[test]
        fn a_pattern_agrees_with_the_plain_definition(
            pattern in "[ab*?]{1,8}",
            name in "[abc]{0,8}",
        ) {
            fn plain(pattern: &[u8], name: &[u8]) -> bool {
                match (pattern.split_first(), name.split_first()) {
                    (None, None) => true,
                    (Some((b'*', more)), _) =>
                        plain(more, name) || !name.is_empty() && plain(pattern, &name[1..]),
                    (Some((b'?', more)), Some((_, rest))) => plain(more, rest),
                    (Some((wanted, more)), Some((given, rest))) =>
                        wanted == given && plain(more, rest),
                    _ => false,
                }
            }
            let expected = plain(pattern.as_bytes(), name.as_bytes());
            proptest::prop_assert_eq!(matches(&pattern, &name), expected);
        }
    }
}
