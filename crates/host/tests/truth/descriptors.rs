//! Descriptors 0, 1 and 2: what a program finds open when it begins, and whether it can read or write there.

use crate::support::Place;
use bakeoff_host::{End, Job, Rounds};

/// Says of each descriptor what it is and, by the last digit of its flags (open(2)), its access mode: 0 to read, 1 to
/// write. It also reads its standard input to the end.
const SAYS: &str = "for n in 0 1 2; do
        readlink /proc/self/fd/$n
        grep '^flags:' /proc/self/fdinfo/$n
    done
    cat
    echo read to the end: $?";

fn check(said: &str, place: &Place) {
    let lines: Vec<&str> = said.lines().collect();
    let [input, input_flags, output, output_flags, error, error_flags, rest @ ..] = lines.as_slice() else {
        panic!("{said}")
    };
    assert_eq!(*input, "/dev/null");
    assert_eq!(*output, place.path("out").to_str().unwrap());
    assert_eq!(*error, place.path("err").to_str().unwrap());
    for (flags, mode) in [(input_flags, '0'), (output_flags, '1'), (error_flags, '1')] {
        assert!(flags.ends_with(mode), "{said}");
    }
    assert_eq!(rest, ["read to the end: 0"], "{said}");
}

#[test]
fn standard_input_can_be_read_and_is_empty() {
    let Some(mut place) = Place::new() else { return };
    let command = place.command(&["sh", "-c", SAYS]);
    let ended = place.execute(&Job { commands: vec![command.into()], ..Job::default() });
    assert_eq!(ended.processes[0].end, End::Exited(0), "{ended:?}");
    check(&place.read("out"), &place);
}

#[test]
fn also_beside_another_process_and_with_marks() {
    let Some(mut place) = Place::new() else { return };
    let other = place.command(&["cat"]);
    let other = bakeoff_host::Command { stdout: place.path("2"), ..other };
    let commands = vec![place.command(&["sh", "-c", SAYS]).into(), other.into()];
    let ended = place.execute(&Job { commands, marks: true, ..Job::default() });
    assert!(ended.processes.iter().all(|process| process.end == End::Exited(0)), "{ended:?}");
    check(&place.read("out"), &place);
    assert_eq!(place.read("2"), "");
}

#[test]
fn a_load_can_read_it_too() {
    let Some(mut place) = Place::new() else { return };
    let command = place.command(&["cat"]);
    place
        .launcher
        .launch(&Job { commands: vec![command.into()], rounds: Some(Rounds::default()), ..Job::default() })
        .unwrap();
    let is_done = |achieved: &bakeoff_host::Achieved| achieved.ended + achieved.failed >= 2;
    while !is_done(&place.launcher.achieved().unwrap()) {
        std::thread::yield_now();
    }
    let ended = place.launcher.stop(9, 0.0).unwrap();
    assert_eq!(ended.rounds.as_ref().map(|achieved| achieved.failed), Some(0), "{ended:?}");
}
