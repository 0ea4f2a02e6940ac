//! What each machine shows, where blocks ran on several: lines of the screen, and a table for each row. It
//! compares nothing.

use crate::draw::grid::{Flush, Grid};
use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::clean;
use crate::format::{fixed, percent, quantity, signed};
use crate::words::{self, Wording, counted, named, subject};
use bakeoff_judge::findings::{ByPlace, Caveat, Findings, Noisy, OnPlace, Scale, Unlike, Verdict};
use bakeoff_model::grouped::grouped;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::TWIN;

/// ` on 8 nodes`, where there are several.
pub(crate) fn on_nodes(findings: &Findings) -> String {
    findings.several_places().map_or(String::new(), |nodes| format!(" on {}", counted(nodes as u32, "node")))
}

/// What the machines call a difference between a thing and itself: `noise of the nodes −0.3 … +0.4 %`, and each noisy one.
pub(crate) fn noise(findings: &Findings, condition: &str, is_terse: bool) -> Option<Vec<String>> {
    findings.several_places()?;
    let twins = findings.by_place.iter().filter(|row| row.variant == TWIN && row.condition == condition);
    let nodes: Vec<(&OnPlace, [f64; 2])> = twins
        .flat_map(|row| &row.places)
        .filter(|one| one.scale == Scale::Ratio)
        .filter_map(|one| Some((one, one.interval?)))
        .collect();
    let noisy: Vec<&str> = noisy(findings).into_iter().map(|one| one.place.as_str()).collect();
    let hull = |takes: &dyn Fn(&OnPlace) -> bool| {
        let own = nodes.iter().filter(|(one, _)| takes(one)).map(|(_, interval)| *interval);
        let [low, high] = own.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
        Some(format!("{} … {} %", signed(100.0 * (low - 1.0), 1), signed(100.0 * (high - 1.0), 1)))
    };
    let of = if is_terse { "noise" } else { "noise of the nodes" };
    let usual = hull(&|one| !noisy.contains(&one.place.as_str())).map(|range| format!("{of} {range}"));
    let each = noisy.iter().filter_map(|name| Some(format!("{} {}", clean(name), hull(&|one| one.place == *name)?)));
    Some(usual.into_iter().chain(each).collect())
}

/// `b is faster on 8 of 8 nodes`.
pub(crate) fn everywhere(findings: &Findings, condition: &str, wording: Wording) -> Vec<String> {
    let Some(nodes) = findings.several_places() else { return vec![] };
    let rows = findings.by_place.iter().filter(|row| row.condition == condition && row.variant != TWIN);
    let rows: Vec<&ByPlace> = rows.collect();
    let shown = rows.iter().filter_map(|row| Some(((row.variant.as_str(), row.everywhere?), row)));
    let workloads = |variant: &str| rows.iter().filter(|row| row.variant == variant).count();
    let each = grouped(shown)
        .into_iter()
        .map(|((variant, verdict), shown)| ((verdict, shown.len(), workloads(variant)), subject(&clean(variant))));
    let line = |((verdict, shown, of), names): ((Verdict, usize, usize), Vec<String>)| {
        let verb = match names.len() {
            1 => wording.verb()[0],
            _ if wording.takes_is() => "are",
            _ => wording.verb()[1],
        };
        let where_ = if of > 1 { format!(" ({shown} of {of} workloads)") } else { String::new() };
        format!("{} {verb} {} on {nodes} of {nodes} nodes{where_}", named(names), wording.verdict(verdict))
    };
    grouped(each).into_iter().map(line).collect()
}

/// `2 blocks were run twice; the first attempts were used`.
pub(crate) fn run_again(findings: &Findings) -> Option<String> {
    let blocks = findings.run_again;
    let (verb, used) = if blocks == 1 { ("was", "attempt") } else { ("were", "attempts") };
    (blocks > 0).then(|| format!("{} {verb} run twice; the first {used} {verb} used", counted(blocks, "block")))
}

