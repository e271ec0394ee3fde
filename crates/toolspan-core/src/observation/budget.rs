//! How much of an observation a model is given: the head and the tail, and what is missing.

use super::LlmContent;

/// From this bound on, in characters, the notices of [`bound`] fit into it.
const ROOM_FOR_NOTICES: usize = 200;

/// Bounds the text of all parts together to `max_chars` characters; images do not count, and empty
/// texts are left out.
///
/// Each part gets what the parts before it left. The part that does not fit is cut in the middle;
/// of what comes behind it one notice says how much there was. The notices count: the whole keeps a
/// bound of 200 or more. A smaller one may be passed, by two notices at most.
pub fn bound(mut parts: Vec<LlmContent>, max_chars: usize) -> Vec<LlmContent> {
    parts.retain(|part| !matches!(part, LlmContent::Text(text) if text.is_empty()));
    let mut whole = LeftOut::default();
    for part in &parts {
        if let LlmContent::Text(text) = part {
            whole.add(text.chars().count());
        }
    }
    if whole.characters <= max_chars {
        return parts;
    }
    let before_notice = beside(&whole.notice(), max_chars);
    let (mut kept, mut left_out) = (Vec::new(), LeftOut::default());
    let (mut texts, mut used, mut is_full) = (0, 0, false);
    for part in parts {
        let LlmContent::Text(text) = part else {
            kept.push(part);
            continue;
        };
        texts += 1;
        let length = text.chars().count();
        let is_last = texts == whole.parts;
        let end = if is_last { max_chars } else { before_notice };
        let room = end.saturating_sub(used);
        if !is_full && length <= room {
            used += length;
            kept.push(LlmContent::Text(text));
            continue;
        }
        if !is_full && can_cut(length, room, max_chars) {
            kept.push(LlmContent::Text(shorten(text, room)));
        } else {
            left_out.add(length);
        }
        is_full = true;
    }
    if left_out.parts > 0 {
        kept.push(LlmContent::Text(left_out.notice()));
    }
    kept
}

/// A text of at most `max_chars` characters: when it was longer, its head and tail in equal parts
/// around a notice that says how long it was.
///
/// The notice counts, so the whole keeps a bound of at least twice its length, which is 80 for most
/// texts. Of a smaller bound half is head and tail, and the notice may pass it.
///
/// ```
/// use toolspan_core::observation::budget::shorten;
/// assert_eq!(shorten("short".into(), 10), "short");
/// let cut = shorten("0123456789".repeat(10), 20);
/// assert_eq!(cut, "01234\n[… 90 of 100 characters left out …]\n56789");
/// assert!(shorten("0123456789".repeat(100), 100).chars().count() <= 100);
/// ```
pub fn shorten(text: String, max_chars: usize) -> String {
    if text.len() <= max_chars {
        return text;
    }
    let length = text.chars().count();
    if length <= max_chars {
        return text;
    }
    let kept = beside(&cut_notice(length, length), max_chars);
    let head = kept.div_ceil(2);
    let tail = kept - head;
    let at = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(index, _)| index)
    };
    let (head_end, tail_start) = (at(head), at(length - tail));
    format!(
        "{}{}{}",
        text.get(..head_end).unwrap_or_default(),
        cut_notice(length - kept, length),
        text.get(tail_start..).unwrap_or_default(),
    )
}

/// Text parts that a model is not given.
#[derive(Default)]
struct LeftOut {
    parts: usize,
    characters: usize,
}

impl LeftOut {
    fn add(&mut self, characters: usize) {
        self.parts += 1;
        self.characters += characters;
    }

    fn notice(&self) -> String {
        let (parts, characters) = (self.parts, self.characters);
        let plural = if parts == 1 { "" } else { "s" };
        format!("[… {parts} more part{plural} of {characters} characters left out …]")
    }
}

fn cut_notice(missing: usize, length: usize) -> String {
    format!("\n[… {missing} of {length} characters left out …]\n")
}

/// Characters of text that are given beside a notice: what it leaves, and half the bound at least.
fn beside(notice: &str, max_chars: usize) -> usize {
    let notice = notice.chars().count();
    max_chars.saturating_sub(notice).max(max_chars / 2)
}

