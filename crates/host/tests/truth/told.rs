//! Marks, as they leave the program and as they arrive: all of them, in their order, each between the two moments that
//! the program's own clock tells.

use crate::support::Place;
use bakeoff_host::{End, Job};

const LINES: usize = 100_000;

#[test]
fn every_mark_arrives_with_the_time_at_which_it_could_have() {
    let Some(mut place) = Place::new() else { return };
    let job = Job { commands: vec![place.known(&format!("marks {LINES}")).into()], marks: true, ..Job::default() };
    let ended = place.execute(&job);
    assert_eq!(ended.processes[0].end, End::Exited(0), "{}", place.read("err"));
    assert_eq!(ended.marks.len(), 1, "one pipe for each process");
    complete(&ended.marks[0].iter().flat_map(|chunk| chunk.bytes.clone()).collect::<Vec<u8>>());
    let [began, done] = place.numbers("out")[..] else { panic!("{}", place.read("out")) };
    let times: Vec<f64> = ended.marks[0].iter().map(|chunk| chunk.at_s).collect();
    assert!(times.is_sorted(), "they do not come before one another");
    let started = ended.processes[0].started_unix_s;
    let (first, last) = (started + times[0], started + times[times.len() - 1]);
    // Nothing arrives before it is written. The pipe holds 64 KiB or a little more: the last of it may come late, but
    // what is read before the program ends is read within the trial.
    assert!(first >= began - 0.001, "the first came at {first}, before {began}");
    assert!(last <= started + ended.measurements["wall"] + 0.1, "the last came at {last}, after the trial");
    assert!(last >= done - 0.1 || times.len() > 1, "{done} {last}");
}

#[test]
fn each_process_has_marks_of_its_own() {
    let Some(mut place) = Place::new() else { return };
    let commands = (1..=3).map(|n| place.known(&format!("marks {}", n * 1000)).into()).collect();
    let ended = place.execute(&Job { commands, marks: true, ..Job::default() });
    assert!(ended.processes.iter().all(|process| process.end == End::Exited(0)), "{ended:?}");
    let lines = |n: usize| ended.marks[n].iter().flat_map(|chunk| &chunk.bytes).filter(|&&byte| byte == b'\n').count();
    assert_eq!([lines(0), lines(1), lines(2)], [1000, 2000, 3000]);
}

#[test]
fn without_marks_there_is_no_pipe() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.execute(&Job { commands: vec![place.known("marks 1").into()], ..Job::default() });
    // The program looks for the variable, and says so.
    assert_eq!(ended.processes[0].end, End::Exited(71), "{ended:?}");
    assert!(ended.marks.iter().all(Vec::is_empty), "{ended:?}");
}

fn complete(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = 0;
    for (number, line) in text.lines().enumerate() {
        assert_eq!(line, format!("op x 0.{number:09}"));
        lines += 1;
    }
    assert_eq!(lines, LINES);
    assert!(text.ends_with('\n'));
}
