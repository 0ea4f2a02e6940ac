//! The goals of searching as a page: what is promised, what was measured and whether it holds.

use super::Searches;
use super::promise::{Measure, Row};
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::format::count;

/// The page. It ends in a line feed.
pub(crate) fn page(searches: &Searches, style: Style) -> String {
    let mut page = Page::default();
    page.paragraph(verdict(searches), style.width, 0, Ink::Heading);
    page.gap();
    let columns = ["searches", "goal", "measured", "95 % interval", "worst world", "n", "holds"];
    let flush = |name| if matches!(name, "searches" | "worst world") { Flush::Left } else { Flush::Right };
    let mut grid = Grid::new(columns.map(|name| (name, flush(name))));
    let mut before = "";
    for row in &searches.rows {
        if row.design != before {
            let mut cells = vec![Piece::new(row.design.as_str(), Ink::Aside)];
            cells.resize_with(columns.len(), || Piece::plain(""));
            grid.row(cells);
            before = &row.design;
        }
        grid.row(cells(row));
    }
    grid.print(&mut page, style.width);
    page.gap();
    let legend = "Rates are over all nine worlds of noise, and other numbers are medians over the worlds. n is the number of \
        searches in each. A build counts as 90 s of processor time, and a trial as 1 s.";
    page.paragraph(legend.to_owned(), style.width, 0, Ink::Plain);
    page.print(style.colour)
}

fn verdict(searches: &Searches) -> String {
    let promised = searches.rows.iter().filter(|row| row.most.is_some());
    let held = promised.clone().filter(|row| row.holds).count();
    let of = promised.count();
    let all = if held == of { format!("All {of} promises held") } else { format!("{held} of {of} promises held") };
    let n = count(searches.searches.into());
    format!("{all}: up to {n} simulated searches in each world, seed {}.", searches.seed)
}

fn cells(row: &Row) -> Vec<Piece> {
    let number = |value: f64| shown(value, row.measure);
    let holds = match (row.most, row.holds) {
        (None, _) => Piece::plain(""),
        (_, true) => Piece::plain("yes"),
        (_, false) => Piece::new("NO", Ink::Worse),
    };
    vec![
        Piece::plain(format!("  {}", name(row.measure))),
        Piece::plain(row.most.map_or_else(String::new, |most| format!("≤ {}", number(most)))),
        Piece::plain(number(row.measured)),
        Piece::plain(row.interval.map_or_else(String::new, |ends| ends.map(number).join(" … "))),
        Piece::plain(format!("{} {}", row.worst, number(row.worst_measured))),
        Piece::plain(row.runs.to_string()),
        holds,
    ]
}

fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Wrong => "wrong",
        Measure::Named => "answered",
        Measure::Missed => "interval misses the change",
        Measure::Within => "within log₂ n + 3",
        Measure::Trials => "trials",
        Measure::Builds => "builds",
        Measure::Seconds => "seconds",
        Measure::TrialsPart => "trials ÷ full",
        Measure::BuildsPart => "builds ÷ full",
        Measure::SecondsPart => "seconds ÷ full",
    }
}

fn shown(value: f64, measure: Measure) -> String {
    match measure {
        Measure::Wrong | Measure::Named | Measure::Missed | Measure::Within => format!("{:.2} %", 100.0 * value),
        Measure::TrialsPart | Measure::BuildsPart | Measure::SecondsPart => format!("{value:.3}"),
        Measure::Builds => format!("{value:.1}"),
        Measure::Trials | Measure::Seconds => format!("{value:.0}"),
    }
}
