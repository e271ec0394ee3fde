//! Is `ARCHITECTURE.md` short, and does it know every crate?

use super::finding::Finding;

/// The page, relative to the root.
pub(super) const PAGE: &str = "ARCHITECTURE.md";

/// One sitting's reading.
const MOST_LINES: usize = 250;

/// The page stays under its length and names each package.
pub(super) fn check(page: &str, packages: &[&str]) -> Vec<Finding> {
    let finding = |line, what, why| Finding {
        file: PAGE.to_owned(),
        line,
        what,
        why,
    };
    let lines = page.lines().count();
    let mut findings = Vec::new();
    if lines >= MOST_LINES {
        let what = format!("{lines} lines, {MOST_LINES} or more");
        findings.push(finding(
            lines,
            what,
            "a map that nobody reads whole is no map",
        ));
    }
    for package in packages {
        if !page.contains(&format!("`{package}`")) {
            let what = format!("`{package}` is not mentioned");
            findings.push(finding(1, what, "the map shows every crate"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_crate_missing_from_the_map_is_found() {
        assert!(check("| `a` | does it |\n", &["a"]).is_empty());
        assert_eq!(check("| `ab` | does it |\n", &["a"]).len(), 1);
    }

    #[test]
    fn a_long_map_is_found() {
        assert_eq!(check(&"line\n".repeat(249), &[]).len(), 0);
        assert_eq!(check(&"line\n".repeat(250), &[]).len(), 1);
    }
}
