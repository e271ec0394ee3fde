//! Which problems of a config are those of a server that a call does not need?
//!
//! A full name starts its own server alone, so what is odd about the others is told by the commands
//! that start them.

use toolspan::config::{Problem, Resolved};
use toolspan::name::toolbox_prefix;

/// Where a config has its servers; an empty place is the config itself.
const PLACES: [&str; 3] = ["mcpServers.", "servers.", ""];

/// The keys of all toolboxes but the one whose tool has this full name; none where the name does not
/// say which one that is.
pub(crate) fn others<'a>(config: &'a Resolved, tool: &str) -> Vec<&'a str> {
    let is_its_own = |key: &str, prefix: Option<&str>| {
        let prefix = prefix.map_or_else(|| toolbox_prefix(key), str::to_owned);
        let exposed = tool
            .strip_prefix(&prefix)
            .is_some_and(|rest| !prefix.is_empty() && rest.starts_with("__"));
        let dotted = tool.strip_prefix(key).is_some_and(|it| it.starts_with('.'));
        exposed || dotted
    };
    let (own, others): (Vec<_>, Vec<_>) = config
        .toolboxes
        .iter()
        .partition(|toolbox| is_its_own(&toolbox.key, toolbox.prefix.as_deref()));
    match own.len() {
        1 => others.iter().map(|toolbox| toolbox.key.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Whether a problem is in the entry of one of these toolboxes. Keys that are written in quotes are
/// not looked for: what is odd there is always said.
pub(crate) fn is_of(problem: &Problem, keys: &[&str]) -> bool {
    keys.iter().any(|key| {
        PLACES.iter().any(|place| {
            let inside = problem.key_path.strip_prefix(place);
            let rest = inside.and_then(|path| path.strip_prefix(key));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolspan::config::Environment;

    use super::*;

    /// What is told with a call of this name: the places of the problems.
    fn told(tool: &str) -> Vec<String> {
        let config = json!({"mcpServers": {
            "a": {"command": "x", "timeoutMs": 1},
            "a_b": {"command": "x", "prefix": "p", "timeoutMs": 1},
            "none": {"command": "x", "prefix": "", "timeoutMs": 1},
        }, "nothing": 1});
        let environment = Environment::from_pairs::<&str, &str>([]);
        let config = Resolved::from_value(&config, &environment).unwrap();
        let others = others(&config, tool);
        let told = config.warnings.iter().filter(|it| !is_of(it, &others));
        told.map(|problem| problem.key_path.clone()).collect()
    }

    #[test]
    fn a_full_name_concerns_its_own_server_and_the_whole_config() {
        let own = |key: &str| ["nothing".to_owned(), format!("mcpServers.{key}.timeoutMs")];
        assert_eq!(told("a__b__c"), own("a"));
        assert_eq!(told("a.tool"), own("a"));
        assert_eq!(told("p__tool"), own("a_b"));
        assert_eq!(told("a_b.tool"), own("a_b"));
    }

    #[test]
    fn a_short_name_concerns_all_servers() {
        for name in ["tool", "b__tool", "__tool"] {
            assert_eq!(told(name).len(), 4, "{name}");
        }
    }
}
