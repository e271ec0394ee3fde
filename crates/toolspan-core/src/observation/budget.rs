//! How much of an observation a model is given: the head and the tail, and what is missing.

use super::LlmContent;

/// Bounds the text of all parts together to `max_chars` characters; images do not count.
///
/// Each part gets what the parts before it left. A part that does not fit is cut in the middle.
pub fn bound(parts: Vec<LlmContent>, max_chars: usize) -> Vec<LlmContent> {
    let mut left = max_chars;
    parts
        .into_iter()
        .map(|part| match part {
            LlmContent::Text(text) => {
                let text = shorten(text, left);
                left = left.saturating_sub(text.chars().count());
                LlmContent::Text(text)
            }
            image => image,
        })
        .collect()
}

/// A text of at most `max_chars` characters and, when it was longer, its head and tail in equal
/// parts around a notice that says how long it was. The notice is not counted.
///
/// ```
/// use toolspan_core::observation::budget::shorten;
/// assert_eq!(shorten("short".into(), 10), "short");
/// let cut = shorten("0123456789".repeat(10), 10);
/// assert_eq!(cut, "01234\n[… 90 of 100 characters left out by limits.output_chars …]\n56789");
/// ```
pub fn shorten(text: String, max_chars: usize) -> String {
    if text.len() <= max_chars {
        return text;
    }
    let length = text.chars().count();
    if length <= max_chars {
        return text;
    }
    let head = max_chars.div_ceil(2);
    let tail = max_chars - head;
    let at = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(index, _)| index)
    };
    let (head_end, tail_start) = (at(head), at(length - tail));
    let missing = length - max_chars;
    format!(
        "{}\n[… {missing} of {length} characters left out by limits.output_chars …]\n{}",
        text.get(..head_end).unwrap_or_default(),
        text.get(tail_start..).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        let cut = shorten("é🦀".repeat(50), 7);
        assert!(cut.starts_with("é🦀é🦀\n[… 93 of 100"));
        assert!(cut.ends_with("🦀é🦀"));
    }

    #[test]
    fn the_bound_holds_over_all_parts_and_spares_images() {
        let image = LlmContent::Image {
            data: "A".repeat(100),
            mime_type: "image/png".into(),
        };
        let text = |length: usize| LlmContent::Text("x".repeat(length));
        let parts = bound(vec![text(8), image.clone(), text(8), text(8)], 10);
        assert_eq!(parts[0], text(8));
        assert_eq!(parts[1], image);
        let LlmContent::Text(third) = &parts[2] else {
            panic!("text stays text")
        };
        assert!(third.contains("6 of 8 characters left out"));
    }
}
