//! The calibration as a page: what is promised, what was measured and whether it holds; what other methods make of data
//! like these; and, for real commands, how often each design was wrong. It computes nothing but the layout.

use crate::calibration::real::{Real, Wrong};
use crate::calibration::{Calibration, Cell, Goal, Measure, PeerCell, PeerTable, Row};
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, glue};
use bakeoff_report::format::{count, duration, fixed, percent};

/// Any part of the calibration as pretty-printed JSON with a final line feed.
///
/// # Errors
/// Passes on the serialiser's word, should a value ever have no form in JSON.
pub(crate) fn calibration_json(calibration: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(calibration).map(|text| text + "\n")
}

/// The calibration by simulation. It ends in a line feed.
pub(crate) fn calibration(calibration: &Calibration, style: Style) -> String {
    let mut page = Page::default();
    let width = style.width;
    page.paragraph(&verdict(calibration), width, 0, Ink::Heading);
    page.gap();
    promises(calibration, &mut page, width);
    page.gap();
    page.paragraph(&promises_legend(calibration), width, 0, Ink::Plain);
    for table in &calibration.peers {
        page.gap();
        peers(table, &mut page, width);
    }
    page.print(style.colour)
}

fn verdict(calibration: &Calibration) -> String {
    // Where every study was refused, nothing was printed that could have kept a promise.
    let was_tried = |row: &&Row| row.goal.is_some() && row.cells.iter().any(|cell| cell.interval.is_some());
    let promised: Vec<&Row> = calibration.rows.iter().filter(was_tried).collect();
    let held = promised.iter().filter(|row| row.holds()).count();
    let of = promised.len();
    let all = if held == of { format!("All {of} promises hold") } else { format!("{held} of {of} promises hold") };
    let studies = count(calibration.studies.into());
    format!("{all}: {studies} simulated studies in each world, seed {}.", calibration.seed)
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
        let goal = Piece::plain(row.goal.map_or("–".to_owned(), |goal| goal_text(goal, row.measure)));
        grid.row(vec![Piece::plain(format!("  {}", row.property)), goal, empty(), empty(), empty()]);
        for cell in &row.cells {
            let name = Piece::plain(format!("    {}", cell.world.name()));
            let [measured, interval] = numbers(cell, row.measure).map(Piece::plain);
            grid.row(vec![name, empty(), measured, interval, holds(row, cell)]);
        }
    }
    grid.print(page, columns);
}

fn holds(row: &Row, cell: &Cell) -> Piece {
    match (row.goal, cell.holds) {
        (None, _) => Piece::new("", Ink::Plain),
        (Some(_), _) if cell.interval.is_none() => Piece::plain("–"),
        (Some(_), true) => Piece::new("yes", Ink::Better),
        (Some(_), false) => Piece::new("NO", Ink::Worse),
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
        "The short form: there are too few studies to hold a measured number to its goal, so goals are widened by the \
         error of the simulation; a promise holds unless the 99.9 % interval of what was measured excludes its goal."
    } else {
        "A promise holds if the measured number is within its goal. Its interval says how precisely this number of studies shows \
         it: of a rate exact (Clopper and Pearson), of a ratio Student's t over 20 batches of studies."
    };
    format!("{how} Whatever is measured is measured on the code that judges real studies.")
}

/// One number of a peer's cell, as text.
type Show = fn(&PeerCell) -> String;

