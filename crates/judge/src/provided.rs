//! Which metrics are shown and where they come from, which could not be measured, and what follows for rules and tables.

use super::executed::sessions;
use super::trials::Trials;
use crate::findings::{Caveat, Table};
use bakeoff_model::grouped::unique;
use bakeoff_model::metric::{self, Metric};
use bakeoff_model::record::{Outcome, Record, StudyLine, Unavailable};
use bakeoff_model::study::VoidRule;

/// The metrics of these tables, each once. `peak` is one of two measurements, and is described as the one that it was.
pub(super) fn metrics(study: &StudyLine, tables: &[Table], trials: &Trials<'_>) -> Vec<Metric> {
    let shown = unique(tables.iter().map(|table| &table.metric)).into_iter().filter_map(|name| study.metric(name));
    shown.map(|known| if known.name == "peak" { peak(&known, peak_sources(trials)) } else { known }).collect()
}

fn peak(known: &Metric, sources: [u32; 2]) -> Metric {
    let of = |name: &str| metric::by_name(name, &[]).cloned();
    let (what, source) = match (sources.map(|trials| trials > 0), of("cgroup_peak"), of("maxrss")) {
        ([true, false], Some(cgroup), _) => (cgroup.what, cgroup.source),
        ([false, true], _, Some(maxrss)) => (maxrss.what, maxrss.source),
        ([true, true], Some(cgroup), Some(maxrss)) => {
            (known.what.clone(), format!("{}; else {}", cgroup.source, maxrss.source).into())
        }
        _ => (known.what.clone(), known.source.clone()),
    };
    Metric { what, source, ..known.clone() }
}

/// Trials that count whose peak is cgroup_peak, and those whose peak is maxrss.
pub(super) fn peak_sources(trials: &Trials<'_>) -> [u32; 2] {
    let mut sources = [0, 0];
    for trial in trials.all_blocks().flat_map(|block| block.values()).filter(|trial| trial.outcome == Outcome::Ok) {
        let has = |name: &str| trial.measurements.contains_key(name);
        match (has("cgroup_peak"), has("maxrss")) {
            (true, _) => sources[0] += 1,
            (false, true) => sources[1] += 1,
            (false, false) => {}
        }
    }
    sources
}

/// What sessions with trials, and boots, could not measure: all of it, and what of it the study asks for.
pub(super) fn unavailable(record: &Record) -> [Vec<Unavailable>; 2] {
    let mut all: Vec<Unavailable> = vec![];
    let of_sessions = sessions(record).into_iter().flat_map(|session| &session.unavailable);
    for new in of_sessions.chain(record.boots.iter().flat_map(|boot| &boot.unavailable)) {
        match all.iter_mut().find(|known| known.why == new.why) {
            Some(known) => {
                let names = new.metrics.iter().filter(|name| !known.metrics.contains(name)).cloned();
                let names: Vec<String> = names.collect();
                known.metrics.extend(names);
            }
            None => all.push(new.clone()),
        }
    }
    let missing = missing(record, &all);
    [all, missing]
}

/// Why no trial has the peak of a service.
const NO_PEAK: &str = "in each trial, one of the service's processes ended, or the kernel cannot reset peaks";

/// Of what could not be measured, that which the study asks for; and what it asks for and no trial has, for no reason that
/// is known.
fn missing(record: &Record, unavailable: &[Unavailable]) -> Vec<Unavailable> {
    let study = &record.study;
    let rules = study.void_if.iter().map(|rule| &rule.metric);
    let asked = study.decide.metrics.iter().chain(rules);
    let asked = unique(asked.filter(|name| metric::by_name(name, &study.metrics).is_some()));
    let of = |group: &Unavailable| {
        let metrics = asked.iter().filter(|name| group.metrics.contains(name)).map(|name| (*name).clone()).collect();
        Unavailable { metrics, why: group.why.clone() }
    };
    let mut missing: Vec<Unavailable> = unavailable.iter().map(of).collect();
    let is_nowhere = |name: &&&String| {
        let is_known = unavailable.iter().any(|group| group.metrics.contains(name));
        !is_known && record.trials.iter().all(|trial| trial.value(name).is_none())
    };
    if record.trials.iter().any(|trial| trial.outcome == Outcome::Ok) {
        let nowhere = asked.iter().filter(is_nowhere).map(|name| (*name).clone());
        let (of_services, metrics) = nowhere.partition(|name| name.ends_with(".maxrss"));
        missing.push(Unavailable { metrics, why: "no trial recorded a value".to_owned() });
        missing.push(Unavailable { metrics: of_services, why: NO_PEAK.to_owned() });
    }
    missing.retain(|group| !group.metrics.is_empty());
    missing
}

/// Whether a table has no value at all, and not because its trials failed: the metric cannot be measured here, or is none
/// that this workload has.
pub(super) fn is_unmeasured(table: &Table, unavailable: &[Unavailable], trials: &Trials<'_>) -> bool {
    let is_empty = table.rows.iter().chain(&table.noise_floor).all(|row| row.summary.is_none());
    let is_named = || unavailable.iter().any(|group| group.metrics.contains(&table.metric));
    let any_counts = || {
        let mut all =
            trials.blocks(trials.ids.place(&table.workload, &table.condition)).flat_map(|block| block.values());
        all.any(|trial| trial.outcome == Outcome::Ok)
    };
    is_empty && (is_named() || any_counts())
}

/// Rules that could not be applied in some session, because their metric cannot be measured there.
pub(super) fn blind_rules(study: &StudyLine, missing: &[Unavailable]) -> Option<Caveat> {
    let blind = |rule: &&VoidRule| missing.iter().any(|group| group.metrics.contains(&rule.metric));
    let metrics: Vec<String> = study.void_if.iter().filter(blind).map(|rule| rule.metric.clone()).collect();
    (!metrics.is_empty()).then_some(Caveat::BlindRules { metrics })
}

/// Whether the peaks of a study are of two kinds.
pub(super) fn two_kinds_of_peak(tables: &[Table], trials: &Trials<'_>) -> Option<Caveat> {
    let [cgroup, maxrss] = peak_sources(trials);
    let is_shown = tables.iter().any(|table| table.metric == "peak");
    (is_shown && cgroup.min(maxrss) > 0).then_some(Caveat::TwoKindsOfPeak { cgroup, maxrss })
}
