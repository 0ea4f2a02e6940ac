//! Bad input and faults, as their user meets them: what is said, what the exit code is, and that nothing is lost.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, Shown, each_trial_once, small, unsealed};
use bakeoff_model::record::{Failure, Outcome, TWIN};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

const TEN_MISTAKES: &str = include_str!("../../../../building/tests/data/ten-mistakes.toml");

#[test]
fn all_mistakes_of_a_study_are_shown_at_once_and_nothing_is_done() {
    let sandbox = Sandbox::new(TEN_MISTAKES);
    for command in ["run", "plan", "build"] {
        let shown = sandbox.execute(&[command, "STUDY"]);
        shown.expect(2, &["study.toml:3:1", "did you mean `question`?", "study.toml:34:14", "problems in"]);
    }
    assert!(!sandbox.study().join(".bakeoff").exists());
}

#[test]
fn a_study_that_is_not_there_is_an_error_with_a_hint() {
    let sandbox = small();
    sandbox.execute(&["run", "nowhere"]).expect(2, &["error: cannot read the study nowhere", "caused by:", "hint:"]);
    fs::remove_file(sandbox.study().join("hello.out")).unwrap();
    sandbox.execute(&["run", "STUDY"]).expect(2, &["hello.out", "expected output of workload `hello`", "hint:"]);
}

#[test]
fn words_that_fit_nothing_are_answered_with_those_that_would() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--plan", "quik"]).expect(2, &["no plan `quik`", "default"]);
    sandbox.execute(&["run", "STUDY", "--blocks", "0"]).expect(2, &["0 is not in 1"]);
    sandbox.execute(&["compare", "true", "true", "--metric", "wal"]).expect(2, &["invalid value 'wal'", "wall"]);
    sandbox.execute(&["report", "STUDY"]).expect(2, &["has not run yet", "hint: run the study: bakeoff run"]);
    for command in ["report", "gate", "power"] {
        sandbox.execute(&[command, "."]).expect(2, &["there is no study.toml in .", "a folder with"]);
    }
}

/// A study in which each variant builds a program that goes wrong in its own way.
fn wrong_in_every_way() -> Sandbox {
    let sandbox = Sandbox::new(
        r#"
format = 1
name = "wrong"
[build_factors.does]
well = { WHAT = "echo hello" }
exits = { WHAT = "echo hello; echo reason >&2; exit 1" }
dies = { WHAT = "echo hello; kill -9 $$" }
differs = { WHAT = "echo hullo" }
absent = { WHAT = "absent" }
unbuilt = { WHAT = "unbuilt" }
[[build]]
name = "script"
tools = []
script = '''
case $WHAT in
    unbuilt) echo cannot build this >&2; exit 7 ;;
    absent) mkdir -p "$PREFIX/bin" ;;
    *) mkdir -p "$PREFIX/bin"; printf '%s\n' '#!/bin/sh' "$WHAT" > "$PREFIX/bin/hello"; chmod +x "$PREFIX/bin/hello" ;;
esac
echo built > "$PREFIX/done"
'''
[workloads.hello]
run = 'exec "$PREFIX/bin/hello"'
expect = "hello.out"
[plan]
blocks = 6
[decide]
baseline = { does = "well" }
metrics = ["wall"]
"#,
    );
    sandbox.write("hello.out", "hello\n");
    sandbox
}

