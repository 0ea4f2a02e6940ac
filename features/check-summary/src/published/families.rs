//! Which figures are of the same quantity, and whose they are. A table's rows are named by what stands in them, and its
//! heading tells the quantity; where single figures or lists stand below headings, the heading tells the system, and
//! the name at the figure the quantity. A heading of everything tells nothing.

use super::reader::{Heading, Row, RowForm, problem, two_units};
use super::words::{dimension, is_other_figure, is_resource, spelled, without_unit};
use super::{Figure, Summary, lists};
use bakeoff_model::problem::Problem;
use std::collections::BTreeSet;
use std::ops::Range;

/// All rows, as summaries.
pub(super) struct Resolved {
    pub(super) summaries: Vec<Summary>,
    /// The summary of each row; none of a count that is of others.
    pub(super) places: Vec<Option<usize>>,
    /// Sections whose heading tells something.
    pub(super) headings: BTreeSet<usize>,
    pub(super) columns_unread: Vec<String>,
}

/// What the headings above tables and lines tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headings {
    Quantities,
    Names,
    /// They are names, and what stands at the figures is the quantity.
    Systems,
    /// Nothing: they are titles.
    Titles,
}

pub(super) fn resolve(mut rows: Vec<Row>, sections: &[Option<Heading>], problems: &mut Vec<Problem>) -> Resolved {
    let columns_unread = asides(&mut rows);
    let are_counts = counts(&mut rows);
    let told = Told::of(&rows, sections);
    if told.single == Headings::Titles && rows.iter().any(|row| !row.summary.name.is_empty()) {
        let is_nameless =
            |row: &&Row| row.summary.name.is_empty() && matches!(row.kind, RowForm::Keyed { lines: 1, .. });
        problems.extend(rows.iter().filter(is_nameless).map(|row| {
            let remedy = "write the system's name before the figure, or remove the line";
            problem(row.span.clone(), "this figure does not belong to a system".to_owned(), remedy)
        }));
    }
    let mut headings = BTreeSet::new();
    let mut found: Vec<(Summary, Vec<Figure>, Range<usize>)> = vec![];
    let mut of_rows = vec![];
    for row in rows {
        let told = told.of_row(&row);
        let heading = sections[row.section].as_ref().map(|heading| heading.text.clone());
        if told != Headings::Titles && heading.is_some() {
            headings.insert(row.section);
        }
        let summary = placed(row.summary, told, heading, row.section);
        let values = if let RowForm::Listed { values } = row.kind { values } else { vec![] };
        // Another list of the same system is another run of it.
        let same = |(known, runs, _): &(Summary, Vec<Figure>, _)| {
            !runs.is_empty() && known.name == summary.name && known.quantity == summary.quantity
        };
        if let Some(at) = found.iter().position(same).filter(|_| !values.is_empty()) {
            found[at].1.extend(values);
            of_rows.push(at);
        } else {
            of_rows.push(found.len());
            found.push((summary, values, row.span));
        }
    }
    let mut of_rows = of_rows.into_iter();
    let places = are_counts.into_iter().map(|is_count| if is_count { None } else { of_rows.next() }).collect();
    for (summary, values, _) in found.iter_mut().filter(|(_, values, _)| !values.is_empty()) {
        lists::of_runs(summary, values);
    }
    units(&found, problems);
    let mut summaries: Vec<Summary> = vec![];
    for (summary, ..) in found {
        summaries.push(Summary { name: own_name(&summary, &summaries), ..summary });
    }
    Resolved { summaries, places, headings, columns_unread }
}

