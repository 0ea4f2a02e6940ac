//! The commands as their user sees them when all goes well.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Shown, each_trial_once, small};
use serde_json::Value;
use std::fs;

fn findings(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}\n{out}"))
}

#[test]
fn a_study_goes_from_its_file_to_its_report_and_a_second_command_executes_nothing() {
    let sandbox = small();
    let shown = sandbox.execute(&["run", "STUDY"]);
    shown.expect(
        0,
        &[
            "2 of 2 builds are not in the cache; 24 trials follow",
            "building script for baseline",
            "block 8 of 8",
            "hello (idle)",
            "echo=twice",
            "noise floor",
        ],
    );
    let journal = fs::read(sandbox.journal()).unwrap();
    each_trial_once(&sandbox.record(), 8 * 3);
    let floor_bytes = sandbox.record().sessions[0].memory_floor_bytes;
    assert!(floor_bytes.is_some_and(|bytes| bytes > 0.0), "the launcher's own peak is in the journal");
    let again = sandbox.execute(&["run", "STUDY"]);
    assert_eq!(again.out, sandbox.execute(&["report", "STUDY"]).out);
    assert!(!again.err.contains("building"), "{}", again.err);
    assert_eq!(fs::read(sandbox.journal()).unwrap(), journal, "nothing was added");
}

#[test]
fn more_blocks_prolong_a_study() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "10"]).expect(0, &["10 of 10 blocks"]);
    each_trial_once(&sandbox.record(), 10 * 3);
}

#[test]
fn a_study_that_was_to_be_prolonged_can_be_left_as_it_was() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "pause:0.01", "--blocks"];
    let with = |blocks: &'static str| [&words[..], &[blocks]].concat();
    sandbox.execute(&with("6")).expect(0, &["6 of 6 blocks"]);
    let mut longer = sandbox.command(&with("600")).stdout(std::process::Stdio::null()).spawn().unwrap();
    while sandbox.trials_so_far() < 24 {
        std::thread::yield_now();
    }
    longer.kill().unwrap();
    longer.wait().unwrap();
    let shown = sandbox.execute(&with("6"));
    shown.expect(0, &["the number of blocks was raised once"]);
    assert!(!shown.out.contains("of 600"), "{}", shown.out);
}

#[test]
fn a_changed_study_gets_a_journal_of_its_own() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let old = sandbox.journal();
    let before = fs::read(&old).unwrap();
    sandbox.write("study.toml", &SMALL.replace("echo again", "echo another"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    assert_eq!(sandbox.journals().len(), 2);
    assert_eq!(fs::read(old).unwrap(), before);
}

#[test]
fn the_plan_says_what_would_be_done_and_does_nothing() {
    let sandbox = small();
    let shown = sandbox.execute(&["plan", "STUDY", "--order"]);
    shown.expect(
        0,
        &["Variants: 2", "baseline (echo=once)", "Builds: 2 (0 in the cache)", "24 trials in all", "twin", "seed 178"],
    );
    assert!(sandbox.journals().is_empty());
    sandbox.execute(&["build", "STUDY"]).expect(0, &["echo=twice: built"]);
    sandbox.execute(&["plan", "STUDY"]).expect(0, &["(2 in the cache)"]);
    sandbox.execute(&["build", "STUDY"]).expect(0, &["echo=twice: in the cache"]);
}

#[test]
fn findings_as_json_are_whole_and_the_sentence_of_the_report_agrees() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "echo=twice:1.2,noise:0.01"];
    let report = sandbox.execute(&words);
    report.expect(0, &["SIMULATED: the baseline is faster: echo=twice is", "% slower"]);
    let words = ["report", "STUDY", "--json"];
    let findings = findings(&sandbox.execute(&words).out);
    let comparison = &findings["tables"][0]["rows"][1]["comparison"];
    assert_eq!(comparison["verdict"], "slower");
    assert!((comparison["estimate"].as_f64().unwrap() - 1.2).abs() < 0.03, "{comparison}");
    assert!(findings["simulated"].is_string());
}

#[test]
fn a_demanded_verdict_that_is_not_there_is_an_exit_code_of_its_own() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "noise:0.5,seed:2", "--blocks", "6", "--require-verdict"];
    sandbox.execute(&words).expect(3, &["cannot be distinguished"]);
}

#[test]
fn two_commands_that_differ_are_told_apart_and_two_that_do_not_are_not() {
    let sandbox = small();
    let words = ["compare", "sleep 0.02", "sleep 0.04", "--quiet", "--json", "--confidence", "0.99"];
    let shown = sandbox.execute(&words);
    let different = findings(&shown.expect(0, &[]).out);
    assert_eq!(different["tables"][0]["rows"][1]["comparison"]["verdict"], "slower");
    // One of a thousand honest tests of `true` against itself errs, and one did in CI; two in a row are no accident.
    let words = ["compare", "true", "true", "--quiet", "--json", "--confidence", "0.999"];
    let claims = || {
        let same = findings(&sandbox.execute(&words).expect(0, &[]).out);
        assert_eq!(same["variants"][1]["name"], "true (2)");
        let verdict = &same["tables"][0]["rows"][1]["comparison"]["verdict"];
        verdict == "faster" || verdict == "slower"
    };
    assert!(!(claims() && claims()));
}

