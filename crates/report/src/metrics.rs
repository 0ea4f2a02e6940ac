//! The tables of measurements: for each workload and condition a full one for the deciding metric, with a picture where
//! there is room, and a compact one for the others. Median, interval and n are always shown together.

use crate::caveats::caveats;
use crate::draw::grid::{Flush, Grid};
use crate::draw::notes::Notes;
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::plot::{Axis, LEGEND};
use crate::draw::rendered::{Rendered, Role};
use crate::draw::text::{clean, glue, unglue};
use crate::format::{TimeUnit, asked_or_fitting, decimals_of, fixed, percent};
use crate::order::Order;
use crate::ranking;
use crate::words::{self, Change, Wording};
use bakeoff_judge::findings::{Caveat, Comparison, Findings, Row, Scale, Summary, Table, Verdict};
use bakeoff_model::grouped::unique;
use bakeoff_model::metric::Direction;

/// On narrower pages there are no pictures.
const PICTURE_PAGE_MIN: usize = 100;
/// Widths of a picture.
const PICTURE_MIN: usize = 18;
const PICTURE_MAX: usize = 41;

/// A smaller p is not written out.
const P_LEAST: f64 = 0.0001;

pub(crate) fn print(
    findings: &Findings,
    time_unit: Option<TimeUnit>,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) {
    let mut pictures = false;
    let same_place = |a: &Table, b: &Table| (&a.workload, &a.condition) == (&b.workload, &b.condition);
    for tables in findings.tables.chunk_by(same_place) {
        let (deciding, others): (Vec<&Table>, Vec<&Table>) =
            tables.iter().partition(|table| table.metric == findings.method.deciding_metric);
        let order = Order::of(findings, &tables[0].workload, &tables[0].condition);
        for table in deciding {
            pictures |= full(findings, table, &Values::of(table, time_unit), &order, page, notes, columns);
        }
        if !others.is_empty() {
            let others = others.into_iter().map(|table| (table, Values::of(table, time_unit)));
            compact(findings, &others.collect::<Vec<_>>(), &order, page, notes, columns);
        }
    }
    legend(findings, page, columns, pictures);
}

/// A table as text, for pages that draw their own: the same cells as [`print`] has.
#[derive(Debug, Clone)]
pub struct TableText {
    /// The metric's name.
    pub metric: String,
    /// What the table is about: `loop (idle): wall, elapsed time from launch to exit; in s`.
    pub caption: Rendered,
    /// The name of the unit of its values; empty where they have none.
    pub unit: &'static str,
    /// Titles of its columns; the first one's cells are names of variants.
    pub titles: Vec<Rendered>,
    /// The baseline first, then the others, the best first.
    pub rows: Vec<Vec<Rendered>>,
    /// The variants of the rows, as the findings name them.
    pub variants: Vec<String>,
    /// What this machine calls a difference between a thing and itself.
    pub noise: Rendered,
}

/// Every table as text, with times in the unit that is asked for, and the footnotes that their cells refer to among others.
pub fn table_texts(findings: &Findings, time_unit: Option<TimeUnit>, notes: &mut Notes) -> Vec<TableText> {
    let mut text = |table: &Table| {
        let (order, values) = (Order::of(findings, &table.workload, &table.condition), Values::of(table, time_unit));
        let sorted = order.sorted(&table.rows, |row| &row.variant);
        let variants = sorted.iter().map(|row| row.variant.clone()).collect();
        let rows = sorted.into_iter().map(|row| {
            let name = Piece::plain(Rendered::new(Role::Name, words::with_shared(findings, &row.variant)));
            let cells = cells(findings, table, row, name, &values, notes);
            cells.into_iter().map(|cell| cell.text.unglued()).collect()
        });
        let rows = rows.collect();
        TableText {
            metric: clean(&table.metric),
            caption: unglue(&full_heading(findings, table, &values)).into(),
            unit: values.unit_name,
            titles: headings(findings, "variant").into_iter().map(|(title, _)| unglue(&title).into()).collect(),
            rows,
            variants,
            noise: noise_floor(table, notes).0.unglued(),
        }
    };
    findings.tables.iter().map(&mut text).collect()
}

/// The unit that the values of one table share, and their decimals.
struct Values {
    unit_size: f64,
    unit_name: &'static str,
    decimals: usize,
}

