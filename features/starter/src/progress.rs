//! How far the command is: a line for each of its steps, and on a terminal one that shows for how long something has been built,
//! drawn again every second. How far a build has come is not known; how long it takes is, if something like it was built before.

use bakeoff_command::screen;
use bakeoff_report::format;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Prints which step begins, of how many: cut to the width of a terminal, but never drawn over.
pub(crate) fn step(number: usize, of: usize, what: &str) {
    screen::draw(&format!("step {number} of {of}: {what}"));
    if screen::err_is_terminal() {
        screen::err("\n");
    }
}

/// `about 40 s`; none for what is over before it is read, or unknown (0).
fn about(expected_s: f64) -> Option<String> {
    (expected_s >= 1.0).then(|| format!("about {}", format::waiting_time(expected_s)))
}

/// How long builds take, in words that follow others, if each takes as long as the plain one.
pub(crate) fn as_plain(builds: u32, plain_s: f64) -> String {
    match (builds, about(f64::from(builds) * plain_s)) {
        (0, _) => ": in the cache".to_owned(),
        (_, None) => String::new(),
        (1, Some(about)) => format!(" ({about}, like the plain build)"),
        (_, Some(about)) => format!(" ({about}, {builds} times the plain build)"),
    }
}

/// What is drawn during a build.
fn building(elapsed_s: f64, expected_s: f64) -> String {
    let elapsed = format::waiting_time(elapsed_s);
    match about(expected_s) {
        None => format!("building for {elapsed}"),
        Some(about) if elapsed_s > expected_s => format!("building for {elapsed}, longer than expected ({about})"),
        Some(about) => format!("building for {elapsed} of {about}"),
    }
}

/// Builds something that is expected to take `expected_s` seconds (0: unknown), and draws for how long it has been built.
pub(crate) fn watched<T>(expected_s: f64, build: impl FnOnce() -> T) -> T {
    if !screen::err_is_terminal() {
        return build();
    }
    // Nothing is sent: dropping the sender ends the drawing.
    let (over, is_over) = mpsc::channel::<()>();
    let began = Instant::now();
    let draw = move || {
        while is_over.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
            screen::draw(&building(began.elapsed().as_secs_f64(), expected_s));
        }
    };
    let built = thread::scope(|scope| {
        scope.spawn(draw);
        let _over = over;
        build()
    });
    screen::erase();
    built
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_drawn_with_what_is_known_of_its_time() {
        let check = |elapsed_s, expected_s, expect: &str| assert_eq!(building(elapsed_s, expected_s), expect);
        check(12.3, 0.0, "building for 12 s");
        check(12.3, 40.2, "building for 12 s of about 40 s");
        check(40.3, 40.2, "building for 40 s, longer than expected (about 40 s)");
        check(125.0, 3900.0, "building for 2 min 5 s of about 1 h 5 min");
        // Too short to be of use.
        check(12.3, 0.4, "building for 12 s");
    }

    #[test]
    fn a_level_takes_as_long_as_the_plain_build_each_time_that_something_is_built() {
        let check = |builds, plain_s, expect: &str| assert_eq!(as_plain(builds, plain_s), expect);
        check(1, 40.2, " (about 40 s, like the plain build)");
        check(2, 40.2, " (about 1 min 20 s, 2 times the plain build)");
        check(1, 0.4, "");
        check(0, 40.2, ": in the cache");
    }
}
