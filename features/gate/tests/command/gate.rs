//! `bakeoff gate`, and `--gate` of the other commands, as a whole: exit codes, paragraphs and files.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, Shown, small};
use std::fs;

/// The small study with a second workload, and with `[gate]` if there is any.
fn with_gate(gate: &str) -> Sandbox {
    let two = "[workloads.hello]\nrun = '\"$PREFIX/bin/hello\"'\n[workloads.again]\nrun = '\"$PREFIX/bin/hello\"'\n";
    let text = SMALL.replace("[workloads.hello]\nrun = '\"$PREFIX/bin/hello\"'\nexpect = \"hello.out\"\n", two);
    assert!(text.contains("[workloads.again]"));
    Sandbox::new(&format!("{text}{gate}\n"))
}

fn rehearse(sandbox: &Sandbox, ratio: f64, more: &[&str]) -> Shown {
    let truth = format!("echo=twice:{ratio},noise:0.003");
    sandbox.execute(&[&["run", "STUDY", "--quiet", "--blocks", "12", "--simulate", &truth], more].concat())
}

#[test]
fn the_exit_code_says_what_the_paragraph_says() {
    let check = |ratio: f64, code: i32, says: &str| {
        let sandbox = small();
        rehearse(&sandbox, ratio, &["--gate", "2%"]).expect(code, &[says, "limit +2 %"]);
        sandbox.execute(&["gate", "STUDY", "--max-slowdown", "2%"]).expect(code, &[says, "limit +2 %"]);
        sandbox.execute(&["report", "STUDY", "--gate", "2%"]).expect(code, &[says, "limit +2 %"]);
        let journal = sandbox.journal();
        let shown = sandbox.execute(&["gate", journal.to_str().unwrap(), "--max-slowdown", "2%", "--json"]);
        let json: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!(shown.code, code);
        assert!(says.replace(' ', "").contains(json["outcome"].as_str().unwrap()), "{json}");
        assert_eq!((json["format"].as_u64(), json["cases"][0]["variant"].as_str()), (Some(1), Some("echo=twice")));
    };
    check(1.0, 0, "The gate passes");
    check(1.1, 1, "The gate fails");
    check(1.02, 3, "The gate is undecided");
    // Another limit needs no other trials.
    let sandbox = small();
    rehearse(&sandbox, 1.1, &[]).expect(0, &[]);
    sandbox.execute(&["gate", "STUDY", "--max-slowdown", "15%"]).expect(0, &["is at most 10"]);
}

#[test]
fn commands_are_held_against_a_limit() {
    let sandbox = small();
    let compare = |commands: [&str; 2], more: &[&str]| {
        let words =
            [&["compare", commands[0], commands[1], "--blocks", "7", "--quiet", "--gate", "20%"], more].concat();
        sandbox.execute(&words)
    };
    compare(["sleep 0.02", "sleep 0.06"], &[]).expect(1, &["The gate fails: in wall time, sleep 0.06 is at least"]);
    let shown = compare(["sleep 0.06", "sleep 0.02"], &["--json"]);
    shown.expect(0, &["The gate passes"]);
    assert!(serde_json::from_str::<serde_json::Value>(&shown.out).is_ok(), "the paragraph is no part of the JSON");
    compare(["true", "false"], &[]).expect(4, &["The gate does not pass: 3 of 3 trials of false failed."]);
    compare(["true", "true"], &["--metric", "majflt"]).expect(3, &["is 0 or less, so there is no percentage"]);
}

#[test]
fn a_study_has_limits_of_its_own() {
    let gate = "[gate]\nmax_slowdown = \"2%\"\n[gate.workloads]\nhello = \"20%\"";
    let sandbox = with_gate(gate);
    rehearse(&sandbox, 1.1, &[]).expect(0, &[]);
    sandbox
        .execute(&["gate", "STUDY"])
        .expect(1, &["echo=twice on again is at least", "limit +2 %", "all 2 comparisons"]);
    sandbox.execute(&["gate", "STUDY", "--workload", "hello"]).expect(0, &["limit +20 %"]);
    sandbox.execute(&["gate", "STUDY", "--max-slowdown", "15%"]).expect(0, &["in 2 of 2 comparisons", "limit +15 %"]);
    // Another limit is no other study: its trials are judged as they are.
    sandbox.write("study.toml", &fs::read_to_string(sandbox.study().join("study.toml")).unwrap().replace("2%", "30%"));
    sandbox.execute(&["gate", "STUDY"]).expect(0, &["limit +20 %"]);
    rehearse(&sandbox, 1.1, &[]).expect(0, &[]);
    assert_eq!(sandbox.journals().len(), 1);
}

