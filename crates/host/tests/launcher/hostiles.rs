//! Hostile children: whatever they do, soon after the end of a job nothing of it lives, and its end says why. Each
//! case is run by a launcher that nothing watches, and by one with all probes and so, where there are any, in
//! cgroups of its own. Every process that is to be gone has written its number to the file `pids`.

use crate::owner::Owner;
use crate::support::{GROUP, LONG_S, Scratch, exists};
use bakeoff_host::{Command, End, Job, JobEnded, Launcher, Limits, Options, Patience};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// From the end of the main process, or from its time-out, until nothing is left: how often a thread that sleeps for
/// a millisecond at a time wakes. Where processors are busy it wakes as late as the launcher does.
const GONE_WITHIN: usize = 1000;

/// The moments at which a sleeping thread woke.
struct Wakes {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<Instant>>,
}

impl Wakes {
    fn begin() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut moments = vec![];
            while !seen.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                moments.push(Instant::now());
            }
            moments
        });
        Self { stop, thread }
    }

    /// Fails if there were too many after this moment.
    #[track_caller]
    fn check(self, from: Instant) {
        self.stop.store(true, Ordering::Relaxed);
        let moments = self.thread.join().unwrap();
        let after = moments.into_iter().filter(|moment| *moment > from).count();
        println!("gone after {after} wakes");
        assert!(after < GONE_WITHIN, "{after}");
    }
}

/// Runs a script with and without probes; what to expect of its end, and of how many are left then.
fn check(script: &str, timeout_s: f64, expect: &End, leftovers: impl Fn(u32) -> bool) {
    for watched in [None, Some(GROUP)] {
        let scratch = Scratch::new();
        scratch.fifo("ready");
        let ended = execute(&scratch, scratch.sh(script), watched, timeout_s);
        assert_eq!(&ended.processes[0].end, expect, "{script}: {ended:?}");
        assert!(leftovers(ended.leftovers), "{script}: {ended:?}");
    }
}

fn execute(scratch: &Scratch, command: Command, watched: Option<&[&str]>, timeout_s: f64) -> JobEnded {
    let mut launcher = Launcher::start_with(&Options { watched, ..Options::default() }).unwrap();
    let limits = Limits { timeout_s: Some(timeout_s), ..Limits::default() };
    launcher.launch(&Job { commands: vec![command.into()], limits, ..Job::default() }).unwrap();
    let (wakes, begun) = (Wakes::begin(), Instant::now());
    let ended = launcher.wait(Patience::SecondInterrupt).unwrap();
    println!("{} leftovers", ended.leftovers);
    wakes.check(begun + Duration::from_secs_f64(ended.measurements["wall"].min(timeout_s)));
    let pids = std::fs::read_to_string(scratch.path("pids")).unwrap_or_default();
    let alive: Vec<&str> = pids.lines().filter(|pid| exists(pid)).collect();
    assert!(alive.is_empty(), "{alive:?} live on");
    ended
}

fn perl(text: &str) -> String {
    format!("exec perl -e '{text}'")
}

fn no_perl() -> bool {
    !Scratch::new().has_perl()
}

#[test]
fn that_leave_their_session_or_become_daemons() {
    let stay = format!("echo $$ >> pids; echo > ready; exec sleep {LONG_S}");
    let flee = format!("setsid sh -c '{stay}' & read x < ready; exit 5");
    check(&flee, 60.0, &End::Exited(5), |left| left == 1);
    let daemon =
        format!("setsid sh -c 'setsid sh -c \"{stay}\" < /dev/null > /dev/null 2>&1 &' & read x < ready; exit 5");
    check(&daemon, 60.0, &End::Exited(5), |left| left == 1);
}

