//! Jobs on a real Slurm, which is started for these tests: what reaches it, what it refuses, and what can be seen of it.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

#[path = "../../tests/rig/mod.rs"]
mod rig;

use super::*;
use crate::site::JobState;
use rig::{MOST_MINUTES, MOST_NUMBERS, PARTITION, Rig};
use std::fs;
use std::path::PathBuf;

/// The cluster of a rig, with some more variables in the environment.
fn slurm(rig: &Rig, settings: &SlurmSettings, more: &[(&str, &str)]) -> Slurm {
    let own = [("SLURM_CONF".into(), rig.conf().into_os_string())];
    let more = more.iter().map(|(name, value)| (name.into(), value.into()));
    Slurm::new(settings.clone(), std::env::vars_os().chain(own).chain(more))
}

/// Whether the first job of this name in the queue waits for a reason that never ends by itself.
fn waits_for_ever(slurm: &Slurm, name: &str, expect: &str) -> bool {
    let queue = slurm.queue(name).unwrap();
    let state = queue.first().map(|one| &one.state);
    matches!(state, Some(JobState::Waiting { reason, remedy: Some(_) }) if reason == expect)
}

fn on_lab() -> SlurmSettings {
    SlurmSettings { partition: Some(PARTITION.to_owned()), ..SlurmSettings::default() }
}

/// A job whose tasks write their number into a file each, in a folder of the rig; and its script.
fn job(rig: &Rig, slurm: &Slurm, name: &str, array: Option<Vec<u32>>) -> (Job, PathBuf) {
    let folder = rig.path().join(name);
    let log = folder.join("100% #log");
    fs::create_dir_all(&log).unwrap();
    let script = folder.join("tool");
    fs::write(&script, "#!/bin/sh\necho \"$1 $HOME\" > \"$2/out.${1:-none}\"\n").unwrap();
    let command = format!("sh {} \"$SHARD\" {}", script.display(), folder.display());
    let job = Job { name: name.to_owned(), array, limit: 2, exclusive: true, command, log, ..Job::default() };
    let path = write(rig, slurm, &job);
    (job, path)
}

fn write(rig: &Rig, slurm: &Slurm, job: &Job) -> PathBuf {
    let path = rig.path().join(&job.name).join("job.sh");
    fs::write(&path, slurm.script(job)).unwrap();
    path
}

