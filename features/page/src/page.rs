//! The page: the answer and what it rests on come first and fit on one screen, then the parts that explain it, in a
//! fixed order. Every sentence was made in `bakeoff_report`; here is only where it stands.

use crate::cells::{PlaceCells, places};
use crate::document::document;
use crate::forest::Forest;
use crate::grounds::{Ground, grounds};
use crate::items::{cards, items};
use crate::look::Look;
use crate::text::{markup, plain};
use crate::{curves, data, effects, figures, latency, mark, strips, tradeoff};
use bakeoff_command::{CommandError, Concluded};
use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::Item;
use bakeoff_report::draw::rendered::Rendered;
use bakeoff_report::draw::text::unglue;
use bakeoff_report::format::date;
use bakeoff_report::provenance::Paragraph;
use bakeoff_report::words::counted;
use bakeoff_report::{Brief, Context, Doubt, TableText, Weight, again, brief, drawn, provenance, table_texts};
use maud::{Markup, html};

/// Doubts on the first screen; the others are counted.
const DOUBTS: usize = 5;

/// Wider pages have pictures made of signs.
const WITHOUT_PICTURES: usize = 99;

/// All that a page is made of.
pub(crate) struct Content<'a> {
    pub(crate) concluded: &'a Concluded<'a>,
    pub(crate) brief: Brief<'a>,
    /// Sections of the report by name, without pictures; a name may come more than once.
    sections: Vec<(&'static str, Vec<Item>)>,
    tables: Vec<TableText>,
    notes: Vec<Rendered>,
    pub(crate) look: Look<'a>,
    pub(crate) places: Vec<PlaceCells<'a>>,
}

impl<'a> Content<'a> {
    pub(crate) fn of(concluded: &'a Concluded<'a>) -> Self {
        let Concluded { record, findings, causes, pages, time_unit, .. } = *concluded;
        let metric = &findings.method.deciding_metric;
        let look = Look { findings, workloads: &record.study.workloads, conditions: &record.study.conditions, metric };
        let mut notes = Notes::default();
        let sections = drawn(findings, pages, &mut notes, WITHOUT_PICTURES, time_unit);
        Self {
            sections: sections.into_iter().map(|(name, page)| (name, page.into_items())).collect(),
            tables: table_texts(findings, time_unit, &mut notes),
            notes: notes.into_texts(),
            concluded,
            brief: brief(findings, Context { causes, time_unit, ..Context::default() }),
            look,
            places: places(record, findings, metric),
        }
    }

    fn section(&self, name: &str) -> Vec<Item> {
        self.sections.iter().filter(|(known, _)| *known == name).flat_map(|(_, items)| items.clone()).collect()
    }

    /// Sections of features: causes and what they rest on.
    fn of_features(&self) -> Vec<Item> {
        let own = |name: &str| self.concluded.pages.iter().any(|page| page.name == name);
        self.sections.iter().filter(|(name, _)| own(name)).flat_map(|(_, items)| items.clone()).collect()
    }
}

/// Returns the whole page. With a `note` above everything it is a snapshot, and reloads itself.
///
/// # Errors
/// If a value has no form in JSON.
pub(crate) fn page(concluded: &Concluded<'_>, note: Option<&str>) -> Result<String, CommandError> {
    let record = concluded.record.in_parts();
    let concluded = &Concluded { record: &record, ..*concluded };
    let content = Content::of(concluded);
    let data = data::json(&content.look, concluded.record, &content.places)?;
    let title = plain(&content.brief.question);
    Ok(document(&title, &body(&content, note), Some(&data), note.is_some()))
}

fn body(content: &Content<'_>, note: Option<&str>) -> Markup {
    let Content { concluded, brief, look, places, .. } = content;
    let findings = concluded.findings;
    let forest = Forest { brief, findings, causes: concluded.causes };
    let sections = sections(content);
    html! {
        a.skip href="#main" { "To the answer" }
        svg.defs aria-hidden="true" { defs { (mark::definitions()) } }
        (header(findings, brief, note))
        main #main {
            section.top aria-label="The answer" { (self::answer_and_facts(content)) (believe(content)) }
            section #forest aria-label="All variants against the baseline" { (forest.table()) }
            nav aria-label="Sections" {
                @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } " " }
            }
            div #tools hidden {}
            @for (id, title, body) in &sections { section id=(id) { h2 { (title) } (body) } }
        }
        footer {
            "Made by bakeoff " (concluded.record.study.bakeoff) " from "
            (counted(concluded.record.once().trials.len() as u32, "trial"))
            ". This file is self-contained and loads nothing."
        }
        @if places.is_empty() && look.workloads.is_empty() { p.sr { "No trial." } }
    }
}

fn header(findings: &Findings, brief: &Brief<'_>, note: Option<&str>) -> Markup {
    html! {
        header {
            @if let Some(note) = note { p.note role="status" { (note) } }
            p.id {
                b { "Bakeoff" } " "
                span { (clean(&findings.study)) ", plan " (clean(&findings.plan)) } " "
                @if findings.started_unix_s > 0.0 { span { (date(findings.started_unix_s)) } " " }
                @for place in findings.places.iter().filter(|place| place.cpus > 0).take(1) { span { (place.cpus) " × " (clean(&place.cpu)) } }
            }
            h1 { (markup(&brief.question)) }
        }
    }
}

