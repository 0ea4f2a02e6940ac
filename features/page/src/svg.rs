//! Charts that stand alone: SVG with its own style for light and dark surroundings, a title and a description in words.
//! The numbers and signs are those of the page; places are in pixels, since nothing stretches it.

use crate::cells::{PlaceCells, Values};
use crate::curves::{self, outstanding};
use crate::forest::{Forest, Panel, drawable};
use crate::look::unit_of;
use crate::mark::{Mark, outline};
use crate::page::Content;
use crate::strips;
use crate::text::plain;
use bakeoff_command::CommandError;
use bakeoff_model::plain::clean;
use bakeoff_report::BriefRow;
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::draw::text::{middle, wrap};
use bakeoff_report::text;
use maud::{Markup, PreEscaped, html};

/// The charts by name, the first of them where none is asked for.
pub(crate) const CHARTS: [&str; 3] = ["variants", "trials", "distributions"];

const STYLE: &str = include_str!("../assets/chart.css");
const WIDTH: f64 = 820.0;
/// What is free at the sides.
const SIDE: f64 = 18.0;
/// Where drawings begin and end; names stand before, and claims behind.
const LEFT: f64 = 220.0;
const RIGHT: f64 = 560.0;
/// Letters of a name, and of a line of the question and of the answer.
const NAME: usize = 28;
const QUESTION: usize = 76;
const ANSWER: usize = 110;
const CAPTION: usize = 140;
const ROW: f64 = 26.0;
/// Caps of a shorter interval would make another shape of its sign.
const LEAST_WITH_CAPS: f64 = 12.0;
/// The least height of a row of trials.
const STRIP: f64 = 30.0;
const CURVES: f64 = 300.0;
const TICKS: usize = 6;

/// The chart of that name.
///
/// # Errors
/// If there is nothing to draw.
pub(crate) fn chart(content: &Content<'_>, name: &str) -> Result<String, CommandError> {
    let chart = match name {
        "trials" => trials(content),
        "distributions" => distributions(content),
        _ => variants(content),
    };
    let nothing = || {
        let error = format!("there is nothing to draw for --chart {name}");
        CommandError::usage(error).hint("use --html to write a page that explains why")
    };
    chart.map(Markup::into_string).ok_or_else(nothing)
}

/// The frame: question, what the chart shows, and below it the drawing, which is given its top.
fn framed(content: &Content<'_>, what: &str, description: &str, height: f64, draw: impl Fn(f64) -> Markup) -> Markup {
    let lines = wrap(&plain(&content.brief.question), QUESTION, 0);
    let answer = wrap(&plain(&content.brief.answer), ANSWER, 0);
    let below = 30.0 + 24.0 * lines.len() as f64;
    let top = below + 18.0 * answer.len() as f64 + 6.0;
    let whole = top + height + 14.0;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (whole) } width=(WIDTH) height=(whole)
            role="img" aria-labelledby="t d" {
            title id="t" { (plain(&content.brief.question)) }
            desc id="d" { (description) }
            style { (PreEscaped(STYLE)) }
            rect.bg width=(WIDTH) height=(whole) rx="6" {}
            @for (at, line) in lines.iter().enumerate() { text.q x=(SIDE) y=(30.0 + 24.0 * at as f64) { (line) } }
            @for (at, line) in answer.iter().enumerate() { text.a x=(SIDE) y=(below + 18.0 * at as f64) { (line) } }
            text.s x=(SIDE) y=(top - 6.0) { (what) }
            (draw(top))
        }
    }
}

fn px(at: f64) -> String {
    format!("{at:.1}")
}

fn variants(content: &Content<'_>) -> Option<Markup> {
    let brief = &content.brief;
    let about = brief.about.as_ref()?;
    let forest = Forest { brief, findings: content.concluded.findings, causes: &[] };
    let (panel, _) = forest.panels(about);
    if !panel.is_drawn() {
        return None;
    }
    let confidence = bakeoff_report::format::percent(content.concluded.findings.method.confidence);
    let status = Rendered::joined(brief.status.iter().cloned(), "; ");
    let what = format!("{}; {confidence} intervals", plain(&status));
    let row = |row: &BriefRow<'_>| plain(&text![&row.name, ": ", &row.claim, row.interval.clone().bracketed()]);
    let description: Vec<String> = brief.rows.iter().map(row).collect();
    let height = 26.0 + ROW * brief.rows.len() as f64;
    let what = middle(&what, CAPTION);
    Some(framed(content, &what, &description.join("; "), height, |top| {
        html! {
            (axis(&panel, top + 18.0, height - 26.0))
            @for (at, row) in brief.rows.iter().enumerate() {
                (variant(row, &panel, top + 26.0 + ROW * (at as f64 + 0.5)))
            }
        }
    }))
}

fn x(panel: &Panel<'_>, ratio: f64) -> f64 {
    LEFT + panel.axis.at(ratio) * (RIGHT - LEFT) / 100.0
}

fn axis(panel: &Panel<'_>, y: f64, height: f64) -> Markup {
    let place = |at: f64| LEFT + at * (RIGHT - LEFT) / 100.0;
    let [begin, end] = panel.axis.margin().map(place);
    let noise = panel.noise().map(|ends| ends.map(|end| x(panel, end)));
    let down = |at: f64| format!("M{at:.1} {:.1}V{:.1}", y + 8.0, y + 8.0 + height);
    html! {
        rect.band x=(px(begin)) y=(px(y + 8.0)) width=(px(end - begin)) height=(px(height)) {}
        @if let Some([low, high]) = noise { rect.noise x=(px(low)) y=(px(y + 8.0)) width=(px(high - low)) height=(px(height)) {} }
        @for tick in panel.axis.ticks() {
            @let at = place(tick.at);
            path.tick d=(down(at)) {}
            text.s.m x=(px(at)) y=(px(y + 1.0)) { (tick.label) }
        }
        path.zero d=(down(x(panel, 1.0))) {}
    }
}

