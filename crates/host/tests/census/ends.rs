//! How watching ends or never begins: nothing remains attached, and a refusal has a reason in one line.

use super::support::{Place, end, skipped, watch, watcher};
use bakeoff_host::census::Detail;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub(crate) const CASES: &[(&str, fn())] = &[
    ("nothing_remains_when_a_watch_is_dropped", nothing_remains_when_dropped),
    ("nothing_remains_of_a_watcher_that_is_killed", nothing_remains_when_killed),
    ("a_launched_process_that_executes_nothing_has_done_nothing", nothing_executed),
    ("an_ordinary_user_is_told_why", an_ordinary_user),
];

/// The programs that the kernel has, by their numbers: BPF_PROG_GET_NEXT_ID. None if that may not be asked.
fn programs() -> Option<BTreeSet<u32>> {
    let mut ids = BTreeSet::new();
    let mut words = [0_u32; 3];
    loop {
        // SAFETY: the kernel reads and writes three words, which is what there is.
        let done = unsafe { libc::syscall(libc::SYS_bpf, 11, words.as_mut_ptr(), size_of_val(&words)) };
        if done != 0 {
            let end = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT);
            return end.then_some(ids);
        }
        ids.insert(words[1]);
        words = [words[1], 0, 0];
    }
}

/// Waits until these programs are gone: the kernel frees them a little later.
fn are_freed(ids: &BTreeSet<u32>) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        programs().unwrap().is_disjoint(ids)
    })
}

/// The programs of one watch. Other tests watch at the same time, so that more may be new; those are
/// freed soon too.
fn nothing_remains_when_dropped() {
    let Some(before) = programs() else { return skipped("what remains", "programs may not be listed") };
    let Some(watch) = watch(std::process::id(), Detail::Times) else { return };
    let new: BTreeSet<u32> = programs().unwrap().difference(&before).copied().collect();
    assert!(new.len() >= 5, "{new:?}");
    drop(watch);
    assert!(are_freed(&new));
}

fn nothing_remains_when_killed() {
    let Some(before) = programs() else { return skipped("what remains", "programs may not be listed") };
    let mut watcher = watcher(std::process::id()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(watcher.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let new: BTreeSet<u32> = programs().unwrap().difference(&before).copied().collect();
    end(&mut watcher);
    if said != "watching\n" {
        return skipped("what remains", &said);
    }
    assert!(new.len() >= 5 && are_freed(&new), "{new:?}");
}

fn nothing_executed() {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let watch = watch(child.id(), Detail::Times);
    end(&mut child);
    let Some(watch) = watch else { return };
    let report = watch.finish().unwrap();
    assert_eq!((report.tasks, report.syscalls.len(), report.times.accounted()), (0, 0, None));
}

fn an_ordinary_user() {
    let place = Place::new();
    let copy = place.path("watcher");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(copy.parent().unwrap(), open).unwrap();
    let like = watcher(std::process::id());
    let mut command = Command::new(copy);
    command.args(like.get_args()).env_clear().uid(65534).gid(65534);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return skipped("what an ordinary user reads", &error.to_string()),
    };
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!((said.as_str(), output.status.code()), ("bpf(2) is not permitted; it needs root privileges\n", Some(0)));
}
