//! What speed costs: build time and size of each variant against what it gains. A variant is marked where no other is
//! at least as good in both. Build times are those of single builds, and no verdict is made of them.

use crate::cells::Values;
use crate::forest::{drawable, pc};
use crate::look::unit_of;
use crate::mark::Mark;
use crate::scale::{Axis, Span};
use crate::text::variant_id;
use bakeoff_judge::findings::Findings;
use bakeoff_model::metric::{self, Direction, Measurements, Unit, value};
use bakeoff_model::plain::clean;
use bakeoff_report::{About, Brief};
use maud::{Markup, html};
use serde::Deserialize;

/// Fewer builds are no picture.
const LEAST: usize = 3;
/// Of more points only the marked ones have a name.
const NAMED: usize = 12;
const TICKS: usize = 5;

struct Point<'a> {
    variant: &'a str,
    cost: f64,
    ratio: f64,
    mark: Option<Mark>,
}

/// What is shown of a build, as the section `builds` of the findings has it.
#[derive(Deserialize)]
struct Build {
    variants: Vec<String>,
    cost: Measurements,
    prefix_bytes: Option<u64>,
}

/// Both charts, as far as builds are known.
pub(crate) fn charts(findings: &Findings, brief: &Brief<'_>) -> Markup {
    let Some(about) = &brief.about else { return html! {} };
    let builds = findings.sections.get("builds").and_then(|builds| Vec::deserialize(builds).ok()).unwrap_or_default();
    let time = |variant: &str| value(metric::WALL, &build_of(&builds, variant)?.cost);
    let size = |variant: &str| build_of(&builds, variant)?.prefix_bytes.map(|bytes| bytes as f64);
    html! {
        div.charts {
            (chart(findings, brief, about, "build time", Unit::Seconds, &time))
            (chart(findings, brief, about, "installed size", Unit::Bytes, &size))
        }
    }
}

fn build_of<'b>(builds: &'b [Build], variant: &str) -> Option<&'b Build> {
    builds.iter().find(|build| build.variants.iter().any(|name| name == variant))
}

fn chart(
    findings: &Findings,
    brief: &Brief<'_>,
    about: &About<'_>,
    what: &str,
    unit: Unit,
    cost: &dyn Fn(&str) -> Option<f64>,
) -> Markup {
    let first = findings.variants.first().map_or("", |variant| variant.name.as_str());
    let mut points = vec![];
    for row in &brief.rows {
        let comparison = drawable(row.comparison);
        let ratio = comparison.map(|c| c.estimate).or((row.variant == first).then_some(1.0));
        let known = cost(row.variant).zip(ratio);
        let mark = comparison.map(Mark::of);
        points.extend(known.map(|(cost, ratio)| Point { variant: row.variant, cost, ratio, mark }));
    }
    let has_costs = points.iter().any(|point| point.cost != points[0].cost);
    let Some(scale) =
        Values::over(points.iter().map(|point| point.cost), 1.0).filter(|_| points.len() >= LEAST && has_costs)
    else {
        return html! {};
    };
    let spans: Vec<Span> = points.iter().map(|point| Span { low: point.ratio, high: point.ratio }).collect();
    let axis = Axis::over(&spans, findings.method.margin);
    let efficient = efficient(&points, about.better);
    let written = unit_of(unit, scale.high);
    let x = |cost: f64| pc(6.0 + 74.0 * scale.at(cost));
    let alternative: Vec<String> =
        points.iter().zip(&efficient).filter(|(_, is)| **is).map(|(p, _)| clean(p.variant)).collect();
    html! {
        figure.trade {
            figcaption { b { (what) } " against " (brief.metric.as_ref().map_or("", |(metric, _)| metric)) "; ringed: no other variant is better in one and at least as good in the other" }
            svg.ch.sq role="img" aria-label={ (what) " against speed; no other variant beats these in one without \
                being worse in the other: " (alternative.join(", ")) } {
                @for tick in axis.ticks() {
                    @let y = pc(tick.at);
                    line.tick.zero[tick.label == "0" || tick.label == "1"] y1=(y) y2=(y) x2="100%" {}
                    text x="0" dx="-6" y=(y) dy="4" text-anchor="end" { (tick.label) }
                }
                @for cost in scale.ticks_in(written.size, TICKS) {
                    line.tick x1=(x(cost)) x2=(x(cost)) y2="100%" {}
                    text x=(x(cost)) y="100%" dy="15" text-anchor="middle" { (written.tick(cost)) }
                }
                text x="100%" y="100%" dy="30" text-anchor="end" { (written.name) }
                @for (point, is_efficient) in points.iter().zip(&efficient) {
                    @let (px, py) = (x(point.cost), pc(axis.at(point.ratio)));
                    g class={ "row " (point.mark.map_or("basec", |mark| mark.class)) } data-v=[variant_id(findings, point.variant)] {
                        use class="g" href={ "#" (point.mark.map_or("i-full", |mark| mark.shape)) } x=(px) y=(py) {}
                        @if *is_efficient { circle.ring cx=(px) cy=(py) r="9" {} }
                        @if *is_efficient || points.len() <= NAMED { text.lb x=(px) y=(py) dx="12" dy="4" { (clean(point.variant)) } }
                    }
                }
            }
        }
    }
}

/// Which points no other one beats: at most its cost, at least its gain, and one of the two better.
fn efficient(points: &[Point<'_>], better: Direction) -> Vec<bool> {
    let gain = |point: &Point<'_>| if better == Direction::Less { -point.ratio } else { point.ratio };
    let beats = |one: &Point<'_>, other: &Point<'_>| {
        one.cost <= other.cost && gain(one) >= gain(other) && (one.cost < other.cost || gain(one) > gain(other))
    };
    points.iter().map(|point| !points.iter().any(|other| beats(other, point))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_beaten_in_both_is_not_efficient() {
        let point = |cost, ratio| Point { variant: "x", cost, ratio, mark: None };
        let points = [point(1.0, 1.0), point(2.0, 0.9), point(3.0, 0.95), point(2.0, 0.9), point(9.0, 0.8)];
        assert_eq!(efficient(&points, Direction::Less), [true, true, false, true, true]);
        assert_eq!(efficient(&points, Direction::More), [true, false, false, false, false]);
    }
}