#[test]
fn each_way_to_go_wrong_is_told_and_the_study_goes_on() {
    let sandbox = wrong_in_every_way();
    let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--keep-going"]);
    shown.expect(4, &["cannot build this", "unbuilt", "exited with code 1: reason", "hullo"]);
    shown.expect(4, &["killed by signal 9 (SIGKILL)", "the output was wrong from line 1 on", "exited with code 127"]);
    assert!(shown.err.contains("does=absent will fail because workload hello cannot run: `"), "{}", shown.err);
    let record = sandbox.record();
    each_trial_once(&record, 6 * 6);
    let failures = |variant: &str| {
        let trials = record.trials.iter().filter(|t| t.variant == variant);
        let failed = trials.map(|t| match &t.outcome {
            Outcome::Failed(failure) => Some(failure.clone()),
            _ => None,
        });
        failed.collect::<Vec<_>>()
    };
    assert_eq!(failures("baseline"), vec![None; 6]);
    assert_eq!(failures(TWIN), vec![None; 6]);
    assert!(
        failures("does=exits")
            .iter()
            .all(|f| matches!(f, Some(Failure::Exit { code: 1, stderr }) if stderr == &["reason"]))
    );
    assert!(failures("does=dies").iter().all(|f| matches!(f, Some(Failure::Signal { signal: 9, .. }))));
    assert!(failures("does=differs").iter().all(|f| matches!(f, Some(Failure::WrongOutput { line: 1, .. }))));
    assert!(failures("does=absent").iter().all(|f| matches!(f, Some(Failure::Exit { code: 127, .. }))));
    assert!(!record.study.variants.iter().any(|v| v.name == "does=unbuilt"), "it cannot take part");
    assert!(record.made.iter().any(|b| b.variants == ["does=unbuilt"]), "but it is not forgotten");
}

#[test]
fn a_workload_that_is_not_found_is_noticed_before_the_first_trial() {
    let sandbox = small();
    for (run, said) in [
        ("slep 1", ["the baseline cannot run workload hello", "`slep` was not found in PATH", "did you mean `sleep`?"]),
        ("\"$PREFIX/bin/helo\" > out", ["/bin/helo` does not exist", "did you mean `", "/bin/hello`?"]),
    ] {
        sandbox.write("study.toml", &SMALL.replace("'\"$PREFIX/bin/hello\"'", &format!("'{run}'")));
        let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
        assert_eq!(shown.code, 2, "{}", shown.err);
        for said in said {
            assert!(shown.err.contains(said), "{said} is not in {}", shown.err);
        }
        assert!(!sandbox.study().join(".bakeoff/latest").exists(), "no journal was begun");
    }
}

