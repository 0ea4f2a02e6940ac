//! The processor time that everything below a launcher has used so far, while it is still alive: the processes that
//! run, by their processor clocks, and those that were waited for, by the sums that the kernel keeps with the process that
//! waited. It needs no cgroup and no privilege. It is a sum over a tree that changes meanwhile, and not a snapshot.
#![allow(unsafe_code, reason = "neither std nor rustix can read the CPU clock of another process")]

use crate::files::Files;
use std::mem::MaybeUninit;

/// How often the sum is made again because a process was waited for meanwhile.
const TRIES: u32 = 3;

/// CPU time of all that this launcher has run so far and runs now, as [`super::Launcher::cpu_so_far_s`] tells it.
pub(super) fn cpu_so_far_s(launcher: u32) -> Option<f64> {
    let files = Files::here();
    let mut reaped_s = reaped_s(&files, launcher)?;
    for _ in 0..TRIES {
        let alive_s: f64 = descendants(&files, launcher).into_iter().map(|pid| alive_s(&files, pid)).sum();
        let now_s = self::reaped_s(&files, launcher)?;
        if now_s.total_cmp(&reaped_s).is_eq() {
            return Some(now_s + alive_s);
        }
        reaped_s = now_s;
    }
    Some(reaped_s + descendants(&files, launcher).into_iter().map(|pid| alive_s(&files, pid)).sum::<f64>())
}

/// Sets the peaks of all processes below this launcher back; what [`peak_bytes`] needs, none if the kernel refuses.
pub(super) fn peaks_begin(launcher: u32) -> Option<u64> {
    let files = Files::here();
    let waited_for = waited_for(&files, launcher);
    // proc_pid_clear_refs(5): the peak resident size becomes the present one. One that has just gone is no matter.
    let is_set = |pid| std::fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok();
    let set_back = |pid| is_set(pid) || !files.exists(&format!("proc/{pid}"));
    descendants(&files, launcher).into_iter().all(set_back).then_some(waited_for)
}

/// The peak resident memory of the largest process below this launcher, perhaps since a reset; none if unknown.
pub(super) fn peak_bytes(launcher: u32, begun: Option<u64>) -> Option<f64> {
    let files = Files::here();
    // One that has ended, and that nobody has waited for, has no such field.
    let peaks = descendants(&files, launcher).into_iter().filter_map(|pid| of_memory(&files, pid)).max();
    peaks.filter(|_| begun.is_none_or(|begun| waited_for(&files, launcher) == begun)).map(|bytes| bytes as f64)
}

/// The peak resident memory of a process, in bytes.
pub(super) fn of_memory(files: &Files, pid: u32) -> Option<u64> {
    let kib: u64 = files.field(&format!("proc/{pid}/status"), "VmHWM")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Page faults of the processes that this launcher and all below it waited for (proc_pid_stat(5): cminflt).
fn waited_for(files: &Files, launcher: u32) -> u64 {
    let all = descendants(files, launcher).into_iter().chain([launcher]);
    all.filter_map(|pid| fields(files, pid)?.get(8).copied()).sum()
}

/// Own time of a process and that of the children it waited for; 0 if it has just gone.
fn alive_s(files: &Files, pid: u32) -> f64 {
    let waited_for_s = reaped_s(files, pid).unwrap_or(0.0);
    clock_s(pid).unwrap_or(0.0) + waited_for_s
}

/// CPU time of the children that a process has waited for (proc_pid_stat(5): cutime and cstime).
fn reaped_s(files: &Files, pid: u32) -> Option<f64> {
    let ticks = fields(files, pid)?.iter().skip(13).take(2).sum::<u64>() as f64;
    // SAFETY: sysconf only reads.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (per_second > 0).then(|| ticks / per_second as f64)
}

/// The fields of proc_pid_stat(5) from the third on; one that is no number counts as 0.
fn fields(files: &Files, pid: u32) -> Option<Vec<u64>> {
    let stat = files.read(&format!("proc/{pid}/stat"))?;
    // The name of the program, in brackets, may hold anything.
    let fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    Some(fields.map(|field| field.parse().unwrap_or(0)).collect())
}

/// The processor clock of a process (clock_getcpuclockid(3)), of all its threads.
fn clock_s(pid: u32) -> Option<f64> {
    let mut clock = 0;
    // SAFETY: `clock` is valid for a write of its type.
    if unsafe { libc::clock_getcpuclockid(libc::pid_t::try_from(pid).ok()?, &raw mut clock) } != 0 {
        return None;
    }
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `time` is valid for a write of its type.
    if unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call has succeeded in filling it.
    let time = unsafe { time.assume_init() };
    Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// All processes below this one.
fn descendants(files: &Files, pid: u32) -> Vec<u32> {
    let mut found = vec![];
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let children = children(files, parent);
        parents.extend(&children);
        found.extend(children);
    }
    found
}

pub(super) fn children(files: &Files, pid: u32) -> Vec<u32> {
    // Each thread has children of its own.
    let of_thread = |thread: String| files.read(&format!("proc/{pid}/task/{thread}/children")).unwrap_or_default();
    let lists = files.names(&format!("proc/{pid}/task")).into_iter().map(of_thread);
    lists.flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_below_a_process_and_its_time_are_seen() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 1000 & wait"]).spawn().unwrap();
        let files = Files::here();
        let mut seen = vec![];
        while seen.is_empty() {
            seen = descendants(&files, child.id());
        }
        let me = std::process::id();
        let all = descendants(&files, me);
        assert!(all.contains(&child.id()) && all.contains(&seen[0]), "{all:?} {seen:?}");
        for pid in seen {
            let name = files.field(&format!("proc/{pid}/status"), "PPid");
            assert_eq!(name, Some(child.id().to_string()));
            std::process::Command::new("kill").arg(pid.to_string()).status().unwrap();
        }
        child.wait().unwrap();
        assert!(clock_s(me).unwrap() > 0.0 && reaped_s(&files, me).unwrap() >= 0.0);
        assert_eq!(clock_s(u32::MAX), None);
    }
}
