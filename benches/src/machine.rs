//! On what machine was this measured?

use std::io::Write;

use crate::failure::Failure;

/// Writes one line: kernel, cores, load, versions.
pub(crate) fn describe(output: &mut dyn Write) -> Result<(), Failure> {
    let system = rustix::system::uname();
    let cores = std::thread::available_parallelism()?;
    writeln!(
        output,
        "{} {} {}, {cores} cores, load {}; rmcp 3.11; {} build",
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
        system.machine().to_string_lossy(),
        load(),
        if cfg!(debug_assertions) {
            "debug (the figures mean nothing)"
        } else {
            "release"
        },
    )?;
    Ok(())
}

/// Runnable tasks over the last minute: above a few tenths the figures are noisy.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().filter(|first| !first.is_empty());
    first.unwrap_or("unknown").to_owned()
}
