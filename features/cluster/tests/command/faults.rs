//! Faults of a cluster and of those who use it, planted in runs on a real Slurm: after each, every trial is there once.

use crate::common::{Shown, each_trial_once};
use crate::features::cluster_lab::{Lab, SMALL, entries};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A longer one: a shard of two passes takes long enough for something to happen to it.
fn long() -> String {
    SMALL.replace("sleep 0.02", "sleep 0.1").replace("blocks = 6", "blocks = 9")
}

#[test]
fn a_command_that_is_killed_right_after_it_has_submitted_is_no_loss() {
    let Some(lab) = Lab::start(SMALL) else { return };
    // It gets no answer: what it has submitted is only in the queue.
    lab.wrap("sbatch", "is_test \"$@\" && { real \"$@\"; exit; }\necho \"$*\" >> $here/submissions\nreal \"$@\" > /dev/null\nkill -KILL $PPID\n");
    assert_eq!(lab.begin("first", &[]).ended().code, -1);
    assert_eq!(lab.begin("second", &[]).ended().code, 0, "{:?}", lab.rig.queue());
    assert_eq!(lab.submissions().len(), 1, "the second one has found what the first one submitted");
    lab.complete(6 * 3);
    lab.nothing_stays();
}

#[test]
fn a_command_that_is_killed_while_shards_run_goes_on_where_they_are() {
    let Some(lab) = Lab::start(&long()) else { return };
    lab.count_submissions();
    let first = lab.begin("first", &[]);
    lab.rig.until("a trial has ended", || lab.trials() > 0);
    first.kill();
    let fewer = lab.execute(&["run", "STUDY", "--on", "lab", "--blocks", "4"]);
    fewer.expect(2, &["this run has 9 blocks, more than the 4 of this command", "use --blocks 9, or remove /"]);
    let waits = lab.execute(&["run", "STUDY", "--on", "lab"]);
    waits.expect(0, &["9 passes in 3 shards", "9 blocks"]);
    assert_eq!(lab.submissions().len(), 1);
    lab.complete(9 * 3);
}

#[test]
fn what_ended_while_nobody_waited_is_collected_once() {
    let Some(lab) = Lab::start(SMALL) else { return };
    let first = lab.begin("first", &[]);
    lab.rig.until("a trial has ended", || lab.trials() > 0);
    first.kill();
    lab.rig.until("all shards are done", || lab.done() == 3);
    assert!(lab.sandbox.journals().is_empty(), "nobody has collected anything");
    lab.execute(&["jobs", "STUDY"]).expect(0, &["done"]);
    assert!(lab.sandbox.journals().is_empty(), "looking at it collects nothing");
    lab.execute(&["jobs", "STUDY", "--collect"]).expect(0, &["collected 6 blocks"]);
    let before = fs::read(lab.sandbox.journal()).unwrap();
    lab.execute(&["jobs", "STUDY", "--collect"]).expect(0, &["collected 0 blocks"]);
    assert!(fs::read(lab.sandbox.journal()).unwrap() == before, "a second time changes nothing");
    lab.complete(6 * 3);
    lab.execute(&["report", "STUDY"]).expect(0, &["6 blocks"]);
    // What is done needs no scheduler; what waits and runs, only that knows.
    lab.rig.kill_controller();
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["6 blocks"]);
    let known = || -> Value { serde_json::from_str(&lab.execute(&["jobs", "STUDY", "--json"]).out).unwrap() };
    assert_eq!((known()[0]["jobs"].clone(), &known()[0]["shards"][0]["done"]), (json!([]), &json!(true)));
    fs::remove_file(entries(&lab.path("shared/runs"))[0].join("shards/0/done")).unwrap();
    assert_eq!((&known()[0]["jobs"], &known()[0]["shards"][0]["done"]), (&Value::Null, &json!(false)));
}

#[test]
fn a_cluster_of_which_no_node_takes_jobs_is_waited_for() {
    let Some(lab) = Lab::start(SMALL) else { return };
    let nodes = lab.rig.nodes().join(",");
    lab.rig.say("scontrol", &["update", &format!("nodename={nodes}"), "state=drain", "reason=power cut"]);
    let waits = lab.begin("waits", &[]);
    lab.rig.until("the nodes are named", || waits.shown().contains("administrator resumes them: n1 (power cut)"));
    lab.rig.say("scontrol", &["update", &format!("nodename={nodes}"), "state=resume"]);
    waits.ended().expect(0, &["6 blocks"]);
    lab.complete(6 * 3);
}

