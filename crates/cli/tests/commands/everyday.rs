//! Everyday jobs: commands without a subcommand, the options that hyperfine's users type, and what stands around
//! trials.

use crate::common::{Sandbox, Shown};
use bakeoff_model::record::{Outcome, Record};
use std::fs;

fn anywhere() -> Sandbox {
    Sandbox::new("")
}

/// `bakeoff` with these words as they are, in the sandbox's folder.
fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

fn log(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path().join("log")).unwrap_or_default()
}

/// The record that a comparison with these words leaves.
fn record(sandbox: &Sandbox, words: &[&str]) -> Record {
    let words: Vec<&str> = words.iter().copied().chain(["--journal", "j.jsonl", "--quiet"]).collect();
    let shown = typed(sandbox, &words);
    let read = bakeoff_journal::read(&sandbox.path().join("j.jsonl"));
    read.unwrap_or_else(|error| panic!("{error}: {shown:?}")).record
}

/// The help of hyperfine 1.20.0 and 2.0.0, option by option, with a value as its users give it; but for [`REFUSED`].
const OF_HYPERFINE: &[&[&str]] = &[
    &["-w", "1"],
    &["--warmup", "1"],
    &["-m", "3"],
    &["--min-runs", "3"],
    &["-M", "3"],
    &["--max-runs", "3"],
    &["-r", "3"],
    &["--runs", "3"],
    &["-s", "true"],
    &["--setup", "true"],
    &["--reference", "true"],
    &["--reference", "true", "--reference-name", "R"],
    &["-p", "true"],
    &["--prepare", "true"],
    &["-C", "true"],
    &["--conclude", "true"],
    &["-c", "true"],
    &["--cleanup", "true"],
    &["-P", "x", "1", "2", "true {x}"],
    &["--parameter-scan", "x", "1", "2", "-D", "0.5", "true {x}"],
    &["--parameter-scan", "x", "1", "2", "--parameter-step-size", "1", "true {x}"],
    &["-L", "x", "a,b", "true {x}"],
    &["--parameter-list", "x", "a,b", "true {x}"],
    &["-S", "sh"],
    &["--shell", "bash --norc"],
    &["--shell=none"],
    &["--shell", "default"],
    &["-N"],
    &["-i"],
    &["--ignore-failure"],
    &["--ignore-failure=1,2"],
    &["--ignore-failure=all-non-zero"],
    &["--style", "basic"],
    &["--style", "full"],
    &["--style", "nocolor"],
    &["--style", "color"],
    &["--style", "none"],
    &["--sort", "auto"],
    &["--sort", "command"],
    &["--sort", "mean-time"],
    &["-u", "second"],
    &["--time-unit", "microsecond"],
    &["--export-csv", "export"],
    &["--export-json", "export"],
    &["--export-markdown", "export"],
    &["--show-output"],
    &["--output", "null"],
    &["--output=pipe"],
    &["--output", "null", "--output", "null"],
    &["--metrics", "time"],
    &["--metrics", "time_user,memory_peak_resident"],
    &["--env", "A=1 B=\"x y\""],
    &["--env", ""],
    &["--output", "inherit"],
    &["--input", "null"],
    &["--input", "study/study.toml"],
    &["-n", "a", "-n", "b"],
    &["--command-name", "a", "--command-name", "b"],
];

/// Formats of hyperfine that Bakeoff does not write.
const REFUSED: &[&[&str]] = &[&["--export-asciidoc", "export"], &["--export-orgmode", "export"]];

#[test]
fn every_option_of_hyperfine_is_accepted_or_refused_with_a_remedy() {
    let sandbox = anywhere();
    for words in OF_HYPERFINE {
        let is_extent = ["-m", "--min-runs", "-M", "--max-runs", "-r", "--runs"].contains(&words[0]);
        let blocks: &[&str] = if is_extent { &[] } else { &["--blocks", "3"] };
        let all: Vec<&str> = words.iter().chain(&["true", "true"]).chain(blocks).copied().collect();
        let shown = typed(&sandbox, &all);
        assert_eq!(shown.code, 0, "{all:?}: {shown:?}");
        assert_eq!(shown.out.is_empty(), words.contains(&"none"), "{all:?}");
    }
    for words in REFUSED {
        typed(&sandbox, &[words, &["true", "true"][..]].concat()).expect(2, &[words[0], "hint: use --export-markdown"]);
    }
}

