//! Distributions: for each place the share of trials below a value, a curve for each variant. Three stand out, the
//! baseline, the best and the worst of those that are shown to differ; the others are grey. It draws what was measured
//! and computes nothing of it. The frame, for curves of other kinds as well, is here.

use crate::cells::{Cell, PlaceCells, Values};
use crate::forest::pc;
use crate::items::first_few;
use crate::look::{Look, unit_of};
use crate::text::name;
use bakeoff_judge::findings::{Row, Table, Verdict};
use bakeoff_report::Brief;
use bakeoff_report::words::counted;
use maud::{Markup, html};
use std::fmt::Write as _;

/// Points of a curve; of more trials, this number at equal steps of the share.
pub(crate) const POINTS: usize = 200;
/// Extent of the drawing, in its own units; the page stretches it.
pub(crate) const EXTENT: f64 = 1000.0;
/// The axis ends at this part of the trials.
const PART: f64 = 0.99;
/// Ticks of an axis.
const TICKS: usize = 5;
/// Lines of others, where they are few, and the line of all where they are many.
const OTHERS: [&str; 3] = ["o1", "o2", "o3"];
pub(crate) const GREY: &str = "oth";
/// One curve, as a path.
pub(crate) struct Curve {
    pub(crate) id: usize,
    pub(crate) label: Markup,
    pub(crate) class: &'static str,
    pub(crate) path: String,
}

/// A tick: its place from 0 to 1, and its label.
pub(crate) type Tick = (f64, String);

/// Which variants stand out at a place, and as what: the baseline, the best and the worst of those that are shown to
/// differ there. Few others get lines of their own; many are grey.
pub(crate) fn outstanding(look: &Look<'_>, table: Option<&Table>, variant: &str) -> &'static str {
    let farthest = |wanted: Verdict| {
        let rows = table.into_iter().flat_map(|table| &table.rows);
        let of = |row: &Row| row.comparison.as_ref().filter(|c| c.verdict == wanted).map(|c| c.estimate.ln().abs());
        let shown = rows.filter_map(|row| Some((row.variant.as_str(), of(row)?)));
        shown.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(variant, _)| variant)
    };
    let mut names = look.findings.variants.iter().map(|variant| variant.name.as_str());
    let known = [names.next(), farthest(Verdict::Faster), farthest(Verdict::Slower)];
    if let Some(at) = known.iter().position(|name| *name == Some(variant)) {
        return ["basec", "better", "worse"][at];
    }
    let others: Vec<&str> = names.filter(|name| !known.contains(&Some(name))).collect();
    match others.iter().position(|name| *name == variant) {
        Some(at) if others.len() <= OTHERS.len() => OTHERS[at],
        _ => GREY,
    }
}

/// A point of a drawing.
pub(crate) fn path(points: impl Iterator<Item = [f64; 2]>) -> String {
    let mut path = String::new();
    let mut last = None;
    for [x, y] in points {
        let point = ((x * EXTENT).round() as i64, ((1.0 - y) * EXTENT).round() as i64);
        if last != Some(point) {
            let command = if last.is_none() { 'M' } else { 'L' };
            // A string takes everything.
            let _ = write!(path, "{command}{} {}", point.0, point.1);
            last = Some(point);
        }
    }
    path
}

/// Curves in a frame with ticks.
pub(crate) fn frame(alternative: &str, curves: &[Curve], x: &[Tick], y: &[Tick], titles: [&str; 2]) -> Markup {
    html! {
        svg.ch role="img" aria-label=(alternative) {
            @for (at, label) in x {
                line.tick x1=(pc(100.0 * at)) x2=(pc(100.0 * at)) y2="100%" {}
                text x=(pc(100.0 * at)) y="100%" dy="15" text-anchor="middle" { (label) }
            }
            @for (at, label) in y {
                line.tick y1=(pc(100.0 - 100.0 * at)) y2=(pc(100.0 - 100.0 * at)) x2="100%" {}
                text x="0" dx="-6" y=(pc(100.0 - 100.0 * at)) dy="4" text-anchor="end" { (label) }
            }
            text x="100%" y="100%" dy="30" text-anchor="end" { (titles[0]) }
            text x="0" y="0" dx="-6" dy="-9" { (titles[1]) }
            svg.cv viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%" height="100%" {
                @for curve in curves.iter().filter(|curve| curve.class == GREY) {
                    path class=(curve.class) data-v=(curve.id) d=(curve.path) {}
                }
                @for curve in curves.iter().filter(|curve| curve.class != GREY) {
                    path class=(curve.class) data-v=(curve.id) d=(curve.path) {}
                }
            }
        }
        p.key {
            @for curve in curves.iter().filter(|curve| curve.class != GREY) {
                span { svg.k.line aria-hidden="true" { line class=(curve.class) y1="50%" y2="50%" x2="100%" {} } (curve.label) } " "
            }
            @let grey: Vec<&Curve> = curves.iter().filter(|curve| curve.class == GREY).collect();
            @if let Some(first) = grey.first() {
                span {
                    svg.k.line aria-hidden="true" { line.oth y1="50%" y2="50%" x2="100%" {} }
                    @if grey.len() == 1 { (first.label) } @else { "the others" }
                }
            }
        }
    }
}

