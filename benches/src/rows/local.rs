//! Which rows need no server?
//!
//! P7 is a call of a tool of one's own, from a model's call, its arguments text, to the text of the
//! message that answers it; and for the flat tool what of it is the check and the way to the tool.
//! The bar is FastMCP's `call_tool`, which finds the tool by its name, checks and runs it, as ours
//! does. Its most direct way that checks arguments, `Tool.run`, looks no tool up: it is shown. Its
//! tools are asynchronous and have no output schema: with one, or with a plain function, it takes
//! longer.
//!
//! P8 is the recorded tools of real servers, from parsed JSON: a validator for each schema, and all
//! tools in the forms of five APIs. Pydantic has no way from a schema to a model of its own. FastMCP's
//! types are the ones that check what the schema says; those of ovos-tool-adapters take less time and
//! check the names and kinds of the first level alone, so they are shown and nothing is claimed.
//! The forms on that side are what pydantic-ai's transformers make of each schema.

use crate::failure::Failure;
use crate::native::{Native, NativeChecked};
use crate::options::Options;
use crate::python::{self, Program, Runner};
use crate::recorded::Lists;
use crate::rows::{Bar, Line, Round, Start};

const FLAT: &str = "P7 Host.run, flat arguments";
const NESTED: &str = "P7 Host.run, nested arguments";
const CHECKED: &str = "P7 Host.call, checked and run, flat";
const RUN_FLAT: &str = "P7 FastMCP Tool.run, flat";
const RUN_NESTED: &str = "P7 FastMCP Tool.run, nested";
const CALL_FLAT: &str = "P7 FastMCP call_tool, flat";
const CALL_NESTED: &str = "P7 FastMCP call_tool, nested";

const READY: &str = "P8 478 schemas compiled, 5 forms";
const PYDANTIC: &str = "P8 FastMCP's types, pydantic-ai's forms";
const SHALLOW: &str = "P8 ovos-tool-adapters' models, no forms";

/// The lines in the order of the table.
pub(super) fn lines() -> Vec<Line> {
    let line = Line::new;
    vec![
        line(FLAT, Some((CALL_FLAT, Bar::Ratio(0.1)))),
        line(FLAT, Some((FLAT, Bar::Below(3.0)))),
        line(FLAT, Some((RUN_FLAT, Bar::Shown))),
        line(CHECKED, Some((CHECKED, Bar::Below(3.0)))),
        line(NESTED, Some((CALL_NESTED, Bar::Ratio(0.1)))),
        line(NESTED, Some((RUN_NESTED, Bar::Shown))),
        line(RUN_FLAT, None),
        line(RUN_NESTED, None),
        line(CALL_FLAT, None),
        line(CALL_NESTED, None),
        line(READY, Some((PYDANTIC, Bar::Ratio(0.1)))),
        line(READY, Some((SHALLOW, Bar::Shown))),
        line(PYDANTIC, None),
        line(SHALLOW, None),
    ]
}

/// Ours, in the order of their turns.
pub(super) const OURS: [(&str, Start); 4] = [
    (FLAT, |_| {
        let native = Native::flat()?;
        Ok(Box::new(move |effort| native.one_by_one(effort.calls)))
    }),
    (NESTED, |_| {
        let native = Native::nested()?;
        Ok(Box::new(move |effort| native.one_by_one(effort.calls)))
    }),
    (CHECKED, |_| {
        let native = NativeChecked::flat()?;
        Ok(Box::new(move |effort| native.one_by_one(effort.calls)))
    }),
    (READY, |_| {
        let lists = Lists::read()?;
        Ok(Box::new(move |_| lists.once()))
    }),
];

/// The peers in Python, in the order of their turns.
pub(super) const PEERS: [(&str, Start); 6] = [
    (RUN_FLAT, |options| fastmcp(RUN_FLAT, "run_flat", options)),
    (RUN_NESTED, |options| {
        fastmcp(RUN_NESTED, "run_nested", options)
    }),
    (CALL_FLAT, |options| {
        fastmcp(CALL_FLAT, "call_flat", options)
    }),
    (CALL_NESTED, |options| {
        fastmcp(CALL_NESTED, "call_nested", options)
    }),
    (PYDANTIC, |options| {
        let program = Program::told(python::SCHEMAS, "pydantic_schemas.py", Lists::words()?);
        Ok(Runner::start(PYDANTIC, program, options)?.once())
    }),
    (SHALLOW, |options| {
        let program = Program::told(python::ADAPTERS, "adapters_schemas.py", Lists::words()?);
        Ok(Runner::start(SHALLOW, program, options)?.once())
    }),
];

fn fastmcp(who: &'static str, way: &str, options: &Options) -> Result<Round, Failure> {
    let program = Program::told(python::SDK, "fastmcp_tools.py", vec![way.to_owned()]);
    Ok(Runner::start(who, program, options)?.timed())
}
