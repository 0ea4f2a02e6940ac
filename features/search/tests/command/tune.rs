//! `bakeoff tune` as users see it: on simulated truths, where the same search must end the same however often it is killed, and
//! on small real studies.

use crate::common::processes::{kill_ten_times, nothing_stays_in, signal};
use crate::common::{Sandbox, Shown, each_trial_once};
use bakeoff_host::lock::Lock;
use bakeoff_model::shuffle::Stream;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// Nothing is built: 12 variants.
const RUN: &str = r#"
format = 1
name = "options"
[run_factors.size]
small = { SIZE = "1" }
middle = { SIZE = "2" }
large = { SIZE = "3" }
[run_factors.cache]
off = { CACHE = "0" }
on = { CACHE = "1" }
[run_factors.threads]
one = { THREADS = "1" }
two = { THREADS = "2" }
[workloads.work]
run = 'sh -c "exit 0"'
[plan]
variants = "all"
[decide]
baseline = { size = "small", cache = "off", threads = "one" }
"#;

/// Two options give all of what three give.
const TRUTH: &str = "noise:0.01,size=large:0.95,cache=on:0.96,size=large cache=on:0.91,size=large threads=two:0.95,\
     size=large cache=on threads=two:0.9,size=middle:0.97";

/// What a search prints with `--json`.
fn found(shown: &Shown) -> Value {
    shown.expect(0, &[]);
    serde_json::from_str(&shown.out).unwrap_or_else(|error| panic!("{error}: {shown:?}"))
}

fn state<'a>(found: &'a Value, variant: &str) -> &'a str {
    let all = found["variants"].as_array().unwrap();
    all.iter().find(|one| one["name"] == variant).unwrap()["state"].as_str().unwrap()
}

/// The journals of a study's search.
fn blocks(sandbox: &Sandbox) -> Vec<PathBuf> {
    let searches = fs::read_dir(sandbox.study().join(".bakeoff/tune")).into_iter().flatten();
    let files = searches.flat_map(|search| fs::read_dir(search.unwrap().path()).unwrap());
    let mut all: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    all
}

#[test]
fn the_planted_best_wins_and_what_it_does_not_need_is_left_out() {
    let sandbox = Sandbox::new(RUN);
    let words = ["tune", "STUDY", "--budget", "1000 trials", "--simulate", TRUTH];
    let shown = sandbox.execute(&words);
    shown.expect(0, &["race: 12 of 12 left", "ablation: ", "SIMULATED"]);
    let last = shown.out.lines().last().unwrap();
    assert!(last.starts_with("best of 12: size=large cache=on threads=two, "), "{last}");
    assert!(
        last.contains(" % faster than the baseline (") && last.contains("within 1 % of the best with 99 %"),
        "{last}"
    );
    // All is in the files: nothing is run again, and the answer is the same.
    let found = found(&sandbox.execute(&[&words[..], &["--json"]].concat()));
    assert_eq!(found["answer"], last);
    assert_eq!((found["finished"].clone(), found["has_model"].clone()), (true.into(), false.into()));
    assert_eq!(state(&found, "size=large cache=on threads=two"), "left");
    assert_eq!(state(&found, "baseline"), "dropped");
    let trials: usize =
        blocks(&sandbox).iter().map(|path| bakeoff_journal::read(path).unwrap().record.trials.len()).sum();
    assert_eq!(found["trials"], trials);
    // The confirmation is a run like any other, on blocks that the race did not use.
    let record = sandbox.record();
    assert_eq!(found["confirmation"]["blocks"], record.trials.iter().map(|trial| trial.block).max().unwrap());
    sandbox.execute(&["report", "STUDY"]).expect(0, &["size=large cache=on threads=two", "12 blocks"]);
}

#[test]
fn options_that_give_nothing_are_named() {
    let sandbox = Sandbox::new(RUN);
    let truth = "noise:0.002,size=large:0.9,size=large threads=two:0.897,size=large cache=on:0.9,\
         size=large cache=on threads=two:0.893,threads=two:0.997,cache=on:0.998,cache=on threads=two:0.996";
    let words = ["tune", "STUDY", "--budget", "4000 trials", "--margin", "1%", "--simulate", truth, "--json"];
    let found = found(&sandbox.execute(&words));
    let answer = found["answer"].as_str().unwrap();
    assert!(answer.ends_with("; size=large alone gives all of it"), "{answer}");
    assert_eq!(found["reduced"], "size=large");
    // Both are confirmed.
    assert_eq!(found["confirmation"]["gains"].as_object().unwrap().len(), 2, "{found:#}");
}

