//! Is a shell's command one that a rule may let run without a question?

use serde_json::{Map, Value};

use crate::policy::glob::Glob;

/// Commands that only read and have no option that does more.
const READS: &[&str] = &[
    "ls", "pwd", "echo", "whoami", "uname", "which", "wc", "head", "tail", "cat", "stat", "du",
    "df", "basename", "dirname", "realpath", "nproc", "true", "false",
];

/// Whether the arguments of a shell tool are one command of plain words that reads only, or that
/// one of the user's patterns means.
///
/// The text must be nothing but words of letters, digits and `_ . / : = @ , + -`, one space between
/// two: no quote, no variable, no wildcard and no second command can hide in such a text, so that
/// what is compared is what runs.
pub(in crate::policy) fn harmless(arguments: &Map<String, Value>, commands: &[Glob]) -> bool {
    let Some(Value::String(line)) = arguments.get("command") else {
        return false;
    };
    if !is_plain(line) {
        return false;
    }
    // Text for a running program, and whatever else a shell tool may take, is not looked through.
    let others = arguments.iter().filter(|(key, _)| *key != "command");
    let quiet =
        |value: &Value| matches!(value, Value::Null | Value::Bool(false) | Value::Number(_));
    if !others.into_iter().all(|(_, value)| quiet(value)) {
        return false;
    }
    let program = line.split(' ').next().unwrap_or_default();
    READS.contains(&program)
        || line == "git status"
        || commands.iter().any(|glob| glob.matches(line))
}

fn is_plain(line: &str) -> bool {
    let plain = |char: char| {
        char.is_ascii_alphanumeric()
            || matches!(
                char,
                '_' | '.' | '/' | ':' | '=' | '@' | ',' | '+' | '-' | ' '
            )
    };
    let program = line.split(' ').next().unwrap_or_default();
    line.chars().all(plain)
        && !line.starts_with([' ', '-'])
        && !line.contains("  ")
        // A setting in front (`LD_PRELOAD=x ls`) is not a program.
        && !program.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_harmless(arguments: Value, commands: &[&str]) -> bool {
        let globs: Vec<Glob> = commands
            .iter()
            .map(|glob| Glob::new(glob).unwrap())
            .collect();
        harmless(arguments.as_object().unwrap(), &globs)
    }

    #[test]
    fn one_reading_command_of_plain_words_is_harmless() {
        for line in [
            "ls",
            "ls -la src",
            "cat README.md",
            "git status",
            "wc -l a.rs b.rs",
        ] {
            assert!(is_harmless(json!({"command": line}), &[]), "{line}");
        }
        assert!(is_harmless(
            json!({"command": "ls", "is_input": false, "timeout": 5}),
            &[]
        ));
        assert!(is_harmless(
            json!({"command": "cargo check -p x"}),
            &["cargo check*"]
        ));
    }

    #[test]
    fn shell_syntax_is_never_harmless() {
        for line in [
            "ls; rm x",
            "ls && x",
            "ls | sh",
            "cat $HOME",
            "cat `x`",
            "cat $(x)",
            "ls > x",
            "ls\nrm x",
            "echo 'a'",
            "cat ~/x",
            "ls *",
            "ls \\x",
            "LD_PRELOAD=x ls",
            "",
            " ls",
            "git status -x",
            "./ls",
            "cargo check",
            "ls #",
            "cat {a,b}",
            "ls & x",
            "echo \u{202e}",
        ] {
            assert!(!is_harmless(json!({"command": line}), &[]), "{line}");
        }
        assert!(!is_harmless(
            json!({"command": "cargo check; rm x"}),
            &["cargo check*"]
        ));
        assert!(!is_harmless(
            json!({"command": "ls", "is_input": true}),
            &[]
        ));
        assert!(!is_harmless(
            json!({"command": "ls", "env": {"A": "b"}}),
            &[]
        ));
        assert!(!is_harmless(json!({"command": ["ls"]}), &["*"]));
    }
}
