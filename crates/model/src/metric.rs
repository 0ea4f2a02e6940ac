//! The metrics: name, base unit, direction and source of everything that a trial is measured by. It is a table; it
//! holds no values. A study's own metrics (of phases, ops and values) are described by the same type and stand in the
//! head of its journal.

mod measurements;
mod own;
mod units;

pub use measurements::{Measurements, value};
pub(crate) use own::installed;
pub use own::{Unknown, find, own};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// Things in a second.
    PerSecond,
    /// Billions (10⁹) of instructions of an emulated machine whose clock counts them: what its seconds are.
    GuestInstructions,
}

/// What the seconds of a study's trials are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Seconds.
    #[default]
    Seconds,
    /// The clock of an emulated machine, which goes on by a nanosecond with each instruction.
    GuestInstructions,
}

impl Clock {
    /// Whether it tells time.
    pub fn is_of_seconds(&self) -> bool {
        *self == Self::Seconds
    }

    /// What a duration is measured in by this clock; other units stay what they are.
    pub fn unit(self, unit: Unit) -> Unit {
        match (self, unit) {
            (Self::GuestInstructions, Unit::Seconds) => Unit::GuestInstructions,
            (_, unit) => unit,
        }
    }
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A cost: less is better.
    #[default]
    Less,
    /// A yield, such as throughput: more is better.
    More,
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The name in study files, journals and reports.
    pub name: Cow<'static, str>,
    /// The base unit of its values.
    pub unit: Unit,
    /// Which way is better.
    #[serde(default)]
    pub better: Direction,
    /// What it is, in a few words.
    pub what: Cow<'static, str>,
    /// Where it comes from.
    pub source: Cow<'static, str>,
    /// It cannot vary by chance, as a size or a count of a deterministic instrument: what was measured is what it is. Never
    /// so for a time, and never because some values happened to be equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
}

const fn metric(name: &'static str, unit: Unit, what: &'static str, source: &'static str) -> Metric {
    // Of all of them only throughput is a yield.
    let better = if matches!(unit, Unit::PerSecond) { Direction::More } else { Direction::Less };
    let (name, what, source) = (Cow::Borrowed(name), Cow::Borrowed(what), Cow::Borrowed(source));
    Metric { name, unit, better, what, source, exact: false }
}

