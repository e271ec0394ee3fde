//! How a tool is called: the exposed name, its charset and length, and the way back.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// Longest exposed name, in characters; what every model API takes.
pub const LONGEST: usize = 64;
/// What stands between toolbox and tool in an exposed name.
pub const SEPARATOR: &str = "__";
/// The toolbox that native tools belong to.
pub const NATIVE: &str = "native";

/// A tool before it has its exposed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The toolbox's key as the config writes it.
    pub toolbox: &'a str,
    /// What stands before the separator, or `None` for the toolbox's key; empty for no prefix.
    pub prefix: Option<&'a str>,
    /// The tool's own name, as its server gave it.
    pub tool: &'a str,
}

/// A name with each character outside `[A-Za-z0-9_-]` replaced by `_`.
///
/// ```
/// assert_eq!(toolspan_core::name::sanitised("my.tool/x é"), "my_tool_x__");
/// ```
pub fn sanitised(name: &str) -> String {
    let allowed = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    name.chars()
        .map(|char| if allowed(char) { char } else { '_' })
        .collect()
}

/// The prefix that a toolbox key gives, with no `__` left in it, so that the first separator of
/// an exposed name ends the toolbox.
///
/// ```
/// use toolspan_core::name::toolbox_prefix;
/// assert_eq!(toolbox_prefix("my server.v2"), "my_server_v2");
/// assert_eq!(toolbox_prefix("a__b"), "a_b");
/// ```
pub fn toolbox_prefix(key: &str) -> String {
    let mut prefix = sanitised(key);
    while prefix.contains(SEPARATOR) {
        prefix = prefix.replace(SEPARATOR, "_");
    }
    prefix
}

/// Whether exposed names show this toolbox key as it is written.
pub fn is_plain_key(key: &str) -> bool {
    !key.is_empty() && toolbox_prefix(key) == key
}

/// What stands before the separator for each toolbox, in the order given, from its key and the
/// prefix that its config sets.
///
/// Where a key that had to be changed comes to the prefix of another toolbox, it gets `_` and 8 hex
/// digits: so a name never passes from one toolbox to another because the other one failed to
/// start. Prefixes that were set, and keys that are shown as written, stay as they are.
///
/// ```
/// use toolspan_core::name::prefixes;
/// let boxes = [("my.box", None), ("my_box", None), ("clock", Some("t"))];
/// let given = prefixes(&boxes);
/// assert!(given[0].starts_with("my_box_") && given[0].len() == "my_box_".len() + 8);
/// assert_eq!(given[1..], ["my_box", "t"]);
/// ```
pub fn prefixes(toolboxes: &[(&str, Option<&str>)]) -> Vec<String> {
    let wished: Vec<String> = toolboxes
        .iter()
        .map(|(key, prefix)| prefix.map_or_else(|| toolbox_prefix(key), sanitised))
        .collect();
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for prefix in &wished {
        *holders.entry(prefix).or_default() += 1;
    }
    toolboxes
        .iter()
        .zip(&wished)
        .map(|((key, set), prefix)| {
            let is_shared = holders.get(prefix.as_str()).is_some_and(|count| *count > 1);
            match is_shared && set.is_none() && !is_plain_key(key) {
                true => cut_with_digits(prefix, &[key.as_bytes()]),
                false => prefix.clone(),
            }
        })
        .collect()
}

/// The exposed names of tools, in the order given.
///
/// `<toolbox>__<tool>`; native tools and an empty prefix give the plain name. A name over
/// [`LONGEST`] is cut and gets `_` and 8 hex digits of a SHA-256 over toolbox and tool. Where
/// several tools come to the same name, a native tool keeps it, else the only one that needed no
/// replaced character; all others get the digits. So no name ever changes its meaning because
/// another toolbox gained a tool. The same origin twice gives the same name twice.
pub fn exposed(origins: &[Origin<'_>]) -> Vec<String> {
    let candidates: Vec<Candidate> = origins.iter().map(Candidate::of).collect();
    let mut claims: HashMap<&str, Claim<'_>> = HashMap::new();
    for (candidate, origin) in candidates.iter().zip(origins) {
        claims
            .entry(&candidate.name)
            .and_modify(|claim| claim.add(candidate.rank, origin))
            .or_insert(Claim {
                rank: candidate.rank,
                origin,
                is_contested: false,
            });
    }
    origins
        .iter()
        .zip(&candidates)
        .map(|(origin, candidate)| {
            let keeps = claims
                .get(candidate.name.as_str())
                .is_none_or(|claim| !claim.is_contested && claim.origin == origin);
            if keeps {
                candidate.name.clone()
            } else {
                with_digits(&candidate.name, origin)
            }
        })
        .collect()
}

/// The strongest claim to a name so far.
struct Claim<'a> {
    rank: u8,
    origin: &'a Origin<'a>,
    /// Whether another origin has an equal claim: then nobody gets the name.
    is_contested: bool,
}