#[test]
fn that_ignore_every_signal() {
    if no_perl() {
        return;
    }
    let script =
        r#"$SIG{$_} = "IGNORE" for keys %SIG; open P, ">>", "pids"; print P "$$\n"; close P; sleep 1000 while 1"#;
    check(&perl(script), 0.3, &End::TimedOut, |left| left == 0);
    for watched in [None, Some(GROUP)] {
        let scratch = Scratch::new();
        scratch.fifo("ready");
        let mut launcher = Launcher::start_with(&Options { watched, ..Options::default() }).unwrap();
        let script = script.replace("close P;", r#"close P; open R, ">", "ready"; close R;"#);
        launcher.launch(&Job { commands: vec![scratch.sh(&perl(&script)).into()], ..Job::default() }).unwrap();
        std::fs::read(scratch.path("ready")).unwrap();
        let (wakes, begun) = (Wakes::begin(), Instant::now());
        assert_eq!(launcher.stop(15, 0.1).unwrap().processes[0].end, End::Signalled(9));
        wakes.check(begun + Duration::from_millis(100));
        assert!(!exists(&scratch.read("pids")));
    }
}

#[test]
fn that_are_a_bomb() {
    if no_perl() {
        return;
    }
    // A family of 32 that all go on forking children which end at once, each in a session of its own.
    let script = r#"use POSIX; $SIG{CHLD} = "IGNORE"; for (1 .. 5) { fork; }
        POSIX::setsid(); open P, ">>", "pids"; syswrite P, "$$\n"; close P;
        while (1) { my $child = fork; exit if defined $child && !$child; }"#;
    check(&perl(script), 0.5, &End::TimedOut, |left| left >= 1);
}

#[test]
fn that_fork_faster_than_they_are_killed() {
    if no_perl() {
        return;
    }
    // Each process of these chains begins a session, forks the next one and ends.
    let script = r#"use POSIX; for (1 .. 3) { next if fork; while (1) { POSIX::setsid(); exit if fork; } }
        select undef, undef, undef, 0.2; exit 5"#;
    check(&perl(script), 60.0, &End::Exited(5), |left| left >= 1);
}

#[test]
fn that_stop_themselves() {
    check("echo $$ >> pids; kill -STOP $$; exit 5", 0.2, &End::TimedOut, |left| left == 0);
    let child = "sh -c 'echo $$ >> pids; echo > ready; kill -STOP $$' & read x < ready; exit 5";
    check(child, 60.0, &End::Exited(5), |left| left == 1);
}

#[test]
fn that_flood_their_output() {
    check("echo $$ >> pids; yes & yes >&2", 0.1, &End::TimedOut, |left| left >= 1);
}

#[test]
fn that_hold_their_output_open() {
    let script = format!("sh -c 'echo $$ >> pids; echo > ready; exec sleep {LONG_S}' & read x < ready; exit 5");
    check(&script, 60.0, &End::Exited(5), |left| left == 1);
}

/// A cgroup that a hostile child makes; removed at the end, which shows that nothing is in it.
struct Group(PathBuf);

impl Group {
    fn new(hierarchy: &str, name: &str) -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let fits = |line: &&str| match hierarchy {
            "cgroup2" => line.contains(" - cgroup2 "),
            controller => line.contains(" - cgroup ") && line.split([',', ' ']).any(|word| word == controller),
        };
        let Some(mount) = mounts.lines().find(fits).and_then(|line| line.split(' ').nth(4)) else {
            println!("skipped: no {hierarchy} here");
            return None;
        };
        let path = Path::new(mount).join(format!("bakeoff-hostile-{name}-{}", std::process::id()));
        match std::fs::create_dir(&path) {
            Ok(()) => Some(Self(path)),
            Err(error) => {
                println!("skipped: {}: {error}", path.display());
                None
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let removed = std::fs::remove_dir(&self.0);
        assert!(std::thread::panicking() || removed.is_ok(), "{}: {removed:?}", self.0.display());
    }
}

#[test]
fn that_freeze_themselves() {
    for (hierarchy, file, frozen) in [("freezer", "freezer.state", "FROZEN"), ("cgroup2", "cgroup.freeze", "1")] {
        let Some(group) = Group::new(hierarchy, "freezes") else { continue };
        let dir = group.0.display();
        let freeze = format!("echo $$ >> pids; echo $$ > {dir}/cgroup.procs; echo {frozen} > {dir}/{file}");
        check(&format!("{freeze}; exit 5"), 0.2, &End::TimedOut, |left| left == 0);
        // A child that does so, and makes its group unreadable. It is thawed before, or it could not get in.
        let thawed = if hierarchy == "freezer" { "THAWED" } else { "0" };
        let script = format!(
            "echo {thawed} > {dir}/{file}; sh -c 'echo $$ >> pids; echo $$ > {dir}/cgroup.procs; echo > ready;
             chmod 0 {dir}/* {dir}; echo {frozen} > {dir}/{file}; sleep {LONG_S}' & read x < ready; sleep 0.2; exit 5"
        );
        check(&script, 60.0, &End::Exited(5), |left| left >= 1);
    }
}

#[test]
fn that_freeze_a_group_around_them() {
    let Some(outer) = Group::new("freezer", "around") else { return };
    let inner = outer.0.join("inner");
    std::fs::create_dir(&inner).unwrap();
    let (inner, outer) = (Group(inner), outer);
    let script = format!(
        "echo $$ >> pids; echo $$ > {}/cgroup.procs; echo FROZEN > {}/freezer.state; exit 5",
        inner.0.display(),
        outer.0.display()
    );
    check(&script, 0.2, &End::TimedOut, |left| left == 0);
    drop(inner);
}

/// Nobody is there to help then, or to say how.
#[test]
fn that_freeze_themselves_do_not_outlive_a_killed_owner() {
    let Some(group) = Group::new("freezer", "orphan") else { return };
    let scratch = Scratch::new();
    let ready = scratch.fifo("ready");
    let dir = group.0.display();
    let script = format!(
        "sh -c 'echo $$ >> pids; echo $$ > {dir}/cgroup.procs; echo > ready; echo FROZEN > {dir}/freezer.state;
         sleep {LONG_S}' & echo $$ >> pids; sleep {LONG_S}"
    );
    let mut owner = Owner::start(&scratch, "first", &script);
    std::fs::read(ready).unwrap();
    while std::fs::read_to_string(group.0.join("freezer.state")).unwrap().trim() == "THAWED" {
        std::thread::yield_now();
    }
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    let (wakes, begun) = (Wakes::begin(), Instant::now());
    // The launcher keeps the lock until nothing is left; this waits for it.
    std::fs::File::open(scratch.path("lock")).unwrap().lock().unwrap();
    wakes.check(begun);
    assert!(!scratch.read("pids").lines().any(exists));
}

#[test]
fn that_go_on_when_the_launcher_is_dropped() {
    let scratch = Scratch::new();
    let ready = scratch.fifo("ready");
    let mut launcher = Launcher::start(None).unwrap();
    let script =
        format!("trap '' TERM INT HUP; echo $$ >> pids; setsid sleep {LONG_S} & echo $! >> pids; echo > ready; wait");
    launcher.launch(&Job { commands: vec![scratch.sh(&script).into()], ..Job::default() }).unwrap();
    std::fs::read(ready).unwrap();
    let (wakes, begun) = (Wakes::begin(), Instant::now());
    drop(launcher);
    wakes.check(begun);
    assert!(!scratch.read("pids").lines().any(exists));
}

#[test]
fn that_fill_their_memory() {
    if no_perl() {
        return;
    }
    let script = r#"open P, ">>", "pids"; print P "$$\n"; close P; my @x; push @x, "x" x (8 << 20) while 1"#;
    for watched in [None, Some(GROUP)] {
        let scratch = Scratch::new();
        let mut launcher = Launcher::start_with(&Options { watched, ..Options::default() }).unwrap();
        let limits = Limits { memory_bytes: Some(64 << 20), timeout_s: Some(60.0), ..Limits::default() };
        let refused = launcher.refused(&limits);
        launcher.launch(&Job { commands: vec![scratch.sh(&perl(script)).into()], limits, ..Job::default() }).unwrap();
        let ended = launcher.wait(Patience::SecondInterrupt).unwrap();
        println!("with {refused:?} refused: {:?}", ended.processes[0].end);
        // Without a cgroup the process itself is told that there is no more, and ends as it pleases.
        assert!(!matches!(ended.processes[0].end, End::Exited(0) | End::TimedOut), "{ended:?}");
        assert!(!exists(&scratch.read("pids")));
    }
}
