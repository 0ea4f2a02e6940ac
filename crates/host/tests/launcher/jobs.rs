//! Jobs: several processes at once, limits, timeouts, services and loads.

use crate::support::{LONG_S, Listener, NOT_LONG_S, Scratch, exists};
use bakeoff_host::{Command, End, Job, JobEnded, Launcher, Limits, Patience, Rounds};
use std::time::{Duration, Instant};

fn job(commands: Vec<Command>) -> Job {
    Job { commands: commands.into_iter().map(Into::into).collect(), ..Job::default() }
}

fn execute(job: &Job) -> JobEnded {
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(job).unwrap();
    launcher.wait(Patience::SecondInterrupt).unwrap()
}

/// The same command, with an output of its own for each process.
fn times(scratch: &Scratch, count: usize, script: &str) -> Vec<Command> {
    (0..count).map(|nth| Command { stdout: scratch.path(&format!("out{nth}")), ..scratch.sh(script) }).collect()
}

fn ends(ended: &JobEnded) -> Vec<End> {
    ended.processes.iter().map(|process| process.end.clone()).collect()
}

#[test]
fn processes_overlap() {
    let scratch = Scratch::new();
    scratch.fifo("meet");
    // One can only go on when the other is there: opening a FIFO waits for the other side.
    let commands = vec![scratch.sh("echo > meet; exit 3"), scratch.sh("read x < meet; exit 4")];
    let ended = execute(&job(commands));
    assert_eq!(ends(&ended), [End::Exited(3), End::Exited(4)]);
}

#[test]
fn several_are_measured_each_and_together() {
    let scratch = Scratch::new();
    let commands =
        vec![scratch.command(&["sleep", "0.3"]), scratch.command(&["true"]), scratch.command(&["sleep", "0.1"])];
    let ended = execute(&job(commands));
    let each: Vec<f64> = ended.processes.iter().map(|process| process.measurements["wall"]).collect();
    assert!(each[0] >= 0.3 && each[1] < each[0] && each[2] >= 0.1, "{each:?}");
    let all = &ended.measurements;
    assert!(all["wall"] >= each[0] && all["wall"] < each[0] + each[2], "{ended:?}");
    assert!((all["each_wall"] - each.iter().sum::<f64>() / 3.0).abs() < 1e-9, "{ended:?}");
    let of = |name: &str| ended.processes.iter().map(|process| process.measurements[name]).collect::<Vec<_>>();
    assert!((all["minflt"] - of("minflt").iter().sum::<f64>()).abs() < 0.5);
    assert!((all["maxrss"] - of("maxrss").into_iter().fold(0.0, f64::max)).abs() < 0.5);
    // One is only itself.
    let one = execute(&job(vec![scratch.command(&["true"])]));
    assert_eq!(one.measurements, one.processes[0].measurements);
}

#[test]
fn many_at_once() {
    let scratch = Scratch::new();
    let mut one = scratch.sh("echo $N");
    let commands: Vec<Command> = (0..250)
        .map(|nth| {
            one.env.insert("N".to_owned(), nth.to_string());
            Command { stdout: scratch.path(&format!("out{nth}")), ..one.clone() }
        })
        .collect();
    let ended = execute(&job(commands));
    assert!(ended.processes.iter().all(|process| process.end == End::Exited(0)), "{ended:?}");
    assert_eq!(scratch.read("out249"), "249\n");
    let mut launcher = Launcher::start(None).unwrap();
    let too_many = job(times(&scratch, 1000, ":"));
    let refused = launcher.launch(&too_many).and_then(|()| launcher.wait(Patience::SecondInterrupt)).map(|_| ());
    println!("a thousand: {refused:?}");
    assert_eq!(ends(&execute(&job(times(&scratch, 2, "exit 1")))), [End::Exited(1), End::Exited(1)]);
}

#[test]
fn if_one_cannot_be_prepared_none_is_started() {
    let scratch = Scratch::new();
    let ended = execute(&job(vec![scratch.sh("echo > ran"), scratch.command(&["no-such-program"])]));
    assert!(ended.processes.iter().all(|process| matches!(process.end, End::NotStarted { .. })), "{ended:?}");
    assert!(!scratch.path("ran").exists() && ended.measurements.is_empty());
}

