//! What was built at what cost, and what could not be built and why. Costs are those of building, as measured when
//! each build was made; nothing about the programs' own speed stands here.

use crate::format::{bytes, duration, waiting_time};
use crate::grid::{Flush, Grid};
use crate::paint::{Ink, Page, Piece};
use crate::text::{clean, foreign};
use bakeoff_analysis::findings::Findings;
use bakeoff_model::metric::value;
use bakeoff_model::record::{BuildLine, BuildOutcome};

/// Durations from here on are written in minutes.
const MINUTES_FROM_S: f64 = 100.0;

/// The table of builds, then each failed one in detail; nothing if nothing is built.
pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    if findings.builds.is_empty() {
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
    findings.builds.iter().for_each(|build| grid.row(cells(build)));
    grid.print(page, columns);
    findings.builds.iter().for_each(|build| failed(build, page, columns));
}

/// Whether the build behind a variant failed.
pub(crate) fn unbuilt(findings: &Findings, variant: &str) -> bool {
    let failed = findings.builds.iter().filter(|build| build.outcome != BuildOutcome::Built);
    failed.into_iter().any(|build| build.variants.iter().any(|name| name == variant))
}

fn names(build: &BuildLine) -> String {
    clean(&build.variants.join(", "))
}

fn cells(build: &BuildLine) -> Vec<Piece> {
    let made = match (&build.outcome, build.cached) {
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
    let BuildOutcome::Failed { layer, why, tail, log } = &build.outcome else { return };
    let summary = format!("not built: {}: layer {}: {}", names(build), clean(layer), clean(why));
    page.paragraph(&summary, columns, 2, Ink::Worse);
    for line in tail {
        page.line(vec![Piece::new(format!("  | {}", foreign(line, columns.saturating_sub(4))), Ink::Aside)]);
    }
    if let Some(log) = log {
        page.line(vec![Piece::plain(format!("  whole log: {}", clean(log)))]);
    }
}
