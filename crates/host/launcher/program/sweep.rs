//! Kills and reaps every child of the launcher, until there is none. The launcher is a child subreaper (prctl(2)), so
//! that every orphan of a job becomes its child sooner or later, whatever session it fled to. Nothing here blocks.

use super::job::{Job, Process};
use super::sys::{self, Reaped, SIGKILL};
use super::text::{self, number};
use super::wire::ProcessOver;
use super::{thaw, wire};

/// How long a killed process may take before it is looked at what keeps it.
const PATIENCE_NS: u64 = 50_000_000;
/// After so long without success it is given up.
const GIVEN_UP_NS: u64 = 5_000_000_000;
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
            for_each_child(thaw::thaw);
            thaw_at = now + PATIENCE_NS;
        }
        if now > begun + CHASE_NS {
            sys::await_child(rest_ns);
            rest_ns = (rest_ns * 2).min(5_000_000);
        }
    }
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

/// Sends a signal that cannot be ignored to every child and to its process group; one of them, or who cannot be killed.
fn kill_children() -> Result<i32, i32> {
    let (mut one, mut forbidden) = (0, 0);
    for_each_child(|child| {
        one = child;
        // A group gets it all at once, so that none of it can fork on. No child is in ours: each began by leaving it,
        // and there is no way back from another session. The group of a zombie is still its own.
        if let Ok(group @ 2..) = sys::group_of(child)
            && sys::group_of(0) != Ok(group)
        {
            let _ = sys::kill(-group, SIGKILL);
        }
        if sys::kill(child, SIGKILL) == Err(sys::EPERM) {
            forbidden = child;
        }
    });
    if forbidden == 0 { Ok(one) } else { Err(forbidden) }
}

/// Visits the children that there are now. It may miss some that come or go meanwhile; who sweeps looks again.
fn for_each_child(mut visit: impl FnMut(i32)) {
    let mut buffer = [0; 2048];
    let Ok(file) = sys::open(c"/proc/thread-self/children", 0) else { return for_each_by_scan(visit) };
    // Numbers with a space after each; one that is cut in two goes on in the next piece.
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
}

/// The same for kernels without CONFIG_PROC_CHILDREN, by looking at every process.
fn for_each_by_scan(mut visit: impl FnMut(i32)) {
    let mut stat = [0; 512];
    let me = number(text::read(c"/proc/self/stat", &mut stat));
    let Ok(folder) = sys::open(c"/proc", sys::O_DIRECTORY) else { return };
    let mut buffer = [0; 2048];
    while let Ok(length @ 1..) = sys::entries(folder, &mut buffer) {
        let mut rest = &buffer[..length];
        // struct linux_dirent64: two numbers of 8 bytes, the length of the entry in 2, the type in 1, the name.
        while rest.len() > 19 {
            let entry = usize::from(u16::from_ne_bytes([rest[16], rest[17]]));
            let pid = number(&rest[19..]);
            if pid > 1 && parent(text::read(text::of_process(pid, b"stat").c_str(), &mut stat)) == me {
                visit(pid);
            }
            rest = rest.get(entry.max(1)..).unwrap_or_default();
        }
    }
    sys::close(folder);
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
    fn the_scan_finds_a_child() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut found = vec![];
        for_each_by_scan(|pid| found.push(pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&i32::try_from(child.id()).unwrap()), "{found:?}");
    }
}
