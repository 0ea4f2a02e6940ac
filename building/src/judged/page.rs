//! What was built at what cost, and what could not be built and why. Costs are those of building, as measured when
//! each build was made; nothing about the programs' own speed stands here.

mod doubts;

pub(crate) use doubts::build_doubts;

use super::kinds_of_doubts::BuildDoubts;
use super::sections::{BUILDS, DOUBTS, section};
use crate::journal::{BuildLine, BuildOutcome};
use crate::trained;
use bakeoff_judge::findings::Findings;
use bakeoff_model::grouped::grouped;
use bakeoff_model::metric::value;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::clean;
use bakeoff_report::format::{bytes, count, duration, waiting_time};
use bakeoff_report::quote;
use std::collections::BTreeSet;

/// Durations from here on are written in minutes.
const MINUTES_FROM_S: f64 = 100.0;

/// The table of builds, sizes of chosen files, what is doubtful, then each failed one in detail; nothing if nothing is built.
pub(crate) fn print(findings: &Findings, page: &mut Page, _: &mut Notes, columns: usize) {
    let (builds, build_doubts): (Vec<BuildLine>, BuildDoubts) = (section(findings, BUILDS), section(findings, DOUBTS));
    if builds.is_empty() {
        return;
    }
    page.gap();
    page.line(vec![Piece::new("builds", Ink::Heading)]);
    let left = |title| (title, Flush::Left);
    let right = |title| (title, Flush::Right);
    let mut grid = Grid::new([
        left("variant"),
        left("made"),
        right("wall"),
        right("CPU"),
        right("peak memory"),
        right("installed"),
    ]);
    builds.iter().for_each(|build| grid.row(cells(build)));
    grid.print(page, columns);
    sizes(&builds, page, columns);
    words(&builds, page, columns);
    profiled(&builds, page, columns);
    if !build_doubts.is_empty() {
        page.gap();
        doubts::print(&build_doubts, page, columns, Some("`bakeoff report --json` shows them"));
    }
    builds.iter().for_each(|build| failed(build, page, columns));
}

/// Sizes of the files that the study chose, one row for each size that a file has.
fn sizes(builds: &[BuildLine], page: &mut Page, columns: usize) {
    let paths: BTreeSet<&String> = builds.iter().flat_map(|build| build.proof.sizes.keys()).collect();
    if paths.is_empty() {
        return;
    }
    page.gap();
    let mut grid = Grid::new([("file", Flush::Left), ("size", Flush::Right), ("variants", Flush::Words)]);
    for path in paths {
        let sizes = builds.iter().filter_map(|build| Some((*build.proof.sizes.get(path)?, build)));
        for (size, of) in grouped(sizes) {
            let who = if of.len() == builds.len() {
                "all".to_owned()
            } else {
                of.iter().map(|build| names(build)).collect::<Vec<_>>().join(", ")
            };
            grid.row(vec![Piece::plain(clean(path)), Piece::plain(bytes(size as f64)), Piece::plain(who)]);
        }
    }
    grid.print(page, columns);
}

/// How far the words of levels came: the proof that a level is what it is called. Builds with the same numbers share a row.
fn words(builds: &[BuildLine], page: &mut Page, columns: usize) {
    let all = builds.iter().flat_map(|build| build.proof.flags.iter().map(move |seen| (seen, build)));
    let mut rows = grouped(all.filter(|(seen, _)| !trained::is_about(seen)));
    if rows.is_empty() {
        return;
    }
    let layers: Vec<&String> = builds.iter().flat_map(|build| &build.layers).map(|layer| &layer.name).collect();
    rows.sort_by_key(|(seen, _)| layers.iter().position(|layer| **layer == seen.layer));
    let has_layers = rows.iter().any(|(seen, _)| seen.layer != rows[0].0.layer);
    let layer = has_layers.then_some(("layer", Flush::Left));
    let titles = [("word", Flush::Left), ("arrived", Flush::Right), ("won", Flush::Right), ("of", Flush::Right)];
    let mut grid = Grid::new(layer.into_iter().chain(titles).chain([("variants", Flush::Words)]));
    for (seen, of) in rows {
        let won = seen.reached.saturating_sub(seen.overridden);
        let numbers = [seen.reached, won, seen.of].map(|number| Piece::plain(count(number)));
        let who = of.iter().map(|build| names(build)).collect::<Vec<_>>().join(", ");
        let mut row = vec![Piece::plain(clean(&seen.flag))];
        row.extend(numbers);
        row.push(Piece::plain(who));
        if has_layers {
            row.insert(0, Piece::plain(clean(&seen.layer)));
        }
        grid.row(row);
    }
    page.gap();
    grid.print(page, columns);
}

/// What trainings made of each build.
fn profiled(builds: &[BuildLine], page: &mut Page, columns: usize) {
    let mut is_first = true;
    for build in builds {
        for used in build.proof.flags.iter().filter_map(trained::used) {
            if is_first {
                page.gap();
                is_first = false;
            }
            let text = format!("{}: {used}{}", names(build), clean(&trained::clause(build)));
            page.paragraph(text, columns, 2, Ink::Plain);
        }
    }
}

fn names(build: &BuildLine) -> String {
    clean(&build.variants.join(", "))
}

fn cells(build: &BuildLine) -> Vec<Piece> {
    let made = match (&build.outcome, build.cached) {
        (BuildOutcome::Failed { .. }, _) if build.failed_as_foreseen().is_some() => Piece::plain("fails"),
        (BuildOutcome::Failed { .. }, _) => Piece::new("failed", Ink::Worse),
        (BuildOutcome::Built, true) => Piece::plain("cached"),
        (BuildOutcome::Built, false) => Piece::plain("built"),
    };
    let cost = |metric, write: fn(f64) -> String| {
        value(metric, &build.cost).map_or(Piece::new("–", Ink::Aside), |x| Piece::plain(write(x)))
    };
    let installed = build.prefix_bytes.map_or(Piece::new("–", Ink::Aside), |size| Piece::plain(bytes(size as f64)));
    vec![Piece::plain(names(build)), made, cost("wall", time), cost("cpu", time), cost("maxrss", bytes), installed]
}

fn time(seconds: f64) -> String {
    if seconds < MINUTES_FROM_S { duration(seconds) } else { waiting_time(seconds) }
}

fn failed(build: &BuildLine, page: &mut Page, columns: usize) {
    let foreseen = build.foreseen.as_ref().map(|foreseen| clean(&foreseen.text));
    let BuildOutcome::Failed { layer, why, tail, log } = &build.outcome else {
        if let Some(text) = foreseen {
            let text = format!("{}: built, although the study expects a failure with `{text}`", names(build));
            page.paragraph(&text, columns, 2, Ink::Worse);
        }
        return;
    };
    if let Some(said) = build.failed_as_foreseen() {
        let summary =
            format!("cannot be built, as the study expects: {}: layer {}: {}", names(build), clean(layer), clean(said));
        return page.paragraph(&summary, columns, 2, Ink::Plain);
    }
    let other = foreseen.map_or_else(String::new, |text| format!("; the study expects a different failure, `{text}`"));
    let summary = format!("not built: {}: layer {}: {}{other}", names(build), clean(layer), clean(why));
    page.paragraph(&summary, columns, 2, Ink::Worse);
    for line in tail {
        quote(page, line, columns);
    }
    if let Some(log) = log {
        page.line(vec![Piece::plain(format!("  full log: {}", clean(log)))]);
    }
}