#[test]
fn compare_names_its_variants_and_keeps_a_journal_when_told_to() {
    let sandbox = small();
    let journal = sandbox.path().join("kept.jsonl");
    let journal = journal.to_str().unwrap();
    let words = ["compare", "true", "exit 0", "-n", "direct", "-n", "shell", "--blocks", "6", "--journal", journal];
    sandbox.execute(&words).expect(0, &["shell", "direct"]);
    sandbox.execute(&["report", journal]).expect(0, &["shell", "direct"]);
    let other = ["compare", "true", "exit 1", "--journal", journal];
    sandbox.execute(&other).expect(2, &["belongs to another study"]);
    let precious = sandbox.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    sandbox
        .execute(&["compare", "true", "true", "--journal", precious.to_str().unwrap()])
        .expect(2, &["not a journal"]);
    assert_eq!(fs::read_to_string(precious).unwrap(), "precious");
    sandbox.execute(&["compare", "true", "exit 1", "--blocks", "6"]).expect(4, &["exit 1"]);
}

#[test]
fn a_changed_way_to_judge_judges_the_same_trials_again() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &["margin ±1 %"]);
    sandbox.write("study.toml", &SMALL.replace("metrics =", "margin = \"30%\"\nmetrics ="));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &["margin ±30 %"]);
    sandbox.execute(&["report", "STUDY"]).expect(0, &["margin ±30 %"]);
    each_trial_once(&sandbox.record(), 8 * 3);
}

#[test]
fn a_changed_script_gets_a_journal_of_its_own() {
    let sandbox = small();
    sandbox.write("a.sh", "sh b.sh");
    sandbox.write("b.sh", "echo hello");
    let text = SMALL.replace("'\"$PREFIX/bin/hello\"'", "'sh a.sh'\nfiles = [\"b.sh\"]");
    sandbox.write("study.toml", &text);
    for (count, script) in [(1, "echo hello"), (2, "echo hello; exit 0"), (2, "echo hello; exit 0")] {
        sandbox.write("b.sh", script);
        sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
        assert_eq!(sandbox.journals().len(), count);
    }
    // A device that never ends is not read for it.
    sandbox.write("study.toml", &SMALL.replace("'\"$PREFIX/bin/hello\"'", "'head -c 6 /dev/zero | tr \"\\\\0\" x'"));
    sandbox.write("hello.out", "xxxxxx");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
}

#[test]
fn a_plan_that_cannot_decide_says_so_beforehand() {
    let sandbox = small();
    sandbox.execute(&["plan", "STUDY", "--blocks", "4"]).expect(0, &["Use at least 6 blocks"]);
    fs::remove_file(sandbox.study().join("hello.out")).unwrap();
    sandbox.execute(&["plan", "STUDY"]).expect(2, &["hello.out"]);
}

#[test]
fn a_report_is_of_what_was_named_and_of_nothing_else() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let typo = sandbox.study().join("typo");
    sandbox.execute(&["report", typo.to_str().unwrap()]).expect(2, &["cannot report on", "typo"]);
    let other = sandbox.study().join("hello.out");
    sandbox.execute(&["report", other.to_str().unwrap()]).expect(2, &["is not a journal"]);
    let file = sandbox.study().join("study.toml");
    sandbox.execute(&["report", file.to_str().unwrap()]).expect(0, &["8 of 8 blocks"]);
    sandbox.execute(&["run", "STUDY", "--quiet", "--simulate", "noise:0.1"]).expect(0, &[]);
    sandbox.execute(&["report", "STUDY"]).expect(0, &["the latest of 2 journals", "SIMULATED"]);
}

#[test]
fn a_study_stops_when_it_has_enough_and_is_complete_then() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--until", "±1%", "--simulate", "noise:0.004"];
    let shown = sandbox.execute(&words);
    shown.expect(0, &["stopped after 10 blocks, of at most 200", "10 of 10 blocks"]);
    each_trial_once(&sandbox.record(), 10 * 3);
    let journal = fs::read(sandbox.journal()).unwrap();
    assert_eq!(sandbox.execute(&words).out, shown.out);
    assert_eq!(fs::read(sandbox.journal()).unwrap(), journal, "nothing was added");
    // Another rule is another journal.
    let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--until", "decided", "--simulate", "noise:0.004"]);
    shown.expect(0, &["checked after 8, 12, 18, 27 and 40 blocks; stopped after"]);
    assert_eq!(sandbox.journals().len(), 2);
}

