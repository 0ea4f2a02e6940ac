//! `bakeoff plan` of a study that names its surroundings: each of them is on the page, and each mistake at its place.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, small};

/// No build: what differs is how the program is run.
const SURROUNDED: &str = r#"
format = 1
name = "surrounded"
[run_factors.locale]
c = { LC_ALL = "C" }
utf8 = { LC_ALL = "C.UTF-8" }
[services.store]
run = 'store -p "$PORT_store"'
ready = { tcp = "$PORT_store", within = "3 s" }
[workloads.send]
run = 'send "$PORT_store"'
phases = ["load", "scan"]
ops = { unit = "message", count = 1780, names = ["quote", "book"] }
oracle = 'check "$PORT_store"'
timeout = "30 s"
takes = "2 s"
divided = true
[workloads.send.values]
lost = { unit = "1", regex = 'lost ([0-9]+)' }
[workloads.sort]
run = 'sort words'
services = []
takes = "1 s"
[conditions.idle]
[conditions.busy]
copies = 4
pace = "10/s"
aslr = false
processes = 2
[plan]
blocks = 10
vary = ["env-size"]
void_if = { foreign_cpu = ">20%", pressure_cpu = ">100 ms", load = ">3" }
[plans.quick]
workloads = ["sort"]
conditions = ["idle"]
void_if = {}
vary = []
[decide]
baseline = { locale = "c" }
metrics = ["wall", "scan.wall", "op.quote.p99", "lost"]
"#;

#[test]
fn the_page_shows_what_surrounds_a_trial() {
    let sandbox = Sandbox::new(SURROUNDED);
    sandbox.execute(&["plan", "STUDY"]).expect(
        0,
        &[
            "baseline (locale=c) locale=utf8",
            "Workloads: send, sort; conditions: idle, busy; cells: 8",
            "workload send: phases load, scan; 1,780 ops (message: quote, book); values lost; services store; \
             divided among concurrent processes; `check \"$PORT_store\"` must succeed afterwards; killed after 30 s",
            "service store: fresh for every trial; ready when port $PORT_store accepts a connection, within 3 s",
            "condition busy: 4 copies of the baseline alongside, each started every 0.1 s; 2 processes at once; \
             addresses not randomised",
            "10 for each workload and condition; seed 1; 120 trials in all",
            "Varied at random in every pass: the size of the environment",
            "Trials with foreign_cpu above 20 % or pressure_cpu \
             above 100 ms or load above 3 are void and run again within their block",
            "Judged: wall, scan.wall, op.quote.p99, lost;",
            "Builds: none",
            "Trials: about 3 min",
        ],
    );
}

#[test]
fn a_named_plan_may_do_with_less() {
    let sandbox = Sandbox::new(SURROUNDED);
    let shown = sandbox.execute(&["plan", "STUDY", "--plan", "quick"]);
    shown.expect(0, &["Workloads: sort; conditions: idle; cells: 2", "30 trials in all", "Judged: wall; margin"]);
    for absent in ["workload ", "service ", "condition ", "Varied", "Void"] {
        assert!(!shown.out.contains(&format!("\n  {absent}")), "{absent}\n{}", shown.out);
        assert!(!shown.out.contains(&format!("\n{absent}")), "{absent}\n{}", shown.out);
    }
}

#[test]
fn a_plan_without_the_metric_that_decides_is_refused() {
    let sandbox = Sandbox::new(&SURROUNDED.replace("[\"wall\", \"scan.wall\"", "[\"scan.wall\", \"wall\""));
    let shown = sandbox.execute(&["plan", "STUDY", "--plan", "quick"]);
    shown.expect(2, &["no workload of the plan has the deciding metric `scan.wall`"]);
}

#[test]
fn a_misspelt_part_of_a_condition_is_shown_with_its_place() {
    let sandbox = Sandbox::new(&SURROUNDED.replace("pace = \"10/s\"", "pase = \"10/s\""));
    let parts = ["study.toml:27:1", "[conditions.busy] has no key `pase`", "did you mean `pace`?", "1 problem in"];
    sandbox.execute(&["plan", "STUDY"]).expect(2, &parts);
}

/// Two variants need one first layer, which is built once.
#[test]
fn a_layer_that_builds_share_is_counted_once_in_the_time_to_build() {
    let sandbox = Sandbox::new(
        r#"
format = 1
name = "layered"
[build_factors.opt]
slow = { OPT = "-O0" }
fast = { OPT = "-O2" }
[[build]]
name = "first"
tools = []
script = 'touch "$PREFIX/a"'
takes = "40 min"
[[build]]
name = "second"
tools = []
script = 'echo "$OPT" > "$PREFIX/b"'
takes = "10 min"
[workloads.w]
run = "true"
[decide]
baseline = { opt = "slow" }
"#,
    );
    sandbox.execute(&["plan", "STUDY", "--jobs", "1"]).expect(0, &["Building: about 1 h, 1 at a time"]);
}

