//! `bakeoff plan` of a study that names its surroundings: each of them is on the page, and each mistake at its place.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod common;

use common::Sandbox;

/// No build: what differs is how the program is executed.
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
             `check \"$PORT_store\"` must succeed afterwards; killed after 30 s",
            "service store: fresh for every trial; ready when port $PORT_store accepts a connection, within 3 s",
            "condition busy: 4 copies of the baseline beside it, each started every 0.1 s; 2 processes at once; \
             addresses not randomised",
            "10 for each workload and condition, seed 1; 120 trials in all",
            "Varied: the size of the environment, drawn for every pass",
            "Void, and repeated within their block: trials with foreign_cpu above 20 %, or pressure_cpu \
             above 100 ms, or load above 3",
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
    shown.expect(2, &["no workload of the plan has the metric `scan.wall`, which decides"]);
}

#[test]
fn a_misspelt_part_of_a_condition_is_shown_with_its_place() {
    let sandbox = Sandbox::new(&SURROUNDED.replace("pace = \"10/s\"", "pase = \"10/s\""));
    let parts = ["study.toml:26:1", "[conditions.busy] has no key `pase`", "did you mean `pace`?", "1 problem in"];
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
