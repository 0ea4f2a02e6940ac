//! Which file of a group tells which metric, in which hierarchy, and how it is read; and why a metric is in none.

use super::find::Hierarchy;
use super::{tree, values};
use bakeoff_model::metric::Measurements;
use std::io;
use std::path::Path;

type Parse = fn(&str) -> Option<f64>;

/// A file and the metrics that it tells.
#[derive(Debug)]
pub(super) struct File {
    /// The controller of version 1 whose hierarchy it is in; none in version 2.
    v1: Option<&'static str>,
    name: &'static str,
    pub(super) metrics: &'static [(&'static str, Parse)],
}

const fn v2(name: &'static str, metrics: &'static [(&'static str, Parse)]) -> File {
    File { v1: None, name, metrics }
}

const fn v1(controller: &'static str, name: &'static str, metrics: &'static [(&'static str, Parse)]) -> File {
    File { v1: Some(controller), name, metrics }
}

/// Where two files tell the same, the first one counts.
const FILES: &[File] = &[
    v2("memory.peak", &[("cgroup_peak", values::number)]),
    v2(
        "cpu.stat",
        &[
            ("cgroup_cpu", |text| values::keyed_us(text, "usage_usec")),
            ("cgroup_user", |text| values::keyed_us(text, "user_usec")),
            ("cgroup_sys", |text| values::keyed_us(text, "system_usec")),
        ],
    ),
    v2(
        "io.stat",
        &[
            ("cgroup_read_bytes", |text| Some(values::io_stat(text, "rbytes"))),
            ("cgroup_write_bytes", |text| Some(values::io_stat(text, "wbytes"))),
        ],
    ),
    v2("pids.peak", &[("pids_peak", values::number)]),
    v2("cpu.pressure", &[("pressure_cpu", values::some_total_s)]),
    v2("memory.pressure", &[("pressure_memory", values::some_total_s)]),
    v2("io.pressure", &[("pressure_io", values::some_total_s)]),
    v1("memory", "memory.max_usage_in_bytes", &[("cgroup_peak", values::number)]),
    v1("cpuacct", "cpuacct.usage", &[("cgroup_cpu", values::seconds_of_ns)]),
    v1("cpuacct", "cpuacct.usage_user", &[("cgroup_user", values::seconds_of_ns)]),
    v1("cpuacct", "cpuacct.usage_sys", &[("cgroup_sys", values::seconds_of_ns)]),
    v1("blkio", "blkio.throttle.io_service_bytes_recursive", BLKIO),
    v1("blkio", "blkio.bfq.io_service_bytes_recursive", BLKIO),
    v1("blkio", "blkio.throttle.io_service_bytes", BLKIO),
    v1("pids", "pids.peak", &[("pids_peak", values::number)]),
];

const BLKIO: &[(&str, Parse)] = &[
    ("cgroup_read_bytes", |text| Some(values::blkio(text, "Read"))),
    ("cgroup_write_bytes", |text| Some(values::blkio(text, "Write"))),
];

/// All metrics that groups tell somewhere, and why one is missing where no hierarchy has its file.
pub(crate) const NAMES: &[(&str, &str)] = &[
    ("cgroup_peak", "no cgroup memory controller here"),
    ("cgroup_cpu", "cgroups do not report CPU time here"),
    ("cgroup_user", "cgroups do not separate user and system CPU time here"),
    ("cgroup_sys", "cgroups do not separate user and system CPU time here"),
    ("cgroup_read_bytes", "cgroups do not count block input and output here"),
    ("cgroup_write_bytes", "cgroups do not count block input and output here"),
    ("pids_peak", "cgroups do not report the peak number of processes here"),
    ("pressure_cpu", "cgroups do not report pressure here (needs cgroup v2 and the kernel parameter psi=1)"),
    ("pressure_memory", "cgroups do not report pressure here (needs cgroup v2 and the kernel parameter psi=1)"),
    ("pressure_io", "cgroups do not report pressure here (needs cgroup v2 and the kernel parameter psi=1)"),
];

/// The files of a group that tell what is not yet in `measured`, which they fill.
pub(super) fn that_tell(hierarchy: &Hierarchy, folder: &Path, measured: &mut Measurements) -> Vec<&'static File> {
    let mut adding = vec![];
    for file in FILES {
        let is_here = file.v1.map_or(hierarchy.is_v2(), |controller| hierarchy.has(controller));
        let before = measured.len();
        if is_here {
            read(|name| tree::read(&folder.join(name)), [file], measured);
        }
        if measured.len() > before {
            adding.push(file);
        }
    }
    adding
}

pub(super) fn unavailable(measured: &Measurements) -> Vec<(&'static str, String)> {
    let unavailable = NAMES.iter().filter(|(name, _)| !measured.contains_key(name));
    unavailable.map(|&(name, why)| (name, why.to_owned())).collect()
}

/// Reads these files, by name, and adds what they tell. Values that are there already stay.
pub(super) fn read(
    text_of: impl Fn(&str) -> io::Result<String>,
    files: impl IntoIterator<Item = &'static File>,
    measured: &mut Measurements,
) {
    for file in files {
        let Ok(text) = text_of(file.name) else { continue };
        for (metric, parse) in file.metrics {
            if let Some(value) = parse(&text) {
                measured.get_or_insert(*metric, value);
            }
        }
    }
}
