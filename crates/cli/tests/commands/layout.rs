//! A study of C whose programs are linked anew for every pass, and whose building is measured: whole, killed in
//! between, with a layout that cannot be made, and where there is nothing to permute.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, each_trial_once};
use bakeoff_host::lock::Lock;
use bakeoff_model::record::{Failure, Outcome, TWIN};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;

const STUDY: &str = r#"
format = 1
name = "linked"
[build_factors.opt]
O1 = { OPT = "-O1" }
O2 = { OPT = "-O2" }
[[build]]
name = "program"
script = 'for f in main a b c d; do cc $OPT -c $f.c; done; sh link.sh'
relink = 'RELINK'
files = ["link.sh", "main.c", "a.c", "b.c", "c.c", "d.c"]
verify = ['test -x "$PREFIX/bin/p"']
[workloads.loop]
run = '"$PREFIX/bin/p"; test "$BAKEOFF_TRACED" || echo "$PREFIX" $(nm -n "$PREFIX/bin/p" | sed -n "s/.* T f_//p") >> ../seen'
[plan]
blocks = 3
vary = ["link-order"]
rebuild = 2
[decide]
baseline = { opt = "O1" }
"#;

/// The wrapper puts the objects into another order; nothing here does.
const LINK: &str = r#"
mkdir -p "$PREFIX/bin"
cc -o "$PREFIX/bin/p" main.o a.o b.o c.o d.o
"#;

/// 3 passes of a workload and 2 of building, each of two variants and the twin.
const TRIALS: usize = (3 + 2) * 3;

fn study(relink: &str) -> Sandbox {
    let sandbox = Sandbox::new(&STUDY.replace("RELINK", relink));
    sandbox.write("link.sh", LINK);
    sandbox.write("main.c", "int main(void) { return 0; }\n");
    for name in ["a", "b", "c", "d"] {
        sandbox.write(&format!("{name}.c"), &format!("int f_{name}(void) {{ return 1; }}\n"));
    }
    sandbox
}

/// What was run: prefixes, and the order of the functions in each.
fn seen(sandbox: &Sandbox) -> BTreeMap<String, BTreeSet<String>> {
    let mut seen = BTreeMap::<String, BTreeSet<String>>::new();
    for line in std::fs::read_to_string(sandbox.path().join("seen")).unwrap().lines() {
        let (prefix, order) = line.split_once(' ').unwrap();
        seen.entry(prefix.to_owned()).or_default().insert(order.to_owned());
    }
    seen
}

/// How many names are in a folder of the cache.
fn names(sandbox: &Sandbox, folder: &str) -> usize {
    std::fs::read_dir(sandbox.path().join("cache").join(folder)).into_iter().flatten().count()
}

fn is_as_planned(sandbox: &Sandbox) {
    let record = sandbox.record();
    each_trial_once(&record, TRIALS);
    assert!(record.trials.iter().all(|trial| trial.outcome == Outcome::Ok), "{:#?}", record.trials);
    let building = |workload: &str| workload == "build-program";
    assert!(record.blocks.iter().all(|block| building(&block.workload) == block.layout.is_none()));
    for trial in record.trials.iter().filter(|trial| building(&trial.workload)) {
        assert!(trial.value("wall").unwrap() > 0.0 && trial.value("installed").unwrap() > 1000.0);
    }
    let seen = seen(sandbox);
    assert_eq!(seen.len(), 3 * 3, "one for every pass, variant and the twin: {seen:#?}");
    assert!(seen.values().all(|orders| orders.len() == 1), "made again, they are the same: {seen:#?}");
    let orders: BTreeSet<_> = seen.values().collect();
    assert!(orders.len() > 1, "{seen:#?}");
    assert_eq!((names(sandbox, "builds"), names(sandbox, "aside")), (2, 0), "nothing of it stays");
}

