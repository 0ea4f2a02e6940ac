//! The metrics: name, base unit, direction and source of everything that a trial is measured by. It is a table; it
//! holds no values and computes nothing but the one sum, `cpu`, that readers ask for.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of one trial by metric name, in base units, as measured.
pub type Measurements = BTreeMap<String, f64>;

/// The base unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

/// One metric. All of today's metrics are costs: less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The name in study files, journals and reports.
    pub name: &'static str,
    /// The base unit of its values.
    pub unit: Unit,
    /// What it is, in a few words.
    pub what: &'static str,
    /// Where the kernel gives it.
    pub source: &'static str,
}

const fn metric(name: &'static str, unit: Unit, what: &'static str, source: &'static str) -> Metric {
    Metric { name, unit, what, source }
}

/// Every metric, in the order in which tables list them.
pub const METRICS: &[Metric] = &[
    metric("wall", Unit::Seconds, "elapsed time from launch to exit", "clock_gettime(CLOCK_MONOTONIC)"),
    metric("user", Unit::Seconds, "CPU time in user mode, of all reaped processes", "wait4: ru_utime"),
    metric("sys", Unit::Seconds, "CPU time in the kernel, of all reaped processes", "wait4: ru_stime"),
    metric("cpu", Unit::Seconds, "user + sys", "sum of two measurements"),
    metric("maxrss", Unit::Bytes, "peak resident memory of the largest process", "wait4: ru_maxrss"),
    metric("minflt", Unit::Count, "page faults without input", "wait4: ru_minflt"),
    metric("majflt", Unit::Count, "page faults with input", "wait4: ru_majflt"),
    metric("inblock", Unit::Count, "block input operations (512 B)", "wait4: ru_inblock"),
    metric("oublock", Unit::Count, "block output operations (512 B)", "wait4: ru_oublock"),
    metric("nvcsw", Unit::Count, "voluntary context switches", "wait4: ru_nvcsw"),
    metric("nivcsw", Unit::Count, "involuntary context switches", "wait4: ru_nivcsw"),
    metric("ixrss", Unit::Bytes, "not maintained by Linux", "wait4: ru_ixrss"),
    metric("idrss", Unit::Bytes, "not maintained by Linux", "wait4: ru_idrss"),
    metric("isrss", Unit::Bytes, "not maintained by Linux", "wait4: ru_isrss"),
    metric("nswap", Unit::Count, "not maintained by Linux", "wait4: ru_nswap"),
    metric("msgsnd", Unit::Count, "not maintained by Linux", "wait4: ru_msgsnd"),
    metric("msgrcv", Unit::Count, "not maintained by Linux", "wait4: ru_msgrcv"),
    metric("nsignals", Unit::Count, "not maintained by Linux", "wait4: ru_nsignals"),
];

/// The metric of that name.
pub fn by_name(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|m| m.name == name)
}

/// The value of a metric in one trial; `cpu` is the sum of `user` and `sys`, everything else as measured.
pub fn value(name: &str, measurements: &Measurements) -> Option<f64> {
    match name {
        "cpu" => Some(measurements.get("user")? + measurements.get("sys")?),
        _ => measurements.get(name).copied(),
    }
}
