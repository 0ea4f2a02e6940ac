//! Where the time goes. Nothing here is about how fast something is.

use super::support::{Place, count, end, skipped, watch, within};
use bakeoff_host::census::{Detail, Report, Roots};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

pub(crate) const CASES: &[(&str, fn())] = &[
    ("a_sleep_is_blocked_time_of_its_call", a_sleep),
    ("lifetimes_are_accounted_for", lifetimes_are_accounted_for),
    ("services_that_run_already_are_watched_with_all_their_threads", services),
    ("a_service_to_which_nothing_happens_is_blocked_all_the_time", a_service_that_sleeps),
];

/// The interval within which a caller may use times.
const WHOLE: [f64; 2] = [0.97, 1.03];

/// How often something is watched until its time is accounted for. Up to 5 of 6,000 switches of a virtual machine were not
/// reported to any program of ours, so that callers have to try again, too.
const MOST_TRIES: u32 = 5;

/// What is seen at the first try whose time is accounted for.
pub(crate) fn accounted(what: &str, watched: impl Fn() -> Option<Report>) -> Option<Report> {
    let mut ratios = vec![];
    for _ in 0..MOST_TRIES {
        let report = watched()?;
        let times = report.times.unwrap();
        let ratio = times.accounted().unwrap();
        let blocked_s: f64 = report.syscalls.values().map(|sums| sums.spent.unwrap().blocked_s).sum();
        let nearly = [0.999, 1.001].map(|part| part * times.blocked_s);
        within("blocked, in calls and not", blocked_s + times.blocked_outside_calls_s, nearly);
        if (WHOLE[0]..=WHOLE[1]).contains(&ratio) {
            return Some(report);
        }
        ratios.push(ratio);
    }
    panic!("{what}: {ratios:?} are not within {WHOLE:?}");
}

fn a_sleep() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let watched = || place.watched(&[&program, "sleeps"], Detail::Times).map(|(report, _)| report);
    let Some(report) = accounted("a sleep", watched) else { return };
    let sleep = report.syscalls["clock_nanosleep"];
    let spent = sleep.spent.unwrap();
    assert_eq!((sleep.count, spent.times_blocked), (1, 1));
    // No timer is early; how late one is depends on the machine's load, but that is no blocked time then.
    assert!(spent.blocked_s >= 0.0199 && spent.blocked_s <= spent.time_s, "{spent:?}");
}

fn lifetimes_are_accounted_for() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let script = "for i in 1 2 3 4 5; do ls -R /usr/include | sort | tail -n 1 & done; wait";
    for argv in [vec!["/bin/ls", "-R", "/usr/include"], vec!["/bin/sh", "-c", script], vec![&program, "futexes"]] {
        let watched = || place.watched(&argv, Detail::Times).map(|(report, _)| report);
        if accounted(argv[0], watched).is_none() {
            return;
        }
    }
}

/// Asks a service forty times while it is watched.
fn asked(program: &str, detail: Detail) -> Option<Report> {
    let mut service = Command::new(program).arg("serves").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut to, mut from) = (service.stdin.take().unwrap(), service.stdout.take().unwrap());
    from.read_exact(&mut [0]).unwrap();
    let report = watch(&Roots::Running(&[service.id()]), detail).map(|watch| {
        for _ in 0..40 {
            to.write_all(&[1]).unwrap();
            from.read_exact(&mut [0]).unwrap();
        }
        watch.finish().unwrap()
    });
    end(&mut service);
    report
}

fn services() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let check = |report: &Report| {
        let calls = ["getppid", "write", "pause"].map(|call| count(report, call));
        assert_eq!((calls, report.tasks), ([40, 40, 0], 42), "one pauses since before: {report:?}");
    };
    let Some(report) = asked(&program, Detail::Counts) else { return };
    check(&report);
    let Some(report) = accounted("a service", || asked(&program, Detail::Times)) else { return };
    check(&report);
    let spent = |call: &str| report.syscalls[call].spent.unwrap();
    assert!(spent("pause").blocked_s > 0.0 && spent("read").times_blocked > 0, "{report:?}");
}

fn a_service_that_sleeps() {
    let place = Place::new();
    let mut service = Command::new("sleep").arg("600").spawn().unwrap();
    while !std::fs::read_to_string(format!("/proc/{}/comm", service.id())).unwrap().starts_with("sleep") {
        std::thread::yield_now();
    }
    let Some(watch) = watch(&Roots::Running(&[service.id()]), Detail::Times) else { return end(&mut service) };
    // Somebody else works meanwhile, and is none of it.
    let Some(program) = place.program() else { return end(&mut service) };
    assert!(Command::new(program).arg("sleeps").status().unwrap().success());
    let report = watch.finish().unwrap();
    end(&mut service);
    let times = report.times.unwrap();
    if report.syscalls.len() != 1 {
        return skipped("a service that sleeps", "it had not begun to sleep");
    }
    let sleep = report.syscalls["clock_nanosleep"].spent.unwrap();
    assert_eq!((times.blocked_s, sleep.blocked_s), (times.lifetime_s, times.lifetime_s), "{report:?}");
    assert_eq!((report.tasks, count(&report, "clock_nanosleep")), (1, 0));
}
