//! How are the figures shown?

use std::io::{self, Write};

use crate::column::Figures;
use crate::measure::Spread;
use crate::rows::{Bar, Line};

/// Writes the table. The bar is held against the pinned column; the free one is shown beside it.
pub(crate) fn write(
    output: &mut dyn Write,
    lines: &[Line],
    [pinned, free]: [&Figures; 2],
) -> io::Result<()> {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(lines.iter().map(|line| row(line, pinned, free)));
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| match column {
                0 | 4 | 7 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        writeln!(output, "{}", cells.join("  ").trim_end())?;
    }
    writeln!(output, "{FOOT}")
}

const COLUMNS: usize = 10;
const HEAD: [&str; COLUMNS] = [
    "one core", "median", "least", "most", "beside", "found", "bar", "", "free", "found",
];
const FOOT: &str = "Microseconds a call in P1 to P4, P6 and P7, thousand calls a second with 64 in flight in P5,\n\
                    milliseconds of all the work in P8 and of a process in P13, MiB of VmRSS in /proc/PID/status in P14. Least and most are\n\
                    of rounds; what is found is the median of each round's own ratio or difference.";

fn row(line: &Line, pinned: &Figures, free: &Figures) -> [String; COLUMNS] {
    let own = Spread::of(figures(pinned, line.of).map(|figure| shown(line.of, figure)));
    let own_free = Spread::of(figures(free, line.of).map(|figure| shown(line.of, figure)));
    let [median, least, most, free_median] =
        [own.median, own.least, own.most, own_free.median].map(|figure| format!("{figure:.1}"));
    let mut cells = [
        line.name.to_owned(),
        median,
        least,
        most,
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        free_median,
        String::new(),
    ];
    if let Some((beside, bar)) = line.claim {
        let held = found(line.of, beside, (bar, pinned));
        let [.., name, found_cell, bar_cell, verdict, _, found_free] = &mut cells;
        *name = beside_of(beside, bar);
        *found_cell = figure_of(bar, held);
        *bar_cell = bar_of(bar);
        *verdict = verdict_of(bar, held).to_owned();
        *found_free = figure_of(bar, found(line.of, beside, (bar, free)));
    }
    cells
}

/// The name without its row.
fn after_row(name: &str) -> &str {
    name.split_once(' ').map_or(name, |(_, rest)| rest)
}

/// Whom a line is held against.
fn beside_of(beside: &str, bar: Bar) -> String {
    let above = match bar {
        Bar::AboveFloor(..) => ", above floor",
        Bar::Below(_) => return "nobody".to_owned(),
        _ => "",
    };
    format!("{}{above}", after_row(beside))
}

fn figures<'a>(column: &'a Figures, name: &str) -> impl Iterator<Item = f64> + 'a {
    column.get(name).into_iter().flatten().copied()
}

/// Calls per second in thousands; times as they are.
fn shown(name: &str, figure: f64) -> f64 {
    if name.starts_with("P5") {
        figure / 1e3
    } else {
        figure
    }
}

/// The median over the rounds of ours held against theirs of the same round.
fn found(ours: &str, theirs: &str, (bar, column): (Bar, &Figures)) -> f64 {
    let pairs = figures(column, ours).zip(figures(column, theirs));
    match bar {
        Bar::Ratio(_) | Bar::Rate(_) | Bar::Shown => {
            Spread::of(pairs.map(|(ours, theirs)| ours / theirs)).median
        }
        Bar::Above(_) => Spread::of(pairs.map(|(ours, theirs)| ours - theirs)).median,
        Bar::Below(_) => Spread::of(figures(column, ours)).median,
        Bar::AboveFloor(_, floor) => {
            let rounds = pairs.zip(figures(column, floor));
            let each = rounds.map(|((ours, theirs), floor)| (ours - floor) / (theirs - floor));
            Spread::of(each).median
        }
    }
}

fn verdict_of(bar: Bar, found: f64) -> &'static str {
    let holds = match bar {
        Bar::Ratio(most) | Bar::Above(most) | Bar::Below(most) | Bar::AboveFloor(most, _) => {
            found <= most
        }
        Bar::Rate(least) => found >= least,
        Bar::Shown => return "",
    };
    if holds { "ok" } else { "MISSED" }
}

fn figure_of(bar: Bar, found: f64) -> String {
    match bar {
        Bar::Ratio(_) | Bar::Rate(_) | Bar::Shown | Bar::AboveFloor(..) => {
            format!("x {found:.2}")
        }
        Bar::Above(_) => format!("+ {found:.1}"),
        Bar::Below(_) => format!("{found:.2}"),
    }
}

fn bar_of(bar: Bar) -> String {
    match bar {
        Bar::Ratio(most) | Bar::AboveFloor(most, _) => format!("<= x {most}"),
        Bar::Above(most) => format!("<= + {most}"),
        Bar::Below(most) => format!("<= {most}"),
        Bar::Rate(least) => format!(">= x {least}"),
        Bar::Shown => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_held_against_pairs_of_the_same_round() {
        let mut column = Figures::new();
        column.insert("a".to_owned(), vec![10.0, 100.0, 30.0]);
        column.insert("b".to_owned(), vec![20.0, 100.0, 20.0]);
        assert!((found("a", "b", (Bar::Ratio(1.0), &column)) - 1.0).abs() < 1e-9);
        assert!((found("a", "b", (Bar::Above(1.0), &column)) - 0.0).abs() < 1e-9);
        column.insert("floor".to_owned(), vec![5.0, 20.0, 10.0]);
        let above = Bar::AboveFloor(1.0, "floor");
        assert!((found("a", "b", (above, &column)) - 1.0).abs() < 1e-9);
        let verdicts = [
            (Bar::Ratio(1.0), 1.0, "ok"),
            (Bar::Rate(1.1), 1.0, "MISSED"),
            (Bar::Above(1.0), f64::NAN, "MISSED"),
            (Bar::Below(1.0), 1.1, "MISSED"),
            (Bar::Rate(1.0), f64::NAN, "MISSED"),
            (Bar::Shown, 1.0, ""),
        ];
        for (bar, found, verdict) in verdicts {
            assert_eq!(verdict_of(bar, found), verdict, "{bar:?} {found}");
        }
    }
}