#[test]
fn what_takes_too_long_is_killed() {
    let scratch = Scratch::new();
    let begun = Instant::now();
    let script = format!("trap '' TERM INT; setsid sleep {LONG_S} & echo $! > pid; sleep {LONG_S}");
    let limits = Limits { timeout_s: Some(0.3), ..Limits::default() };
    let ended = execute(&Job { limits, ..job(vec![scratch.sh(&script), scratch.sh("exit 2")]) });
    assert_eq!(ends(&ended), [End::TimedOut, End::Exited(2)]);
    assert!(ended.leftovers >= 1, "{ended:?}");
    assert!(ended.measurements["wall"] >= 0.3 && begun.elapsed().as_secs() < NOT_LONG_S);
    assert!(!exists(&scratch.read("pid")));
    // What ends in time is not touched.
    let limits = Limits { timeout_s: Some(100.0), ..Limits::default() };
    assert_eq!(ends(&execute(&Job { limits, ..job(vec![scratch.sh("exit 4")]) })), [End::Exited(4)]);
}

#[test]
fn limits_hold_where_they_can_be_had() {
    let scratch = Scratch::new();
    let allowed = std::fs::read_to_string("/proc/self/status").unwrap();
    let first = allowed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let first: u32 = first.trim().split(['-', ',']).next().unwrap().parse().unwrap();
    let wanted = Limits { cpus: Some(vec![first]), realtime: Some(5), aslr: Some(false), ..Limits::default() };
    let refused = Launcher::start(None).unwrap().refused(&wanted);
    println!("refused: {refused:?}");
    let script =
        "while read -r key value; do case $key in Cpus_allowed_list:) echo $value;; esac; done < /proc/$$/status
        cat /proc/$$/personality; read -r stat < /proc/$$/stat; set -- ${stat##*) }; echo ${38} ${39}";
    let ended = execute(&Job { limits: wanted, ..job(vec![scratch.sh(script)]) });
    let told = scratch.read("out");
    let told: Vec<&str> = told.lines().collect();
    let without = |what: &str| {
        let beforehand = refused.iter().any(|(name, _)| name == what);
        assert_eq!(ended.without.iter().any(|(name, _)| name == what), beforehand, "{what}: {ended:?}");
        beforehand
    };
    assert!(without("cpus") || told[0] == first.to_string(), "{told:?}");
    assert!(without("aslr") || told[1] == "00040000", "{told:?}");
    // Fields 40 and 41 of /proc/PID/stat: real-time priority and scheduling policy; 1 is SCHED_FIFO.
    assert!(without("realtime") || told[2] == "5 1", "{told:?}");
}

#[test]
fn what_cannot_be_had_is_said_beforehand_and_gone_without() {
    let scratch = Scratch::new();
    let limits = Limits { cpus: Some(vec![4000]), cpu_limit: Some(0.5), realtime: Some(1000), ..Limits::default() };
    let launcher = Launcher::start(None).unwrap();
    let refused = launcher.refused(&limits);
    let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cpus", "realtime", "cpu_limit"], "{refused:?}");
    assert!(refused[0].1.contains("4000"), "{refused:?}");
    assert_eq!(launcher.refused(&Limits::default()), []);
    let ended = execute(&Job { limits, ..job(vec![scratch.sh("exit 6")]) });
    assert_eq!(ends(&ended), [End::Exited(6)]);
    assert!(ended.without.iter().any(|(name, _)| name == "realtime"), "{ended:?}");
}

#[test]
fn without_a_cgroup_memory_is_limited_as_address_space() {
    let scratch = Scratch::new();
    if !scratch.has_perl() {
        return;
    }
    let command = scratch.command(&["perl", "-e", "my $x = 'x' x (256 << 20)"]);
    assert_eq!(ends(&execute(&job(vec![command.clone()]))), [End::Exited(0)]);
    let limits = Limits { memory_bytes: Some(128 << 20), ..Limits::default() };
    assert_ne!(ends(&execute(&Job { limits, ..job(vec![command]) })), [End::Exited(0)]);
}

#[test]
fn a_service_goes_on_until_it_is_stopped() {
    let scratch = Scratch::new();
    let out = scratch.fifo("ready");
    let mut launcher = Launcher::start(None).unwrap();
    let script =
        format!("trap 'echo bye > farewell; exit 9' TERM; echo $$ > ready; while :; do sleep {LONG_S} & wait; done");
    launcher.launch(&job(vec![scratch.sh(&script)])).unwrap();
    let pid = Listener::open(&out).line();
    assert!(launcher.ended().unwrap().is_none());
    let stopped = launcher.stop(15, 60.0).unwrap();
    assert_eq!(ends(&stopped), [End::Exited(9)]);
    assert_eq!(scratch.read("farewell"), "bye\n");
    assert!(!exists(&pid));

    // Who does not listen is killed, and the launcher is as good as new.
    let script = format!("trap '' TERM; echo $$ > ready; sleep {LONG_S}; sleep {LONG_S}");
    launcher.launch(&job(vec![scratch.sh(&script)])).unwrap();
    let pid = Listener::open(&out).line();
    assert_eq!(ends(&launcher.stop(15, 0.1).unwrap()), [End::Signalled(9)]);
    assert!(!exists(&pid));
}

#[test]
fn a_service_that_ends_by_itself_is_found_out() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(&job(vec![scratch.sh("exit 8")])).unwrap();
    let ended = loop {
        if let Some(ended) = launcher.ended().unwrap() {
            break ended;
        }
        std::thread::yield_now();
    };
    assert_eq!(ends(&ended), [End::Exited(8)]);
    // A stop that may come too late does no harm to the next one.
    launcher.launch(&job(vec![scratch.sh("exit 7")])).unwrap();
    let stopped = ends(&launcher.stop(15, 60.0).unwrap());
    assert!(stopped == [End::Exited(7)] || stopped == [End::Signalled(15)], "{stopped:?}");
    launcher.launch(&job(vec![scratch.sh("exit 6")])).unwrap();
    assert_eq!(ends(&launcher.wait(Patience::SecondInterrupt).unwrap()), [End::Exited(6)]);
}

