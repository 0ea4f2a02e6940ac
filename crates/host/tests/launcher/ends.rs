//! What a command is given, and how its end is told.

use crate::support::{Scratch, execute};
use bakeoff_host::{Command, End, Error, Job, Launcher, Patience};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt;

#[test]
fn exit_codes_and_signals() {
    let scratch = Scratch::new();
    let check = |script, expect| {
        let ended = execute(&scratch.sh(script));
        assert_eq!((ended.end, ended.leftovers), (expect, 0), "{script}");
    };
    check("exit 0", End::Exited(0));
    check("exit 1", End::Exited(1));
    check("exit 255", End::Exited(255));
    check("kill -TERM $$", End::Signalled(15));
    check("kill -KILL $$", End::Signalled(9));
    check("kill -INT $$", End::Signalled(2));
}

#[test]
fn what_cannot_be_started_is_named() {
    let scratch = Scratch::new();
    let check = |command: &Command, expect_what: &str, expect_why: &str| {
        let ended = execute(command);
        let End::NotStarted { what, why } = &ended.end else { panic!("{command:?} gave {ended:?}") };
        assert!(what.contains(expect_what) && why.contains(expect_why), "{what}: {why}");
        assert!(ended.measurements.is_empty(), "{ended:?}");
    };
    check(&scratch.command(&["no-such-program"]), "no-such-program", "/usr/bin");
    check(&scratch.command(&["/no/such/program"]), "/no/such/program", "No such file");
    check(&scratch.command(&["./out"]), "./out", "ermission denied"); // created by then, but not executable
    check(&scratch.command(&[]), "", "empty");
    check(&scratch.command(&["true", "a\0b"]), "a", "NUL");
    check(
        &Command { dir: scratch.path("absent"), ..scratch.command(&["true"]) },
        "absent",
        "the working folder does not exist",
    );
    check(&Command { stdout: scratch.path("absent/out"), ..scratch.command(&["true"]) }, "absent/out", "No such file");
    check(&Command { dir: "".into(), ..scratch.command(&["true"]) }, "", "empty path");
    check(&Command { env: [].into(), ..scratch.command(&["true"]) }, "true", "no PATH");

    script(&scratch, "lost", "#!/no/such/interpreter\n");
    check(&scratch.command(&["./lost"]), "./lost", "interpreter");
    let mut crowded = scratch.command(&["true"]);
    crowded.env.insert("X".to_owned(), "x".repeat(1 << 20));
    check(&crowded, "true", "too long");
}

fn script(scratch: &Scratch, name: &str, text: &str) {
    std::fs::write(scratch.path(name), text).unwrap();
    std::fs::set_permissions(scratch.path(name), PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn a_program_is_found_like_in_a_shell() {
    let scratch = Scratch::new();
    for folder in ["first", "second", "work"] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
    }
    std::fs::write(scratch.path("first/tool"), "not executable").unwrap();
    script(&scratch, "second/tool", "#!/bin/sh\nexit 2\n");
    script(&scratch, "work/tool", "#!/bin/sh\nexit 3\n");
    let check = |argv: &[&str], path: &str, expect| {
        let mut command = Command { dir: scratch.path("work"), ..scratch.command(argv) };
        command.env.insert("PATH".to_owned(), path.replace('@', scratch.dir().to_str().unwrap()));
        assert_eq!(execute(&command).end, End::Exited(expect), "{argv:?} {path}");
    };
    check(&["tool"], "@/first:@/second", 2);
    check(&["tool"], ".:@/second", 3);
    check(&["./tool"], "@/second", 3);
    check(&["../second/tool"], "@/work", 2);
}

#[test]
fn a_program_is_looked_for_again_when_it_has_gone() {
    let scratch = Scratch::new();
    for folder in ["first", "second"] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
    }
    script(&scratch, "first/tool", "#!/bin/sh\nexit 2\n");
    let mut command = scratch.command(&["tool"]);
    let path = ["first", "second"].map(|folder| scratch.path(folder).display().to_string()).join(":");
    command.env.insert("PATH".to_owned(), format!("{path}:/bin"));
    let mut launcher = Launcher::start(None).unwrap();
    // The launcher keeps what it found out of this very command.
    let job = Job { commands: vec![command.into()], ..Job::default() };
    let mut end = || {
        launcher.launch(&job).unwrap();
        launcher.wait(Patience::SecondInterrupt).unwrap().processes.remove(0).end
    };
    assert_eq!([end(), end()], [End::Exited(2), End::Exited(2)]);
    std::fs::remove_file(scratch.path("first/tool")).unwrap();
    for _ in 0..2 {
        let End::NotStarted { what, why } = end() else { panic!("it was started") };
        assert_eq!((what.as_str(), why), ("tool", format!("program not found in PATH ({path}:/bin)")));
    }
    script(&scratch, "second/tool", "#!/bin/sh\nexit 3\n");
    assert_eq!(end(), End::Exited(3));
}

