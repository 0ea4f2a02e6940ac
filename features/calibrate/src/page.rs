//! The calibration as a page: what is promised, what was measured and whether it holds. It computes nothing but the
//! layout.

use crate::calibration::{Calibration, Cell, Goal, Measure, Row};
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::format::{count, fixed, percent};

/// The calibration by simulation. It ends in a line feed.
pub(crate) fn calibration(calibration: &Calibration, style: Style) -> String {
    let mut page = Page::default();
    let width = style.width;
    page.paragraph(verdict(calibration), width, 0, Ink::Heading);
    page.gap();
    promises(calibration, &mut page, width);
    page.gap();
    page.paragraph(promises_legend(calibration), width, 0, Ink::Plain);
    page.print(style.colour)
}

fn verdict(calibration: &Calibration) -> String {
    // Where every study was refused, nothing was printed that could have kept a promise.
    let was_tried = |row: &&Row| row.cells.iter().any(|cell| cell.interval.is_some());
    let promised: Vec<&Row> = calibration.rows.iter().filter(was_tried).collect();
    let held = promised.iter().filter(|row| row.holds()).count();
    let of = promised.len();
    let all = if held == of { format!("All {of} promises held") } else { format!("{held} of {of} promises held") };
    let studies = count(calibration.studies.into());
    format!("{all}: up to {studies} simulated studies in each world, seed {}.", calibration.seed)
}

fn promises(calibration: &Calibration, page: &mut Page, columns: usize) {
    let mut grid = Grid::new([
        ("promise", Flush::Left),
        ("goal", Flush::Right),
        ("measured", Flush::Right),
        ("95 % interval", Flush::Right),
        ("holds", Flush::Left),
    ]);
    let empty = || Piece::plain("");
    let mut design = "";
    for row in &calibration.rows {
        if row.design != design {
            grid.row(vec![Piece::new(row.design.as_str(), Ink::Aside), empty(), empty(), empty(), empty()]);
            design = &row.design;
        }
        let goal = Piece::plain(goal_text(row.goal, row.measure));
        grid.row(vec![Piece::plain(format!("  {}", row.property)), goal, empty(), empty(), empty()]);
        for cell in &row.cells {
            let name = Piece::plain(format!("    {}", cell.world.name()));
            let [measured, interval] = numbers(cell, row.measure).map(Piece::plain);
            grid.row(vec![name, empty(), measured, interval, holds(cell)]);
        }
    }
    grid.print(page, columns);
}

fn holds(cell: &Cell) -> Piece {
    match cell.holds {
        _ if cell.interval.is_none() => Piece::plain("–"),
        true => Piece::new("yes", Ink::Better),
        false => Piece::new("NO", Ink::Worse),
    }
}

fn number(value: f64, measure: Measure) -> String {
    match measure {
        Measure::Rate => format!("{} %", fixed(100.0 * value, 2)),
        Measure::Ratio => fixed(value, 3),
    }
}

fn numbers(cell: &Cell, measure: Measure) -> [String; 2] {
    match cell.interval {
        Some(ends) => [number(cell.measured, measure), range(ends, measure)],
        // No study of this world has what the promise is about.
        None => ["–", "–"].map(str::to_owned),
    }
}

fn range([low, high]: [f64; 2], measure: Measure) -> String {
    match measure {
        Measure::Rate => format!("{} to {} %", fixed(100.0 * low, 2), fixed(100.0 * high, 2)),
        Measure::Ratio => format!("{} to {}", fixed(low, 3), fixed(high, 3)),
    }
}

fn goal_text(goal: Goal, measure: Measure) -> String {
    let bound = |value: f64| match measure {
        Measure::Rate => percent(value),
        Measure::Ratio => fixed(value, 2),
    };
    match (goal.least, goal.most) {
        (Some(least), Some(most)) => {
            let least = bound(least);
            format!("{} to {}", least.trim_end_matches(" %"), bound(most))
        }
        (Some(least), None) => format!("≥ {}", bound(least)),
        (None, Some(most)) => format!("≤ {}", bound(most)),
        (None, None) => "–".to_owned(),
    }
}

fn promises_legend(calibration: &Calibration) -> String {
    let how = if calibration.short {
        "The short form simulates too few studies to compare a measured number directly with its goal. Each goal is \
            therefore widened by the simulation error: a promise holds unless the 99.9 % interval of the measured number excludes the goal."
    } else {
        "A promise holds if the measured number meets its goal. The interval shows how precise the measured number \
            is. For a rate, the interval is exact (Clopper-Pearson); for a ratio, it comes from Student's t over 20 batches of studies."
    };
    format!("{how} All numbers come from the code that judges real studies.")
}

#[cfg(test)]
mod tests;
