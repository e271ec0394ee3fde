//! Do the arrows between crates only go down?
//!
//! The table below is the map in `ARCHITECTURE.md`, for a program. A new crate or a new arrow is
//! a decision about the design: it is added here on purpose, or not at all.

use serde_json::Value;

use super::finding::Finding;
use crate::failure::Failure;
use crate::process::Run;
use crate::workspace::{Workspace, read};

/// Each crate and the crates of ours that its library or program may use.
const ARROWS: [(&str, &[&str]); 10] = [
    ("toolspan-core", &[]),
    ("toolspan-io", &["toolspan-core"]),
    ("toolspan-mcp", &["toolspan-core", "toolspan-io"]),
    (
        "toolspan",
        &["toolspan-core", "toolspan-io", "toolspan-mcp"],
    ),
    ("toolspan-cli", &["toolspan"]),
    ("toolspan-py", &["toolspan"]),
    // Knows bytes only, so that it can be wrong in every way.
    ("toolspan-faults", &[]),
    ("toolspan-testkit", &["toolspan-core"]),
    (
        "toolspan-benches",
        &[
            "toolspan",
            "toolspan-core",
            "toolspan-io",
            "toolspan-mcp",
            "toolspan-faults",
        ],
    ),
    ("xtask", &[]),
];

/// What tests may use beside the arrows.
const FOR_TESTS: [&str; 2] = ["toolspan-faults", "toolspan-testkit"];

/// Packages from outside that only these crates may depend on.
const RESERVED: [(&str, &[&str]); 1] = [("rmcp", &["toolspan-cli", "toolspan-benches"])];

/// What the tests of one crate may use beside that: the SDK is the peer of the engine's tests.
const RESERVED_FOR_TESTS: [(&str, &str); 1] = [("rmcp", "toolspan-mcp")];

/// One crate of the workspace with what it depends on.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    manifest: String,
    uses: Vec<Use>,
}

/// One line of a manifest.
#[derive(Debug)]
struct Use {
    name: String,
    for_tests: bool,
    line: usize,
}

/// Asks cargo for the crates of the workspace.
pub(super) fn packages(workspace: &Workspace) -> Result<Vec<Package>, Failure> {
    let text = Run::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .in_folder(workspace.root())
        .captured()?;
    let unexpected = || Failure::Unexpected {
        what: "cargo metadata is not as documented".into(),
    };
    let metadata: Value = serde_json::from_str(&text).map_err(|_| unexpected())?;
    let listed = metadata
        .get("packages")
        .and_then(Value::as_array)
        .ok_or_else(unexpected)?;
    listed
        .iter()
        .map(|package| {
            let path = package.get("manifest_path").and_then(Value::as_str);
            let path = std::path::Path::new(path.ok_or_else(unexpected)?);
            let manifest = workspace.relative(path);
            parse(package, manifest, &read(path)?).ok_or_else(unexpected)
        })
        .collect()
}

fn parse(package: &Value, manifest: String, text: &str) -> Option<Package> {
    let listed = package.get("dependencies")?.as_array()?;
    let uses = listed
        .iter()
        .map(|dependency| {
            let name = dependency.get("name")?.as_str()?.to_owned();
            let for_tests = dependency.get("kind")?.as_str() == Some("dev");
            let line = text
                .lines()
                .position(|line| line.starts_with(&name))
                .map_or(1, |at| at + 1);
            Some(Use {
                name,
                for_tests,
                line,
            })
        })
        .collect::<Option<Vec<Use>>>()?;
    Some(Package {
        name: package.get("name")?.as_str()?.to_owned(),
        manifest,
        uses,
    })
}

/// Compares what the crates use with what they may use.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let Some((_, may)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
            findings.push(Finding {
                file: package.manifest.clone(),
                line: 1,
                what: format!("{} is not on the map of crates", package.name),
                why: "a new crate is a decision: give it a row in xtask/src/tidy/arrows.rs",
            });
            continue;
        };
        findings.extend(package.uses.iter().filter_map(|used| {
            let why = objection(package, used, may)?;
            let what = format!("{} uses {}", package.name, used.name);
            Some(Finding {
                file: package.manifest.clone(),
                line: used.line,
                what,
                why,
            })
        }));
    }
    findings
}

fn objection(package: &Package, used: &Use, may: &[&str]) -> Option<&'static str> {
    let name = used.name.as_str();
    let reserved = RESERVED.iter().find(|(outside, _)| *outside == name);
    if let Some((_, users)) = reserved {
        let tested = used.for_tests && RESERVED_FOR_TESTS.contains(&(name, &*package.name));
        return (!tested && !users.contains(&package.name.as_str())).then_some(
            "the client engine is ours; the SDK serves the demo, the benchmarks and the tests",
        );
    }
    let is_ours = ARROWS.iter().any(|(ours, _)| *ours == name);
    let allowed = may.contains(&name) || (used.for_tests && FOR_TESTS.contains(&name));
    (is_ours && !allowed).then_some("arrows between crates go down as ARCHITECTURE.md draws them")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Package, check, parse};

    fn package(name: &str, uses: &[(&str, Option<&str>)]) -> Package {
        let dependencies: Vec<_> = uses
            .iter()
            .map(|(name, kind)| json!({"name": name, "kind": kind}))
            .collect();
        let text: String = uses
            .iter()
            .map(|(name, _)| format!("{name}.workspace = true\n"))
            .collect();
        let described = json!({"name": name, "dependencies": dependencies});
        parse(&described, format!("crates/{name}/Cargo.toml"), &text).unwrap()
    }

    #[test]
    fn an_arrow_that_goes_up_is_found_with_its_line() {
        let core = package("toolspan-core", &[("serde", None), ("toolspan-io", None)]);
        let findings = check(&[core]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
        assert_eq!(findings[0].what, "toolspan-core uses toolspan-io");
    }

    #[test]
    fn what_serves_tests_may_not_be_shipped() {
        let tested = package("toolspan-mcp", &[("toolspan-testkit", Some("dev"))]);
        assert!(check(&[tested]).is_empty());
        let shipped = package("toolspan-mcp", &[("toolspan-testkit", None)]);
        assert_eq!(check(&[shipped]).len(), 1);
    }

    #[test]
    fn the_sdk_is_reserved_even_for_tests_of_all_but_the_engine() {
        let tested = package("toolspan-mcp", &[("rmcp", Some("dev"))]);
        assert!(check(&[tested]).is_empty());
        for (name, kind) in [("toolspan-mcp", None), ("toolspan", Some("dev"))] {
            assert_eq!(
                check(&[package(name, &[("rmcp", kind)])]).len(),
                1,
                "{name}"
            );
        }
        assert!(check(&[package("toolspan-cli", &[("rmcp", None)])]).is_empty());
    }

    #[test]
    fn a_crate_that_nobody_drew_is_found() {
        assert_eq!(check(&[package("toolspan-new", &[])]).len(), 1);
    }
}
