//! Is every Rust file part of a program?
//!
//! A file that no `mod` names is not compiled: its tests never run and nobody notices.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::source::Source;

const WHY: &str = "a file without its `mod` line is not compiled, and its tests never run";
const ONE: &str = "each crate has one integration binary, tests/it/main.rs, so it links once";

/// Every file below `src/` and `tests/it/` is declared by its parent; beside `tests/it/` there is
/// no other integration test.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let by_path: BTreeMap<&str, &Source> = sources
        .iter()
        .map(|source| (source.path.as_str(), source))
        .collect();
    sources
        .iter()
        .filter_map(|source| check_one(source, &by_path))
        .collect()
}

fn check_one(source: &Source, by_path: &BTreeMap<&str, &Source>) -> Option<Finding> {
    let finding = |what, why| {
        Some(Finding {
            file: source.path.clone(),
            line: 1,
            what,
            why,
        })
    };
    let (package, within) = split_package(&source.path)?;
    if within.starts_with("tests/") && !within.starts_with("tests/it/") {
        return finding("a second integration binary".to_owned(), ONE);
    }
    let (folder, name) = module(within)?;
    let (there, missing): (Vec<String>, Vec<String>) = parents(package, folder)
        .into_iter()
        .partition(|path| by_path.contains_key(path.as_str()));
    let declared = there
        .iter()
        .filter_map(|parent| by_path.get(parent.as_str()))
        .any(|parent| parent.numbered().any(|(_, code)| declares(code, name)));
    if declared {
        return None;
    }
    let expected = if there.is_empty() { missing } else { there };
    finding(
        format!("no `mod {name};` in {}", expected.join(" or ")),
        WHY,
    )
}

/// Cuts `crates/a/src/b.rs` into the package's folder and the path within it.
fn split_package(path: &str) -> Option<(&str, &str)> {
    let cut = ["/src/", "/tests/"]
        .iter()
        .filter_map(|folder| path.find(folder))
        .min()?;
    Some((path.get(..cut)?, path.get(cut + 1..)?))
}

/// The folder of a module's parent and the module's name; `None` for the root of a program.
fn module(within: &str) -> Option<(&str, &str)> {
    let roots = ["src/lib.rs", "src/main.rs", "tests/it/main.rs"];
    if roots.contains(&within) || within.starts_with("src/bin/") {
        return None;
    }
    let stem = within.strip_suffix(".rs")?;
    stem.strip_suffix("/mod").unwrap_or(stem).rsplit_once('/')
}

/// The files that may declare the modules of a folder.
fn parents(package: &str, folder: &str) -> Vec<String> {
    match folder {
        "src" => vec![
            format!("{package}/src/lib.rs"),
            format!("{package}/src/main.rs"),
        ],
        "tests/it" => vec![format!("{package}/tests/it/main.rs")],
        _ => vec![
            format!("{package}/{folder}/mod.rs"),
            format!("{package}/{folder}.rs"),
        ],
    }
}

fn declares(code: &str, name: &str) -> bool {
    code.trim()
        .strip_suffix(';')
        .and_then(|line| line.strip_suffix(name))
        .is_some_and(|before| before == "mod " || before.ends_with(" mod "))
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::check;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new((*path).to_owned(), text))
            .collect();
        check(&sources)
            .into_iter()
            .map(|finding| finding.file)
            .collect()
    }

    #[test]
    fn a_file_that_no_parent_declares_is_found() {
        let files = [
            (
                "crates/a/src/lib.rs",
                "mod b;\npub(crate) mod c;\n// mod e;",
            ),
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/c/mod.rs", "mod d;"),
            ("crates/a/src/c/d.rs", ""),
            ("crates/a/src/e.rs", ""),
            ("crates/a/tests/it/main.rs", "mod f;"),
            ("crates/a/tests/it/f.rs", "mod g;"),
            ("crates/a/tests/it/f/g.rs", ""),
            ("crates/a/tests/it/h.rs", ""),
        ];
        assert_eq!(
            findings(&files),
            ["crates/a/src/e.rs", "crates/a/tests/it/h.rs"]
        );
    }

    #[test]
    fn a_second_integration_binary_is_found() {
        let files = [
            ("crates/a/tests/more.rs", ""),
            ("crates/a/tests/it/main.rs", ""),
        ];
        assert_eq!(findings(&files), ["crates/a/tests/more.rs"]);
    }

    #[test]
    fn a_program_in_the_folder_for_programs_needs_no_parent() {
        assert!(findings(&[("benches/src/bin/table.rs", "")]).is_empty());
    }
}
