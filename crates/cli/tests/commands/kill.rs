//! `kill -9` at random moments of simulated and of real studies, then the same command again: no trial lost, none
//! doubled, nothing left behind.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::processes::{alive_in, children, nothing_stays_in, signal};
use crate::common::{Sandbox, each_trial_once, small};
use bakeoff_model::record::Outcome;
use bakeoff_model::shuffle::Stream;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

/// How often each study is killed: 20 times, or as often as `BAKEOFF_KILLS` says.
fn kills() -> usize {
    std::env::var("BAKEOFF_KILLS").map_or(20, |number| number.parse().unwrap())
}

/// Kills the command [`kills`] times, then lets it finish. Every moment is random: some trials on from where the one
/// before was killed (none, for some: then it is while building or beginning), and a random time after that. The most
/// processes of it that were alive before a kill.
fn kill_and_finish(sandbox: &Sandbox, words: &[&str]) -> usize {
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["kill"]);
    let (mut killed, mut most) = (0, 0);
    for _ in 0..kills() {
        let mut child = sandbox.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let trials = sandbox.trials_so_far() + stream.below(5) as usize;
        while sandbox.trials_so_far() < trials && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        // The moment is what is varied here; nothing is waited for.
        std::thread::sleep(Duration::from_micros(stream.below(30_000)));
        killed += usize::from(child.try_wait().unwrap().is_none());
        most = most.max(alive_in(sandbox.path()).len());
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_is_left(sandbox);
    }
    println!("{killed} of {} were killed before they ended", kills());
    let finished = sandbox.execute(words);
    assert_eq!(finished.code, 0, "{finished:?}");
    let record = sandbox.record();
    nothing_is_left(sandbox);
    let with_trials = record.sessions.iter().filter(|s| record.trials.iter().any(|t| t.session == s.session)).count();
    assert!(with_trials > 3, "{with_trials} sessions have trials: too few were killed in mid-study");
    most
}

/// What a killed command leaves behind is killed by its launchers: at once, but not before we look.
#[track_caller]
fn nothing_is_left(sandbox: &Sandbox) {
    nothing_stays_in(sandbox.path());
}

#[test]
fn a_simulated_study_survives_twenty_kills() {
    let sandbox = small();
    kill_and_finish(&sandbox, &["run", "STUDY", "--blocks", "60", "--quiet", "--simulate", "pause:0.005"]);
    each_trial_once(&sandbox.record(), 60 * 3);
}

#[test]
fn a_study_that_stops_by_a_rule_ends_where_it_would_have_without_any_kill() {
    let truth = "pause:0.005,noise:0.025";
    let words = |rule: &'static str| ["run", "STUDY", "--until", rule, "--quiet", "--simulate", truth];
    let killed = small();
    kill_and_finish(&killed, &words("±1%"));
    let whole = small();
    assert_eq!(whole.execute(&words("±1%")).code, 0);
    let timeless = |record: bakeoff_model::record::Record| {
        let trial = |t: bakeoff_model::record::Trial| (t.block, t.variant, t.measurements);
        record.trials.into_iter().map(trial).collect::<Vec<_>>()
    };
    let (killed, whole) = (timeless(killed.record()), timeless(whole.record()));
    assert!(whole.len() > 10 * 3 && whole.len() < 200 * 3, "{}", whole.len());
    assert_eq!(killed, whole);
}

#[test]
fn a_real_study_survives_twenty_kills_and_nothing_of_it_outlives_them() {
    let sandbox = small();
    // Trials that last, and that have a child with a name of its own, so that survivors can be found.
    let name = format!("9{}.25", std::process::id());
    let text = crate::common::SMALL.replace("echo hello;", "sleep 0.01; echo hello;").replace(
        "once = { LINES = \"echo hello\" }",
        &format!("once = {{ LINES = \"sleep {name} & sleep 0.01; echo hello\" }}"),
    );
    sandbox.write("study.toml", &text);
    kill_and_finish(&sandbox, &["run", "STUDY", "--blocks", "40", "--quiet"]);
    each_trial_once(&sandbox.record(), 40 * 3);
    let survivors: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&name))
        .collect();
    assert!(survivors.is_empty(), "{survivors:?}");
}

/// Everything that a study can have beside its trials, and all of it has children of its own: a service that leaves a
/// process in another session, one for the block, a load of two copies, two processes at once, an oracle.
const SURROUNDED: &str = r#"
format = 1
name = "surrounded"
[run_factors.naps]
one = { NAPS = "1" }
two = { NAPS = "2" }
[services.store]
run = 'setsid sleep 1000 & echo serving; exec sleep 1000'
ready = { log = "serving" }
[services.shelf]
run = 'exec perl shelf.pl'
ready = { tcp = "$PORT_shelf" }
per = "block"
[workloads.nap]
run = 'sleep 1000 & for i in $(seq $NAPS); do sleep 0.005; done'
oracle = 'sleep 0.002'
[conditions.idle]
[conditions.busy]
copies = 2
of = { command = 'sleep 0.003; setsid sleep 1000 & exit 0' }
processes = 2
[plan]
blocks = 4
[decide]
baseline = { naps = "one" }
"#;

