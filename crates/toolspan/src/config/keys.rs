//! Which keys does a config know, and what is said about the others?

use super::field::Table;
use super::problem::{Warnings, quoted};

/// Keys at the top of a config that this version acts on.
pub(super) const TOP: &[&str] = &["mcpServers", "tools", "limits", "timeout", "timeouts"];

/// Keys of a server that this version acts on.
pub(super) const SERVER: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "inherit_env",
    "url",
    "transport",
    "type",
    "required",
    "disabled",
    "enabled",
    "prefix",
    "timeout",
    "timeouts",
    "limits",
    "max_in_flight",
    "tools",
];

/// Keys of a server's `tools`.
pub(super) const FILTER: &[&str] = &["include", "exclude"];

/// Keys of an entry of the top `tools`.
pub(super) const TOOL: &[&str] = &["name", "params"];

/// A key that means something, but not to this version.
pub(super) struct OtherKey {
    name: &'static str,
    message: &'static str,
    hint: Option<&'static str>,
}

const fn other(name: &'static str, message: &'static str) -> OtherKey {
    OtherKey {
        name,
        message,
        hint: None,
    }
}

const fn renamed(name: &'static str, hint: &'static str) -> OtherKey {
    OtherKey {
        name,
        message: OTHER_NAME,
        hint: Some(hint),
    }
}

const UNSUPPORTED: &str = "this is not supported by this version and has no effect";
const OTHER_HOST: &str = "this key is for other hosts and has no effect here";
const REMOTE_ONLY: &str = "this is for remote servers and has no effect here";
const OTHER_NAME: &str = "this key has another name here and has no effect";

/// Keys at the top of a config that are said to have no effect.
pub(super) const TOP_OTHERS: &[OtherKey] = &[
    other("utcp", UNSUPPORTED),
    other("openapi", UNSUPPORTED),
    other("repair", UNSUPPORTED),
    other("inputs", UNSUPPORTED),
    renamed("servers", "rename it to \"mcpServers\""),
    renamed("mcp_servers", "rename it to \"mcpServers\""),
];

/// Keys of a server that are said to have no effect.
pub(super) const SERVER_OTHERS: &[OtherKey] = &[
    other("trust", UNSUPPORTED),
    other("headers", REMOTE_ONLY),
    other("auth", REMOTE_ONLY),
    other("oauth", REMOTE_ONLY),
    other("autoApprove", OTHER_HOST),
    other("alwaysAllow", OTHER_HOST),
    other("description", OTHER_HOST),
    other("name", OTHER_HOST),
    other("icon", OTHER_HOST),
    other("iconPath", OTHER_HOST),
    other("gallery", OTHER_HOST),
    other("version", OTHER_HOST),
    other("envFile", OTHER_HOST),
    other("dev", OTHER_HOST),
    renamed("timeoutMs", "use \"timeout\", in seconds"),
    renamed("cmd", "use \"command\""),
    renamed("arguments", "use \"args\""),
    renamed("environment", "use \"env\""),
    renamed("workingDirectory", "use \"cwd\""),
    renamed("working_directory", "use \"cwd\""),
    renamed("working_dir", "use \"cwd\""),
    renamed("serverUrl", "use \"url\""),
    renamed("httpUrl", "use \"url\""),
    renamed("includeTools", "use \"tools\": {\"include\": [\"…\"]}"),
    renamed("excludeTools", "use \"tools\": {\"exclude\": [\"…\"]}"),
    renamed("disabledTools", "use \"tools\": {\"exclude\": [\"…\"]}"),
];

/// Warns of each key that has no effect, with the known key nearest to it.
pub(super) fn warn_unknown<'n>(
    table: &Table<'_>,
    known: impl IntoIterator<Item = &'n str> + Clone,
    others: &[OtherKey],
    warnings: &mut Warnings,
) {
    for (key, field) in table.entries() {
        if known.clone().into_iter().any(|known| known == key) {
            continue;
        }
        warnings.add(|| {
            if let Some(other) = others.iter().find(|other| other.name == key) {
                let problem = field.problem(other.message);
                return match other.hint {
                    Some(hint) => problem.with_hint(hint),
                    None => problem,
                };
            }
            let problem = field.problem("this key is unknown and has no effect");
            match nearest(key, known.clone()) {
                Some(near) => problem.with_hint(did_you_mean(near)),
                None => problem,
            }
        });
    }
}

/// The known word that a wrong one is likely a slip of: at most two letters added, left out,
/// changed or swapped, whatever their case.
pub(super) fn nearest<'n>(
    wrong: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    /// Longer than any known word and two letters; the cost grows with the square.
    const COMPARED: usize = 40;
    if wrong.len() > COMPARED {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let allowed = if wrong.chars().count() < 3 { 1 } else { 2 };
    known
        .into_iter()
        .map(|word| (strsim::osa_distance(&wrong, &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `did you mean "…"?`
pub(super) fn did_you_mean(near: &str) -> String {
    format!("did you mean {}?", quoted(near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        let near = |wrong| nearest(wrong, SERVER.iter().copied());
        assert_eq!(near("comand"), Some("command"));
        assert_eq!(near("inheritEnv"), Some("inherit_env"));
        assert_eq!(near("ARGS"), Some("args"));
        assert_eq!(near("arg"), Some("args"));
        assert_eq!(near("remark"), None);
        assert_eq!(near("x"), None);
        assert_eq!(near(""), None);
        assert_eq!(near(&"command".repeat(1_000_000)), None);
    }

    #[test]
    fn no_key_is_both_known_and_without_effect() {
        for other in TOP_OTHERS {
            assert!(!TOP.contains(&other.name), "{}", other.name);
        }
        for other in SERVER_OTHERS {
            assert!(!SERVER.contains(&other.name), "{}", other.name);
        }
    }
}