#[test]
fn folder_environment_and_input() {
    let scratch = Scratch::new();
    assert_eq!(execute(&scratch.command(&["pwd"])).end, End::Exited(0));
    assert_eq!(scratch.read("out").trim(), scratch.dir().canonicalize().unwrap().to_str().unwrap());

    let mut command = scratch.command(&["/usr/bin/env"]);
    command.env = [("EMPTY", ""), ("LINES", "a b"), ("X", "1=2")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    assert_eq!(execute(&command).end, End::Exited(0));
    assert_eq!(scratch.read("out"), "EMPTY=\nLINES=a b\nX=1=2\n");

    assert_eq!(execute(&scratch.sh("cat; echo end")).end, End::Exited(0));
    assert_eq!(scratch.read("out"), "end\n");
}

#[test]
fn outputs() {
    let scratch = Scratch::new();
    let script = "echo one; echo two >&2; echo three";
    std::fs::write(scratch.path("out"), "left over from before\n".repeat(9)).unwrap();
    execute(&scratch.sh(script));
    assert_eq!((scratch.read("out"), scratch.read("err")), ("one\nthree\n".to_owned(), "two\n".to_owned()));
    execute(&Command { stderr: scratch.path("out"), ..scratch.sh(script) });
    assert_eq!(scratch.read("out"), "one\ntwo\nthree\n");
}

#[test]
fn no_descriptors_signals_or_session_are_inherited() {
    let scratch = Scratch::new();
    // A descriptor that survives exec, as a careless starter of ours might leave it.
    let leak = rustix::io::dup(File::open("/dev/null").unwrap()).unwrap();
    let keep = File::create(scratch.path("lock")).unwrap();
    let mut launcher = Launcher::start(Some(keep.as_fd())).unwrap();
    drop(leak);
    let script = "ls /proc/$$/fd
        read -r pid name state ppid group session rest < /proc/$$/stat
        test $pid = $group && test $pid = $session && echo leads
        while read -r key value; do case $key in SigBlk:|SigIgn:) echo $key $value;; esac; done < /proc/$$/status";
    let ended = launcher.execute(&scratch.sh(script), Patience::SecondInterrupt).unwrap();
    assert_eq!(ended.end, End::Exited(0));
    let none = "0".repeat(16);
    assert_eq!(scratch.read("out"), format!("0\n1\n2\nleads\nSigBlk: {none}\nSigIgn: {none}\n"));
    assert_eq!(scratch.read("lock"), "");
}

#[test]
fn a_large_environment_arrives() {
    let scratch = Scratch::new();
    let mut command = scratch.sh("echo $((${#X0} + ${#X1} + ${#X2} + ${#X3}))");
    command.env.extend((0..4).map(|n| (format!("X{n}"), "é\n".repeat(30_000))));
    assert_eq!(execute(&command).end, End::Exited(0));
    assert_eq!(scratch.read("out").trim(), (4 * 3 * 30_000).to_string()); // bytes: there is no locale
}

#[test]
fn two_hundred_in_a_row() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    for _ in 0..200 {
        let ended = launcher.execute(&scratch.command(&["true"]), Patience::SecondInterrupt).unwrap();
        assert_eq!((&ended.end, ended.leftovers), (&End::Exited(0), 0));
        assert!(ended.measurements["wall"] > 0.0, "{ended:?}");
    }
}

#[test]
fn the_death_of_the_launcher_is_an_error() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    for _ in 0..2 {
        let error = launcher.execute(&scratch.sh("kill -KILL $PPID"), Patience::SecondInterrupt).unwrap_err();
        assert!(matches!(&error, Error::LauncherEnded { how } if how.contains("signal: 9")), "{error:?}");
    }
}
