//! `completions`: do the shells take the scripts, and do these know every command?

use std::process::{Command, Stdio};

use crate::cli::Cli;

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// The script of a shell, printed without any config.
fn script(shell: &str) -> String {
    let ran = Cli::bare().run(&["completions", shell]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran}");
    ran.stdout
}

/// What the help lists, in order.
fn commands() -> Vec<String> {
    let help = Cli::bare().run(&["--help"]).stdout;
    let listed = help
        .split("Commands:\n")
        .nth(1)
        .expect("a list of commands");
    let lines = listed.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<String> = names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    assert!(names.len() >= 8, "{names:?}");
    names
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test starts the shell that shall take the script"
)]
fn shell(program: &str) -> Command {
    Command::new(program)
}

#[test]
fn each_script_names_every_command_and_the_words_below_config() {
    for shell in SHELLS {
        let script = script(shell);
        for command in commands() {
            assert!(script.contains(&command), "{shell} {command}");
        }
        assert!(
            !script.contains("demo-server"),
            "it is for no person: {shell}"
        );
        for word in ["import", "dry-run", "doctor", "--json"] {
            // fish writes an option without its dashes.
            let word = word.trim_start_matches('-');
            assert!(script.contains(word), "{shell} {word}");
        }
    }
}

#[test]
fn each_shell_that_is_here_takes_its_script() {
    let mut taken = 0;
    for name in SHELLS {
        let cli = Cli::bare();
        cli.write("script", &script(name));
        let checked = shell(name).arg("-n").arg(cli.path("script")).output();
        // A shell that is not installed is no fault of the script.
        let Ok(checked) = checked else {
            continue;
        };
        let stderr = String::from_utf8_lossy(&checked.stderr);
        assert!(
            checked.status.success() && stderr.is_empty(),
            "{name}: {stderr}"
        );
        taken += 1;
    }
    assert!(taken > 0, "none of {SHELLS:?} is installed");
}

#[test]
fn bash_completes_commands_and_what_stands_below_them() {
    let cli = Cli::bare();
    cli.write("script", &script("bash"));
    for (words, wanted) in [
        ("toolspan doc", "doctor"),
        ("toolspan config im", "import"),
        ("toolspan config import claude-d", "claude-desktop"),
        ("toolspan completions f", "fish"),
        ("toolspan tools --form", "--format"),
    ] {
        let ask = format!(
            "source ./script; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _toolspan toolspan \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; \
             echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = shell("bash");
        bash.args(["--norc", "-c", &ask]).current_dir(cli.folder());
        let answer = bash.stdin(Stdio::null()).output().expect("bash is here");
        let answer = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        assert_eq!(answer, wanted, "{words}");
    }
}

#[test]
fn another_shell_is_a_usage_error_that_names_the_three() {
    let ran = Cli::bare().run(&["completions", "tcsh"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("bash, zsh, fish"), "{ran}");
}