/// Every metric, in the order in which tables list them.
pub const METRICS: &[Metric] = &[
    metric("wall", Unit::Seconds, "elapsed time from launch to exit", "clock_gettime(CLOCK_MONOTONIC)"),
    metric("user", Unit::Seconds, "CPU time in user mode, of all reaped processes", "wait4: ru_utime"),
    metric("sys", Unit::Seconds, "CPU time in the kernel, of all reaped processes", "wait4: ru_stime"),
    metric("cpu", Unit::Seconds, "user + sys", "sum of two measurements"),
    metric(
        "peak",
        Unit::Bytes,
        "peak memory: cgroup_peak where it is measured, else maxrss",
        "one of two measurements",
    ),
    metric("maxrss", Unit::Bytes, "peak resident memory of the largest process", "wait4: ru_maxrss"),
    metric(
        "cgroup_peak",
        Unit::Bytes,
        "peak memory of all processes together, with caches",
        "cgroup: memory.peak, memory.max_usage_in_bytes",
    ),
    metric("cgroup_cpu", Unit::Seconds, "CPU time of all processes, reaped or not", "cgroup: cpu.stat, cpuacct.usage"),
    metric("cgroup_user", Unit::Seconds, "the same in user mode", "cgroup: cpu.stat, cpuacct.usage_user"),
    metric("cgroup_sys", Unit::Seconds, "the same in the kernel", "cgroup: cpu.stat, cpuacct.usage_sys"),
    metric(
        "cgroup_read_bytes",
        Unit::Bytes,
        "read from block devices",
        "cgroup: io.stat, blkio.throttle.io_service_bytes",
    ),
    metric(
        "cgroup_write_bytes",
        Unit::Bytes,
        "written to block devices",
        "cgroup: io.stat, blkio.throttle.io_service_bytes",
    ),
    metric("pids_peak", Unit::Count, "most processes and threads at once", "cgroup: pids.peak"),
    metric(
        "pressure_cpu",
        Unit::Seconds,
        "time in which some process waited for a processor",
        "cgroup: cpu.pressure, some total",
    ),
    metric(
        "pressure_memory",
        Unit::Seconds,
        "time in which some process waited for memory",
        "cgroup: memory.pressure, some total",
    ),
    metric(
        "pressure_io",
        Unit::Seconds,
        "time in which some process waited for input or output",
        "cgroup: io.pressure, some total",
    ),
    metric("rchar", Unit::Bytes, "read by system calls", "/proc/PID/io: rchar"),
    metric("wchar", Unit::Bytes, "written by system calls", "/proc/PID/io: wchar"),
    metric("syscr", Unit::Count, "read system calls", "/proc/PID/io: syscr"),
    metric("syscw", Unit::Count, "write system calls", "/proc/PID/io: syscw"),
    metric("read_bytes", Unit::Bytes, "read from storage", "/proc/PID/io: read_bytes"),
    metric("write_bytes", Unit::Bytes, "written to storage", "/proc/PID/io: write_bytes"),
    metric(
        "run_delay",
        Unit::Seconds,
        "time in which the main thread was runnable but not running",
        "/proc/PID/schedstat, field 2",
    ),
    metric("task_clock", Unit::Seconds, "CPU time", "perf_event_open: PERF_COUNT_SW_TASK_CLOCK"),
    metric("page_faults", Unit::Count, "page faults", "perf_event_open: PERF_COUNT_SW_PAGE_FAULTS"),
    metric("context_switches", Unit::Count, "context switches", "perf_event_open: PERF_COUNT_SW_CONTEXT_SWITCHES"),
    metric("migrations", Unit::Count, "moves to another processor", "perf_event_open: PERF_COUNT_SW_CPU_MIGRATIONS"),
    metric("instructions", Unit::Count, "instructions, in user mode", "perf_event_open: PERF_COUNT_HW_INSTRUCTIONS"),
    metric(
        "guest_instructions",
        Unit::Count,
        "instructions of an emulated machine while the trial lasted, in all modes and processes",
        "the machine's clock, which counts them",
    ),
    metric("cycles", Unit::Count, "processor cycles, in user mode", "perf_event_open: PERF_COUNT_HW_CPU_CYCLES"),
    metric("branches", Unit::Count, "branches, in user mode", "perf_event_open: PERF_COUNT_HW_BRANCH_INSTRUCTIONS"),
    metric(
        "branch_misses",
        Unit::Count,
        "mispredicted branches, in user mode",
        "perf_event_open: PERF_COUNT_HW_BRANCH_MISSES",
    ),
    metric(
        "cache_misses",
        Unit::Count,
        "misses of the last cache, in user mode",
        "perf_event_open: PERF_COUNT_HW_CACHE_MISSES",
    ),
    metric(
        "load",
        Unit::Count,
        "tasks that were runnable, other than ours, when it was launched",
        "/proc/loadavg, field 4",
    ),
    metric(
        "steal",
        Unit::Count,
        "share of all processors' time that the hypervisor gave to others",
        "/proc/stat: steal",
    ),
    metric(
        "foreign_cpu",
        Unit::Count,
        "share of all processors' time that was used by neither trial nor load nor services",
        "/proc/stat",
    ),
    metric(
        "each_wall",
        Unit::Seconds,
        "mean elapsed time of the processes, where several execute at once",
        "clock_gettime(CLOCK_MONOTONIC)",
    ),
    metric("throughput", Unit::PerSecond, "processes or, where it marks ops, ops in a second", "count ÷ wall"),
    metric(
        "load_rate",
        Unit::PerSecond,
        "copies of the load that ended in a second",
        "count ÷ elapsed time of the load",
    ),
    metric("load_cpu", Unit::Seconds, "CPU time of the load while the trial lasted", "wait4, cgroup"),
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
    metric("sec/op", Unit::Seconds, "time of one operation of a benchmark", HARNESS),
    metric("cpu-sec/op", Unit::Seconds, "CPU time of one operation of a benchmark", HARNESS),
    metric("B/op", Unit::Bytes, "memory that one operation of a benchmark allocates", HARNESS),
    metric("allocs/op", Unit::Count, "allocations of one operation of a benchmark", HARNESS),
    metric("ops/s", Unit::PerSecond, "operations of a benchmark in a second", HARNESS),
    metric("items/s", Unit::PerSecond, "items that a benchmark processes in a second", HARNESS),
    metric("B/s", Unit::PerSecond, "bytes that a benchmark processes in a second", HARNESS),
];

/// Where the metrics of benchmarks come from.
const HARNESS: &str = "harness of the workload";

/// Whether a metric is one of benchmarks, which only a workload with a harness has.
pub fn is_of_harness(name: &str) -> bool {
    METRICS.iter().any(|metric| metric.name == name && metric.source == HARNESS)
}

/// The metric of that name, among these of a study and those of the table.
pub fn by_name<'a>(name: &str, own: &'a [Metric]) -> Option<&'a Metric> {
    own.iter().chain(METRICS).find(|m| m.name == name)
}
