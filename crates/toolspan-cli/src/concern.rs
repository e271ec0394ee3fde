//! Which servers does a command need, and which ones can be left alone?
//!
//! A full name starts its own server alone, so nothing is asked for the others, and what is odd about
//! them is told by the commands that start them.

use toolspan::config::{Problem, ToolboxConfig};
use toolspan::name::toolbox_prefix;

/// What a command is about.
#[derive(Clone, Copy)]
pub(crate) enum Concern<'a> {
    /// All servers.
    All,
    /// The server whose tool has this name; all where the name does not say which one that is.
    Tool(&'a str),
    /// The server with this key.
    Toolbox(&'a str),
}

impl Concern<'_> {
    /// The keys of the toolboxes that it does not need.
    pub(crate) fn others<'a, I>(self, toolboxes: I) -> Vec<&'a str>
    where
        I: IntoIterator<Item = &'a ToolboxConfig>,
    {
        let is_needed = |toolbox: &ToolboxConfig| match self {
            Self::All => true,
            Self::Tool(tool) => owns(toolbox, tool),
            Self::Toolbox(key) => toolbox.key == key,
        };
        let (own, others): (Vec<_>, Vec<_>) = toolboxes.into_iter().partition(|it| is_needed(it));
        match (self, own.len()) {
            (Self::Tool(_), 1) | (Self::Toolbox(_), _) => {
                others.iter().map(|toolbox| toolbox.key.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn owns(toolbox: &ToolboxConfig, tool: &str) -> bool {
    let key = toolbox.key.as_str();
    let prefix = toolbox.prefix.clone();
    let prefix = prefix.unwrap_or_else(|| toolbox_prefix(key));
    let exposed = tool
        .strip_prefix(&prefix)
        .is_some_and(|rest| !prefix.is_empty() && rest.starts_with("__"));
    let dotted = tool.strip_prefix(key).is_some_and(|it| it.starts_with('.'));
    exposed || dotted
}

/// Whether a problem is in the entry of one of these toolboxes.
pub(crate) fn is_of(problem: &Problem, keys: &[&str]) -> bool {
    keys.iter().any(|key| problem.is_of_toolbox(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolspan::config::{Environment, Resolved};

    use super::*;

    /// What is told by a command that is about this: the places of the problems.
    fn told(concern: Concern<'_>) -> Vec<String> {
        let config = json!({"mcpServers": {
            "a": {"command": "x", "timeoutMs": 1},
            "a_b": {"command": "x", "prefix": "p", "timeoutMs": 1},
            "none": {"command": "x", "prefix": "", "timeoutMs": 1},
            "an odd key": {"command": "x", "prefix": "odd", "timeoutMs": 1},
        }, "nothing": 1});
        let environment = Environment::from_pairs::<&str, &str>([]);
        let config = Resolved::from_value(&config, &environment).unwrap();
        let others = concern.others(&config.toolboxes);
        let told = config.warnings.iter().filter(|it| !is_of(it, &others));
        told.map(|problem| problem.key_path.clone()).collect()
    }

    #[test]
    fn a_full_name_concerns_its_own_server_and_the_whole_config() {
        let own = |key: &str| ["nothing".to_owned(), format!("mcpServers{key}.timeoutMs")];
        assert_eq!(told(Concern::Tool("a__b__c")), own(".a"));
        assert_eq!(told(Concern::Tool("a.tool")), own(".a"));
        assert_eq!(told(Concern::Tool("p__tool")), own(".a_b"));
        assert_eq!(told(Concern::Tool("a_b.tool")), own(".a_b"));
        assert_eq!(told(Concern::Tool("odd__tool")), own("[\"an odd key\"]"));
        assert_eq!(told(Concern::Toolbox("a_b")), own(".a_b"));
    }

    #[test]
    fn a_short_name_concerns_all_servers() {
        for name in ["tool", "b__tool", "__tool"] {
            assert_eq!(told(Concern::Tool(name)).len(), 5, "{name}");
        }
        assert_eq!(told(Concern::All).len(), 5);
    }
}