impl<'a> Claim<'a> {
    fn add(&mut self, rank: u8, origin: &'a Origin<'a>) {
        if rank < self.rank {
            *self = Self {
                rank,
                origin,
                is_contested: false,
            };
        } else if rank == self.rank && origin != self.origin {
            self.is_contested = true;
        }
    }
}

/// A wished name and how strong the claim to it is; a lower rank is stronger.
struct Candidate {
    name: String,
    rank: u8,
}

impl Candidate {
    fn of(origin: &Origin<'_>) -> Self {
        let tool = sanitised(origin.tool);
        let is_native = origin.toolbox == NATIVE;
        let prefix = origin
            .prefix
            .map_or_else(|| toolbox_prefix(origin.toolbox), sanitised);
        let is_prefix_exact = is_native
            || origin
                .prefix
                .map_or_else(|| is_plain_key(origin.toolbox), |written| written == prefix);
        let is_exact = is_prefix_exact && tool == origin.tool;
        let rank = match (is_native, is_exact) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        };
        let whole = if is_native || prefix.is_empty() {
            tool
        } else {
            format!("{prefix}{SEPARATOR}{tool}")
        };
        let fits = !whole.is_empty() && whole.len() <= LONGEST;
        let name = if fits {
            whole
        } else {
            with_digits(&whole, origin)
        };
        Self { name, rank }
    }
}

/// Characters of a name that stay before `_` and the digits.
const KEPT: usize = LONGEST - 9;

/// Whether an exposed name may mean a tool of the toolbox with this prefix, as [`prefixes`] gives
/// it. Never so for an empty prefix: such a name does not show whose it is.
pub fn may_begin(exposed: &str, prefix: &str) -> bool {
    if prefix.is_empty() {
        return false;
    }
    let is_whole = exposed
        .strip_prefix(prefix)
        .is_some_and(|rest| rest.starts_with(SEPARATOR));
    // Of a long prefix only the head is left in a name that was cut.
    let is_cut = || {
        exposed.len() == LONGEST
            && exposed
                .get(..KEPT)
                .is_some_and(|head| format!("{prefix}{SEPARATOR}").starts_with(head))
    };
    is_whole || is_cut()
}

/// A name without the `_` and 8 hex digits that tell its origin; `None` where it has none. Also a
/// tool's own name may end so.
pub(crate) fn without_digits(name: &str) -> Option<&str> {
    let (whole, digits) = name.rsplit_once('_')?;
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 8 && digits.bytes().all(is_hex)).then_some(whole)
}

/// A name cut so that `_` and 8 hex digits, which tell its origin, fit behind it.
fn with_digits(name: &str, origin: &Origin<'_>) -> String {
    cut_with_digits(
        name,
        &[origin.toolbox.as_bytes(), &[0], origin.tool.as_bytes()],
    )
}

/// A name cut so that `_` and 8 hex digits of a SHA-256 over the parts fit behind it.
fn cut_with_digits(name: &str, parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    let digits: String = hasher
        .finalize()
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept: String = name.chars().take(KEPT).collect();
    format!("{kept}_{digits}")
}