impl Values {
    /// The unit fits the largest median, which gets four digits; the smallest gets three at least. Times may have another.
    fn of(table: &Table, time_unit: Option<TimeUnit>) -> Self {
        let medians = table.rows.iter().filter_map(|row| Some(row.summary.as_ref()?.median.abs()));
        let medians: Vec<f64> = medians.filter(|median| *median > 0.0).collect();
        let largest = medians.iter().copied().fold(0.0, f64::max);
        let smallest = medians.iter().copied().fold(largest, f64::min);
        let (unit_size, unit_name) = asked_or_fitting(largest, table.unit, time_unit);
        let whole = unit_size == 1.0 && medians.iter().all(|median| median.fract() == 0.0);
        let decimals = match whole {
            true => 0,
            false => decimals_of(largest / unit_size, 4).max(decimals_of(smallest / unit_size, 3)),
        };
        Self { unit_size, unit_name, decimals }
    }

    fn write(&self, value: f64) -> String {
        fixed(value / self.unit_size, self.decimals)
    }
}

/// One table with everything; says whether it holds pictures.
fn full(
    findings: &Findings,
    table: &Table,
    values: &Values,
    order: &Order<'_>,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) -> bool {
    page.gap();
    page.paragraph(full_heading(findings, table, values), columns, 2, Ink::Heading);
    let mut grid = Grid::new(headings(findings, "variant"));
    let mut pictured = vec![];
    for row in order.sorted(&table.rows, |row| &row.variant) {
        grid.row(cells(findings, table, row, Piece::plain(words::with_shared(findings, &row.variant)), values, notes));
        pictured.push(row.comparison.as_ref());
        if let Some(means) = means_row(row) {
            grid.row(means);
            pictured.push(None);
        }
    }
    if table.rows.iter().filter_map(|row| row.comparison.as_ref()).any(|c| p_of(c).is_some()) {
        let p = pictured.iter().map(|comparison| Piece::new(comparison.and_then(p_of).unwrap_or_default(), Ink::Aside));
        grid.append("p".to_owned(), Flush::Right, p.collect());
    }
    let pictured: Vec<_> =
        pictured.into_iter().map(|row| row.map(|c: &Comparison| (c, words::ink(c.verdict)))).collect();
    let pictures = append_picture(&mut grid, &pictured, findings.method.margin, columns);
    grid.print(page, columns);
    if let Some(sentence) = undecided(table) {
        page.paragraph(&sentence, columns, 2, Ink::Open);
    }
    let (floor, ink) = noise_floor(table, notes);
    page.paragraph(floor, columns, 2, ink);
    ranking::print(findings, table, page, columns);
    pictures
}

/// p of no difference, corrected for the family, by the test whose inversion the interval is.
pub fn p_of(comparison: &Comparison) -> Option<String> {
    let p = comparison.p_corrected()?;
    Some(if p < P_LEAST { format!("<{P_LEAST}") } else { fixed(p, 4) })
}

fn full_heading(findings: &Findings, table: &Table, values: &Values) -> String {
    let known = findings.metrics.iter().find(|metric| metric.name == table.metric);
    let what = known.map_or(String::new(), |metric| format!(", {}", clean(&metric.what)));
    let unit = if values.unit_name.is_empty() { String::new() } else { format!("; in {}", values.unit_name) };
    format!("{} ({}): {}{what}{unit}", clean(&table.workload), clean(&table.condition), clean(&table.metric))
}

fn headings(findings: &Findings, first: &'static str) -> Vec<(String, Flush)> {
    let interval = format!("ratio [{} interval]", percent(findings.method.confidence));
    let right = |title: &str| (title.to_owned(), Flush::Right);
    let left = |title: &str| (title.to_owned(), Flush::Left);
    vec![left(first), right("median"), left(&interval), left("verdict"), right("mean"), right("max"), right("n")]
}

/// A row's cells: name, median, ratio, verdict, mean, largest value, number of trials that count.
fn cells(findings: &Findings, table: &Table, row: &Row, name: Piece, values: &Values, notes: &mut Notes) -> Vec<Piece> {
    let number = |value: fn(&Summary) -> f64, ink| match &row.summary {
        Some(summary) => Piece::new(values.write(value(summary)), ink),
        None => Piece::new("–", Ink::Aside),
    };
    let (ratio, verdict) = match (&row.comparison, absent(findings, row)) {
        (Some(comparison), _) => {
            let ratio = words::against_baseline(comparison, values.unit_size);
            (Piece::plain(ratio), verdict_cell(table, row, comparison, notes))
        }
        (None, Some(why)) => (Piece::new("–", Ink::Aside), Piece::new(why, Ink::Worse)),
        (None, None) if is_baseline(table, row) => {
            (Piece::new(origin(table), Ink::Aside), Piece::new("baseline", Ink::Aside))
        }
        (None, None) => (Piece::new("–", Ink::Aside), Piece::new("no pair", Ink::Worse)),
    };
    vec![
        name,
        number(|s| s.median, Ink::Plain),
        ratio,
        verdict,
        number(|s| s.mean, Ink::Aside),
        number(|s| s.max, Ink::Aside),
        Piece::plain(trials(findings, table, row)),
    ]
}

