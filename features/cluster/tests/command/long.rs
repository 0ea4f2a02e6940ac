//! Faults that take minutes, or many of them: only `make long PART=cluster` runs them, which sets
//! `BAKEOFF_CLUSTER`. Each prints what was planted and what was seen of it; after each, every trial is there once.

use crate::common::processes::LOOKS;
use crate::features::cluster_lab::{Coordinator, Lab, SMALL, entries};
use bakeoff_model::shuffle::Stream;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Kills of each kind of process in the random test.
const KILLS: usize = 20;

/// A study with trials of this number of 100 ms, and a cluster; none unless these tests were requested.
fn lab(blocks: u32, tenths: u32) -> Option<Lab> {
    let nap = format!("sleep {}.{}", tenths / 10, tenths % 10);
    let text = SMALL.replace("sleep 0.02", &nap).replace("blocks = 6", &format!("blocks = {blocks}"));
    asked_for(&text)
}

/// A study and a cluster; none unless these tests were requested.
fn asked_for(study: &str) -> Option<Lab> {
    if std::env::var_os("BAKEOFF_CLUSTER").is_none() {
        println!("skipped: it takes minutes; make long PART=cluster runs it");
        return None;
    }
    let lab = Lab::start(study)?;
    lab.count_submissions();
    Some(lab)
}

/// Lets a command end, and fails unless all is there and nothing is left; prints what was seen.
fn finish(lab: &Lab, planted: &str, waits: Coordinator, blocks: usize) {
    let ended = waits.ended();
    assert_eq!(ended.code, 0, "{}", ended.out);
    let record = lab.complete(blocks * 3);
    lab.nothing_stays();
    let again = record.run_again.len();
    println!("{planted}: every trial once; {} submissions, {again} blocks ran twice", lab.submissions().len());
}

/// Waits until something is so, also where Slurm has to notice first that nodes were lost, which takes it a minute.
fn patiently(lab: &Lab, is_so: impl Fn() -> bool) {
    let mut looks: usize = 0;
    while !is_so() {
        looks += lab.rig.queue().len().min(1);
        assert!(looks < LOOKS as usize, "never: {:#?}", lab.rig.queue());
    }
}

/// Processes of a node's jobs.
fn of_node(lab: &Lab, node: &str) -> Vec<u32> {
    let word = format!("SLURMD_NODENAME={node}\0");
    let is_of = |pid: &u32| {
        let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(&word)
    };
    lab.rig.processes().into_iter().filter(is_of).collect()
}

fn kill_all(pids: &[u32]) {
    pids.iter().for_each(|pid| crate::common::processes::signal("-KILL", *pid));
}

/// The ids of the run's jobs, by the numbers of their tasks.
fn ids(lab: &Lab) -> Vec<String> {
    lab.rig.say("squeue", &["-h", "-r", "-t", "R", "-o", "%F_%K"]).lines().map(str::to_owned).collect()
}

/// Starts the study, and waits until each node has noted a trial.
fn begun(lab: &Lab) -> Coordinator {
    let waits = lab.begin("waits", &[]);
    lab.rig.until("trials have ended", || lab.trials() > 5);
    waits
}

#[test]
fn a_node_is_lost_and_its_jobs_live_on() {
    let Some(lab) = lab(100, 5) else { return };
    let waits = begun(&lab);
    lab.rig.kill_node_with_steps("n1");
    lab.rig
        .until("Slurm has noticed", || lab.rig.say("sinfo", &["-h", "-N", "-n", "n1", "-o", "%t"]).starts_with("down"));
    lab.rig.start_node("n1");
    finish(&lab, "slurmd and what watches its job killed, the job lives on", waits, 100);
}

#[test]
fn a_node_is_lost_with_all_that_it_ran() {
    let Some(lab) = lab(30, 3) else { return };
    let waits = begun(&lab);
    let jobs = of_node(&lab, "n1");
    lab.rig.kill_node_with_steps("n1");
    kill_all(&jobs);
    finish(&lab, "a node with all of its processes killed", waits, 30);
}

