//! Does a server's package stay the same from start to start?

use super::server_line::stem;

/// Options by which a runner is told its packages; with one of the first kind the first operand is
/// a command of them.
const NAMES_PACKAGE: &[&str] = &["--package", "-p", "--from", "--spec"];
const ADDS_PACKAGE: &[&str] = &["--with"];
/// Options of runners whose value is the next word. `-p` of `uvx` is one, too: see [`Runner`].
const WITH_VALUE: &[&str] = &[
    "--python",
    "--index",
    "--index-url",
    "--default-index",
    "-i",
    "--registry",
    "--cache",
    "--userconfig",
    "--directory",
    "--project",
    "--env-file",
    "-c",
    "--call",
];

/// Which registry a runner fetches packages of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    Node,
    /// `-p` is the version of Python.
    Python,
}

/// The packages that such a command fetches anew when newer ones are there, because their versions
/// are left open; none for every other program.
pub(super) fn open_packages<'a>(command: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    let (runner, words) = match (stem(command), arguments) {
        ("npx" | "bunx" | "pnpx", words) => (Runner::Node, words),
        ("npm", ["exec" | "x", words @ ..]) | ("bun", ["x", words @ ..]) => (Runner::Node, words),
        ("pnpm" | "yarn", ["dlx", words @ ..]) => (Runner::Node, words),
        ("uvx", words) => (Runner::Python, words),
        ("pipx", ["run", words @ ..]) | ("uv", ["tool", "run", words @ ..]) => {
            (Runner::Python, words)
        }
        _ => return Vec::new(),
    };
    let mut packages = packages(words, runner);
    packages.retain(|package| !is_pinned(package));
    packages
}

/// The packages that options name, and else the first operand.
fn packages<'a>(words: &[&'a str], runner: Runner) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut is_named = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Some(value)),
            _ => (*word, None),
        };
        let of_python = runner == Runner::Python && option == "-p";
        let names = NAMES_PACKAGE.contains(&option) && !of_python;
        if names || ADDS_PACKAGE.contains(&option) {
            is_named |= names;
            found.extend(value.or_else(|| rest.next().copied()));
        } else if value.is_none() && (of_python || WITH_VALUE.contains(&option)) {
            rest.next();
        } else if !word.starts_with('-') {
            found.extend((!is_named).then_some(*word));
            break;
        }
    }
    found
}

/// Whether a package is named in one version. What lies in a folder or an archive is named so; an
/// address of a repository is with a commit behind it.
fn is_pinned(package: &str) -> bool {
    if package.is_empty() || package.starts_with(['.', '/']) || package.starts_with("file:") {
        return true;
    }
    // The first letter may be the `@` of a scope.
    let behind = package.get(1..).unwrap_or_default();
    let version = match package.split_once("==") {
        Some((_, version)) => Some(version),
        None => behind.rsplit_once('@').map(|(_, version)| version),
    };
    version.is_some_and(|version| is_version(version) || is_commit(version))
}

/// `1.2`, `1.2.3` and more behind that, also with a `v` before it; not `1`, `^1.2`, `1.x` or `latest`.
fn is_version(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let mut parts = version.split('.');
    let begins_with_digit = |part: Option<&str>| {
        part.is_some_and(|part| part.starts_with(|it: char| it.is_ascii_digit()))
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-+!".contains(&byte);
    let begins = begins_with_digit(parts.next()) && begins_with_digit(parts.next());
    let third = parts.next();
    begins && (third.is_none() || begins_with_digit(third)) && version.bytes().all(allowed)
}

fn is_commit(version: &str) -> bool {
    version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(line: &str) -> Vec<&str> {
        let words: Vec<&str> = line.split(' ').collect();
        open_packages(words[0], &words[1..])
    }

    #[test]
    fn a_package_without_a_version_is_open() {
        for (line, wanted) in [
            ("npx -y some-server", &["some-server"][..]),
            ("npx -y @a/server /data@1.2.3", &["@a/server"]),
            ("npx -y @a/server@latest", &["@a/server@latest"]),
            ("npx @a/server@^1.2.3", &["@a/server@^1.2.3"]),
            ("npx server@1", &["server@1"]),
            ("npx server@1.x", &["server@1.x"]),
            ("/usr/bin/npx --package=b -- c", &["b"]),
            ("npx -p a@1.2.3 -p b cmd", &["b"]),
            ("npm exec -- server", &["server"]),
            ("pnpm dlx server", &["server"]),
            ("npx.cmd server", &["server"]),
            ("uvx mcp-server-time --tz UTC", &["mcp-server-time"]),
            ("uvx -p 3.12 server", &["server"]),
            ("uvx --python 3.12 server", &["server"]),
            ("uvx --from mcp-tools time", &["mcp-tools"]),
            ("uvx --with a server", &["a", "server"]),
            ("uvx --from git+https://h/r server", &["git+https://h/r"]),
            ("uvx tools>=1.2", &["tools>=1.2"]),
            ("uv tool run time", &["time"]),
        ] {
            assert_eq!(open(line), wanted, "{line}");
        }
    }

    #[test]
    fn a_package_of_one_version_is_not_and_no_other_program_fetches_one() {
        for line in [
            "npx -y server@1.2.3",
            "npx @a/server@1.2.3-beta.1",
            "npx ./local",
            "npx -p a@1.2.3 cmd",
            "npx -y",
            "uvx server==1.2.3",
            "uvx server@2026.1",
            "uvx --from server==1.2 cmd",
            "uvx --with a==1.2 server==1.2.3 --with b",
            "uvx --from git+https://h/r@0123456789abcdef0123456789abcdef01234567 server",
            "npm start",
            "uv run server.py",
            "node server.js",
            "pnpm run start",
        ] {
            assert!(open(line).is_empty(), "{line}");
        }
    }
}