fn peers(table: &PeerTable, page: &mut Page, columns: usize) {
    let title = format!(
        "Other methods on the same data: 2 variants, {} blocks or trials of each. In a column: false differences at 5 %, \
         power at a true ratio of {}, median width of the 95 % interval in percent.",
        table.blocks,
        fixed(table.effect, 2)
    );
    page.paragraph(&title, columns, 0, Ink::Heading);
    page.gap();
    let names = table.surroundings.iter().map(|s| (format!("{} {}", s.world.name(), s.order.name()), Flush::Right));
    let parts: [(&str, Show); 3] = [
        ("false differences, %", |cell| fixed(100.0 * cell.false_differences, 1)),
        ("power, %", |cell| fixed(100.0 * cell.power, 0)),
        ("width, %", |cell| cell.width.map_or("–".to_owned(), |width| fixed(100.0 * width, 1))),
    ];
    let heads: Vec<String> = names.map(|(name, _)| name).collect();
    for (what, show) in parts {
        let mut titles = vec![(what.to_owned(), Flush::Left)];
        titles.extend((1..=heads.len()).map(|column| (format!("[{column}]"), Flush::Right)));
        let mut grid = Grid::new(titles);
        for row in &table.rows {
            let cell = |cell: &Option<PeerCell>| match cell {
                None => Piece::new("–", Ink::Aside),
                // Twice what was asked for is worse than chance explains.
                Some(cell) if what.starts_with("false") && cell.false_differences > 0.1 => {
                    Piece::new(show(cell), Ink::Worse)
                }
                Some(cell) => Piece::plain(show(cell)),
            };
            let mut cells = vec![Piece::plain(row.method.as_str())];
            cells.extend(row.cells.iter().map(cell));
            grid.row(cells);
        }
        grid.print(page, columns);
        page.gap();
    }
    let columns_text: Vec<String> =
        (1..).zip(&heads).map(|(number, head)| glue(&format!("[{number}] {head}"))).collect();
    page.paragraph(&format!("{}.", columns_text.join(", ")), columns, 0, Ink::Plain);
    let fewest = table.rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.studies).min();
    let text = format!(
        "Sequential is AAAA BBBB, alternating AB AB AB; ours is a claim about randomised blocks and makes none of anything \
         else (–). Bootstraps: {} resamples, on {} of the studies.",
        count(table.resamples.into()),
        count(fewest.unwrap_or(0).into())
    );
    page.paragraph(&text, columns, 0, Ink::Plain);
}

/// The calibration with a real command. It ends in a line feed.
pub(crate) fn real(real: &Real, style: Style) -> String {
    let mut page = Page::default();
    let width = style.width;
    let ours = &real.randomised;
    let holds = match (ours.holds, ours.is_refuted()) {
        (true, _) => "The promise holds",
        (false, false) => "The rate is above the goal, but so few studies may show that by chance",
        (false, true) => "The promise does NOT hold",
    };
    let heading = format!(
        "{holds}: of {} real studies of a command against itself, {} ({}) found a difference; the goal is at most {}.",
        count(ours.studies.into()),
        ours.wrong,
        number(ours.rate, Measure::Rate),
        percent(real.goal)
    );
    page.paragraph(&heading, width, 0, Ink::Heading);
    page.gap();
    let mut grid = Grid::new([
        ("false differences", Flush::Left),
        ("studies", Flush::Right),
        ("wrong", Flush::Right),
        ("rate", Flush::Right),
        ("95 % interval", Flush::Right),
    ]);
    let mut row = |name: &str, wrong: &Wrong| {
        let interval = wrong.interval.map_or("–".to_owned(), |ends| range(ends, Measure::Rate));
        grid.row(vec![
            Piece::plain(name),
            Piece::plain(count(wrong.studies.into())),
            Piece::plain(count(wrong.wrong.into())),
            Piece::plain(number(wrong.rate, Measure::Rate)),
            Piece::plain(interval),
        ]);
    };
    row("ours: randomised blocks", &real.randomised);
    row("AAAA BBBB, pooled t", &real.sequential);
    row("our blocks, pooled t", &real.randomised_pooled_t);
    grid.print(&mut page, width);
    page.gap();
    let load = match real.load {
        0 => "no load of ours beside it".to_owned(),
        1 => "beside it 1 process of ours whose load varies".to_owned(),
        n => format!("beside it {n} processes of ours whose load varies"),
    };
    let about = format!(
        "All at 5 %; the pooled t is ministat's. Each study executed the command {} times in each of the two orders, trial by trial in turn so that both met the \
         same machine, {load}. A trial took {} (median of its elapsed time). Seed {}. Command: {}",
        2 * real.blocks,
        duration(real.typical_s),
        real.seed,
        clean(&real.command)
    );
    page.paragraph(&about, width, 0, Ink::Plain);
    if real.incomplete > 0 {
        let text = format!(
            "{} studies are left out: a trial of them failed, so that nothing could be compared.",
            count(real.incomplete.into())
        );
        page.paragraph(&text, width, 0, Ink::Plain);
    }
    page.print(style.colour)
}

#[cfg(test)]
mod tests;
