//! What a study takes before its first trial: what is fetched and built, how long that takes, and how much disk is
//! kept. All of it is estimated, from what was seen here before, else from what the study's author says; what
//! nobody knows is said to be unknown.

use crate::{Cache, Wanted, WantedLayer};
use bakeoff_command::estimates::about;
use bakeoff_report::format::bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The lines about it; none about what is there already. And how long it takes, in seconds; `None` if nobody knows.
pub(crate) fn text(builds: &[Wanted], cache: &Cache, jobs: usize) -> (String, Option<f64>) {
    // Builds share layers.
    let layers: BTreeMap<_, _> = builds.iter().flat_map(Wanted::missing).map(|layer| (&layer.digest, layer)).collect();
    let missing: Vec<&WantedLayer> = layers.into_values().collect();
    let mut out = fetching(&missing);
    if missing.is_empty() {
        return (out, Some(0.0));
    }
    // Layers of one build wait for each other; that they rarely have the same length is ignored here.
    let at_once = jobs.min(builds.len()).max(1);
    let (sum_s, unknown) = known_sum(&missing, |layer| layer.expected_wall_s);
    let building_s = sum_s.map(|sum_s| sum_s / at_once as f64);
    let all_s = building_s.filter(|_| unknown.is_none());
    let _ = match (building_s, unknown) {
        (Some(s), None) => writeln!(out, "Building: {}, {at_once} at a time", about(s)),
        (Some(s), Some(of)) => writeln!(
            out,
            "Building: {}, {at_once} at a time, excluding {of} (not timed yet; set `takes` in [[build]] to get an \
                estimate)",
            about(s)
        ),
        (None, _) => writeln!(out, "Building: time unknown (set `takes` in [[build]] to get an estimate)"),
    };
    out.push_str(&disk(&missing, cache));
    (out, all_s)
}

fn fetching(missing: &[&WantedLayer]) -> String {
    let sources = missing.iter().filter_map(|layer| layer.source.as_ref()).filter(|source| !source.cached);
    let sources: BTreeMap<&str, Option<u64>> = sources.map(|s| (s.name.as_str(), s.expected_bytes)).collect();
    if sources.is_empty() {
        return String::new();
    }
    let names = sources.iter().map(|(name, size)| match size {
        Some(size) => format!("{name} ({})", bytes(*size as f64)),
        None => (*name).to_owned(),
    });
    format!("To fetch: {}\n", names.collect::<Vec<_>>().join(", "))
}

/// The sum over layers with known values, if there are any; and the names of the others, in words.
fn known_sum(missing: &[&WantedLayer], value: fn(&WantedLayer) -> Option<f64>) -> (Option<f64>, Option<String>) {
    let known: Vec<f64> = missing.iter().filter_map(|layer| value(layer)).collect();
    let unknown: BTreeSet<&str> =
        missing.iter().filter(|layer| value(layer).is_none()).map(|layer| layer.name.as_str()).collect();
    let names = unknown.iter().copied().collect::<Vec<_>>().join(", ");
    let words = match unknown.len() {
        0 => None,
        1 => Some(format!("layer {names}")),
        _ => Some(format!("layers {names}")),
    };
    ((!known.is_empty()).then(|| known.iter().sum()), words)
}

/// What stays on the disk, and whether that fits.
fn disk(missing: &[&WantedLayer], cache: &Cache) -> String {
    let root = cache.root().display();
    let free_bytes = bakeoff_host::disk::free_bytes(cache.root()).ok().map(|free| free as f64);
    let free = free_bytes.map_or(String::new(), |free| format!("; {} free", bytes(free)));
    let (sum, unknown) = known_sum(missing, |layer| layer.expected_bytes);
    let Some(sum) = sum else {
        return format!("Disk: unknown size in {root} (set `disk` in [[build]] to get an estimate){free}\n");
    };
    let unknown = unknown.map_or(String::new(), |of| format!(", excluding {of} (not measured yet)"));
    let mut out = format!("Disk: about {} in {root}{unknown}, more while building{free}\n", bytes(sum));
    if free_bytes.is_some_and(|free| free < sum) {
        out.push_str(
            "  This will not fit; free some space (see `bakeoff gc --help`), or set BAKEOFF_CACHE to a folder on \
             another disk\n",
        );
    }
    out
}
