//! In which order do the functions stand in the module?
//!
//! The system brings 64 KiB of a file into memory around each function that runs, so that functions
//! which run, strewn over 9 MB of others, hold most of those, too. Those that a session over stdio
//! runs are put first, beside one another: `first.txt` names them, `cargo xtask layout` writes it. A
//! name that is out of date costs memory and nothing else.

use std::path::PathBuf;
use std::{env, error::Error, fs};

/// One function a line; `*` stands for what differs from build to build.
const FIRST: &str = "first.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FIRST}");
    println!("cargo::rerun-if-changed=build.rs");
    if !is_wanted() {
        return Ok(());
    }
    let script = PathBuf::from(said("OUT_DIR")?).join("layout.ld");
    fs::write(&script, layout(&fs::read_to_string(FIRST)?))?;
    println!(
        "cargo::rustc-cdylib-link-arg=-Wl,--script={}",
        script.display()
    );
    Ok(())
}

/// Whether the compiler links with LLD, which is what reads the script, and is asked for speed.
fn is_wanted() -> bool {
    let is = |name, wanted| said(name).is_ok_and(|value| value == wanted);
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && !is("OPT_LEVEL", "0")
}

/// What cargo says by this name.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to a build script by variables, and no library code passes through here"
)]
fn said(name: &str) -> Result<String, env::VarError> {
    env::var(name)
}

/// The script of the linker: `.text` as it always is, but for what comes first. What the compiler
/// takes for unlikely has a prefix of its own.
fn layout(names: &str) -> String {
    let first: String = names
        .lines()
        .map(|name| format!("    *(.text.{name} .text.unlikely.{name})\n"))
        .collect();
    format!(
        "SECTIONS\n{{\n  .text :\n  {{\n{first}    *(.text .text.*)\n  }}\n}}\nINSERT AFTER .init;\n"
    )
}
