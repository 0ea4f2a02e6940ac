//! What trials run is changed while they run: no trial on it counts, the command ends and names the file, and the
//! next one puts it right.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, Shown, small};
use bakeoff_model::record::{Outcome, Record, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A study whose trials wait until somebody makes the file `go`, in and after their third block: what is done to it
/// before is done at a moment that the test knows.
fn waiting() -> Sandbox {
    let sandbox = small();
    let wait = "echo x >> ../trials; n=$(wc -l < ../trials); if [ $n -gt 6 ]; then echo > ../waits; \
                while [ ! -e ../go ]; do sleep 0.01; done; fi";
    let study =
        SMALL.replace("run = '\"$PREFIX/bin/hello\"'", &format!("run = '{wait}; \"$PREFIX/bin/hello\"; sh own.sh'"));
    assert_ne!(study, SMALL);
    sandbox.write("study.toml", &study);
    sandbox.write("own.sh", "true\n");
    sandbox
}

fn begin(sandbox: &Sandbox) -> Child {
    let mut run = sandbox.command(&["run", "STUDY", "--quiet"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !sandbox.path().join("waits").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its third block");
        std::thread::yield_now();
    }
    child
}

fn go(sandbox: &Sandbox) {
    fs::write(sandbox.path().join("go"), "").unwrap();
}

/// The program of one of the builds.
fn program(sandbox: &Sandbox) -> PathBuf {
    let builds = fs::read_dir(sandbox.path().join("cache/builds")).unwrap();
    let mut programs: Vec<PathBuf> = builds.map(|entry| entry.unwrap().path().join("bin/hello")).collect();
    programs.sort();
    programs.swap_remove(0)
}

/// Puts another file in the place of one, with its times.
fn replace(path: &Path, text: &str) {
    let aside = path.with_extension("aside");
    fs::copy(path, &aside).unwrap();
    fs::write(&aside, text).unwrap();
    let then = fs::metadata(path).unwrap().modified().unwrap();
    fs::File::options().write(true).open(&aside).unwrap().set_modified(then).unwrap();
    fs::rename(&aside, path).unwrap();
}

fn count(record: &Record, counts: impl Fn(&Trial) -> bool) -> usize {
    record.trials.iter().filter(|trial| counts(trial)).count()
}

fn is_void(trial: &Trial) -> bool {
    matches!(trial.outcome, Outcome::Void(_))
}

/// All trials of 8 blocks count once.
#[track_caller]
fn is_whole(record: &Record) {
    assert_eq!(count(record, |trial| trial.outcome == Outcome::Ok), 8 * 3);
    assert_eq!(count(record, |trial| !is_void(trial)), 8 * 3);
    assert_eq!(record.blocks.len(), 8);
}

const OTHER: &str = "#!/bin/sh\necho hello\n: another one\n";

#[test]
fn a_program_that_is_replaced_ends_the_session_and_its_block_runs_again() {
    let sandbox = waiting();
    let run = begin(&sandbox);
    replace(&program(&sandbox), OTHER);
    go(&sandbox);
    let ended = Shown::of(&run.wait_with_output().unwrap());
    ended.expect(
        2,
        &[
            "stopped because these changed while trials ran: bin/hello of",
            "The 3 void trials since then must run again",
        ],
    );
    let record = sandbox.record();
    assert_eq!((record.trials.len(), count(&record, is_void)), (9, 3), "{ended:?}");
    // The report says it, too.
    sandbox.execute(&["report", "STUDY"]).expect(0, &["bin/hello of", "was changed during the block"]);
    let again = sandbox.execute(&["run", "STUDY", "--quiet"]);
    again.expect(0, &["8 of 8 blocks"]);
    is_whole(&sandbox.record());
}

#[test]
fn after_a_kill_nothing_counts_that_nobody_has_looked_after() {
    let sandbox = waiting();
    let mut run = begin(&sandbox);
    let file = program(&sandbox);
    let before = fs::read_to_string(&file).unwrap();
    replace(&file, OTHER);
    // Two trials of the block end, and nobody looks.
    go(&sandbox);
    while sandbox.trials_so_far() < 8 {
        assert!(run.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let killed = sandbox.record();
    // It may have been quick enough to look.
    let unchecked = killed.unchecked().len();
    println!("{unchecked} trials were left unchecked");
    // Even put back, with its times: nobody knows what was run.
    replace(&file, &before);
    let again = sandbox.execute(&["run", "STUDY", "--quiet"]);
    again.expect(0, &["8 of 8 blocks"]);
    assert_eq!(again.err.contains("must run again"), unchecked > 0, "{}", again.err);
    is_whole(&sandbox.record());
    assert!(count(&sandbox.record(), is_void) >= unchecked);
}

#[test]
fn a_kill_alone_makes_nothing_void() {
    let sandbox = waiting();
    let mut run = begin(&sandbox);
    run.kill().unwrap();
    run.wait().unwrap();
    go(&sandbox);
    let again = sandbox.execute(&["run", "STUDY", "--quiet"]);
    again.expect(0, &["8 of 8 blocks"]);
    let record = sandbox.record();
    is_whole(&record);
    assert_eq!(count(&record, is_void), 0, "{}", again.err);
}

#[test]
fn a_script_of_the_study_that_is_edited_ends_the_session_and_begins_another_journal() {
    let sandbox = waiting();
    let run = begin(&sandbox);
    sandbox.write("own.sh", "true; true\n");
    go(&sandbox);
    let ended = Shown::of(&run.wait_with_output().unwrap());
    ended.expect(2, &["because these changed while trials ran: own.sh. The 3 void trials since then must run again"]);
    let again = sandbox.execute(&["run", "STUDY", "--quiet"]);
    again.expect(0, &["starting a new journal", "the file own.sh", "8 of 8 blocks"]);
    assert_eq!(sandbox.journals().len(), 2);
}

#[test]
fn a_file_that_is_put_back_costs_its_block_and_not_the_session() {
    let sandbox = waiting();
    let run = begin(&sandbox);
    let file = program(&sandbox);
    let before = fs::read_to_string(&file).unwrap();
    replace(&file, &before);
    go(&sandbox);
    let ended = Shown::of(&run.wait_with_output().unwrap());
    ended.expect(0, &["8 of 8 blocks"]);
    let record = sandbox.record();
    is_whole(&record);
    assert_eq!(count(&record, is_void), 3);
}

/// No command names it, and there are more files than are looked at each time.
#[test]
fn whatever_else_was_built_is_looked_at_where_somebody_touched_it() {
    let sandbox = waiting();
    let study = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let more = "mkdir -p \"$PREFIX/share\"; for i in $(seq 300); do echo $i > \"$PREFIX/share/$i\"; done\n'''\nverify";
    sandbox.write("study.toml", &study.replace("'''\nverify", more));
    let run = begin(&sandbox);
    let file = program(&sandbox).parent().unwrap().parent().unwrap().join("share/299");
    replace(&file, "another\n");
    go(&sandbox);
    let ended = Shown::of(&run.wait_with_output().unwrap());
    ended.expect(
        2,
        &["because these changed while trials ran: share/299 of", "The 3 void trials since then must run again"],
    );
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &["8 of 8 blocks"]);
    is_whole(&sandbox.record());
}

#[test]
fn a_command_that_is_compared_and_rebuilt_meanwhile_ends_the_comparison() {
    let sandbox = small();
    let (program, journal) = (sandbox.path().join("mine"), sandbox.path().join("kept.jsonl"));
    let script = "#!/bin/sh\necho x >> trials\nif [ $(wc -l < trials) -gt 6 ]; then echo > waits; \
                  while [ ! -e go ]; do sleep 0.01; done; fi\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words = ["compare", "./mine", "./mine 2", "--quiet", "--journal", journal.to_str().unwrap()];
    let child = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !sandbox.path().join("waits").exists() {
        std::thread::yield_now();
    }
    replace(&program, "#!/bin/sh\ntrue\n");
    go(&sandbox);
    let ended = Shown::of(&child.wait_with_output().unwrap());
    ended.expect(2, &["because these changed while trials ran:", "/mine. The 3 void trials since then must run again"]);
    sandbox.execute(&words).expect(2, &["belongs to another study, or to another version of this study", "/mine"]);
}

/// Its trials fail, but not for good.
#[test]
fn a_build_that_is_removed_meanwhile_is_built_again_and_its_trials_run_again() {
    let sandbox = waiting();
    let run = begin(&sandbox);
    fs::remove_dir_all(program(&sandbox).parent().unwrap().parent().unwrap()).unwrap();
    go(&sandbox);
    let ended = Shown::of(&run.wait_with_output().unwrap());
    ended.expect(
        2,
        &["because these changed while trials ran: bin/hello of", "The 3 void trials since then must run again"],
    );
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(0, &["8 of 8 blocks"]);
    is_whole(&sandbox.record());
}
