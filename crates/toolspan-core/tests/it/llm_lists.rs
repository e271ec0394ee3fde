//! What becomes of the tools of real servers in the forms of all APIs?

use std::collections::BTreeMap;

use crate::llm_recorded::{FORMS, declarations, is_strict, lists};

#[test]
fn every_recorded_tool_is_given_to_every_api() {
    let mut tools = 0;
    for (server, snapshot) in lists() {
        tools += snapshot.tools().len();
        for (name, form) in FORMS {
            let projection = snapshot.project(&form);
            assert_eq!(projection.left_out, [], "{server} to {name}");
            let count = declarations(&projection.tools).len();
            assert_eq!(count, snapshot.tools().len(), "{server} to {name}");
        }
    }
    assert_eq!(tools, 478);
}

#[test]
fn what_is_changed_of_the_recorded_tools_is_one_readable_table() {
    let mut strict = BTreeMap::new();
    let mut rows: BTreeMap<(String, String, String, String), usize> = BTreeMap::new();
    for (_, snapshot) in lists() {
        for (name, form) in FORMS {
            let projection = snapshot.project(&form);
            let is = declarations(&projection.tools)
                .into_iter()
                .filter(|tool| is_strict(tool));
            *strict.entry(name).or_insert(0) += is.count();
            for loss in projection.losses {
                let why = loss
                    .why
                    .split(" (at ")
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                let row = (
                    name.to_owned(),
                    loss.effect.to_string(),
                    loss.what.into_owned(),
                    why,
                );
                *rows.entry(row).or_default() += 1;
            }
        }
    }
    let mut table = String::from("strict tools of 478: ");
    let strict: Vec<String> = strict
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    table += &strict.join(", ");
    table += "\n\nform             | effect   | times | what | why\n";
    for ((form, effect, what, why), count) in rows {
        table += &format!("{form:16} | {effect:8} | {count:5} | {what} | {why}\n");
    }
    insta::assert_snapshot!("losses", table);
}
