//! The forest plot: a table with a row for each variant, the best first, and in its cells a drawing of estimate and interval on
//! one axis. Text stays text; places are per cent of a cell, so that the axis stretches and signs never do. The words are the
//! screen's.

use crate::mark::{Mark, sign};
use crate::scale::{Axis, Span, Tick};
use crate::text::{markup, name, plain, variant_id};
use bakeoff_judge::findings::{Comparison, Findings, Table, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_report::draw::paint::Ink;
use bakeoff_report::text;
pub(crate) use bakeoff_report::words::drawable;
use bakeoff_report::words::{Wording, counted};
use bakeoff_report::{About, Amount, Brief, BriefRow, Cause};
use maud::{Markup, html};

/// More workloads and conditions than these stand in a table of ratios, without a drawing for each.
const PANELS: usize = 3;
/// Ticks of a wide drawing, and of a narrow one.
pub(crate) const WIDE: usize = 7;
pub(crate) const NARROW: usize = 3;
/// Of more variants the middle is folded away.
const ROWS: usize = 40;
/// What is left of them: the first, around the baseline, the last.
const FIRST: usize = 10;
const AROUND: usize = 3;
const LAST: usize = 5;

/// From end to end.
pub(crate) fn span(comparison: &Comparison) -> Span {
    let ends = comparison.printed_interval().into_iter().flatten();
    let (low, high) = ends.fold((comparison.estimate, comparison.estimate), |(l, h), end| (l.min(end), h.max(end)));
    Span { low, high }
}

/// One drawing that all rows share: its axis, and what lies behind every row.
pub(crate) struct Panel<'a> {
    id: String,
    pub(crate) title: String,
    pub(crate) axis: Axis,
    twin: Option<&'a Comparison>,
    /// The most ticks that there is room for.
    ticks: usize,
    /// The comparisons, by variant.
    rows: Vec<(&'a str, &'a Comparison)>,
}

impl<'a> Panel<'a> {
    pub(crate) fn new(
        id: String,
        title: String,
        margin: f64,
        twin: Option<&'a Comparison>,
        rows: Vec<(&'a str, &'a Comparison)>,
    ) -> Self {
        let drawn = rows.iter().map(|(_, comparison)| *comparison).chain(twin);
        let spans: Vec<Span> = drawn.filter_map(|comparison| drawable(Some(comparison))).map(span).collect();
        Self { id, title, axis: Axis::over(&spans, margin), twin, ticks: WIDE, rows }
    }

    /// The same with room for this number of ticks.
    pub(crate) fn with_ticks(self, ticks: usize) -> Self {
        Self { ticks, ..self }
    }

