//! The metrics: name, base unit, direction and source of everything that a trial is measured by. A study's own metrics
//! (of phases, ops and values) have the same type and are in the head of its journal.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

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
    pub unit: Unit,
    #[serde(default)]
    pub better: Direction,
    /// What it is, in a few words.
    pub what: Cow<'static, str>,
    pub source: Cow<'static, str>,
    /// It cannot vary by chance, as a size or a deterministic count. Never so for a time, or because values are equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// An instrument counts it that sees only a part of a trial's time: [`SEEN`] is that part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

const fn metric(name: &'static str, unit: Unit, better: Direction, what: &'static str, source: &'static str) -> Metric {
    let (name, what, source) = (Cow::Borrowed(name), Cow::Borrowed(what), Cow::Borrowed(source));
    Metric { name, unit, better, what, source, exact: false, counted: false }
}

const fn seconds(name: &'static str, what: &'static str, source: &'static str) -> Metric {
    metric(name, Unit::Seconds, Direction::Less, what, source)
}

const fn bytes(name: &'static str, what: &'static str, source: &'static str) -> Metric {
    metric(name, Unit::Bytes, Direction::Less, what, source)
}

const fn count(name: &'static str, what: &'static str, source: &'static str) -> Metric {
    metric(name, Unit::Count, Direction::Less, what, source)
}

/// Of all of them only throughput is a yield.
const fn per_second(name: &'static str, what: &'static str, source: &'static str) -> Metric {
    metric(name, Unit::PerSecond, Direction::More, what, source)
}

/// Of a trial in which something is counted: the share of its time that the count can see.
pub const SEEN: &str = "seen";

/// Time in which a trial was ready and had no processor.
pub const RUN_DELAY: &str = "run_delay";

/// The metrics that code asks for by name.
pub const WALL: &str = "wall";
/// CPU time in user mode.
pub const USER: &str = "user";
/// CPU time in the kernel.
pub const SYS: &str = "sys";
/// Both together.
pub const CPU: &str = "cpu";
/// Peak resident memory of the largest process.
pub const MAXRSS: &str = "maxrss";

