//! Which functions of the Python module does a session over stdio run?
//!
//! `crates/toolspan-py/build.rs` puts those first. They are found by running a session under
//! callgrind, whose record names every function that ran.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use crate::bench;
use crate::failure::Failure;
use crate::process::Run;
use crate::talk;
use crate::workspace::Workspace;

/// The list, relative to the root.
const FIRST: &str = "crates/toolspan-py/first.txt";
/// The server of the session, relative to the root: the one of the benchmarks.
const SERVER: &str = "benches/python/echo_server.py";
/// How the compiled half is called.
const MODULE: &str = "_toolspan";

/// The session, through each of both doors: a toolbox for OVOS, and a host.
const SESSION: &str = "
import sys
import toolspan
from toolspan.ovos import MCPToolBox

server = {'command': sys.executable, 'args': sys.argv[1:]}
toolbox = MCPToolBox(config={'transport': 'stdio', **server})
for _ in range(20):
    toolbox.call_tool('echo', {'text': 'hello'})
toolbox.close()
with toolspan.connect({'mcpServers': {'echo': server}}) as host:
    for _ in range(20):
        host.call('echo__echo', text='hello')
";

/// Builds the module as it is shipped, but with the names of its functions; runs a session, and
/// writes the list.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let module = bench::python_module(workspace, &["-C", "strip=none"])?;
    let record = workspace.path("target/callgrind.out");
    Run::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no", "--quiet"])
        .args([format!("--callgrind-out-file={}", record.display())])
        .args([workspace.tools().join("python-ovos/bin/python")])
        .args(["-c", SESSION, SERVER])
        .with("PYTHONPATH", module)
        .in_folder(workspace.root())
        .captured()?;
    let record = fs::read_to_string(&record).map_err(Failure::file(&record))?;
    let names = functions(&record);
    if names.is_empty() {
        let what = format!("the record of callgrind names no function of {MODULE}");
        return Err(Failure::Unexpected { what });
    }
    let path = workspace.path(FIRST);
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    fs::write(&path, lines).map_err(Failure::file(&path))?;
    talk::line(&format!("{FIRST}: {} functions", names.len()));
    Ok(())
}

/// The functions of the module that ran, as patterns that outlast a build, sorted.
///
/// In a record `ob=(1) path` and `fn=(2) name` say what the lines after them are about. A name is
/// written once, where its number first comes up; where a call leads is a `cob=` and a `cfn=`.
fn functions(record: &str) -> BTreeSet<String> {
    let mut objects = HashMap::new();
    let mut names = HashMap::new();
    let mut is_ours = false;
    let mut ran = BTreeSet::new();
    for line in record.lines() {
        let Some((key, number, name)) = entry(line) else {
            continue;
        };
        match key {
            "ob" | "cob" => {
                if !name.is_empty() {
                    objects.insert(number, name.contains(MODULE));
                }
                if key == "ob" {
                    is_ours = objects.get(number).is_some_and(|ours| *ours);
                }
            }
            "fn" | "cfn" => {
                if !name.is_empty() {
                    names.insert(number, name);
                }
                if key == "fn" && is_ours {
                    ran.insert(number);
                }
            }
            _ => {}
        }
    }
    ran.iter()
        .filter_map(|number| names.get(number).copied())
        .filter_map(pattern)
        .collect()
}

/// Cuts `fn=(2) name` into its three parts; the last one may be empty.
fn entry(line: &str) -> Option<(&str, &str, &str)> {
    let (key, rest) = line.split_once("=(")?;
    let (number, name) = rest.split_once(')')?;
    Some((key, number, name.trim_start()))
}

/// A name with `*` for the digits that differ from build to build: the hash at the end of a name of
/// the older form, and those of the crates in one of the newer form. `None` for what is not Rust.
fn pattern(name: &str) -> Option<String> {
    if let Some((path, _)) = name.rsplit_once("17h").filter(|_| name.starts_with("_ZN")) {
        return Some(format!("{path}17h*"));
    }
    let mut parts = name.strip_prefix("_R")?.split("Cs");
    let mut found = format!("_R{}", parts.next()?);
    for part in parts {
        found.push_str("Cs*_");
        found.push_str(part.split_once('_')?.1);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{functions, pattern};

    #[test]
    fn a_pattern_outlasts_a_build() {
        let of = |name| pattern(name).unwrap_or_default();
        assert_eq!(of("_ZN3one3two17h0123456789abcdefE"), "_ZN3one3two17h*");
        assert_eq!(
            of("_ZN3one3two17h0123456789abcdefE.llvm.7'2"),
            "_ZN3one3two17h*"
        );
        assert_eq!(of("_RNvNtCsjrHSEGnQ3l9_3std4exit"), "_RNvNtCs*_3std4exit");
        assert_eq!(of("_RINvCsab_1aNtCscd_1bE"), "_RINvCs*_1aNtCs*_1bE");
        assert_eq!(pattern("memcpy"), None);
        assert_eq!(pattern("0x0000000000321180"), None);
    }

    #[test]
    fn only_what_ran_in_the_module_is_named() {
        let record = "\
ob=(1) /lib/libc.so.6
fn=(1) _ZN1a17h0E
cob=(2) /site/toolspan/_toolspan.abi3.so
cfn=(2) _ZN1b17h0E
calls=1 0
ob=(2)
fn=(2)
fn=(3) _ZN1c17h0E
cfn=(4) _ZN1d17h0E
ob=(1)
fn=(4)
";
        let names: Vec<String> = functions(record).into_iter().collect();
        assert_eq!(names, ["_ZN1b17h*", "_ZN1c17h*"]);
        assert!(functions("").is_empty());
    }
}
