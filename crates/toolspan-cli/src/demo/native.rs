//! How is a native tool written? Once as a typed struct, once as a closure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolspan::tool::{Action, Json, Tool, ToolFailure, tool_fn};
use toolspan::{Context, ToolAnnotations};

/// Arguments of [`CountWordsTool`].
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CountWords {
    /// The text whose words are counted
    text: String,
    /// Count words that are this long at least
    #[serde(default)]
    shortest: usize,
}

impl Action for CountWords {}

/// Result of [`CountWordsTool`].
#[derive(Serialize, JsonSchema)]
pub(crate) struct WordCount {
    /// How many words there are
    words: usize,
    /// The longest of them
    longest: Option<String>,
}

/// A tool as a struct; its exposed name is `count_words`.
pub(crate) struct CountWordsTool;

impl Tool for CountWordsTool {
    type Action = CountWords;
    type Observation = Json<WordCount>;

    fn description(&self) -> &str {
        "Counts the words of a text."
    }

    fn annotations(&self) -> Option<ToolAnnotations> {
        Some(ToolAnnotations::read_only())
    }

    async fn call(
        &self,
        action: CountWords,
        _context: &Context,
    ) -> Result<Json<WordCount>, ToolFailure> {
        let length = |word: &str| word.chars().count();
        let words: Vec<&str> = action.text.split_whitespace().collect();
        let counted = words.iter().filter(|word| length(word) >= action.shortest);
        // `max_by_key` gives the last one of equals; people expect the first.
        let longest = counted.clone().rev().max_by_key(|word| length(word));
        let longest = longest.map(|word| (*word).to_owned());
        Ok(Json(WordCount {
            words: counted.count(),
            longest,
        }))
    }
}

/// Arguments of [`shout`].
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Shout {
    /// The text to say louder
    text: String,
}

impl Action for Shout {}

/// A tool as a closure.
pub(crate) fn shout() -> impl Tool {
    tool_fn("shout", "Says a text louder.", |shout: Shout| async move {
        Ok::<_, ToolFailure>(format!("{}!", shout.text.to_uppercase()))
    })
    .with_annotations(ToolAnnotations::read_only())
}
