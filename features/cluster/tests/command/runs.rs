//! `bakeoff run --on` as users see it, on a real Slurm: what comes back, what is refused, and what works by hand.

use crate::common::each_trial_once;
use crate::features::cluster_lab::{Lab, SMALL, entries};
use std::collections::BTreeSet;
use std::fs;

const SERVED: &str = r#"
format = 1
name = "served"
[run_factors.questions]
one = { QUESTIONS = "1" }
two = { QUESTIONS = "2" }
[services.shelf]
run = 'exec perl shelf.pl'
ready = { tcp = "$PORT_shelf" }
per = "block"
[workloads.ask]
run = 'for i in $(seq $QUESTIONS); do perl ask.pl; done'
[plan]
blocks = 6
[decide]
baseline = { questions = "one" }
"#;

const SHELF: &str = r#"use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$ENV{PORT_shelf}", Listen => 5, ReuseAddr => 1) or die "bind: $!";
while (my $c = $s->accept) { close $c }
"#;

const ASK: &str = r#"use IO::Socket::INET;
IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ENV{PORT_shelf}") or die "connect: $!";
"#;

#[test]
fn a_study_with_a_service_runs_on_all_nodes() {
    let Some(lab) = Lab::start(SERVED) else { return };
    lab.sandbox.write("shelf.pl", SHELF);
    lab.sandbox.write("ask.pl", ASK);
    lab.count_submissions();
    // An option that the caller's environment has for sbatch is not used, and that is said.
    let mut command = lab.command(&["run", "STUDY", "--on", "lab"]);
    let shown = crate::common::Shown::of(&command.env("SBATCH_PARTITION", "nowhere").output().unwrap());
    shown.expect(0, &["6 passes in 3 shards", "6 blocks", "not used: SBATCH_PARTITION"]);
    let record = lab.complete(6 * 3);
    assert_eq!(record.away.len(), 6);
    let nodes: BTreeSet<&str> = record.away.values().map(|from| from.node.as_str()).collect();
    assert_eq!(nodes, BTreeSet::from(["n1", "n2", "n3"]));
    lab.execute(&["report", "STUDY"]).expect(0, &["6 blocks", "n1", "n2", "n3", "service shelf"]);
    assert_eq!(lab.submissions().len(), 1, "{:#?}", lab.submissions());
    // Nothing is left to do, and nothing is submitted.
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["6 blocks"]);
    lab.execute(&["jobs", "STUDY"]).expect(0, &["Run", "on lab", "1 4", "done"]);
    // More blocks are more shards of the same run.
    lab.execute(&["run", "STUDY", "--on", "lab", "--blocks", "8"]).expect(0, &["8 blocks"]);
    assert_eq!(lab.submissions().len(), 2);
    lab.complete(8 * 3);
    // Without the section of its machines, a run is shown by its files, and nobody believes that its jobs were ended. One that
    // is done has no jobs.
    fs::write(lab.path("home/.config/bakeoff/machines.toml"), "[other]\nslurm = {}\nnodes = 1\n").unwrap();
    lab.execute(&["jobs", "STUDY"]).expect(0, &["done"]);
    fs::remove_file(entries(&lab.path("shared/runs"))[0].join("shards/0/done")).unwrap();
    lab.execute(&["jobs", "STUDY"]).expect(2, &["done", "its jobs are not known", "there is no [lab] in"]);
    lab.execute(&["jobs", "STUDY", "--cancel"]).expect(2, &["its jobs were not cancelled"]);
    lab.nothing_stays();
}

/// On each of two nodes it fails in six blocks; on one machine it would stop after three. What trials write is on the node.
#[test]
fn a_variant_that_fails_takes_part_in_every_block() {
    let fails = SMALL.replace("'for i", "'test $NAPS = 1 || exit 3; for i").replace("blocks = 6", "blocks = 12");
    let Some(lab) = Lab::start(&fails) else { return };
    lab.machines("", "nodes = 2\nscratch = \"/dev/shm\"");
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(4, &["12 passes in 2 shards", "12 blocks", "exit"]);
    let record = lab.sandbox.record();
    each_trial_once(&record, 12 * 3);
    for session in &record.sessions {
        let told = |name: &str| session.place.settings.get(name).map(String::as_str);
        assert_eq!(told("scratch"), Some("tmpfs"), "{session:?}");
        assert!(told("enclosure").is_some(), "{session:?}");
    }
    lab.execute(&["report", "STUDY", "--all"]).expect(4, &["trials' folders on tmpfs", "trials kept together by"]);
}

const LAID: &str = r#"
format = 1
name = "laid"
[build_factors.loop]
short = { N = "1000" }
long = { N = "300000" }
[[build]]
name = "p"
files = ["main.c", "step.c"]
script = 'cc -O1 -DN=$N -c main.c; cc -O1 -c step.c; cc -o p main.o step.o; install -D p "$PREFIX/bin/p"'
[workloads.w]
run = '$PREFIX/bin/p'
output = "varies"
[plan]
blocks = 6
seed = 3
[decide]
baseline = { loop = "short" }
metrics = ["user"]
"#;

const MAIN: &str = "#include <stdio.h>\nint step(int); int main(void) { int s = 0; for (int i = 0; i < N; i++) s += step(i); printf(\"%d\\n\", s); return 0; }\n";