/// Whether a text is cut so that it fits, instead of left out.
fn can_cut(length: usize, room: usize, max_chars: usize) -> bool {
    let notice = cut_notice(length, length).chars().count();
    room > 0 && (room >= 2 * notice || max_chars < ROOM_FOR_NOTICES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        let cut = shorten("é🦀".repeat(50), 14);
        assert!(cut.starts_with("é🦀é🦀\n[… 93 of 100"));
        assert!(cut.ends_with("🦀é🦀"));
    }

    #[test]
    fn the_bound_holds_over_all_parts_and_spares_images() {
        let image = LlmContent::Image {
            data: "A".repeat(1_000),
            mime_type: "image/png".into(),
        };
        let text = |length: usize| LlmContent::Text("x".repeat(length));
        let parts = bound(vec![text(30), image.clone(), text(900), text(8)], 200);
        assert_eq!(parts[0], text(30));
        assert_eq!(parts[1], image);
        let LlmContent::Text(third) = &parts[2] else {
            panic!("text stays text")
        };
        assert!(third.contains(" of 900 characters left out …]\nx"));
        let notice = "[… 1 more part of 8 characters left out …]";
        assert_eq!(parts[3], LlmContent::Text(notice.to_owned()));
        assert!((195..=200).contains(&characters(&parts)));
    }

    #[test]
    fn a_part_that_would_be_all_notice_is_left_out() {
        let text = |length: usize| LlmContent::Text("x".repeat(length));
        let parts = bound(vec![text(130), text(900)], 200);
        let notice = "[… 1 more part of 900 characters left out …]";
        assert_eq!(parts, [text(130), LlmContent::Text(notice.to_owned())]);
    }

    #[test]
    fn one_text_is_cut_as_the_text_of_all_is() {
        let text = "0123456789".repeat(100);
        for max_chars in [5, 100, 200, 999] {
            let cut = shorten(text.clone(), max_chars);
            let parts = bound(vec![LlmContent::Text(text.clone())], max_chars);
            assert_eq!(parts, [LlmContent::Text(cut)]);
        }
    }

    #[test]
    fn however_many_parts_there_are_they_come_to_two_notices_at_most() {
        let parts: Vec<LlmContent> = (0..100_000)
            .map(|number| LlmContent::Text((number % 10).to_string()))
            .collect();
        for max_chars in [0, 1, 7] {
            let bounded = bound(parts.clone(), max_chars);
            let kept = max_chars / 2;
            assert_eq!(bounded.len(), kept + 1);
            let left_out = format!("[… {} more parts of", 100_000 - kept);
            let LlmContent::Text(notice) = bounded.last().unwrap() else {
                panic!("a notice is text")
            };
            assert!(notice.starts_with(&left_out), "{notice}");
        }
    }

    fn characters(parts: &[LlmContent]) -> usize {
        let lengths = parts.iter().map(|part| match part {
            LlmContent::Text(text) => text.chars().count(),
            LlmContent::Image { .. } => 0,
        });
        lengths.sum()
    }

    proptest::proptest! {
        #[test]
        fn a_cut_text_keeps_its_bound_notice_included(
            text in "[aé🦀]{0,900}",
            max_chars in 0..1_000_usize,
        ) {
            let length = text.chars().count();
            let notice = cut_notice(length, length).chars().count();
            let cut = shorten(text.clone(), max_chars).chars().count();
            if length <= max_chars {
                proptest::prop_assert_eq!(cut, length);
            } else {
                let most = max_chars.max(max_chars / 2 + notice);
                proptest::prop_assert!(cut <= most && cut + 2 >= most, "{} of {}", cut, most);
            }
        }

        #[test]
        fn text_keeps_the_bound_and_passes_a_small_one_by_two_notices_at_most(
            texts in proptest::collection::vec("[aé🦀]{0,250}", 0..9),
            max_chars in 0..900_usize,
        ) {
            /// Characters of the longest notice here, with its newlines.
            const NOTICE: usize = 60;
            let parts: Vec<LlmContent> = texts.into_iter().map(LlmContent::Text).collect();
            let whole = characters(&parts);
            let bounded = bound(parts, max_chars);
            let given = characters(&bounded);
            if whole <= max_chars {
                proptest::prop_assert_eq!(given, whole);
            } else {
                let most = match max_chars {
                    200.. => max_chars,
                    _ => max_chars + 2 * NOTICE,
                };
                proptest::prop_assert!(given <= most, "{}", given);
                let has_notice = bounded.iter().any(|part| {
                    matches!(part, LlmContent::Text(text) if text.contains("left out …]"))
                });
                proptest::prop_assert!(has_notice);
            }
        }
    }
}
