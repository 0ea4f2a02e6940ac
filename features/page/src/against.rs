//! Two journals next to each other: for each workload, condition and metric that both decided on, a line for each variant from its
//! ratio here to its ratio there, each end with its own interval and its own verdict. No verdict is made across machines; the
//! sentences are those of `bakeoff report --against`.

use crate::document::document;
use crate::forest::{drawable, pc, span};
use crate::items::{first_few, is_heading, items};
use crate::mark::{self, Mark};
use crate::scale::Axis;
use crate::text::{name, plain};
use bakeoff_command::Against;
use bakeoff_judge::findings::Comparison;
use bakeoff_judge::side_by_side::{Compared, Pair};
use bakeoff_model::plain::clean;
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::draw::text::middle;
use bakeoff_report::text;
use bakeoff_report::{Amount, side_by_side_items, to_pass_on};
use maud::{Markup, html};

/// Where the two sides stand, in per cent.
const HERE: f64 = 40.0;
const THERE: f64 = 60.0;
/// Letters of a label.
const LABEL: usize = 22;
/// Labels are at least so far apart, in per cent; of more than fit none is drawn, and the table has them.
const APART: f64 = 5.5;

/// The whole page.
pub(crate) fn page(against: &Against<'_>) -> String {
    let Against { pairs, here, there } = *against;
    let deciding = |pair: &&Pair| pair.compared.metric == here.method.deciding_metric;
    let shown: Vec<&Pair> = pairs.pairs.iter().filter(deciding).collect();
    let same_place = |a: &&Pair, b: &&Pair| {
        (&a.compared.workload, &a.compared.condition) == (&b.compared.workload, &b.compared.condition)
    };
    let places: Vec<&[&Pair]> = shown.chunk_by(same_place).collect();
    let margin = here.method.margin;
    let title = format!("{}: here and there", clean(&here.study));
    let [ours, theirs] = [here, there].map(to_pass_on);
    let said = side_by_side_items(pairs, &ours, &theirs);
    // What both are comes first, the tables after the drawings.
    let tables = said.iter().skip(1).position(is_heading).map_or(said.len(), |at| at + 1);
    let body = html! {
        a.skip href="#main" { "To the comparison" }
        svg.defs aria-hidden="true" { defs { (mark::definitions()) } }
        header { p.id { b { "Bakeoff" } " " span { (clean(&here.study)) } } h1 { (title) } }
        main #main {
            section { (items(&said[..tables])) }
            section aria-label="Here and there" {
                (first_few("slopes", &places.iter().map(|place| slopes(place, margin)).collect::<Vec<_>>()))
            }
            section { (items(&said[tables..])) }
        }
    };
    document(&title, &body, None, false)
}

/// One place.
fn slopes(pairs: &[&Pair], margin: f64) -> Markup {
    let Some(first) = pairs.first() else { return html! {} };
    let Compared { workload, condition, metric, .. } = &first.compared;
    let both: Vec<(&Pair, [&Comparison; 2])> = pairs
        .iter()
        .filter_map(|pair| Some((*pair, [drawable(Some(&pair.here))?, drawable(Some(&pair.there))?])))
        .collect();
    let spans: Vec<_> = both.iter().flat_map(|(_, ends)| ends.iter().map(|comparison| span(comparison))).collect();
    let axis = Axis::over(&spans, margin);
    // Less is above, so that the best stands first, as everywhere.
    let y = |ratio: f64| axis.at(ratio);
    let labels = |side: usize| {
        let mut places: Vec<(f64, &Pair)> = both.iter().map(|(pair, ends)| (y(ends[side].estimate), *pair)).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        spread(&places)
    };
    let [begin, end] = axis.margin();
    let alternative: Vec<String> = both.iter().map(|(pair, ends)| in_words(pair, ends)).collect();
    html! {
        figure {
            figcaption { b { (name(workload)) ", " (name(condition)) } ": " (name(metric)) ", ratio to the baseline, here (left) and there (right)" }
            svg.ch.slope role="img" aria-label=(alternative.join("; ")) {
                rect.band x=(pc(HERE)) width=(pc(THERE - HERE)) y=(pc(begin)) height=(pc(end - begin)) {}
                @for tick in axis.ticks() {
                    line.tick x1=(pc(HERE)) x2=(pc(THERE)) y1=(pc(tick.at)) y2=(pc(tick.at)) {}
                    text.lb x="50%" y=(pc(tick.at)) dy="4" text-anchor="middle" { (tick.label) }
                }
                @for (_, ends) in &both {
                    @let [from, to] = ends.map(|comparison| y(comparison.estimate));
                    g class={ "row " (Mark::of(ends[0]).class) } { line.ci x1=(pc(HERE)) y1=(pc(from)) x2=(pc(THERE)) y2=(pc(to)) {} }
                    @for (x, comparison) in [HERE, THERE].into_iter().zip(ends) { (end_of(x, comparison, &y)) }
                }
                @for (side, x, anchor, shift) in [(0, HERE, "end", "-12"), (1, THERE, "start", "12")] {
                    @for (at, pair) in labels(side) {
                        text x=(pc(x)) y=(pc(at)) dx=(shift) dy="4" text-anchor=(anchor) { (middle(&clean(&pair.compared.variant), LABEL)) }
                    }
                }
            }
        }
    }
}

fn end_of(x: f64, comparison: &Comparison, y: &dyn Fn(f64) -> f64) -> Markup {
    let Mark { class, shape } = Mark::of(comparison);
    html! {
        g class={ "row " (class) } {
            @if let Some([low, high]) = comparison.printed_interval() { line.ci x1=(pc(x)) x2=(pc(x)) y1=(pc(y(low))) y2=(pc(y(high))) {} }
            use class="g" href={ "#" (shape) } x=(pc(x)) y=(pc(y(comparison.estimate))) {}
        }
    }
}

fn in_words(pair: &Pair, ends: &[&Comparison; 2]) -> String {
    let [here, there] = ends.map(|comparison| Amount::of(comparison, pair.unit, pair.better));
    let variant = Rendered::name(&pair.compared.variant);
    let [here, there] = [here, there].map(|side| text![side.claim, side.interval.bracketed()]);
    plain(&text![variant, ": here ", here, ", there ", there])
}

/// Labels moved down until none covers the one above; none at all if they do not fit.
fn spread<'p>(places: &[(f64, &'p Pair)]) -> Vec<(f64, &'p Pair)> {
    let mut next = f64::NEG_INFINITY;
    let moved = places.iter().map(|(at, pair)| {
        let at = at.max(next);
        next = at + APART;
        (at, *pair)
    });
    let moved: Vec<(f64, &Pair)> = moved.collect();
    if moved.last().is_some_and(|(at, _)| *at > 100.0 + 2.0 * APART) { vec![] } else { moved }
}