fn laid() -> Option<Lab> {
    let lab = Lab::start(LAID)?;
    lab.sandbox.write("main.c", MAIN);
    lab.sandbox.write("step.c", "int step(int x) { return x * 3 + 1; }\n");
    lab.count_submissions();
    Some(lab)
}

#[test]
fn programs_are_built_once_and_linked_again_on_each_node() {
    let Some(lab) = laid() else { return };
    lab.execute(&["run", "STUDY", "--on", "lab"]).expect(0, &["6 passes in 3 shards", "6 blocks"]);
    let record = lab.sandbox.record();
    assert_eq!(record.away.len(), 6);
    let layouts: BTreeSet<_> = record.blocks.iter().map(|block| block.linked["baseline"].clone()).collect();
    assert_eq!(layouts.len(), 6, "each pass has a layout of its own, whichever node it is on");
    let submissions = lab.submissions();
    assert_eq!(submissions.len(), 2, "one job builds, and one array runs: {submissions:#?}");
    assert_eq!(entries(&lab.path("shared/cache/aside")).len(), 0, "no layout stays");
    lab.nothing_stays();
}

#[test]
fn scripts_of_a_dry_run_work_by_hand() {
    let Some(lab) = laid() else { return };
    let shown = lab.execute(&["run", "STUDY", "--on", "lab", "--dry-run", "--jobs", "2"]);
    shown.expect(0, &["#SBATCH --cpus-per-task=2"]);
    shown.expect(0, &["#SBATCH --array=0-2%3", "#SBATCH --exclusive", "#SBATCH --export=NONE"]);
    // Nothing was submitted, so other settings make other shards, and a corrected `scratch` is used.
    lab.machines("", "nodes = 2\nscratch = \"/nowhere\"");
    lab.execute(&["run", "STUDY", "--on", "lab", "--dry-run"]).expect(0, &["#SBATCH --array=0-1%2"]);
    lab.machines("", "");
    lab.execute(&["run", "STUDY", "--on", "lab", "--dry-run"]).expect(0, &["#SBATCH --array=0-2%3"]);
    let order = fs::read_to_string(lab.run().join("order.json")).unwrap();
    assert!(order.contains("\"scratch\": null"), "{order}");
    assert_eq!(lab.submissions().len(), 0, "a dry run submits nothing");
    lab.execute(&["jobs", "STUDY"]).expect(2, &["this study has no run on other machines"]);
    let (build, shard) = (lab.run().join("build.sh"), lab.run().join("shard.sh"));
    for script in [&build, &shard] {
        assert!(shown.out.contains(&format!("# sbatch {}\n", script.display())), "{}", shown.out);
    }
    lab.rig.say("sbatch", &[build.to_str().unwrap()]);
    lab.rig.until("the programs are built", || lab.run().join("builds.json").exists());
    lab.rig.say("sbatch", &[shard.to_str().unwrap()]);
    lab.rig.until("all shards are done", || lab.done() == 3);
    lab.execute(&["jobs", "STUDY", "--collect"]).expect(0, &["done", "collected 6 blocks"]);
    assert_eq!(lab.sandbox.record().away.len(), 6);
    lab.execute(&["report", "STUDY"]).expect(0, &["6 blocks"]);
    lab.machines("", "nodes = 9");
    // Another run, which has a shard for each of its 6 passes.
    let shown = lab.execute(&["run", "STUDY", "--on", "lab", "--dry-run", "--keep-going"]);
    shown.expect(0, &["`nodes` is 9, but only 3 are there"]);
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_built() {
    let Some(lab) = laid() else { return };
    let refused = |words: &[&str], parts: &[&str]| {
        lab.execute(&[&["run", "STUDY"], words].concat()).expect(2, parts);
        assert_eq!(lab.rig.queue(), Vec::<String>::new());
        assert!(!lab.path("shared/cache").exists() && !lab.path("cache").exists(), "something was built");
    };
    refused(&["--on", "lba"], &["there is no [lba]", "did you mean `lab`?"]);
    lab.machines("partition = \"nowhere\"", "");
    refused(&["--on", "lab"], &["Slurm refuses", "nowhere", "hint: "]);
    lab.machines("time = \"2:00:00\"", "");
    refused(&["--on", "lab"], &["it needs 120 min, and partition lab allows 60 min", "hint: "]);
    lab.machines("", "nodse = 3");
    refused(&["--on", "lab"], &["has no key `nodse`", "did you mean `nodes`?"]);
    lab.machines("", "");
    refused(&["--on", "lab", "--simulate", "pause:0.001"], &["cannot be used with"]);
}

#[test]
fn a_rule_is_looked_at_when_its_passes_are_there() {
    let decided = SMALL.replace("blocks = 6", "blocks = 14\nuntil = \"decided\"").replace("\"2\"", "\"20\"");
    let Some(lab) = Lab::start(&decided) else { return };
    lab.count_submissions();
    // With 6 blocks a test cannot be as sure as the rule wants; the next look is after 9.
    lab.execute(&["run", "STUDY", "--on", "lab"])
        .expect(0, &["6 passes in 3 shards", "9 passes in 6 shards", "9 blocks"]);
    let record = lab.complete(9 * 3);
    assert_eq!(record.away.len(), 9, "the rule was fulfilled after 9 of 14");
    assert_eq!(lab.submissions().len(), 2);
    assert!(fs::read_to_string(lab.run().join("order.json")).unwrap().contains("\"blocks\": 14"));
}
