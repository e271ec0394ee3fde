//! Which keys does a config know, and what is said about the others?

use super::dialect;
use super::field::Table;
use super::problem::{Warnings, quoted};

/// Keys at the top of a config that this version acts on.
pub(super) const TOP: &[&str] = &[
    "mcpServers",
    "servers",
    "mcp",
    "inputs",
    "tools",
    "policy",
    "repair",
    "limits",
    "timeout",
    "timeouts",
];

/// The key that names a JSON Schema, for editors.
pub(super) const SCHEMA: &str = "$schema";

/// Whether a key at the top means something by itself, so that no server is there.
pub(super) fn is_of_top(key: &str) -> bool {
    TOP.contains(&key) || TOP_OTHERS.iter().any(|other| other.name == key)
}

/// Keys of a server that this version acts on.
pub(super) const SERVER: &[&str] = &[
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "inherit_env",
    "url",
    "serverUrl",
    "serverURL",
    "httpUrl",
    "transport",
    "type",
    "headers",
    "auth",
    "tls",
    "proxy",
    "sse_read_timeout",
    "required",
    "disabled",
    "enabled",
    "prefix",
    "timeout",
    "timeouts",
    "limits",
    "max_in_flight",
    "trust",
    "tools",
    "includeTools",
    "excludeTools",
    "disabledTools",
];

/// Keys that have a server's address, the one of this program first.
pub(super) const ADDRESSES: [&str; 4] = ["url", "serverUrl", "serverURL", "httpUrl"];

/// Keys of a server that mean something for one that is started alone.
const STARTED: &[&str] = &["args", "env", "envFile", "cwd", "inherit_env"];

/// Keys of a server that mean something for one that is reached over HTTP alone.
const REMOTE: &[&str] = &["headers", "auth", "tls", "proxy", "sse_read_timeout"];

/// The spellings of `transport` for a server that is started, the one of this program first.
pub(super) const STDIO: [&str; 2] = ["stdio", "local"];

/// The spellings of `transport` for a server that is reached over HTTP. Case, `-` and `_` do not
/// matter when a config is read; these are for editors.
pub(super) const OVER_HTTP: [&str; 9] = [
    "http",
    "sse",
    "streamable-http",
    "streamableHttp",
    "streamable_http",
    "streamablehttp",
    "http-stream",
    "shttp",
    "remote",
];

/// Keys of a server's `tools`.
pub(super) const FILTER: &[&str] = &["include", "exclude", "shape"];

/// Keys of one tool in `tools.shape` of a server.
pub(super) const SHAPE: &[&str] = &["name", "description", "hidden", "defaults"];

/// Keys of `policy`.
pub(super) const POLICY: &[&str] = &[
    "confirm",
    "threshold",
    "confirm_unknown",
    "mode",
    "allow",
    "deny",
    "commands",
    "annotations",
    "approval_wait",
];

