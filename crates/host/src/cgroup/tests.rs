//! Groups against the real kernel: what they count and limit, and that they go away. Where none can be made the tests
//! say so and end.
#![allow(unsafe_code, reason = "what a process does before it executes its program")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::home::{Home, Needs};
use super::make::{WANTED, bury_the_dead, own_name, settle_v2};
use super::{Group, hierarchies, tree};
use crate::files::Files;
use crate::job::Limits;
use crate::probe::Confinement;
use bakeoff_model::metric::Measurements;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const MIB: f64 = 1_048_576.0;
/// Uses a processor for some tenths of a second.
const SPIN: &str = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";

/// A name that no other test uses, and that no Bakeoff takes for one of its own.
fn name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("bakeofftest-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A home of its own for a test. Processes join its groups, because the standard library cannot clone into one.
pub(crate) fn home() -> Option<Home> {
    let files = Files::here();
    match Home::make(hierarchies(&files, &files.read("proc/self/cgroup").unwrap_or_default()), &name()) {
        Ok(mut home) => {
            home.clones_into = false;
            Some(home)
        }
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

/// Makes what runs in a group.
pub(crate) fn joining(mut command: Command, confinement: Confinement) -> Command {
    let join = move || {
        for file in &confinement.join {
            // SAFETY: one byte is read from a constant.
            if unsafe { libc::write(file.as_raw_fd(), c"0".as_ptr().cast(), 1) } != 1 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec it calls write, and nothing that could wait for another thread.
    unsafe { command.pre_exec(join) };
    command
}

fn start(home: &Home, group: &Group, argv: &[&str]) -> Child {
    let mut confinement = Confinement::default();
    group.confine(home, &mut confinement).unwrap();
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    joining(command, confinement).spawn().unwrap()
}

/// The end of a process, and its CPU time in seconds.
fn wait4(child: Child) -> (std::process::ExitStatus, f64) {
    let mut status = 0;
    // SAFETY: all-zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for writes of their types.
    assert!(unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage) } > 0);
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (std::process::ExitStatus::from_raw(status), seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

fn measured(home: &Home, group: &Group) -> Measurements {
    let mut measured = Measurements::new();
    group.measure(home, &mut measured);
    measured
}

fn gone(group: &Group) {
    for (_, folder) in &group.folders {
        assert!(!folder.exists(), "{folder:?}");
    }
}

#[test]
fn a_pipeline_has_as_many_processes_as_it_has() {
    let Some(home) = home() else { return };
    let group = home.group(&Needs::everything()).unwrap();
    let mut child = start(&home, &group, &["sh", "-c", "cat | cat | cat | cat; :"]);
    let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // What has come through all four was seen by all four.
    to.write_all(b"through\n").unwrap();
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).unwrap();
    assert_eq!(line, "through\n");
    drop(to);
    assert!(wait4(child).0.success());
    match measured(&home, &group).get("pids_peak") {
        Some(&most) => assert!((most - 5.0).abs() < 1e-9, "{most}"),
        None => println!("skipped: {:?}", home.unavailable),
    }
    group.remove(&home).unwrap();
    gone(&group);
}

#[test]
fn memory_and_cpu_time_are_those_of_the_job() {
    let Some(home) = home() else { return };
    let group = home.group(&Needs::everything()).unwrap();
    let child = start(&home, &group, &["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=4"]);
    let (status, cpu_s) = wait4(child);
    assert!(status.success());
    let measured = measured(&home, &group);
    if let Some(&peak) = measured.get("cgroup_peak") {
        assert!((64.0 * MIB..64.0 * MIB * 1.01 + 3.0 * MIB).contains(&peak), "{peak}");
    }
    if let Some(&cgroup_cpu_s) = measured.get("cgroup_cpu") {
        assert!((cgroup_cpu_s - cpu_s).abs() < 0.02 * cpu_s + 0.005, "{cgroup_cpu_s} {cpu_s}");
        assert!((measured["cgroup_user"] + measured["cgroup_sys"] - cgroup_cpu_s).abs() < 0.001, "{measured:?}");
        assert!(home.cpu_s().unwrap() >= cgroup_cpu_s);
    }
    println!("{measured:?}, unavailable: {:?}", home.unavailable);
    // The metrics that a group has and those that it lacks are all that there are.
    assert_eq!(measured.len() + home.unavailable.len(), super::NAMES.len());
    group.remove(&home).unwrap();
    // The sum of all jobs keeps what those used that are gone.
    assert!(home.cpu_s().is_none_or(|all_s| all_s >= measured["cgroup_cpu"]));
}

#[test]
fn a_job_dies_of_its_memory_limit_and_it_shows() {
    let Some(home) = home() else { return };
    if !home.limits_memory() {
        println!("skipped: {:?}", home.unavailable);
        return;
    }
    let dies = |limit_mib: u64| {
        let group = home.group(&Needs::everything()).unwrap();
        let limits = Limits { memory_bytes: Some(limit_mib << 20), ..Limits::default() };
        group.limit(&home, &limits).unwrap();
        let (status, _) = wait4(start(&home, &group, &["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"]));
        let killed = group.killed_for_memory();
        group.remove(&home).unwrap();
        (status.signal() == Some(libc::SIGKILL), killed > 0)
    };
    assert_eq!(dies(32), (true, true));
    assert_eq!(dies(96), (false, false));
}

#[test]
fn bytes_are_those_that_reach_the_disk() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(home) = home() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Without a block device a file system has a number of the kernel's own, with major number 0.
    if fs::metadata(folder.path()).unwrap().dev() >> 8 == 0 {
        return println!("skipped: {} is on no disk", folder.path().display());
    }
    let group = home.group(&Needs::everything()).unwrap();
    let file = folder.path().join("file").display().to_string();
    let to = format!("of={file}");
    let (status, _) = wait4(start(&home, &group, &["dd", "if=/dev/zero", &to, "bs=1M", "count=8", "oflag=direct"]));
    let Some(&written) = measured(&home, &group).get("cgroup_write_bytes") else {
        return println!("skipped: {:?}", home.unavailable);
    };
    if !status.success() {
        return println!("skipped: {file} cannot be written directly");
    }
    assert!((8.0 * MIB..9.0 * MIB).contains(&written), "{written}");
    let from = format!("if={file}");
    let (status, _) = wait4(start(&home, &group, &["dd", &from, "of=/dev/null", "bs=1M", "iflag=direct"]));
    assert!(status.success());
    let read = measured(&home, &group)["cgroup_read_bytes"];
    assert!((8.0 * MIB..9.0 * MIB).contains(&read), "{read}");
    group.remove(&home).unwrap();
}

#[test]
fn half_a_processor_takes_twice_as_long() {
    let Some(home) = home() else { return };
    if !home.limits_cpu() {
        println!("skipped: no cgroup cpu controller here");
        return;
    }
    let group = home.group(&Needs { cpu_limit: true, ..Needs::everything() }).unwrap();
    group.limit(&home, &Limits { cpu_limit: Some(0.5), ..Limits::default() }).unwrap();
    let begin = std::time::Instant::now();
    let (status, cpu_s) = wait4(start(&home, &group, &["sh", "-c", SPIN]));
    let wall_s = begin.elapsed().as_secs_f64();
    assert!(status.success());
    // The first and the last period, of 0.1 s, may give it half of what it needs at once.
    assert!(wall_s >= 2.0 * (cpu_s - 0.1), "{wall_s} {cpu_s}");
    group.remove(&home).unwrap();
    gone(&group);
}

#[test]
fn a_group_goes_with_all_that_lives_in_it() {
    let Some(home) = home() else { return };
    let group = home.group(&Needs::everything()).unwrap();
    let mut child = start(&home, &group, &["sleep", "1000"]);
    for (_, folder) in &group.folders {
        let (deep, deeper) = (folder.join("a"), folder.join("a/b"));
        fs::create_dir(&deep).unwrap();
        fs::create_dir(&deeper).unwrap();
        tree::write(&deeper.join("cgroup.procs"), &child.id().to_string()).unwrap();
        let _ = tree::write(&deeper.join("cgroup.freeze"), "1");
        for folder in [&deeper, &deep, folder] {
            fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        }
    }
    // A zombie is in no group's way.
    group.remove(&home).unwrap();
    gone(&group);
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    group.remove(&home).unwrap();
}

#[test]
fn a_home_goes_with_its_last_user() {
    let Some(home) = home() else { return };
    let folders: Vec<PathBuf> = home.nests.iter().map(|nest| nest.folder.clone()).collect();
    assert!(folders.iter().all(|folder| folder.exists()));
    let group = home.group(&Needs { cpu_limit: true, ..Needs::everything() }).unwrap();
    let mut child = start(&home, &group, &["sleep", "1000"]);
    drop(home);
    assert!(!folders.iter().any(|folder| folder.exists()), "{folders:?}");
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
}

#[test]
fn what_the_dead_left_is_removed_and_what_the_living_have_is_not() {
    let Some(home) = home() else { return };
    let mine = own_name(&Files::here());
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let fields: Vec<&str> = mine.split('-').collect();
    let [_, me, start_ticks, namespace] = fields.as_slice() else { panic!("{mine}") };
    let stale = [
        format!("bakeoff-{}-{start_ticks}-{namespace}", dead.id()),
        // A number that came again.
        format!("bakeoff-{me}-{start_ticks}1-{namespace}"),
    ];
    let kept = [mine.clone(), format!("bakeoff-{}-{start_ticks}-{namespace}1", dead.id()), "bakeoff-x".to_owned()];
    for nest in &home.nests {
        for name in stale.iter().chain(&kept) {
            fs::create_dir(nest.folder.join(name)).unwrap();
        }
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let inside = nest.folder.join(&stale[0]).join("7");
        fs::create_dir(&inside).unwrap();
        tree::write(&inside.join("cgroup.procs"), &child.id().to_string()).unwrap();
        bury_the_dead(&nest.folder);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        for name in &stale {
            assert!(!nest.folder.join(name).exists(), "{name}");
        }
        for name in &kept {
            assert!(nest.folder.join(name).exists(), "{name}");
        }
    }
}

/// Here the controllers that are of use are bound to version 1. The rule by which version 2 hands them on is the same
/// for all, so another one stands in for them.
#[test]
fn controllers_of_version_2_are_had_beside_a_group_with_processes() {
    let Some(home) = home() else { return };
    let Some(v2) = home.v2() else { return println!("skipped: no cgroup v2 here") };
    let words = |path: &Path, file: &str| tree::read(&path.join(file)).unwrap_or_default();
    let top = &v2.hierarchy.top;
    let Some(spare) = words(&v2.hierarchy.own, "cgroup.controllers")
        .split_whitespace()
        .find(|&controller| !WANTED.contains(&controller) && controller != "cpu")
        .map(ToOwned::to_owned)
    else {
        return println!("skipped: no controller of cgroup v2 to spare here");
    };
    if &v2.hierarchy.own != top || tree::write(&top.join("cgroup.subtree_control"), &format!("+{spare}")).is_err() {
        return println!("skipped: we are not at the top of cgroup v2");
    }
    let parent = top.join(name());
    fs::create_dir(&parent).unwrap();
    let _ = tree::write(&parent.join("cgroup.subtree_control"), &format!("+{spare}"));
    let own = parent.join("own");
    fs::create_dir(&own).unwrap();

    // Nobody lives in our own group: below it.
    let folder = settle_v2(&v2.hierarchy, &own, "home", &[&spare]).unwrap();
    assert_eq!(folder, own.join("home"));
    assert!(words(&folder, "cgroup.subtree_control").contains(&spare));
    tree::remove(&folder).unwrap();
    tree::write(&own.join("cgroup.subtree_control"), &format!("-{spare}")).unwrap();

    // Somebody else does: beside it.
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    tree::write(&own.join("cgroup.procs"), &child.id().to_string()).unwrap();
    let folder = settle_v2(&v2.hierarchy, &own, "home", &[&spare]).unwrap();
    assert_eq!(folder, parent.join("home"));
    assert!(words(&folder, "cgroup.subtree_control").contains(&spare));
    assert!(!own.join("home").exists());

    tree::remove(&parent).unwrap();
    child.wait().unwrap();
    let _ = tree::write(&top.join("cgroup.subtree_control"), &format!("-{spare}"));
}