#[test]
fn a_command_to_compare_that_is_not_found_is_noticed_before_the_first_trial() {
    let sandbox = small();
    let shown = sandbox.execute(&["compare", "slep 1", "sleep 1"]);
    assert_eq!((shown.code, shown.out.as_str()), (2, ""), "{}", shown.err);
    for said in ["error: cannot run `slep 1`: `slep` was not found in PATH", "hint: did you mean `sleep`?"] {
        assert!(shown.err.contains(said), "{said} is not in {}", shown.err);
    }
    // What a shell could make of it is the shell's to say: no alarm, but failed trials.
    let shown = sandbox.execute(&["compare", "-q", "-b", "3", "slep 1 || true", "true"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
}

#[test]
fn a_baseline_that_cannot_be_built_ends_the_study_and_says_why() {
    let sandbox = wrong_in_every_way();
    let text = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    sandbox.write("study.toml", &text.replace("does = \"well\"", "does = \"unbuilt\""));
    let shown = sandbox.execute(&["run", "STUDY", "--only", "does=well"]);
    shown.expect(4, &["the baseline cannot be built", "cannot build this", "full log"]);
}

#[test]
fn a_missing_compiler_fails_its_variants_only() {
    let sandbox = small();
    let text = SMALL
        .replace("LINES = \"echo hello; echo again >&2\"", "LINES = \"x\", CC = \"no-such-cc -m64\"")
        .replace("LINES = \"echo hello\"", "LINES = \"x\", CC = \"cc\"")
        .replace("mkdir -p \"$PREFIX/bin\"", "mkdir -p \"$PREFIX/bin\"; $CC --version; : $LINES");
    sandbox.write("study.toml", &text);
    sandbox.execute(&["plan", "STUDY"]).expect(0, &["will fail", "no-such-cc"]);
    sandbox.execute(&["build", "STUDY"]).expect(4, &["echo=twice: failed", "no-such-cc", "not on PATH"]);
    sandbox.execute(&["run", "STUDY"]).expect(4, &["nothing to compare"]);
}

#[test]
fn a_variant_that_is_meant_to_fail_is_an_outcome_with_its_reason() {
    let text = SMALL
        .replace("verify =", "verify = ['case $LINES in *bad*) echo ld: no such bond; false; esac'] #")
        .replace("[[build]]", "cure = { LINES = \"bad\", fails = \"no such bond\" }\n[[build]]");
    let sandbox = Sandbox::new(&text);
    sandbox.write("hello.out", "hello\n");
    let cure = ["echo=cure: cannot be built, as the study expects", "ld: no such bond"];
    sandbox.execute(&["build", "STUDY"]).expect(0, &cure);
    let why = ["cannot be built, as the study expects: echo=cure: layer script: ld: no such bond"];
    sandbox.execute(&["run", "STUDY"]).expect(0, &why);
    sandbox.execute(&["report", "STUDY"]).expect(0, &why);

    sandbox.write("study.toml", &text.replace("fails = \"no such", "fails = \"another"));
    let shown = sandbox.execute(&["run", "STUDY"]);
    shown.expect(4, &["not built: echo=cure", "expects a different failure, `another bond`"]);
    sandbox.write("study.toml", &text.replace("\"bad\"", "\"echo hello; :\""));
    sandbox.execute(&["build", "STUDY"]).expect(0, &["echo=cure: built", "although the study expects a failure"]);
    // It takes part in the blocks to come.
    let shown = sandbox.execute(&["run", "STUDY", "--blocks", "10"]);
    shown.expect(0, &[": built, although the study expects a failure with"]);
}

#[test]
fn a_source_whose_checksum_differs_is_refused_with_both_sums() {
    let sum = "0".repeat(64);
    let text = SMALL.replace(
        "[[build]]\nname = \"script\"",
        &format!(
            "[sources.words]\nfetch = 'echo other > \"$DOWNLOAD/words\"'\nsha256 = \"{sum}\"\n[[build]]\nname = \"script\"\nsource = \"words\""
        ),
    );
    let sandbox = Sandbox::new(&text);
    sandbox.write("hello.out", "hello\n");
    let other = Command::new("sh").args(["-c", "echo other | sha256sum"]).output().unwrap();
    let other = String::from_utf8(other.stdout).unwrap();
    let shown = sandbox.execute(&["run", "STUDY"]);
    shown.expect(4, &["the baseline cannot be built", "words", &sum, &other[..64], "study.toml"]);
}

#[test]
fn a_journal_of_a_newer_format_is_refused_and_kept() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let newer = unsealed(&sandbox.journal()).replacen("\"format\":1", "\"format\":99", 1);
    fs::write(sandbox.journal(), &newer).unwrap();
    for words in [&["run", "STUDY"][..], &["report", "STUDY"]] {
        let shown = sandbox.execute(words);
        assert_ne!(shown.code, 0);
        assert!(shown.err.contains("format 99"), "{}", shown.err);
    }
    assert_eq!(fs::read_to_string(sandbox.journal()).unwrap(), newer);
}

#[test]
fn a_torn_last_line_is_executed_again() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let whole = fs::read(sandbox.journal()).unwrap();
    fs::write(sandbox.journal(), &whole[..whole.len() - 40]).unwrap();
    sandbox.execute(&["report", "STUDY"]).expect(0, &["last line is incomplete"]);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &["removed the incomplete last line of"]);
    each_trial_once(&sandbox.record(), 8 * 3);
}

#[test]
fn damaged_and_doubled_lines_are_named_and_their_trials_run_again() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet"];
    sandbox.execute(&words).expect(0, &[]);
    let text = fs::read_to_string(sandbox.journal()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let trials: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with("{\"line\":\"trial\"")).collect();
    lines[trials[3]] = lines[trials[3]].replace("\"wall\":0.", "\"wall\":1.");
    lines[trials[5]] = lines[trials[4]].clone();
    fs::write(sandbox.journal(), lines.join("\n") + "\n").unwrap();
    let [damaged, doubled, first] = [trials[3], trials[5], trials[4]].map(|at| at + 1);
    let odd = [
        format!("line {damaged} is damaged, so it is ignored"),
        format!("line {doubled} repeats line {first}, so it is ignored"),
    ];
    let odd = odd.each_ref().map(String::as_str);
    sandbox.execute(&["report", "STUDY"]).expect(0, &odd);
    sandbox.execute(&words).expect(0, &odd);
    each_trial_once(&sandbox.record(), 8 * 3);
    sandbox.execute(&["report", "STUDY"]).expect(0, &odd);
}