/// As in the report above it.
#[test]
fn large_gains_are_factors() {
    let sandbox = Sandbox::new(RUN);
    let truth = "noise:0.002,size=large:0.1,size=large threads=two:0.1,size=large cache=on:0.1";
    let shown = sandbox.execute(&["tune", "STUDY", "--budget", "4000 trials", "--simulate", truth]);
    let last = shown.out.lines().last().unwrap();
    assert!(last.contains(" × as fast as the baseline ("), "{last}");
}

#[test]
fn a_budget_that_ends_names_all_that_may_be_the_best() {
    let sandbox = Sandbox::new(RUN);
    let words = ["tune", "STUDY", "--budget", "110 trials", "--simulate", "noise:0.03,cache=on:0.99", "--json"];
    let early = found(&sandbox.execute(&words));
    let answer = early["answer"].as_str().unwrap();
    assert!(answer.starts_with("budget used: the best is one of these 12: "), "{answer}");
    assert!(answer.contains("; run the same command with a larger --budget to resume"), "{answer}");
    assert!(early["trials"].as_u64().unwrap() <= 110 && early["winner"].is_null(), "{early:#}");
    assert!(early["candidates"].as_array().unwrap().iter().any(|one| one == "cache=on"));
    // A larger budget resumes.
    let later = found(&sandbox.execute(&[&words[..3], &["200 trials"], &words[4..]].concat()));
    assert_eq!(later["folder"], early["folder"]);
    assert!(later["trials"].as_u64() > early["trials"].as_u64());
}

/// Kills a search at random moments, then lets it end.
fn kill_and_finish(sandbox: &Sandbox, words: &[&str], seed: u64, most_ms: u64) -> Shown {
    kill_ten_times(&mut Stream::of(seed, &["tune", "kill"]), most_ms, || sandbox.command(words));
    sandbox.execute(words)
}

#[test]
fn a_search_that_is_killed_ends_as_one_that_is_not() {
    let truth = format!("pause:0.003,{TRUTH}");
    let words = ["tune", "STUDY", "--budget", "1000 trials", "--simulate", &truth, "--json"];
    let whole = Sandbox::new(RUN);
    let expect = whole.execute(&words);
    expect.expect(0, &["\"finished\": true"]);
    let killed = Sandbox::new(RUN);
    let shown = kill_and_finish(&killed, &words, 55, 400);
    assert_eq!((shown.code, &shown.out), (0, &expect.out), "{}", shown.err);
    assert_eq!(blocks(&killed).len(), blocks(&whole).len());
}

