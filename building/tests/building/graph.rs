//! The order of layers, what they have of the processors, and what is told of those that are left.

use crate::BuildEvent;
use crate::building_tests::study::{Study, layer};
use crate::journal::BuildOutcome;
use bakeoff_testkit::files::{read, sh};
use std::thread::available_parallelism;

/// The first layer of one variant waits for the last one of the other: as stages, they would wait for ever.
#[test]
fn a_layer_begins_when_the_one_below_it_is_there() {
    let mut study = Study::new(&[
        layer("base", "if test $WHO = late; then read line < $PIPE; fi; echo > $PREFIX/base"),
        layer("top", "if test $WHO = early; then echo go > $PIPE; fi; echo $WHO > $PREFIX/top"),
    ]);
    // Where confined scripts may write, too.
    let shared = tempfile::tempdir_in("/dev/shm").unwrap();
    sh(shared.path(), "mkfifo pipe");
    let pipe = shared.path().join("pipe").display().to_string();
    study.variant("late", &[("WHO", "late"), ("PIPE", &pipe)]);
    study.variant("early", &[("WHO", "early"), ("PIPE", &pipe)]);
    let lines = study.build();
    assert!(lines.iter().all(|line| line.outcome == BuildOutcome::Built), "{lines:?}");
    assert_eq!(study.built_layers(), ["base", "base", "top", "top"]);
}

#[test]
fn scripts_share_the_processors() {
    let cpus = available_parallelism().unwrap().get();
    for at_a_time in [1, 2, 3] {
        let mut study =
            Study::new(&[layer("base", "echo $JOBS $WHO > $PREFIX/base"), layer("top", "echo $JOBS > $PREFIX/top")]);
        study.jobs = at_a_time;
        let names = ["a", "b", "c"];
        names.iter().for_each(|name| study.variant(name, &[("WHO", name)]));
        let lines = study.build();
        let jobs = |line: &crate::journal::BuildLine| -> usize {
            let text = read(study.cache.prefix_of(&line.digest).join("base"));
            text.split(' ').next().unwrap().parse().unwrap()
        };
        let most = if at_a_time == 1 { cpus } else { cpus.div_ceil(at_a_time).max(cpus / at_a_time) };
        // All three first layers can begin at once, so that none of them has more than its share.
        let all: Vec<usize> = lines.iter().map(jobs).collect();
        assert!(all.iter().all(|&jobs| jobs >= 1 && jobs <= most.max(1) || jobs == cpus), "{at_a_time}: {all:?}");
        assert_eq!(jobs(&lines[0]), (cpus / at_a_time).max(1), "the first one has only its share");
    }
    // Alone, it has them all.
    let study = Study::new(&[layer("only", "echo $JOBS > $PREFIX/jobs")]);
    assert_eq!(read(study.built().1.join("jobs")), cpus.to_string());
}

#[test]
fn what_is_left_is_told() {
    let mut study = Study::new(&[layer("base", "echo > $PREFIX/base"), layer("top", "echo $WHO > $PREFIX/top")]);
    study.jobs = 1;
    study.layers[0].takes_s = Some(100.0);
    study.variant("a", &[("WHO", "a")]);
    study.variant("b", &[("WHO", "b")]);
    study.build();
    let told = |study: &Study| {
        let of = |event: &BuildEvent| match event {
            BuildEvent::Missing { layers, at_once, expected_wall_s } => Some((*layers, *at_once, *expected_wall_s)),
            BuildEvent::Finished { left, left_s, .. } => Some((*left, 0, *left_s)),
            _ => None,
        };
        study.events.lock().unwrap().iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(told(&study), [(3, 1, None), (2, 0, None), (1, 0, None), (0, 0, Some(0.0))]);
    study.layers[1].name = "tops".to_owned();
    study.layers[1].takes_s = Some(50.0);
    study.layers[1].script += "; true";
    study.layers[0].name = "bases".to_owned();
    study.layers[0].script += "; true";
    study.build();
    let expect = [(3, 1, Some(200.0)), (2, 0, Some(100.0)), (1, 0, Some(50.0)), (0, 0, Some(0.0))];
    assert_eq!(told(&study), expect);
    // One after the other, however many at a time.
    study.jobs = 8;
    study.layers[0].script += "; true";
    study.layers[0].name = "based".to_owned();
    study.layers[1].name = "topped".to_owned();
    study.build();
    assert_eq!(told(&study)[0], (3, 3, Some(150.0)));
}
