//! Kills and reaps every child of the launcher, until there is none. The launcher is a child subreaper (prctl(2)), so
//! that every orphan of a job becomes its child sooner or later, whatever session it fled to. Nothing here blocks.

use super::job::{Job, Process};
use super::sys::{self, Reaped, SIGKILL};
use super::text::{self, number};
use super::wire::ProcessOver;
use super::{thaw, wire};
use core::ffi::CStr;

/// Grace period before we check why a killed process is still alive.
const PATIENCE_NS: u64 = 50_000_000;
/// After so long without success it is given up.
const GIVEN_UP_NS: u64 = 5_000_000_000;
/// How far down the tree is looked at once. What is below comes up when those above it are dead.
const DEPTH: u32 = 12;
/// So long the sweep does not rest: who forks faster than it looks must be outrun.
const CHASE_NS: u64 = 5_000_000;

/// The main processes, of which some may still have to be reaped.
pub(super) struct Mains<'a> {
    pub(super) processes: &'a mut [Process],
    pub(super) over: &'a mut [ProcessOver],
}

impl Mains<'_> {
    pub(super) fn none() -> Self {
        Mains { processes: &mut [], over: &mut [] }
    }

    /// Notes the end of a main process; whether it was one.
    fn note(&mut self, reaped: &Reaped) -> bool {
        let Some(index) = self.processes.iter().position(|process| process.pid == reaped.pid) else { return false };
        self.processes[index].pid = 0;
        self.over[index].status = reaped.status;
        self.over[index].usage = reaped.usage;
        if self.over[index].ended_ns == 0 {
            self.over[index].ended_ns = sys::now_ns();
        }
        true
    }
}

/// Kills all there is; how many of those that were no main processes were alive and are dead now, or who will not die.
pub(super) fn sweep(job: &Job<'_>, mains: &mut Mains<'_>) -> Result<u64, i32> {
    let mut killed = 0;
    if reap_all(mains, &mut killed) {
        return Ok(killed);
    }
    let begun = sys::now_ns();
    let mut thaw_at = begun + PATIENCE_NS;
    let mut rest_ns = 50_000;
    loop {
        kill_groups(job);
        let stuck = kill_children()?;
        if reap_all(mains, &mut killed) {
            return Ok(killed);
        }
        let now = sys::now_ns();
        if now > begun + GIVEN_UP_NS {
            return Err(stuck);
        }
        if now > thaw_at {
            thaw::thaw_all(for_each_child);
            thaw_at = now + 2 * (now - begun);
        }
        if now > begun + CHASE_NS {
            sys::await_child(rest_ns);
            rest_ns = (rest_ns * 2).min(5_000_000);
        }
    }
}

/// For the first process of a namespace: the launchers in it have their own to kill first, and keep their locks.
pub(super) fn outlive_the_others() {
    let given_up = sys::now_ns() + GIVEN_UP_NS;
    loop {
        let _ = sweep(&Job::none(), &mut Mains::none());
        let (mut others, mut stat) = (false, [0; 512]);
        for_each_number(c"/proc", &mut |pid| {
            others |= pid > 1 && !is_zombie(text::read(text::of_process(pid, b"stat").c_str(), &mut stat));
        });
        if !others || sys::now_ns() > given_up {
            return;
        }
        sys::await_child(1_000_000);
    }
}

/// Of one that has just gone there is nothing to read.
fn is_zombie(stat: &[u8]) -> bool {
    let Some(end) = stat.iter().rposition(|&byte| byte == b')') else { return true };
    matches!(stat.get(end + 2), Some(b'Z' | b'X'))
}

/// Reaps whoever has ended; true if there is no child left.
fn reap_all(mains: &mut Mains<'_>, killed: &mut u64) -> bool {
    loop {
        match sys::reap(-1) {
            Ok(Some(reaped)) => {
                let by_us = reaped.status & 0x7f == SIGKILL as i32;
                *killed += u64::from(!mains.note(&reaped) && by_us);
            }
            Ok(None) => return false,
            Err(errno) => return errno == sys::ECHILD,
        }
    }
}

/// What the owner knows of how to end all of a cgroup at once.
fn kill_groups(job: &Job<'_>) {
    for wire::Kill { descriptor, length, text } in job.kills {
        if let Some(descriptor) = job.descriptor(*descriptor) {
            let _ = sys::write(descriptor, text.get(..*length as usize).unwrap_or_default());
        }
    }
}

/// Kills every descendant that can be seen; a child of ours that was among them, or who cannot be killed.
fn kill_children() -> Result<i32, i32> {
    let (mut one, mut forbidden) = (0, 0);
    let own_group = sys::group_of(0);
    for_each_child(&mut |child| {
        one = child;
        // All at once, not one generation after the other: where many fight for the processors, each takes its time.
        for_each_below(child, DEPTH, &mut |pid| kill(pid, own_group, &mut forbidden));
        kill(child, own_group, &mut forbidden);
    });
    if forbidden == 0 { Ok(one) } else { Err(forbidden) }
}