#[test]
fn the_limits_of_a_study_travel_in_its_journal() {
    let sandbox = with_gate("[gate.workloads]\nhello = \"90%\"");
    let run = |more: &[&str]| sandbox.execute(&[&["run", "STUDY", "--quiet", "--blocks", "1"], more].concat());
    run(&["--gate", "study"]).expect(3, &["The gate is undecided", "more blocks would probably suffice"]);
    let journal = sandbox.journal();
    let lines =
        || fs::read_to_string(&journal).unwrap().lines().filter(|line| line.contains("\"line\":\"gate\"")).count();
    assert_eq!(lines(), 1);
    let of_journal = || sandbox.execute(&["gate", journal.to_str().unwrap(), "--json"]).out;
    assert!(of_journal().contains("\"limit\": 0.9"));
    // Once is enough; and what is changed, or left out, is kept as well.
    run(&[]).expect(0, &[]);
    assert_eq!(lines(), 1);
    let text = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    sandbox.write("study.toml", &text.replace("90%", "80%"));
    run(&[]).expect(0, &[]);
    assert!(lines() == 2 && of_journal().contains("\"limit\": 0.8"));
    sandbox.write("study.toml", text.split("[gate").next().unwrap());
    run(&["--gate", "study"]).expect(2, &["the study had no limits when it ran", "hint:"]);
    sandbox
        .execute(&["gate", journal.to_str().unwrap()])
        .expect(2, &["no limit was given, and the study sets no limit"]);
    assert_eq!(sandbox.journals().len(), 1);
}

#[test]
fn what_a_pipeline_shows_of_it() {
    let sandbox = with_gate("");
    let file = sandbox.path().join("gate.xml");
    rehearse(&sandbox, 1.1, &["--gate", "2%", "--junit", file.to_str().unwrap()]).expect(1, &["The gate fails"]);
    let xml = fs::read_to_string(&file).unwrap();
    assert!(xml.contains("<testsuite name=\"small\" tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\">"), "{xml}");
    assert!(xml.contains("<testcase classname=\"small.again\" name=\"echo=twice\">"), "{xml}");
    sandbox.execute(&["gate", "STUDY", "--max-slowdown", "2%", "--junit", "other.xml"]).expect(1, &[]);
    assert_eq!(fs::read_to_string(sandbox.path().join("other.xml")).unwrap(), xml);
}

/// A pipeline that keeps its folder would show the file of an earlier run as the result of this one.
#[test]
fn who_ends_before_the_gate_leaves_an_error_for_the_pipeline() {
    let sandbox = Sandbox::new(&SMALL.replace("mkdir -p", "exit 1\nmkdir -p"));
    sandbox.write("hello.out", "hello\n");
    fs::write(sandbox.path().join("gate.xml"), "<testsuites tests=\"9\" errors=\"0\"/>").unwrap();
    sandbox
        .execute(&["run", "STUDY", "--quiet", "--gate", "2%", "--junit", "gate.xml"])
        .expect(4, &["cannot be built"]);
    let xml = fs::read_to_string(sandbox.path().join("gate.xml")).unwrap();
    assert!(xml.contains("errors=\"1\"") && xml.contains("ended before the gate could decide"), "{xml}");
}

