//! Which journal a study goes on in: what its own trials write and what once failed to build changes nothing, and what
//! its user changed is named before anything is run.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, each_trial_once, unsealed};
use bakeoff_host::lock::LockMode;
use bakeoff_host::machine::Machine;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

/// Its command names the file that it writes, and its oracle reads it.
const STUDY: &str = r#"
format = 1
name = "writes"
[run_factors.echo]
once = { WORDS = "hello" }
twice = { WORDS = "hello again" }
[workloads.w]
run = 'echo $WORDS $$ > out.txt; sh work.sh'
oracle = 'test -s out.txt'
[plan]
blocks = 6
[decide]
baseline = { echo = "once" }
"#;
const NEW: &str = "starting a new journal";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(STUDY);
    sandbox.write("work.sh", "true\n");
    sandbox
}

/// `bakeoff run` with this number of blocks.
fn run(sandbox: &Sandbox, blocks: &str) -> crate::common::Shown {
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", blocks])
}

#[track_caller]
fn goes_on(sandbox: &Sandbox, blocks: &str, words: &[&str]) {
    let shown = run(sandbox, blocks);
    shown.expect(0, words);
    assert!(!shown.err.contains(NEW), "{}", shown.err);
    each_trial_once(&sandbox.record(), blocks.parse::<usize>().unwrap() * 3);
}

#[test]
fn a_study_whose_commands_write_a_file_that_they_name_goes_on() {
    let sandbox = sandbox();
    for blocks in ["6", "7", "8"] {
        goes_on(&sandbox, blocks, &[]);
    }
    fs::remove_file(sandbox.study().join("out.txt")).unwrap();
    goes_on(&sandbox, "9", &[]);
}

#[test]
fn a_file_that_was_there_and_that_trials_change_is_told_and_no_longer_counts() {
    let sandbox = sandbox();
    sandbox.write("out.txt", "left by somebody\n");
    goes_on(&sandbox, "6", &["note: out.txt changed while trials ran"]);
    goes_on(&sandbox, "7", &[]);
    sandbox.write("out.txt", "left by somebody else\n");
    let shown = run(&sandbox, "8");
    shown.expect(0, &["8 of 8 blocks"]);
    assert_eq!(shown.err, "", "it is known to be written");
    let basis = sandbox.record().study.basis.unwrap();
    // Programs of the system have absolute paths.
    let of_study: Vec<_> = basis.files.keys().filter(|name| !name.starts_with('/')).collect();
    assert_eq!(of_study, ["work.sh"]);
    assert!(basis.files.keys().any(|name| name.ends_with("/sh")), "{:?}", basis.files);
    assert_eq!(basis.written.iter().collect::<Vec<_>>(), ["out.txt"]);
}

#[test]
fn a_file_that_an_interrupted_trial_wrote_is_known_to_be_written() {
    let sandbox = sandbox();
    sandbox.write("out.txt", "left by somebody\n");
    sandbox.write("work.sh", "echo here > started; exec sleep 1000\n");
    let first = sandbox.command(&["run", "STUDY", "--quiet"]).stderr(Stdio::piped()).spawn().unwrap();
    while !sandbox.study().join("started").exists() {
        std::thread::yield_now();
    }
    // One that came before the first was noticed would count as the same.
    let pid = first.id().to_string();
    let ended = std::thread::spawn(move || first.wait_with_output());
    while !ended.is_finished() {
        let _ = std::process::Command::new("kill").args(["-TERM", &pid]).status();
        std::thread::yield_now();
    }
    let shown = crate::common::Shown::of(&ended.join().unwrap().unwrap());
    shown.expect(130, &["note: out.txt changed while trials ran", "nothing is lost"]);
    let basis = sandbox.record().study.basis.unwrap();
    assert_eq!(basis.written.iter().collect::<Vec<_>>(), ["out.txt"]);
}

#[test]
fn what_the_user_changed_is_named_and_undoing_it_goes_on_with_the_old_journal() {
    let sandbox = sandbox();
    goes_on(&sandbox, "6", &[]);
    let old = sandbox.journal();
    let before = fs::read(&old).unwrap();

    sandbox.write("work.sh", "exit 0\n");
    let name = old.file_name().unwrap().to_str().unwrap().to_owned();
    let words = [NEW, &name, "has 18 of 18 trials", "the file work.sh", "undo these changes"];
    run(&sandbox, "6").expect(0, &words);
    assert_eq!(sandbox.journals().len(), 2);
    assert_eq!(fs::read(&old).unwrap(), before);

    // Undone, the old one goes on, whichever was run last.
    sandbox.write("work.sh", "true\n");
    let shown = run(&sandbox, "7");
    assert!(shown.code == 0 && !shown.err.contains(NEW), "{shown:?}");
    each_trial_once(&bakeoff_journal::read(&old).unwrap().record, 7 * 3);

    let check = |from: &str, to: &str, told: &str| {
        assert!(STUDY.contains(from));
        sandbox.write("study.toml", &STUDY.replace(from, to));
        let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]);
        shown.expect(0, &[NEW, told]);
        let lines = shown.err.lines().filter(|line| line.starts_with("    ")).count();
        assert_eq!(lines, 1, "nothing else changed: {}", shown.err);
        sandbox.write("study.toml", STUDY);
        let shown = sandbox.execute(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]);
        assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    };
    sandbox.execute(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]).expect(0, &[]);
    check("sh work.sh", "sh  work.sh", "changed: workloads.w.run hint:");
    check("oracle = 'test -s out.txt'\n", "", "workloads.w.oracle, now removed");
    check("sh work.sh'\n", "sh work.sh'\noutput = \"null\"\n", "changed: workloads.w.output hint:");
    check("sh work.sh'\n", "sh work.sh'\ntimeout = \"1 h\"\n", "workloads.w.timeout, now added");
    check("blocks = 6", "blocks = 6\nseed = 9", "changed: seed hint:");
    check("blocks = 6", "blocks = 6\nvary = [\"env-size\"]", "vary, now added");
    check("hello again", "hello thrice", "changed: the variant echo=twice hint:");
}

