//! `toolspan describe`: what does one tool take, give and do, and where does it come from?

use std::borrow::Cow;

use serde_json::Value;
use toolspan::guard::sanitise;
use toolspan::policy::Level;
use toolspan::schema;
use toolspan::{RegisteredTool, Result, ToolAnnotations};

use crate::args::Describe;
use crate::concern::Concern;
use crate::exit::Code;
use crate::output::progress::Activity;
use crate::output::table::Table;
use crate::output::{Output, Style, json, signature};
use crate::session::Session;

/// Describes a tool. Only its own toolbox is started where the name says which one it is.
pub(super) async fn run(session: &Session, describe: &Describe) -> Result<Code> {
    session
        .with_host_for(Concern::Tool(&describe.tool), async |host| {
            let activity = Activity::new(&session.output, "starting the server");
            let found = session.interrupt.or(host.find(&describe.tool));
            let tool = activity.during(found).await??;
            drop(activity);
            let counted = host.effective_annotations(&tool);
            match session.output.json {
                true => {
                    let described = json::described(&tool, &counted, &host.level_of(&tool));
                    session.output.json(&described);
                }
                false => {
                    print(&session.output, &tool, &counted);
                    print_level(&session.output, host.level_of(&tool));
                }
            }
            Ok(Code::DONE)
        })
        .await
}

fn print(output: &Output, tool: &RegisteredTool, counted: &ToolAnnotations) {
    let definition = &tool.definition;
    let heading = |text: &str| output.line(&format!("\n{}", output.paint(Style::Hint, text)));
    let name = output.paint(Style::Strong, &tool.name);
    let parameters = schema::signature(&definition.input);
    output.line(&format!("{name}{}", sanitise::for_people(&parameters)));
    for line in sanitise::for_people(definition.description.trim()).lines() {
        output.line(format!("  {line}").trim_end());
    }
    heading("Origin");
    let original = sanitise::one_line(&definition.name, 200);
    let toolbox = sanitise::one_line(&tool.toolbox, 200);
    output.line(&format!("  toolbox {toolbox}, which calls it {original}"));
    heading("Arguments");
    match signature::arguments(&definition.input) {
        Some(table) => print_table(output, &table),
        None => output.line("  none are named"),
    }
    if let Some(schema) = &definition.output {
        heading("Structured result");
        print_json(output, schema.raw());
    }
    heading("Effects, as its author says, and as they count for the policy");
    print_table(output, &effects(definition.annotations.as_ref(), counted));
}

/// The level, what it means and why.
fn print_level(output: &Output, (level, rule): (Level, Cow<'static, str>)) {
    let heading = "Level for the policy, before the arguments of a call";
    output.line(&format!("\n{}", output.paint(Style::Hint, heading)));
    let rule = sanitise::one_line(&rule, 400);
    output.line(&format!(
        "  {} ({}): {rule}",
        level.number(),
        level.meaning()
    ));
}

fn print_table(output: &Output, table: &Table) {
    let columns = output.columns().map(|columns| columns.saturating_sub(2));
    for line in table.lines(columns, output.has_colour()) {
        output.line(&format!("  {line}"));
    }
}

fn print_json(output: &Output, value: &Value) {
    for line in sanitise::for_people(&format!("{value:#}")).lines() {
        output.line(&format!("  {line}"));
    }
}

/// The hints, whether they were given, what counts, and what they mean.
fn effects(given: Option<&ToolAnnotations>, counted: &ToolAnnotations) -> Table {
    let hints = given.cloned().unwrap_or_default();
    let meaning = |yes: bool, if_yes, if_no| if yes { if_yes } else { if_no };
    let rows = [
        (
            "read-only",
            hints.is_read_only(),
            hints.read_only_hint.is_some(),
            meaning(
                hints.is_read_only(),
                "it changes nothing",
                "it may change things",
            ),
        ),
        (
            "destructive",
            hints.is_destructive(),
            hints.destructive_hint.is_some(),
            meaning(
                hints.is_destructive(),
                "it may delete or overwrite",
                "it deletes nothing",
            ),
        ),
        (
            "idempotent",
            hints.is_idempotent(),
            hints.idempotent_hint.is_some(),
            meaning(
                hints.is_idempotent(),
                "a second equal call changes nothing more",
                "a second equal call may change more",
            ),
        ),
        (
            "open world",
            hints.is_open_world(),
            hints.open_world_hint.is_some(),
            meaning(
                hints.is_open_world(),
                "it may reach the outside",
                "it stays in its domain",
            ),
        ),
    ];
    let counted = [
        counted.is_read_only(),
        counted.is_destructive(),
        counted.is_idempotent(),
        counted.is_open_world(),
    ];
    let word = |yes: bool| if yes { "yes" } else { "no" };
    let mut table = Table::new(&["HINT", "VALUE", "SAID", "MEANING", "COUNTS AS"]);
    for ((hint, value, said, meaning), counts) in rows.into_iter().zip(counted) {
        let said = if said {
            "by the author"
        } else {
            "nothing, so the default"
        };
        table.row([
            hint.into(),
            word(value).into(),
            said.into(),
            meaning.into(),
            word(counts).into(),
        ]);
    }
    table
}
