//! What should make a person think twice before they approve a server?

use std::ffi::OsStr;
use std::path::Path;

use super::super::pins::open_packages;
use super::view::Entry;
use super::visible::{has_foreign_letters, word};

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "cmd",
    "powershell",
    "pwsh",
    "nu",
];
/// Programs that run the program that their arguments name.
const LAUNCHERS: &[&str] = &[
    "env", "sudo", "doas", "nohup", "nice", "setsid", "stdbuf", "timeout", "time", "xargs",
    "busybox", "wsl", "exec", "script", "ssh",
];
/// Interpreters, and the options by which they run a text of the command line.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("awk", &[]),
];
/// Variables by which other code than that of the program is loaded or run.
const LOADERS: &[&str] = &[
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BUN_OPTIONS",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONWARNINGS",
    "PYTHONBREAKPOINT",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "PATH",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH",
    "EDITOR",
    "PAGER",
];
/// Variables that say where packages come from; compared without regard to case.
const PACKAGE_SOURCES: &[&str] = &[
    "NPM_CONFIG_REGISTRY",
    "YARN_NPM_REGISTRY_SERVER",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "GOPROXY",
];

/// The warnings about an entry, in plain words.
pub(super) fn of(entry: &Entry<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(command) = entry.text("command") {
        let arguments: Vec<&str> = entry.arguments().collect();
        let words = CommandLine {
            program: program(command),
            arguments: &arguments,
        };
        warnings.extend(words.shell());
        warnings.extend(words.inline_code());
        let open: Vec<String> = open_packages(command, &arguments)
            .into_iter()
            .map(word)
            .collect();
        if !open.is_empty() {
            warnings.push(format!(
                "the version of {} is open, so any start may fetch a new one",
                open.join(", ")
            ));
        }
    }
    for name in entry.variables() {
        warnings.extend(of_variable(name));
    }
    if entry.text("inherit_env") == Some("all") {
        warnings.push("it gets all variables of your environment".to_owned());
    }
    let texts = entry.text("command").into_iter().chain(entry.arguments());
    if texts.chain(entry.urls()).any(has_foreign_letters) {
        warnings.push("it has letters outside ASCII, which can look like others".to_owned());
    }
    warnings
}

/// The warning about a variable that is set.
pub(super) fn of_variable(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    if LOADERS.contains(&upper.as_str()) {
        return Some(format!("{} can make it run other code", word(name)));
    }
    let sources = PACKAGE_SOURCES.contains(&upper.as_str());
    sources.then(|| format!("{} changes where its packages come from", word(name)))
}

/// The program's name without its folder and its ending.
fn program(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let path = Path::new(name);
    let is_program = |end: &OsStr| {
        ["exe", "cmd", "bat", "ps1"]
            .iter()
            .any(|it| end.eq_ignore_ascii_case(it))
    };
    let name = match path.extension() {
        Some(end) if is_program(end) => path.file_stem().unwrap_or_default(),
        _ => path.as_os_str(),
    };
    name.to_string_lossy().to_ascii_lowercase()
}

struct CommandLine<'a> {
    program: String,
    arguments: &'a [&'a str],
}

impl CommandLine<'_> {
    /// Whether a shell runs.
    fn shell(&self) -> Option<String> {
        let is_shell = |name: &str| SHELLS.contains(&name);
        let launches = LAUNCHERS.contains(&self.program.as_str());
        let by_launcher = |argument: &&str| is_shell(&program(argument));
        let runs = is_shell(&self.program) || (launches && self.arguments.iter().any(by_launcher));
        runs.then(|| "it runs a shell, which does whatever its text says".to_owned())
    }

    /// Whether code is written in the arguments.
    fn inline_code(&self) -> Option<String> {
        // `python3.12` is a python.
        let plain = self
            .program
            .trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (_, options) = INTERPRETERS.iter().find(|(name, _)| *name == plain)?;
        let found = options.is_empty() || self.arguments.iter().any(|it| options.contains(it));
        found.then(|| "it runs code that is written in its arguments".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn warnings(entry: &serde_json::Value) -> Vec<String> {
        of(&Entry {
            members: entry.as_object().expect("an object"),
        })
    }

    fn of_line(line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        warnings(&json!({"command": words[0], "args": &words[1..]})).join("\n")
    }

    #[test]
    fn shells_and_code_in_arguments_are_noticed() {
        for line in [
            "sh -c x",
            "/bin/bash -lc x",
            "CMD.EXE /c x",
            "env A=b zsh -c x",
            "busybox sh",
            "pwsh",
        ] {
            assert!(of_line(line).contains("runs a shell"), "{line}");
        }
        for line in [
            "python3.12 -c x",
            "node --eval x",
            "deno eval x",
            "perl -e x",
        ] {
            assert!(of_line(line).contains("code that is written"), "{line}");
        }
        for line in [
            "time-server",
            "node server.js -c",
            "python -m server",
            "my.sh",
            "./bash-server bash",
        ] {
            assert_eq!(of_line(line), "", "{line}");
        }
    }

    #[test]
    fn a_package_without_a_version_is_noticed() {
        assert_eq!(
            of_line("uvx --with a b"),
            "the version of a, b is open, so any start may fetch a new one"
        );
        assert_eq!(of_line("npx -y server@1.2.3"), "");
    }

    #[test]
    fn variables_that_load_code_are_noticed() {
        let entry = json!({
            "command": "x",
            "env": {"NODE_OPTIONS": "", "LD_PRELOAD": "", "npm_config_registry": "", "TZ": ""},
            "inherit_env": "all",
        });
        assert_eq!(
            warnings(&entry),
            [
                "NODE_OPTIONS can make it run other code",
                "LD_PRELOAD can make it run other code",
                "npm_config_registry changes where its packages come from",
                "it gets all variables of your environment",
            ]
        );
    }

    #[test]
    fn letters_that_can_look_like_others_are_noticed() {
        assert!(
            warnings(&json!({"url": "https://ex\u{430}mple.com"}))[0].contains("outside ASCII")
        );
        assert!(warnings(&json!({"command": "n\u{440}x"}))[0].contains("outside ASCII"));
        assert!(warnings(&json!({"url": "https://example.com"})).is_empty());
    }
}
