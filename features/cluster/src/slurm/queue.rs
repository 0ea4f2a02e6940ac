//! What squeue and sinfo say about jobs and nodes, and which reasons for waiting never end by themselves.

use crate::machines::slurm_time_s;
use crate::site::{Job, JobState};
use std::collections::BTreeSet;

/// The columns of [`Job`], for `squeue -o`. Names and reasons may have anything in them, so they are last.
pub(super) const JOBS: &str = "%K|%T|%N|%V|%S|%j|%r";
/// The columns of drained nodes, for `sinfo -o`.
pub(super) const NODES: &str = "%N|%E";
/// The states of nodes, a line each, for `sinfo -N -o`.
pub(super) const STATES: &str = "%t";
/// The columns of [`Partition`], for `sinfo -o`.
pub(super) const PARTITIONS: &str = "%P|%l";

/// What to do about a job in a state that Slurm leaves only when told to.
const HELD: &str = "Slurm holds the job after it was requeued; `scontrol release` tries again";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) name: String,
    pub(super) is_default: bool,
    /// The longest job; [`u64::MAX`] is without limit.
    pub(super) most_s: u64,
}

/// Reads the jobs with this name, a task of an array each, those of further arrays included, from lines of [`JOBS`].
pub(super) fn jobs(text: &str, name: &str) -> Vec<Job> {
    text.lines().filter_map(|line| job(line, name)).collect()
}

fn job(line: &str, name: &str) -> Option<Job> {
    let mut columns = line.splitn(6, '|');
    let mut next = || columns.next();
    let (number, state, node, submitted, started) = (next()?, next()?, next()?, next()?, next()?);
    let (of_job, reason) = next()?.split_once('|')?;
    let offset = offset(of_job, name)?;
    let shard = number.parse::<u32>().ok().map(|number| number + offset);
    let node = Some(node.to_owned()).filter(|node| !node.is_empty());
    // Whatever is neither pending nor held has a node: it runs, is suspended, or is being cleaned up.
    Some(match state {
        "PENDING" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            let remedy = never_ends(reason).or((state != "PENDING").then_some(HELD));
            let state = JobState::Waiting { reason: reason.to_owned(), remedy };
            Job { shard, state, node, since: submitted.to_owned() }
        }
        _ => Job { shard, state: JobState::Running, node, since: started.to_owned() },
    })
}

/// What to add to the numbers of a job's tasks, if it has this name or is a further array of it.
pub(super) fn offset(of_job: &str, name: &str) -> Option<u32> {
    match of_job.strip_prefix(name)? {
        "" => Some(0),
        rest => rest.strip_prefix('.')?.parse().ok(),
    }
}

/// Reads lines of [`NODES`], as each node with the reason that the one who drained it gave; a node of several partitions has
/// several lines. Slurm itself writes "Duplicate jobid" after slurmctld lost a job that runs.
pub(super) fn drained(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter_map(|line| line.split_once('|'));
    lines.map(|(node, reason)| format!("{node} ({reason})")).collect()
}

/// Counts lines of [`STATES`]: all nodes, and those that take jobs now or when others have ended. `*` is no answer from a node.
pub(super) fn nodes(text: &str) -> [usize; 2] {
    let takes = |state: &&str| ["idle", "mix", "alloc", "comp"].iter().any(|word| state.starts_with(word));
    [text.lines().count(), text.lines().filter(takes).filter(|state| !state.contains('*')).count()]
}

/// Reads lines of [`PARTITIONS`]; what is no line of them is left out.
pub(super) fn partitions(text: &str) -> Vec<Partition> {
    let read = |line: &str| {
        let (name, most) = line.split_once('|')?;
        let most_s = if most == "infinite" { u64::MAX } else { slurm_time_s(most)? };
        let is_default = name.ends_with('*');
        Some(Partition { name: name.trim_end_matches('*').to_owned(), is_default, most_s })
    };
    text.lines().filter_map(read).collect()
}

