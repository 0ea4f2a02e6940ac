//! The group of one job: what a launcher confines its processes to, the limits, and what the kernel counted.

use super::home::{Home, Needs};
use super::{counts, tree, values};
use crate::job::Limits;
use crate::probe::Confinement;
use bakeoff_model::metric::Measurements;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A period of the scheduler's bandwidth control, in µs; the kernel's own default.
const PERIOD_US: f64 = 100_000.0;
/// The least quota that the kernel takes, in µs.
const LEAST_QUOTA_US: f64 = 1_000.0;

/// A folder in each hierarchy, with the number of its nest in the [`Home`].
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The last part of all these paths.
    name: String,
    pub(super) folders: Vec<(usize, PathBuf)>,
}

impl Home {
    pub(crate) fn group(&self, needs: &Needs<'_>) -> io::Result<Group> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let mut group = Group { name, folders: vec![] };
        for (nth, nest) in self.nests.iter().enumerate() {
            if !self.is_needed(nest, needs) {
                continue;
            }
            let folder = nest.folder.join(&group.name);
            match nest.dir.create(&group.name) {
                // What of this name stands there is left over from a job whose group could not be removed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    tree::remove(&folder)?;
                    nest.dir.create(&group.name)?;
                }
                made => made?,
            }
            group.folders.push((nth, folder));
        }
        Ok(group)
    }
}

impl Group {
    /// What the launcher needs to fill and to kill the group, and the nest of each file to be joined, or of an error.
    pub(super) fn confinement(&self, home: &Home) -> Result<(Confinement, Vec<usize>), (usize, io::Error)> {
        let mut confinement = Confinement::default();
        let mut order = vec![];
        for (nth, _) in &self.folders {
            let failed = |error| (*nth, error);
            let nest = &home.nests[*nth];
            let is_v2 = nest.hierarchy.is_v2();
            let for_writing = |name: &str| nest.dir.open_for_writing(&format!("{}/{name}", self.name));
            if is_v2 && home.clones_into {
                confinement.into = Some(nest.dir.open_folder(&self.name).map_err(failed)?);
            } else {
                // Where a single thread moves only itself, older kernels need no lock that all processes share.
                let name = if is_v2 { "cgroup.procs" } else { "tasks" };
                confinement.join.push(for_writing(name).map_err(failed)?);
                order.push(*nth);
            }
            // It also thaws: what is frozen dies too. Before Linux 5.14 there is none.
            if is_v2 && let Ok(kill) = for_writing("cgroup.kill") {
                confinement.kill.push((kill, b"1"));
            }
        }
        Ok((confinement, order))
    }

    pub(crate) fn confine(&self, home: &Home, into: &mut Confinement) -> io::Result<()> {
        let (confinement, _) = self.confinement(home).map_err(|(_, error)| error)?;
        into.into = confinement.into;
        into.join.extend(confinement.join);
        into.kill.extend(confinement.kill);
        Ok(())
    }

    pub(crate) fn limit(&self, home: &Home, limits: &Limits) -> io::Result<()> {
        for (nth, folder) in &self.folders {
            let hierarchy = &home.nests[*nth].hierarchy;
            let set = |name: &str, value: &str| tree::write(&folder.join(name), value);
            if let Some(bytes) = limits.memory_bytes.map(|bytes| bytes.to_string()) {
                if hierarchy.is_v2() && folder.join("memory.max").exists() {
                    set("memory.max", &bytes)?;
                    // Kernels without swap have no such file; then there is nothing to limit.
                    let _ = set("memory.swap.max", "0");
                    let _ = set("memory.oom.group", "1");
                } else if hierarchy.has("memory") {
                    set("memory.limit_in_bytes", &bytes)?;
                    let _ = set("memory.memsw.limit_in_bytes", &bytes);
                }
            }
            if let Some(cpus) = limits.cpu_limit {
                let quota_us = (cpus * PERIOD_US).round().max(LEAST_QUOTA_US);
                if hierarchy.is_v2() && folder.join("cpu.max").exists() {
                    set("cpu.max", &format!("{quota_us:.0} {PERIOD_US:.0}"))?;
                } else if hierarchy.has("cpu") {
                    set("cpu.cfs_period_us", &format!("{PERIOD_US:.0}"))?;
                    set("cpu.cfs_quota_us", &format!("{quota_us:.0}"))?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn measure(&self, home: &Home, into: &mut Measurements) {
        for (nth, folder) in &self.folders {
            let nest = &home.nests[*nth];
            let text_of = |name: &str| {
                let path = format!("{}/{name}", self.name);
                // A child may have taken away permissions; the long way restores them.
                nest.dir.read(&path).or_else(|_| tree::read(&folder.join(name)))
            };
            counts::read(text_of, nest.files.iter().copied(), into);
        }
    }

    pub(crate) fn killed_for_memory(&self) -> u64 {
        let events = ["memory.events", "memory.oom_control"];
        let kills = |folder: &Path| {
            let text = events.iter().find_map(|name| tree::read(&folder.join(name)).ok())?;
            values::keyed(&text, "oom_kill")
        };
        self.folders.iter().filter_map(|(_, folder)| kills(folder)).sum::<f64>() as u64
    }

    /// Removes it, with whatever still lives in it; tries all its folders even if one stays.
    pub(crate) fn remove(&self, home: &Home) -> io::Result<()> {
        let remove = |(nth, folder): &(usize, PathBuf)| {
            let nest = home.nests.get(*nth).ok_or(io::ErrorKind::NotFound)?;
            nest.dir.remove(&self.name).or_else(|_| tree::remove(folder))
        };
        self.folders.iter().map(remove).fold(Ok(()), Result::and)
    }
}
