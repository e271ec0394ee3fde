//! How much of an observation a model is given: the head and the tail, and what is missing.

use super::LlmContent;

/// Bounds the text of all parts together to `max_chars` characters; images do not count, and empty
/// texts are left out.
///
/// Each part gets what the parts before it left. The part that does not fit is cut in the middle;
/// of what comes behind it one notice says how much there was.
pub fn bound(parts: Vec<LlmContent>, max_chars: usize) -> Vec<LlmContent> {
    let mut left = max_chars;
    let mut kept = Vec::new();
    let (mut parts_out, mut characters_out) = (0_usize, 0_usize);
    for part in parts {
        match part {
            LlmContent::Text(text) if text.is_empty() => {}
            LlmContent::Text(text) => {
                let length = text.chars().count();
                if left == 0 {
                    parts_out += 1;
                    characters_out += length;
                    continue;
                }
                kept.push(LlmContent::Text(shorten(text, left)));
                left = left.saturating_sub(length);
            }
            image => kept.push(image),
        }
    }
    if parts_out > 0 {
        let plural = if parts_out == 1 { "" } else { "s" };
        kept.push(LlmContent::Text(format!(
            "[… {parts_out} more part{plural} of {characters_out} characters left out by \
             limits.output_chars …]"
        )));
    }
    kept
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
        let notice = "[… 1 more part of 8 characters left out by limits.output_chars …]";
        assert_eq!(parts[3], LlmContent::Text(notice.to_owned()));
    }

    #[test]
    fn however_many_parts_there_are_they_come_to_two_notices_at_most() {
        let parts: Vec<LlmContent> = (0..100_000)
            .map(|number| LlmContent::Text((number % 10).to_string()))
            .collect();
        for max_chars in [0, 1, 7] {
            let bounded = bound(parts.clone(), max_chars);
            assert_eq!(bounded.len(), max_chars + 1);
            let left_out = format!("[… {} more parts of", 100_000 - max_chars);
            let LlmContent::Text(notice) = bounded.last().unwrap() else {
                panic!("a notice is text")
            };
            assert!(notice.starts_with(&left_out), "{notice}");
        }
    }

    proptest::proptest! {
        #[test]
        fn text_never_passes_the_bound_by_more_than_two_notices(
            texts in proptest::collection::vec("[aé🦀]{0,9}", 0..9),
            max_chars in 0..40_usize,
        ) {
            /// Characters of the longest notice here, with room for its newlines.
            const NOTICE: usize = 90;
            let whole: usize = texts.iter().map(|text| text.chars().count()).sum();
            let parts: Vec<LlmContent> = texts.iter().cloned().map(LlmContent::Text).collect();
            let bounded = bound(parts.clone(), max_chars);
            let given: usize = bounded
                .iter()
                .map(|part| match part {
                    LlmContent::Text(text) => text.chars().count(),
                    LlmContent::Image { .. } => 0,
                })
                .sum();
            if whole <= max_chars {
                proptest::prop_assert_eq!(given, whole);
            } else {
                proptest::prop_assert!(given <= max_chars + 2 * NOTICE, "{}", given);
                let has_notice = bounded.iter().any(|part| {
                    matches!(part, LlmContent::Text(text) if text.contains("limits.output_chars"))
                });
                proptest::prop_assert!(has_notice);
            }
        }
    }
}
