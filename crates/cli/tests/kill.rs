//! `kill -9` at random moments of simulated and of real studies, then the same command again: no trial lost, none
//! doubled, nothing left behind.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod common;

use bakeoff_model::shuffle::Stream;
use common::{Sandbox, each_trial_once, small};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

const KILLS: usize = 20;

/// Kills the command [`KILLS`] times, then lets it finish. Every moment is random: some trials on from where the one
/// before was killed (none, for some: then it is while building or beginning), and a random time after that.
fn kill_and_finish(sandbox: &Sandbox, words: &[&str]) {
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["kill"]);
    let mut killed = 0;
    for _ in 0..KILLS {
        let mut child = sandbox.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let trials = sandbox.trials_so_far() + stream.below(5) as usize;
        while sandbox.trials_so_far() < trials && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        // The moment is what is varied here; nothing is waited for.
        std::thread::sleep(Duration::from_micros(stream.below(30_000)));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    println!("{killed} of {KILLS} were killed before they ended");
    let finished = sandbox.execute(words);
    assert_eq!(finished.code, 0, "{finished:?}");
    let record = sandbox.record();
    let with_trials = record.sessions.iter().filter(|s| record.trials.iter().any(|t| t.session == s.session)).count();
    assert!(with_trials > 3, "{with_trials} sessions have trials: too few were killed in mid-study");
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
    let text = common::SMALL.replace("echo hello;", "sleep 0.01; echo hello;").replace(
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
