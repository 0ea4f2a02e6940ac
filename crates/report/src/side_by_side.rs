//! Two findings side by side: ratio with interval and verdict here and there, and whether the intervals overlap.

use crate::draw::Style;
use crate::draw::grid::{Flush, Grid};
use crate::draw::paint::{Ink, Item, Page, Piece};
use crate::draw::rendered::Rendered;
use crate::draw::text::{clean, glue};
use crate::format::percent;
use crate::provenance::machines;
use crate::words::{self, Wording, counted};
use bakeoff_judge::findings::Findings;
use bakeoff_judge::side_by_side::{Compared, Intervals, Pair, SideBySide};

/// The page: what both are, a table for each workload, condition and metric, and what only one of them has.
pub fn side_by_side(pairs: &SideBySide, here: &Findings, there: &Findings, style: Style) -> String {
    drawn(pairs, here, there, style.width).print(style.colour)
}

/// The same as data, for pages that lay it out their own way.
pub fn side_by_side_items(pairs: &SideBySide, here: &Findings, there: &Findings) -> Vec<Item> {
    drawn(pairs, here, there, usize::MAX).into_items()
}

fn drawn(pairs: &SideBySide, here: &Findings, there: &Findings, columns: usize) -> Page {
    let mut page = Page::default();
    page.paragraph(headline(pairs), columns, 2, Ink::Heading);
    page.gap();
    for (name, findings) in [("here", here), ("there", there)] {
        page.paragraph(text![name, ": ", about(findings)], columns, 2, Ink::Plain);
    }
    differences(here, there).iter().for_each(|text| page.paragraph(text, columns, 2, Ink::Open));
    let same_table = |a: &Pair, b: &Pair| {
        let key = |pair: &Pair| {
            let Compared { workload, condition, metric, .. } = &pair.compared;
            (workload.clone(), condition.clone(), metric.clone())
        };
        key(a) == key(b)
    };
    for pairs in pairs.pairs.chunk_by(same_table) {
        page.gap();
        table(pairs, &mut page, columns);
    }
    page.gap();
    for (list, whose) in [(&pairs.only_here, "here"), (&pairs.only_there, "there")] {
        if !list.is_empty() {
            let names: Vec<String> = list.iter().map(name).collect();
            page.paragraph(format!("only {whose}: {}", names.join("; ")), columns, 2, Ink::Aside);
        }
    }
    let meaning = "overlap: the two intervals have values in common; apart: they do not. This is not a test. \
        Overlapping intervals do not show that the ratios are the same. If intervals do not overlap, this does not \
        show whether the machine, the system or the build is the cause.";
    page.paragraph(meaning, columns, 2, Ink::Aside);
    page
}

fn headline(pairs: &SideBySide) -> String {
    let count = |kind| pairs.pairs.iter().filter(|pair| pair.intervals == kind).count() as u32;
    let (overlap, apart, unknown) = (count(Intervals::Overlap), count(Intervals::Apart), count(Intervals::Unknown));
    if pairs.pairs.is_empty() {
        return "The two findings have no comparison in common.".to_owned();
    }
    let unknown = if unknown > 0 { format!("; no interval in {unknown}") } else { String::new() };
    let total = counted(pairs.pairs.len() as u32, "comparison");
    format!("{total} in both: the intervals overlap in {overlap} and are apart in {apart}{unknown}.")
}

fn about(findings: &Findings) -> Rendered {
    let simulated = if findings.simulated.is_some() { "SIMULATED, " } else { "" };
    let blocks = counted(findings.blocks_finished, "block");
    let (study, plan) = (clean(&findings.study), clean(&findings.plan));
    text![simulated, blocks, " of study ", study, ", plan ", plan, "; ", machines(findings).line()]
}

/// What makes the numbers of the two differ in kind.
fn differences(here: &Findings, there: &Findings) -> Vec<String> {
    let mut said = vec![];
    if here.study != there.study {
        said.push("the two findings come from studies with different names".to_owned());
    }
    let [ours, theirs] = [here, there].map(|findings| &findings.method);
    for (what, ours, theirs) in
        [("confidence", ours.confidence, theirs.confidence), ("margin", ours.margin, theirs.margin)]
    {
        if ours != theirs {
            said.push(format!("{what}: {} here, {} there", glue(&percent(ours)), glue(&percent(theirs))));
        }
    }
    let builds =
        |findings: &Findings| findings.variants.iter().map(|v| (v.name.clone(), v.build.clone())).collect::<Vec<_>>();
    let known: Vec<_> = builds(there);
    let same = builds(here).iter().filter(|build| build.1.is_some() && known.contains(build)).count();
    let all = here.variants.iter().filter(|variant| variant.build.is_some()).count();
    if all > 0 {
        said.push(format!("builds with the same digest in both: {same} of {all}"));
    }
    said
}

fn table(pairs: &[Pair], page: &mut Page, columns: usize) {
    let Some(first) = pairs.first() else { return };
    let Compared { workload, condition, metric, .. } = &first.compared;
    let heading = format!("{} ({}): {}", clean(workload), clean(condition), clean(metric));
    page.paragraph(&heading, columns, 2, Ink::Heading);
    let left = |title: &str| (title.to_owned(), Flush::Left);
    let mut grid = Grid::new(["variant", "here", "verdict", "there", "verdict", "intervals"].map(left));
    for pair in pairs {
        let wording = Wording::of(pair.unit, pair.better);
        let both = [&pair.here, &pair.there].map(|comparison| {
            let verdict = Piece::new(wording.verdict(comparison.verdict), words::ink(comparison.verdict));
            [Piece::plain(words::against_baseline(comparison, 1.0)), verdict]
        });
        let (word, ink) = match pair.intervals {
            Intervals::Overlap => ("overlap", Ink::Plain),
            Intervals::Apart => ("apart", Ink::Open),
            Intervals::Unknown => ("–", Ink::Aside),
        };
        let name = Piece::plain(clean(&pair.compared.variant));
        grid.row([name].into_iter().chain(both.into_iter().flatten()).chain([Piece::new(word, ink)]).collect());
    }
    grid.print(page, columns);
}

fn name(compared: &Compared) -> String {
    let Compared { workload, condition, metric, variant } = compared;
    clean(&format!("{variant} in {metric} of {workload} ({condition})"))
}
