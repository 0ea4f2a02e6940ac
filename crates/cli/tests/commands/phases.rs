//! Ctrl-C in each phase of a race, whatever it is a race of; `gc` while one is under way; two commands on one study.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::processes::alive_in;
use crate::common::{Sandbox, Shown, each_trial_once};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// `sh stay.sh PHASE` stays where it is, once, if the test wants to meet it there.
const STAY: &str = "if rm \"$HERE/stay-$1\" 2> /dev/null; then exec sleep 1001; fi\n";

const STUDY: &str = r#"
format = 1
name = "phases"
question = "Is nothing lost?"
[build_factors.echo]
once = { LINES = "echo hello" }
twice = { LINES = "echo hello; echo again >&2" }
[sources.text]
fetch = 'sh "HERE/stay.sh" fetch; echo text > "$DOWNLOAD/text"'
unpack = false
sha256 = "b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733"
[[build]]
name = "script"
source = "text"
tools = []
files = ["build.sh"]
script = '''
sh build.sh
mkdir -p "$PREFIX/bin"
printf '%s\n' '#!/bin/sh' "$LINES" > "$PREFIX/bin/hello"
chmod +x "$PREFIX/bin/hello"
'''
[services.daemon]
run = 'sh "HERE/stay.sh" service; echo ready; exec sleep 1000'
ready = { log = "ready" }
[workloads.hello]
run = 'sh "HERE/stay.sh" trial; "$PREFIX/bin/hello"'
services = ["daemon"]
setup = 'sh "HERE/stay.sh" setup'
prepare = 'sh "HERE/stay.sh" prepare'
conclude = 'sh "HERE/stay.sh" conclude'
cleanup = 'sh "HERE/stay.sh" cleanup'
oracle = 'sh "HERE/stay.sh" oracle'
[plan]
blocks = 3
seed = 178
[decide]
baseline = { echo = "once" }
metrics = ["wall"]
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new("");
    let here = sandbox.path().display().to_string();
    sandbox.write("study.toml", &STUDY.replace("HERE", &here));
    sandbox.write("build.sh", "");
    fs::write(sandbox.path().join("stay.sh"), STAY.replace("$HERE", &here)).unwrap();
    sandbox
}

/// Starts a command, and waits until it is in that phase.
fn meet(sandbox: &Sandbox, phase: &str, words: &[&str]) -> Child {
    fs::write(sandbox.path().join(format!("stay-{phase}")), "").unwrap();
    if phase == "build" {
        // A script sees nothing of the sandbox but the study.
        sandbox.write("build.sh", "exec sleep 1001\n");
    }
    let mut command = sandbox.command_as_typed(words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !alive_in(sandbox.path()).iter().any(|process| process.ends_with("sleep 1001 ")) {
        if child.try_wait().unwrap().is_some() {
            panic!("{phase} was never reached: {:?}", Shown::of(&child.wait_with_output().unwrap()));
        }
        between_looks();
    }
    child
}

/// Each look reads all of /proc: without a pause, that takes the processor from what is looked for.
fn between_looks() {
    std::thread::park_timeout(Duration::from_millis(20));
}

/// Presses Ctrl-C as often as it takes: one that comes before the last was noticed counts as the same.
fn interrupted(child: Child) -> Shown {
    let pid = child.id().to_string();
    let ended = std::thread::spawn(move || child.wait_with_output());
    while !ended.is_finished() {
        let _ = Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status();
        between_looks();
    }
    Shown::of(&ended.join().unwrap().unwrap())
}

/// Whatever it is interrupted in, nothing stays and nothing is lost: the same command resumes.
fn check(phases: &[&str], words: &[&str], finished: impl Fn(&Sandbox)) {
    for phase in phases {
        let sandbox = sandbox();
        let shown = interrupted(meet(&sandbox, phase, words));
        // After the last trial there is nothing to go on with.
        assert_eq!(shown.code, if *phase == "cleanup" { 0 } else { 130 }, "{phase}: {shown:?}");
        let alive = alive_in(sandbox.path());
        assert!(alive.is_empty(), "{phase}: {alive:#?}");
        sandbox.write("build.sh", "");
        let shown = sandbox.execute(words);
        assert_eq!(shown.code, 0, "{phase}: {shown:?}");
        finished(&sandbox);
    }
}

#[test]
fn a_study_is_interrupted_in_any_phase_and_goes_on() {
    let phases = ["fetch", "build", "setup", "service", "prepare", "trial", "oracle", "conclude", "cleanup"];
    check(&phases, &["run", "STUDY", "--quiet"], |sandbox| each_trial_once(&sandbox.record(), 3 * 3));
}

#[test]
fn a_comparison_is_interrupted_in_any_phase_and_goes_on() {
    let [setup, prepare, conclude, cleanup] =
        ["setup", "prepare", "conclude", "cleanup"].map(|phase| format!("sh stay.sh {phase}"));
    let around = ["--setup", &setup, "--prepare", &prepare, "--conclude", &conclude, "--cleanup", &cleanup];
    let commands = ["compare", "sh stay.sh trial", "sh -c :", "--blocks", "3", "--quiet", "--journal", "j.jsonl"];
    let phases = ["setup", "prepare", "trial", "conclude", "cleanup"];
    check(&phases, &[&commands[..], &around].concat(), |sandbox| {
        each_trial_once(&bakeoff_journal::read(&sandbox.path().join("j.jsonl")).unwrap().record, 3 * 3);
    });
}

#[test]
fn gc_takes_nothing_of_a_study_whose_trials_run() {
    let sandbox = sandbox();
    let racing = meet(&sandbox, "trial", &["run", "STUDY", "--quiet"]);
    let before = sandbox.execute(&["cache", "--json"]).out;
    let mut gc =
        sandbox.command_as_typed(&["gc", "--all"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(gc.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("waiting for"), "{said}");
    assert_eq!(sandbox.execute(&["cache", "--json"]).out, before);
    assert_eq!(interrupted(racing).code, 130);
    assert!(gc.wait().unwrap().success(), "it goes on when the trials are over");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    each_trial_once(&sandbox.record(), 3 * 3);
}

#[test]
fn a_second_command_on_a_study_is_refused_while_the_first_one_runs() {
    let sandbox = sandbox();
    let racing = meet(&sandbox, "trial", &["run", "STUDY", "--quiet"]);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(2, &["another command is running this study"]);
    assert_eq!(interrupted(racing).code, 130);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    each_trial_once(&sandbox.record(), 3 * 3);
}
