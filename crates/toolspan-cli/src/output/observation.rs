//! How is a tool's answer printed? Text as it is; one line for everything that is not text.

use toolspan::observation::{Resource, ResourceBody};
use toolspan::{Content, Observation};

use super::Output;

/// Prints the blocks of an answer, in order. Gives whether the text was cut at `limit` characters.
///
/// `saved` holds, for each block, the file that it was written to.
pub(crate) fn print(
    output: &Output,
    observation: &Observation,
    saved: Option<&[Option<String>]>,
    limit: Option<usize>,
) -> bool {
    let mut left = limit.unwrap_or(usize::MAX);
    let mut is_cut = false;
    let mut text = |text: &str| {
        let end = text.char_indices().nth(left).map(|(end, _)| end);
        let shown = end.and_then(|end| text.get(..end)).unwrap_or(text);
        left -= shown.chars().count().min(left);
        is_cut |= end.is_some();
        output.data(&if shown.ends_with('\n') {
            shown.to_owned()
        } else {
            format!("{shown}\n")
        });
    };
    for (index, block) in observation.content.iter().enumerate() {
        match (block, saved.and_then(|paths| paths.get(index)?.as_deref())) {
            (Content::Text(block), _) => text(&block.text),
            (block, Some(path)) => output.line(&format!("[{}] {path}", block.summary())),
            (block, None) => output.line(&format!("[{}]", block.summary())),
        }
        if let Content::Resource(Resource {
            body: ResourceBody::Text(body),
            ..
        }) = block
        {
            text(body);
        }
    }
    let has_text = observation
        .content
        .iter()
        .any(|block| block.as_text().is_some());
    if let (Some(structured), false) = (&observation.structured, has_text) {
        text(&format!("{structured:#}"));
    }
    is_cut
}
