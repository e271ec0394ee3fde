//! Which versions of the peers, and which module of ours, were measured?

use std::io::Write;

use super::places::{self, ADAPTERS, SCHEMAS, SDK};
use super::process::Process;
use crate::failure::Failure;
use crate::options::Options;

/// Names of distributions in, one line out.
const PROGRAM: &str = "import sys; from importlib.metadata import version; print('Python', \
                       sys.version.split()[0], *(f'{name} {version(name)}' for name in sys.argv[1:]), sep=', ')";

/// Writes a line for each environment.
pub(crate) fn describe(output: &mut dyn Write, options: &Options) -> Result<(), Failure> {
    let ovos = ["ovos-tool-adapters", "mcp", "ovos-plugin-manager"];
    writeln!(output, "{}", line(options, ADAPTERS, &ovos)?)?;
    writeln!(output, "{}", line(options, SDK, &["fastmcp", "mcp"])?)?;
    let schemas = ["pydantic-ai-slim", "fastmcp-slim", "pydantic"];
    writeln!(output, "{}", line(options, SCHEMAS, &schemas)?)?;
    Ok(())
}

/// Writes where our module comes from.
pub(crate) fn describe_module(output: &mut dyn Write, options: &Options) -> Result<(), Failure> {
    match &options.module {
        Some(module) => writeln!(output, "toolspan from {}", module.display())?,
        None => writeln!(
            output,
            "toolspan as the tests have it (of its figures only the import's means something)"
        )?,
    }
    Ok(())
}

fn line(options: &Options, environment: &str, names: &[&str]) -> Result<String, Failure> {
    let mut command = places::interpreter(options, environment, false)?;
    command.args(["-c", PROGRAM]).args(names);
    Process::start("the list of versions", command)?.line()
}
