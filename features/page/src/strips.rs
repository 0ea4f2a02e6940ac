//! The trials: a strip for each variant at each place, in the order of time, with the baseline's trial of the same
//! block behind it. One path for all that count, one for each other kind; what lies beyond the scale stands at its
//! edge. Where there are more trials than a screen has room for, one dot stands for all at its place, and the caption
//! says so.

use crate::cells::{Cell, Dot, PlaceCells, State, Values};
use crate::items::first_few;
use crate::look::{Look, unit_of};
use crate::text::name;
use bakeoff_report::Brief;
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// With more blocks there are no pairs, and dots that fall together are drawn once.
pub(crate) const DENSE: u32 = 400;
/// Extent of the drawing, in its own units; the page stretches it.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;
/// What is free above and below the values.
const EDGE: f64 = 10.0;
/// The scale ends here, so that a few long trials do not flatten all others.
const PART: f64 = 0.98;
/// Half of a baseline's dash.
const DASH: f64 = 3.5;

/// Where a dot is drawn.
struct Layout<'a> {
    place: &'a PlaceCells<'a>,
    scale: Values,
}

impl Layout<'_> {
    fn x(&self, block: u32) -> f64 {
        (f64::from(block) - 0.5) * WIDTH / f64::from(self.place.blocks.max(1))
    }

    /// None beyond the upper end of the scale.
    fn y(&self, value: f64) -> Option<f64> {
        let at = self.scale.at(value);
        (at <= 1.0).then(|| HEIGHT - EDGE - at.max(0.0) * (HEIGHT - 2.0 * EDGE))
    }
}

/// The paths of one strip.
#[derive(Debug, Default, PartialEq)]
struct Paths {
    pairs: String,
    baseline: String,
    counting: String,
    beyond: String,
    failed: String,
    void: String,
}

fn paths(layout: &Layout<'_>, cell: &Cell<'_>, baseline: &BTreeMap<u32, f64>) -> Paths {
    let mut paths = Paths::default();
    let is_dense = layout.place.blocks > DENSE;
    let mut drawn: BTreeSet<(i64, i64)> = BTreeSet::new();
    for dot in &cell.dots {
        let x = layout.x(dot.block);
        let out = match (dot.state, dot.counting().map(|value| layout.y(value))) {
            (State::Failed, _) => write!(paths.failed, "M{x:.0} {}V{HEIGHT}", HEIGHT - 3.0 * EDGE),
            (State::Void, _) => write!(paths.void, "M{x:.0} {}h0", HEIGHT - EDGE),
            (State::Counts, None) => Ok(()),
            (State::Counts, Some(None)) => write!(paths.beyond, "M{x:.0} 4h0"),
            (State::Counts, Some(Some(y))) if !is_dense || drawn.insert((x.round() as i64, y.round() as i64)) => {
                let pair = baseline.get(&dot.block).and_then(|value| layout.y(*value)).filter(|_| !is_dense);
                if let Some(other) = pair {
                    let _ = write!(paths.pairs, "M{x:.0} {other:.0}V{y:.0}");
                    let _ = write!(paths.baseline, "M{:.0} {other:.0}h{:.0}", x - DASH, 2.0 * DASH);
                }
                write!(paths.counting, "M{x:.0} {y:.0}h0")
            }
            (State::Counts, Some(Some(_))) => Ok(()),
        };
        // A string takes everything.
        debug_assert!(out.is_ok());
    }
    paths
}

/// All strips; nothing if no trial was run.
pub(crate) fn strips(look: &Look<'_>, places: &[PlaceCells<'_>], brief: &Brief<'_>) -> Markup {
    if places.is_empty() {
        return html! { p.quiet { "No trials were run." } };
    }
    let is_dense = places.iter().any(|place| place.blocks > DENSE);
    html! {
        p.quiet {
            "Trials in chronological order: each dot is a trial"
            @if is_dense {
                "; in a chart with more than " (DENSE) " blocks, one dot represents all trials at its position"
            } @else {
                ", each dash is the baseline’s trial in the same block, and a line joins the pair"
            }
            ". A square at the upper edge is a trial beyond the scale; "
            svg.i.doubt aria-hidden="true" { path d="M6 1V11" stroke="currentColor" stroke-width="2" {} }
            "failed, "
            svg.i.doubt aria-hidden="true" { circle cx="6" cy="6" r="3.4" fill="none" stroke="currentColor" stroke-width="1.6" {} }
            "void. Each workload has one logarithmic scale."
        }
        p #read aria-live="polite" {}
        (first_few("places", &(0..places.len()).map(|at| one(look, at, places, brief)).collect::<Vec<_>>()))
    }
}

