//! The probes that there are, and which of them a launcher gets. Cheap ones always watch: they read a few small files
//! before and after a job. Control groups and counters of perf events watch only where their metrics are asked for (and
//! groups where something is to be limited), because they cost every process of the job something when it forks,
//! begins and ends.

mod cgroup;
mod ours;
mod perf;
mod reasons;
mod surroundings;
mod zombie;

#[cfg(test)]
mod tests;

use crate::launchers::Ours;
use crate::probe::Probe;
pub(crate) use zombie::WAIT;

/// The probes of a launcher with this process id: all cheap ones, and groups and counters for those of the `wanted`
/// metrics that come from them.
///
/// The order matters: [`Probe::before`] is called in this order, [`Probe::after`] in the same. A call of `before` that
/// is followed by another one, and by no `after`, belongs to a job that was not launched.
pub(crate) fn all(launcher: u32, wanted: &[&str]) -> Vec<Box<dyn Probe>> {
    let ours = Ours::register(launcher);
    let group = cgroup::Cgroup::new(wanted);
    // The group is made last and read first: the work for the other probes does not count for the job.
    vec![
        Box::new(surroundings::Surroundings::new(ours, group.of_every_job())),
        Box::new(zombie::Zombies::new()),
        Box::new(perf::Counters::open(launcher, wanted)),
        Box::new(group),
    ]
}