#[test]
fn of_two_commands_at_once_neither_loses_nor_doubles_a_trial() {
    let Some(lab) = Lab::start(SMALL) else { return };
    // Both have asked for the queue before either submits, and nodes take both arrays' tasks at once.
    lab.machines("", "exclusive = false");
    lab.wrap(
        "sbatch",
        "is_test \"$@\" && { real \"$@\"; exit; }\ntouch $here/waits.$PPID\nuntil [ -e $here/go ]; do sleep 0.01; done\nreal \"$@\"\n",
    );
    let both = [lab.begin("first", &[]), lab.begin("second", &[])];
    let waiting = || entries(lab.sandbox.path()).iter().filter(|path| shown(path).contains("waits.")).count();
    lab.rig.until("both are about to submit", || waiting() == 2);
    fs::write(lab.path("go"), "").unwrap();
    for one in both {
        one.ended().expect(0, &["6 blocks"]);
    }
    lab.nothing_stays();
    lab.complete(6 * 3);
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["6 blocks"]);
    lab.complete(6 * 3);
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_job_that_is_held_is_named_and_runs_once_it_is_released() {
    let Some(lab) = Lab::start(SMALL) else { return };
    lab.machines("extra = [\"--hold\"]", "");
    let waits = lab.begin("held", &[]);
    let said = "waits and will not start: JobHeldUser";
    lab.rig.until("it says that a job is held", || waits.shown().contains(said));
    assert_eq!(waits.shown().matches(said).count(), 1, "{}", waits.shown());
    lab.execute(&["jobs", "STUDY"]).expect(0, &[said]);
    let shown = lab.execute(&["jobs", "STUDY", "--json"]).out;
    let jobs = serde_json::from_str::<Value>(&shown).unwrap()[0]["jobs"].clone();
    assert!(jobs[0]["state"] == "waiting" && jobs[0]["reason"] == "JobHeldUser", "{jobs}");
    assert!(jobs[0]["remedy"].as_str().is_some_and(|remedy| remedy.contains("scontrol release")), "{jobs}");
    for id in lab.rig.say("squeue", &["-h", "-r", "-o", "%F_%K"]).lines() {
        lab.rig.say("scontrol", &["release", id]);
    }
    waits.ended().expect(0, &["6 blocks"]);
    lab.complete(6 * 3);
}

#[test]
fn a_run_of_another_version_is_refused() {
    let Some(lab) = Lab::start(SMALL) else { return };
    lab.execute(&["run", "STUDY", "--on", "lab", "--dry-run"]).expect(0, &[]);
    let order = lab.run().join("order.json");
    let text = fs::read_to_string(&order).unwrap();
    fs::write(&order, text.replace("\"format\": 1", "\"format\": 2").replace("\"0.1.0\"", "\"9.1.0\"")).unwrap();
    let parts = [
        "order.json has format 2, and this version of Bakeoff reads only formats up to 1",
        "use Bakeoff 9.1.0 or newer",
    ];
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(2, &parts);
    lab.execute(&["jobs", "STUDY"]).expect(2, &parts);
    assert_eq!(lab.rig.queue(), Vec::<String>::new());
    // The program that began the run is in it, so an older order and a journal of now cannot meet; a newer journal can.
    fs::write(&order, text).unwrap();
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &[]);
    let journal = lab.run().join("shards/1/0/journal.jsonl");
    let newer = crate::common::unsealed(&journal).replace("\"format\":1", "\"format\":9");
    fs::write(&journal, newer).unwrap();
    for words in [&["run", "STUDY", "--on", "lab"][..], &["jobs", "STUDY", "--collect"]] {
        lab.execute(words).expect(2, &["has format 9, but this version of Bakeoff reads only formats up to"]);
    }
    lab.complete(6 * 3);
}

#[test]
fn more_shards_than_an_array_can_have_are_several_arrays() {
    let Some(lab) = Lab::start(&SMALL.replace("blocks = 6", "blocks = 22")) else { return };
    lab.machines("", "nodes = 22\nexclusive = false");
    lab.count_submissions();
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["22 passes in 22 shards", "22 blocks"]);
    assert_eq!(lab.submissions().len(), 2, "MaxArraySize is 20: {:#?}", lab.submissions());
    lab.complete(22 * 3);
}

