//! Checks of what we may do to processes before they execute a trial's program, and to the machine for them. Each is
//! done to a thread of our own that ends at once, or to nothing but an open file.
#![allow(unsafe_code, reason = "rustix has neither schedulers nor personalities, and pipes behind a feature")]

use super::check::Check;
use crate::files::Files;
use rustix::fs::{Access, MemfdFlags, access, memfd_create};
use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, pidfd_open};
use std::io;

/// What marks are buffered in, in bytes.
const PIPE_BYTES: i32 = 1 << 20;
/// Fewer processes than this may not be enough for a parallel build or a busy condition.
const FEW_PROCESSES: u64 = 500;

/// The real-time class.
pub(super) fn realtime() -> Check {
    let name = "real-time class";
    let set = || {
        // SAFETY: all-zero bytes are a valid sched_param.
        let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
        parameter.sched_priority = 1;
        // SAFETY: the pointer is valid for a read of its type; thread 0 is the calling one.
        check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) })
    };
    match in_a_thread(set) {
        Ok(()) => Check::good(name, "permitted", "conditions can keep other work from a trial's processors"),
        Err(error) => {
            Check::missing(name, error.to_string(), "lost: the condition `realtime`, the largest cut in noise")
                .remedy("sudo bakeoff …, or a line `USER - rtprio 99` in /etc/security/limits.conf")
        }
    }
}

/// Fixed addresses for a trial.
pub(super) fn fixed_addresses() -> Check {
    let name = "fixed addresses";
    let set = || {
        // SAFETY: it takes and gives numbers, and is about the calling thread alone.
        let before = unsafe { libc::personality(0xffff_ffff) };
        check(before)?;
        // SAFETY: as above.
        check(unsafe { libc::personality((before | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) })?;
        // SAFETY: as above.
        let now = unsafe { libc::personality(0xffff_ffff) };
        if now & libc::ADDR_NO_RANDOMIZE == 0 { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
    };
    match in_a_thread(set) {
        Ok(()) => Check::good(name, "permitted", "conditions can give all trials the same memory layout"),
        Err(error) => Check::missing(name, word(&error), "lost: the condition `aslr = false`"),
    }
}

/// Caches of the file system.
pub(super) fn drop_caches() -> Check {
    let name = "dropping caches";
    match access("/proc/sys/vm/drop_caches", Access::WRITE_OK) {
        Ok(()) => Check::good(name, "permitted", "conditions can begin with cold caches"),
        Err(error) => {
            Check::missing(name, word(&error.into()), "lost: the condition `drop_caches`").remedy("sudo bakeoff …")
        }
    }
}

/// Room for marks.
pub(super) fn pipe_size() -> Check {
    let name = "pipe for marks";
    let made = || {
        let (reader, _writer) = io::pipe()?;
        // SAFETY: it takes and gives numbers; the descriptor is open.
        let bytes = unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&reader), libc::F_SETPIPE_SZ, PIPE_BYTES) };
        check(bytes).map(|()| bytes)
    };
    match made() {
        Ok(bytes) => Check::good(name, format!("{} KiB", bytes / 1024), "a workload that marks its ops seldom waits"),
        Err(error) => {
            let found = format!("64 KiB ({error})");
            Check::noisy(name, found, "a workload that marks many ops may wait for us to read them")
                .remedy("sudo sysctl fs.pipe-max-size=1048576")
        }
    }
}

/// Processes that can be watched without their numbers, and files that have no name.
pub(super) fn descriptors() -> Check {
    let name = "pidfd and memfd";
    let lost = "no trial can be launched";
    if let Err(error) = pidfd_open(getpid(), PidfdFlags::empty()) {
        return Check::missing(name, format!("no pidfd ({error})"), lost).remedy("use Linux 5.4 or newer");
    }
    match memfd_create("bakeoff", MemfdFlags::CLOEXEC) {
        Ok(_) => Check::good(name, "available", "processes are watched by descriptors, never by numbers alone"),
        Err(error) => Check::missing(name, format!("no memfd ({error})"), lost),
    }
}

/// What becomes of processes when we and our launchers are killed at once.
pub(super) fn enclosure() -> Check {
    let name = "PID namespace";
    match crate::Enclosure::open(None).why_no_namespace() {
        None => Check::good(name, "permitted", "nothing that trials start outlives us, even killed at once"),
        Some(why) => {
            let means =
                "lost: if we and our launchers are killed at once, trials' processes go on until our next command";
            Check::missing(name, why, means).remedy("sudo bakeoff …, or --user-namespace")
        }
    }
}

/// How many processes there may be.
pub(super) fn process_limit(files: &Files) -> Check {
    let name = "process limit";
    let number = |text: String| text.parse::<u64>().ok();
    let groups = files.read("proc/self/cgroup").unwrap_or_default();
    let of_groups = crate::cgroup::hierarchies(files, &groups).into_iter().flat_map(|hierarchy| {
        let above: Vec<_> =
            hierarchy.own.ancestors().take_while(|f| f.starts_with(&hierarchy.top)).map(ToOwned::to_owned).collect();
        above
            .into_iter()
            .filter_map(|folder| number(std::fs::read_to_string(folder.join("pids.max")).ok()?.trim().to_owned()))
    });
    let user = getrlimit(Resource::Nproc).current;
    match of_groups.chain(user).chain(files.read("proc/sys/kernel/pid_max").and_then(number)).min() {
        Some(most) if most >= FEW_PROCESSES => {
            Check::good(name, most.to_string(), "enough for trials, loads and parallel builds")
        }
        Some(most) => Check::noisy(name, most.to_string(), "a parallel build or a load may fail for want of processes")
            .remedy("ulimit -u, or TasksMax of the systemd unit that we are in"),
        None => Check::missing(name, "not here", "the limit of processes is unknown"),
    }
}

fn word(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "not permitted".to_owned(),
        _ => error.to_string(),
    }
}

/// Does something to a thread that ends then.
fn in_a_thread(deed: impl FnOnce() -> io::Result<()> + Send) -> io::Result<()> {
    std::thread::scope(|scope| scope.spawn(deed).join()).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn check(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;

    #[test]
    fn what_is_done_to_a_thread_stays_with_it() {
        // SAFETY: they take and give numbers.
        let now = || unsafe { (libc::personality(0xffff_ffff), libc::sched_getscheduler(0)) };
        let before = now();
        for check in [realtime(), fixed_addresses()] {
            assert!(!check.found.is_empty() && check.state != State::Noisy, "{check:?}");
        }
        assert_eq!(now(), before);
    }

    #[test]
    fn limits_of_processes() {
        let check = |pid_max: &str, state| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/sys/kernel/pid_max", pid_max)]);
            assert_eq!(process_limit(&files).state, state, "{pid_max}");
        };
        check("10\n", State::Noisy);
        if getrlimit(Resource::Nproc).current.is_none_or(|most| most >= FEW_PROCESSES) {
            check("32768\n", State::Good);
        }
    }
}