#[test]
fn jobs_are_requeued_in_the_midst_of_a_block() {
    let Some(lab) = lab(30, 3) else { return };
    lab.machines("", "requeue = true");
    let waits = begun(&lab);
    ids(&lab).iter().for_each(|id| _ = lab.rig.say("scontrol", &["requeue", id]));
    finish(&lab, "all jobs requeued", waits, 30);
}

#[test]
fn jobs_are_cancelled_by_somebody_else() {
    let Some(lab) = lab(30, 3) else { return };
    let waits = begun(&lab);
    ids(&lab).iter().for_each(|id| _ = lab.rig.say("scancel", &[id]));
    finish(&lab, "all jobs cancelled while the command waits", waits, 30);
}

#[test]
fn a_time_limit_ends_jobs_in_the_midst_of_a_block() {
    let Some(lab) = lab(75, 10) else { return };
    lab.machines("time = \"1\"", "");
    let waits = lab.begin("waits", &[]);
    finish(&lab, "a time limit of a minute, for shards of 100 s", waits, 75);
}

#[test]
fn a_disk_is_full_and_then_has_room() {
    let Some(lab) = lab(15, 1) else { return };
    let shared = lab.path("shared");
    fs::create_dir(&shared).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=200m", "tmpfs"]).arg(&shared).status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: only root can mount a small disk");
        return;
    }
    let waits = begun(&lab);
    let filler = shared.join("filler");
    let source = "dd if=/dev/zero of=\"$1\" bs=64k 2> /dev/null; :";
    let _ = Command::new("sh").args(["-c", source, "sh"]).arg(&filler).status();
    let ended = waits.ended();
    let said = ended.out.lines().filter(|line| line.starts_with("error")).collect::<Vec<_>>().join("; ");
    fs::remove_file(&filler).unwrap();
    finish(
        &lab,
        &format!("the disk of the run is full (exit code {}: {said})", ended.code),
        lab.begin("again", &[]),
        15,
    );
    let _ = Command::new("umount").arg("-l").arg(&shared).status();
}

/// Within a second, slurmctld has written down that there is a job, and not yet that it runs: it starts it again.
#[test]
fn slurmctld_is_killed_right_after_a_submission() {
    for delay in ["0.6", "0.9", "1.2", "1.5"] {
        let Some(lab) = lab(30, 3) else { return };
        let text = "is_test \"$@\" && { real \"$@\"; exit; }\necho \"$*\" >> $here/submissions\nreal \"$@\"\ncode=$?\n\
                    [ -e $here/killed ] || { sleep DELAY; kill -KILL $(cat $here/../run/slurmctld.pid); touch $here/killed; }\n\
                    exit $code\n";
        lab.wrap("sbatch", &text.replace("DELAY", delay));
        let waits = lab.begin("waits", &[]);
        lab.rig.until("slurmctld was killed", || lab.path("killed").exists());
        lab.rig.kill_controller();
        lab.rig.start_controller();
        let ended = waits.ended();
        assert_eq!(ended.code, 0, "{}", ended.out);
        let states = lab.rig.say("sinfo", &["-h", "-N", "-o", "%N %T %E"]);
        let drained = states.lines().filter(|line| line.contains("drain")).count();
        let told = ended.out.lines().filter(|line| line.contains("drained nodes")).count();
        println!(
            "slurmctld killed {delay} s after sbatch: every trial once; {} submissions, {drained} nodes drained, {told} of them told",
            lab.submissions().len()
        );
        lab.complete(30 * 3);
    }
}

