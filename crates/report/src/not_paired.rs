//! A comparison that was saved on another day, next to today's. It prints what each day measured, and why there is no verdict.

use crate::draw::grid::{Flush, Grid};
use crate::draw::notes::Notes;
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{clean, glue};
use crate::format::{date, decimals_of, fitting, fixed, units};
use crate::terminal::SectionPage;
use crate::words;
use bakeoff_judge::findings::{Findings, Summary};
use bakeoff_judge::not_paired::NotPaired;
use bakeoff_model::grouped::grouped;
use bakeoff_model::metric::Unit;

/// The section of such findings.
pub const SAVED: SectionPage = SectionPage { name: "saved", draw: print, causes: |_| vec![], below_doubts: false };

/// Digits of a median, of which an interval's ends have as many decimals.
const DIGITS: usize = 3;

fn print(findings: &Findings, page: &mut Page, _notes: &mut Notes, columns: usize) {
    let section = findings.sections.get(SAVED.name).cloned().unwrap_or_default();
    let Ok(days) = serde_json::from_value::<NotPaired>(section) else { return };
    let when = glue(&date(days.started_unix_s));
    let heading =
        format!("saved as {} on {when}: not paired with today's trials, so there is no verdict", clean(&days.saved));
    page.paragraph(&heading, columns, 2, Ink::Heading);
    let has_several = days.rows.iter().any(|row| row.workload != days.rows[0].workload);
    let unit = days.rows.first().map_or(Unit::Count, |row| row.unit);
    let mut grid = Grid::new([
        (words::metric_in(&days.metric, unit), Flush::Left),
        ("that day", Flush::Right),
        ("n", Flush::Right),
        ("today", Flush::Right),
        ("n", Flush::Right),
    ]);
    for row in &days.rows {
        let workload = if has_several { format!("{}: ", clean(&row.workload)) } else { String::new() };
        let mut cells = vec![Piece::plain(format!("{workload}{}", clean(&row.variant)))];
        cells.extend([&row.that_day, &row.today].into_iter().flat_map(|day| numbers(day.as_ref(), row.unit)));
        grid.row(cells);
    }
    grid.print(page, columns);
    for (why, names) in grouped(days.reasons.iter().map(|one| (&one.why, clean(&one.variant)))) {
        page.paragraph(format!("{}: {}", words::listed(&names), clean(why)), columns, 2, Ink::Open);
    }
    if !days.differs.is_empty() {
        let differs: Vec<String> = days.differs.iter().map(|part| clean(part)).collect();
        page.paragraph(format!("changed since that day: {}", words::listed(&differs)), columns, 2, Ink::Open);
    }
}

/// A median with its interval, and how many values it is of.
fn numbers(summary: Option<&Summary>, unit: Unit) -> [Piece; 2] {
    let Some(summary) = summary else { return ["–", ""].map(|text| Piece::new(text, Ink::Aside)) };
    let (size, name) = fitting(summary.median, units(unit));
    let decimals = decimals_of(summary.median / size, DIGITS);
    let number = |value: f64| fixed(value / size, decimals);
    let range = match summary.median_interval {
        Some([low, high]) => format!("({} … {})", number(low), number(high)),
        None => "(no interval)".to_owned(),
    };
    let text = format!("{} {range} {name}", number(summary.median));
    [Piece::plain(text.trim_end().to_owned()), Piece::plain(summary.n.to_string())]
}
