//! A study's metrics of phases, ops and values: a name and what the workloads declare give the whole description, or
//! say why there is none. The names are `PHASE.wall`, `[PHASE.]op[.NAME].STAT`, and the name of a value.

use super::{Direction, METRICS, Metric, Unit, is_of_harness};
use crate::marks::{OpMetric, STATS, Stat};
use crate::problem::{did_you_mean, suggest};
use crate::study::{OpSpec, ValueSource, ValueSpec, Workload};
use std::borrow::Cow;

/// Why there is no metric of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {remedy}")]
pub struct Unknown {
    /// In one line.
    pub why: String,
    /// What to do; never empty.
    pub remedy: String,
}

/// The metric of that name: of the table, or of these workloads' own.
pub fn find(name: &str, workloads: &[Workload]) -> Result<Metric, Unknown> {
    match METRICS.iter().find(|metric| metric.name == name) {
        Some(_) if is_of_harness(name) && workloads.iter().all(|workload| workload.harness.is_none()) => Err(Unknown {
            why: format!("`{name}` is a benchmark metric, but no workload has a harness"),
            remedy: "name the harness in the workload, for example `harness = \"go\"`".to_owned(),
        }),
        Some(known) => Ok(known.clone()),
        None => own(name, workloads),
    }
}

/// The metric of that name among these workloads' own; one of the table is none of them.
pub fn own(name: &str, workloads: &[Workload]) -> Result<Metric, Unknown> {
    if let Some(metric) = value(name, workloads)? {
        return Ok(metric);
    }
    if let Some(metric) = workloads.iter().find_map(|workload| of_phase(name, workload)) {
        return Ok(metric);
    }
    if let Some(metric) = of_service(name, workloads) {
        return Ok(metric);
    }
    let readings = OpMetric::readings(name);
    if let Some(metric) = readings.iter().find_map(|reading| workloads.iter().find_map(|w| of_ops(name, reading, w))) {
        return Ok(metric);
    }
    Err(unknown(name, &readings, workloads))
}

/// What building installs, where building is measured.
pub(crate) fn installed() -> Metric {
    let what = "size of all installed files, including those of earlier steps".to_owned();
    Metric { exact: true, ..described("installed", Unit::Bytes, Direction::Less, what, "sizes of files") }
}

fn described(name: &str, unit: Unit, better: Direction, what: String, source: &str) -> Metric {
    let (what, source) = (Cow::Owned(what), Cow::Owned(source.to_owned()));
    Metric { name: Cow::Owned(name.to_owned()), unit, better, what, source, exact: false, counted: false }
}

/// Workloads may tell the same value, if they mean the same by it.
fn value(name: &str, workloads: &[Workload]) -> Result<Option<Metric>, Unknown> {
    let of = |w: &'_ Workload| w.values.iter().find(|spec| spec.name == name).cloned();
    let mut declared = workloads.iter().filter_map(|w| Some((&w.name, of(w)?)));
    let Some((first, spec)) = declared.next() else { return Ok(None) };
    if let Some((other, _)) =
        declared.find(|(_, other)| (other.unit, other.better, other.exact) != (spec.unit, spec.better, spec.exact))
    {
        let why = format!(
            "the value `{name}` has a different unit, direction or exactness in workload `{other}` than in `{first}`"
        );
        return Err(Unknown { why, remedy: "declare both the same way, or rename one of them".to_owned() });
    }
    let ValueSpec { unit, better, from, exact, .. } = &spec;
    let (what, source) = match from {
        ValueSource::Mark => ("a value that the workload reports", format!("marks: value {name}")),
        ValueSource::Regex(regex) => ("a number that the workload prints", format!("standard output: /{regex}/")),
        ValueSource::Json(path) => ("a number that the workload prints", format!("standard output: JSON {path}")),
        ValueSource::Csv { column, .. } => {
            ("a number that the workload prints", format!("standard output: CSV column {column}"))
        }
    };
    Ok(Some(Metric { exact: *exact, ..described(name, *unit, *better, what.to_owned(), &source) }))
}

fn of_phase(name: &str, workload: &Workload) -> Option<Metric> {
    let phase = name.strip_suffix(".wall").filter(|phase| workload.phases.iter().any(|known| known == phase))?;
    let what = format!("elapsed time of the phase `{phase}`");
    Some(described(name, Unit::Seconds, Direction::Less, what, &format!("marks: phase {phase}")))
}

/// What is measured of a service: its last part, unit, and what it is.
const OF_SERVICE: [(&str, Unit, &str, &str); 5] = [
    ("cpu", Unit::Seconds, "CPU time during the trial", "CPU clocks of the service's processes"),
    ("user", Unit::Seconds, "CPU time in user mode, from start to end", "wait4: ru_utime"),
    ("sys", Unit::Seconds, "CPU time in the kernel, from start to end", "wait4: ru_stime"),
    ("maxrss", Unit::Bytes, "peak resident memory of the largest process", "wait4: ru_maxrss; VmHWM"),
    ("peak", Unit::Bytes, "peak memory", "cgroup, else wait4: ru_maxrss"),
];

fn of_service(name: &str, workloads: &[Workload]) -> Option<Metric> {
    let (service, part) = name.rsplit_once('.')?;
    let known = workloads.iter().any(|workload| workload.services.iter().any(|known| known == service));
    let (_, unit, what, source) = OF_SERVICE.into_iter().find(|(last, ..)| known && *last == part)?;
    Some(described(name, unit, Direction::Less, format!("service `{service}`: {what}"), source))
}

