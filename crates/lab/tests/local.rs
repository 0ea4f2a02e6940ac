//! This host as a place, with real processes: how every way in which a trial can go wrong ends up in the record.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_host::Launcher;
use bakeoff_lab::local::{Local, LocalWorkload, Setup};
use bakeoff_lab::{Execution, Executor as _, Task};
use bakeoff_model::record::{Block, Failure, Outcome, TWIN};
use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};

fn main() {
    let cases: Vec<(&str, fn())> = vec![
        ("what_is_printed_is_compared_with_what_is_expected", output_is_compared),
        ("each_way_to_fail_is_told_apart", failures),
        ("a_trial_has_the_environment_that_was_declared_and_an_empty_home", environment),
        ("the_twin_executes_what_the_baseline_does", twin),
        ("a_fresh_home_is_gone_afterwards_whatever_was_left_in_it", fresh_home),
        ("one_command_that_needs_a_shell_gives_all_of_them_one", shell_for_all),
        ("what_outlives_a_trial_is_counted_and_gone", leftovers),
        ("every_metric_of_the_kernel_is_there", measured),
    ];
    let trial = |(name, case): (&'static str, fn())| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect()).exit();
}

/// A place with one workload `w` for the variants `a` (the baseline) and `b`.
fn setup(dir: &Path, run: &str, expected: Option<&str>) -> Setup {
    let expected = expected.map(|text| text.as_bytes().to_vec());
    Setup {
        dir: dir.to_owned(),
        scratch: dir.join("scratch"),
        fresh_home: true,
        environment: [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into(),
        baseline: "a".to_owned(),
        prefixes: [("a".to_owned(), PathBuf::from("/prefix/a")), ("b".to_owned(), PathBuf::from("/prefix/b"))].into(),
        workloads: [("w".to_owned(), LocalWorkload { run: run.to_owned(), expected })].into(),
        ..Setup::default()
    }
}

fn execute(setup: Setup, variant: &str) -> Execution {
    let block = Block {
        block: 1,
        workload: "w".into(),
        condition: "idle".into(),
        order: vec![variant.to_owned()],
        ..Block::default()
    };
    let mut local = Local::new(setup, Launcher::start(None).unwrap()).unwrap();
    local.execute(Task { block: &block, position: 1, variant, attempt: 0 }).unwrap().unwrap()
}

fn outcome(run: &str, expected: Option<&str>) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    execute(setup(dir.path(), run, expected), "a").outcome
}

fn output_is_compared() {
    assert_eq!(outcome("echo hello; echo noise >&2", Some("hello\n")), Outcome::Ok);
    assert_eq!(outcome("echo whatever", None), Outcome::Ok);
    let Outcome::Failed(Failure::WrongOutput { line, expected, printed }) =
        outcome("echo hello; echo word", Some("hello\nworld\n"))
    else {
        panic!("the wrong output was accepted")
    };
    assert_eq!((line, expected.as_deref(), printed.as_deref()), (2, Some("world"), Some("word")));
}

fn failures() {
    let Outcome::Failed(Failure::Exit { code: 1, stderr }) = outcome("echo why >&2; exit 1", None) else {
        panic!("exit 1 was not told")
    };
    assert_eq!(stderr, ["why"]);
    let Outcome::Failed(Failure::Signal { signal: 9, .. }) = outcome("kill -9 $$", None) else {
        panic!("the signal was not told")
    };
    let Outcome::Failed(Failure::NotStarted { command, .. }) = outcome("no-such-program --at-all", None) else {
        panic!("a missing program was not told")
    };
    assert!(command.contains("no-such-program"), "{command}");
    let Outcome::Failed(Failure::Exit { code: 127, stderr }) = outcome("exec no-such-program", None) else {
        panic!("a program that the shell misses was not told")
    };
    assert!(stderr.iter().any(|line| line.contains("no-such-program")), "{stderr:?}");
}

fn environment() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("scratch/home");
    let home = home.to_str().unwrap();
    let path = "/usr/local/bin:/usr/bin:/bin";
    let expected = format!("HOME={home}\nPATH={path}\nPREFIX=/prefix/b\nTMPDIR={home}\n");
    // What the shell itself adds to its environment is not ours.
    let run = "test -z \"$(ls -A \"$HOME\")\" && env | grep -v -e ^PWD= -e ^OLDPWD= -e ^SHLVL= -e ^_= | sort";
    assert_eq!(execute(setup(dir.path(), run, Some(&expected)), "b").outcome, Outcome::Ok);
}

fn twin() {
    let dir = tempfile::tempdir().unwrap();
    let execution = execute(setup(dir.path(), "echo $PREFIX", Some("/prefix/a\n")), TWIN);
    assert_eq!(execution.outcome, Outcome::Ok);
}

fn fresh_home() {
    let dir = tempfile::tempdir().unwrap();
    let run = "mkdir -p \"$HOME/deep/er\" && touch \"$TMPDIR/deep/er/file\" && chmod 555 \"$HOME/deep/er\"";
    // What a killed trial left is gone before the next one begins.
    std::fs::create_dir_all(dir.path().join("scratch/home/deep")).unwrap();
    let run = format!("test ! -e \"$HOME/deep\" && {run}");
    assert_eq!(execute(setup(dir.path(), &run, None), "a").outcome, Outcome::Ok);
    assert!(!dir.path().join("scratch/home").exists());
}

fn shell_for_all() {
    let dir = tempfile::tempdir().unwrap();
    // What a shell takes for a comment, a command of plain words prints.
    let printed_by_b = |a: &str, expected: &str| {
        let mut setup = setup(dir.path(), "", Some(expected));
        let commands = [("a", a), ("b", "echo x  y")];
        setup.commands = commands.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        setup.environment.insert("PATH".to_owned(), dir.path().join("bin").display().to_string());
        execute(setup, "b").outcome
    };
    // `echo` and `sh` of our own say which of them was executed.
    std::fs::create_dir(dir.path().join("bin")).unwrap();
    for (name, script) in [("echo", "#!/bin/sh\necho direct\n"), ("sh", "#!/bin/sh\necho shell\n")] {
        let path = dir.path().join("bin").join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    assert_eq!(printed_by_b("echo", "direct\n"), Outcome::Ok);
    assert_eq!(printed_by_b("echo $HOME", "shell\n"), Outcome::Ok);
}

fn leftovers() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(execute(setup(dir.path(), "sleep 60 & exit 0", None), "a").leftovers, 1);
    assert_eq!(execute(setup(dir.path(), "true", None), "a").leftovers, 0);
}

fn measured() {
    let dir = tempfile::tempdir().unwrap();
    let execution = execute(setup(dir.path(), "exit 3", None), "a");
    for metric in bakeoff_model::metric::METRICS {
        let value = bakeoff_model::metric::value(&metric.name, &execution.measurements);
        assert!(value.is_some_and(|v| v >= 0.0), "{} is missing from a failed trial", metric.name);
    }
    assert!(execution.started_unix_s > 1.6e9);
}
