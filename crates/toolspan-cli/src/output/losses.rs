//! What does the form of an API cost? A row for each change and each tool that is left out.

use serde_json::{Value, json};
use toolspan::guard::sanitise;
use toolspan::llm::{Effect, Form, LeftOut, Loss, Projection, Strict};

use super::table::{Cell, Table};
use super::{Output, Style};

/// Characters of a name or a pointer in the table.
const LONGEST_PLACE: usize = 200;
/// Characters of what is said; the terminal's width cuts more.
const LONGEST_WORDS: usize = 1_000;

/// The record as a table, and a line that counts.
pub(crate) fn lines(output: &Output, form: &Form, projection: &Projection) -> Vec<String> {
    let place = |text: &str| sanitise::one_line(text, LONGEST_PLACE);
    let words = |text: &str| sanitise::one_line(text, LONGEST_WORDS);
    let mut table = Table::new(&["TOOL", "POINTER", "EFFECT", "WHAT", "WHY"]);
    for loss in &projection.losses {
        table.row([
            Cell::styled(place(&loss.tool), Style::Strong),
            place(&loss.pointer).into(),
            mark(loss.effect),
            words(&loss.what).into(),
            words(&loss.why).into(),
        ]);
    }
    for left_out in &projection.left_out {
        table.row([
            Cell::styled(place(&left_out.tool), Style::Strong),
            "".into(),
            Cell::styled("left out", Style::Bad),
            "the API cannot take the tool".into(),
            words(&left_out.reason).into(),
        ]);
    }
    let mut lines = Vec::new();
    if !projection.losses.is_empty() || !projection.left_out.is_empty() {
        lines = table.lines(output.columns(), output.has_colour());
        lines.push(String::new());
    }
    lines.push(counted(form, projection));
    lines
}

/// Whether a value may pass the form and not the tool.
fn mark(effect: Effect) -> Cell {
    match effect.is_lossy() {
        true => Cell::styled("lossy", Style::Caution),
        false => "adapted".into(),
    }
}

/// The last line: how much of everything there is.
fn counted(form: &Form, projection: &Projection) -> String {
    let lossy = projection.losses.iter().filter(|it| it.effect.is_lossy());
    let lossy = lossy.count();
    let adapted = projection.losses.len() - lossy;
    let tools = match given(projection) {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    let left_out = projection.left_out.len();
    format!(
        "{tools} for {}: {lossy} lossy, {adapted} adapted, {left_out} left out",
        name(form)
    )
}

/// How many tools the API is given.
fn given(projection: &Projection) -> usize {
    let all = &projection.tools;
    let declarations = all.pointer("/0/functionDeclarations").unwrap_or(all);
    declarations.as_array().map(Vec::len).unwrap_or_default()
}

fn name(form: &Form) -> String {
    let strict = match form.strict {
        Strict::Off => "",
        _ => " (strict)",
    };
    format!("{}{strict}", form.api.as_str())
}

/// A tool that is left out, and why, in one line.
pub(crate) fn left_out(form: &Form, left_out: &LeftOut) -> String {
    let tool = sanitise::one_line(&left_out.tool, LONGEST_PLACE);
    let reason = sanitise::one_line(&left_out.reason, LONGEST_WORDS);
    format!("{tool} is left out for {}: {reason}", name(form))
}

/// The record: the object of `tools --losses --json`.
pub(crate) fn json(form: &Form, projection: &Projection) -> Value {
    let loss = |loss: &Loss| {
        json!({
            "tool": &*loss.tool,
            "pointer": loss.pointer,
            "effect": loss.effect.as_str(),
            "lossy": loss.effect.is_lossy(),
            "what": loss.what,
            "why": loss.why,
        })
    };
    let left_out = |left_out: &LeftOut| json!({"tool": &*left_out.tool, "reason": left_out.reason});
    json!({
        "format": form.api.as_str(),
        "strict": form.strict != Strict::Off,
        "tools": given(projection),
        "losses": projection.losses.iter().map(loss).collect::<Value>(),
        "left_out": projection.left_out.iter().map(left_out).collect::<Value>(),
    })
}
