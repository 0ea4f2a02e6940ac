//! Latencies of single ops: a curve of the percentiles for each variant, over −log(1 − p), so that the tail has room.
//! All ops of a variant's trials together, as they were recorded; the figures that are judged stand in the tables.

use crate::cells::Values;
use crate::curves::{Curve, Tick, frame, outstanding, path};
use crate::look::{Look, unit_of};
use crate::text::{name, variant_id};
use bakeoff_judge::findings::LatencyTable;
use bakeoff_model::marks::Latencies;
use bakeoff_model::metric::Unit;
use bakeoff_model::plain::clean;
use bakeoff_model::record::{Outcome, Record, TWIN, Trial};
use bakeoff_report::format::duration;
use maud::{Markup, html};

/// Of more trials, this number in equal steps: to read a histogram takes time.
const TRIALS: usize = 100;
/// Points of a curve.
const POINTS: usize = 60;
/// Ticks: parts that are longer.
const TAILS: [(f64, &str); 6] =
    [(1.0, "0 %"), (0.5, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (0.0001, "99.99 %")];
/// Ticks of the latency.
const TICKS: usize = 6;

/// A chart for each kind of op; nothing if none were marked.
pub(crate) fn charts(look: &Look<'_>, record: &Record) -> Markup {
    let tables = &look.findings.latencies;
    if tables.is_empty() {
        return html! {};
    }
    let is_sampled = record.trials.len() > TRIALS * record.study.variants.len().max(1);
    html! {
        p.quiet {
            "Latency of an op by percentile, with the tail stretched. Each curve pools the ops of "
            @if is_sampled { "at most " (TRIALS) " evenly spaced valid" } @else { "all valid" }
            " trials of a variant."
        }
        div.charts {
            @for table in tables {
                figure.dist data-w=[look.workload(&table.workload)] data-c=[look.condition(&table.condition)] {
                    figcaption { b { (name(&title(table))) } }
                    (chart(look, table, record))
                }
            }
        }
    }
}

fn title(table: &LatencyTable) -> String {
    let parts = [Some(&table.workload), Some(&table.condition), table.phase.as_ref(), table.op.as_ref()];
    parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
}

fn chart(look: &Look<'_>, table: &LatencyTable, record: &Record) -> Markup {
    let pools: Vec<(&str, Latencies)> = table
        .rows
        .iter()
        .map(|row| row.variant.as_str())
        .filter_map(|variant| Some((variant, pool(table, record, variant)?)))
        .collect();
    let least = pools.iter().map(|(_, pool)| 1.0 / pool.count() as f64).fold(0.1, f64::min).max(TAILS[5].0);
    let at = |tail: f64| tail.ln() / least.ln();
    let curve = |pool: &Latencies| -> Vec<(f64, f64)> {
        let tails = (0..POINTS).map(|point| least.powf(point as f64 / (POINTS - 1) as f64));
        tails.map(|tail| (at(tail), pool.quantile(1.0 - tail))).collect()
    };
    let drawn: Vec<(&str, Vec<(f64, f64)>)> = pools.iter().map(|(variant, pool)| (*variant, curve(pool))).collect();
    let all = drawn.iter().flat_map(|(_, points)| points.iter().map(|(_, latency)| *latency));
    let Some(scale) = Values::over(all, 1.0) else { return html! {} };
    let curves: Vec<Curve> = drawn
        .iter()
        .map(|(variant, points)| Curve {
            id: variant_id(look.findings, variant).unwrap_or(0),
            label: name(variant),
            class: outstanding(look, look.table_of(&table.workload, &table.condition), variant),
            path: path(points.iter().map(|(x, latency)| [*x, scale.at(*latency)])),
        })
        .collect();
    let x: Vec<Tick> =
        TAILS.iter().filter(|(tail, _)| *tail >= least).map(|(tail, label)| (at(*tail), (*label).to_owned())).collect();
    let unit = unit_of(Unit::Seconds, scale.high);
    let y: Vec<Tick> =
        scale.ticks_in(unit.size, TICKS).into_iter().map(|value| (scale.at(value), unit.tick(value))).collect();
    frame(&alternative(table), &curves, &x, &y, ["percentile", unit.name])
}

/// All ops of a variant, as far as they are of this kind.
fn pool(table: &LatencyTable, record: &Record, variant: &str) -> Option<Latencies> {
    let is_it = |trial: &&Trial| {
        trial.variant == variant
            && trial.variant != TWIN
            && trial.outcome == Outcome::Ok
            && trial.workload == table.workload
            && trial.condition == table.condition
    };
    let trials: Vec<&Trial> = record.trials.iter().filter(is_it).collect();
    let step = trials.len().div_ceil(TRIALS).max(1);
    let ops = trials.iter().step_by(step).flat_map(|trial| &trial.marks.ops);
    let ops = ops.filter(|ops| ops.phase == table.phase && ops.name == table.op);
    Latencies::merge(ops.map(|ops| &ops.latencies))
}

/// In words: the medians over trials, which the tables have with their intervals.
fn alternative(table: &LatencyTable) -> String {
    let row = |row: &bakeoff_judge::findings::LatencyRow| {
        let [half, most] = [row.p50_s.median, row.p99_s.median].map(duration);
        format!("{}: half below {half}, 99 % below {most}", clean(&row.variant))
    };
    let rows: Vec<String> = table.rows.iter().map(row).collect();
    format!("Latencies of {}. {}", clean(&title(table)), rows.join("; "))
}
