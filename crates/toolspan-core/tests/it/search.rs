//! Are tools found by words, the best one first, the same each time?

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use toolspan_core::search::SearchIndex;
use toolspan_core::{ToolDefinition, schema::Schema};

fn tool(description: &str, parameters: &serde_json::Value) -> ToolDefinition {
    let schema = json!({"type": "object", "properties": parameters});
    let input = Arc::new(Schema::for_arguments(schema).expect("a schema"));
    ToolDefinition::new("any", description, input)
}

fn places(index: &SearchIndex, query: &str) -> Vec<usize> {
    let hits = index.search(query, 10);
    hits.iter().map(|hit| hit.place).collect()
}

#[test]
fn a_tool_is_found_by_its_name_its_words_and_its_parameters() {
    let tools = [
        (
            "time__getCurrentTime",
            tool("Tells what time it is", &json!({"timezone": {}})),
        ),
        (
            "git__log",
            tool(
                "Shows the commits of a repository",
                &json!({"maxCount": {}}),
            ),
        ),
        (
            "fs__read_file",
            tool(
                "Reads it",
                &json!({"p": {"description": "Path within the repository"}}),
            ),
        ),
    ];
    let index = SearchIndex::of(tools.iter().map(|(name, tool)| (*name, tool)));
    assert_eq!(places(&index, "current time"), [0]);
    assert_eq!(places(&index, "TIMEZONE"), [0]);
    assert_eq!(places(&index, "max count"), [1]);
    assert_eq!(places(&index, "files"), [2]);
    assert_eq!(
        places(&index, "repositories"),
        [1, 2],
        "the shorter text comes first"
    );
    assert_eq!(places(&index, "commit"), [1]);
    assert_eq!(
        places(&index, "repo"),
        [1, 2],
        "the beginning of a word finds it"
    );
    assert!(places(&index, "").is_empty() && places(&index, "?!").is_empty());
}

#[test]
fn a_word_of_the_name_counts_more_than_one_of_a_description() {
    let mut index = SearchIndex::default();
    index.add_text("archive", "Puts mail away");
    index.add_text("mail", "Writes to somebody");
    assert_eq!(places(&index, "mail"), [1, 0]);
}

#[test]
fn a_rare_word_counts_more_than_a_common_one() {
    let mut index = SearchIndex::default();
    for _ in 0..5 {
        index.add_text("get", "file");
    }
    index.add_text("get", "invoice");
    assert_eq!(places(&index, "file invoice").first(), Some(&5));
}

#[test]
fn equal_tools_stay_in_order_and_no_more_than_asked_for_are_given() {
    let mut index = SearchIndex::default();
    for _ in 0..20 {
        index.add_text("same", "the same");
    }
    assert_eq!(places(&index, "same"), (0..10).collect::<Vec<_>>());
    assert!(index.search("same", 0).is_empty());
    assert_eq!(index.search("same", usize::MAX).len(), 20);
    assert!(SearchIndex::default().search("same", 5).is_empty());
}

proptest! {
    #[test]
    fn any_texts_and_queries_give_positive_scores_in_falling_order_the_same_each_time(
        texts in prop::collection::vec(("\\PC{0,12}", "\\PC{0,40}"), 0..20),
        query in "\\PC{0,30}",
    ) {
        let build = || {
            let mut index = SearchIndex::default();
            for (name, description) in &texts {
                index.add_text(name, description);
            }
            index
        };
        let hits = build().search(&query, 5);
        prop_assert!(hits.len() <= 5);
        prop_assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.place < texts.len()));
        prop_assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
        prop_assert_eq!(hits, build().search(&query, 5));
    }
}