/// The trials are the same: the journal goes on, and the report has the reason as it is now.
#[test]
fn an_edited_reason_of_an_exclusion_reaches_the_report() {
    let sandbox = sandbox();
    let with = |reason: &str| {
        let more = "[run_factors.more]\noff = { MORE = \"0\" }\non = { MORE = \"1\" }\n";
        let exclude = format!("[[exclude]]\nwhen = {{ echo = \"twice\", more = \"on\" }}\nreason = \"{reason}\"\n");
        let text = STUDY.replace("[workloads.w]", &format!("{more}{exclude}[workloads.w]"));
        sandbox.write("study.toml", &text.replace("{ echo = \"once\" }", "{ echo = \"once\", more = \"off\" }"));
    };
    with("too loud");
    run(&sandbox, "6").expect(0, &["too loud"]);
    with("it hurts the ears");
    let shown = run(&sandbox, "6");
    shown.expect(0, &["it hurts the ears"]);
    assert!(!shown.out.contains("too loud") && !shown.err.contains(NEW), "{shown:?}");
    assert_eq!(sandbox.record().sessions.len(), 1, "nothing was executed again");
}

#[test]
fn a_journal_of_an_older_version_goes_on_and_where_it_cannot_that_is_said() {
    let sandbox = sandbox();
    fs::remove_file(sandbox.study().join("work.sh")).unwrap();
    sandbox.write(
        "study.toml",
        &STUDY.replace("sh work.sh", "true").replace(" > out.txt", "").replace("oracle = 'test -s out.txt'\n", ""),
    );
    goes_on(&sandbox, "6", &[]);
    let journal = sandbox.journal();
    let text = unsealed(&journal);
    let (head, rest) = text.split_once('\n').unwrap();
    // Older versions did not write down which files trials use.
    let is_older = |line: &&str| !line.starts_with("{\"line\":\"study\"");
    let rest: String = rest.lines().filter(is_older).flat_map(|line| [line, "\n"]).collect();
    let mut head: serde_json::Value = serde_json::from_str(head).unwrap();
    assert!(head.as_object_mut().unwrap().remove("basis").is_some());
    // The kind must come first.
    let older =
        format!("{{\"line\":\"study\",{}\n{rest}", head.to_string().replace("\"line\":\"study\",", "").split_at(1).1);
    fs::write(&journal, &older).unwrap();
    sandbox.write(
        "study.toml",
        &STUDY.replace("sh work.sh", "exit 0").replace(" > out.txt", "").replace("oracle = 'test -s out.txt'\n", ""),
    );
    let words = ["run", "STUDY", "--quiet", "--blocks", "6"];
    sandbox.execute(&words).expect(0, &[NEW, "the version of Bakeoff that began the journal recorded no details"]);
    let newer = sandbox.journals().into_iter().find(|path| *path != journal).unwrap();
    fs::remove_file(newer).unwrap();
    sandbox.write(
        "study.toml",
        &STUDY.replace("sh work.sh", "true").replace(" > out.txt", "").replace("oracle = 'test -s out.txt'\n", ""),
    );
    goes_on(&sandbox, "7", &[]);
    assert!(sandbox.record().study.basis.is_some(), "from now on it is known");
}

#[test]
fn a_variant_whose_build_failed_joins_the_same_journal_when_it_builds() {
    let sandbox = Sandbox::new("");
    let flag = sandbox.path().join("flag");
    let text = SMALL
        .replace("[[build]]", "thrice = { LINES = \"echo hello; true\" }\n[[build]]")
        .replace("mkdir -p", &format!("test \"$LINES\" != \"echo hello; true\" -o -e '{}'\nmkdir -p", flag.display()));
    sandbox.write("study.toml", &text);
    sandbox.write("hello.out", "hello\n");
    run(&sandbox, "6").expect(4, &["echo=thrice"]);
    each_trial_once(&sandbox.record(), 6 * 3);
    // Still failing, it goes on with the others.
    run(&sandbox, "7").expect(4, &[]);
    each_trial_once(&sandbox.record(), 7 * 3);

    fs::write(&flag, "").unwrap();
    let note = ["note: echo=thrice could not be built before", "Only blocks that have not begun include it"];
    run(&sandbox, "9").expect(0, &note);
    let record = sandbox.record();
    each_trial_once(&record, 7 * 3 + 2 * 4);
    assert_eq!(record.study.variants.len(), 3);
    let bytes = fs::read(sandbox.journal()).unwrap();
    run(&sandbox, "9").expect(0, &[]);
    assert_eq!(fs::read(sandbox.journal()).unwrap(), bytes, "nothing is missing");

    // And back: what cannot be built any more has no more trials, and keeps those that it has.
    fs::remove_file(&flag).unwrap();
    fs::remove_dir_all(sandbox.path().join("cache")).unwrap();
    run(&sandbox, "10").expect(4, &[]);
    let record = sandbox.record();
    each_trial_once(&record, 7 * 3 + 2 * 4 + 3);
    assert_eq!(record.study.variants.len(), 3);
}

