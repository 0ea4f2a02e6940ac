//! Loads: copies that are started again whenever one has ended, or at a pace; what they achieve is what they did.

use crate::support::{LONG_S, Place, within};
use bakeoff_host::{Achieved, Job, Rounds};
use std::time::{Duration, Instant};

/// Waits until so many copies have ended.
fn until(place: &mut Place, ended: u64) -> Achieved {
    let clock = Instant::now();
    loop {
        let achieved = place.launcher.achieved().unwrap();
        assert_eq!(achieved.failed, 0, "{achieved:?}");
        if achieved.ended >= ended {
            return achieved;
        }
        assert!(clock.elapsed().as_secs_f64() < LONG_S, "{achieved:?}");
        // Not to synchronise: only to leave the processors to the load between two looks.
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn load(place: &mut Place, words: &str, copies: usize, pace_s: Option<f64>) {
    let commands = vec![place.known(words).into(); copies];
    let job = Job { commands, rounds: Some(Rounds { pace_s }), ..Job::default() };
    place.launcher.launch(&job).unwrap();
}

/// A copy that rests for 20 ms can end 50 times in a second, and no more often; three of them 150 times.
#[test]
fn a_closed_load_goes_on_without_a_pause() {
    let Some(mut place) = Place::new() else { return };
    load(&mut place, "rest 0.02 1", 3, None);
    let achieved = until(&mut place, 60);
    let seconds = achieved.seconds;
    assert!(achieved.ended as f64 <= 150.0 * seconds + 3.0, "{achieved:?}");
    // All of them may have ended just now, and not have been started again.
    assert!(achieved.alive <= 3, "{achieved:?}");
    let ended = place.launcher.stop(libc::SIGTERM, 1.0).unwrap();
    let last = ended.rounds.unwrap();
    assert!(last.ended >= achieved.ended && last.seconds >= seconds, "{achieved:?} {last:?}");
}

/// One copy each 50 ms, which it can hold: the rate is the pace's.
#[test]
fn a_paced_load_keeps_its_pace() {
    let Some(mut place) = Place::new() else { return };
    load(&mut place, "nothing", 1, Some(0.05));
    let achieved = until(&mut place, 20);
    // The first starts at once, so 20 have ended after 19 paces or later.
    within("seconds for 20 copies", achieved.seconds, [19.0 * 0.05, LONG_S]);
    let rate = achieved.ended as f64 / achieved.seconds;
    assert!(rate <= 20.0 * 1.1, "{rate} in a second");
    place.launcher.stop(libc::SIGTERM, 1.0).unwrap();
}

#[test]
fn a_load_tells_the_time_that_it_took_from_others() {
    let Some(mut place) = Place::new() else { return };
    load(&mut place, "spin 0.02", 2, None);
    let achieved = until(&mut place, 10);
    let cpu_s = achieved.ended as f64 * 0.02;
    within("cpu of the load", achieved.cpu_s, [cpu_s * 0.99, cpu_s * 1.01 + 0.005 * achieved.ended as f64]);
    place.launcher.stop(libc::SIGTERM, 1.0).unwrap();
}

/// Copies that fail are no copies that have ended.
#[test]
fn copies_that_fail_are_counted_apart() {
    let Some(mut place) = Place::new() else { return };
    load(&mut place, "no-such-subcommand", 1, Some(0.01));
    let clock = Instant::now();
    let achieved = loop {
        let achieved = place.launcher.achieved().unwrap();
        if achieved.failed >= 3 {
            break achieved;
        }
        assert!(clock.elapsed().as_secs_f64() < LONG_S, "{achieved:?}");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(achieved.ended, 0, "{achieved:?}");
    place.launcher.stop(libc::SIGTERM, 1.0).unwrap();
}