#[test]
fn a_full_disk_stops_the_study_and_it_goes_on_when_there_is_space() {
    let sandbox = small();
    let state = sandbox.study().join(".bakeoff");
    fs::create_dir(&state).unwrap();
    let mount =
        |words: &[&str]| Command::new("mount").args(words).arg(&state).output().is_ok_and(|o| o.status.success());
    if !mount(&["-t", "tmpfs", "-o", "size=24k", "bakeoff-test"]) {
        println!("skipped: mounting a tmpfs needs root");
        return;
    }
    let full = sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "60"]);
    let grown = mount(&["-o", "remount,size=8m"]);
    let finished = sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "60"]);
    let record = sandbox.record();
    let unmounted = Command::new("umount").arg(&state).status().unwrap();
    assert!(grown && unmounted.success());
    full.expect(5, &["error: cannot", "hint: the disk is full; free some space"]);
    assert!(full.err.contains("No space left") || full.err.contains("no storage space"), "{}", full.err);
    finished.expect(0, &[]);
    each_trial_once(&record, 60 * 3);
}

#[test]
fn the_same_study_twice_at_once_is_refused_by_the_second() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "pause:0.05", "--blocks", "400"];
    let mut first = sandbox.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let second = loop {
        // The first has the lock as soon as the second is refused; until then the second would be the first.
        if sandbox.journals().is_empty() {
            std::thread::yield_now();
            continue;
        }
        break sandbox.execute(&words);
    };
    first.kill().unwrap();
    first.wait().unwrap();
    second.expect(2, &[&format!("process {}", first.id()), "hint:"]);
}

#[test]
fn an_interrupt_ends_after_the_trial_in_flight_and_the_next_command_goes_on() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "pause:0.02", "--blocks", "40"];
    let first = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while sandbox.trials_so_far() == 0 {
        std::thread::yield_now();
    }
    let interrupt = Command::new("kill").args(["-TERM", &first.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let shown = Shown::of(&first.wait_with_output().unwrap());
    shown.expect(130, &["stopped", "the same command again to resume"]);
    let trials = sandbox.record().trials.len();
    assert!((1..120).contains(&trials), "{trials}");
    sandbox.execute(&words).expect(0, &[]);
    each_trial_once(&sandbox.record(), 120);
    assert_eq!(sandbox.record().sessions.len(), 2);
}

/// Opening a pipe waits for its writer, and a device may never end.
#[test]
fn files_of_a_study_that_are_no_files_are_refused_at_once() {
    let fifo = |path: &std::path::Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let check = |name: &str, words: &[&str]| {
        let sandbox = crate::common::small();
        sandbox.execute(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]).expect(0, &[]);
        let path = sandbox.study().join(name);
        let _ = std::fs::remove_file(&path);
        fifo(&path);
        sandbox.execute(&["run", "STUDY", "--quiet"]).expect(2, words);
    };
    check("study.toml", &["cannot read the study", "not a regular file"]);
    check("study.lock", &["cannot read the lock file", "not a regular file"]);
    check("hello.out", &["the expected output of workload `hello`", "not a regular file"]);
    // Nobody wants to know which journal was the latest where there is a new one.
    let sandbox = crate::common::small();
    sandbox.execute(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]).expect(0, &[]);
    let latest = sandbox.study().join(".bakeoff/latest");
    std::fs::remove_file(&latest).unwrap();
    fifo(&latest);
    assert_ne!(sandbox.execute(&["report", "STUDY"]).code, 5);
    std::os::unix::fs::symlink("/dev/zero", sandbox.study().join("zero")).unwrap();
    sandbox.execute(&["plan", sandbox.study().join("zero").to_str().unwrap()]).expect(2, &["not a regular file"]);
    let large = std::fs::File::create(sandbox.study().join("large")).unwrap();
    large.set_len(100_000_000).unwrap();
    let words = ["cannot read the study", "it has 100000000 bytes, more than the limit of 16777216"];
    sandbox.execute(&["plan", sandbox.study().join("large").to_str().unwrap()]).expect(2, &words);
}

