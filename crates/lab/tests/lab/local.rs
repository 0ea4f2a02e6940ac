//! This host as a place, with real processes: how every way in which a trial can go wrong ends up in the record.

mod marks;
mod printed;
mod services;

use bakeoff_lab::{Executor as _, Task};
use bakeoff_model::record::{Block, Failure, Outcome, TWIN};
use bakeoff_model::study::Ready;
use bakeoff_testkit::stage::{self, PATH, Stage, execute_in};

fn outcome(run: &str, expected: Option<&str>) -> Outcome {
    let stage = Stage::new(run);
    match expected {
        Some(expected) => stage.expect(expected).outcome(),
        None => stage.outcome(),
    }
}

#[test]
fn what_is_printed_is_compared_with_what_is_expected() {
    assert_eq!(outcome("echo hello; echo noise >&2", Some("hello\n")), Outcome::Ok);
    assert_eq!(outcome("echo whatever", None), Outcome::Ok);
    let Outcome::Failed(Failure::WrongOutput { line, expected, printed }) =
        outcome("echo hello; echo word", Some("hello\nworld\n"))
    else {
        panic!("the wrong output was accepted")
    };
    assert_eq!((line, expected.as_deref(), printed.as_deref()), (2, Some("world"), Some("word")));
}

#[test]
fn each_way_to_fail_is_told_apart() {
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

#[test]
fn a_trial_has_the_environment_that_was_declared_and_an_empty_home() {
    // What the shell itself adds to its environment is not ours.
    let run = "test -z \"$(ls -A \"$HOME\")\" && env | grep -v -e ^PWD= -e ^OLDPWD= -e ^SHLVL= -e ^_= | sort";
    let mut stage = Stage::new(run).condition(|c| {
        c.environment = [("LC_ALL".to_owned(), "C.UTF-8".to_owned()), ("LEVEL".to_owned(), "c".to_owned())].into();
    });
    stage.plan.variants[1].run_variables = [("LEVEL".to_owned(), "b".to_owned())].into();
    let home = stage.path().join("scratch/home");
    let home = home.to_str().unwrap();
    let expected = format!(
        "BAKEOFF_PROCESS=1\nBAKEOFF_PROCESSES=1\nHOME={home}\nLC_ALL=C.UTF-8\nLEVEL=b\nPATH={PATH}\nPREFIX=/prefix/b\n\
         TMPDIR={home}\n"
    );
    let without_marks = run.replace("-e ^_=", "-e ^_= -e ^BAKEOFF_MARKS= -e ^BAKEOFF_STARTED=");
    let stage = stage.workload(|w| w.run = without_marks).expect(&expected);
    assert_eq!(stage.execute("b").outcome, Outcome::Ok);
}

#[test]
fn the_environment_is_padded_as_the_block_says() {
    let stage = Stage::new("printf %s \"$BAKEOFF_PADDING\" | wc -c").expect("123\n");
    let block = Block {
        block: 1,
        workload: "w".into(),
        condition: "c".into(),
        order: vec!["a".into()],
        padding: 123,
        ..Block::default()
    };
    let task = Task { block: &block, position: 1, variant: "a", attempt: 0 };
    assert_eq!(stage.local().execute(task).unwrap().unwrap().outcome, Outcome::Ok);
}

#[test]
fn the_twin_executes_what_the_baseline_does() {
    assert_eq!(Stage::new("echo $PREFIX").expect("/prefix/a\n").execute(TWIN).outcome, Outcome::Ok);
}

#[test]
fn a_task_that_is_not_in_the_plan_is_refused() {
    let stage = Stage::new("true");
    let block = Block { block: 1, workload: "w".into(), condition: "none".into(), ..Block::default() };
    let error = stage.local().execute(Task { block: &block, position: 1, variant: "a", attempt: 0 }).unwrap_err();
    assert_eq!(error.to_string(), "the condition `none` is not in the plan");
}

#[test]
fn a_fresh_home_is_gone_afterwards_whatever_was_left_in_it() {
    let run = "mkdir -p \"$HOME/deep/er\" && touch \"$TMPDIR/deep/er/file\" && chmod 555 \"$HOME/deep/er\"";
    let stage = Stage::new(&format!("test ! -e \"$HOME/deep\" && {run}"));
    // What a killed trial left is gone before the next one begins.
    std::fs::create_dir_all(stage.path().join("scratch/home/deep")).unwrap();
    assert_eq!(stage.outcome(), Outcome::Ok);
    assert!(!stage.path().join("scratch/home").exists());
}

#[test]
fn one_command_that_needs_a_shell_gives_all_of_them_one() {
    // What a shell takes for a comment, a command of plain words prints.
    let printed_by_b = |a: &str, expected: &str| {
        let mut stage = Stage::new("").expect(expected);
        stage.plan.variants[0].run = Some(a.to_owned());
        stage.plan.variants[1].run = Some("echo x  y".to_owned());
        stage.setup.environment.insert("PATH".to_owned(), stage.path().join("bin").display().to_string());
        // `echo` and `sh` of our own say which of them was run.
        std::fs::create_dir(stage.path().join("bin")).unwrap();
        for (name, script) in [("echo", "#!/bin/sh\necho direct\n"), ("sh", "#!/bin/sh\necho shell\n")] {
            let path = stage.path().join("bin").join(name);
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        stage.execute("b").outcome
    };
    assert_eq!(printed_by_b("echo", "direct\n"), Outcome::Ok);
    assert_eq!(printed_by_b("echo $HOME", "shell\n"), Outcome::Ok);
}

#[test]
fn a_trial_that_kills_its_launcher_fails_and_the_next_one_is_executed() {
    let sleeping = format!("sleep {}", stage::marker());
    let mut stage = Stage::new("").service(stage::service("s", &sleeping, Ready::Started));
    stage.plan.variants[0].run = Some(format!("{sleeping} & setsid {sleeping} & kill -KILL $PPID; {sleeping}"));
    stage.plan.variants[1].run = Some("true".to_owned());
    let mut local = stage.local();
    for block in 1..=3 {
        let execution = execute_in(&mut local, block, "a");
        let (part, why, _) = stage::failed_part(&execution.outcome);
        assert_eq!(part, "launcher");
        assert!(why.contains("signal: 9"), "{why}");
        assert_eq!(stage::alive(&sleeping), Vec::<String>::new());
        assert_eq!(execute_in(&mut local, block, "b").outcome, Outcome::Ok);
        local.block_ended().unwrap();
    }
    assert_eq!(stage::alive(&sleeping), Vec::<String>::new());
}

/// A service may make a file before it is wanted, but nothing of a finished build.
#[test]
fn a_program_that_no_build_made_is_known_to_be_absent() {
    let ready = || Ready::Started;
    let absent = |run: &str, service: Option<&str>| {
        let stage = Stage::new(run);
        let stage = service.into_iter().fold(stage, |stage, run| stage.service(stage::service("s", run, ready())));
        let mut absent = bakeoff_lab::local::absent(&stage.plan, &stage.setup);
        absent.retain(|absent| absent.variant == "a");
        absent.into_iter().map(|absent| (absent.part, absent.program)).collect::<Vec<_>>()
    };
    let of = |part: &str, program: &str| vec![(part.to_owned(), program.to_owned())];
    assert_eq!(absent("\"$PREFIX/bin/x\" 1", None), of("workload w", "/prefix/a/bin/x"));
    assert_eq!(absent("./x 1", None), of("workload w", "./x"));
    assert_eq!(absent("\"$PREFIX/bin/x\" 1", Some("sleep 9")), of("workload w", "/prefix/a/bin/x"));
    // The same file by its path.
    assert_eq!(absent("/prefix/a/bin/x 1", Some("sleep 9")), of("workload w", "/prefix/a/bin/x"));
    assert_eq!(absent("./x 1", Some("sleep 9")), []);
    assert_eq!(absent("true", Some("/prefix/a/bin/daemon")), of("service s", "/prefix/a/bin/daemon"));
}

#[test]
fn what_outlives_a_trial_is_counted_and_gone() {
    assert_eq!(Stage::new("sleep 60 & exit 0").execute("a").leftovers, 1);
    assert_eq!(Stage::new("true").execute("a").leftovers, 0);
}

#[test]
fn a_trial_that_fails_is_measured_too() {
    let execution = Stage::new("exit 3").execute("a");
    for name in ["wall", "user", "sys", "cpu", "maxrss", "peak", "minflt", "nvcsw"] {
        let value = bakeoff_model::metric::value(name, &execution.measurements);
        assert!(value.is_some_and(|v| v >= 0.0), "{name} is missing from a failed trial");
    }
    assert!(execution.started_unix_s > 1.6e9);
}