#[test]
fn ids_that_slurm_gives_again_are_no_confusion() {
    let Some(lab) = Lab::start(SMALL) else { return };
    lab.wrap("sbatch", "is_test \"$@\" && { real \"$@\"; exit; }\nreal \"$@\" | tee -a $here/ids\n");
    // Nothing starts before slurmctld has lost it.
    lab.rig.say("scontrol", &["update", "PartitionName=lab", "State=DOWN"]);
    let first = lab.begin("first", &[]);
    let ids = || fs::read_to_string(lab.path("ids")).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    lab.rig.until("it has submitted", || ids().len() == 1);
    first.kill();
    lab.rig.kill_controller();
    let state = lab.rig.path().join("spool/ctld");
    fs::remove_dir_all(&state).unwrap();
    fs::create_dir(state).unwrap();
    lab.rig.start_controller();
    lab.rig
        .until("its nodes are there", || lab.rig.say("sinfo", &["-h", "-N", "-o", "%t"]).matches("idle").count() == 3);
    // A test of a script uses an id too, and the first command made one more of them: for the shards that it added.
    lab.rig.say("sbatch", &["--test-only", "--wrap=true"]);
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["6 blocks"]);
    let ids = ids();
    assert!(ids.len() == 2 && ids[0] == ids[1], "both arrays have the same id: {ids:?}");
    lab.complete(6 * 3);
}

#[test]
fn jobs_that_are_cancelled_leave_whole_blocks_that_count() {
    let Some(lab) = Lab::start(&(long() + "[plans.other]\nblocks = 1\n")) else { return };
    // Set aside: the journal of a first try on this machine.
    lab.execute(&["run", "STUDY", "--blocks", "1", "--quiet"]).expect(0, &["1 block"]);
    let tried = lab.sandbox.journal();
    fs::rename(&tried, lab.path("tried")).unwrap();
    let first = lab.begin("first", &[]);
    lab.rig.until("some blocks are whole", || lab.trials() > 9);
    first.kill();
    // What the scheduler still shows of them is not shown.
    let cancelled = lab.execute(&["jobs", "STUDY", "--cancel"]);
    cancelled.expect(0, &["were cancelled", "not running"]);
    assert!(!cancelled.out.contains(" since "), "{}", cancelled.out);
    lab.nothing_stays();
    assert!(lab.done() < 3);
    lab.execute(&["jobs", "STUDY", "--collect"]).expect(0, &["not running", "collected"]);
    let there = lab.sandbox.record().away.len();
    assert!(there > 0 && there < 9, "{there}");
    // What other machines began is not ended here without a word.
    let refused = lab.execute(&["run", "STUDY"]);
    refused.expect(2, &["of 9 blocks of this study ran on", "use --on NAME to run them there, or --here"]);
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["9 blocks"]);
    lab.complete(9 * 3);
    // Nor if there was a first try, or another plan runs meanwhile.
    let journal = lab.sandbox.journal();
    fs::rename(lab.path("tried"), tried).unwrap();
    lab.execute(&["run", "STUDY", "--plan", "other", "--quiet"]).expect(0, &["1 block"]);
    lab.execute(&["run", "STUDY", "--blocks", "11"]).expect(2, &["9 of 11 blocks of this study ran on"]);
    lab.execute(&["run", "STUDY", "--blocks", "11", "--here", "--quiet"]).expect(0, &["11 blocks"]);
    let record = bakeoff_journal::read(&journal).unwrap().record;
    each_trial_once(&record, 11 * 3);
    assert_eq!(record.away.len(), 9);
}

#[test]
fn the_rest_of_a_study_can_be_run_here_if_that_is_asked_for() {
    let Some(lab) = Lab::start(&long()) else { return };
    let first = lab.begin("first", &[]);
    lab.rig.until("some blocks are whole", || lab.trials() > 9);
    first.kill();
    lab.execute(&["jobs", "STUDY", "--cancel"]).expect(0, &[]);
    lab.nothing_stays();
    lab.execute(&["jobs", "STUDY", "--collect"]).expect(0, &[]);
    lab.execute(&["run", "STUDY", "--here", "--quiet"]).expect(0, &["9 blocks"]);
    let record = lab.complete(9 * 3);
    assert!(!record.away.is_empty() && record.away.len() < 9);
    // A pass that was begun here ends here.
    let journal = fs::read_to_string(lab.sandbox.journal()).unwrap();
    let block = journal.rfind("\"line\":\"block\"").unwrap();
    let (first_trial, _) = journal[block..].match_indices('\n').nth(1).unwrap();
    fs::write(lab.sandbox.journal(), &journal[..=block + first_trial]).unwrap();
    let refused = lab.execute(&["run", "STUDY", "--on", "lab", "--quiet"]);
    refused.expect(2, &["a pass was begun on this machine and has not ended", "--here"]);
    lab.execute(&["run", "STUDY", "--here", "--quiet"]).expect(0, &["9 blocks"]);
    lab.complete(9 * 3);
    // What was run here counts, whatever the nodes run. More blocks, however they are asked for, are the same run.
    let of_here = 9 - record.away.len();
    lab.execute(&["run", "STUDY", "--on", "lab", "--blocks", "11", "--quiet"]).expect(0, &["11 blocks"]);
    lab.sandbox.write("study.toml", &long().replace("blocks = 9", "blocks = 12 # and more"));
    lab.execute(&["run", "STUDY", "--on", "lab", "--quiet"]).expect(0, &["12 blocks"]);
    let record = lab.complete(12 * 3);
    assert_eq!((record.away.len(), record.run_again.len()), (12 - of_here, 0));
    assert_eq!(lab.execute(&["jobs", "STUDY"]).out.matches("Run ").count(), 1);
}

