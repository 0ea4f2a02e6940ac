//! The folder that this Bakeoff has for its groups, in each hierarchy where it could be made: what it can do, and how it is
//! removed. Totals of all jobs come from the folder itself: the counters of cgroups are hierarchical.

use super::find::Hierarchy;
use super::{counts, tree, values};
use crate::launchers::our_processes;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// The group below ours into which we move ourselves, where nothing else makes the controllers of version 2 available.
pub(super) const SELF: &str = "self";

/// Our folder in every hierarchy of use. It is removed when the last user lets go.
#[derive(Debug)]
pub struct Home {
    pub(super) nests: Vec<Nest>,
    /// Whether the kernel clones processes into a group of version 2.
    pub(super) clones_into: bool,
    /// Metrics that cannot be had of groups here, and why.
    pub unavailable: Vec<(&'static str, String)>,
    pub(super) contains_self: bool,
    /// The number that the next group is named by.
    pub(super) next: AtomicU64,
    pub(super) limits_cpu: OnceLock<bool>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs<'a> {
    /// These metrics.
    pub(crate) metrics: &'a [&'static str],
    /// All metrics that a group may tell.
    pub(crate) all_metrics: bool,
    /// A limit of memory.
    pub(crate) memory_limit: bool,
    /// A limit of CPU time.
    pub(crate) cpu_limit: bool,
}

impl Needs<'_> {
    /// Whatever a group may tell.
    pub(crate) fn everything() -> Self {
        Self { all_metrics: true, ..Self::default() }
    }
}

/// Our folder in one hierarchy.
#[derive(Debug)]
pub(super) struct Nest {
    pub(super) hierarchy: Hierarchy,
    pub(super) folder: PathBuf,
    pub(super) dir: tree::Dir,
    /// What is read of a group of it after a job.
    pub(super) files: Vec<&'static counts::File>,
}

impl Nest {
    /// Whether it delegates a controller of version 2: whether the groups below have it.
    fn delegates(&self, controller: &str) -> bool {
        words(&self.folder.join("cgroup.subtree_control")).iter().any(|c| c == controller)
    }
}

impl Home {
    /// CPU time of all jobs so far, also of those that go on, in seconds.
    pub(crate) fn cpu_s(&self) -> Option<f64> {
        if let Some(v2) = self.v2() {
            return values::keyed_us(&v2.dir.read("cpu.stat").ok()?, "usage_usec");
        }
        let nest = self.nests.iter().find(|nest| nest.hierarchy.has("cpuacct"))?;
        Some(values::number(&nest.dir.read("cpuacct.usage").ok()?)? / 1e9)
    }

    /// Whether this very process is in the folder, and so counted with the jobs.
    pub(crate) fn contains_self(&self) -> bool {
        self.contains_self
    }

    /// Whether there is a controller for CPU limits. The first call enables it, if it can be.
    pub fn limits_cpu(&self) -> bool {
        *self.limits_cpu.get_or_init(|| {
            if let Some(v2) = self.v2() {
                if let Some(above) = v2.folder.parent() {
                    enable(above, &["cpu"]);
                }
                enable(&v2.folder, &["cpu"]);
                if v2.delegates("cpu") {
                    return true;
                }
            }
            self.nests.iter().any(|nest| nest.hierarchy.has("cpu") && nest.folder.join("cpu.cfs_quota_us").exists())
        })
    }

    /// Whether there is a controller for limits of memory.
    pub fn limits_memory(&self) -> bool {
        self.nests.iter().any(|nest| nest.hierarchy.has("memory") || nest.hierarchy.is_v2() && nest.delegates("memory"))
    }

    /// Whether the kernel clones processes into a group.
    pub fn clones_into(&self) -> bool {
        self.clones_into && self.v2().is_some()
    }

    /// Whether hierarchies of version 1 are in use.
    pub fn has_v1(&self) -> bool {
        self.nests.iter().any(|nest| !nest.hierarchy.is_v2())
    }

    /// Which of the three worlds this is, in words.
    pub fn world(&self) -> &'static str {
        match (self.v2().is_some(), self.has_v1()) {
            (true, true) => "hybrid of versions 1 and 2",
            (true, false) => "version 2",
            (false, _) => "version 1",
        }
    }

    pub(super) fn v2(&self) -> Option<&Nest> {
        self.nests.iter().find(|nest| nest.hierarchy.is_v2())
    }

    /// Whether a job needs a group here. Version 2 has most for the price of one; it or cpuacct counts the time of jobs.
    pub(super) fn is_needed(&self, nest: &Nest, needs: &Needs<'_>) -> bool {
        let of = |controllers: &[&str]| controllers.iter().any(|controller| nest.hierarchy.has(controller));
        let tells = || nest.files.iter().any(|file| file.metrics.iter().any(|(name, _)| needs.metrics.contains(name)));
        nest.hierarchy.is_v2()
            || tells()
            || of(&["cpuacct"]) && self.v2().is_none()
            || needs.memory_limit && of(&["memory"])
            || needs.cpu_limit && of(&["cpu"])
            || needs.all_metrics && of(&["memory", "pids", "blkio", "cpuacct"])
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for nest in &self.nests {
            if self.contains_self && nest.hierarchy.is_v2() && !move_out(&nest.folder) {
                continue;
            }
            let _ = tree::remove(&nest.folder);
        }
    }
}

/// Back to where we came from, which takes processes again once it delegates no controllers. What does not work here
/// must not end in our own death: then the folder stays, empty but for us, and the next one removes it.
fn move_out(folder: &Path) -> bool {
    let Some(own) = folder.parent() else { return false };
    for group in tree::below(folder).iter().filter(|group| !group.ends_with(SELF)) {
        let _ = tree::remove(group);
    }
    for folder in [folder, own] {
        for controller in words(&folder.join("cgroup.subtree_control")) {
            let _ = tree::write(&folder.join("cgroup.subtree_control"), &format!("-{controller}"));
        }
    }
    move_into(own) && fs::remove_dir(folder.join(SELF)).is_ok()
}

/// Delegates controllers to the groups below; each for itself, because one refusal would refuse all. A group with
/// processes is left alone: once it delegates, no group below could take a process ("domain invalid").
pub(super) fn enable(folder: &Path, controllers: &[&str]) {
    let is_top = !folder.join("cgroup.type").exists();
    if !is_top && !words(&folder.join("cgroup.procs")).is_empty() {
        return;
    }
    for controller in controllers {
        let _ = tree::write(&folder.join("cgroup.subtree_control"), &format!("+{controller}"));
    }
}

pub(super) fn words(file: &Path) -> Vec<String> {
    tree::read(file).unwrap_or_default().split_whitespace().map(ToOwned::to_owned).collect()
}

pub(super) fn move_into(folder: &Path) -> bool {
    let _ = fs::create_dir(folder);
    let moved = |pid: &u32| tree::write(&folder.join("cgroup.procs"), &pid.to_string()).is_ok();
    our_processes().iter().all(moved)
}
