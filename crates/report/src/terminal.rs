//! The page for people: the answer first, then what it rests on. It only puts the parts in their order.

use crate::caveats::caveats;
use crate::draw::Style;
use crate::draw::notes::Notes;
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::clean;
use crate::format::TimeUnit;
use crate::screen::{self, Cause};
use crate::words::listed;
use crate::{conditions, effects, failures, latencies, metrics, outputs, places, provenance};
use bakeoff_judge::findings::Findings;
use bakeoff_model::grouped::grouped;

/// Of more combinations that are left out for one reason, only the number is printed.
const LEFT_OUT_MAX: usize = 8;

/// The findings as a page of text: the answer, what was printed if not the same, the tables with their noise floor,
/// latencies, evidence, conditions, footnotes, builds, failures, and how, where and when all of it came about. It ends
/// in a line feed.
pub fn terminal(findings: &Findings, style: Style) -> String {
    terminal_with(findings, &[], None, style, None)
}

/// How a section of a feature is drawn.
#[derive(Debug, Clone, Copy)]
pub struct SectionPage {
    /// The section's name in [`Findings::sections`].
    pub name: &'static str,
    /// Draws it below the tables, to a width. Levels against each other ([`crate::levels`]) are its to place.
    pub draw: fn(&Findings, &mut Page, &mut Notes, usize),
    /// What it found to explain differences, in a few words each, for the screen.
    pub causes: fn(&Findings) -> Vec<Cause>,
    /// Whether it stands below the doubts, and not directly below the tables.
    pub below_doubts: bool,
}

/// The names of the page's sections, in their order; those of features come besides.
pub const SECTIONS: [&str; 11] = [
    "answer",
    "outputs",
    "effects",
    "tables",
    "nodes",
    "latencies",
    "conditions",
    "building",
    "doubts",
    "failed",
    "provenance",
];

/// The same page, with sections of features; or only the section of that name. Times are in the unit asked for.
pub fn terminal_with(
    findings: &Findings,
    sections: &[SectionPage],
    only: Option<&str>,
    style: Style,
    time_unit: Option<TimeUnit>,
) -> String {
    let mut page = Page::default();
    let is_wanted = |name: &str| only.is_none_or(|only| only == name);
    let drawn = drawn(findings, sections, &mut Notes::default(), style.width, time_unit);
    let drawn = drawn.into_iter().filter(|(name, _)| is_wanted(name));
    drawn.for_each(|(_, section)| page.append(section));
    if page.is_empty() {
        page.line(vec![Piece::plain(format!("this report has no section {}", only.unwrap_or_default()))]);
    }
    page.print(style.colour)
}

/// Each section on a page, with its name, which may come more than once. All are drawn, whichever are wanted: so
/// footnotes keep their numbers. Names of others are in it as they may be shown on a terminal; a format has to escape
/// them.
pub fn drawn(
    findings: &Findings,
    sections: &[SectionPage],
    notes: &mut Notes,
    width: usize,
    time_unit: Option<TimeUnit>,
) -> Vec<(&'static str, Page)> {
    let mut pages = vec![];
    let mut draw = |name: &'static str, draw: &mut dyn FnMut(&mut Page, &mut Notes)| {
        let mut page = Page::default();
        draw(&mut page, notes);
        pages.push((name, page));
    };
    let causes: Vec<Cause> = sections.iter().flat_map(|section| (section.causes)(findings)).collect();
    draw("answer", &mut |page, notes| opening(findings, &causes, page, notes, width));
    draw("outputs", &mut |page, _| outputs::print(findings, page, width));
    draw("effects", &mut |page, notes| effects::print(findings, false, page, notes, width));
    draw("tables", &mut |page, notes| metrics::print(findings, time_unit, page, notes, width));
    draw("nodes", &mut |page, _| places::print(findings, page, width));
    draw("latencies", &mut |page, _| latencies::print(findings, page, width));
    let there = sections.iter().filter(|section| findings.sections.contains_key(section.name));
    let (below_doubts, below_tables): (Vec<&SectionPage>, Vec<_>) = there.partition(|section| section.below_doubts);
    if below_tables.is_empty() {
        draw("effects", &mut |page, notes| effects::levels(findings, page, notes, width));
    }
    for section in below_tables {
        draw(section.name, &mut |page, notes| (section.draw)(findings, page, notes, width));
    }
    draw("conditions", &mut |page, _| conditions::print(findings, page, width));
    if let Some(building) = &findings.building {
        draw("building", &mut |page, notes| print_building(building, time_unit, page, notes, width));
    }
    draw("doubts", &mut |page, notes| notes.print(page, width));
    for section in below_doubts {
        draw(section.name, &mut |page, notes| (section.draw)(findings, page, notes, width));
    }
    draw("failed", &mut |page, _| failures::print(findings, page, width));
    if let Some(building) = &findings.building {
        draw("failed", &mut |page, _| failures::print(building, page, width));
    }
    draw("provenance", &mut |page, _| provenance::print(findings, page, width));
    pages
}

/// What the screen says: the answer, facts and doubts; and what it is an answer to.
fn opening(findings: &Findings, causes: &[Cause], page: &mut Page, notes: &mut Notes, columns: usize) {
    let (answer, remarks) = screen::said(findings, causes);
    page.paragraph(text![answer, notes.mark(caveats(&findings.caveats))], columns, 0, Ink::Heading);
    remarks.into_iter().for_each(|(text, ink)| page.paragraph(text, columns, 2, ink));
    heading(findings, page, columns);
}

/// What building was measured to cost: a sentence and tables of its own.
fn print_building(
    building: &Findings,
    time_unit: Option<TimeUnit>,
    page: &mut Page,
    notes: &mut Notes,
    columns: usize,
) {
    page.gap();
    let doubts = notes.mark(caveats(&building.caveats));
    let (answer, _) = screen::said(building, &[]);
    page.paragraph(text!["building, also measured: ", answer, doubts], columns, 2, Ink::Heading);
    metrics::print(building, time_unit, page, notes, columns);
}

/// The question, and what the baseline is, or what the names of commands stand for.
fn heading(findings: &Findings, page: &mut Page, columns: usize) {
    page.gap();
    if let Some(question) = &findings.question {
        page.paragraph(format!("question: {}", clean(question)), columns, 2, Ink::Plain);
    }
    for variant in &findings.variants {
        if let Some(command) = variant.run.as_ref().filter(|command| **command != variant.name) {
            page.paragraph(format!("{}: {}", clean(&variant.name), clean(command)), columns, 2, Ink::Plain);
        }
    }
    let Some(baseline) = findings.variants.first().filter(|variant| variant.run.is_none()) else { return };
    let levels: Vec<String> = baseline.levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    if !levels.is_empty() {
        page.paragraph(format!("baseline: {}", clean(&levels.join(" "))), columns, 2, Ink::Plain);
    }
    left_out(findings, page, columns);
}

fn left_out(findings: &Findings, page: &mut Page, columns: usize) {
    for (reason, names) in grouped(findings.excluded.iter().map(|excluded| (&excluded.reason, clean(&excluded.name)))) {
        let which = if names.len() > LEFT_OUT_MAX { format!("{} combinations", names.len()) } else { listed(&names) };
        page.paragraph(format!("left out by the study: {which} ({})", clean(reason)), columns, 2, Ink::Plain);
    }
}