    pub(crate) fn of(&self, variant: &str) -> Option<&'a Comparison> {
        self.rows.iter().find(|(name, _)| *name == variant).map(|(_, comparison)| *comparison)
    }

    /// The twin's interval, if it is drawn.
    pub(crate) fn noise(&self) -> Option<[f64; 2]> {
        drawable(self.twin).and_then(Comparison::interval)
    }

    /// Whether there is anything to draw.
    pub(crate) fn is_drawn(&self) -> bool {
        self.rows.iter().any(|(_, comparison)| drawable(Some(comparison)).is_some())
    }

    /// What lies behind each row, once.
    pub(crate) fn behind(&self) -> Markup {
        let [begin, end] = self.axis.margin();
        html! {
            g id=(self.id) {
                rect.band x=(pc(begin)) width=(pc(end - begin)) height="100%" {}
                @if let Some([low, high]) = self.noise() {
                    @let (low, high) = (self.axis.at(low), self.axis.at(high));
                    rect.noise x=(pc(low)) width=(pc(high - low)) height="100%" {}
                }
                // The noise may cover the margin, and must not hide it.
                @for at in [begin, end] { line.edge x1=(pc(at)) x2=(pc(at)) y2="100%" {} }
                @for Tick { at, .. } in self.axis.at_most(self.ticks) { line.tick x1=(pc(at)) x2=(pc(at)) y2="100%" {} }
                line.zero x1=(pc(self.axis.at(1.0))) x2=(pc(self.axis.at(1.0))) y2="100%" {}
                @for (is_cut, at) in self.axis.cut.into_iter().zip([0.0, 100.0]) {
                    @if is_cut { line.cut x1=(pc(at)) x2=(pc(at)) y2="100%" {} }
                }
            }
        }
    }

    /// The labels of the ticks.
    pub(crate) fn scale(&self) -> Markup {
        html! {
            svg.ax aria-hidden="true" {
                @for Tick { at, label, is_minor } in self.axis.at_most(self.ticks) {
                    text x=(pc(at)) y="100%" dy="-5" text-anchor="middle" class=[is_minor.then_some("m")] { (label) }
                }
            }
        }
    }

    /// A row's drawing.
    pub(crate) fn row(&self, comparison: Option<&Comparison>, class: &str) -> Markup {
        html! {
            svg.p aria-hidden="true" {
                use href={ "#" (self.id) } {}
                @if let Some(comparison) = drawable(comparison) { (self.drawn(comparison, class)) }
            }
        }
    }

    /// Caps of a shorter interval would make another shape of its sign.
    fn least_with_caps(&self) -> f64 {
        if self.ticks > NARROW { 2.2 } else { 7.0 }
    }

    fn drawn(&self, comparison: &Comparison, class: &str) -> Markup {
        let Mark { class: own, shape } = Mark::of(comparison);
        let class = if class.is_empty() { own } else { class };
        let at = self.axis.at(comparison.estimate);
        let is_beyond = self.axis.is_beyond(comparison.estimate);
        html! {
            g class={ "row " (class) } {
                @if let Some(ends) = comparison.printed_interval().filter(|_| !is_beyond) {
                    line.ci x1=(pc(self.axis.at(ends[0]))) x2=(pc(self.axis.at(ends[1]))) y1="50%" y2="50%" {}
                    @let extent = self.axis.at(ends[1]) - self.axis.at(ends[0]);
                    @for end in ends.into_iter().filter(|_| extent >= self.least_with_caps()) { use href="#cap" x=(pc(self.axis.at(end))) y="50%" {} }
                }
                use class="g" href={ "#" (shape) } x=(pc(at)) y="50%" {}
            }
        }
    }
}

/// Per cent, as an attribute has them.
pub(crate) fn pc(at: f64) -> String {
    format!("{:.2}%", at)
}

/// The whole plot.
pub(crate) struct Forest<'a> {
    pub(crate) brief: &'a Brief<'a>,
    pub(crate) findings: &'a Findings,
    pub(crate) causes: &'a [Cause],
}

impl<'a> Forest<'a> {
    /// The panel of the rows, and those of workloads and conditions, where there are few.
    pub(crate) fn panels(&self, about: &About<'a>) -> (Panel<'a>, Vec<Panel<'a>>) {
        let margin = self.findings.method.margin;
        let compared = |row: &BriefRow<'a>| Some((row.variant, row.comparison?));
        let rows = self.brief.rows.iter().filter_map(compared).collect();
        let tables: Vec<&Table> =
            self.findings.tables.iter().filter(|t| t.metric == self.findings.method.deciding_metric).collect();
        let has_conditions = tables.iter().any(|table| table.condition != about.condition);
        let has_workloads = tables.iter().any(|table| Some(&table.workload) != tables.first().map(|t| &t.workload));
        let title = match about.workloads.as_slice() {
            [_] if has_conditions && !has_workloads => about.condition.to_owned(),
            [one] => (*one).to_owned(),
            [_, _] => "both workloads".to_owned(),
            several => format!("all {} workloads", several.len()),
        };
        let main = Panel::new("bg".to_owned(), title, margin, about.twin, rows);
        // What the main panel shows is not drawn again.
        let is_main = |table: &&Table| about.workloads == [&table.workload] && table.condition == about.condition;
        let others = tables.iter().copied().filter(|table| !is_main(table) && tables.len() > 1);
        let small = others.enumerate().map(|(at, table)| {
            let title = match (has_workloads, has_conditions) {
                (true, true) => format!("{}, {}", table.workload, table.condition),
                (false, _) => table.condition.clone(),
                (true, false) => table.workload.clone(),
            };
            let rows = table.rows.iter().filter_map(|row| Some((row.variant.as_str(), row.comparison.as_ref()?)));
            let twin = table.noise_floor.as_ref().and_then(|row| row.comparison.as_ref());
            Panel::new(format!("bg{at}"), title, margin, twin, rows.collect()).with_ticks(NARROW)
        });
        let mut small: Vec<Panel<'a>> = small.collect();
        share(&mut small);
        (main, small)
    }