/// Other versions may have other options: whoever has one learns that it was not tried.
#[test]
#[allow(clippy::print_stdout, reason = "it says which version it tried")]
fn the_options_of_an_installed_hyperfine_are_those_that_are_known() {
    let known: Vec<&str> = OF_HYPERFINE.iter().chain(REFUSED).flat_map(|words| *words).copied().collect();
    for name in ["hyperfine", "hyperfine-1.20.0", "hyperfine-2.0.0"] {
        let said = |option| std::process::Command::new(name).arg(option).output();
        let Ok(version) = said("--version") else {
            println!("{name} is not installed, and was not tried");
            continue;
        };
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        println!("tried: {version}");
        assert!(["hyperfine 1.20.0", "hyperfine 2.0.0"].contains(&version.as_str()), "not tried with {version}");
        let help = said("--help").unwrap_or_else(|error| panic!("{error}"));
        for line in String::from_utf8_lossy(&help.stdout).lines().filter(|line| line.trim_start().starts_with('-')) {
            let options = line.split([' ', ',', '[', '=']).filter(|word| word.starts_with("--") && word.len() > 2);
            for option in options.filter(|option| !["--help", "--version"].contains(option)) {
                assert!(known.iter().any(|word| word.split('=').next() == Some(option)), "{version}: {option}");
            }
        }
    }
}

#[test]
fn a_parameter_may_stand_in_the_setup_or_the_name_alone() {
    let sandbox = anywhere();
    let words = ["-L", "br", "a,b", "--setup", "echo {br} > branch", "cat branch", "--blocks", "3"];
    let record = record(&sandbox, &[&words[..], &["--output", "varies"]].concat());
    let names: Vec<&str> = record.study.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["br=a", "br=b"]);
    // Each trial finds its own branch, although they alternate.
    for trial in record.trials.iter().filter(|trial| trial.variant != "twin") {
        let mut same = record.trials.iter().filter(|other| other.variant == trial.variant);
        assert!(same.all(|other| other.output == trial.output), "{}", trial.variant);
    }
    typed(&sandbox, &["-L", "v", "1,2", "-n", "v-{v}", "true {v}", "--blocks", "3"]).expect(0, &["v-1", "v-2"]);
    typed(&sandbox, &["-L", "v", "1,2", "true"]).expect(2, &["no command has `{v}`"]);
}

#[test]
fn what_is_refused_names_the_remedy() {
    let sandbox = anywhere();
    typed(&sandbox, &["-m", "60", "--until", "decided", "true", "true"]).expect(2, &["cannot be used with", "--until"]);
    typed(&sandbox, &["--output", "null", "--output", "pipe", "true", "true"])
        .expect(2, &["it applies to all commands", "hint:"]);
    typed(&sandbox, &["--env", "A=1", "true", "--env", "A=2", "true"])
        .expect(2, &["--env can set A to only", "env A=1"]);
    typed(&sandbox, &["--env", "A={n}", "-P", "n", "1", "2", "true {n}"]).expect(2, &["--env can set A", "env A={n}"]);
    typed(&sandbox, &["--metrics", "time_cpu:ms", "true", "true"]).expect(2, &["`time_cpu:ms`", "--time-unit"]);
    typed(&sandbox, &["--output", "file", "true", "true"]).expect(2, &["write the command as 'COMMAND > file'"]);
    typed(&sandbox, &["--input", "absent", "true", "true"]).expect(2, &["the input absent", "hint:"]);
    typed(&sandbox, &["--cwd", "absent", "true", "true"]).expect(2, &["absent is not a folder", "hint:"]);
    typed(&sandbox, &["-N", "echo 'a", "true"]).expect(2, &["cannot be split into words", "hint:"]);
    typed(&sandbox, &["-S", "'", "true"]).expect(2, &["is not a shell", "hint:"]);
    typed(&sandbox, &["-S", "bosh", "true", "true"]).expect(2, &["`bosh` was not found in PATH"]);
    typed(&sandbox, &["--env", "A", "true", "true"]).expect(2, &["a variable and its value"]);
    let unknown = typed(&sandbox, &["--warm", "true", "true"]);
    unknown.expect(2, &["unexpected argument '--warm'", "--warmup"]);
    assert!(!unknown.err.contains("-- --warm"), "a flag is no program: {}", unknown.err);
    typed(&sandbox, &["rum", "x"]).expect(2, &["unrecognized subcommand 'rum'", "'run'"]);
}