fn of_ops(name: &str, metric: &OpMetric<'_>, workload: &Workload) -> Option<Metric> {
    let spec = workload.ops.as_ref()?;
    let has_phase = metric.phase.is_none_or(|phase| workload.phases.iter().any(|known| known == phase));
    let has_name = metric.name.is_none_or(|name| spec.names.iter().any(|known| known == name));
    (has_phase && has_name)
        .then(|| described(name, metric.stat.unit(), metric.stat.better(), what(metric, spec), "marks: op"))
}

fn what(metric: &OpMetric<'_>, spec: &OpSpec) -> String {
    let ops = match metric.name {
        Some(name) => format!("ops `{name}`"),
        None if spec.unit.is_empty() => "ops".to_owned(),
        None => format!("ops ({})", spec.unit),
    };
    let what = match metric.stat {
        Stat::Quantile(q) => format!("latency that {} % of {ops} do not exceed", (q * 1000.0).round() / 10.0),
        Stat::Max => format!("longest latency of {ops}"),
        Stat::Min => format!("shortest latency of {ops}"),
        Stat::Mean => format!("mean latency of {ops}"),
        Stat::Rate => format!("{ops} per second"),
        Stat::Count => format!("number of {ops}"),
    };
    metric.phase.map_or(what.clone(), |phase| format!("{what}, in phase `{phase}`"))
}

fn all_own(workloads: &[Workload]) -> Vec<String> {
    let mut names = vec![];
    for workload in workloads {
        names.extend(workload.values.iter().map(|spec| spec.name.clone()));
        names.extend(workload.phases.iter().map(|phase| format!("{phase}.wall")));
        let parts = |service| OF_SERVICE.iter().map(move |(part, ..)| format!("{service}.{part}"));
        names.extend(workload.services.iter().flat_map(parts));
        let Some(spec) = &workload.ops else { continue };
        let phases = std::iter::once(String::new()).chain(workload.phases.iter().map(|phase| format!("{phase}.")));
        for phase in phases {
            let kinds = std::iter::once(String::new()).chain(spec.names.iter().map(|name| format!(".{name}")));
            for kind in kinds {
                names.extend(STATS.iter().map(|(stat, _)| format!("{phase}op{kind}.{stat}")));
            }
        }
    }
    names
}

fn unknown(name: &str, readings: &[OpMetric<'_>], workloads: &[Workload]) -> Unknown {
    // What is wrong with a part of the name says more than the nearest of many names.
    if let Some(phase) = name.strip_suffix(".wall") {
        return Unknown { why: format!("no workload has a phase `{phase}`"), remedy: phases_remedy(phase, workloads) };
    }
    if let Some(reading) = readings.first() {
        return no_such_op(reading, workloads);
    }
    if name.split('.').any(|part| part == "op") {
        let stats: Vec<&str> = STATS.iter().map(|(stat, _)| *stat).collect();
        let why = format!("`{name}` does not end with an op statistic");
        return Unknown { why, remedy: format!("use one of .{}", stats.join(", .")) };
    }
    let why = format!("there is no metric `{name}`");
    let own = all_own(workloads);
    let known = METRICS.iter().map(|metric| &*metric.name).chain(own.iter().map(String::as_str));
    if let Some(meant) = did_you_mean(name, known.clone()) {
        return Unknown { why, remedy: format!("did you mean `{meant}`?") };
    }
    if name.contains('.') {
        let remedy = "a phase has `PHASE.wall`, a service has `SERVICE.cpu`, and ops have, for example, \
            `[PHASE.]op[.NAME].p99` (see `bakeoff help marks`)";
        return Unknown { why, remedy: remedy.to_owned() };
    }
    Unknown { why, remedy: suggest(name, known.filter(|known| !known.contains('.'))) }
}

/// Why a workload has no ops as they are asked for.
fn no_such_op(metric: &OpMetric<'_>, workloads: &[Workload]) -> Unknown {
    let mut specs = workloads.iter().filter_map(|workload| workload.ops.as_ref()).peekable();
    if specs.peek().is_none() {
        let remedy = "declare them in the workload, for example `ops = { unit = \"message\" }`";
        return Unknown { why: "no workload has ops".to_owned(), remedy: remedy.to_owned() };
    }
    let names: Vec<&str> = specs.flat_map(|spec| &spec.names).map(String::as_str).collect();
    if let Some(name) = metric.name.filter(|name| !names.contains(name)) {
        let remedy = match names.is_empty() {
            true => "declare the names: `ops = { unit = …, names = [\"…\"] }`".to_owned(),
            false => suggest(name, names),
        };
        return Unknown { why: format!("no workload has ops named `{name}`"), remedy };
    }
    let phase = metric.phase.unwrap_or_default();
    let has_them = |spec: &OpSpec| metric.name.is_none_or(|name| spec.names.iter().any(|known| known == name));
    let with_ops = workloads.iter().filter(|workload| workload.ops.as_ref().is_some_and(has_them));
    let with_ops: Vec<Workload> = with_ops.cloned().collect();
    let named = metric.name.map_or(String::new(), |name| format!(" named `{name}`"));
    let why = format!("no workload with ops{named} has a phase `{phase}`");
    Unknown { why, remedy: phases_remedy(phase, &with_ops) }
}

fn phases_remedy(phase: &str, workloads: &[Workload]) -> String {
    let phases: Vec<&str> = workloads.iter().flat_map(|workload| &workload.phases).map(String::as_str).collect();
    match phases.is_empty() {
        true => "declare the phases that the workload marks: `phases = [\"…\"]`".to_owned(),
        false => suggest(phase, phases),
    }
}

#[cfg(test)]
mod tests;