    /// As a table; nothing where there is nothing to compare.
    pub(crate) fn table(&self) -> Markup {
        let Some(about) = &self.brief.about else { return html! {} };
        if self.brief.rows.len() < 2 {
            return html! {};
        }
        let (main, small) = self.panels(about);
        let is_map = small.len() > PANELS;
        let shown: &[Panel<'a>] = if is_map { &[] } else { &small };
        let folded = folded(&self.brief.rows, self.baseline());
        let rows = |is_folded: bool| {
            html! {
                table.forest.narrow[self.causes.is_empty()] {
                    @if !is_folded { caption { (self.caption(about)) } }
                    (self.head(about, &main, shown))
                    tbody {
                        @for (row, _) in self.brief.rows.iter().zip(&folded).filter(|(_, folded)| **folded == is_folded) {
                            (self.row(about, row, &main, shown))
                        }
                    }
                }
            }
        };
        html! {
            svg.defs aria-hidden="true" { defs { (main.behind()) @for panel in shown { (panel.behind()) } } }
            (rows(false))
            @if folded.contains(&true) {
                details {
                    @let more = folded.iter().filter(|folded| **folded).count();
                    summary { (counted(more as u32, "more variant")) " between these" }
                    (rows(true))
                }
            }
            (key(self.findings, about))
            @if is_map { (self.map(about, &small)) }
        }
    }

    fn caption(&self, about: &About<'_>) -> Markup {
        let metric = self.brief.metric.as_ref().map_or("", |(metric, _)| metric.as_str());
        let confidence = bakeoff_report::format::percent(self.findings.method.confidence);
        html! {
            (metric) " against " (name(self.baseline())) ", with " (confidence) " intervals"
            @if self.findings.tables.iter().any(|table| table.condition != about.condition) {
                " under " (name(about.condition))
            }
            "; the best first"
        }
    }

    fn baseline(&self) -> &'a str {
        self.findings.variants.first().map_or("", |variant| variant.name.as_str())
    }

    fn head(&self, about: &About<'_>, main: &Panel<'_>, small: &[Panel<'_>]) -> Markup {
        let wording = Wording::of(about.unit, about.better);
        let [better, worse] = [Verdict::Faster, Verdict::Slower].map(|verdict| wording.verdict(verdict));
        let is_cost = about.better == Direction::Less;
        let [left, right] = if is_cost { [better, worse] } else { [worse, better] };
        html! {
            thead {
                tr {
                    th scope="col" { "variant" }
                    th.num scope="col" { (name(&main.title)) }
                    th.pl.big scope="col" {
                        span.dir { span { (sign("m-less", "q")) (left) } span { (right) (sign("m-more", "q")) } }
                        (main.scale())
                    }
                    @for panel in small {
                        th.pl.s scope="col" { span.wl { (name(&panel.title)) } (panel.scale()) }
                    }
                    @if !self.causes.is_empty() { th.why scope="col" { "cause found" } }
                }
            }
        }
    }

    fn row(&self, about: &About<'_>, row: &BriefRow<'_>, main: &Panel<'_>, small: &[Panel<'_>]) -> Markup {
        let is_baseline = row.variant == self.baseline();
        let is_lost = row.comparison.is_none() && !is_baseline;
        let twin = |panel: &Panel<'_>| panel.row(panel.twin, "twin");
        html! {
            tr.base[is_baseline].lost[is_lost] data-v=[variant_id(self.findings, row.variant)] {
                th scope="row" { (markup(&row.name)) @if is_baseline && main.twin.is_some() { small { "and its twin" } } }
                td.num { (claim(row)) }
                td.pl.big {
                    @if is_baseline { (twin(main)) } @else { (main.row(row.comparison, "")) }
                    @if let Some(c) = drawable(row.comparison).filter(|c| main.axis.is_beyond(c.estimate)) {
                        span.far.left[c.estimate < 1.0] { (plain(&Amount::of(c, about.unit, about.better).claim)) }
                    }
                }
                @for panel in small {
                    @let comparison = panel.of(row.variant);
                    td.pl.s {
                        @if is_baseline { (twin(panel)) } @else { (panel.row(comparison, "")) }
                        @if let Some(comparison) = comparison {
                            span.sr { (name(&panel.title)) ": " (in_words(comparison, about)) }
                        }
                    }
                }
                @if !self.causes.is_empty() { td.why { (self.cause(row.variant)) } }
            }
        }
    }

    /// What explains how a variant differs, if anything does.
    fn cause(&self, variant: &str) -> Markup {
        let what = self.causes.iter().find(|cause| cause.variant == variant).map(|cause| name(&cause.what));
        html! { @if let Some(what) = what { a.chip href="#why" { (what) } } }
    }

