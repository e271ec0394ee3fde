//! Does every Python file say which question it answers, and does no test of it wait for a while?

use super::finding::Finding;
use crate::failure::Failure;
use crate::workspace::{Workspace, read};

/// Where Python files lie, relative to the root.
const FOLDERS: [&str; 4] = ["benches", "crates", "examples", "tests-env"];

/// Where tests are. A server of theirs may be slow on purpose.
const TESTS: &str = "/tests/";
const SERVERS: &str = "/tests/servers/";

/// What a test must not say.
const SLEEPS: [&str; 4] = [
    "time.sleep",
    "asyncio.sleep",
    "time import sleep",
    "asyncio import sleep",
];

/// Lets other tasks run, and waits for nothing.
const YIELD: &str = "asyncio.sleep(0)";

/// A Python file or the face of a compiled module.
#[derive(Debug)]
pub(super) struct File {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

/// All files that are checked.
pub(super) fn files(workspace: &Workspace) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        for ending in [".py", ".pyi"] {
            for path in workspace.files(folder, ending)? {
                files.push(File {
                    path: workspace.relative(&path),
                    text: read(&path)?,
                });
            }
        }
    }
    Ok(files)
}

/// Each file begins with a docstring; no test sleeps.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files
        .iter()
        .flat_map(|file| first_line(file).into_iter().chain(sleeps(file)))
        .collect()
}

fn first_line(File { path, text }: &File) -> Option<Finding> {
    let words = text.strip_prefix("\"\"\"").unwrap_or_default();
    let begins = words.starts_with(|letter: char| letter.is_alphanumeric() || letter == '`');
    (!begins).then(|| Finding {
        file: path.clone(),
        line: 1,
        what: "the first line is no `\"\"\"` sentence".to_owned(),
        why: "a file answers one question and says which on its first line",
    })
}

fn sleeps(File { path, text }: &File) -> Vec<Finding> {
    if !path.contains(TESTS) || path.contains(SERVERS) {
        return Vec::new();
    }
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            let code = line.split('#').next().unwrap_or_default();
            let code = code.replace(YIELD, "");
            let what = SLEEPS.iter().find(|sleep| code.contains(*sleep))?;
            Some(Finding {
                file: path.clone(),
                line: number,
                what: format!("`{what}` in a test"),
                why: "a test waits for an event with a limit: see tests/kit/wait.py",
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{File, check};

    fn findings(path: &str, text: &str) -> Vec<usize> {
        let file = File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check(&[file]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_file_begins_with_a_sentence_about_itself() {
        let nothing = [0_usize; 0];
        assert_eq!(findings("a.py", "\"\"\"What is it?\"\"\"\n"), nothing);
        assert_eq!(findings("a.py", "\"\"\"`x` is it.\"\"\"\n"), nothing);
        for text in [
            "",
            "import os\n",
            "# What is it?\n",
            "\"\"\"\nWhat is it?\n\"\"\"\n",
        ] {
            assert_eq!(findings("a.py", text), [1], "{text}");
        }
    }

    #[test]
    fn a_sleep_is_found_in_tests_alone() {
        let nothing = [0_usize; 0];
        let text = "\"\"\"A.\"\"\"\nimport time\ntime.sleep(1)\n";
        assert_eq!(findings("crates/a/tests/core/test_b.py", text), [3]);
        assert_eq!(findings("crates/a/tests/servers/slow.py", text), nothing);
        assert_eq!(findings("crates/a/python/a/b.py", text), nothing);
        let text = "\"\"\"A.\"\"\"\nfrom asyncio import sleep\n";
        assert_eq!(findings("crates/a/tests/test_b.py", text), [2]);
    }

    #[test]
    fn to_let_other_tasks_run_is_no_sleep() {
        let text = "\"\"\"A.\"\"\"\nawait asyncio.sleep(0)  # no time.sleep\n";
        assert_eq!(findings("crates/a/tests/test_b.py", text), [0_usize; 0]);
        let text = "\"\"\"A.\"\"\"\nawait asyncio.sleep(0.1)\n";
        assert_eq!(findings("crates/a/tests/test_b.py", text), [2]);
    }
}