fn load(scratch: &Scratch, copies: usize, pace_s: Option<f64>, script: &str) -> Job {
    Job { rounds: Some(Rounds { pace_s }), ..job(times(scratch, copies, script)) }
}

/// Asks until it is so.
fn until(launcher: &mut Launcher, what: impl Fn(&bakeoff_host::Achieved) -> bool) -> bakeoff_host::Achieved {
    loop {
        let achieved = launcher.achieved().unwrap();
        if what(&achieved) {
            return achieved;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_load_goes_round_until_it_is_stopped() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(&load(&scratch, 3, None, "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done")).unwrap();
    let achieved = until(&mut launcher, |achieved| achieved.ended >= 20);
    assert!(achieved.alive >= 1 && achieved.failed == 0 && achieved.seconds > 0.0, "{achieved:?}");
    assert!(launcher.ended().unwrap().is_none());
    let ended = launcher.stop(15, 1.0).unwrap();
    let last = ended.rounds.unwrap();
    assert!(last.ended >= achieved.ended && last.cpu_s > 0.0 && last.seconds >= achieved.seconds, "{last:?}");
    assert_eq!(ended.processes.len(), 3);
    assert!(last.alive <= 3, "those that were alive when it was stopped: {last:?}");
}

#[test]
fn a_paced_load_keeps_its_pace() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(&load(&scratch, 2, Some(0.05), "exit 0")).unwrap();
    let achieved = until(&mut launcher, |achieved| achieved.ended >= 20);
    // Ten times two copies, which take turns: no sooner than nine paces and a half.
    assert!(achieved.seconds >= 0.47, "{achieved:?}");
    launcher.stop(9, 0.0).unwrap();
}

#[test]
fn copies_of_a_paced_load_take_turns() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(&load(&scratch, 4, Some(3600.0), "exit 0")).unwrap();
    // The others begin after a quarter of an hour and later.
    let achieved = until(&mut launcher, |achieved| achieved.ended >= 1);
    assert_eq!((achieved.ended, achieved.alive), (1, 0), "{achieved:?}");
    let ended = launcher.stop(15, 1.0).unwrap();
    assert_eq!((ended.processes.len(), ended.rounds.unwrap().ended), (4, 1));
}

#[test]
fn copies_that_fail_are_counted() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(&load(&scratch, 1, None, "exit 1")).unwrap();
    until(&mut launcher, |achieved| achieved.failed >= 3);
    let last = launcher.stop(9, 0.0).unwrap().rounds.unwrap();
    assert_eq!(last.ended, 0);

    // What cannot be started is tried again, but not in haste.
    std::fs::write(scratch.path("lost"), "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(scratch.path("lost"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let lost = Job { rounds: Some(Rounds::default()), ..job(vec![scratch.command(&["./lost"])]) };
    launcher.launch(&lost).unwrap();
    let achieved = until(&mut launcher, |achieved| achieved.failed >= 5);
    assert!(achieved.seconds >= 0.04 && achieved.alive == 0, "{achieved:?}");
    launcher.stop(9, 0.0).unwrap();
}

#[test]
fn orphans_of_a_load_do_not_pile_up() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    launcher.launch(&load(&scratch, 1, None, "(setsid sh -c : &); exit 0")).unwrap();
    until(&mut launcher, |achieved| achieved.ended >= 50);
    let ended = launcher.stop(9, 0.0).unwrap();
    assert!(ended.leftovers <= 10, "{ended:?}");
}