    /// Ratios of all workloads and conditions, with the same signs.
    fn map(&self, about: &About<'_>, small: &[Panel<'_>]) -> Markup {
        html! {
            details.map open[small.len() <= 12] {
                summary { "Each of the " (small.len()) " workloads and conditions" }
                div.scroll tabindex="0" role="region" aria-label="Each workload and condition" {
                    table.heat {
                        thead { tr {
                            th scope="col" { "variant" }
                            @for panel in small { th.num scope="col" { (name(&panel.title)) } }
                        } }
                        tbody {
                            @for row in self.brief.rows.iter().filter(|row| row.comparison.is_some()) {
                                tr data-v=[variant_id(self.findings, row.variant)] {
                                    th scope="row" { (markup(&row.name)) }
                                    @for panel in small {
                                        @match panel.of(row.variant) {
                                            Some(comparison) => {
                                                @let mark = Mark::of(comparison);
                                                td class={ "num " (mark.class) } {
                                                    (sign(mark.shape, mark.class))
                                                    (plain(&Amount::of(comparison, about.unit, about.better).claim))
                                                }
                                            }
                                            None => { td.num { "–" } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A comparison in the screen's words.
pub(crate) fn in_words(comparison: &Comparison, about: &About<'_>) -> String {
    let Amount { claim, interval, .. } = Amount::of(comparison, about.unit, about.better);
    plain(&text![claim, interval.bracketed()])
}

/// A row's claim and interval.
pub(crate) fn claim(row: &BriefRow<'_>) -> Markup {
    let class = match row.ink {
        Ink::Better => "better",
        Ink::Worse if row.comparison.is_some_and(|c| c.verdict == Verdict::Slower) => "worse",
        Ink::Worse => "doubt",
        Ink::Aside => "quiet",
        _ => "",
    };
    html! {
        b class=(class) {
            @if row.comparison.is_none() && row.n.is_none() && class == "doubt" { (sign("m-none", "doubt")) }
            (plain(&row.claim))
        }
        @if !row.interval.is_empty() { " " small { (plain(&row.interval)) } }
    }
}

/// What the signs mean.
fn key(findings: &Findings, about: &About<'_>) -> Markup {
    let has_twin = about.twin.is_some();
    let [better, worse] = match about.better {
        Direction::Less => ["m-less", "m-more"],
        Direction::More => ["m-more", "m-less"],
    };
    let words = [
        (better, "better", "better"),
        (worse, "worse", "worse"),
        ("m-same", "same", "equivalent"),
        ("m-small", "same", "negligible"),
        ("m-open", "open", "undecided"),
    ];
    html! {
        p.key {
            @for (shape, class, word) in words { span { (sign(shape, class)) (word) } " " }
            span { svg.k aria-hidden="true" { rect.band width="100%" height="100%" {} } (bakeoff_report::margin(findings)) } " "
            @if has_twin {
                span {
                    svg.k aria-hidden="true" {
                        rect.band width="100%" height="100%" {}
                        rect.noise x="30%" width="40%" height="100%" {}
                    }
                    "noise: the baseline against its twin"
                }
            }
        }
    }
}

/// Panels next to each other have one scale, so that they can be compared.
fn share(panels: &mut [Panel<'_>]) {
    let drawn = |panel: &Panel<'_>| {
        let all = panel.rows.iter().map(|(_, comparison)| *comparison).chain(panel.twin).collect::<Vec<_>>();
        all.into_iter().filter_map(|comparison| drawable(Some(comparison)).map(span)).collect::<Vec<Span>>()
    };
    let spans: Vec<Span> = panels.iter().flat_map(drawn).collect();
    for panel in panels {
        panel.axis = panel.axis.with_room_for(&spans);
    }
}

/// Which rows are folded away, where there are many.
fn folded(rows: &[BriefRow<'_>], baseline: &str) -> Vec<bool> {
    let place = rows.iter().position(|row| row.variant == baseline);
    let compared = rows.iter().filter(|row| row.comparison.is_some() || row.variant == baseline).count();
    let is_kept = |at: usize| {
        let is_near = place.is_some_and(|place| at.abs_diff(place) <= AROUND);
        rows.len() <= ROWS || at < FIRST || at + LAST >= compared || is_near
    };
    (0..rows.len()).map(|at| !is_kept(at)).collect()
}