/// The confirmation is a `bakeoff run`, which prints how to resume; `tune` does not repeat it.
#[test]
fn an_interrupted_confirmation_is_reported_once() {
    let sandbox = Sandbox::new(RUN);
    let truth = "noise:0.01,pause:0.05,size=large:0.8";
    let words = ["tune", "STUDY", "--budget", "1000 trials", "--only", "size=large", "--simulate", truth];
    let mut tune = sandbox.command(&words);
    let mut tune = tune.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while sandbox.trials_so_far() == 0 {
        assert!(tune.try_wait().unwrap().is_none(), "tune ended before the confirmation began");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    signal("-INT", tune.id());
    let shown = Shown::of(&tune.wait_with_output().unwrap());
    shown.expect(130, &["stopped, but nothing is lost"]);
    assert_eq!(shown.err.matches("run the same command again").count(), 1, "{shown:?}");
    sandbox.execute(&words).expect(0, &["best of 2: size=large, "]);
}

#[test]
fn a_second_command_on_a_search_is_refused_while_the_first_one_is_at_work() {
    let sandbox = Sandbox::new(RUN);
    let words = ["tune", "STUDY", "--budget", "110 trials", "--simulate", "noise:0.03"];
    sandbox.execute(&words).expect(0, &[]);
    let mut searches = fs::read_dir(sandbox.study().join(".bakeoff/tune")).unwrap();
    let _first = Lock::take(&searches.next().unwrap().unwrap().path().join("search.lock")).unwrap();
    let pid = std::process::id();
    let error = format!("error: another command (process {pid}) is at work on this search hint: wait for it to end");
    let remedy = format!("or stop it with `kill -INT {pid}`; then run the same command again to resume");
    sandbox.execute(&words).expect(2, &[&error, &remedy]);
}

/// A new variant's first block has two parts, the cheapest workload first. A search that is killed between them, or in the
/// first one, resumes with the same block and ends the same.
#[test]
fn a_search_that_is_killed_between_the_parts_of_a_block_ends_as_one_that_is_not() {
    let text = RUN.replace("[plan]", "takes = \"2 s\"\n[workloads.cheap]\nrun = 'true'\ntakes = \"1 s\"\n[plan]");
    let words = ["tune", "STUDY", "--budget", "1000 trials", "--simulate", TRUTH, "--json"];
    let sandbox = Sandbox::new(&text);
    let expect = sandbox.execute(&words);
    expect.expect(0, &["\"finished\": true"]);
    let names = || {
        let mut all = blocks(&sandbox);
        all.sort();
        all
    };
    let all = names();
    let is_rest = |path: &&PathBuf| path.to_str().unwrap().ends_with("-rest.jsonl");
    let first_of = |path: &PathBuf| PathBuf::from(path.to_str().unwrap().replace("-rest", ""));
    let rests: Vec<&PathBuf> = all.iter().filter(is_rest).collect();
    assert!(!rests.is_empty() && rests.len() < all.len() / 2, "{all:?}");
    for rest in rests {
        let first = first_of(rest);
        for is_cut in [false, true] {
            // What a search has written until then.
            let later = all.iter().filter(|path| path.parent() == first.parent() && first_of(path) > first);
            later.chain([rest]).for_each(|path| fs::remove_file(path).unwrap());
            if is_cut {
                let bytes = fs::read(&first).unwrap();
                fs::write(&first, &bytes[..bytes.len() * 3 / 4]).unwrap();
            }
            let shown = sandbox.execute(&words);
            assert_eq!((shown.code, &shown.out), (0, &expect.out), "{rest:?}, cut {is_cut}: {}", shown.err);
            assert_eq!(names(), all, "{rest:?}, cut {is_cut}");
        }
    }
}

/// Two builds of scripts, each run in two ways; a third cannot be built.
const REAL: &str = r#"
format = 1
name = "real"
[build_factors.echo]
once = { LINES = "echo hello" }
slow = { LINES = "sleep 0.02; echo hello" }
broken = { LINES = "" }
[run_factors.nap]
short = { NAP = "0.01" }
none = { NAP = "0" }
[[build]]
name = "script"
tools = []
script = '''
test -n "$LINES"
mkdir -p "$PREFIX/bin"
printf '%s\n' '#!/bin/sh' 'sleep $NAP' "$LINES" > "$PREFIX/bin/hello"
chmod +x "$PREFIX/bin/hello"
'''
[workloads.hello]
run = '"$PREFIX/bin/hello"'
[plan]
variants = "all"
layouts = "one"
[decide]
baseline = { echo = "once", nap = "short" }
"#;

#[test]
fn a_real_search_loses_and_doubles_no_trial_when_it_is_killed() {
    let sandbox = Sandbox::new(REAL);
    let words = ["tune", "STUDY", "--budget", "300 trials"];
    let shown = kill_and_finish(&sandbox, &words, 56, 500);
    nothing_stays_in(sandbox.path());
    shown.expect(
        0,
        &[
            "note: echo=broken and echo=broken nap=none could not be built: layer script: the script exited 1",
            "best of 4: nap=none, ",
            "; this is about these files as built",
        ],
    );
    for journal in blocks(&sandbox) {
        let record = bakeoff_journal::read(&journal).unwrap().record;
        assert_eq!(record.blocks.len(), 1, "{}", journal.display());
        each_trial_once(&record, record.blocks[0].order.len());
    }
    let found = found(&sandbox.execute(&[&words[..], &["--json"]].concat()));
    assert_eq!([state(&found, "echo=broken"), state(&found, "nap=none")], ["failed", "left"]);
    assert_eq!(found["builds"], 3, "{found:#}");
}

#[test]
fn a_variant_that_prints_something_else_leaves() {
    let text = RUN
        .replace("sh -c \"exit 0\"", "sh -c 'sleep 0.0$THREADS; echo $SIZE'")
        .replace("run = '", "run = \"")
        .replace("$SIZE''\n", "$SIZE'\"\n");
    let text =
        text.replace("large = { SIZE = \"3\" }\n", "").replace("on = { CACHE = \"1\" }\n", "yes = { CACHE = \"1\" }\n");
    let sandbox = Sandbox::new(&text);
    let words = ["tune", "STUDY", "--budget", "150 trials", "--json"];
    let found = found(&sandbox.execute(&words));
    assert_eq!(state(&found, "size=middle"), "failed", "{found:#}");
}

/// The cheap one stands last in the study.
#[test]
fn who_fails_in_the_cheapest_workload_does_not_run_the_others() {
    let sandbox = Sandbox::new(
        r#"
format = 1
name = "cheap"
[run_factors.mode]
good = { MODE = "0" }
other = { MODE = "0 " }
failing = { MODE = "1" }
late = { MODE = "9" }
[workloads.dear]
run = 'sh -c "exit 0"'
takes = "1 min"
[workloads.cheap]
run = 'test $MODE -ne 9 || exec sleep 1000; exit $MODE'
takes = "1 ms"
timeout = "1 s"
[plan]
variants = "all"
[decide]
baseline = { mode = "good" }
"#,
    );
    let found = found(&sandbox.execute(&["tune", "STUDY", "--budget", "60 trials", "--json"]));
    assert_eq!([state(&found, "mode=failing"), state(&found, "mode=late")], ["failed"; 2], "{found:#}");
    let why = |at: usize| found["variants"][at]["why"].as_str().unwrap_or_default().to_owned();
    assert_eq!([why(1), why(2)], ["", "failed: exited with code 1"], "{found:#}");
    assert!(why(3).starts_with("failed: killed because it took more than "), "{found:#}");
    let records: Vec<_> = blocks(&sandbox).iter().map(|path| bakeoff_journal::read(path).unwrap().record).collect();
    let ran = |variant: &str, workload: &str| {
        let trials = records.iter().flat_map(|record| &record.trials);
        trials.filter(|trial| trial.variant == variant && trial.workload == workload).count()
    };
    for variant in ["mode=failing", "mode=late"] {
        assert_eq!([ran(variant, "cheap"), ran(variant, "dear")], [3, 0], "{variant}");
    }
    assert_eq!(ran("mode=other", "cheap"), ran("mode=other", "dear"));
}

/// No budget helps where all fails; what was the cause may be gone when the same command is typed again.
#[test]
fn a_search_in_which_all_fails_ends_with_the_reason_and_is_tried_again() {
    let sandbox = Sandbox::new(&RUN.replace("sh -c \"exit 0\"", "test -e flag"));
    let words = ["tune", "STUDY", "--budget", "60 trials"];
    for _ in 0..2 {
        sandbox
            .execute(&words)
            .expect(4, &["no variant ran well; the baseline failed: exited with code 1", "hint: correct"]);
    }
    sandbox.write("flag", "");
    sandbox.execute(&words).expect(0, &["budget used: the best is one of these 12"]);
    let sandbox = Sandbox::new("");
    let needs = |what: &str| {
        REAL.replace("test -n \"$LINES\"", &format!("test -e {}/$LINES || {what}", sandbox.path().display()))
    };
    sandbox.write("study.toml", &needs("exit 1").replace("slow = { LINES = \"sleep 0.02; echo hello\" }\n", ""));
    let real = ["tune", "STUDY", "--budget", "60 trials", "--quiet"];
    for _ in 0..2 {
        sandbox.execute(&real).expect(4, &["the baseline cannot be built: layer script: the script exited 1"]);
    }
}

#[test]
fn what_cannot_be_searched_is_refused_with_a_remedy() {
    let sandbox = Sandbox::new(RUN);
    sandbox.execute(&["tune", "STUDY"]).expect(2, &["--budget <WHAT>"]);
    let budget = "expected a time, trials or builds, such as 90min, 2h, '400 trials' or '30 builds'";
    sandbox.execute(&["tune", "STUDY", "--budget", "2"]).expect(2, &[budget]);
    let elsewhere = ["tune", "STUDY", "--budget", "1h", "--on", "lab"];
    sandbox.execute(&elsewhere).expect(2, &["so all of its trials run on this machine"]);
    let few = ["tune", "STUDY", "--budget", "1h", "--only", "baseline"];
    sandbox.execute(&few).expect(2, &["only the baseline, so there is nothing to compare"]);
    sandbox.execute(&["tune", "nowhere", "--budget", "1h"]).expect(2, &["bakeoff init"]);
    sandbox.execute(&["tune", "STUDY", "--budget", "1h", "--simulate", "size=huge:2"]).expect(2, &["did you mean"]);
    let real = Sandbox::new(REAL);
    let shown = real.execute(&["tune", "STUDY", "--budget", "2 builds"]);
    shown.expect(2, &["a budget of 2 builds is too small: 6 variants need 3", "use a larger --budget"]);
}

const PAGE: &str = "\
Study options: which of 12 variants is the best?
Factors and their levels: size (3), cache (2), threads (2)
1 workload; margin 1 %; seed 1

                                      builds    trials   time
  the whole plan, 12 blocks                -       156   unknown
  this search, in the median               -       144   unknown
  this search, if all are equal            -       408   unknown
  the confirmation, at least               -        36   unknown

Budget: 2 h
All variants race.
Trials are those of simulated races at 1 % noise; at 3 %, four to seven times as
many. If the budget ends first, tune names all that may still be the best.
";

#[test]
fn before_it_begins_a_search_says_what_it_will_cost() {
    let sandbox = Sandbox::new(RUN);
    let shown = sandbox.execute(&["tune", "STUDY", "--budget", "2h", "--dry-run"]);
    assert_eq!((shown.code, shown.out.as_str()), (0, PAGE), "{}", shown.err);
    assert!(PAGE.lines().count() < 24 && PAGE.lines().all(|line| line.chars().count() <= 80));
    assert!(!sandbox.study().join(".bakeoff").exists());
    // If it is known how long a trial takes, so is the rest.
    sandbox.write("study.toml", &RUN.replace("[plan]", "takes = \"2 s\"\n[plan]"));
    let shown = sandbox.execute(&["tune", "STUDY", "--budget", "2h", "--dry-run"]);
    shown.expect(0, &["144 about 4 min 48 s", "408 about 13 min 36 s"]);
}

/// Eight factors of two levels.
fn big() -> (Sandbox, String) {
    let factors = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let effects = [0.02, -0.015, 0.01, -0.03, 0.0, 0.005, -0.008, 0.012_f64];
    let mut study = "format = 1\nname = \"big\"\n".to_owned();
    for factor in factors {
        study += &format!(
            "[run_factors.{factor}]\nno = {{ X_{0} = \"0\" }}\nyes = {{ X_{0} = \"1\" }}\n",
            factor.to_uppercase()
        );
    }
    let baseline: Vec<String> = factors.iter().map(|factor| format!("{factor} = \"no\"")).collect();
    study += "[workloads.w]\nrun = \"true\"\n[plan]\nvariants = \"all\"\n[decide]\n";
    study += &format!("baseline = {{ {} }}\n", baseline.join(", "));
    let mut truth = "noise:0.01".to_owned();
    for combination in 1..256_usize {
        let on = || (0..8).filter(move |factor| combination >> factor & 1 == 1);
        let name: Vec<String> = on().map(|factor| format!("{}=yes", factors[factor])).collect();
        let effect: f64 = on().map(|factor| effects[factor]).sum();
        truth += &format!(",{}:{}", name.join(" "), effect.exp());
    }
    (Sandbox::new(&study), truth)
}

#[test]
fn of_a_big_space_a_model_chooses_what_races() {
    let (sandbox, truth) = big();
    let words = ["tune", "STUDY", "--budget", "1500 trials", "--simulate", &truth, "--json"];
    let shown = sandbox.execute(&words);
    shown.expect(0, &["64 variants are run; a model of factors and pairs chooses 12 to race", "screening: "]);
    let found = found(&shown);
    assert_eq!(
        (&found["winner"], &found["has_model"]),
        (&Value::from("b=yes d=yes g=yes"), &Value::from(true)),
        "{found:#}"
    );
    let answer = found["answer"].as_str().unwrap();
    assert!(answer.contains(" were judged by a model: b=yes d=yes g=yes, "), "{answer}");
    assert_eq!(sandbox.execute(&words).out, shown.out, "it replays");
}
