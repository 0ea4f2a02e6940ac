//! Evidence, end to end: a study of a compiled program whose variants look for different numbers of files. It is gathered
//! after the last trial, once, also later, also after a `kill -9`; what is made of it is in the tests of `analysis`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, each_trial_once};
use bakeoff_model::record::{Failure, Line, Record};
use bakeoff_why::evidence::{Evidence, EvidenceLine, Traced, of};
use bakeoff_why::facts::{Content, FileFacts};
use std::process::Stdio;

const STUDY: &str = r#"
format = 1
name = "looks"
[build_factors.looks]
none = { LOOKS = "0" }
seven = { LOOKS = "7" }
[run_factors.word]
short = { WORD = "a" }
long = { WORD = "aaaaaaaa" }
[[build]]
name = "p"
tools = ["cc"]
files = ["p.c"]
script = 'mkdir -p "$PREFIX/bin" "$PREFIX/share"; echo text > "$PREFIX/share/text"; cc -DLOOKS=$LOOKS -o "$PREFIX/bin/p" p.c'
[workloads.look]
run = '"$PREFIX/bin/p" "$PREFIX/share/text" $WORD'
expect = "look.out"
[workloads.other]
run = '"$PREFIX/bin/p" "$PREFIX/share/text"'
[plan]
blocks = 3
layouts = "one"
variants = "one-at-a-time"
[decide]
baseline = { looks = "none", word = "short" }
metrics = ["wall"]
"#;
const EVIDENCE: &str = "[evidence]\nfacts = [\"bin/*\", \"share/*\", \"**/*.so\"]\ntrace = [\"look\"]\n";
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <stdio.h>
int main(int words, char **word) {
    int found = open(word[1], O_RDONLY) >= 0;
    for (int i = 0; i < LOOKS; i++)
        open("/nowhere/at/all", O_RDONLY);
    printf("%d\n", found);
    return 0;
}
"#;
/// 3 variants and the twin, 3 blocks of 2 workloads.
const TRIALS: usize = 4 * 3 * 2;
const VARIANTS: [&str; 3] = ["baseline", "looks=seven", "word=long"];

fn sandbox(more: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!("{STUDY}{more}"));
    sandbox.write("look.out", "1\n");
    sandbox.write("p.c", PROGRAM);
    sandbox
}

fn lines(sandbox: &Sandbox) -> Vec<Line> {
    let text = std::fs::read_to_string(sandbox.journal()).unwrap();
    text.lines().map(|line| Line::read(line.as_bytes()).unwrap()).collect()
}

fn line_of(record: &Record, variant: &str, workload: Option<&str>) -> EvidenceLine {
    let line = of(record).into_iter().find(|line| line.subject() == (variant, workload));
    line.unwrap_or_else(|| panic!("there is no evidence of {variant}, {workload:?}"))
}

fn facts(record: &Record, variant: &str) -> Vec<FileFacts> {
    match line_of(record, variant, None).evidence {
        Evidence::Facts(files) => files,
        other => panic!("{other:?}"),
    }
}

fn traced(record: &Record, variant: &str) -> Traced {
    match line_of(record, variant, Some("look")).evidence {
        Evidence::Traced(traced) => *traced,
        other => panic!("{other:?}"),
    }
}