#[test]
fn every_pass_is_linked_anew_and_building_is_judged_apart() {
    let sandbox = study("sh link.sh");
    sandbox.execute(&["plan", "STUDY"]).expect(
        0,
        &[
            "15 trials in all",
            "Relinked before each of 3 passes, for each variant and the twin: layer program with its `relink` script",
            "Building, measured in 2 passes: build-program; 6 trials",
        ],
    );
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    shown.expect(
        0,
        &[
            "the claims are about the programs in typical layouts, averaged over 3 layouts.",
            "building, also measured:",
            "build-program (idle): wall",
            "build-program (idle): also measured",
            "3 of 3 blocks",
        ],
    );
    let answer = shown.out.split("\n\n").next().unwrap();
    assert!(!answer.contains("build-program"), "{answer}");
    is_as_planned(&sandbox);

    // Nothing is left to do, and so nothing is linked.
    assert_eq!(sandbox.execute(&["run", "STUDY", "--quiet"]).code, 0);
    assert_eq!(sandbox.record().sessions.len(), 1);
    // More of building can be asked for later on.
    let text = std::fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    sandbox.write("study.toml", &text.replace("rebuild = 2", "rebuild = 3"));
    assert_eq!(sandbox.execute(&["run", "STUDY", "--quiet"]).code, 0);
    each_trial_once(&sandbox.record(), TRIALS + 3);
}

#[test]
fn killed_in_between_it_makes_the_same_layouts_again() {
    let sandbox = study("sh link.sh");
    for trials in [0, 2, 5, 9, 12] {
        let mut child = sandbox.command(&["run", "STUDY", "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
        while sandbox.trials_so_far() < trials.max(1) && child.try_wait().unwrap().is_none() {
            if trials == 0 && names(&sandbox, "aside") > 0 {
                break;
            }
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    is_as_planned(&sandbox);
}

/// One process of a cache links at a time on a host; the others say that they wait.
#[test]
fn that_another_process_links_anew_is_said_while_it_is_waited_for() {
    let sandbox = study("sh link.sh");
    let locks = sandbox.path().join("cache/locks");
    std::fs::create_dir_all(&locks).unwrap();
    let lock = locks.join(format!("aside-{}.lock", bakeoff_host::place::host_name()));
    let held = Lock::take(&lock).unwrap();
    let run = sandbox.command(&["run", "STUDY"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // `1: -> FLOCK  ADVISORY  WRITE 123 fe:00:456 0 EOF` is somebody who waits (proc_locks(5)).
    let inode = format!(":{} ", std::fs::metadata(&lock).unwrap().ino());
    let waits = |locks: String| locks.lines().any(|line| line.contains("-> FLOCK") && line.contains(&inode));
    while !waits(std::fs::read_to_string("/proc/locks").unwrap()) {
        std::thread::yield_now();
    }
    drop(held);
    let shown = crate::common::Shown::of(&run.wait_with_output().unwrap());
    shown.expect(0, &[&format!("waiting for process {} to finish", std::process::id())]);
    is_as_planned(&sandbox);
}

#[test]
fn where_nothing_can_be_permuted_no_trial_is_executed() {
    let sandbox = study("cc -o \"$PREFIX/bin/p\" main.o");
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    shown.expect(2, &["cannot vary the link order of", "`relink`"]);
    assert_eq!(sandbox.trials_so_far(), 0);
}

#[test]
fn a_layout_that_cannot_be_made_fails_the_trials_of_its_variant_alone() {
    let sandbox = study("test \"$OPT\" = -O1 || { echo no linker >&2; exit 3; }; sh link.sh");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(4, &["layout of layer program", "no linker"]);
    let record = sandbox.record();
    each_trial_once(&record, TRIALS);
    for trial in record.trials.iter().filter(|trial| trial.workload == "loop") {
        let failed = matches!(&trial.outcome, Outcome::Failed(Failure::Surroundings { part, .. }) if part == "layout of layer program");
        assert_eq!(failed, trial.variant != "baseline" && trial.variant != TWIN, "{trial:?}");
    }
}