/// What has to be had before the first trial, as far as somebody knows, and how long all of it may take.
#[test]
fn what_a_study_takes_is_told_beforehand() {
    let study = r#"
format = 1
name = "large"
[build_factors.opt]
slow = { OPT = "-O0" }
fast = { OPT = "-O2" }
[sources.text]
fetch = "printf hello > $DOWNLOAD/text"
sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
disk = "20 MiB"
[[build]]
name = "only"
source = "text"
tools = []
script = 'echo "$OPT" > "$PREFIX/b"'
takes = "10 min"
disk = "100 MiB"
[workloads.short]
run = "true"
takes = "1 s"
[workloads.long]
run = "true"
takes = "9 s"
[plan]
blocks = 12
layouts = "one"
[plans.short]
workloads = ["short"]
[decide]
baseline = { opt = "slow" }
"#;
    let sandbox = Sandbox::new(study);
    // Two builds; 12 blocks of the variants and the twin, of 1 s and 9 s.
    let told = ["To fetch: text (20.0 MiB)", "Building: about 20 min, 1 at a time", "Disk: about 200 MiB in"];
    let plan = ["plan", "STUDY", "--jobs", "1"];
    sandbox.execute(&plan).expect(0, &told).expect(0, &["Trials: about 6 min", "In all: about 26 min"]);
    let short = [&plan[..], &["--plan", "short"]].concat();
    sandbox.execute(&short).expect(0, &["Trials: about 36 s", "In all: about 20 min 36 s"]);
    // What is there is not told, and what was seen counts more than what was said.
    sandbox.execute(&["run", "STUDY", "--plan", "short"]).expect(0, &[]);
    let shown = sandbox.execute(&short);
    // How long `true` takes depends on what else the machine does; it never comes near to a second.
    let trials = |shown: &crate::common::Shown| {
        let line = shown.out.lines().find_map(|line| line.strip_prefix("Trials: ")).unwrap_or_default().to_owned();
        if line == "less than 1 s" { "about 0 s".to_owned() } else { line }
    };
    let seen = trials(&shown);
    let seconds = seen.strip_prefix("about ").and_then(|rest| rest.strip_suffix(" s")?.parse::<u32>().ok());
    assert!(shown.code == 0 && seconds.is_some_and(|seconds| seconds < 30), "{}{}", shown.out, shown.err);
    assert!(["To fetch", "Building", "Disk", "In all"].iter().all(|word| !shown.out.contains(word)), "{}", shown.out);
    // Of the other workload nothing was seen yet: its 36 trials of 9 s are 5 min 24 s.
    sandbox.execute(&plan).expect(0, &["Trials: about 5 min"]);
    let unknown = study.replace("disk = \"100 MiB\"\n", "").replace("takes = \"9 s\"\n", "");
    let words = [
        "Disk: unknown size in ",
        "(set `disk` in [[build]] to get an estimate)",
        "Trials: not timed yet; set `takes`",
    ];
    Sandbox::new(&unknown).execute(&plan).expect(0, &words);
    let top = "[[build]]\nname = \"top\"\ntools = []\nscript = 'touch \"$PREFIX/t\"'\n[workloads.short]";
    let partly = study.replacen("[workloads.short]", top, 1);
    let words = [
        "Building: about 20 min, 1 at a time, excluding layer top (not timed yet",
        "Disk: about 200 MiB in",
        "Trials: about 6 min",
    ];
    let shown = Sandbox::new(&partly).execute(&plan);
    assert!(!shown.expect(0, &words).out.contains("In all"), "{}", shown.out);
}

/// A run factor makes two workloads of one program; a level that changes nothing makes two names of one.
#[test]
fn variants_that_nothing_tells_apart_are_named() {
    let study = r#"
format = 1
name = "alike"
[build_factors.opt]
slow = { OPT = "-O0" }
same = { OPT = "-O0" }
[run_factors.locale]
c = { LC_ALL = "C" }
utf8 = { LC_ALL = "C.UTF-8" }
[[build]]
name = "only"
tools = []
script = 'echo "$OPT" > "$PREFIX/b"'
[workloads.w]
run = "true"
[plan]
variants = [{ locale = "utf8" }]
[plans.same]
variants = [{ opt = "same" }]
[decide]
baseline = { opt = "slow", locale = "c" }
"#;
    let sandbox = Sandbox::new(study);
    let words = "are the same program";
    sandbox.execute(&["plan", "STUDY", "--plan", "same"]).expect(0, &[words]);
    let shown = sandbox.execute(&["plan", "STUDY"]);
    shown.expect(0, &["Builds: 1"]);
    assert!(!shown.out.contains(words), "{}", shown.out);
}

/// A study may name any file as its compiler. Who only looks at a study runs nothing of it.
#[test]
fn looking_at_a_study_executes_nothing_of_it() {
    let sandbox = small();
    let (evil, done) = (sandbox.path().join("evil.sh"), sandbox.path().join("done"));
    let write = |more: &str| {
        std::fs::write(&evil, format!("#!/bin/sh\necho \"$@\" >> '{}'\necho evil 1{more}\n", done.display())).unwrap();
        std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    write("");
    let path = evil.display();
    let text = SMALL
        .replace("tools = []", &format!("tools = [\"{path}\"]"))
        .replace("{ LINES = \"echo hello\" }", &format!("{{ LINES = \"echo hello\", CC = \"{path}\" }}"))
        .replace("script = '''", "script = '''\n: $CC");
    sandbox.write("study.toml", &text);
    let look = || {
        sandbox.execute(&["plan", "STUDY"]).expect(0, &[]);
        sandbox.execute(&["facts", "STUDY"]);
        sandbox.execute(&["gc"]);
        sandbox.execute(&["cache"]).expect(0, &[]);
        assert!(!done.exists(), "{:?}", std::fs::read_to_string(&done));
    };
    look();
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    assert!(done.exists(), "who builds asks for the version");
    std::fs::remove_file(&done).unwrap();
    look();
    // Another one of the same name: another build, and nobody asks it either.
    write("; true");
    look();
}
