//! Latencies of ops: a table for each kind, with medians over trials and intervals, and a line of all ops together.

use crate::draw::grid::{Flush, Grid};
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{clean, glue};
use crate::format::{count, decimals_of, duration, fitting, fixed, percent, units};
use crate::order::Order;
use bakeoff_judge::findings::{Findings, LatencyRow, LatencyTable, Typical};
use bakeoff_model::metric::Unit;

const DIGITS: usize = 3;

pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    for table in &findings.latencies {
        page.gap();
        let scale = Scale::of(table);
        page.paragraph(heading(findings, table, &scale), columns, 2, Ink::Heading);
        let right = |title: &str| (title.to_owned(), Flush::Right);
        let figures = ["ops", "/s", "mean", "min", "p50", "p90", "p99", "p99.9", "max", "n"];
        let mut grid = Grid::new(std::iter::once(("variant".to_owned(), Flush::Left)).chain(figures.map(right)));
        let order = Order::of(findings, &table.workload, &table.condition);
        for row in order.sorted(&table.rows, |row| &row.variant) {
            rows(&clean(&row.variant), row, &scale).into_iter().for_each(|cells| grid.row(cells));
        }
        if let Some(twin) = &table.twin {
            rows("(twin)", twin, &scale).into_iter().take(1).for_each(|cells| grid.row(cells));
        }
        grid.print(page, columns);
        page.paragraph(pooled(table), columns, 2, Ink::Aside);
    }
}

/// The unit that all latencies of a table share.
struct Scale {
    size: f64,
    name: &'static str,
}

impl Scale {
    /// It fits the largest of the usual latencies.
    fn of(table: &LatencyTable) -> Self {
        let largest = table.rows.iter().map(|row| row.p50_s.median).fold(0.0, f64::max);
        let (size, name) = fitting(largest, units(Unit::Seconds));
        Self { size, name }
    }

    fn write(&self, seconds: f64) -> String {
        significant(seconds / self.size)
    }
}

fn significant(value: f64) -> String {
    fixed(value, if value == 0.0 { 0 } else { decimals_of(value, DIGITS) })
}

fn heading(findings: &Findings, table: &LatencyTable, scale: &Scale) -> String {
    let op = table.op.as_ref().map_or(String::new(), |op| format!(" {}", clean(op)));
    let phase = table.phase.as_ref().map_or(String::new(), |phase| format!(", phase {}", clean(phase)));
    let place = format!("{} ({})", clean(&table.workload), clean(&table.condition));
    let confidence = glue(&percent(findings.method.confidence));
    format!("{place}: latency of op{op}{phase}, in {}; medians over trials, with {confidence} intervals", scale.name)
}

/// The medians, and below them the ends of their intervals, if there are any.
fn rows(name: &str, row: &LatencyRow, scale: &Scale) -> Vec<Vec<Piece>> {
    let median = line(row, scale, |figure| Some(figure.median), Ink::Plain);
    let mut lines = vec![
        [Piece::plain(name)]
            .into_iter()
            .chain(median)
            .chain([Piece::plain(row.trials.to_string())])
            .collect::<Vec<_>>(),
    ];
    if figures(row).iter().any(|figure| figure.interval.is_some()) {
        for (word, end) in [("from", 0), ("to", 1)] {
            let head = Piece { ink: Ink::Aside, ..Piece::indented(word) };
            let ends = line(row, scale, |figure| figure.interval.map(|interval| interval[end]), Ink::Aside);
            lines.push([head].into_iter().chain(ends).chain([Piece::new("", Ink::Aside)]).collect());
        }
    }
    lines
}

fn figures(row: &LatencyRow) -> [&Typical; 7] {
    [&row.mean_s, &row.min_s, &row.p50_s, &row.p90_s, &row.p99_s, &row.p999_s, &row.max_s]
}

fn line(row: &LatencyRow, scale: &Scale, of: impl Fn(&Typical) -> Option<f64>, ink: Ink) -> Vec<Piece> {
    let words = |value: Option<f64>, write: &dyn Fn(f64) -> String| value.map_or_else(|| "–".to_owned(), write);
    let ops = words(of(&row.ops), &|ops| fixed(ops, usize::from(ops.fract() != 0.0)));
    let rate = words(row.rate_per_s.as_ref().and_then(&of), &significant);
    let figures = figures(row).map(|figure| words(of(figure), &|seconds| scale.write(seconds)));
    [ops, rate].into_iter().chain(figures).map(|text| Piece::new(text, ink)).collect()
}

/// As people print them: without trials, and so without an interval.
fn pooled(table: &LatencyTable) -> String {
    let each = table.rows.iter().map(|row| {
        let pooled = row.pooled;
        let [mean, min, max] = [pooled.mean_s, pooled.min_s, pooled.max_s].map(|seconds| glue(&duration(seconds)));
        format!("{} avg {mean}, min {min}, max {max} ({} ops)", clean(&row.variant), count(pooled.ops))
    });
    format!("all ops of all trials together: {}", each.collect::<Vec<_>>().join("; "))
}