/// `b on n18: 3.1 % slower there, 0.1 % elsewhere`, the first of each variant and machine.
pub(crate) fn unlike(findings: &Findings) -> Vec<String> {
    let rows = findings.by_place.iter().filter_map(|row| Some((row, row.unlike.as_ref()?)));
    let each = grouped(rows.map(|(row, unlike)| ((&row.variant, &unlike.place), (row, unlike))));
    let cells = |row: &ByPlace| {
        let mut of_variant = findings.by_place.iter().filter(|other| other.variant == row.variant);
        of_variant.any(|other| (&other.workload, &other.condition) != (&row.workload, &row.condition))
    };
    let line = |((variant, place), seen): ((&String, &String), Vec<(&ByPlace, &Unlike)>)| {
        let (row, unlike) = seen[0];
        let cell = if cells(row) { format!(" ({}, {})", row.workload, row.condition) } else { String::new() };
        let more = match seen.len() {
            1 => String::new(),
            seen => format!("; and in {seen} tables in all"),
        };
        clean(&format!("{} on {place}{cell}: {}{more}", subject(variant), there_and_elsewhere(unlike)))
    };
    each.into_iter().map(line).collect()
}

/// `n07 is noisy: its twin differs by 2.8 %`, of each machine the first.
pub(crate) fn noisy_nodes(findings: &Findings) -> Vec<String> {
    let by = |one: &Noisy| amount(one.there, one.scale, one.unit);
    noisy(findings)
        .into_iter()
        .map(|one| clean(&format!("{} is noisy: its twin differs by {}", one.place, by(one))))
        .collect()
}

/// The noisy machines, each once.
fn noisy(findings: &Findings) -> Vec<&Noisy> {
    let seen = findings.caveats.iter().filter_map(|caveat| match caveat {
        Caveat::NoisyPlaces { seen } => Some(seen),
        _ => None,
    });
    grouped(seen.flatten().map(|one| (&one.place, one))).into_iter().map(|(_, seen)| seen[0]).collect()
}

/// `3.1 % slower there, 0.1 % elsewhere`; with another word where that is the other way.
pub(crate) fn there_and_elsewhere(Unlike { scale, unit, there, elsewhere, .. }: &Unlike) -> String {
    let origin = if *scale == Scale::Ratio { 1.0 } else { 0.0 };
    let [less, more] = Wording::of(*unit, Direction::Less).ends();
    let way = |x: f64| if x < origin { less } else { more };
    let [own, others] = [*there, *elsewhere].map(|x| amount(x, *scale, *unit));
    let other_way = if way(*there) == way(*elsewhere) { String::new() } else { format!(" {}", way(*elsewhere)) };
    format!("{own} {} there, {others}{other_way} elsewhere", way(*there))
}

/// How far from no difference, whatever its direction.
pub(crate) fn amount(x: f64, scale: Scale, unit: Unit) -> String {
    match scale {
        Scale::Ratio => format!("{} %", fixed(100.0 * (x - 1.0).abs(), 1)),
        Scale::Difference => quantity(x.abs(), unit),
    }
}

/// A table for each row, node by node.
pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    let is_twin = |row: &&ByPlace| row.variant == TWIN;
    for row in findings.by_place.iter().filter(|row| !is_twin(row)) {
        let twin = findings.by_place.iter().filter(is_twin).find(|twin| {
            (&twin.workload, &twin.condition, &twin.metric) == (&row.workload, &row.condition, &row.metric)
        });
        let ByPlace { workload, condition, metric, variant, unit, .. } = row;
        page.gap();
        let heading = format!("{workload} ({condition}): {metric} of {variant}, node by node");
        page.paragraph(clean(&heading), columns, 2, Ink::Heading);
        let interval = format!("ratio [{} interval]", percent(findings.method.confidence));
        let titles = [("node", Flush::Left), (&*interval, Flush::Left), ("verdict", Flush::Left)];
        let mut grid = Grid::new(titles.into_iter().chain([("twin", Flush::Left), ("n", Flush::Right)]));
        for one in &row.places {
            let twin = twin.and_then(|twin| twin.places.iter().find(|other| other.place == one.place));
            let mark = if row.unlike.as_ref().is_some_and(|unlike| unlike.place == one.place) { " ▲" } else { "" };
            grid.row(vec![
                Piece::plain(clean(&one.place) + mark),
                Piece::plain(ratio(one)),
                Piece::new(words::verdict(one.verdict, *unit), words::ink(one.verdict)),
                Piece::new(twin.map_or("–".to_owned(), ratio), Ink::Aside),
                Piece::plain(one.blocks.to_string()),
            ]);
        }
        grid.print(page, columns);
    }
}

fn ratio(one: &OnPlace) -> String {
    match one.scale {
        Scale::Ratio => words::ratio(one.estimate, one.interval, "none"),
        Scale::Difference => words::difference(one.estimate, one.interval, 1.0, "none"),
    }
}
