//! What becomes of all that was started when we, our launcher, or both are killed at once. What is started sleeps for a
//! time that nobody else sleeps for, by which it is found.

use crate::owner::Owner;
use crate::support::{LONG_S, NOT_LONG_S, Scratch};
use bakeoff_host::{Enclosure, End, Error, Launcher, Options, Patience};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Three processes that sleep: one in a session of its own, one that has lost its parent, one that is waited for.
fn sleepers(scratch: &Scratch) -> (String, String) {
    let folder = scratch.dir().file_name().unwrap().to_str().unwrap();
    let digits: String = folder.bytes().map(|byte| char::from(b'0' + byte % 10)).collect();
    let seconds = format!("{LONG_S}.{digits}{}", std::process::id());
    (seconds.clone(), format!("setsid sleep {seconds} & (sleep {seconds} &) ; sleep {seconds}"))
}

/// The processes that sleep so long.
fn asleep(seconds: &str) -> Vec<u32> {
    let words = format!("sleep\0{seconds}\0");
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == words.as_bytes()))
        .collect()
}

fn until(what: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !what() {
        if began.elapsed().as_secs() >= NOT_LONG_S {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()).collect()
}

fn signal(name: &str, pid: u32) {
    Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
}

/// Kills all processes that an owner has started itself, and the owner before it can do anything about it.
fn kill_all(mut owner: Owner) {
    let pid = owner.process.id();
    signal("-STOP", pid);
    children(pid).into_iter().for_each(|pid| signal("-KILL", pid));
    owner.process.kill().unwrap();
    assert_eq!(owner.process.wait().unwrap().signal(), Some(9));
}

fn has_namespaces() -> bool {
    let enclosure = Enclosure::open(None);
    if let Some(why) = enclosure.why_no_namespace() {
        println!("skipped: PID namespace: {why}");
    }
    enclosure.why_no_namespace().is_none()
}

#[test]
fn nothing_stays_in_a_namespace_when_all_are_killed() {
    if !has_namespaces() {
        return;
    }
    let scratch = Scratch::new();
    let (seconds, script) = sleepers(&scratch);
    let owner = Owner::start_enclosed(&scratch, "namespace", &script);
    assert!(until(|| asleep(&seconds).len() == 3));
    kill_all(owner);
    assert!(until(|| asleep(&seconds).is_empty()));
}

#[test]
fn without_a_namespace_nothing_stays_once_there_is_another() {
    let scratch = Scratch::new();
    let (seconds, script) = sleepers(&scratch);
    let owner = Owner::start_enclosed(&scratch, "marked", &script);
    assert!(until(|| asleep(&seconds).len() == 3));
    // They sleep on, unless another test's owner has found them already.
    kill_all(owner);
    let another = Scratch::new();
    let (first, second, _) = Owner::start_enclosed(&another, "marked", "env > seen").report();
    assert_eq!([first.end, second.end], [End::Exited(0), End::Exited(0)]);
    assert!(another.read("seen").contains("BAKEOFF_STARTED="));
    assert!(until(|| asleep(&seconds).is_empty()));
}

#[test]
fn the_owner_alone_is_killed() {
    for kind in ["namespace", "marked"] {
        let scratch = Scratch::new();
        let (seconds, script) = sleepers(&scratch);
        let mut owner = Owner::start_enclosed(&scratch, kind, &script);
        assert!(until(|| asleep(&seconds).len() == 3), "{kind}");
        owner.process.kill().unwrap();
        owner.process.wait().unwrap();
        assert!(until(|| asleep(&seconds).is_empty()), "{kind}");
    }
}

#[test]
fn a_job_that_kills_its_launcher_leaves_nothing_and_another_launcher_goes_on() {
    let enclosure = Enclosure::open(None);
    for deed in ["kill -KILL $PPID", "kill -KILL $PPID; exec 0<&- 1<&- 2<&-"] {
        let scratch = Scratch::new();
        let (seconds, script) = sleepers(&scratch);
        // The last of them is not waited for.
        let command = scratch.sh(&format!("{script} & sleep 0.05; {deed}; wait"));
        let start = || Launcher::start_with(&Options { within: Some(&enclosure), ..Options::default() }).unwrap();
        let error = start().execute(&command, Patience::SecondInterrupt).unwrap_err();
        assert!(matches!(&error, Error::LauncherEnded { how } if how.contains("signal: 9")), "{error:?}");
        assert_eq!(asleep(&seconds), [0; 0], "{deed}");
        let ended = start().execute(&scratch.command(&["true"]), Patience::SecondInterrupt).unwrap();
        assert_eq!(ended.end, End::Exited(0));
    }
}

/// As root, this would else end the machine.
#[test]
fn a_job_that_kills_all_processes_kills_those_of_its_namespace() {
    if !has_namespaces() {
        return;
    }
    let scratch = Scratch::new();
    let (seconds, script) = sleepers(&scratch);
    let enclosure = Enclosure::open(None);
    let start = || Launcher::start_with(&Options { within: Some(&enclosure), ..Options::default() }).unwrap();
    let error =
        start().execute(&scratch.sh(&format!("{script} & kill -KILL -1")), Patience::SecondInterrupt).unwrap_err();
    assert!(matches!(&error, Error::LauncherEnded { .. }), "{error:?}");
    assert_eq!(asleep(&seconds), [0; 0]);
    assert!(start().execute(&scratch.command(&["true"]), Patience::SecondInterrupt).is_ok());
}

#[test]
fn a_job_in_a_namespace_sees_itself_in_proc() {
    if !has_namespaces() {
        return;
    }
    let scratch = Scratch::new();
    let enclosure = Enclosure::open(None);
    let mut launcher = Launcher::start_with(&Options { within: Some(&enclosure), ..Options::default() }).unwrap();
    let ended = launcher.execute(
        &scratch.sh("test $$ = $(sed 's/ .*//' /proc/$$/stat) && test -d /proc/self && echo /proc/[0-9]* | wc -w"),
        Patience::SecondInterrupt,
    );
    assert_eq!(ended.unwrap().end, End::Exited(0));
    // The first process, the launcher, the shell and what counts.
    assert!(scratch.read("out").trim().parse::<u32>().unwrap() <= 5, "{}", scratch.read("out"));
    assert!(Path::new("/proc/1/status").exists(), "our own /proc is as it was");
    launcher.execute_nothing().unwrap();
}

#[test]
fn an_enclosure_whose_first_process_is_killed_is_of_no_more_use() {
    if !has_namespaces() {
        return;
    }
    let enclosure = Enclosure::open(None);
    let start = || Launcher::start_with(&Options { within: Some(&enclosure), ..Options::default() });
    let mut launcher = start().unwrap();
    let scratch = Scratch::new();
    let ended = launcher.execute(&scratch.sh("kill -KILL 1; readlink /proc/1/ns/pid"), Patience::SecondInterrupt);
    assert_eq!(ended.unwrap().end, End::Exited(0), "from within, nothing kills it");
    signal("-KILL", first_of(scratch.read("out").trim()));
    while launcher.execute(&scratch.command(&["true"]), Patience::SecondInterrupt).is_ok() {}
    drop(launcher);
    assert!(until(|| start().is_err()));
}

/// The first process of a namespace, by its number out here.
fn first_of(namespace: &str) -> u32 {
    let mut pids = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    let is_in = |pid: u32| std::fs::read_link(format!("/proc/{pid}/ns/pid")).is_ok_and(|n| n == Path::new(namespace));
    let is_first = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("NSpid:") && line.ends_with("\t1"))
    };
    pids.find(|&pid| is_in(pid) && is_first(pid)).unwrap()
}