fn is_baseline(table: &Table, row: &Row) -> bool {
    table.rows.first().is_some_and(|first| first.variant == row.variant)
}

/// No difference, as the table's comparisons write it.
fn origin(table: &Table) -> &'static str {
    let scales = table.rows.iter().filter_map(|row| Some(row.comparison.as_ref()?.scale));
    if scales.into_iter().any(|scale| scale == Scale::Difference) { "0" } else { "1" }
}

fn verdict_cell(table: &Table, row: &Row, comparison: &Comparison, notes: &mut Notes) -> Piece {
    let fewer = row.summary.as_ref().filter(|summary| summary.n != comparison.blocks).map(|_| {
        let over = words::counted(comparison.blocks, "block");
        text!["Compared over ", over, " in which both this variant and the baseline have a valid trial."]
    });
    let mark = notes.mark(caveats(&comparison.caveats).chain(fewer));
    if words::is_same_program(comparison) && words::is_open(comparison) {
        return Piece::new(text!["same program", mark], Ink::Aside);
    }
    let word = Wording::of(table.unit, table.better).verdict(comparison.verdict);
    Piece::new(text![word, mark], words::ink(comparison.verdict))
}

/// Why a row has no values, if so.
fn absent(findings: &Findings, row: &Row) -> Option<&'static str> {
    match row.summary {
        Some(_) => None,
        None if findings.besides.is_unmade(&row.variant) => Some("not built"),
        None => Some("no trials"),
    }
}

/// Number of trials that count; where some do not, out of how many.
fn trials(findings: &Findings, table: &Table, row: &Row) -> String {
    let n = row.summary.as_ref().map_or(0, |summary| summary.n);
    let lost = findings.failures.iter().find(|lost| {
        (&lost.variant, &lost.workload, &lost.condition) == (&row.variant, &table.workload, &table.condition)
    });
    lost.map_or(n.to_string(), |lost| format!("{n}/{}", lost.of))
}

/// The ratio of means, where a caveat says that it tells another story.
fn means_row(row: &Row) -> Option<Vec<Piece>> {
    let comparison = row.comparison.as_ref()?;
    let means = comparison.ratio_of_means?;
    comparison.caveats.iter().find(|caveat| matches!(caveat, Caveat::TypicalAndMeanDisagree { .. }))?;
    let blank = || Piece::plain("");
    let ratio = words::ratio(means.estimate, means.interval, "unbounded");
    Some(vec![Piece::indented("of means"), blank(), Piece::plain(ratio), blank(), blank(), blank(), blank()])
}

/// Appends a picture to a table where the page is wide enough for it and there are ratios, with a cell for each row, drawn in
/// this ink. It shows the intervals that are printed. Says whether there is a picture.
pub fn append_picture(grid: &mut Grid, rows: &[Option<(&Comparison, Ink)>], margin: f64, columns: usize) -> bool {
    let shown = || rows.iter().flatten().filter(|(comparison, _)| comparison.scale == Scale::Ratio);
    if columns < PICTURE_PAGE_MIN || shown().next().is_none() {
        return false;
    }
    let ratios = shown().flat_map(|(c, _)| c.printed_interval().into_iter().flatten().chain([c.estimate]));
    let room = columns.saturating_sub(grid.width() + 2).clamp(PICTURE_MIN, PICTURE_MAX);
    let axis = Axis::over(ratios, margin, room);
    let cell = |row: &Option<(&Comparison, Ink)>| match row {
        Some((c, ink)) if c.scale == Scale::Ratio => Piece::new(axis.row(Some(c.estimate), c.printed_interval()), *ink),
        _ => Piece::new(axis.row(None, None), Ink::Aside),
    };
    grid.append(axis.title(), Flush::Left, rows.iter().map(cell).collect());
    true
}