#[test]
fn a_variant_that_cannot_be_built_does_not_pass() {
    let sandbox = Sandbox::new(
        &SMALL
            .replace("mkdir -p", "test \"$LINES\" = 'echo hello' || exit 1\nmkdir -p")
            .replace("[build_factors.echo]\n", "[build_factors.echo]\nhush = { LINES = \"echo hello\" }\n"),
    );
    sandbox.write("hello.out", "hello\n");
    // What could be built is one program: no trial is run, and that is no pass either.
    let run = ["run", "STUDY", "--quiet", "--blocks", "6"];
    sandbox.execute(&run).expect(4, &["all variants that could be built are the same program"]);
    let shown = sandbox.execute(&[&run[..], &["--gate", "90%", "--junit", "gate.xml"]].concat());
    shown.expect(4, &["The gate does not pass: echo=twice could not be built"]);
    assert!(fs::read_to_string(sandbox.path().join("gate.xml")).unwrap().contains("errors=\"1\""));
    let shown = sandbox.execute(&[&run[..], &["--gate", "90%", "--html", "page.html"]].concat());
    shown.expect(4, &["The gate does not pass: echo=twice could not be built"]);
    assert!(!sandbox.path().join("page.html").exists(), "there is nothing to show but the decision");
    assert!(sandbox.journals().is_empty());
    let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--anyway", "--blocks", "6", "--gate", "90%"]);
    shown.expect(4, &["The gate does not pass: echo=twice could not be built"]);
    sandbox
        .execute(&["gate", "STUDY", "--max-slowdown", "90%", "--variant", "echo=hush"])
        .expect(0, &["echo=hush is the same program as", "it cannot be slower"]);
}

#[test]
fn what_cannot_be_gated_on_has_a_remedy() {
    let sandbox = small();
    sandbox.execute(&["gate", "STUDY", "--max-slowdown", "2%"]).expect(2, &["no journal in", "hint:"]);
    rehearse(&sandbox, 1.0, &[]).expect(0, &[]);
    let gate = |more: &[&str], says: &[&str]| {
        sandbox.execute(&[&["gate", "STUDY"], more].concat()).expect(2, says);
    };
    gate(&[], &["no limit was given, and the study sets no limit", "--max-slowdown 2%"]);
    let limit = ["--max-slowdown", "2%"];
    let with = |more: [&'static str; 2]| [limit, more].concat();
    gate(&with(["--variant", "x"]), &["the journal has no variant `x`", "available: echo=twice"]);
    gate(&with(["--variant", "baseline"]), &["`baseline` is the baseline", "available: echo=twice"]);
    gate(&with(["--workload", "x"]), &["the journal has no workload `x`", "available: hello"]);
    gate(&with(["--metric", "x"]), &["the journal has no metric `x`", "available: wall"]);
    gate(&with(["--plan", "x"]), &["no journal for plan `x`"]);
    gate(&with(["--junit", "no/such/folder.xml"]), &["cannot write", "create the folder first"]);
    gate(&["--max-slowdown", "slow"], &["a percentage above 0"]);
    let report = |more: &[&str], says: &[&str]| {
        sandbox.execute(&[&["report", "STUDY"], more].concat()).expect(2, says);
    };
    report(&["--gate", "2%", "--provenance"], &["'--gate <LIMIT>' cannot be used with '--provenance'"]);
    report(&["--gate", "2%", "--against", "x"], &["cannot be used with"]);
    report(&["--gate", "slow"], &["a percentage above 0", "or use `study`"]);
    report(&["--junit", "x.xml"], &["--gate"]);
    let compare = ["compare", "true", "true", "--gate", "study"];
    sandbox.execute(&compare).expect(2, &["invalid value 'study' for '--gate <LIMIT>'", "a percentage above 0"]);
    let alone = ["compare", "true", "--max-slowdown", "2%", "--blocks", "6"];
    sandbox.execute(&alone).expect(2, &["no variant besides the baseline", "a second command, use --git twice"]);
}

#[test]
fn another_baseline_turns_the_question_round_and_names_may_hold_commas() {
    let sandbox = small();
    let words = ["compare", "true", "true 1,2", "false", "--blocks", "6", "--quiet", "--journal", "x.jsonl"];
    sandbox.execute(&words).expect(4, &[]);
    let gate = ["gate", "x.jsonl", "--max-slowdown", "90%", "--metric", "maxrss", "--json"];
    let only = [&gate[..], &["--variant", "true 1,2"]].concat();
    assert!(!sandbox.execute(&only).out.contains("\"false\""));
    sandbox.execute(&[&only[..], &["--variant", "false"]].concat()).expect(4, &["\"true 1,2\"", "\"false\""]);
    let sandbox = small();
    rehearse(&sandbox, 1.1, &[]).expect(0, &[]);
    let words = ["gate", "STUDY", "--max-slowdown", "2%", "--baseline", "echo=twice"];
    sandbox.execute(&words).expect(0, &["is at least", "% faster than echo=twice"]);
}