#[test]
fn one_command_is_described() {
    let sandbox = anywhere();
    typed(&sandbox, &["sleep 0.001", "--runs", "8"]).expect(0, &["how long does it take?", "sleep 0.001 takes "]);
}

#[test]
fn what_stands_around_trials_comes_in_its_order() {
    let sandbox = anywhere();
    let step = |name: &str| format!("echo {name} >> log");
    let [setup, prepare, conclude, cleanup] = ["setup", "prepare", "conclude", "cleanup"].map(step);
    let shown = typed(
        &sandbox,
        &[
            "echo run >> log",
            "--warmup",
            "2",
            "--setup",
            &setup,
            "--prepare",
            &prepare,
            "--conclude",
            &conclude,
            "--cleanup",
            &cleanup,
            "--runs",
            "3",
        ],
    );
    shown.expect(0, &[]);
    // Two that warm up; three blocks of the command and its twin; and a traced run.
    let trial = "prepare\nrun\nconclude\n";
    assert_eq!(log(&sandbox), format!("setup\n{}cleanup\n", trial.repeat(2 + 3 * 2 + 1)));
}

#[test]
fn what_fails_around_trials_fails_them_or_is_noted() {
    let failed = |words: &[&str], part: &str| {
        let sandbox = anywhere();
        let words: Vec<&str> =
            ["true", "true", "-n", "a", "-n", "b", "--blocks", "3"].iter().chain(words).copied().collect();
        let record = record(&sandbox, &words);
        let failed = |trial: &&bakeoff_model::record::Trial| format!("{:?}", trial.outcome).contains(part);
        let all: Vec<&str> = record.trials.iter().filter(failed).map(|trial| trial.variant.as_str()).collect();
        assert_eq!(all, ["b"; 3], "{part}");
    };
    failed(&["--setup", "true", "--setup", "echo no >&2; exit 7"], "setup");
    failed(&["--prepare", "true", "--prepare", "exit 7"], "prepare");
    failed(&["--conclude", "true", "--conclude", "exit 7"], "conclude");
    let sandbox = anywhere();
    let shown = typed(&sandbox, &["true", "true", "--cleanup", "echo left >&2; exit 7", "--blocks", "3"]);
    shown.expect(0, &["note: the cleanup of true failed: it exited with 7: left"]);
}

#[test]
fn exit_codes_input_shell_and_environment_are_as_asked() {
    let sandbox = anywhere();
    sandbox.write("in", "a\nb\n");
    let ok = |words: &[&str]| {
        let _ = fs::remove_file(sandbox.path().join("j.jsonl"));
        let words: Vec<&str> = words.iter().copied().chain(["--blocks", "3"]).collect();
        let record = record(&sandbox, &words);
        assert_eq!(record.trials.len(), 9);
        record.trials.iter().all(|trial| trial.outcome == Outcome::Ok)
    };
    assert!(ok(&["sh -c 'exit 3'", "true", "-i"]) && ok(&["sh -c 'exit 3'", "true", "--ignore-failure=3"]));
    assert!(!ok(&["sh -c 'exit 3'", "true", "--ignore-failure=4"]));
    let two = "test $(wc -l) = 2";
    assert!(ok(&[two, two, "--input", "study/in"]) && !ok(&[two, two]));
    assert!(ok(&["[[ a == a ]]", "true", "--shell", "bash"]));
    assert!(ok(&["test 'a b' = 'a b'", "true", "-N"]));
    assert!(ok(&["test \"$X$Y\" = 1=", "true", "--env", "X=1", "--env", "Y=="]));
    assert!(ok(&["test -e study.toml", "true", "--cwd", "study"]));
}

#[test]
fn what_commands_print_is_shown_where_that_is_asked_for() {
    let sandbox = anywhere();
    let shown = typed(&sandbox, &["echo seen; echo other >&2", "--show-output", "--runs", "3"]);
    assert_eq!((shown.err.matches("seen").count(), shown.err.matches("other").count()), (6, 6), "{shown:?}");
}

