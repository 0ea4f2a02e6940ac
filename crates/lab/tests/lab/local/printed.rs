//! What trials print: what is recorded of it, where it may go, and that it costs the trial nothing.

use bakeoff_host::output::{Kept, OutputFiles};
use bakeoff_lab::{Executor as _, Task};
use bakeoff_model::record::{Block, Failure, Outcome, Output, OutputDifference, TWIN};
use bakeoff_model::study::{OutputUse, Workload};
use bakeoff_testkit::stage::{Stage, execute_in, failed_part};

const MIB: f64 = 1_048_576.0;

fn output(text: &str) -> Output {
    let sha256 = if text.is_empty() { String::new() } else { of_bytes(text.as_bytes()) };
    Output { bytes: text.len() as u64, sha256 }
}

fn of_bytes(bytes: &[u8]) -> String {
    bakeoff_model::digest::Digest::default().bytes(bytes).hex()
}

#[test]
fn length_and_digest_of_what_is_printed_are_recorded() {
    let stage = Stage::new("printf %s \"$TEXT\"");
    let mut local = stage.local();
    assert_eq!(execute_in(&mut local, 1, "a").output, [output("")]);
    // Nothing of a longer one is left for a shorter one.
    for text in ["a longer text", "short", "", "ä"] {
        let stage = Stage::new(&format!("printf %s '{text}'"));
        let execution = stage.execute("a");
        assert_eq!((execution.outcome, execution.output), (Outcome::Ok, vec![output(text)]));
    }
    let stage = Stage::new("printf %s \"$PREFIX\"");
    let mut local = stage.local();
    for (variant, text) in [("a", "/prefix/a"), ("b", "/prefix/b"), (TWIN, "/prefix/a")] {
        assert_eq!(execute_in(&mut local, 1, variant).output, [output(text)]);
    }
}

#[test]
fn a_trial_may_open_its_output_again() {
    for (run, expect) in [
        ("echo one > /dev/stdout", "one\n"),
        ("echo one; echo two >> /dev/stdout", "one\ntwo\n"),
        // Both of its ends begin at the beginning, as with any file.
        ("echo one | tee /dev/stdout", "one\n"),
        ("(echo one; echo two) & wait", "one\ntwo\n"),
    ] {
        let stage = Stage::new(run);
        let mut local = stage.local();
        // The second finds memory prepared for it, and the traces of the first gone.
        for _ in 0..2 {
            let execution = execute_in(&mut local, 1, "a");
            assert_eq!((execution.outcome, execution.output), (Outcome::Ok, vec![output(expect)]), "{run}");
        }
    }
}

#[test]
fn also_as_another_user() {
    let stage = Stage::new("setpriv --reuid 65534 --clear-groups sh -c 'echo one > /dev/stdout'");
    let can = std::process::Command::new("setpriv").args(["--reuid", "65534", "--clear-groups", "true"]).status();
    if !can.is_ok_and(|status| status.success()) {
        println!("skipped: nobody else can be had with setpriv here");
        return;
    }
    let execution = stage.execute("a");
    assert_eq!((execution.outcome, execution.output), (Outcome::Ok, vec![output("one\n")]));
}

#[test]
fn each_process_has_an_output_of_its_own() {
    let stage = Stage::new("echo $BAKEOFF_PROCESS").condition(|c| c.processes = 2);
    assert_eq!(stage.execute("a").output, [output("1\n"), output("2\n")]);
}

#[test]
fn what_is_thrown_away_is_not_recorded() {
    let stage = Stage::new("test \"$(readlink /proc/self/fd/1)\" != x && test /proc/self/fd/1 -ef /dev/null");
    let Outcome::Failed(Failure::Exit { .. }) = stage.outcome() else { panic!("it is not thrown away unasked") };
    let stage = stage.workload(|w| w.output = OutputUse::Null);
    let execution = stage.execute("a");
    assert_eq!((execution.outcome, execution.output), (Outcome::Ok, vec![]));
}

#[test]
fn the_first_difference_from_the_baseline_is_told_once() {
    let stage = Stage::new("printf 'same\\n%s\\n' \"$PREFIX\"");
    let mut local = stage.local();
    let told = |local: &mut _, variant| execute_in(local, 1, variant).output_difference;
    // There is nothing yet to hold it against.
    assert_eq!(told(&mut local, "b"), None);
    assert_eq!(told(&mut local, "a"), None);
    let expect = OutputDifference {
        process: 1,
        byte: 13,
        line: 2,
        baseline: Some("/prefix/a".to_owned()),
        printed: Some("/prefix/b".to_owned()),
    };
    assert_eq!(told(&mut local, "b"), Some(expect));
    assert_eq!(told(&mut local, "b"), None);
    assert_eq!(told(&mut local, TWIN), None);
}

