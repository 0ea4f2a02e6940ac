//! The account of time in a table. Its seconds are not shares of instructions, and it says so.

use super::super::result::{Interval, TimeAccount};
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::glue;
use bakeoff_report::format::duration;

pub(super) fn print(time: &TimeAccount, page: &mut Page, columns: usize) {
    page.gap();
    let [before, after] = time.user_s.map(|seconds| glue(&duration(seconds)));
    let [one, other] = time.ns.map(|ns| glue(&duration(ns / 1e9)));
    let heading = format!("time of a trial: user {before} → {after}, {one} → {other} per instruction");
    page.paragraph(heading, columns, 2, Ink::Heading);
    let mut grid =
        Grid::new([("part of the difference", Flush::Left), ("time", Flush::Right), ("interval", Flush::Left)]);
    grid.row(row(Piece::plain("user"), &time.user));
    grid.row(row(Piece::indented("by the number of instructions"), &time.by_number));
    grid.row(row(Piece::indented("the same work at another speed"), &time.by_speed));
    let others = [("system", &time.sys), ("waiting", &time.waiting)];
    for (name, part) in others {
        if let Some(part) = part.as_ref().filter(|part| part.interval_s.is_some()) {
            grid.row(row(Piece::plain(name), part));
        }
    }
    grid.print(page, columns);
    let shown = if time.is_shown() { "" } else { "A difference in user time is not shown. " };
    let text = format!(
        "{shown}Shares of instructions are not shares of time, and nothing here treats them as \
         such. Times come from the trials; instruction counts come from the files as built."
    );
    page.paragraph(text, columns, 2, Ink::Aside);
}

fn row(name: Piece, part: &Interval) -> Vec<Piece> {
    let interval = part.interval_s.map(|ends| ends.map(signed)).map(|[low, high]| format!("{low} … {high}"));
    vec![name, Piece::plain(signed(part.estimate_s)), Piece::plain(interval.unwrap_or_default())]
}

/// A change in seconds: `+12.0 ms`.
pub(crate) fn signed(seconds: f64) -> String {
    let plus = if seconds > 0.0 { "+" } else { "" };
    glue(&format!("{plus}{}", duration(seconds)))
}