#[test]
fn a_file_that_is_changed_between_reading_and_the_first_trial_is_no_part_of_any_journal() {
    let sandbox = sandbox();
    let machine = Machine::in_folder(sandbox.path());
    let held = machine.claim(LockMode::Exclusive, |_| ()).unwrap().unwrap();
    let mut command = sandbox.command(&["run", "STUDY"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("waiting for process")));
    sandbox.write("work.sh", "exit 0\n");
    drop(held);
    let told: Vec<String> = lines.collect();
    assert!(told.iter().any(|line| line.contains("work.sh was changed after this command read it")), "{told:?}");
    assert_eq!(run.wait().unwrap().code(), Some(2));
    assert_eq!(sandbox.trials_so_far(), 0);
}

#[test]
fn a_comparison_waits_for_the_machine_too_and_a_journal_of_another_one_is_explained() {
    let sandbox = sandbox();
    let journal = sandbox.path().join("kept.jsonl");
    let journal = journal.to_str().unwrap();
    let words = ["compare", "true", "exit 0", "--blocks", "6", "--journal", journal];
    let machine = Machine::in_folder(sandbox.path());
    let held = machine.claim(LockMode::Shared, |_| ()).unwrap().unwrap();
    let mut compare = sandbox.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(compare.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waits = lines.find(|line| line.starts_with(&format!("waiting for process {}", std::process::id()))).unwrap();
    // Who it is, where, and since when; and how not to wait.
    let folder = std::env::current_dir().unwrap().display().to_string();
    for part in
        ["That process is `", "commands", "`, started by ", &format!(" in {folder} "), "need the machine to themselves"]
    {
        assert!(waits.contains(part), "{part}: {waits}");
    }
    let hint = lines.next().unwrap();
    assert!(hint.starts_with("hint: press Ctrl-C to stop waiting. With BAKEOFF_LOCKS"), "{hint}");
    drop(held);
    lines.for_each(drop);
    assert!(compare.wait().unwrap().success());
    let other = ["compare", "true", "exit 0", "--blocks", "6", "--journal", journal, "--timeout", "7"];
    sandbox
        .execute(&other)
        .expect(2, &["belongs to another study", "this one differs in", "workloads.command.timeout"]);
    let turned = ["compare", "exit 0", "true", "--blocks", "6", "--journal", journal];
    sandbox.execute(&turned).expect(2, &["belongs to another study", "differs in: the baseline"]);
    // An interrupt ends the wait.
    let _held = machine.claim(LockMode::Exclusive, |_| ()).unwrap().unwrap();
    let mut waits = sandbox.command(&["compare", "true", "exit 0", "--quiet"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(waits.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("waiting for process")));
    assert!(std::process::Command::new("kill").args(["-TERM", &waits.id().to_string()]).status().unwrap().success());
    lines.for_each(drop);
    assert_eq!(waits.wait().unwrap().code(), Some(130));
}

#[test]
fn what_was_begun_is_on_the_disk_with_its_name() {
    let sandbox = sandbox();
    let calls = sandbox.path().join("calls");
    let mut command = std::process::Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=fsync,fdatasync", "-o"]).arg(&calls);
    let own = sandbox.command(&["run", "STUDY", "--quiet", "--simulate", "seed:1"]);
    command.arg(own.get_program()).args(own.get_args()).envs(own.get_envs().filter_map(|(n, v)| Some((n, v?))));
    let traced = command.output();
    let text = fs::read_to_string(&calls).unwrap_or_default();
    if traced.is_err() || text.is_empty() {
        #[allow(clippy::print_stdout, reason = "says why nothing was tested")]
        {
            println!("skipped: strace is not here, or may not trace");
        }
        return;
    }
    assert!(text.contains("exited with 0"), "{text}");
    let synced = |end: &str| text.lines().filter(|line| line.contains("sync(") && line.contains(end)).count();
    assert!(synced("/.bakeoff>") >= 2, "of the journal, and of the latest one's name:\n{text}");
    assert!(synced("/.bakeoff/.bakeoff-") >= 1, "of the latest one's name, before it is moved there:\n{text}");
    let study = fs::canonicalize(sandbox.study()).unwrap();
    assert!(synced(&format!("<{}>", study.display())) >= 1, "of the name of the journals' folder:\n{text}");
}