/// Keys of the hints in `policy.annotations`.
pub(super) const HINTS: &[&str] = &[
    "title",
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// Keys of `mcp`, which says which servers are used.
pub(super) const SELECTION: &[&str] = &["allowed", "excluded"];

/// Keys of a server's `tls`.
pub(super) const TLS: &[&str] = &["ca", "cert", "key", "insecure"];

/// Keys of an entry of the top `tools`.
pub(super) const TOOL: &[&str] = &["name", "params"];

/// Keys of an entry of `inputs`.
pub(super) const INPUT: &[&str] = &[
    "type",
    "id",
    "description",
    "password",
    "default",
    "options",
];

/// A key that means something, but not to this version.
pub(super) struct OtherKey {
    name: &'static str,
    message: &'static str,
    hint: Option<&'static str>,
    /// Whether nobody is surprised that it has no effect.
    is_note: bool,
}

/// A key that would change what is done: a warning.
const fn other(name: &'static str, message: &'static str) -> OtherKey {
    OtherKey {
        name,
        message,
        hint: None,
        is_note: false,
    }
}

/// A key for what other hosts do or show: a note.
const fn noted(name: &'static str) -> OtherKey {
    OtherKey {
        is_note: true,
        ..other(name, OTHER_HOST)
    }
}

const fn hinted(name: &'static str, message: &'static str, hint: &'static str) -> OtherKey {
    OtherKey {
        hint: Some(hint),
        ..other(name, message)
    }
}

const fn renamed(name: &'static str, hint: &'static str) -> OtherKey {
    hinted(name, OTHER_NAME, hint)
}

const UNSUPPORTED: &str = "this is not supported by this version and has no effect";
const OTHER_HOST: &str = "this key is for other hosts and has no effect here";
const OTHER_NAME: &str = "this key has another name here and has no effect";
const NO_OAUTH: &str = "OAuth is not supported by this version, so this has no effect";
const TOKEN: &str = "if the server asks for a token, set \"auth\" or \"headers\"";
const AS_SERVERS: &str = "write each server as an entry of \"mcpServers\"";

/// Keys at the top of a config that are said to have no effect.
pub(super) const TOP_OTHERS: &[OtherKey] = &[
    other("utcp", UNSUPPORTED),
    other("openapi", UNSUPPORTED),
    renamed("mcp_servers", "rename it to \"mcpServers\""),
    renamed("sse_servers", AS_SERVERS),
    renamed("shttp_servers", AS_SERVERS),
    renamed("stdio_servers", AS_SERVERS),
    noted("globalShortcut"),
    noted("preferences"),
    noted("projects"),
    noted("theme"),
    noted("ui"),
    noted("general"),
    noted("security"),
    noted("selectedAuthType"),
    noted("dxt"),
];

/// Keys of `mcp` that are said to have no effect.
pub(super) const SELECTION_OTHERS: &[OtherKey] = &[
    hinted("servers", OTHER_HOST, AS_SERVERS),
    hinted("mcpServers", OTHER_HOST, AS_SERVERS),
    hinted("inputs", OTHER_HOST, "move it to the top"),
    other("serverCommand", UNSUPPORTED),
];

/// Keys of a server that are said to have no effect.
pub(super) const SERVER_OTHERS: &[OtherKey] = &[
    hinted("oauth", NO_OAUTH, TOKEN),
    hinted("authProviderType", NO_OAUTH, TOKEN),
    hinted("authentication", NO_OAUTH, TOKEN),
    hinted("headersHelper", UNSUPPORTED, TOKEN),
    hinted(
        "sandboxEnabled",
        "this is not supported by this version: the server runs without a sandbox",
        "give a \"command\" that makes one",
    ),
    noted("sandbox"),
    other("include_tags", UNSUPPORTED),
    other("exclude_tags", UNSUPPORTED),
    noted("autoApprove"),
    noted("alwaysAllow"),
    noted("alwaysLoad"),
    noted("description"),
    noted("displayName"),
    noted("name"),
    noted("icon"),
    noted("iconPath"),
    noted("gallery"),
    noted("version"),
    noted("dev"),
    noted("keep_alive"),
    noted("watchPaths"),
    noted("extensionName"),
    noted("targetAudience"),
    noted("targetServiceAccount"),
    renamed("timeoutMs", "use \"timeout\", in seconds"),
    renamed("cmd", "use \"command\""),
    renamed("arguments", "use \"args\""),
    renamed("environment", "use \"env\""),
    renamed("env_file", "use \"envFile\""),
    renamed("workingDirectory", "use \"cwd\""),
    renamed("working_directory", "use \"cwd\""),
    renamed("working_dir", "use \"cwd\""),
    renamed("api_key", "use \"auth\""),
    renamed("apiKey", "use \"auth\""),
];

/// Says which keys of a server are for the other kind of server.
pub(super) fn warn_misplaced(table: &Table<'_>, is_remote: bool, warnings: &mut Warnings) {
    let (misplaced, message) = match is_remote {
        true => (
            STARTED,
            "this is for servers that are started and has no effect here",
        ),
        false => (REMOTE, "this is for remote servers and has no effect here"),
    };
    for key in misplaced {
        if let Some(field) = table.get(key) {
            warnings.add(|| field.problem(message));
        }
    }
}

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
        if let Some(other) = others.iter().find(|other| other.name == key) {
            let problem = || match other.hint {
                Some(hint) => field.problem(other.message).with_hint(hint),
                None => field.problem(other.message),
            };
            match other.is_note {
                true => warnings.note(problem),
                false => warnings.add(problem),
            }
            continue;
        }
        warnings.add(|| {
            let problem = field.problem("this key is unknown and has no effect");
            let is_at_top = table.field().path().is_empty();
            let is_server = || {
                field
                    .table()
                    .is_ok_and(|it| dialect::looks_like_a_server(&it))
            };
            match nearest(key, known.clone()) {
                Some(near) => problem.with_hint(did_you_mean(near)),
                None if is_at_top && is_server() => {
                    problem.with_hint("to use this server, move it into \"mcpServers\"")
                }
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