/// What a study, its names or its problems hold is shown, and never obeyed by a terminal.
#[test]
fn nothing_of_a_study_steers_the_terminal() {
    let sandbox = crate::common::small();
    let text = std::fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let harmless = |words: &[&str]| {
        let shown = sandbox.execute(words);
        for text in [&shown.out, &shown.err] {
            let harmful = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{200b}".contains(c);
            assert!(!text.contains(harmful), "{words:?}: {text:?}");
        }
        shown
    };
    for (from, to) in [
        ("expect = \"hello.out\"", "oracle = \"\\u001b[31mred\\u009b1m\""),
        ("expect = \"hello.out\"", "oracle = \"\u{202e}\u{200b}\""),
        ("[plan]", "[conditions.busy]\ncopies = 1\nof = { command = \"\\u001b[31mred\" }\n[plan]"),
        ("baseline = { echo = \"once\" }", "baseline = { echo = \"\\u001b[2Jonce\" }"),
        ("metrics = [\"wall\"", "metrics = [\"\\u001b]0;x\\u0007\""),
        ("blocks = 8", "\u{9b}31m = 8"),
        ("blocks = 8", "\"\\u001b[31m\" = 8"),
    ] {
        assert!(text.contains(from), "{from}");
        sandbox.write("study.toml", &text.replace(from, to));
        harmless(&["plan", "STUDY"]);
        harmless(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]);
    }
    sandbox.write("study.toml", &text);
    sandbox.write(".bakeoff/latest", "\u{1b}[31m.jsonl");
    harmless(&["report", "STUDY"]);
    std::fs::write(sandbox.path().join("values"), "\u{1b}[31mx\n").unwrap();
    harmless(&["stat", sandbox.path().join("values").to_str().unwrap()]);
    harmless(&["plan", "\u{1b}[31mnowhere"]);
    harmless(&["plan", "--\u{1b}[31mnowhere"]);
}

/// Wherever it is found, a full disk is one thing: of the cache too, while something is built.
#[test]
fn a_full_cache_has_the_same_exit_code_and_the_same_words() {
    let sandbox = small();
    let cache = sandbox.path().join("cache");
    fs::create_dir(&cache).unwrap();
    let mount =
        |words: &[&str]| Command::new("mount").args(words).arg(&cache).output().is_ok_and(|o| o.status.success());
    if !mount(&["-t", "tmpfs", "-o", "size=300k", "bakeoff-test"]) {
        println!("skipped: mounting a tmpfs needs root");
        return;
    }
    let study = SMALL.replace("chmod +x", "head -c 1000000 /dev/zero > \"$PREFIX/big\"\nchmod +x");
    sandbox.write("study.toml", &study);
    let full = sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]);
    let grown = mount(&["-o", "remount,size=20m"]);
    let finished = sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]);
    let unmounted = Command::new("umount").arg(&cache).status().unwrap();
    assert!(grown && unmounted.success());
    full.expect(5, &["the disk is full", "hint: the disk is full; free some space"]);
    finished.expect(0, &["6 of 6 blocks"]);
}

/// Standard output that takes nothing.
fn full() -> Stdio {
    Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap())
}