fn answer_and_facts(content: &Content<'_>) -> Markup {
    let Content { brief, .. } = content;
    html! {
        div.answer {
            p.lead { (markup(&brief.answer)) }
            @if !brief.facts.is_empty() {
                ul.facts { @for fact in &brief.facts { li { (markup(&fact.text)) } } }
            }
            p.status { (markup(&Rendered::joined(brief.status.iter().cloned(), "; "))) }
        }
    }
}

/// Doubts by their weight, then what holds.
fn believe(content: &Content<'_>) -> Markup {
    let Content { brief, concluded, .. } = content;
    let grounds = grounds(concluded.findings, concluded.record, brief.about.as_ref());
    let (grave, part): (Vec<&Doubt>, Vec<&Doubt>) = brief.doubts.iter().partition(|doubt| doubt.weight != Weight::Part);
    let shown = grave.len().min(DOUBTS);
    let of_part = part.len().min(DOUBTS - shown);
    let rest = brief.doubts.len() - shown - of_part;
    let ground = |ground: &Ground, sign: &str, class: &str| {
        html! {
            li class=(class) {
                svg.i aria-hidden="true" { use href={ "#" (sign) } x="6" y="6" {} }
                b { (markup(&ground.title)) }
                @for detail in &ground.details { small { (markup(detail)) } }
            }
        }
    };
    html! {
        aside aria-label="Can I believe it?" {
            h2 { "Can I believe it?" }
            ul.believe {
                @for doubt in grave[..shown].iter().chain(&part[..of_part]) { (doubt_line(doubt)) }
                @if rest > 0 { li { a href="#doubts" { (rest) " more doubts" } } }
                @for one in grounds.iter().filter(|ground| !ground.is_full) { (ground(one, "i-part", "part")) }
                @for one in grounds.iter().filter(|ground| ground.is_full) { (ground(one, "i-full", "full")) }
            }
        }
    }
}

fn doubt_line(doubt: &Doubt) -> Markup {
    let (sign, class, meaning) = match doubt.weight {
        Weight::Alarm | Weight::Look => ("i-look", "look", "look here: "),
        Weight::Part => ("i-part", "", "holds in part: "),
    };
    html! {
        li class=(class) {
            svg.i aria-hidden="true" { use href={ "#" (sign) } x="6" y="6" {} }
            span.sr { (meaning) }
            b { (markup(&doubt.text)) }
        }
    }
}

/// Everything below the first screen: an id, a title, and the section, where there is anything in it.
fn sections(content: &Content<'_>) -> Vec<(&'static str, &'static str, Markup)> {
    let Content { concluded, brief, tables, look, places, .. } = content;
    let findings = concluded.findings;
    let mut sections = vec![];
    let of_effects = content.section("effects");
    if !of_effects.is_empty() {
        sections.push(("options", "Which option mattered", effects::effects(findings, &of_effects)));
    }
    sections.push(("all", "All figures", figures::figures(look, tables)));
    sections.push(("trials", "Trials over time", strips::strips(look, places, brief)));
    if places.iter().any(|place| place.values().next().is_some()) {
        sections.push(("dist", "Distributions", distributions(content)));
    }
    let nodes = content.section("nodes");
    if !nodes.is_empty() {
        sections.push(("nodes", "Node by node", items(&nodes)));
    }
    let why = content.of_features();
    if !why.is_empty() {
        sections.push(("why", "Why", cards(&why)));
    }
    let builds = [content.section("building"), content.section("builds")].concat();
    if !builds.is_empty() {
        let body = html! { (tradeoff::charts(findings, brief)) (items(&builds)) };
        sections.push(("builds", "Building it", body));
    }
    sections.push(("doubts", "Doubts", doubts(content)));
    sections.push(("repeat", "How the study ran, and how to repeat it", repeat(content)));
    sections
}

fn distributions(content: &Content<'_>) -> Markup {
    let Content { concluded, brief, look, places, .. } = content;
    let conditions = content.section("conditions");
    html! {
        (curves::distributions(look, places, brief))
        (latency::charts(look, concluded.record))
        (items(&content.section("latencies")))
        @if !conditions.is_empty() { details { summary { "Conditions: controlled, observed, or not \
            available" } (items(&conditions)) } }
    }
}

/// All of them: those of the first screen by weight, and every footnote.
fn doubts(content: &Content<'_>) -> Markup {
    let Content { brief, notes, .. } = content;
    html! {
        @if brief.doubts.is_empty() && notes.is_empty() { p.quiet { "There are no doubts." } }
        @if !brief.doubts.is_empty() {
            ul.believe {
                @for doubt in &brief.doubts { (doubt_line(doubt)) }
            }
        }
        @if !notes.is_empty() {
            ol.notes { @for (at, note) in notes.iter().enumerate() { li id={ "n" (at + 1) } { (markup(note)) } } }
        }
        (items(&content.section("outputs")))
        (items(&content.section("failed")))
    }
}

/// How it was judged, where, and the commands that repeat it.
fn repeat(content: &Content<'_>) -> Markup {
    let Concluded { record, findings, .. } = content.concluded;
    let lines: Vec<String> = again(record, findings).lines().map(clean).collect();
    html! {
        @for Paragraph { what, text } in provenance::paragraphs(findings) { p.item { b { (what) } ": " (markup(&text)) } }
        pre.cmd tabindex="0" { (unglue(&lines.join("\n"))) }
    }
}
