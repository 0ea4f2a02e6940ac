//! What squeue and sinfo say about jobs and nodes, in columns that we ask for, and which reasons for waiting end only if
//! somebody does something. It starts no program.

use crate::machines::slurm_time_s;

/// The columns of [`Queued`], for `squeue -o`. A job's name may have anything in it, so it comes late; a reason is the last,
/// because administrators can write one.
pub(super) const JOBS: &str = "%K|%T|%N|%V|%S|%j|%r";
/// The columns of [`Drained`], for `sinfo -o`.
pub(super) const NODES: &str = "%N|%E";
/// The columns of [`Partition`], for `sinfo -o`.
pub(super) const PARTITIONS: &str = "%P|%l";

/// A job, or one task of an array, that is in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queued {
    /// The task's number; none for a job without an array.
    pub(crate) index: Option<u32>,
    /// What it does.
    pub(crate) state: State,
    /// Why it waits, as Slurm writes it; `None` in words if there is no reason.
    pub(crate) reason: String,
    /// Where it runs; empty while it waits.
    pub(crate) node: String,
    /// Since when it has waited or run, such as `2026-11-25T22:28:57`: this host's time, for people only.
    pub(crate) since: String,
    /// The name that Slurm has for it, which has the chunk's number.
    pub(super) name: String,
}

/// What a job in the queue does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits.
    Pending,
    /// It runs.
    Running,
    /// It has ended, and its node is being cleaned up.
    Completing,
    /// Slurm's word for another state, such as `SUSPENDED`.
    Other(String),
}

/// A node that Slurm gives no jobs until an administrator resumes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Drained {
    /// Its name.
    pub(crate) node: String,
    /// Why, as the one who drained it wrote: Slurm itself writes "Duplicate jobid" after slurmctld lost a job that runs.
    pub(crate) reason: String,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) name: String,
    pub(super) is_default: bool,
    /// The longest job; none is without limit.
    pub(super) most_s: Option<u64>,
}

/// Reads the jobs with this name, those of further arrays included, from lines of [`JOBS`].
pub(super) fn jobs(text: &str, name: &str) -> Vec<Queued> {
    text.lines().filter_map(|line| job(line, name)).collect()
}

fn job(line: &str, name: &str) -> Option<Queued> {
    let mut columns = line.splitn(6, '|');
    let mut next = || columns.next();
    let (number, state, node, submitted, started) = (next()?, next()?, next()?, next()?, next()?);
    let (of_job, reason) = next()?.split_once('|')?;
    let offset = match of_job.strip_prefix(name)? {
        "" => 0,
        rest => rest.strip_prefix('.')?.parse().ok()?,
    };
    let state = match state {
        "PENDING" => State::Pending,
        "RUNNING" => State::Running,
        "COMPLETING" => State::Completing,
        other => State::Other(other.to_owned()),
    };
    Some(Queued {
        index: number.parse::<u32>().ok().map(|number| number + offset),
        since: if state == State::Pending { submitted } else { started }.to_owned(),
        state,
        reason: reason.to_owned(),
        node: node.to_owned(),
        name: of_job.to_owned(),
    })
}

/// Reads lines of [`NODES`]; a node of several partitions has several.
pub(super) fn drained(text: &str) -> Vec<Drained> {
    let lines = text.lines().filter_map(|line| line.split_once('|'));
    let mut all: Vec<Drained> =
        lines.map(|(node, reason)| Drained { node: node.to_owned(), reason: reason.to_owned() }).collect();
    all.sort_by(|one, other| one.node.cmp(&other.node));
    all.dedup();
    all
}

/// Reads lines of [`PARTITIONS`]; what is no line of them is left out.
pub(super) fn partitions(text: &str) -> Vec<Partition> {
    let read = |line: &str| {
        let (name, most) = line.split_once('|')?;
        let most_s = if most == "infinite" { None } else { Some(slurm_time_s(most)?) };
        let is_default = name.ends_with('*');
        Some(Partition { name: name.trim_end_matches('*').to_owned(), is_default, most_s })
    };
    text.lines().filter_map(read).collect()
}

/// What to do about a reason for waiting that never ends by itself; none for others. The names are those of squeue(1),
/// "JOB REASON CODES".
pub(crate) fn never_ends(reason: &str) -> Option<&'static str> {
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
        other if is_limit(other) => Some(EVERYWHERE),
        _ => None,
    }
}

fn is_limit(reason: &str) -> bool {
    let Some(limit) = reason.strip_prefix("QOS").or_else(|| reason.strip_prefix("Assoc")) else { return false };
    (limit.starts_with("Max") && limit.contains("PerJob")) || limit.starts_with("Min")
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
1|SUSPENDED|n2|2026-11-25T22:28:57|2026-11-25T22:29:00|bakeoff-3f|None
N/A|RUNNING|n2|a|b|bakeoff-3f9|None
N/A|RUNNING|n2|a|b|bakeoff-3f.x|None
N/A|RUNNING|n2|a|b|an|odd|name|None
what nobody asked for
";
        let found = jobs(text, "bakeoff-3f");
        let short = |one: &Queued| {
            let Queued { index, state, reason, node, since, .. } = one;
            format!("{index:?} {state:?} {reason:?} {node:?} {since}")
        };
        let expect = [
            "Some(2) Running \"None\" \"n1\" 2026-11-25T22:29:00",
            "Some(3) Pending \"launch failed requeued held\" \"\" 2026-11-25T22:28:57",
            "Some(1001) Pending \"Re|source\" \"\" 2026-11-25T22:28:57",
            "None Completing \"None\" \"n2\" 2026-11-25T22:29:00",
            "Some(1) Other(\"SUSPENDED\") \"None\" \"n2\" 2026-11-25T22:29:00",
        ];
        assert_eq!(found.iter().map(short).collect::<Vec<_>>(), expect);
        assert_eq!(found[2].name, "bakeoff-3f.1001");
    }

    #[test]
    fn nodes_and_partitions_are_read() {
        let node = |node: &str| Drained { node: node.to_owned(), reason: "Duplicate jobid".to_owned() };
        let text = "n2|Duplicate jobid\nn1|Duplicate jobid\nn2|Duplicate jobid\n";
        assert_eq!(drained(text), [node("n1"), node("n2")]);
        let partition = |name: &str, is_default, most_s| Partition { name: name.to_owned(), is_default, most_s };
        let expect =
            [partition("lab", true, Some(3600)), partition("long", false, None), partition("d", false, Some(90_000))];
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