#[test]
fn what_a_failed_trial_printed_is_held_against_nothing() {
    let mut stage = Stage::new("");
    stage.plan.variants[0].run = Some("echo a".to_owned());
    stage.plan.variants[1].run = Some("echo b; exit 1".to_owned());
    let mut local = stage.local();
    execute_in(&mut local, 1, "a");
    let execution = execute_in(&mut local, 1, "b");
    assert!(matches!(execution.outcome, Outcome::Failed(Failure::Exit { .. })));
    assert_eq!((execution.output, execution.output_difference), (vec![output("b\n")], None));
}

#[test]
fn what_never_ends_fails_for_want_of_space() {
    let stage = Stage::new("head -c 300000000 /dev/zero; echo done >&2");
    let kept = OutputFiles::new(stage.path()).unwrap().kept();
    if kept != Kept::Apart {
        println!("skipped: no file system of our own: {kept:?}");
        return;
    }
    let mut local = stage.local();
    let execution = execute_in(&mut local, 1, "a");
    let (part, why, tail) = failed_part(&execution.outcome);
    assert_eq!(part, "standard output");
    assert!(why.contains("256 MiB") && why.contains("null"), "{why}");
    assert!(tail.iter().any(|line| line.contains("No space left")), "{tail:?}");
    assert_eq!(execution.output[0].bytes, 256 << 20);
    // It is over then, also for other variants of the same workload.
    let mut stage = stage.workload(|w| w.run = "echo fine".to_owned());
    assert_eq!(stage.outcome(), Outcome::Ok);
    stage.plan.variants[0].run = Some("head -c 300000000 /dev/zero; true".to_owned());
    let mut local = stage.local();
    for (block, variant) in [(1, "a"), (1, "b"), (2, "a"), (2, "b")] {
        let execution = execute_in(&mut local, block, variant);
        assert_eq!(execution.outcome == Outcome::Ok, variant == "b", "{variant}: {:?}", execution.outcome);
    }
}

/// What is prepared for one process must not be what another one lacks.
#[test]
fn processes_may_divide_their_output_in_another_way() {
    let mib = |first: u32, second: u32| {
        Some(format!(
            "head -c $((({first} * (BAKEOFF_PROCESS == 1) + {second} * (BAKEOFF_PROCESS == 2)) << 20)) /dev/zero"
        ))
    };
    let mut stage = Stage::new("").condition(|c| c.processes = 2);
    stage.plan.variants[0].run = mib(170, 40);
    stage.plan.variants[1].run = mib(40, 170);
    let mut local = stage.local();
    for (block, variant) in [(1, "a"), (1, "b"), (2, "a"), (2, "b")] {
        assert_eq!(execute_in(&mut local, block, variant).outcome, Outcome::Ok, "{block} {variant}");
    }
}

#[test]
fn no_output_stays_in_memory_while_a_workload_without_one_is_executed() {
    // Of this length there is no other file.
    const LENGTH: u64 = 3_333_337;
    let mut stage = Stage::new(&format!("head -c {LENGTH} /dev/zero"));
    let w = stage.plan.workloads[0].clone();
    stage.plan.workloads.push(Workload { name: "quiet".to_owned(), output: OutputUse::Null, ..w });
    let kept = || {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        open.filter_map(|entry| entry.path().metadata().ok()).any(|meta| meta.len() == LENGTH)
    };
    let mut local = stage.local();
    assert_eq!(execute_in(&mut local, 1, "a").output[0].bytes, LENGTH);
    assert!(kept());
    let order = vec!["a".to_owned()];
    let block = Block { block: 1, workload: "quiet".to_owned(), condition: "c".to_owned(), order, ..Block::default() };
    let task = Task { block: &block, position: 1, variant: "a", attempt: 0 };
    assert_eq!(local.execute(task).unwrap().unwrap().outcome, Outcome::Ok);
    assert!(!kept());
}

#[test]
fn memory_for_output_is_not_the_trial_s() {
    let peak = |run: &str| {
        let mut stage = Stage::new(run);
        stage.plan.decide.metrics = vec!["cgroup_peak".to_owned()];
        let mut local = stage.local();
        // What the first of them prints shows how much the second one needs.
        execute_in(&mut local, 1, "a");
        let execution = execute_in(&mut local, 2, "b");
        assert_eq!(execution.outcome, Outcome::Ok);
        let peak = execution.measurements.get("cgroup_peak").copied();
        if peak.is_none() {
            println!("skipped: {:?}", local.unavailable());
        }
        Some((peak?, execution.output[0].bytes))
    };
    let Some((without, 0)) = peak("head -c 0 /dev/zero") else { return };
    let Some((with, bytes)) = peak("head -c 33554432 /dev/zero") else { panic!("it was measured before") };
    assert_eq!(bytes, 32 << 20);
    assert!(with < without + 4.0 * MIB, "{without} without 32 MiB of output, {with} with it");
}
