//! What the kernel did for two variants, side by side: system calls, page faults and waiting that differ. It is part of the
//! account of time, but of one watched execution of each side, so that it has no intervals, and nothing is added up with
//! the times of trials.

use super::result::{FaultKind, KernelAccount, KernelRow, KernelWork};
use crate::census::{Blocked, Report, SyscallSums, Times};
use crate::kernel::times;
use std::collections::{BTreeMap, BTreeSet};

/// Rows, at most.
const MOST_ROWS: usize = 6;

/// What a call or a fault of which no time is known is taken for when rows are ordered.
const NOMINAL_S: f64 = 1e-6;

/// Differences in blocked time below this, or below this part of all tasks' lifetimes, have no row: no two executions wait
/// equally long.
const LEAST_BLOCKED_S: f64 = 1e-4;
const LEAST_BLOCKED_PART: f64 = 1e-3;

/// Who waits in these waits for tasks that are watched, too, and what those did has rows.
const WAITING_FOR_CHILDREN: [&str; 3] = ["wait4", "waitid", "vfork"];

/// Times beyond this are no times. A journal may be somebody else's.
const MOST_S: f64 = 1e9;

/// The account of a baseline's report and a variant's.
pub(crate) fn of(sides: [&Report; 2]) -> KernelAccount {
    let all_times = match sides.map(|report| times(report).filter(|times| are_usable(times))) {
        [Some(before), Some(after)] => Some([before, after]),
        _ => None,
    };
    let names: BTreeSet<&String> = sides.iter().flat_map(|report| report.syscalls.keys()).collect();
    let call = |name: &str| sides.map(|report| report.syscalls.get(name).copied().unwrap_or_default());
    let mut rows: Vec<KernelRow> =
        names.iter().flat_map(|name| call_row(name, call(name), all_times.is_some())).collect();
    if let [Some(before), Some(after)] = sides.map(|report| report.faults) {
        let kinds = [
            (FaultKind::ReadAbsent, [before.read_absent, after.read_absent]),
            (FaultKind::WriteAbsent, [before.write_absent, after.write_absent]),
            (FaultKind::ReadPresent, [before.read_present, after.read_present]),
            (FaultKind::CopyOnWrite, [before.write_present, after.write_present]),
        ];
        let differing = kinds.into_iter().filter(|(_, [before, after])| before != after);
        rows.extend(differing.map(|(kind, counts)| KernelRow { what: KernelWork::Fault(kind), counts, times_s: None }));
    }
    let has_path = all_times.is_some() && sides.iter().all(|report| report.path.is_some());
    if let Some(all_times) = all_times {
        let least_s = all_times.map(|times| times.lifetime_s * LEAST_BLOCKED_PART);
        let least_s = least_s.into_iter().fold(LEAST_BLOCKED_S, f64::max);
        let waits = sides.map(|report| waits(report, has_path));
        let names: BTreeSet<&str> = waits.iter().flat_map(BTreeMap::keys).copied().collect();
        let both = |name: &str| [&waits[0], &waits[1]].map(|waits| waits.get(name).copied().unwrap_or_default());
        rows.extend(names.into_iter().filter_map(|name| blocked_row(name, both(name), least_s)));
    }
    rows.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    rows.truncate(MOST_ROWS);
    KernelAccount {
        rows,
        run_queue_s: all_times.map(|all_times| all_times.map(|times| times.run_queue_s)),
        has_faults: sides.iter().all(|report| report.faults.is_some()),
        is_traced: sides.iter().any(|report| !report.has_times()),
        has_path,
        no_path: sides.iter().find_map(|report| report.no_path.clone()).filter(|_| !has_path),
    }
}

fn are_usable(times: &Times) -> bool {
    [times.lifetime_s, times.run_queue_s].into_iter().all(is_time)
}

fn is_time(seconds: f64) -> bool {
    (0.0..=MOST_S).contains(&seconds)
}

/// A call that one side makes more often, with the time in it that is not blocked.
fn call_row(name: &str, sums: [SyscallSums; 2], has_times: bool) -> Option<KernelRow> {
    let counts = sums.map(|sums| sums.count);
    let own = |sums: SyscallSums| (sums.spent.time_s - sums.spent.blocked_s).max(0.0);
    let times_s = Some(sums.map(own)).filter(|times| has_times && times.iter().all(|&time| is_time(time)));
    (counts[0] != counts[1]).then(|| KernelRow { what: KernelWork::Call(name.to_owned()), counts, times_s })
}

/// How long and how often each call waits: on the path that ends last, or in all tasks.
fn waits(report: &Report, has_path: bool) -> BTreeMap<&str, Blocked> {
    if let Some(path) = report.path.as_ref().filter(|_| has_path) {
        return path.blocked.iter().map(|(name, blocked)| (name.as_str(), *blocked)).collect();
    }
    let of = |sums: &SyscallSums| Blocked { time_s: sums.spent.blocked_s, times: sums.spent.times_blocked };
    report.syscalls.iter().map(|(name, sums)| (name.as_str(), of(sums))).collect()
}

/// A call in which one side waits longer.
fn blocked_row(name: &str, waits: [Blocked; 2], least_s: f64) -> Option<KernelRow> {
    let times_s = waits.map(|blocked| blocked.time_s);
    let is_row = times_s.into_iter().all(is_time)
        && (times_s[1] - times_s[0]).abs() >= least_s
        && !WAITING_FOR_CHILDREN.contains(&name);
    let counts = waits.map(|blocked| blocked.times);
    is_row.then(|| KernelRow { what: KernelWork::Blocked(name.to_owned()), counts, times_s: Some(times_s) })
}

/// What rows are ordered by.
fn weight(row: &KernelRow) -> f64 {
    let [before, after] = row.counts;
    row.times_s.map_or(after.abs_diff(before) as f64 * NOMINAL_S, |[before, after]| (after - before).abs())
}

#[cfg(test)]
mod tests;