/// Listens at its port and does nothing else.
const SHELF: &str = r#"use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$ENV{PORT_shelf}", Listen => 5, ReuseAddr => 1) or die "bind: $!";
while (my $c = $s->accept) { close $c }
"#;

#[test]
fn a_study_with_services_load_and_processes_survives_kills_and_nothing_of_it_outlives_them() {
    let sandbox = Sandbox::new(SURROUNDED);
    sandbox.write("shelf.pl", SHELF);
    // A kill takes up to four trials' time: so many are enough for every kill to meet one.
    let blocks = 6 + kills();
    let most = kill_and_finish(&sandbox, &["run", "STUDY", "--blocks", &blocks.to_string(), "--quiet"]);
    // The program, its launchers, two services with a process each, and trials or load.
    assert!(most > 6, "only {most} processes were ever there to be killed");
    let record = sandbox.record();
    each_trial_once(&record, blocks * 6);
    let bad: Vec<_> = record.trials.iter().filter(|t| t.outcome != Outcome::Ok).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    for trial in record.trials.iter().filter(|trial| trial.condition == "busy") {
        assert!(trial.value("load_rate").is_some() && trial.processes.len() == 2, "{trial:?}");
    }
}

/// Kills the program and all that it has started itself, before it can do anything about it; what was alive then.
fn kill_at_once(sandbox: &Sandbox, command: &mut std::process::Command) -> Vec<String> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    while sandbox.trials_so_far() < 3 {
        if child.try_wait().unwrap().is_some() {
            let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            assert!(said.contains("namespace can be made"), "{said}");
            return vec![];
        }
        std::thread::yield_now();
    }
    // At a moment at which there is much to be left.
    let alive = loop {
        signal("-STOP", pid);
        let alive = alive_in(sandbox.path());
        if alive.len() > 3 {
            break alive;
        }
        signal("-CONT", pid);
    };
    children(pid).into_iter().for_each(|child| signal("-KILL", child));
    child.kill().unwrap();
    child.wait().unwrap();
    alive
}

#[test]
fn nothing_stays_if_the_program_and_its_launchers_are_killed_at_once() {
    let words = ["run", "STUDY", "--quiet", "--blocks", "50"];
    let surrounded = || {
        let sandbox = Sandbox::new(SURROUNDED);
        sandbox.write("shelf.pl", SHELF);
        sandbox
    };
    // Without namespaces the next command kills what is left; in one, nothing is.
    let sandbox = surrounded();
    let why = bakeoff_host::Enclosure::open(None).why_no_namespace().map(str::to_owned);
    kill_at_once(&sandbox, sandbox.command(&words).env("BAKEOFF_NAMESPACES", "off"));
    // Where there are none, the next command may already be another test's.
    assert!(why.is_some() || !alive_in(sandbox.path()).is_empty(), "trials and services go on");
    let next = sandbox.command(&["run", "STUDY", "--quiet", "--blocks", "1"]).env("BAKEOFF_NAMESPACES", "off").output();
    assert!(next.unwrap().status.success());
    assert!(alive_in(sandbox.path()).is_empty(), "{:#?}", alive_in(sandbox.path()));

    let sandbox = surrounded();
    let user_namespace = [&words[..], &["--user-namespace"]].concat();
    if kill_at_once(&sandbox, &mut sandbox.command(&user_namespace)).is_empty() {
        println!("skipped: user namespaces are not permitted");
    }
    nothing_is_left(&sandbox);

    let sandbox = surrounded();
    if let Some(why) = why {
        println!("skipped: a PID namespace: {why}");
        return;
    }
    kill_at_once(&sandbox, &mut sandbox.command(&words));
    nothing_is_left(&sandbox);
}

#[test]
fn interrupts_leave_nothing_of_services_and_load_and_lose_no_trial() {
    let sandbox = Sandbox::new(SURROUNDED);
    sandbox.write("shelf.pl", SHELF);
    let words = ["run", "STUDY", "--blocks", "6", "--quiet"];
    let interrupt = |pid: u32| {
        let sent = std::process::Command::new("kill").args(["-TERM", &pid.to_string()]).status().unwrap();
        assert!(sent.success());
    };
    // One lets the trial in flight end, two kill it.
    for (after, interrupts) in [(1, 1), (4, 2), (9, 1), (12, 2)] {
        let mut child = sandbox.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while sandbox.trials_so_far() < after && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        (0..interrupts).for_each(|_| interrupt(child.id()));
        assert_eq!(child.wait().unwrap().code(), Some(130), "after {after} trials");
        assert!(
            alive_in(sandbox.path()).is_empty(),
            "it ended before what it had started: {:#?}",
            alive_in(sandbox.path())
        );
    }
    assert_eq!(sandbox.execute(&words).code, 0);
    each_trial_once(&sandbox.record(), 6 * 6);
}
