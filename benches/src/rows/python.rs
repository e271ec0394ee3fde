//! Which rows are measured from Python?
//!
//! P1 to P3 are one call at a time to one echo server in Python. The floor is the request that our
//! client writes over a bare pipe. P13 is the time of a whole process that does nothing but import.
//! P14 is the resident memory of a contestant after its calls, as `VmRSS` in `/proc/PID/status`
//! says; the servers are not in it.

use crate::failure::Failure;
use crate::options::Options;
use crate::python::{self, Import, Program, Runner};
use crate::rows::{Bar, Line, Round, Start};

const FLOOR: &str = "P1 floor: bare pipe in Python";
const HOST: &str = "P1 host.call";
const TOOLBOX: &str = "P1 MCPToolBox.call_tool";
const ADAPTERS: &str = "P1 ovos-tool-adapters";
const FASTMCP: &str = "P2 FastMCP client, async";
const SESSION: &str = "P2 mcp 2 ClientSession, async";
const SESSION_1: &str = "P2 mcp 1 ClientSession, async";

const BARE: &str = "P13 bare Python";
const IMPORT: &str = "P13 import toolspan";
const IMPORT_ADAPTERS: &str = "P13 import ovos_tool_adapters.mcp";

const HELD: &str = "P14 toolspan.connect";
const HELD_TOOLBOX: &str = "P14 MCPToolBox";
const HELD_ADAPTERS: &str = "P14 ovos-tool-adapters";
const HELD_OPM: &str = "P14 import of OPM's template";

/// The lines about calls.
pub(super) fn calls() -> Vec<Line> {
    let line = Line::new;
    let host = |name, beside, bar| Line {
        name,
        of: HOST,
        claim: Some((beside, bar)),
    };
    let above = |most| Bar::AboveFloor(most, FLOOR);
    vec![
        line(FLOOR, None),
        line(HOST, Some((ADAPTERS, Bar::Ratio(0.12)))),
        line(HOST, Some((ADAPTERS, above(0.08)))),
        line(TOOLBOX, Some((ADAPTERS, Bar::Ratio(0.15)))),
        line(ADAPTERS, None),
        host("P2 host.call", FASTMCP, above(0.12)),
        host("P2 host.call", SESSION, above(0.12)),
        host("P2 host.call", SESSION_1, above(0.12)),
        line(FASTMCP, None),
        line(SESSION, None),
        line(SESSION_1, None),
        host("P3 host.call", FLOOR, Bar::Ratio(1.5)),
    ]
}

/// The lines about whole processes.
pub(super) fn processes() -> Vec<Line> {
    let line = Line::new;
    let above = Bar::AboveFloor(0.05, BARE);
    vec![
        line(BARE, None),
        line(IMPORT, Some((IMPORT_ADAPTERS, above))),
        line(IMPORT, Some((BARE, Bar::Above(30.0)))),
        line(IMPORT_ADAPTERS, None),
        line(HELD, Some((HELD_ADAPTERS, Bar::Ratio(0.35)))),
        line(HELD_TOOLBOX, Some((HELD_OPM, Bar::Ratio(1.15)))),
        line(HELD_ADAPTERS, None),
        line(HELD_OPM, None),
    ]
}

/// In the order of their turns.
pub(super) const STARTS: [(&str, Start); 14] = [
    (FLOOR, |options| {
        timed(
            FLOOR,
            Program::of(python::ADAPTERS, "floor_pipe.py"),
            options,
        )
    }),
    (HOST, |options| {
        timed(HOST, Program::ours("host_call.py"), options)
    }),
    (TOOLBOX, |options| {
        timed(TOOLBOX, Program::ours("toolbox_call.py"), options)
    }),
    (ADAPTERS, |options| {
        timed(
            ADAPTERS,
            Program::of(python::ADAPTERS, "adapters_call.py"),
            options,
        )
    }),
    (FASTMCP, |options| {
        timed(
            FASTMCP,
            Program::of(python::SDK, "fastmcp_call.py"),
            options,
        )
    }),
    (SESSION, |options| {
        timed(
            SESSION,
            Program::of(python::SDK, "session_call.py"),
            options,
        )
    }),
    (SESSION_1, |options| {
        timed(
            SESSION_1,
            Program::of(python::ADAPTERS, "session_call.py"),
            options,
        )
    }),
    (BARE, |options| Ok(Import::of(BARE, "").timed(options))),
    (IMPORT, |options| {
        Ok(Import::ours(IMPORT, "import toolspan").timed(options))
    }),
    (IMPORT_ADAPTERS, |options| {
        Ok(Import::of(IMPORT_ADAPTERS, "import ovos_tool_adapters.mcp").timed(options))
    }),
    (HELD, |options| {
        weighed(HELD, Program::ours("host_call.py"), options)
    }),
    (HELD_TOOLBOX, |options| {
        weighed(HELD_TOOLBOX, Program::ours("toolbox_call.py"), options)
    }),
    (HELD_ADAPTERS, |options| {
        weighed(
            HELD_ADAPTERS,
            Program::of(python::ADAPTERS, "adapters_call.py"),
            options,
        )
    }),
    (HELD_OPM, |options| {
        weighed(
            HELD_OPM,
            Program::of(python::ADAPTERS, "opm_only.py"),
            options,
        )
    }),
];

fn timed(who: &'static str, program: Program, options: &Options) -> Result<Round, Failure> {
    Ok(Runner::start(who, program, options)?.timed())
}

fn weighed(who: &'static str, program: Program, options: &Options) -> Result<Round, Failure> {
    Ok(Runner::start(who, program, options)?.weighed())
}