#[test]
fn output_that_cannot_be_written_is_an_error_of_every_command() {
    let sandbox = small();
    let words = ["run", "STUDY", "--quiet", "--simulate=noise:0.01,seed:3"];
    let ended = |words: &[&str], stdout: Stdio| {
        Shown::of(&sandbox.command_as_typed(words).stdout(stdout).stderr(Stdio::piped()).output().unwrap())
    };
    ended(&words, full()).expect(5, &["cannot write to standard output", "No space left"]);
    fs::write(sandbox.path().join("numbers"), "1\n2\n4\n").unwrap();
    fs::write(sandbox.path().join("claims"), "a avg 1.0 sd 0.1 n 10\nb avg 2.0 sd 0.1 n 10\n").unwrap();
    let commands: [&[&str]; 14] = [
        &["report", "STUDY"],
        &["report", "STUDY", "--json"],
        &["report", "STUDY", "--html", "-"],
        // A gate that fails is less than an answer that nobody could read.
        &["report", "STUDY", "--gate", "0.001%"],
        &["gate", "STUDY", "--max-slowdown", "2%"],
        &["power", "STUDY"],
        &["plan", "STUDY"],
        &["stat", "numbers", "numbers"],
        &["check-summary", "claims"],
        &["doctor"],
        &["cache"],
        &["completions", "bash"],
        &["compare", "true", "true", "--blocks", "3", "--quiet"],
        &["report", "--help"],
    ];
    for words in commands {
        let shown = ended(words, full());
        shown.expect(5, &["cannot write to standard output"]);
        assert_eq!(shown.err.matches("cannot write").count(), 1, "{words:?}: {}", shown.err);
    }
}

#[test]
fn a_reader_that_goes_away_ends_a_command_as_it_ends_other_tools() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet", "--simulate=noise:0.0001,echo=twice:1.5,seed:3"]).expect(0, &[]);
    fs::write(sandbox.path().join("numbers"), "1\n2\n4\n").unwrap();
    let ended = |words: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox.command_as_typed(words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        output.status
    };
    let commands: [&[&str]; 4] = [
        &["report", "STUDY"],
        &["gate", "STUDY", "--max-slowdown", "90%"],
        &["stat", "numbers", "numbers"],
        &["report", "--help"],
    ];
    for words in commands {
        assert_eq!(ended(words).signal(), Some(13), "{words:?}");
    }
    assert_eq!(ended(&["gate", "STUDY", "--max-slowdown", "2%"]).code(), Some(1), "that it fails is more");
}

#[test]
fn a_study_whose_trials_are_all_void_has_measured_nothing() {
    let sandbox = Sandbox::new(&SMALL.replace("seed = 178", "void_if = { load = \">3\" }"));
    sandbox.write("hello.out", "hello\n");
    sandbox.execute(&["run", "STUDY", "--quiet", "--simulate=void:1"]).expect(4, &["void"]);
    sandbox.execute(&["report", "STUDY"]).expect(4, &["void"]);
}

#[test]
fn where_everything_fails_the_screen_shows_the_first_reason() {
    let sandbox = Sandbox::new(
        "format = 1\nname = \"x\"\n[run_factors.a]\nb = { A = \"1\" }\nc = { A = \"2\" }\n[workloads.w]\n\
         run = \"echo no such table $A >&2; exit 3\"\n[plan]\nblocks = 6\n[decide]\nbaseline = { a = \"b\" }\n",
    );
    let shown = Shown::of(&sandbox.command_as_typed(&["run", "STUDY", "--quiet"]).output().unwrap());
    shown.expect(4, &["no answer: every trial failed or is void; first failed trial: exited with code 3: no such"]);
    let build = |works: &str| {
        Sandbox::new(&format!(
            "format = 1\nname = \"x\"\n[build_factors.a]\nb = {{ A = \"1\" }}\nc = {{ A = \"2\" }}\n[[build]]\nname = \"p\"\n\
             tools = []\nscript = 'test {works} = $A || {{ echo \"p.c: error: bad $A\"; exit 3; }}; echo > $PREFIX/x'\n\
             [workloads.w]\nrun = \"true\"\n[decide]\nbaseline = {{ a = \"b\" }}\n"
        ))
    };
    let only = [
        "only the baseline could be built",
        "a=c: layer p: the script exited 3",
        "p.c: error: bad 2",
        "full log is in",
    ];
    build("1").execute(&["run", "STUDY"]).expect(4, &only);
    build("0").execute(&["run", "STUDY"]).expect(4, &["the baseline cannot be built: layer p", "p.c: error: bad 1"]);
}
