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

/// The exposed names of tools, in the order given.
///
/// `<toolbox>__<tool>`; native tools and an empty prefix give the plain name. A name over
/// [`LONGEST`] is cut and gets `_` and 8 hex digits of a SHA-256 over toolbox and tool. Where
/// several tools come to the same name, a native tool keeps it, else the only one that needed no
/// replaced character; all others get the digits. So no name ever changes its meaning because
/// another toolbox gained a tool. The same origin twice gives the same name twice.
pub fn exposed(origins: &[Origin<'_>]) -> Vec<String> {
    let candidates: Vec<Candidate> = origins.iter().map(Candidate::of).collect();
    let mut holders: HashMap<&str, Vec<&Candidate>> = HashMap::new();
    for candidate in &candidates {
        holders.entry(&candidate.name).or_default().push(candidate);
    }
    let keeps = |candidate: &Candidate| {
        holders.get(candidate.name.as_str()).is_none_or(|rivals| {
            let same_rank = |rank| rivals.iter().filter(|rival| rival.rank == rank).count();
            let best = rivals.iter().map(|rival| rival.rank).min();
            best == Some(candidate.rank) && same_rank(candidate.rank) == 1
        })
    };
    origins
        .iter()
        .zip(&candidates)
        .map(|(origin, candidate)| {
            if keeps(candidate) {
                candidate.name.clone()
            } else {
                with_digits(&candidate.name, origin)
            }
        })
        .collect()
}

/// A wished name and how strong the claim to it is; a lower rank is stronger.
struct Candidate {
    name: String,
    rank: u8,
}

impl Candidate {
    fn of(origin: &Origin<'_>) -> Self {
        let tool = sanitised(origin.tool);
        let prefix = origin
            .prefix
            .map_or_else(|| toolbox_prefix(origin.toolbox), sanitised);
        let whole = if origin.toolbox == NATIVE || prefix.is_empty() {
            tool.clone()
        } else {
            format!("{prefix}{SEPARATOR}{tool}")
        };
        let native = origin.toolbox == NATIVE;
        let prefix_unchanged = native || origin.prefix.is_some() || is_plain_key(origin.toolbox);
        let rank = match (native, prefix_unchanged && tool == origin.tool) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
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

/// A name cut so that `_` and 8 hex digits fit behind it.
fn with_digits(name: &str, origin: &Origin<'_>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(origin.toolbox);
    hasher.update([0]);
    hasher.update(origin.tool);
    let digest = hasher.finalize();
    let digits: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept: String = name.chars().take(LONGEST - 1 - digits.len()).collect();
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
