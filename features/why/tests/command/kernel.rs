//! The kernel's work, end to end: planted calls, copies and waiting are found with their numbers, where the kernel may be
//! watched; where it may not, the tracer finds the calls, and the reason is printed once. No speed is compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::why_counting::cannot_count;
use crate::common::{Sandbox, each_trial_once};
use bakeoff_why::counts::CountsLine;
use bakeoff_why::kernel::KernelLine;
use serde_json::Value;

const DOSES: &str = r#"
format = 1
name = "kernel"
[build_factors.dose]
none = { DOSE = "" }
stat = { DOSE = "-DSTAT=1000" }
sleep = { DOSE = "-DSLEEP=20" }
copies = { DOSE = "-DCOPIES=5000" }
[[build]]
name = "p"
tools = ["cc"]
files = ["doses.c", "own.c"]
script = '''
mkdir -p "$PREFIX/bin"
cc -O2 -fcf-protection=none -DUNIT=500 $DOSE -pthread -fPIE -pie -fno-builtin -o "$PREFIX/bin/p" doses.c own.c
'''
[workloads.work]
run = '"$PREFIX/bin/p" 1'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { dose = "none" }
metrics = ["wall"]
[evidence]
count = ["work"]
"#;

/// The rows of the kernel's work of a dose, and whether they have times.
fn rows(findings: &Value, dose: &str) -> (Vec<Value>, bool) {
    let accounts = findings["evidence"]["accounts"].as_array().unwrap();
    let account = accounts.iter().find(|account| account["variant"] == format!("dose={dose}")).unwrap();
    let kernel = &account["kernel"];
    (kernel["rows"].as_array().unwrap_or_else(|| panic!("{account:#}")).clone(), !kernel["run_queue_s"].is_null())
}

fn row<'r>(rows: &'r [Value], kind: &str, name: &str) -> &'r Value {
    rows.iter().find(|row| row["what"][kind] == name).unwrap_or_else(|| panic!("no {kind} {name}: {rows:#?}"))
}

/// How often the variant does it more.
fn more(row: &Value) -> i64 {
    row["counts"][1].as_i64().unwrap() - row["counts"][0].as_i64().unwrap()
}

#[test]
fn the_kernels_work_has_rows() {
    if cannot_count() {
        return;
    }
    let sandbox = Sandbox::new(DOSES);
    sandbox.write("doses.c", include_str!("planted/doses.c"));
    sandbox.write("own.c", include_str!("planted/own.c"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    each_trial_once(&sandbox.record(), 5 * 3);
    let counts = CountsLine::of(&sandbox.record());
    assert!(counts.len() == 4 && counts.iter().all(|line| line.missing.is_none()), "{counts:?}");
    let lines = KernelLine::of(&sandbox.record());
    assert_eq!(lines.len(), 4, "{lines:?}");
    let shown = sandbox.execute(&["report", "STUDY", "--json"]);
    let findings: Value = serde_json::from_str(&shown.out).unwrap();
    // What is held is not gathered again.
    let gathered = || sandbox.record().features.iter().filter(|line| line.kind() != "samples").count();
    let before = gathered();
    let explained = sandbox.execute(&["explain", "STUDY", "dose=sleep", "--quiet"]);
    explained.expect(0, &["system calls, "]);
    assert_eq!(gathered(), before, "{}", explained.err);
    let (stat, _) = rows(&findings, "stat");
    assert_eq!(more(row(&stat, "call", "newfstatat")), 1000, "{stat:#?}");
    match &lines[0].tracer {
        Some(why) => {
            println!("skipped: times, faults and waiting: {why}");
            counted(&findings, &explained.out, why);
        }
        None => found(&findings, &explained.out),
    }
}

/// A text in one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The reason why nothing else is known is in JSON and on the page, once for all variants.
fn counted(findings: &Value, page: &str, why: &str) {
    let missing = findings["evidence"]["missing"].as_array().unwrap();
    let of_it: Vec<&Value> = missing.iter().filter(|missing| missing["what"] == "kernel-times").collect();
    assert_eq!(of_it.len(), 1, "{missing:#?}");
    assert_eq!((&of_it[0]["why"], of_it[0]["variants"].as_array().unwrap().len()), (&Value::from(why), 4));
    assert_eq!(words(page).matches(&words(why)).count(), 1, "{page}");
    let (sleep, has_times) = rows(findings, "sleep");
    assert_eq!((more(row(&sleep, "call", "clock_nanosleep")), has_times), (1, false));
    assert!(page.contains("counted by the tracer") && !page.contains("Run queue: "), "{page}");
}

fn found(findings: &Value, page: &str) {
    let (copies, _) = rows(findings, "copies");
    // A fork copies some pages by itself.
    let copied = more(row(&copies, "fault", "copy-on-write"));
    assert!((4950..=5050).contains(&copied), "{copied}");
    let (sleep, has_times) = rows(findings, "sleep");
    assert_eq!(more(row(&sleep, "call", "clock_nanosleep")), 1);
    if !has_times {
        println!("skipped: waiting: four runs did not account for their time");
        return;
    }
    assert_eq!(sleep[0]["what"]["blocked"], "clock_nanosleep", "{sleep:#?}");
    let times_s = [0, 1].map(|side| sleep[0]["times_s"][side].as_f64().unwrap());
    assert!(times_s[0] == 0.0 && (0.01..=0.03).contains(&times_s[1]), "{times_s:?}");
    let sleep = findings["evidence"]["accounts"].as_array().unwrap().iter().find(|one| one["variant"] == "dose=sleep");
    assert_eq!(sleep.unwrap()["kernel"]["has_path"], true, "{sleep:#?}");
    assert!(page.contains("blocked in clock_nanosleep") && page.contains("Run queue: "), "{page}");
    assert!(words(page).contains("Blocked times are those of the path that ends last"), "{page}");
}