/// Every metric, in the order in which tables list them.
pub const METRICS: &[Metric] = &[
    seconds(WALL, "elapsed time from launch to exit", "clock_gettime(CLOCK_MONOTONIC)"),
    seconds(USER, "CPU time in user mode, of all reaped processes", "wait4: ru_utime"),
    seconds(SYS, "CPU time in the kernel, of all reaped processes", "wait4: ru_stime"),
    seconds(CPU, "user + sys", "sum of two measurements"),
    bytes("peak", "peak memory: cgroup_peak where measured, otherwise maxrss", "one of two measurements"),
    bytes(MAXRSS, "peak resident memory of the largest process", "wait4: ru_maxrss"),
    bytes(
        "cgroup_peak",
        "peak memory of all processes, including caches",
        "cgroup: memory.peak, memory.max_usage_in_bytes",
    ),
    seconds("cgroup_cpu", "CPU time of all processes, reaped or not", "cgroup: cpu.stat, cpuacct.usage"),
    seconds("cgroup_user", "user-mode CPU time of all processes", "cgroup: cpu.stat, cpuacct.usage_user"),
    seconds("cgroup_sys", "kernel CPU time of all processes", "cgroup: cpu.stat, cpuacct.usage_sys"),
    bytes("cgroup_read_bytes", "read from block devices", "cgroup: io.stat, blkio.throttle.io_service_bytes"),
    bytes("cgroup_write_bytes", "written to block devices", "cgroup: io.stat, blkio.throttle.io_service_bytes"),
    count("pids_peak", "peak number of processes and threads", "cgroup: pids.peak"),
    seconds(
        "pressure_cpu",
        "time during which some process waited for a processor",
        "cgroup: cpu.pressure, some total",
    ),
    seconds(
        "pressure_memory",
        "time during which some process waited for memory",
        "cgroup: memory.pressure, some total",
    ),
    seconds(
        "pressure_io",
        "time during which some process waited for input or output",
        "cgroup: io.pressure, some total",
    ),
    bytes("rchar", "read by system calls", "/proc/PID/io: rchar"),
    bytes("wchar", "written by system calls", "/proc/PID/io: wchar"),
    count("syscr", "read system calls", "/proc/PID/io: syscr"),
    count("syscw", "write system calls", "/proc/PID/io: syscw"),
    bytes("read_bytes", "read from storage", "/proc/PID/io: read_bytes"),
    bytes("write_bytes", "written to storage", "/proc/PID/io: write_bytes"),
    seconds(
        "run_delay",
        "time during which the main thread was runnable but not running",
        "/proc/PID/schedstat, field 2",
    ),
    seconds("task_clock", "CPU time", "perf_event_open: PERF_COUNT_SW_TASK_CLOCK"),
    count("page_faults", "page faults", "perf_event_open: PERF_COUNT_SW_PAGE_FAULTS"),
    count("context_switches", "context switches", "perf_event_open: PERF_COUNT_SW_CONTEXT_SWITCHES"),
    count("migrations", "moves to another processor", "perf_event_open: PERF_COUNT_SW_CPU_MIGRATIONS"),
    count("instructions", "instructions in user mode", "perf_event_open: PERF_COUNT_HW_INSTRUCTIONS"),
    count(
        "guest_instructions",
        "instructions of an emulated machine, in all modes and processes",
        "the machine's clock",
    ),
    count("cycles", "processor cycles in user mode", "perf_event_open: PERF_COUNT_HW_CPU_CYCLES"),
    count("branches", "branches in user mode", "perf_event_open: PERF_COUNT_HW_BRANCH_INSTRUCTIONS"),
    count("branch_misses", "mispredicted branches in user mode", "perf_event_open: PERF_COUNT_HW_BRANCH_MISSES"),
    count("cache_misses", "last-level cache misses in user mode", "perf_event_open: PERF_COUNT_HW_CACHE_MISSES"),
    count("load", "runnable tasks at launch, other than Bakeoff's own", "/proc/loadavg, field 4"),
    count("steal", "share of all processors' time that the hypervisor gave to others", "/proc/stat: steal"),
    count("foreign_cpu", "share of all processors' time used outside the trial, load and services", "/proc/stat"),
    seconds("each_wall", "mean elapsed time of concurrent processes", "clock_gettime(CLOCK_MONOTONIC)"),
    per_second("throughput", "processes (or ops, if the trial marks them) per second", "count ÷ wall"),
    per_second("load_rate", "copies of the load completed per second", "count ÷ elapsed time of the load"),
    seconds("load_cpu", "CPU time of the load during the trial", "wait4, cgroup"),
    count("minflt", "page faults without I/O", "wait4: ru_minflt"),
    count("majflt", "page faults with I/O", "wait4: ru_majflt"),
    count("inblock", "block input operations (512 B)", "wait4: ru_inblock"),
    count("oublock", "block output operations (512 B)", "wait4: ru_oublock"),
    count("nvcsw", "voluntary context switches", "wait4: ru_nvcsw"),
    count("nivcsw", "involuntary context switches", "wait4: ru_nivcsw"),
    seconds("sec/op", "time per operation of a benchmark", HARNESS),
    seconds("cpu-sec/op", "CPU time per operation of a benchmark", HARNESS),
    bytes("B/op", "memory allocated per operation of a benchmark", HARNESS),
    count("allocs/op", "allocations per operation of a benchmark", HARNESS),
    per_second("ops/s", "operations of a benchmark per second", HARNESS),
    per_second("items/s", "items that a benchmark processes per second", HARNESS),
    per_second("B/s", "bytes that a benchmark processes per second", HARNESS),
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