fn kill(pid: i32, own_group: sys::Result<i32>, forbidden: &mut i32) {
    // A group gets it all at once, so that none of it can fork on. No child is in ours: each began by leaving it, and
    // there is no way back from another session. The group of a zombie is still its own.
    let group = sys::group_of(pid);
    if let Ok(group @ 2..) = group
        && own_group != Ok(group)
    {
        let _ = sys::kill(-group, SIGKILL);
    }
    if sys::kill(pid, SIGKILL) == Err(sys::EPERM) {
        *forbidden = pid;
    }
    // To die takes a moment of a processor, for which many may wait. Only the privileged can do this.
    let _ = sys::hasten(pid);
}

/// Visits the children that there are now. It may miss some that come or go meanwhile; who sweeps looks again.
fn for_each_child(visit: &mut dyn FnMut(i32)) {
    if !for_each_in(c"/proc/thread-self/children", visit) {
        for_each_by_scan(visit);
    }
}

/// Visits all below a process, the lowest first.
fn for_each_below(pid: i32, depth: u32, visit: &mut dyn FnMut(i32)) {
    if depth == 0 {
        return;
    }
    // Each thread has children of its own.
    let tasks = text::of_process(pid, b"task");
    for_each_number(tasks.c_str(), &mut |thread| {
        let thread = text::Digits::new(u64::from(thread.unsigned_abs()));
        let path = text::of_process_in(pid, &[b"task/", thread.bytes(), b"/children"]);
        for_each_in(path.c_str(), &mut |child| {
            for_each_below(child, depth - 1, visit);
            visit(child);
        });
    });
}

/// Visits the numbers in a file of children, each of which has a space behind it; false if there is no such file.
fn for_each_in(path: &CStr, visit: &mut dyn FnMut(i32)) -> bool {
    let mut buffer = [0; 512];
    let Ok(file) = sys::open(path, 0) else { return false };
    // One that is cut in two goes on in the next piece.
    let mut pid = 0_i32;
    while let Ok(length @ 1..) = sys::read(file, &mut buffer) {
        for byte in &buffer[..length] {
            if byte.is_ascii_digit() {
                pid = pid.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
            } else if pid > 1 {
                visit(core::mem::take(&mut pid));
            }
        }
    }
    sys::close(file);
    true
}

/// Visits the names in a folder that are numbers.
fn for_each_number(folder: &CStr, visit: &mut dyn FnMut(i32)) {
    let Ok(folder) = sys::open(folder, sys::O_DIRECTORY) else { return };
    let mut buffer = [0; 512];
    while let Ok(length @ 1..) = sys::entries(folder, &mut buffer) {
        let mut rest = &buffer[..length];
        // struct linux_dirent64: two numbers of 8 bytes, the length of the entry in 2, the type in 1, the name.
        while rest.len() > 19 {
            let entry = usize::from(u16::from_ne_bytes([rest[16], rest[17]]));
            let found = number(&rest[19..]);
            if found > 0 {
                visit(found);
            }
            rest = rest.get(entry.max(1)..).unwrap_or_default();
        }
    }
    sys::close(folder);
}

/// Visits our children on kernels without CONFIG_PROC_CHILDREN, by looking at every process.
fn for_each_by_scan(visit: &mut dyn FnMut(i32)) {
    let mut stat = [0; 512];
    let me = number(text::read(c"/proc/self/stat", &mut stat));
    for_each_number(c"/proc", &mut |pid| {
        if pid > 1 && parent(text::read(text::of_process(pid, b"stat").c_str(), &mut stat)) == me {
            visit(pid);
        }
    });
}

/// The second field after the name, which stands in parentheses and may hold any character.
fn parent(stat: &[u8]) -> i32 {
    let Some(end) = stat.iter().rposition(|&byte| byte == b')') else { return 0 };
    stat[end..].splitn(4, |&byte| byte == b' ').nth(2).map_or(0, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        for (stat, expect) in
            [("1234 (sh) S 77 1234 1234 0", 77), ("1234 (a) S 9 (b) R 78 1 1", 78), ("1234 (a b", 0), ("", 0)]
        {
            assert_eq!(parent(stat.as_bytes()), expect, "{stat}");
        }
    }

    #[test]
    fn a_zombie_is_told_from_what_lives() {
        for (stat, expect) in [("12 (sh) S 1", false), ("12 (a) Z) R 1", false), ("12 (sh) Z 1", true), ("", true)] {
            assert_eq!(is_zombie(stat.as_bytes()), expect, "{stat}");
        }
    }

    #[test]
    fn the_scan_finds_a_child() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut found = vec![];
        for_each_by_scan(&mut |pid| found.push(pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&i32::try_from(child.id()).unwrap()), "{found:?}");
    }
}