/// All of it is there, once, and says what the programs do.
#[track_caller]
fn all_is_gathered(sandbox: &Sandbox) {
    let lines = lines(sandbox);
    let mut subjects: Vec<_> = vec![];
    for line in &lines {
        if let Line::Feature(line) = line {
            let line: EvidenceLine = line.fields().unwrap();
            let subject = (line.variant.clone(), line.subject().1.map(str::to_owned));
            assert!(!subjects.contains(&subject), "{subject:?} stands there twice");
            subjects.push(subject);
        }
    }
    let all = |workload: Option<&str>| VARIANTS.map(|variant| (variant.to_owned(), workload.map(str::to_owned)));
    assert_eq!(subjects, [all(None), all(Some("look"))].concat());
    let record = sandbox.record();
    each_trial_once(&record, TRIALS);
    for (variant, looks) in VARIANTS.into_iter().zip([0, 7, 0]) {
        let traced = traced(&record, variant);
        assert_eq!((traced.workload.as_str(), &traced.failure), ("look", &None));
        let missed = traced.command.opened.iter().find(|opened| opened.path == "/nowhere/at/all");
        assert_eq!(missed.map_or((0, 0), |opened| (opened.found, opened.missed)), (0, looks), "{variant}");
        let text = traced.command.opened.iter().find(|opened| opened.path == "$PREFIX/share/text").unwrap();
        assert_eq!((text.found, text.missed), (1, 0));
        assert!(traced.command.mapped.iter().any(|file| file.path == "$PREFIX/bin/p" && file.executable), "{traced:?}");
        assert!(traced.command.mapped.iter().any(|file| file.path.contains("libc") && file.executable), "{traced:?}");

        let [file] = &facts(&record, variant)[..] else { panic!("{:?}", facts(&record, variant)) };
        let Content::Elf(elf) = &file.content else { panic!("{file:?}") };
        assert_eq!(file.path, "bin/p", "a text has no facts");
        assert!(elf.linking.needed.iter().any(|library| library.starts_with("libc.")));
        assert!(elf.sections.is_empty() && elf.relocations.jump_slots.own_names.is_none());
    }
    let calls = |variant: &str| traced(&record, variant).command.syscalls["openat"].count;
    assert_eq!(calls("looks=seven"), calls("baseline") + 7);
    assert_eq!(calls("word=long"), calls("baseline"));
}

#[test]
fn evidence_follows_the_last_trial_and_is_gathered_once() {
    let sandbox = sandbox(EVIDENCE);
    sandbox.execute(&["run", "STUDY"]).expect(0, &["evidence: look of baseline, 1 of 3", "of word=long, 3 of 3"]);
    let lines = lines(&sandbox);
    // What trials run is looked at once more after the last one.
    let last_trial = lines.iter().rposition(|line| matches!(line, Line::Trial(_) | Line::Checked(_))).unwrap();
    // The study's own line has the files that trials use.
    let of_features: Vec<_> = lines[last_trial + 1..].iter().filter(|line| !matches!(line, Line::Study(_))).collect();
    assert!(of_features.iter().all(|line| matches!(line, Line::Feature(_))), "{lines:?}");
    assert_eq!(of_features.len(), 6);
    all_is_gathered(&sandbox);
    assert_eq!(sandbox.record().sessions.len(), 1);

    let before = std::fs::read(sandbox.journal()).unwrap();
    let again = sandbox.execute(&["run", "STUDY"]);
    assert!(again.code == 0 && !again.err.contains("evidence"), "{}", again.err);
    assert_eq!(std::fs::read(sandbox.journal()).unwrap(), before, "nothing is left to be gathered");
}