fn variant(row: &BriefRow<'_>, panel: &Panel<'_>, y: f64) -> Markup {
    let comparison = drawable(row.comparison);
    let class = row.comparison.map_or("", |comparison| Mark::of(comparison).class);
    html! {
        text x=(SIDE) y=(px(y + 4.5)) { (middle(&plain(&row.name), NAME)) }
        @if let Some(comparison) = comparison {
            @let Mark { shape, .. } = Mark::of(comparison);
            g class={ "row " (class) } {
                @if let Some([low, high]) = comparison.printed_interval() {
                    @let [from, to] = [low, high].map(|end| x(panel, end));
                    path.ci d=(format!("M{from:.1} {y:.1}H{to:.1}")) {}
                    @if to - from >= LEAST_WITH_CAPS {
                        path.ci d=(format!("M{from:.1} {:.1}v10M{to:.1} {:.1}v10", y - 5.0, y - 5.0)) {}
                    }
                }
                path.g d=(outline(shape)) transform={ "translate(" (px(x(panel, comparison.estimate))) " " (px(y)) ")" } {}
            }
        }
        text x=(px(RIGHT + 18.0)) y=(px(y + 4.5)) {
            tspan class={ "b " (class) } { (plain(&row.claim)) }
            @if !row.interval.is_empty() { tspan.s dx="7" { (plain(&row.interval)) } }
        }
    }
}

/// The first place that has trials which count.
fn place<'c, 'a>(content: &'c Content<'a>) -> Option<(&'c PlaceCells<'a>, Values)> {
    content.places.iter().find_map(|place| Some((place, Values::over(place.values(), 0.98)?)))
}

fn trials(content: &Content<'_>) -> Option<Markup> {
    let (place, scale) = place(content)?;
    let cells = content.look.in_order(&place.cells, &content.brief);
    let unit = unit_of(place.unit, scale.high);
    let what = format!(
        "{}: trials in chronological order, {} … {} {}, blocks 1 to {}",
        clean(&place.title(true)),
        unit.write(scale.low),
        unit.write(scale.high),
        unit.name,
        place.blocks
    );
    let height = STRIP * cells.len() as f64 + 10.0;
    Some(framed(content, &what, &what, height, |top| {
        html! {
            @for (at, cell) in cells.iter().enumerate() {
                @let y = top + 10.0 + STRIP * at as f64;
                text x=(SIDE) y=(px(y + 0.5 * STRIP + 4.0)) { (middle(&content.look.cell_text(cell), NAME)) }
                svg x=(px(LEFT)) y=(px(y)) width=(px(WIDTH - LEFT - SIDE)) height=(px(STRIP - 4.0)) viewBox="0 0 1000 \
                    100"
                    preserveAspectRatio="none" class={ "st " (content.look.class(place, cell.variant)) } {
                    (strips::marks(place, scale, cell))
                }
            }
        }
    }))
}

fn distributions(content: &Content<'_>) -> Option<Markup> {
    let (place, _) = place(content)?;
    let scale = Values::over(place.values(), 0.99)?;
    let unit = unit_of(place.unit, scale.high);
    let what = format!("{}: share of trials at or below each value, in {}", clean(&place.title(true)), unit.name);
    let cells = content.look.in_order(&place.cells, &content.brief);
    let class =
        |variant: &str| outstanding(&content.look, content.look.table_of(place.workload, place.condition), variant);
    let named: Vec<_> = cells.iter().filter(|cell| class(cell.variant) != curves::GREY).collect();
    let extent = WIDTH - 2.0 * SIDE - 60.0;
    Some(framed(content, &what, &what, CURVES + 60.0, |top| {
        let (left, top) = (SIDE + 40.0, top + 14.0);
        html! {
            @for value in scale.ticks_in(unit.size, TICKS) {
                @let at = left + extent * scale.at(value);
                path.tick d=(format!("M{at:.1} {top:.1}v{CURVES:.1}")) {}
                text.s.m x=(px(at)) y=(px(top + CURVES + 16.0)) { (unit.tick(value)) }
            }
            @for share in [0.0, 0.5, 1.0] {
                @let y = top + CURVES * (1.0 - share);
                path.tick d=(format!("M{left:.1} {y:.1}h{extent:.1}")) {}
                text.s.e x=(px(left - 6.0)) y=(px(y + 4.0)) { (format!("{:.0} %", 100.0 * share)) }
            }
            svg.cv x=(px(left)) y=(px(top)) width=(px(extent)) height=(px(CURVES)) viewBox="0 0 1000 \
                1000" preserveAspectRatio="none" {
                @for cell in &cells { path class=(class(cell.variant)) d=(curves::of_cell(cell, &scale)) {} }
            }
            @for (at, cell) in named.iter().enumerate() {
                @let from = left + 250.0 * at as f64;
                path class={ "k " (class(cell.variant)) } d=(format!("M{from:.1} {:.1}h18", top + CURVES + 38.0)) {}
                text x=(px(from + 24.0)) y=(px(top + CURVES + 42.0)) { (middle(&content.look.cell_text(cell), NAME)) }
            }
        }
    }))
}
