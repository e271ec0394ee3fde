//! Does a server's package stay the same from start to start?

use super::server_line::{first_operand, stem};
use super::stdio::StdioServer;

/// Options of the runners that name the package in place of the first operand.
const NAMES_PACKAGE: &[&str] = &["--package", "-p", "--from", "--spec"];

/// The package that a runner fetches anew when a newer one is there, because its version is left
/// open; `None` for everything else.
pub(super) fn open_package(server: &StdioServer) -> Option<&str> {
    let words: Vec<&str> = server.args.iter().map(String::as_str).collect();
    let words = match (stem(&server.command), words.as_slice()) {
        ("npx" | "bunx" | "uvx", words) => words,
        ("pnpm" | "yarn", ["dlx", words @ ..]) | ("bun", ["x", words @ ..]) => words,
        ("pipx", ["run", words @ ..]) | ("uv", ["tool", "run", words @ ..]) => words,
        _ => return None,
    };
    let package = named(words).or_else(|| first_operand(words))?;
    is_open(package).then_some(package)
}

/// The package that an option names: `--from PACKAGE` or `--from=PACKAGE`.
fn named<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words.iter();
    while let Some(word) = words.next().filter(|word| word.starts_with('-')) {
        match word.split_once('=') {
            Some((option, package)) if NAMES_PACKAGE.contains(&option) => return Some(package),
            None if NAMES_PACKAGE.contains(word) => return words.next().copied(),
            _ => {}
        }
    }
    None
}

/// Whether the name of a package of a registry leaves its version open. What is a path or an
/// address is no such name.
fn is_open(package: &str) -> bool {
    let scoped = package.strip_prefix('@');
    let name = match scoped {
        Some(scoped) => match scoped.split_once('/') {
            Some((_, name)) => name,
            None => return false,
        },
        None => package,
    };
    if name.is_empty() || name.contains(['/', ':', '\\']) || name.starts_with('.') {
        return false;
    }
    match name.split_once("==").or_else(|| name.split_once('@')) {
        Some((_, version)) => !version.starts_with(|first: char| first.is_ascii_digit()),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_version_is_open() {
        let open = |line: &str| {
            let mut words = line.split(' ');
            let program = words.next().expect("a program");
            let server = StdioServer::new(program).with_args(words);
            open_package(&server).map(str::to_owned)
        };
        for (line, wanted) in [
            ("npx -y some-server", Some("some-server")),
            ("npx -y @a/server /data@1", Some("@a/server")),
            ("npx -y @a/server@latest", Some("@a/server@latest")),
            ("/usr/bin/npx --package=b -- c", Some("b")),
            ("uvx mcp-server-time --tz UTC", Some("mcp-server-time")),
            ("uvx --from mcp-tools time", Some("mcp-tools")),
            ("uvx tools>=1", Some("tools>=1")),
            ("uv tool run time", Some("time")),
            ("pnpm dlx some-server", Some("some-server")),
            ("npx -y some-server@1.2.3", None),
            ("npx -y @a/server@1", None),
            ("uvx mcp-server-time==2026.1", None),
            ("uvx mcp-server-time@2026.1", None),
            ("uvx --from git+https://example.com/a b", None),
            ("npx ./server", None),
            ("npx -y", None),
            ("node server.js", None),
            ("pnpm run start", None),
        ] {
            assert_eq!(open(line).as_deref(), wanted, "{line}");
        }
    }
}
