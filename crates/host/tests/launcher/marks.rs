//! Pipes for marks: what a process writes there comes with its time, whoever else holds the pipe and however much it is.

use crate::support::{LONG_S, Scratch};
use bakeoff_host::{Command, End, Job, JobEnded, Launcher, Patience, Rounds};
use bakeoff_model::marks::Chunk;

fn execute(commands: Vec<Command>) -> JobEnded {
    let mut launcher = Launcher::start(None).unwrap();
    let commands = commands.into_iter().map(Into::into).collect();
    launcher.launch(&Job { commands, marks: true, ..Job::default() }).unwrap();
    let ended = launcher.wait(Patience::SecondInterrupt).unwrap();
    assert!(ended.processes.iter().all(|process| process.end == End::Exited(0)), "{ended:?}");
    ended
}

fn text(chunks: &[Chunk]) -> String {
    chunks.iter().map(|chunk| String::from_utf8(chunk.bytes.clone()).unwrap()).collect()
}

#[test]
fn come_with_their_times() {
    let scratch = Scratch::new();
    let script = r#"echo "phase one" >&$BAKEOFF_MARKS; sleep 0.2; echo "phase two" >&$BAKEOFF_MARKS; sleep 0.1"#;
    let ended = execute(vec![scratch.sh(script)]);
    let [first, second] = &ended.marks[0][..] else { panic!("{ended:?}") };
    assert_eq!((&first.bytes[..], &second.bytes[..]), (&b"phase one\n"[..], &b"phase two\n"[..]));
    assert!(first.at_s >= 0.0 && second.at_s - first.at_s >= 0.19, "{ended:?}");
    assert!(second.at_s <= ended.measurements["wall"] - 0.09, "{ended:?}");
}

#[test]
fn are_those_of_each_process() {
    let scratch = Scratch::new();
    let ended = execute(vec![scratch.sh("echo a >&3"), scratch.sh(":"), scratch.sh("echo c >&3")]);
    let marks: Vec<String> = ended.marks.iter().map(|chunks| text(chunks)).collect();
    assert_eq!(marks, ["a\n", "", "c\n"]);
}

#[test]
fn a_million_of_them_are_all_there() {
    let scratch = Scratch::new();
    if !scratch.has_perl() {
        return;
    }
    let script = r#"open M, ">&=", $ENV{BAKEOFF_MARKS}; print M "op get 0.000001\n" for 1 .. 1_000_000"#;
    let ended = execute(vec![scratch.command(&["perl", "-e", script])]);
    let text = text(&ended.marks[0]);
    assert_eq!((text.lines().count(), ended.marks_lost_bytes), (1_000_000, 0));
    assert!(text.lines().all(|line| line == "op get 0.000001"));
    let times: Vec<f64> = ended.marks[0].iter().map(|chunk| chunk.at_s).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn who_holds_the_pipe_holds_nobody_up() {
    let scratch = Scratch::new();
    let script = format!("echo here >&3; setsid sleep {LONG_S} & exit 0");
    let ended = execute(vec![scratch.sh(&script)]);
    assert_eq!((text(&ended.marks[0]), ended.leftovers), ("here\n".to_owned(), 1));
}

#[test]
fn who_closes_the_pipe_is_waited_for_all_the_same() {
    let scratch = Scratch::new();
    let ended = execute(vec![scratch.sh("echo here >&3; exec 3>&-; sleep 0.1")]);
    assert_eq!(text(&ended.marks[0]), "here\n");
    assert!(ended.measurements["wall"] >= 0.1);
}

#[test]
fn without_them_there_is_no_such_descriptor() {
    let scratch = Scratch::new();
    let ended = crate::support::execute(&scratch.sh("test -z \"$BAKEOFF_MARKS\" && test ! -e /proc/$$/fd/3"));
    assert_eq!(ended.end, End::Exited(0));
}

#[test]
fn a_load_has_a_descriptor_for_them_that_nobody_reads() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    let commands = vec![scratch.sh(r#"echo "op" >&$BAKEOFF_MARKS"#)];
    let commands = commands.into_iter().map(Into::into).collect();
    launcher.launch(&Job { commands, rounds: Some(Rounds::default()), marks: true, ..Job::default() }).unwrap();
    while launcher.achieved().unwrap().ended + launcher.achieved().unwrap().failed < 3 {
        std::thread::yield_now();
    }
    let ended = launcher.stop(9, 0.0).unwrap();
    assert_eq!((ended.rounds.unwrap().failed, ended.marks), (0, vec![]));
}