/// The names nearest to a wrong one, best first, at most `count`.
///
/// ```
/// let names = ["time__get_current_time", "time__convert_time", "git__log"];
/// let near = toolspan_core::name::nearest("get_curent_time", names, 3);
/// assert_eq!(near[0], "time__get_current_time");
/// ```
pub fn nearest<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    /// Beyond this many characters a name is compared by its head: the cost grows with the square.
    const COMPARED: usize = 128;
    let head = |text: &str| {
        text.chars()
            .take(COMPARED)
            .collect::<String>()
            .to_lowercase()
    };
    let wrong = head(wrong);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let lower = head(name);
            let tail = lower
                .split_once(SEPARATOR)
                .map_or(lower.as_str(), |(_, tool)| tool);
            let whole = strsim::jaro_winkler(&wrong, &lower);
            (whole.max(strsim::jaro_winkler(&wrong, tail)), name)
        })
        .collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored
        .into_iter()
        .take(count)
        .map(|(_, name)| name)
        .collect()
}

/// A snake_case tool name from a type's name, without a final `Tool`.
///
/// ```
/// use toolspan_core::name::from_type;
/// assert_eq!(from_type("TerminalTool"), "terminal");
/// assert_eq!(from_type("XMLHttpRequest"), "xml_http_request");
/// assert_eq!(from_type("HTTP2Tool"), "http2");
/// assert_eq!(from_type("BrowserToolSet"), "browser_tool_set");
/// assert_eq!(from_type("Tool"), "tool");
/// ```
pub fn from_type(type_name: &str) -> String {
    let chars: Vec<char> = type_name.chars().collect();
    let mut name = String::with_capacity(chars.len() + 4);
    for (index, char) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| chars.get(i));
        let after = chars.get(index + 1);
        let word_begins = char.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if word_begins {
            name.push('_');
        }
        name.extend(char.to_lowercase());
    }
    match name.strip_suffix("_tool") {
        Some(stem) if !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin<'a>(toolbox: &'a str, tool: &'a str) -> Origin<'a> {
        Origin {
            toolbox,
            prefix: None,
            tool,
        }
    }

    #[test]
    fn toolbox_and_tool_are_joined_however_many_there_are() {
        assert_eq!(exposed(&[origin("time", "now")]), ["time__now"]);
        assert_eq!(exposed(&[origin("native", "now")]), ["now"]);
    }

    #[test]
    fn a_prefix_replaces_the_key_and_an_empty_one_removes_it() {
        let named = |prefix| Origin {
            toolbox: "time",
            prefix: Some(prefix),
            tool: "now",
        };
        assert_eq!(exposed(&[named("")]), ["now"]);
        assert_eq!(exposed(&[named("clock")]), ["clock__now"]);
    }

    #[test]
    fn long_names_are_cut_and_told_apart_by_digits() {
        let (a, b) = ("x".repeat(199) + "a", "x".repeat(199) + "b");
        let names = exposed(&[origin("box", &a), origin("box", &b)]);
        assert_eq!(names[0].len(), LONGEST);
        assert_ne!(names[0], names[1]);
        assert!(names[0].starts_with("box__xxx"));
        assert_eq!(names, exposed(&[origin("box", &a), origin("box", &b)]));
    }

    #[test]
    fn exactly_sixty_four_characters_are_not_cut() {
        let tool = "t".repeat(64 - "box__".len());
        assert_eq!(exposed(&[origin("box", &tool)]), [format!("box__{tool}")]);
    }

    #[test]
    fn a_replaced_character_never_takes_the_name_of_an_exact_one() {
        let names = exposed(&[
            origin("box", "a.b"),
            origin("box", "a_b"),
            origin("box", "a/b"),
        ]);
        assert_eq!(names[1], "box__a_b");
        assert!(names[0].starts_with("box__a_b_") && names[2].starts_with("box__a_b_"));
        assert_ne!(names[0], names[2]);
    }

    #[test]
    fn equal_claims_all_get_digits_whatever_the_order() {
        let plain = |toolbox| Origin {
            toolbox,
            prefix: Some(""),
            tool: "search",
        };
        let forth = exposed(&[plain("a"), plain("b")]);
        let mut back = exposed(&[plain("b"), plain("a")]);
        back.reverse();
        assert_eq!(forth, back);
        assert!(
            forth
                .iter()
                .all(|name| name.starts_with("search_") && name.len() == 15)
        );
    }

    #[test]
    fn a_native_tool_keeps_its_name() {
        let served = Origin {
            toolbox: "a",
            prefix: Some(""),
            tool: "add",
        };
        let names = exposed(&[served, origin("native", "add")]);
        assert_eq!(names[1], "add");
        assert_ne!(names[0], "add");
    }

    #[test]
    fn a_tool_that_is_listed_twice_keeps_its_plain_name() {
        let names = exposed(&[origin("time", "now"), origin("time", "now")]);
        assert_eq!(names, ["time__now", "time__now"]);
    }

    #[test]
    fn an_exact_native_name_is_stronger_than_a_changed_one() {
        let names = exposed(&[origin("native", "a b"), origin("native", "a_b")]);
        assert_eq!(names[1], "a_b");
        assert_ne!(names[0], "a_b");
    }

    #[test]
    fn a_prefix_that_had_to_be_changed_is_a_weaker_claim() {
        let named = |toolbox, prefix| Origin {
            toolbox,
            prefix: Some(prefix),
            tool: "now",
        };
        let names = exposed(&[named("a", "t.x"), named("b", "t_x")]);
        assert_eq!(names[1], "t_x__now");
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn keys_that_come_to_one_prefix_are_told_apart_and_exact_ones_stay() {
        let given = prefixes(&[
            ("a.b", None),
            ("a b", None),
            ("a_b", None),
            ("c", Some("a_b")),
        ]);
        assert_eq!(given[2..], ["a_b", "a_b"]);
        assert!(
            given[0] != given[1] && given[0].starts_with("a_b_"),
            "{given:?}"
        );
        assert_eq!(prefixes(&[("a.b", None), ("c", None)]), ["a_b", "c"]);
    }

    #[test]
    fn a_cut_name_still_shows_whose_it_may_be() {
        let key = "k".repeat(70);
        let name = &exposed(&[origin(&key, "now")])[0];
        assert!(may_begin(name, &toolbox_prefix(&key)));
        assert!(may_begin("time__now", "time") && !may_begin("time_now", "time"));
        assert!(!may_begin("now", "") && !may_begin("__now", ""));
    }

    proptest::proptest! {
        #[test]
        fn names_are_legal_unique_and_lead_back(
            tools in proptest::collection::hash_set(
                ("[a-c._ é]{0,4}", proptest::option::of("[a._]{0,2}"), "[a-b._🦀]{0,3}|[ab]{60,70}"),
                0..40,
            ),
        ) {
            // A toolbox has one prefix: the first that is drawn for its key.
            let mut set = HashMap::new();
            let tools: std::collections::BTreeSet<(String, Option<String>, String)> = tools
                .into_iter()
                .map(|(key, prefix, tool)| {
                    let prefix = set.entry(key.clone()).or_insert(prefix).clone();
                    (key, prefix, tool)
                })
                .collect();
            let origins: Vec<Origin<'_>> = tools
                .iter()
                .map(|(toolbox, prefix, tool)| Origin { toolbox, prefix: prefix.as_deref(), tool })
                .collect();
            let names = exposed(&origins);
            for name in &names {
                proptest::prop_assert!(!name.is_empty() && name.len() <= LONGEST, "{}", name);
                proptest::prop_assert_eq!(&sanitised(name), name);
            }
            let unique: std::collections::HashSet<&String> = names.iter().collect();
            proptest::prop_assert_eq!(unique.len(), origins.len());
            // The order of arrival changes no name.
            let mut reversed: Vec<Origin<'_>> = origins.clone();
            reversed.reverse();
            let mut back = exposed(&reversed);
            back.reverse();
            proptest::prop_assert_eq!(back, names);
        }
    }

    #[test]
    fn odd_names_become_legal_ones() {
        for tool in ["", "🦀", "a b", "../x", &"é".repeat(200)] {
            let name = &exposed(&[origin("my box", tool)])[0];
            assert!(name.len() <= LONGEST && !name.is_empty(), "{name}");
            assert_eq!(&sanitised(name), name);
        }
        assert!(
            !exposed(&[Origin {
                toolbox: "a",
                prefix: Some(""),
                tool: ""
            }])[0]
                .is_empty()
        );
    }
}