/// What is undecided, and how many blocks would decide it.
fn undecided(table: &Table) -> Option<String> {
    let open = table.rows.iter().filter_map(|row| {
        let comparison = row.comparison.as_ref()?;
        let verdict = comparison.verdict;
        let is_open = matches!(verdict, Verdict::Undecided { .. }) && !words::is_same_program(comparison);
        let more = format!("{}{}", words::more_blocks(verdict), words::detectable(comparison, table.unit));
        // That it is undecided stands in its row.
        (is_open && !more.is_empty()).then(|| format!("{}: undecided{more}", clean(&row.variant)))
    });
    let sentences: Vec<String> = open.collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

/// What this machine calls a difference between a thing and itself.
fn noise_floor(table: &Table, notes: &mut Notes) -> (Rendered, Ink) {
    let Some(row) = &table.noise_floor else {
        return ("noise floor: unknown, because the baseline had no twin here".into(), Ink::Open);
    };
    let Some(comparison) = &row.comparison else {
        return ("noise floor: unknown, because the baseline's twin has no trial to compare".into(), Ink::Open);
    };
    let change = Change::of(comparison, table.unit);
    let range = change.signed_range().map_or(String::new(), |range| format!(" ({})", glue(&range)));
    let verdict = verdict_cell(table, row, comparison, notes).text;
    let (ink, remark) = match comparison.verdict {
        Verdict::Faster | Verdict::Slower => (Ink::Worse, ", so this machine shows false differences"),
        _ => (Ink::Plain, ""),
    };
    let judged = if matches!(comparison.verdict, Verdict::Undecided { .. }) { ": " } else { " and is judged " };
    let more = words::more_blocks(comparison.verdict);
    let by = glue(&change.signed());
    (text!["noise floor: the baseline's twin differs by ", by, range, judged, verdict, more, remark], ink)
}

/// All other metrics in one table: each begins with the baseline's row, and the twin's row closes it.
fn compact(
    findings: &Findings,
    tables: &[(&Table, Values)],
    order: &Order<'_>,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) {
    let place =
        tables.first().map_or(String::new(), |(t, _)| format!("{} ({})", clean(&t.workload), clean(&t.condition)));
    page.gap();
    page.paragraph(format!("{place}: also measured"), columns, 2, Ink::Heading);
    let mut grid = Grid::new(headings(findings, "metric"));
    for (table, values) in tables {
        let unit = if values.unit_name.is_empty() { String::new() } else { format!(" ({})", values.unit_name) };
        for row in order.sorted(&table.rows, |row| &row.variant) {
            let baseline = is_baseline(table, row);
            let name = match baseline {
                true => Piece::plain(format!("{}{unit}", table.metric)),
                false => Piece::indented(clean(&row.variant)),
            };
            grid.row(cells(findings, table, row, name, values, notes));
            means_row(row).into_iter().for_each(|means| grid.row(means));
        }
        if let Some(twin) = &table.noise_floor {
            grid.row(cells(findings, table, twin, Piece::indented("(twin)"), values, notes));
        }
    }
    grid.print(page, columns);
}

/// What the columns mean, where that is not said by their titles.
fn legend(findings: &Findings, page: &mut Page, columns: usize, pictures: bool) {
    let compared = findings.tables.iter().flat_map(|table| &table.rows).filter_map(|row| row.comparison.as_ref());
    let (mut ratios, mut differences) = (false, false);
    compared.for_each(|c| match c.scale {
        Scale::Ratio => ratios = true,
        Scale::Difference => differences = true,
    });
    let margin = glue(&percent(findings.method.margin));
    let mut said = vec![];
    let yields = findings.tables.iter().filter(|table| table.better == Direction::More);
    let yields = unique(yields.map(|table| table.metric.clone()));
    if ratios {
        said.push(format!("Ratio: variant ÷ baseline (0.9 is 10 % faster, or 10 % less); margin ±{margin}."));
    }
    if !yields.is_empty() {
        said.push(format!("For {}, more is better.", words::listed(&yields)));
    }
    if differences {
        said.push(
            "Signed numbers are differences (variant − baseline), because some values are not positive.".to_owned(),
        );
    }
    if !findings.failures.is_empty() {
        said.push("n a/b: a of b trials are valid.".to_owned());
    }
    if pictures {
        said.push(LEGEND.to_owned());
    }
    if !said.is_empty() {
        page.gap();
        page.paragraph(said.join(" "), columns, 0, Ink::Aside);
    }
}