#[test]
fn a_drained_node_is_named_while_jobs_wait() {
    let Some(lab) = lab(30, 3) else { return };
    lab.rig.say("scontrol", &["update", "nodename=n1", "state=drain", "reason=broken fan"]);
    let waits = lab.begin("waits", &[]);
    let ended = waits.ended();
    assert_eq!(ended.code, 0, "{}", ended.out);
    assert_eq!(ended.out.matches("until an administrator resumes them: n1 (broken fan)").count(), 1, "{}", ended.out);
    lab.complete(30 * 3);
    println!("a drained node: named once, every trial once");
}

#[test]
fn jobs_that_are_requeued_for_ever_are_shown_and_cancelled() {
    let Some(lab) = lab(6, 1) else { return };
    lab.machines_with_setup("", "requeue = true", &["scontrol requeue $SLURM_JOB_ID; sleep 1000"]);
    let waits = lab.begin("waits", &[]);
    lab.rig.until("the reason is shown", || waits.shown().contains("waiting (BeginTime)"));
    waits.kill();
    lab.execute(&["jobs", "STUDY"]).expect(0, &["waits: BeginTime"]);
    lab.execute(&["jobs", "STUDY", "--cancel"]).expect(0, &[]);
    lab.nothing_stays();
    println!("jobs that requeue themselves: the reason is shown, and nothing of them is left after jobs --cancel");
}

#[test]
fn random_kills_of_the_command_and_of_nodes_lose_and_double_nothing() {
    let Some(lab) = lab(240, 1) else { return };
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs());
    println!("SEED={seed}");
    let mut stream = Stream::of(seed, &["cluster"]);
    let mut waits = lab.begin("0", &[]);
    for kill in 0..2 * KILLS {
        let trials = lab.trials() + stream.below(12) as usize;
        patiently(&lab, || lab.trials() >= trials || lab.done() == 3);
        // The moment is what is varied here; nothing is waited for.
        std::thread::sleep(Duration::from_millis(stream.below(300)));
        if kill % 2 == 0 {
            waits.kill();
            waits = lab.begin(&(kill + 1).to_string(), &[]);
            continue;
        }
        let node = &lab.rig.nodes()[stream.below(3) as usize];
        // slurmd alone, what watches its jobs as well, or all that the node runs.
        let what = stream.below(3);
        let jobs = if what == 2 { of_node(&lab, node) } else { vec![] };
        if what == 0 {
            lab.rig.kill_node(node)
        } else {
            lab.rig.kill_node_with_steps(node)
        }
        kill_all(&jobs);
        let killed = ["slurmd", "slurmd and its steps", "all processes"][what as usize];
        println!("kill {kill}: {killed} of {node}; {} trials so far", lab.trials());
        lab.rig.start_node(node);
    }
    finish(&lab, "20 kills of the command and 20 of slurmd", waits, 240);
}

/// The quick plan of one of our studies: its sources are fetched and built by a job, its trials run on three nodes.
fn published(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(name);
    let text = fs::read_to_string(folder.join("study.toml")).unwrap();
    let Some(lab) = asked_for(&text) else { return };
    for file in entries(&folder).into_iter().filter(|path| path.is_file()) {
        fs::copy(&file, lab.sandbox.study().join(file.file_name().unwrap())).unwrap();
    }
    let ended = lab.begin(name, &["--plan", "quick", "--blocks", "3"]).ended();
    assert_eq!(ended.code, 0, "{}", ended.out);
    let trials = lab.sandbox.record().trials.len();
    let record = lab.complete(trials);
    lab.nothing_stays();
    let nodes: BTreeSet<&str> = record.away.values().map(|from| from.node.as_str()).collect();
    assert_eq!(nodes.len(), 3, "{nodes:?}");
    println!("{name}, plan quick: {} blocks, {trials} trials on {nodes:?}\n{}", record.blocks.len(), ended.out);
}

#[test]
fn perl_options_runs_on_nodes() {
    published("perl-options");
}

#[test]
fn memcached_sets_runs_on_nodes() {
    published("memcached-sets");
}