/// A name that no other summary of its quantity has.
fn own_name(summary: &Summary, others: &[Summary]) -> String {
    let family: Vec<&Summary> = others.iter().filter(|known| known.is_comparable(summary)).collect();
    let name = match summary.name.as_str() {
        "" => (b'A'..=b'Z').nth(family.len()).map_or("summary".to_owned(), |c| char::from(c).to_string()),
        name => name.to_owned(),
    };
    let is_free = |name: &String| family.iter().all(|known| known.name != *name);
    let numbered = (2..).map(|i| format!("{name} ({i})"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}

/// What the headings tell, by the kinds of rows below them.
struct Told {
    single: Headings,
    /// Sections with tables of a process's resources.
    resources: BTreeSet<usize>,
    others: Headings,
}

impl Told {
    fn of(rows: &[Row], sections: &[Option<Heading>]) -> Self {
        let single = single_figures(rows, sections);
        let mut told = Self { single, resources: BTreeSet::new(), others: Headings::Titles };
        let resources = rows.iter().filter(|row| told.is_table(row) && is_resource(&row.summary.name));
        told.resources = resources.map(|row| row.section).collect();
        told.others = tables(&rows.iter().filter(|row| told.is_other(row)).collect::<Vec<_>>(), sections);
        told
    }

    fn is_table(&self, row: &Row) -> bool {
        let is_single = self.single == Headings::Systems && matches!(row.kind, RowForm::Keyed { .. });
        !is_single && !matches!(row.kind, RowForm::Listed { .. })
    }

    fn is_other(&self, row: &Row) -> bool {
        self.is_table(row) && !self.resources.contains(&row.section)
    }

    fn of_row(&self, row: &Row) -> Headings {
        if self.is_other(row) { self.others } else { Headings::Systems }
    }
}

fn placed(mut summary: Summary, told: Headings, heading: Option<String>, section: usize) -> Summary {
    match told {
        Headings::Titles => {}
        Headings::Quantities => {
            let told = heading.unwrap_or_else(|| format!("table {}", section + 1));
            summary.quantity = Some(summary.quantity.map_or(told.clone(), |own| format!("{told}, {own}")));
        }
        Headings::Names => {
            summary.name = format!("{} {}", heading.unwrap_or_default(), summary.name).trim().to_owned();
        }
        Headings::Systems => {
            let label = std::mem::replace(&mut summary.name, heading.unwrap_or_default());
            let (label, unit) = match without_unit(&label) {
                (bare, Some(unit)) if is_resource(&label) => (bare.to_owned(), Some(spelled(unit))),
                _ => (label, None),
            };
            summary.unit = summary.unit.or(unit);
            let parts = [label, summary.quantity.unwrap_or_default()].into_iter().filter(|part| !part.is_empty());
            let quantity = parts.collect::<Vec<_>>().join(", ");
            summary.quantity = (!quantity.is_empty()).then_some(quantity);
        }
    }
    summary
}

/// Columns with numbers that are no figures. Where rows have no other names, those before the figures tell them apart,
/// as versions do; the titles of all others are given back.
fn asides(rows: &mut [Row]) -> Vec<String> {
    let same = |a: &Row, b: &Row| {
        a.section == b.section && a.summary.name == b.summary.name && a.summary.quantity == b.summary.quantity
    };
    let collide = rows.iter().enumerate().any(|(i, a)| !a.asides.is_empty() && rows[..i].iter().any(|b| same(a, b)));
    let mut unread = vec![];
    for row in rows {
        for (title, cell, before) in std::mem::take(&mut row.asides) {
            if collide && before && !is_other_figure(&title) {
                row.summary.name = format!("{} {cell}", row.summary.name).trim().to_owned();
            } else if !unread.contains(&title) {
                unread.push(title);
            }
        }
    }
    unread
}

/// A line `n 75` alone is of all figures below the same heading, or of all that there are: it is taken away. Whether
/// each row was one.
fn counts(rows: &mut Vec<Row>) -> Vec<bool> {
    let is_count = |row: &Row| {
        let Summary { name, n, min, max, median, mean, sd, .. } = &row.summary;
        let others = [min, max, median, mean, sd].into_iter().any(Option::is_some);
        matches!(row.kind, RowForm::Keyed { .. }) && name.is_empty() && n.is_some() && !others
    };
    let found: Vec<(usize, Option<u64>)> =
        rows.iter().filter(|row| is_count(row)).map(|row| (row.section, row.summary.n)).collect();
    if found.is_empty() || rows.iter().all(is_count) {
        return vec![false; rows.len()];
    }
    let are_counts = rows.iter().map(is_count).collect();
    rows.retain(|row| !is_count(row));
    for (section, n) in found {
        let has_own = rows.iter().any(|row| row.section == section);
        for row in rows.iter_mut().filter(|row| !has_own || row.section == section) {
            row.summary.n = row.summary.n.or(n);
        }
    }
    are_counts
}

/// Single figures below two headings and more are those of systems, if they stand as `charge avg_t : 0.61` does, or
/// one below the other.
fn single_figures(rows: &[Row], sections: &[Option<Heading>]) -> Headings {
    let mut below: BTreeSet<&str> = BTreeSet::new();
    let mut is_list = false;
    for row in rows {
        let RowForm::Keyed { lines, colon } = row.kind else { continue };
        let Some(heading) = &sections[row.section] else { return Headings::Titles };
        below.insert(&heading.text);
        is_list |= colon || lines > 1;
    }
    if below.len() > 1 && is_list { Headings::Systems } else { Headings::Titles }
}

/// What the headings above tables, and lines of several figures, tell.
fn tables(rows: &[&Row], sections: &[Option<Heading>]) -> Headings {
    let used: BTreeSet<usize> = rows.iter().map(|row| row.section).collect();
    if let (1, [row]) = (used.len(), rows)
        && row.summary.name.is_empty()
    {
        return Headings::Names;
    }
    if used.len() < 2 {
        return Headings::Titles;
    }
    let all_have_one = used.iter().all(|section| sections[*section].is_some());
    let is_one_each = used.len() == rows.len();
    let is_one_name = rows.iter().all(|row| row.summary.name == rows[0].summary.name);
    let repeat = |row: &Row| rows.iter().any(|r| r.section != row.section && r.summary.name == row.summary.name);
    if is_one_each && all_have_one {
        return if is_one_name { Headings::Systems } else { Headings::Names };
    }
    let labels_repeat = rows.iter().any(|row| !row.summary.name.is_empty() && repeat(row));
    if all_have_one || labels_repeat { Headings::Quantities } else { Headings::Titles }
}

/// Two units of one dimension, such as s and ms, are a problem, as are figures without a unit next to others of their
/// quantity that have one; units of other dimensions are of different quantities.
fn units(found: &[(Summary, Vec<Figure>, Range<usize>)], problems: &mut Vec<Problem>) {
    for (at, (summary, _, span)) in found.iter().enumerate() {
        let unit = summary.unit.as_deref();
        let clashes = |(place, other): &(usize, &str)| match unit {
            None => summary.figures().next().is_some(),
            Some(unit) => *place < at && *other != unit && dimension(other).is_some_and(|d| dimension(unit) == Some(d)),
        };
        let same = |other: &Summary| other.quantity == summary.quantity;
        let others = found.iter().enumerate().filter(|(_, (other, ..))| same(other));
        let mut known = others.filter_map(|(place, (other, ..))| Some((place, other.unit.as_deref()?)));
        if let Some((_, other)) = known.find(clashes) {
            problems.push(two_units(unit, Some(other), span.clone()));
        }
    }
}