#[test]
fn a_rule_for_stopping_is_kept_in_its_journal_and_refused_by_others() {
    let sandbox = small();
    let compare = ["compare", "true", "sleep 0", "--quiet", "--journal", "study/j.jsonl", "--blocks"];
    let with = |more: &[&'static str]| [&compare[..], more].concat();
    sandbox.execute(&with(&["8", "--until", "anytime"])).expect(0, &["at any time"]);
    let shown = sandbox.execute(&with(&["12"]));
    assert_eq!(shown.code, 2, "{shown:?}");
    assert!(
        shown.err.contains("has the stopping rule `anytime`, but this command requests a fixed number of blocks"),
        "{}",
        shown.err
    );
    assert_eq!(sandbox.execute(&with(&["5", "--until", "decided"])).code, 2);
}

#[test]
fn a_workload_that_writes_below_its_prefix_is_told_and_what_it_changed_is_built_again() {
    let sandbox = small();
    let study =
        SMALL.replace("run = '\"$PREFIX/bin/hello\"'", "run = 'date >> \"$PREFIX/bin/trace\"; \"$PREFIX/bin/hello\"'");
    assert_ne!(study, SMALL);
    sandbox.write("study.toml", &study);
    let told = ["changed the finished build of baseline", "bin/trace was added"];
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &told);
    let again = sandbox.execute(&["build", "STUDY"]);
    again.expect(
        0,
        &["damaged: script for baseline changed after the build (bin/trace was added)", "2 layers to build"],
    );
    again.expect(0, &["1 left", "baseline: built"]);
    assert!(!sandbox.execute(&["build", "STUDY"]).err.contains("damaged"));
    // Nothing is run, so nothing is told.
    assert!(!sandbox.execute(&["run", "STUDY", "--quiet"]).err.contains("note"));
}

/// Without what builds, commands are compared as before, and nothing is promised that cannot be kept.
#[cfg(not(feature = "building"))]
#[test]
fn without_building_commands_compare_and_builds_are_refused() {
    let sandbox = small();
    for command in ["run", "plan"] {
        let words =
            ["compiled without the feature `building`", "[[build]]", "remedy: ", "its default feature `building`"];
        sandbox.execute(&[command, "STUDY"]).expect(2, &words);
    }
}

#[cfg(feature = "building")]
#[test]
fn trials_wait_until_nobody_else_wants_the_machine() {
    use std::io::BufRead as _;
    let sandbox = small();
    sandbox.execute(&["build", "STUDY", "--quiet"]).expect(0, &[]);
    // Another cache of the same machine.
    let machine = bakeoff_host::machine::Machine::in_folder(sandbox.path());
    let cache = bakeoff_building::Cache::open(sandbox.path().join("another")).unwrap().on(machine);
    let held = cache.quiet(|_| ()).unwrap();
    let mut command = sandbox.command(&["run", "STUDY"]);
    let mut run = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waiting = format!("waiting for process {}", std::process::id());
    assert!(lines.any(|line| line.starts_with(&waiting)));
    assert_eq!(sandbox.trials_so_far(), 0);
    drop(held);
    lines.for_each(drop);
    assert!(run.wait().unwrap().success());
    each_trial_once(&sandbox.record(), 8 * 3);
}

/// The default report is a screen: the question first, the answer last, and all of it on request.
#[test]
fn a_report_is_a_screen_and_answers_other_questions_of_the_same_trials() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "base:1,noise:0.002,seed:3,echo=twice:1.2", "--blocks", "8"];
    let shown = Shown::of(&sandbox.command_as_typed(&words).output().unwrap());
    let lines: Vec<&str> = shown.out.lines().collect();
    assert!(lines.len() <= 24 && lines[lines.len() - 2].is_empty(), "{}", shown.out);
    let ask = |more: &[&str]| {
        let words: Vec<&str> = ["report", "STUDY"].iter().chain(more).copied().collect();
        Shown::of(&sandbox.command_as_typed(&words).output().unwrap())
    };
    let answer = |shown: &Shown| shown.out.lines().last().unwrap_or_default().to_owned();
    assert_eq!(answer(&ask(&[])), answer(&shown));
    let user = ask(&["--metric", "user", "--confidence", "0.9"]);
    user.expect(0, &["judged with settings other than the study's: metric user, confidence 0.9", "90 % interval"]);
    ask(&["--baseline", "nobody"]).expect(2, &["the journal has no variant `nobody`", "there are: baseline"]);
    ask(&["--metric", "joules"]).expect(2, &["the journal has no metric `joules`"]);
    ask(&["--plan", "nightly"]).expect(2, &["no journal for plan `nightly`"]);
    ask(&["--only", "nobody"]).expect(2, &["the journal has no variant `nobody`"]);
    ask(&["--section", "weather"]).expect(2, &["there is no section `weather`", "provenance"]);
    let tables = ask(&["--section", "tables"]);
    tables.expect(0, &["ratio [95 % interval]"]);
    assert!(!tables.out.contains("method:"), "{}", tables.out);
    let ascii = sandbox.command_as_typed(&["report", "STUDY"]).env("LC_ALL", "C").output().unwrap();
    assert!(ascii.stdout.is_ascii(), "{}", String::from_utf8_lossy(&ascii.stdout));
}