const BUILT: &str = r#"
format = 1
name = "built"
[build_factors.loop]
short = { N = "1000" }
long = { N = "3000" }
[[build]]
name = "p"
files = ["main.c"]
script = 'cc -O1 -DN=$N -c main.c; cc -o p main.o; install -D p "$PREFIX/bin/p"'
[workloads.w]
run = '$PREFIX/bin/p'
[plan]
blocks = 3
layouts = "one"
[decide]
baseline = { loop = "short" }
"#;

#[test]
fn a_node_that_would_build_something_else_ends_its_shard_for_good() {
    let Some(lab) = Lab::start(BUILT) else { return };
    lab.sandbox
        .write("main.c", "int main(void) { volatile int s = 0; for (int i = 0; i < N; i++) s += i; return 0; }\n");
    lab.count_submissions();
    let other = lab.path("other");
    fs::create_dir(&other).unwrap();
    let compiler = other.join("cc");
    fs::write(&compiler, "#!/bin/sh\nexec gcc \"$@\"\n").unwrap();
    fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let setup = format!(
        "if [ \"$SLURMD_NODENAME$SLURM_ARRAY_TASK_ID\" != \"$SLURMD_NODENAME\" ]; then PATH={}:$PATH; fi",
        other.display()
    );
    lab.machines_with_setup("", "", &[&setup]);
    let shown = lab.execute(&["run", "STUDY", "--on", "lab"]);
    shown.expect(2, &["ended with exit code 2 on n", "a shard builds nothing", "its log is in"]);
    assert_eq!(lab.submissions().len(), 2, "it was not submitted again: {:#?}", lab.submissions());
    lab.execute(&["jobs", "STUDY"]).expect(0, &["ended with exit code 2"]);
    // Where the node is repaired, the same command submits again.
    lab.machines("", "");
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["3 blocks"]);
    lab.complete(3 * 3);
}

#[test]
fn builds_that_fail_are_told_once_and_built_again_by_the_same_command() {
    let Some(lab) = Lab::start(BUILT) else { return };
    lab.sandbox
        .write("main.c", "int main(void) { volatile int s = 0; for (int i = 0; i < N; i++) s += i; return 0; }\n");
    lab.count_submissions();
    lab.machines_with_setup("", "", &["PATH=/nowhere:/usr/sbin"]);
    let refused = lab.execute(&["run", "STUDY", "--on", "lab"]);
    assert!(refused.code != 0 && refused.err.contains("the builds failed on n"), "{refused:?}");
    assert!(!refused.err.contains(": error"), "{refused:?}");
    assert_eq!(lab.submissions().len(), 1, "{:#?}", lab.submissions());
    lab.execute(&["jobs", "STUDY"]).expect(0, &["builds ", "ended with exit code", "not running"]);
    lab.machines("", "");
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["3 blocks"]);
    // A level that cannot be compiled leaves the others.
    lab.sandbox.write("study.toml", &BUILT.replace("long = ", "odd = { N = \"nothing\" }\nlong = "));
    lab.execute(&["run", "STUDY", "--on", "lab"])
        .expect(4, &["loop=odd cannot be built and has no trials: ", "3 blocks"]);
}

/// The waiting command sees the year end; the nodes, and Slurm's commands, have the clock of this machine.
#[test]
fn no_date_decides_anything() {
    let Some(lab) = Lab::start(SMALL) else { return };
    let clock = ["-f", "@2030-12-31 23:59:59"];
    let Ok(year) = Command::new("faketime").args(clock).args(["date", "+%Y"]).output() else {
        println!("skipped: a clock that is set: faketime is not installed");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&year.stdout).trim(), "2030");
    for name in ["sbatch", "squeue", "sinfo", "scontrol"] {
        lab.wrap(name, "unset LD_PRELOAD FAKETIME\nreal \"$@\"\n");
    }
    let typed = lab.command(&["run", "STUDY", "--on", "lab"]);
    let mut command = Command::new("faketime");
    command.args(clock).arg(typed.get_program()).args(typed.get_args());
    command.current_dir(lab.sandbox.path()).env_remove("COLUMNS");
    typed
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)))
        .for_each(|(name, value)| _ = command.env(name, value));
    Shown::of(&command.output().unwrap()).expect(0, &["6 passes in 3 shards", "6 blocks"]);
    lab.complete(6 * 3);
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["6 blocks"]);
    lab.nothing_stays();
}
