//! The rows: a variant each, with claim, interval, and picture. They always fit: names give way first.

use super::amounts::{Amount, Size};
use super::facts::in_seconds;
use super::view::{Absence, Line, Stand, View};
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::plot::Axis;
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, middle, width};
use crate::format::{fitting, fixed, percent, units};
use crate::words::{self, drawable, is_open, is_same_program, with_shared};
use bakeoff_judge::findings::{Comparison, Findings};
use bakeoff_model::metric::Unit;

/// Columns between two.
const GAP: usize = 2;
/// The least and the most columns of names.
const NAME_MIN: usize = 10;
const NAME_MAX: usize = 34;
/// The least and the most columns of the picture.
const PICTURE_MIN: usize = 12;
const PICTURE_MAX: usize = 41;

/// The cells of a row before they are put in columns.
pub(super) struct Cells<'a> {
    pub(super) name: String,
    pub(super) claim: Piece,
    pub(super) interval: Rendered,
    comparison: Option<&'a Comparison>,
    is_baseline: bool,
}

pub(super) fn print(findings: &Findings, view: &View<'_>, lines: &[Line<'_>], page: &mut Page, columns: usize) {
    let rows: Vec<Cells<'_>> = lines.iter().map(|line| cells(findings, view, line)).collect();
    let confidence = format!("{} interval", percent(findings.method.confidence));
    let against = if view.lines.len() > 2 { format!("against {}", clean(view.baseline())) } else { String::new() };
    let widest = |least: usize, of: &dyn Fn(&Cells<'_>) -> usize| rows.iter().map(of).fold(least, usize::max);
    let claims = widest(0, &|row| row.claim.text.width());
    let intervals = widest(width(&confidence), &|row| row.interval.width());
    let numbers = claims + intervals + 2 * GAP;
    let wanted = widest(0, &|row| width(&row.name)).clamp(NAME_MIN, NAME_MAX);
    let drawn = rows.iter().filter_map(|row| drawable(row.comparison));
    let ratios: Vec<f64> = drawn.flat_map(|c| c.printed_interval().into_iter().flatten().chain([c.estimate])).collect();
    let is_drawn = !ratios.is_empty() && columns >= numbers + NAME_MIN + GAP + PICTURE_MIN;
    let picture_least = if is_drawn { PICTURE_MIN + GAP } else { 0 };
    let names = wanted.min(columns.saturating_sub(numbers + picture_least)).max(NAME_MIN);
    let room = columns.saturating_sub(names + numbers + GAP);
    let axis = is_drawn.then(|| Axis::over(ratios.into_iter(), findings.method.margin, room.min(PICTURE_MAX)));
    let before = |picture: Option<Piece>| picture.into_iter().flat_map(|picture| [spaces(GAP), picture]);
    let title = Piece::new(middle(&against, names + GAP + claims), Ink::Aside);
    let mut heading = flush_right(title, names + GAP + claims).to_vec();
    heading.push(spaces(GAP));
    heading.extend(flush_right(Piece::new(confidence, Ink::Aside), intervals));
    heading.extend(before(axis.as_ref().map(|axis| Piece::new(axis.changes(), Ink::Aside))));
    page.line(heading);
    let shortened = distinct(rows.iter().map(|row| row.name.as_str()).collect(), names);
    for (row, name) in rows.into_iter().zip(shortened) {
        let picture = axis.as_ref().map(|axis| {
            let drawn = drawable(row.comparison);
            let estimate = drawn.map(|c| c.estimate).or_else(|| row.is_baseline.then_some(1.0));
            let ink = drawn.map_or(Ink::Aside, |c| words::ink(c.verdict));
            match drawn {
                Some(comparison) => Piece::new(axis.row(estimate, comparison.printed_interval()), ink),
                None => Piece::new(axis.row(None, None), Ink::Aside),
            }
        });
        let fill = spaces(names.saturating_sub(width(&name)));
        let mut line = vec![Piece::plain(name), fill, spaces(GAP)];
        line.extend(flush_right(row.claim, claims));
        line.push(spaces(GAP));
        line.extend(flush_right(Piece::plain(row.interval), intervals));
        line.extend(before(picture));
        page.line(line);
    }
}

fn spaces(number: usize) -> Piece {
    Piece::plain(" ".repeat(number))
}

fn flush_right(piece: Piece, columns: usize) -> [Piece; 2] {
    [spaces(columns.saturating_sub(piece.text.width())), piece]
}

/// Names in at most `columns`. Where some would look alike, what they begin with in common is left out.
pub(super) fn distinct(names: Vec<&str>, columns: usize) -> Vec<String> {
    // Of the common beginning so much stays that what differs is still in the half before the cut.
    let before = (columns / 6).saturating_sub(1).min(3);
    let mut short: Vec<String> = names.iter().map(|name| middle(name, columns)).collect();
    // Up to where the first of those that look alike differs, or else the one that is most alike.
    for is_first in [true, false] {
        let own = |(name, text): (&&str, &String)| {
            let alike = names.iter().zip(&short).filter(|(other, short)| *other != name && *short == text);
            let common = alike.map(|(other, _)| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count());
            let Some(begin) = (if is_first { common.min() } else { common.max() }) else { return text.clone() };
            let rest: String = name.chars().skip(begin.saturating_sub(before)).collect();
            middle(&format!("…{rest}"), columns)
        };
        short = names.iter().zip(&short).map(own).collect();
    }
    short
}

pub(super) fn cells<'a>(findings: &Findings, view: &View<'_>, line: &Line<'a>) -> Cells<'a> {
    let mut cells = Cells {
        name: with_shared(findings, line.variant),
        claim: Piece::new("baseline", Ink::Aside),
        interval: Rendered::default(),
        comparison: None,
        is_baseline: matches!(line.stand, Stand::Baseline(_)),
    };
    match line.stand {
        Stand::Baseline(None) => {}
        Stand::Baseline(Some(value)) => cells.claim.text = typical(value, view).into(),
        Stand::Compared(comparison) => {
            let amount = Amount::of(comparison, view.unit, view.better);
            cells.comparison = Some(comparison);
            let by = in_seconds(view, comparison)
                .filter(|_| view.lines.len() == 2 && !matches!(amount.size, Some(Size::Times { .. })));
            let by = by.filter(|_| comparison.differs()).map(|by| format!(" ({by})")).unwrap_or_default();
            cells.interval = amount.interval;
            cells.claim = match is_same_program(comparison) && is_open(comparison) {
                true => Piece::new("same program", Ink::Aside),
                false => Piece::new(text![amount.claim, by], words::ink(comparison.verdict)),
            };
        }
        Stand::Absent(why) => {
            let what = match why {
                Absence::NotBuilt => "not built",
                Absence::OtherOutput => "other output",
                Absence::AllFailed => "failed",
                Absence::NoBaseline => "not compared",
                Absence::NoTrials => "no trials",
            };
            cells.claim = Piece::new(what, Ink::Worse);
        }
    }
    cells
}

/// The baseline's typical value.
fn typical(value: f64, view: &View<'_>) -> String {
    let unit = view.unit;
    if unit == Unit::Seconds {
        return view.duration(value);
    }
    let (size, name) = fitting(value, units(unit));
    let decimals = if size == 1.0 && value.fract() == 0.0 { 0 } else { crate::format::decimals_of(value / size, 3) };
    let number = fixed(value / size, decimals);
    if name.is_empty() { number } else { format!("{number} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_that_fits_is_left_whole_and_one_that_does_not_is_cut() {
        let check = |names: &[&str], columns, expect: &[&str]| assert_eq!(distinct(names.to_vec(), columns), expect);
        check(&["O2", "O3"], 10, &["O2", "O3"]);
        check(&["malloc=perl+opt=O3-lto", "O3"], 12, &["malloc…3-lto", "O3"]);
        let long = ["./program --threads 1 --verbose --again", "./program --threads 2 --verbose --again"];
        check(&long, 24, &["…ds 1 --verbose --again", "…ds 2 --verbose --again"]);
    }

    #[test]
    fn names_that_are_cut_still_differ() {
        let check = |names: &[&str]| {
            // The answer goes down to 8 columns, the rows to 10.
            for columns in 8..60 {
                let cut = distinct(names.to_vec(), columns);
                assert!(cut.iter().all(|name| width(name) <= columns), "{columns}: {cut:?}");
                assert_eq!(cut.iter().collect::<BTreeSet<_>>().len(), names.len(), "{columns}: {cut:?}");
            }
        };
        check(&["a-long-common-beginning-x-and-a-common-end", "a-long-common-beginning-y-and-a-common-end"]);
        check(&["長い共通の名前の始まりと甲という共通の終わり", "長い共通の名前の始まりと乙という共通の終わり"]);
        check(&["./program --elements 10000", "./program --elements 100000", "./program --elements 1000000"]);
        check(&["a-name-and-another-name", "a-name-and-another-name-and-another-name", "a-name"]);
        check(&[
            "one-beginning-a-of-all-b-and-much-that-follows-c-and-an-end",
            "one-beginning-a-of-all-b-and-much-that-follows-d-and-an-end",
            "one-beginning-a-of-all-e-and-much-that-follows-c-and-an-end",
            "one-beginning-f-of-all-b-and-much-that-follows-c-and-an-end",
        ]);
    }
}