#[test]
fn what_is_asked_for_later_is_gathered_without_other_trials() {
    let sandbox = sandbox("");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let shown = sandbox.execute(&["report", "STUDY", "--json"]).out;
    let before = sandbox.record();
    assert_eq!(of(&before), []);

    sandbox.write("study.toml", &format!("{STUDY}[evidence]\nfacts = [\"bin/*\"]\n"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    assert_eq!(of(&sandbox.record()).len(), 3);
    sandbox.write("study.toml", &format!("{STUDY}{EVIDENCE}"));
    let gathered = sandbox.execute(&["run", "STUDY", "--quiet"]);
    assert!(gathered.code == 0 && gathered.err.is_empty(), "{}", gathered.err);
    all_is_gathered(&sandbox);
    let after = sandbox.record();
    assert_eq!(after.trials, before.trials);
    assert_eq!(traced_sessions(&after), [3], "each call that gathered something is a session");

    // The trials say what they said before.
    let findings = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["tables"].clone();
    let now = sandbox.execute(&["report", "STUDY", "--json"]).out;
    assert_eq!(findings(&now), findings(&shown));
}

fn traced_sessions(record: &Record) -> Vec<u32> {
    let evidence = of(record);
    let traced = evidence.iter().filter(|line| matches!(line.evidence, Evidence::Traced(_)));
    let mut sessions: Vec<u32> = traced.map(|line| line.session).collect();
    sessions.dedup();
    sessions
}

#[test]
fn other_files_are_read_when_other_files_are_asked_for() {
    let sandbox = sandbox("[evidence]\nfacts = [\"lib/*\"]\n");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    assert!(VARIANTS.iter().all(|variant| facts(&record, variant).is_empty()), "{:?}", of(&record));
    sandbox.write("study.toml", &format!("{STUDY}[evidence]\nfacts = [\"bin/*\"]\n"));
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    assert!(VARIANTS.iter().all(|variant| facts(&record, variant).len() == 1), "{:?}", of(&record));
}

#[test]
fn a_kill_between_two_diagnostic_trials_loses_nothing() {
    let sandbox = sandbox(EVIDENCE);
    for gathered in [1, 4, 5] {
        let mut child = sandbox.command(&["run", "STUDY", "--quiet"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let so_far = || {
            let journals = sandbox.journals();
            let contents = journals.first().and_then(|path| bakeoff_journal::read(path).ok());
            contents.map_or(0, |contents| of(&contents.record).len())
        };
        while so_far() < gathered && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    all_is_gathered(&sandbox);
}

/// The study, with something that its traced workload does first where it is traced.
fn traced_does_first(what: &str) -> Sandbox {
    let sandbox = sandbox("");
    let run = format!("run = '''grep -q 'TracerPid:.0$' /proc/self/status || {what}; \"$PREFIX/bin/p\"");
    let study = format!("{STUDY}{EVIDENCE}").replacen("run = '\"$PREFIX/bin/p\"", &run, 1);
    sandbox.write("study.toml", &study.replacen("$WORD'", "$WORD'''", 1));
    sandbox
}

#[test]
fn an_interrupt_ends_a_diagnostic_trial_and_the_next_command_goes_on() {
    // Not in the study's folder: a file that a command names there counts.
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let path = seen.display();
    let sandbox = traced_does_first(&format!("test -e {path} || {{ touch {path}; exec sleep 1000; }}"));
    let mut child = sandbox.command(&["run", "STUDY", "--quiet"]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !seen.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::yield_now();
    }
    let interrupt = std::process::Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status();
    assert!(interrupt.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record = sandbox.record();
    each_trial_once(&record, TRIALS);
    assert_eq!(of(&record).len(), 3, "the facts are there, and no trial that was interrupted");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let after = sandbox.record();
    assert_eq!((&after.trials, of(&after).len()), (&record.trials, 6));
    assert!(VARIANTS.iter().all(|variant| traced(&after, variant).failure.is_none()), "{:?}", of(&after));
}

#[test]
fn a_workload_that_fails_when_it_is_traced_fails_no_study() {
    let sandbox = traced_does_first("exit 9");
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let record = sandbox.record();
    each_trial_once(&record, TRIALS);
    for variant in VARIANTS {
        let traced = traced(&record, variant);
        assert!(matches!(traced.failure, Some(Failure::Exit { code: 9, .. })), "{:?}", traced.failure);
        assert!(traced.command.syscalls["execve"].count > 0, "what was seen until then is kept");
    }
}

#[test]
fn evidence_travels_with_its_journal() {
    let sandbox = sandbox(EVIDENCE);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &[]);
    let report = sandbox.execute(&["report", "STUDY", "--json"]).out;
    sandbox.execute(&["export", "STUDY", "-o", "parcel.tar.zst"]).expect(0, &[]);
    sandbox.execute(&["import", "parcel.tar.zst"]).expect(0, &[]);
    assert_eq!(sandbox.execute(&["report", "looks", "--json"]).out, report);
}

#[test]
fn tracer_and_watcher_are_no_commands_for_people() {
    let sandbox = sandbox("");
    let help = sandbox.execute(&["--help"]);
    for command in ["trace-trial", "watch-trial"] {
        assert!(help.code == 0 && !help.out.contains(command), "{}", help.out);
        sandbox.execute(&[command, "no-such-order"]).expect(5, &["error:"]);
    }
}
