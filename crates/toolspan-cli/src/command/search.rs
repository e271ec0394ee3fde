//! `toolspan search`: which tools fit a few words?

use toolspan::Result;
use toolspan::guard::sanitise;

use crate::args::Search;
use crate::exit::Code;
use crate::output::{json, tools};
use crate::session::Session;

/// Lists the tools that fit, the best first. What works is searched even if other toolboxes failed.
pub(super) async fn run(session: &Session, wanted: &Search) -> Result<Code> {
    let query = wanted.query.join(" ");
    session
        .with_host(async |host| {
            let failure = session.settle(host).await?;
            if let Some(error) = &failure
                && (session.output.json || host.snapshot().tools().is_empty())
            {
                return Ok(session.start_failed(error));
            }
            let found = host.search(&query, wanted.limit);
            let output = &session.output;
            if output.json {
                output.json(&found.iter().map(json::found).collect());
            } else if found.is_empty() {
                let query = sanitise::one_line(&query, 100);
                output.talk(&format!("no tool fits \"{query}\""));
            } else {
                let listed: Vec<_> = found.iter().map(|found| &found.tool).collect();
                let table = tools::table(&listed);
                for line in table.lines(output.columns(), output.has_colour()) {
                    output.line(&line);
                }
            }
            session.report_faults(host, failure.as_ref());
            Ok(failure.map_or(Code::DONE, |error| session.start_failed(&error)))
        })
        .await
}
