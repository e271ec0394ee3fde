//! Does every relative link in the written pages lead somewhere?
//!
//! Checked are the pages in the root and the book in `docs/src/`: the file must exist, and its
//! heading where the link names one. The book's pages link only within the book, since nothing
//! else is there once it is built.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::failure::Failure;
use crate::workspace::{Workspace, read};

const BOOK: &str = "docs/src/";
const SUMMARY: &str = "docs/src/SUMMARY.md";
const DEAD: &str = "a page that sends its reader nowhere is not trusted again";

/// One page: its path relative to the root, and its text.
#[derive(Debug)]
pub(super) struct Page {
    path: String,
    text: String,
}

/// Reads all pages that are checked.
pub(super) fn pages(workspace: &Workspace) -> Result<Vec<Page>, Failure> {
    let mut paths = workspace.files("docs/src", ".md")?;
    let root = workspace.root();
    let entries = std::fs::read_dir(root).map_err(Failure::file(root))?;
    paths.extend(
        entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "md")),
    );
    paths.sort();
    paths
        .iter()
        .map(|path| {
            Ok(Page {
                path: workspace.relative(path),
                text: read(path)?,
            })
        })
        .collect()
}

/// Follows every relative link; `exists` answers for files that are no page.
pub(super) fn check(pages: &[Page], exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let by_path: BTreeMap<&str, &Page> = pages
        .iter()
        .map(|page| (page.path.as_str(), page))
        .collect();
    let mut findings = Vec::new();
    for page in pages {
        for (line, target) in relative_links(&page.text) {
            if let Some(what) = problem(page, &target, &by_path, exists) {
                findings.push(Finding {
                    file: page.path.clone(),
                    line,
                    what,
                    why: DEAD,
                });
            }
        }
    }
    findings.extend(unlisted(&by_path));
    findings
}

fn problem(
    page: &Page,
    target: &str,
    by_path: &BTreeMap<&str, &Page>,
    exists: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolve(&page.path, file) else {
        return Some(format!("the link {target} leads out of the checkout"));
    };
    if page.path.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Some(format!("the link {target} leads out of the book"));
    }
    let linked = by_path.get(path.as_str());
    if linked.is_none() && !exists(&path) {
        return Some(format!("the link {target} leads to no file"));
    }
    let missing = !heading.is_empty()
        && linked.is_some_and(|linked| !headings(&linked.text).any(|slug| slug == heading));
    missing.then(|| format!("the link {target} leads to no heading"))
}

/// Joins a link to the folder of its page; `None` where it climbs above the root.
fn resolve(page: &str, file: &str) -> Option<String> {
    if file.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Pages of the book that its table of contents does not list.
fn unlisted(by_path: &BTreeMap<&str, &Page>) -> Vec<Finding> {
    let Some(summary) = by_path.get(SUMMARY) else {
        return Vec::new();
    };
    let listed: Vec<String> = relative_links(&summary.text)
        .filter_map(|(_, target)| resolve(SUMMARY, &target))
        .collect();
    by_path
        .keys()
        .filter(|path| path.starts_with(BOOK) && **path != SUMMARY)
        .filter(|path| !listed.iter().any(|listed| listed == *path))
        .map(|path| Finding {
            file: (*path).to_owned(),
            line: 1,
            what: format!("{SUMMARY} does not list this page"),
            why: "a page outside the table of contents is not built into the book",
        })
        .collect()
}

/// The lines outside code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_block = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        (!fence && !in_block).then_some((index + 1, line))
    })
}

/// Link targets without a scheme, each with its line.
fn relative_links(text: &str) -> impl Iterator<Item = (usize, String)> {
    prose(text).flat_map(|(line, words)| {
        let plain = without_code(words);
        plain
            .split("](")
            .skip(1)
            .filter_map(|after| after.split_once(')'))
            .map(|(target, _)| target.trim().to_owned())
            .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
            .map(|target| (line, target))
            .collect::<Vec<_>>()
    })
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The anchors of a page's headings, as both code hosts and mdBook make them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        let depth = line.len() - title.len();
        (1..=6).contains(&depth).then(|| slug(title.trim()))
    })
}

fn slug(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Page, check};

    fn findings(pages: &[(&str, &str)]) -> Vec<(String, usize)> {
        let pages: Vec<Page> = pages
            .iter()
            .map(|(path, text)| Page {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
            })
            .collect();
        let exists = |path: &str| path == "LICENSE-MIT";
        check(&pages, &exists)
            .into_iter()
            .map(|finding| (finding.file, finding.line))
            .collect()
    }

    #[test]
    fn a_link_to_a_file_or_heading_that_is_not_there_is_found() {
        let readme = "[a](LICENSE-MIT) [b](https://c.d/e)\n[f](docs/src/g.md#two-words)\n\
                      [h](nowhere.md)\n[i](docs/src/g.md#three)\n`[j](k)`\n```\n[l](m)\n```\n";
        let page = "# `Two` words!\n[up](#two-words)\n";
        let pages = [("README.md", readme), ("docs/src/g.md", page)];
        assert_eq!(
            findings(&pages),
            [("README.md".to_owned(), 3), ("README.md".to_owned(), 4)]
        );
    }

    #[test]
    fn the_book_links_within_itself() {
        let pages = [("docs/src/a.md", "[b](../../README.md)"), ("README.md", "")];
        assert_eq!(findings(&pages), [("docs/src/a.md".to_owned(), 1)]);
    }

    #[test]
    fn no_link_leads_out_of_the_checkout() {
        assert_eq!(
            findings(&[("README.md", "\n[a](../b.md)")]),
            [("README.md".to_owned(), 2)]
        );
    }

    #[test]
    fn a_page_that_the_contents_do_not_list_is_found() {
        let pages = [
            ("docs/src/SUMMARY.md", "- [A](a.md)"),
            ("docs/src/a.md", ""),
            ("docs/src/design/b.md", ""),
        ];
        assert_eq!(findings(&pages), [("docs/src/design/b.md".to_owned(), 1)]);
    }
}