/// The distribution of one variant's values.
pub(crate) fn of_cell(cell: &Cell<'_>, scale: &Values) -> String {
    path(cumulated(cell.values(), scale))
}

/// The distributions of all places.
pub(crate) fn distributions(look: &Look<'_>, places: &[PlaceCells<'_>], brief: &Brief<'_>) -> Markup {
    let shown: Vec<(usize, &PlaceCells<'_>)> =
        places.iter().enumerate().filter(|(_, place)| place.values().next().is_some()).collect();
    let has_conditions = places.iter().any(|other| other.condition != places[0].condition);
    let one = |(at, place): &(usize, &PlaceCells<'_>)| {
        html! {
            figure.dist data-p=(at) data-w=[look.workload(place.workload)] data-c=[look.condition(place.condition)] {
                figcaption { b { (name(&place.title(has_conditions))) } ": share of trials at or below each time or \
                    size" }
                (distribution(look, place, brief))
            }
        }
    };
    let is_binned = shown.iter().any(|(_, place)| place.cells.iter().any(|cell| cell.dots.len() > POINTS));
    html! {
        @if is_binned {
            p.quiet { "For more than " (POINTS) " trials, a curve has " (POINTS) " points, spaced equally by share of \
                trials." }
        }
        (first_few("charts", &shown.iter().map(one).collect::<Vec<_>>()))
    }
}

fn distribution(look: &Look<'_>, place: &PlaceCells<'_>, brief: &Brief<'_>) -> Markup {
    let Some(scale) = Values::over(place.values(), PART) else { return html! {} };
    let unit = unit_of(place.unit, scale.high);
    let curves: Vec<Curve> = look
        .in_order(&place.cells, brief)
        .into_iter()
        .filter(|cell| cell.values().next().is_some())
        .map(|cell| Curve {
            id: look.cell_id(cell),
            label: look.cell_name(cell),
            class: outstanding(look, look.table_of(place.workload, place.condition), cell.variant),
            path: of_cell(cell, &scale),
        })
        .collect();
    let x: Vec<Tick> =
        scale.ticks_in(unit.size, TICKS).into_iter().map(|value| (scale.at(value), unit.tick(value))).collect();
    let y: Vec<Tick> = [0.0, 0.5, 1.0].map(|share| (share, format!("{:.0} %", 100.0 * share))).to_vec();
    let median = |cell: &Cell<'_>| {
        let table = look.table(place)?;
        let row = table.rows.iter().find(|row| row.variant == cell.variant)?;
        let summary = row.summary.as_ref()?;
        Some(format!("; {}: median {} {}", cell.variant, unit.write(summary.median), unit.name))
    };
    let medians: String = place.cells.iter().filter_map(median).collect();
    let trials = counted(place.values().count() as u32, "trial");
    let alternative = format!("Distribution of {trials} of {}{medians}", place.workload);
    frame(&bakeoff_model::plain::clean(&alternative), &curves, &x, &y, [unit.name, "share of trials"])
}

/// The share of values that are at most this large.
fn cumulated(values: impl Iterator<Item = f64>, scale: &Values) -> impl Iterator<Item = [f64; 2]> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let points = n.min(POINTS);
    let scale = *scale;
    (0..points).map(move |point| {
        let at = if points < 2 { 0 } else { point * (n - 1) / (points - 1) };
        [scale.at(values[at]).min(1.05), (at as f64 + 0.5) / n as f64]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_from_the_least_to_the_greatest() {
        let scale = Values { low: 0.0, high: 10.0, is_log: false };
        let few: Vec<[f64; 2]> = cumulated([5.0, 0.0, 10.0, 5.0].into_iter(), &scale).collect();
        assert_eq!(few, [[0.0, 0.125], [0.5, 0.375], [0.5, 0.625], [1.0, 0.875]]);
        let many: Vec<[f64; 2]> = cumulated((0..10_001).map(|n| f64::from(n) / 1000.0), &scale).collect();
        assert_eq!((many.len(), many[0][0], many[POINTS - 1][0]), (POINTS, 0.0, 1.0));
        assert_eq!(cumulated(std::iter::once(5.0), &scale).collect::<Vec<_>>(), [[0.5, 0.5]]);
    }

    #[test]
    fn points_that_fall_together_are_one() {
        assert_eq!(path([[0.0, 0.0], [0.0, 0.0001], [1.0, 1.0]].into_iter()), "M0 1000L1000 0");
        assert_eq!(path(std::iter::empty()), "");
    }
}