/// What to do about a reason for waiting that never ends by itself. See squeue(1), "JOB REASON CODES".
fn never_ends(reason: &str) -> Option<&'static str> {
    const EVERYWHERE: &str = "change the section in machines.toml, cancel the jobs, and run the study again";
    // Newer versions have underscores between words.
    match reason.replace('_', " ").as_str() {
        "PartitionTimeLimit" => Some("use a shorter `time`, cancel the jobs, and run the study again"),
        "PartitionConfig" | "PartitionNodeLimit" | "BadConstraints" | "AccountNotAllowed" | "QOSNotAllowed"
        | "InvalidAccount" | "InvalidQOS" | "ReservationDeleted" | "ReservationInvalid" | "Licenses invalid" => {
            Some(EVERYWHERE)
        }
        "DependencyNeverSatisfied" => {
            Some("a job that had to succeed first failed; cancel these, and run the study again")
        }
        "JobHeldUser" => Some("you held the job; `scontrol release` lets it run"),
        "JobHeldAdmin" => Some("an administrator held the job; ask them to release it"),
        "launch failed requeued held" | "job requeued in held state" | "JobHoldMaxRequeue" => {
            Some("a node could not start the job, so Slurm held it; `scontrol release` tries again")
        }
        // A limit for one job does not change while others end; one for a group does.
        other => {
            let limit = other.strip_prefix("QOS").or_else(|| other.strip_prefix("Assoc"))?;
            let is_of_one = limit.starts_with("Min") || limit.starts_with("Max") && limit.contains("PerJob");
            is_of_one.then_some(EVERYWHERE)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_found_by_name_and_no_others() {
        let text = "\
2|RUNNING|n1|2026-11-25T22:28:57|2026-11-25T22:29:00|bakeoff-3f|None
3|PENDING||2026-11-25T22:28:57|N/A|bakeoff-3f|launch failed requeued held
0|PENDING||2026-11-25T22:28:57|2026-11-26T00:00:00|bakeoff-3f.1001|Re|source
N/A|COMPLETING|n2|2026-11-25T22:28:57|2026-11-25T22:29:00|bakeoff-3f|None
4|SPECIAL_EXIT||2026-11-25T22:28:57|N/A|bakeoff-3f|JobHeldUser
5|REQUEUE_HOLD||2026-11-25T22:28:57|N/A|bakeoff-3f|None
1|SUSPENDED|n2|2026-11-25T22:28:57|2026-11-25T22:29:00|bakeoff-3f|None
N/A|RUNNING|n2|a|b|bakeoff-3f9|None
N/A|RUNNING|n2|a|b|bakeoff-3f.x|None
N/A|RUNNING|n2|a|b|an|odd|name|None
what nobody asked for
";
        let waits = |reason: &str| JobState::Waiting { reason: reason.to_owned(), remedy: never_ends(reason) };
        let job = |shard, state, node: Option<&str>, since: &str| {
            let since = format!("2026-11-25T22:{since}");
            Job { shard, state, node: node.map(str::to_owned), since }
        };
        let expect = [
            job(Some(2), JobState::Running, Some("n1"), "29:00"),
            job(Some(3), waits("launch failed requeued held"), None, "28:57"),
            job(Some(1001), waits("Re|source"), None, "28:57"),
            job(None, JobState::Running, Some("n2"), "29:00"),
            job(Some(4), waits("JobHeldUser"), None, "28:57"),
            job(Some(5), JobState::Waiting { reason: "None".to_owned(), remedy: Some(HELD) }, None, "28:57"),
            job(Some(1), JobState::Running, Some("n2"), "29:00"),
        ];
        assert_eq!(jobs(text, "bakeoff-3f"), expect);
    }

    #[test]
    fn nodes_and_partitions_are_read() {
        let text = "n2|Duplicate jobid\nn1|Duplicate jobid\nn2|Duplicate jobid\n";
        assert_eq!(drained(text).into_iter().collect::<Vec<_>>(), ["n1 (Duplicate jobid)", "n2 (Duplicate jobid)"]);
        assert_eq!(nodes("idle\nmix-\nidle*\ndrain\ndrng\ndown*\nalloc\n"), [7, 3]);
        let partition = |name: &str, is_default, most_s| Partition { name: name.to_owned(), is_default, most_s };
        let expect = [partition("lab", true, 3600), partition("long", false, u64::MAX), partition("d", false, 90_000)];
        assert_eq!(partitions("lab*|1:00:00\nlong|infinite\nd|1-01:00:00\nodd|n/a\n"), expect);
    }

    #[test]
    fn reasons_that_never_end_are_known() {
        for reason in [
            "PartitionTimeLimit",
            "PartitionConfig",
            "DependencyNeverSatisfied",
            "JobHeldUser",
            "JobHeldAdmin",
            "launch failed requeued held",
            "launch_failed_requeued_held",
            "BadConstraints",
            "QOSMaxWallDurationPerJobLimit",
            "AssocMaxCpuPerJobLimit",
            "QOSMinCpuNotSatisfied",
        ] {
            assert!(never_ends(reason).is_some(), "{reason}");
        }
        for reason in [
            "None",
            "Resources",
            "Priority",
            "JobArrayTaskLimit",
            "QOSMaxJobsPerUserLimit",
            "AssocGrpCpuLimit",
            "BeginTime",
        ] {
            assert_eq!(never_ends(reason), None, "{reason}");
        }
    }
}