#[test]
fn who_fails_from_the_first_block_on_stops_and_goes_on_where_asked() {
    let sandbox = anywhere();
    let words = ["compare", "true", "false", "sleep 0.001", "--journal", "j.jsonl", "--blocks"];
    let of = |more: &[&str]| typed(&sandbox, &words.iter().chain(more).copied().collect::<Vec<_>>());
    of(&["6"]).expect(4, &["note: false failed in each of its first 3 blocks", "--keep-going"]);
    let trials = || {
        let record = bakeoff_journal::read(&sandbox.path().join("j.jsonl")).unwrap().record;
        record.trials.iter().filter(|trial| trial.variant == "false").count()
    };
    assert_eq!(trials(), 3);
    let again = of(&["6"]);
    assert!(again.code == 4 && !again.out.contains("so far"), "it is complete: {again:?}");
    of(&["8", "--keep-going"]).expect(4, &[]);
    assert_eq!(trials(), 5, "it takes part in the two blocks that were added");
}

#[test]
fn the_manual_and_the_completions_know_every_command() {
    let sandbox = anywhere();
    typed(&sandbox, &["manual", "man1"]).expect(0, &[]);
    assert!(sandbox.path().join("man1/bakeoff-studies-copy.1").exists());
    let page = fs::read_to_string(sandbox.path().join("man1/bakeoff-compare.1")).unwrap();
    assert!(page.contains("warmup") && sandbox.path().join("man1/bakeoff.1").exists(), "{page}");
    for shell in ["bash", "fish", "zsh"] {
        typed(&sandbox, &["completions", shell]).expect(0, &["compare", "warmup"]);
    }
    sandbox.write("file", "");
    typed(&sandbox, &["manual", "study/file"]).expect(2, &["cannot write the manual to study/file", "hint:"]);
}

/// A study of levels that only say what they are, simulated as planted.
fn simulated(levels: &[&str], more: &str, truth: &str) -> String {
    let levels: String = levels.iter().map(|level| format!("{level} = {{ X = \"{level}\" }}\n")).collect();
    let sandbox = Sandbox::new(&format!(
        "format = 1\nname = \"s\"\n[run_factors.x]\n{levels}[workloads.w]\nrun = 'true'\n{more}\n[plan]\nblocks = 12\nseed = 3\n\
         [decide]\nbaseline = {{ x = \"a\" }}\nmetrics = [\"wall\"]\nmargin = \"5%\"\n"
    ));
    let shown = sandbox.command_as_typed(&["run", "STUDY", "--quiet", "--simulate", truth]).output().unwrap();
    let shown = Shown::of(&shown);
    assert_eq!(shown.code, 0, "{shown:?}");
    shown.out.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn the_last_line_names_the_largest_loss_and_says_by_how_much_nothing_is_better() {
    let check = |levels: &[&str], truth: &str, parts: &[&str]| {
        let answer = simulated(levels, "", truth);
        for part in parts {
            assert!(answer.contains(part), "{part}: {answer}");
        }
    };
    check(
        &["a", "b", "c"],
        "noise:0.05,x=b:1.0,x=c:8,seed:2",
        &["nothing is shown to be faster", "c takes 8.", "× as long"],
    );
    check(&["a", "b", "c"], "noise:0.0002,x=b:0.4,x=c:2.8,seed:2", &["b is the fastest: 2.50 × as fast"]);
    check(&["a", "b", "c"], "noise:0.001,x=b:0.962,x=c:1.0,seed:2", &["equivalent", "±5 %"]);
    let parts = ["nothing is shown to be faster", "by more than 5 %", "c "];
    check(&["a", "b", "c", "d"], "noise:0.0001,x=b:0.962,x=c:1.8,x=d:1.0001,seed:2", &parts);
    check(&["a", "b", "c"], "noise:0.001,x=b:1.5,x=c:8,seed:2", &["the baseline is the fastest", "c takes 8."]);
}

#[test]
fn a_name_that_is_empty_is_refused() {
    let sandbox = anywhere();
    for words in [["-n", ""], ["--reference-name", " "]] {
        let names: &[&str] = if words[0] == "-n" { &["-n", "a"] } else { &["-n", "a", "-n", "b"] };
        let words = [&["true", "true", "--reference", "true"][..], names, &words].concat();
        typed(&sandbox, &words).expect(2, &["a name is empty", "hint: omit --name"]);
    }
    let words = ["-L", "v", "1,", "-n", "{v}", "echo {v}"];
    typed(&sandbox, &words).expect(2, &["a name is empty", "hint: omit --name"]);
}