fn one(look: &Look<'_>, at: usize, all: &[PlaceCells<'_>], brief: &Brief<'_>) -> Markup {
    let place = &all[at];
    let has_conditions = all.iter().any(|other| other.condition != place.condition);
    let values = Values::over(place.values(), PART);
    let unit = unit_of(place.unit, values.map_or(1.0, |scale| scale.high));
    let order = look.in_order(&place.cells, brief);
    let scale = values.unwrap_or(Values { low: 0.0, high: 1.0, is_log: false });
    html! {
        div.place data-p=(at) data-w=[look.workload(place.workload)] data-c=[look.condition(place.condition)] {
            h3 {
                (name(&place.title(has_conditions)))
                small.scale {
                    @if values.is_some() { (unit.write(scale.low)) " … " (unit.write(scale.high)) " " (unit.name) ", " }
                    "blocks 1 to " (place.blocks)
                }
            }
            @for cell in order {
                div.strip data-v=(look.cell_id(cell)) {
                    span.sl { (look.cell_name(cell)) }
                    (drawn(look, place, cell, scale))
                }
            }
        }
    }
}

fn drawn(look: &Look<'_>, place: &PlaceCells<'_>, cell: &Cell<'_>, scale: Values) -> Markup {
    let class = look.class(place, cell.variant);
    html! {
        svg class={ "st " (class) @if place.blocks > DENSE { " dense" } } viewBox="0 0 1000 \
            100" preserveAspectRatio="none"
            role="img" aria-label=(alternative(look, cell)) {
            (marks(place, scale, cell))
        }
    }
}

/// The marks of one strip.
pub(crate) fn marks(place: &PlaceCells<'_>, scale: Values, cell: &Cell<'_>) -> Markup {
    let of_baseline = |dot: &Dot| Some((dot.block, dot.counting()?));
    let baseline: BTreeMap<u32, f64> =
        place.baseline().into_iter().flat_map(|cell| cell.dots.iter().filter_map(of_baseline)).collect();
    let is_compared = place.baseline().is_some_and(|baseline| baseline.variant != cell.variant);
    let paths = paths(&Layout { place, scale }, cell, &baseline);
    html! {
        @if is_compared && !paths.pairs.is_empty() {
            path.pr d=(paths.pairs) {}
            path.bs d=(paths.baseline) {}
        }
        path.pt d=(paths.counting) {}
        @if !paths.beyond.is_empty() { path.far d=(paths.beyond) {} }
        @if !paths.failed.is_empty() { path.fx d=(paths.failed) {} }
        @if !paths.void.is_empty() { path.vd d=(paths.void) {} path.vd2 d=(paths.void) {} }
    }
}

/// What a strip shows, in words.
fn alternative(look: &Look<'_>, cell: &Cell<'_>) -> String {
    let of = |state: State| cell.dots.iter().filter(|dot| dot.state == state).count();
    let lost = [(of(State::Failed), "failed"), (of(State::Void), "void")];
    let lost: String = lost.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}")).collect();
    format!("{}: {} trials{lost}", look.cell_text(cell), cell.dots.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::metric::Unit;

    fn place(dots: Vec<Dot>, blocks: u32) -> PlaceCells<'static> {
        let cells = vec![Cell { variant: "b", dots }];
        PlaceCells { workload: "loop", condition: "idle", unit: Unit::Seconds, cells, blocks }
    }

    #[test]
    fn every_trial_is_drawn_and_what_does_not_count_differs() {
        let dot = |block, value: f64, state| Dot { block, value: Some(value), state };
        let dots = vec![
            dot(1, 1.0, State::Counts),
            dot(2, 2.0, State::Counts),
            dot(3, 9.0, State::Counts),
            dot(4, 1.0, State::Failed),
            dot(5, 1.0, State::Void),
        ];
        let place = place(dots, 5);
        let layout = Layout { place: &place, scale: Values { low: 1.0, high: 2.0, is_log: true } };
        let baseline = [(1, 2.0)].into();
        let expect = Paths {
            pairs: "M100 10V90".to_owned(),
            baseline: "M96 10h7".to_owned(),
            counting: "M100 90h0M300 10h0".to_owned(),
            beyond: "M500 4h0".to_owned(),
            failed: "M700 70V100".to_owned(),
            void: "M900 90h0".to_owned(),
        };
        assert_eq!(paths(&layout, &place.cells[0], &baseline), expect);
    }

    #[test]
    fn dots_that_fall_together_are_drawn_once_where_there_are_many() {
        let dots = (1..=4000).map(|block| Dot { block, value: Some(1.0), state: State::Counts }).collect();
        let place = place(dots, 4000);
        let layout = Layout { place: &place, scale: Values { low: 0.5, high: 2.0, is_log: true } };
        let drawn = paths(&layout, &place.cells[0], &[(1, 1.0)].into());
        assert_eq!(drawn.counting.matches('M').count(), 1001);
        assert_eq!(drawn.pairs, "");
    }
}