/// The files that tasks of a job have written.
fn written(rig: &Rig, name: &str) -> Vec<String> {
    let entries =
        fs::read_dir(rig.path().join(name)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = entries.filter_map(|file| Some(file.strip_prefix("out.")?.to_owned())).collect();
    found.sort();
    found
}

#[test]
fn jobs_are_submitted_seen_by_name_held_and_cancelled() {
    let Some(rig) = Rig::start(3) else { return };
    // What the caller's environment has for sbatch is not used.
    let slurm =
        slurm(&rig, &on_lab(), &[("SBATCH_PARTITION", "nowhere"), ("SLURM_JOB_NAME", "x"), ("SQUEUE_USERS", "x")]);
    assert_eq!(slurm.ignored.take(), ["SBATCH_PARTITION"]);
    let (three, script) = job(&rig, &slurm, "three", Some(vec![0, 1, 2]));
    slurm.test_only(&script, &three).unwrap();
    assert_eq!(slurm.submit(&script, &three).unwrap().len(), 1);
    rig.until("three tasks have written", || written(&rig, "three") == ["0", "1", "2"]);
    rig.until("the queue is empty", || slurm.queue("three").unwrap().is_empty());
    let home = fs::read_to_string(rig.path().join("three/out.2")).unwrap();
    assert_eq!(home, format!("2 {}\n", std::env::var("HOME").unwrap_or("/".to_owned())));
    assert_eq!(fs::read_dir(&three.log).unwrap().count(), 3, "a log each, in a folder with an odd name");

    // Only what is missing is submitted, and what runs is not taken for what waits.
    let endless =
        Job { command: "sleep 1000".to_owned(), array: Some(vec![4, 7, 9]), name: "three".to_owned(), ..three.clone() };
    slurm.submit(&write(&rig, &slurm, &endless), &Job { array: Some(vec![4, 7, 9]), ..endless.clone() }).unwrap();
    let running = |queue: &[site::Job]| queue.iter().filter(|one| one.state == JobState::Running).count();
    rig.until("two run, as the limit says", || {
        let queue = slurm.queue("three").unwrap();
        (queue.len(), running(&queue)) == (3, 2)
    });
    let queue = slurm.queue("three").unwrap();
    let mut indices: Vec<_> = queue.iter().filter_map(|one| one.shard).collect();
    indices.sort_unstable();
    assert_eq!(indices, [4, 7, 9]);
    for one in queue {
        assert_eq!(one.node.is_some(), one.state == JobState::Running, "{one:?}");
        assert!(one.since.len() == "2026-11-25T22:28:57".len() && one.since.starts_with("20"), "{one:?}");
        assert!(!matches!(one.state, JobState::Waiting { remedy: Some(_), .. }), "{one:?}");
    }
    assert_eq!(slurm.queue("thre").unwrap(), [], "a name is not a beginning");
    slurm.cancel("three").unwrap();
    rig.until("nothing is left", || slurm.queue("three").unwrap().is_empty());
    slurm.calls.ask("scancel", &["-n", "three"]).unwrap();

    // A job that is held waits until somebody acts.
    let held = SlurmSettings { extra: vec!["--hold".to_owned()], ..on_lab() };
    let held = self::slurm(&rig, &held, &[]);
    let (one, script) = job(&rig, &held, "held", None);
    held.submit(&script, &one).unwrap();
    rig.until("it is held", || waits_for_ever(&held, "held", "JobHeldUser"));
    assert_eq!(held.queue("held").unwrap()[0].shard, None);
}

#[test]
fn what_slurm_would_never_run_is_refused_with_its_reason() {
    let Some(rig) = Rig::start(1) else { return };
    let check = |settings: SlurmSettings, parts: &[&str]| {
        let slurm = slurm(&rig, &settings, &[]);
        let (job, script) = job(&rig, &slurm, "refused", Some(vec![0]));
        let error = slurm.test_only(&script, &job).unwrap_err();
        let shown = error.render();
        assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
        assert_eq!(error.code as u8, 2, "{shown}");
        assert_eq!(slurm.queue("refused").unwrap(), []);
    };
    let word = |text: &str| Some(text.to_owned());
    check(SlurmSettings { partition: word("nowhere"), ..on_lab() }, &["Slurm refuses", "nowhere", "hint: "]);
    check(SlurmSettings { constraint: word("slow"), ..on_lab() }, &["Slurm refuses", "feature"]);
    check(
        SlurmSettings { extra: vec!["--no-such-option".to_owned()], ..on_lab() },
        &["Slurm refuses", "no-such-option"],
    );
    let too_long_s = u64::from(MOST_MINUTES) * 60 + 1;
    let too_long = ["would let", "wait for ever", "it needs 61 min, and partition lab allows 60 min"];
    check(SlurmSettings { time_s: Some(too_long_s), ..on_lab() }, &too_long);
    check(SlurmSettings { time_s: Some(too_long_s), ..SlurmSettings::default() }, &too_long);
    // It would have accepted the last ones; then the reason says that they never run.
    let unlimited = slurm(&rig, &SlurmSettings { time_s: Some(too_long_s), ..on_lab() }, &[]);
    let (waits, script) = job(&rig, &unlimited, "waits", None);
    unlimited.submit(&script, &waits).unwrap();
    rig.until("it waits for ever", || waits_for_ever(&unlimited, "waits", "PartitionTimeLimit"));
    let fits = SlurmSettings { time_s: Some(too_long_s - 1), constraint: word("fast"), ..on_lab() };
    let slurm = slurm(&rig, &fits, &[]);
    let (job, script) = job(&rig, &slurm, "fits", None);
    slurm.test_only(&script, &job).unwrap();
}

#[test]
fn more_tasks_than_an_array_can_have_are_several_arrays() {
    let Some(rig) = Rig::start(2) else { return };
    let slurm = slurm(&rig, &on_lab(), &[]);
    assert_eq!(slurm.most_numbers().unwrap(), MOST_NUMBERS);
    let numbers = vec![0, MOST_NUMBERS - 1, MOST_NUMBERS, 2 * MOST_NUMBERS + 1];
    let (job, script) = job(&rig, &slurm, "many", Some(numbers.clone()));
    slurm.test_only(&script, &job).unwrap();
    // While the first waits, all of them are seen, each by the shard's number.
    rig.say("scontrol", &["update", "PartitionName=lab", "State=DOWN"]);
    assert_eq!(slurm.submit(&script, &job).unwrap().len(), 3);
    let mut seen: Vec<_> = slurm.queue("many").unwrap().iter().filter_map(|one| one.shard).collect();
    seen.sort_unstable();
    assert_eq!(seen, numbers);
    rig.say("scontrol", &["update", "PartitionName=lab", "State=UP"]);
    let mut expect: Vec<String> = numbers.iter().map(u32::to_string).collect();
    expect.sort();
    rig.until("all have written", || written(&rig, "many") == expect);
}

#[test]
fn a_job_whose_forerunner_failed_does_not_wait_for_ever() {
    let Some(rig) = Rig::start(1) else { return };
    let slurm = slurm(&rig, &on_lab(), &[]);
    let (first, _) = job(&rig, &slurm, "first", None);
    let first = Job { command: "sh -c 'exit 3'".to_owned(), ..first };
    let ids = slurm.submit(&write(&rig, &slurm, &first), &first).unwrap();
    // What the documents say for scripts that are submitted by hand.
    let extra = vec![format!("--dependency=afterok:{}", ids[0]), "--kill-on-invalid-dep=yes".to_owned()];
    let slurm = self::slurm(&rig, &SlurmSettings { extra, ..on_lab() }, &[]);
    let (second, script) = job(&rig, &slurm, "second", None);
    slurm.submit(&script, &second).unwrap();
    let has_ended =
        |name: &str, state: &str| rig.queue().iter().any(|one| one.starts_with(&format!("{name} N/A {state}")));
    rig.until("the first has failed", || has_ended("first", "FAILED"));
    rig.until("the second is cancelled", || {
        has_ended("second", "CANCELLED") && slurm.queue("second").unwrap().is_empty()
    });
    assert_eq!(written(&rig, "second"), [""; 0]);
}

#[test]
fn a_slurm_that_is_away_is_not_an_empty_queue() {
    let Some(rig) = Rig::start(1) else { return };
    let slurm = slurm(&rig, &on_lab(), &[]);
    let (job, script) = job(&rig, &slurm, "away", None);
    rig.say("scontrol", &["update", "NodeName=n1", "State=DRAIN", "Reason=Duplicate jobid"]);
    rig.until("the node is drained", || !slurm.drained_nodes().unwrap().is_empty());
    assert_eq!(slurm.drained_nodes().unwrap(), BTreeSet::from(["n1 (Duplicate jobid)".to_owned()]));
    rig.kill_controller();
    let error = slurm.submit(&script, &job).unwrap_err();
    assert!(error.render().starts_with("error: cannot ask Slurm: `sbatch --parsable"), "{}", error.render());
    assert!(error.render().contains("connect failure"), "{}", error.render());
    assert!(slurm.cancel("away").unwrap_err().0.starts_with("cannot ask Slurm: `squeue"));
    rig.start_controller();
    rig.until("it answers", || slurm.queue("away").is_ok());
}

#[test]
fn a_rig_leaves_no_process() {
    let Some(rig) = Rig::start(1) else { return };
    let slurm = slurm(&rig, &on_lab(), &[]);
    let (endless, _) = job(&rig, &slurm, "endless", None);
    let endless = Job { command: "sleep 1000".to_owned(), ..endless };
    slurm.submit(&write(&rig, &slurm, &endless), &endless).unwrap();
    rig.until("it runs", || slurm.queue("endless").unwrap().iter().any(|one| one.state == JobState::Running));
    rig.until("something watches it", || !rig.steps("n1").is_empty());
    rig.kill_node("n1");
    assert!(!rig.steps("n1").is_empty(), "its jobs go on");
    rig.start_node("n1");
    let all = rig.processes();
    rig.kill_node_with_steps("n1");
    rig.until("the step is gone, and what it started is not", || {
        rig.steps("n1").is_empty()
            && rig
                .processes()
                .iter()
                .any(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end() == "sleep")
    });
    assert!(all.len() > 4, "{all:?}");
    drop(rig);
    for pid in all {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(line.is_empty() || line.contains(") Z "), "{line}");
    }
}
