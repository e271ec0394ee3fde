//! What does a config say now that it did not say before, and what no more?

use std::collections::BTreeMap;

use super::view::Line;

/// A line that came or went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Whether it came.
    pub is_new: bool,
    /// The line.
    pub line: Line,
}

/// The lines that went and those that came, in the order of the new ones; what went stands before
/// what came for the same entry. The order of lines alone is no difference.
pub(super) fn difference(before: &[Line], now: &[Line]) -> Vec<Change> {
    let mut gone: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    let all_gone = missing(before, now);
    for line in &all_gone {
        gone.entry(&line.entry).or_default().push(line);
    }
    let came = missing(now, before);
    let mut changes = Vec::new();
    let change = |is_new, line: &Line| Change {
        is_new,
        line: line.clone(),
    };
    let mut rest = came.as_slice();
    while let Some(first) = rest.first() {
        let length = rest
            .iter()
            .take_while(|line| line.entry == first.entry)
            .count();
        let (same, others) = rest.split_at(length);
        let of_entry = gone.remove(first.entry.as_str()).unwrap_or_default();
        changes.extend(of_entry.into_iter().map(|line| change(false, line)));
        changes.extend(same.iter().map(|line| change(true, line)));
        rest = others;
    }
    let is_left = |line: &&&Line| gone.contains_key(line.entry.as_str());
    changes.extend(
        all_gone
            .iter()
            .filter(is_left)
            .map(|line| change(false, line)),
    );
    changes
}

/// The lines that are not among others, as often as they are not.
fn missing<'a>(lines: &'a [Line], others: &[Line]) -> Vec<&'a Line> {
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in others {
        *known.entry((&line.entry, &line.text)).or_default() += 1;
    }
    let mut missing = Vec::new();
    for line in lines {
        match known.get_mut(&(line.entry.as_str(), line.text.as_str())) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push(line),
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[(&str, &str)]) -> Vec<Line> {
        let line = |(entry, text): &(&str, &str)| Line {
            entry: (*entry).to_owned(),
            text: (*text).to_owned(),
        };
        texts.iter().map(line).collect()
    }

    fn shown(before: &[(&str, &str)], now: &[(&str, &str)]) -> Vec<String> {
        difference(&lines(before), &lines(now))
            .iter()
            .map(|change| format!("{}{}", if change.is_new { "+" } else { "-" }, change.line))
            .collect()
    }

    #[test]
    fn what_went_stands_before_what_came_for_the_same_entry() {
        let before = [("a", "1"), ("a", "2"), ("b", "1"), ("c", "1")];
        let now = [("a", "1"), ("b", "2"), ("a", "3"), ("d", "1")];
        assert_eq!(
            shown(&before, &now),
            ["-b: 1", "+b: 2", "-a: 2", "+a: 3", "+d: 1", "-c: 1"]
        );
    }

    #[test]
    fn a_line_counts_as_often_as_it_stands_and_order_alone_is_nothing() {
        assert_eq!(shown(&[("a", "1"), ("a", "1")], &[("a", "1")]), ["-a: 1"]);
        assert_eq!(
            shown(&[("a", "1"), ("b", "1")], &[("b", "1"), ("a", "1")]),
            [""; 0]
        );
    }
}
