//! How do rows become a table that fits the terminal? Columns as wide as needed, the last one cut.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Style;

/// Spaces between two columns.
const GAP: usize = 2;
/// Widest column but the last one; longer cells stand out and push the rest of their row.
const WIDEST: usize = 72;
/// Narrowest last column: on a narrower terminal lines wrap.
const NARROWEST: usize = 20;

/// Rows under a heading.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// A cell: clean text on one line, and how it looks.
pub(crate) struct Cell {
    text: String,
    style: Option<Style>,
}

impl Cell {
    /// A cell in a style.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style: Some(style),
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            style: None,
        }
    }
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self {
            heading: heading.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of as many cells as the heading has.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    /// The lines, heading first; `columns` is the terminal's width, where there is one.
    pub(crate) fn lines(&self, columns: Option<usize>, colour: bool) -> Vec<String> {
        let widths = self.widths();
        let before_last: usize = widths.iter().rev().skip(1).map(|width| width + GAP).sum();
        let last = columns.map(|columns| columns.saturating_sub(before_last).max(NARROWEST));
        let heading: Vec<Cell> = self
            .heading
            .iter()
            .map(|text| Cell::styled(*text, Style::Faint))
            .collect();
        std::iter::once(&heading)
            .chain(&self.rows)
            .map(|row| Self::line(row, &widths, last, colour))
            .collect()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |(column, heading): (usize, &&str)| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells
                .map(|cell| cell.text.width())
                .max()
                .unwrap_or_default();
            widest.min(WIDEST).max(heading.width())
        };
        self.heading.iter().enumerate().map(widest).collect()
    }

    fn line(row: &[Cell], widths: &[usize], last: Option<usize>, colour: bool) -> String {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
            let is_last = index + 1 == row.len();
            let text = match last {
                Some(columns) if is_last => cut(&cell.text, columns),
                _ => cell.text.clone(),
            };
            let padding = if is_last {
                0
            } else {
                width.saturating_sub(text.width()) + GAP
            };
            match cell.style {
                Some(style) => line.push_str(&style.paint(&text, colour)),
                None => line.push_str(&text),
            }
            line.extend(std::iter::repeat_n(' ', padding));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// The text cut to so many terminal columns, with `…` where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let mut kept = String::new();
    for char in text.chars() {
        used += char.width().unwrap_or_default();
        if used > columns {
            break;
        }
        kept.push(char);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_one_is_cut_at_the_edge() {
        let mut table = Table::new(&["NAME", "DESCRIPTION"]);
        table.row([
            "日本".into(),
            "a text that is longer than the terminal".into(),
        ]);
        table.row(["longer".into(), "".into()]);
        let lines = table.lines(Some(30), false);
        assert_eq!(
            lines,
            [
                "NAME    DESCRIPTION",
                "日本    a text that is longer…",
                "longer"
            ],
        );
        assert_eq!(
            table.lines(None, false)[1],
            "日本    a text that is longer than the terminal"
        );
    }

    #[test]
    fn a_cut_never_exceeds_its_columns() {
        for columns in 1..12 {
            assert!(
                cut("ab日本語cd🦀", columns).width() <= columns.max(1),
                "{columns}"
            );
        }
    }
}
