//! Diagnostic trials: a trial's command under the tracer, which is this very executable, also where that stands in for watching
//! the kernel; and tracers that do not trace.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_host::tracer::Opened;
use bakeoff_lab::Subject;
use bakeoff_model::record::Failure;
use bakeoff_model::study::{Ready, Service};
use bakeoff_testkit::stage::{Stage, alive, marker, service};
use bakeoff_why::evidence::{Evidence, Traced};
use bakeoff_why::kernel::{self, KernelLine};
use bakeoff_why::trials::execute;
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;

/// The first word by which this executable is the tracer; the second is the order.
const TRACE: &str = "trace-this";

const CASES: &[(&str, fn())] = &[
    ("what_a_traced_trial_looks_for_is_named_by_its_places", paths_are_named),
    ("a_traced_trial_is_judged_as_any_other", failures_are_kept),
    ("a_traced_trial_has_a_hundred_times_the_timeout", timeout),
    ("a_traced_trial_has_its_services_and_nothing_is_left", services),
    ("what_a_service_does_while_a_traced_trial_lasts_is_seen", served),
    ("a_service_that_must_be_killed_is_not_seen_and_that_is_said", killed),
    ("a_traced_trial_may_mark", marks),
    ("the_tracer_counts_where_the_kernel_may_not_be_watched", counted),
    ("what_neither_way_sees_has_both_reasons", neither),
    ("what_cannot_be_traced_is_said_and_no_error", missing),
    ("a_diagnostic_trial_of_something_unplanned_is_refused", unplanned),
];

fn main() {
    let mut words = std::env::args().skip(1);
    if words.next().is_some_and(|word| word == TRACE) {
        let order = words.next().unwrap();
        std::process::exit(bakeoff_host::tracer::execute(order.as_ref()).unwrap());
    }
    let trial = |(name, case): &(&'static str, fn())| {
        let case = *case;
        Trial::test(*name, move || {
            case();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), CASES.iter().map(trial).collect()).exit();
}

fn diagnose(stage: &Stage, tracer: &[&str]) -> Evidence {
    let tracer: Vec<String> = tracer.iter().map(|&word| word.to_owned()).collect();
    let subject = Subject { variant: "b", workload: "w" };
    execute(subject, &tracer, &mut stage.local()).unwrap().unwrap()
}

fn traced(stage: &Stage) -> Traced {
    let own = std::env::current_exe().unwrap();
    match diagnose(stage, &[own.to_str().unwrap(), TRACE]) {
        Evidence::Traced(traced) => *traced,
        other => panic!("{other:?}"),
    }
}

fn paths_are_named() {
    let stage = Stage::new("cat \"$PREFIX/gone\" \"$HOME/gone\" /dev/null; cat \"$PREFIX/gone\"; exit 0");
    let traced = traced(&stage);
    assert_eq!((traced.workload.as_str(), &traced.failure, traced.command.tasks), ("w", &None, 3));
    let missed = |path: &str, missed| Opened { path: path.to_owned(), found: 0, missed };
    assert!(traced.command.opened.contains(&missed("$PREFIX/gone", 2)), "{:?}", traced.command.opened);
    assert!(traced.command.opened.contains(&missed("$HOME/gone", 1)), "{:?}", traced.command.opened);
    assert!(traced.command.syscalls["execve"].count >= 3 && traced.command.mapped.iter().any(|file| file.executable));
    let left: Vec<_> = std::fs::read_dir(stage.path().join("scratch")).unwrap().collect();
    let left: Vec<_> = left.into_iter().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "stderr" || name == "stdout"), "{left:?}");
}

fn failures_are_kept() {
    let untraced = "grep -q 'TracerPid:.0$' /proc/self/status || { echo traced >&2; exit 9; }";
    let failure = traced(&Stage::new(untraced)).failure;
    assert!(matches!(&failure, Some(Failure::Exit { code: 9, stderr }) if stderr == &["traced"]), "{failure:?}");
    let knows = "test \"$BAKEOFF_TRACED\" = 1 && echo less || echo more";
    assert_eq!(traced(&Stage::new(knows).expect("less\n")).failure, None);
    let failure = traced(&Stage::new("echo wrong").expect("right\n")).failure;
    assert!(matches!(failure, Some(Failure::WrongOutput { line: 1, .. })), "{failure:?}");
    let failure = traced(&Stage::new("kill -9 $$")).failure;
    assert!(matches!(failure, Some(Failure::Signal { signal: 9, .. })), "{failure:?}");
    let failure = traced(&Stage::new("no-such-program")).failure;
    assert!(matches!(failure, Some(Failure::NotStarted { .. })), "{failure:?}");
    let oracle = Stage::new("true").workload(|w| w.oracle = Some("exit 3".to_owned()));
    let failure = traced(&oracle).failure;
    assert!(matches!(&failure, Some(Failure::Surroundings { part, .. }) if part == "oracle"), "{failure:?}");
}

fn timeout() {
    let stage = Stage::new("sleep 1000").workload(|w| w.timeout_s = Some(0.004));
    let failure = traced(&stage).failure;
    assert!(matches!(failure, Some(Failure::TimedOut { after_s, .. }) if after_s == 0.4), "{failure:?}");
}

fn services() {
    let marker = marker();
    let run = format!("echo ready; exec sleep {marker}");
    let stage = Stage::new("test -n \"$PORT_s\"").service(service("s", &run, Ready::Log("ready".to_owned())));
    assert_eq!(traced(&stage).failure, None);
    assert_eq!(alive(&marker), Vec::<String>::new());
    let stage = Stage::new("true").service(service("s", "exit 1", Ready::Log("ready".to_owned())));
    let failure = traced(&stage).failure;
    assert!(matches!(&failure, Some(Failure::Surroundings { part, .. }) if part.contains('s')), "{failure:?}");
}

fn served() {
    let folder = tempfile::tempdir().unwrap();
    let fifos = ["asked", "answered", "examined", "told"];
    let [asked, answered, examined, told] = fifos.map(|name| folder.path().join(name).display().to_string());
    let run = format!(
        "mkfifo {asked} {answered} {examined} {told}; cat /nowhere/before; echo ready; \
         while read path; do cat \"$path\"; done < {asked}; cat \"$HOME/gone\"; echo > {answered}; \
         read path < {examined}; cat \"$path\"; echo > {told}; exec sleep 1000"
    );
    let ask = format!("for i in 1 2 3; do echo /nowhere/during; done > {asked}; read x < {answered}");
    let examine = format!("echo /nowhere/after > {examined}; read x < {told}");
    let stage = Stage::new(&ask).service(service("s", &run, Ready::Log("ready".to_owned())));
    let traced = traced(&stage.workload(|w| w.oracle = Some(examine)));
    assert_eq!((&traced.failure, &traced.services_unseen), (&None, &BTreeMap::new()));
    let seen = &traced.services["s"];
    let missed = |path: &str| seen.opened.iter().find(|opened| opened.path == path).map_or(0, |opened| opened.missed);
    assert_eq!(["/nowhere/before", "/nowhere/during", "/nowhere/after"].map(missed), [0, 3, 0], "{:?}", seen.opened);
    assert_eq!((missed("$HOME/gone"), seen.children.processes), (1, 4));
    assert!(seen.children.syscalls["execve"].count >= 4 && seen.mapped.iter().any(|file| file.path.contains("/cat")));
    assert!(traced.command.opened.iter().all(|opened| opened.path != "/nowhere/during"));
}

fn killed() {
    let deaf = service("s", "trap '' TERM; echo ready; while :; do sleep 0.01; done", Ready::Log("ready".to_owned()));
    let traced = traced(&Stage::new("true").service(Service { stop_within_s: 0.001, ..deaf }));
    assert_eq!((&traced.failure, &traced.services), (&None, &BTreeMap::new()));
    assert!(traced.services_unseen["s"].contains("killed"), "{:?}", traced.services_unseen);
}

fn marks() {
    let stage = Stage::new("echo phase load >&$BAKEOFF_MARKS").workload(|w| w.phases = vec!["load".to_owned()]);
    assert_eq!(traced(&stage).failure, None);
    let stage = Stage::new("true").workload(|w| w.phases = vec!["load".to_owned()]);
    assert!(matches!(traced(&stage).failure, Some(Failure::BadMarks { .. })));
}

/// What is seen where the kernel may not be watched.
fn refused(stage: &Stage) -> KernelLine {
    let own = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let subject = Subject { variant: "b", workload: "w" };
    kernel::execute(subject, &[own, TRACE.to_owned()], Some("no bpf(2)"), &mut stage.local()).unwrap().unwrap()
}

fn counted() {
    let deaf =
        service("deaf", "trap '' TERM; echo ready; while :; do sleep 0.01; done", Ready::Log("ready".to_owned()));
    let deaf = Service { stop_within_s: 0.001, ..deaf };
    let idle = service("idle", "echo ready; exec sleep 1000", Ready::Log("ready".to_owned()));
    // It does as much as in a trial that is timed.
    let line = refused(&Stage::new("test -z \"$BAKEOFF_TRACED\" && cat /dev/null").service(deaf).service(idle));
    assert_eq!((line.tracer.as_deref(), &line.missing), (Some("no bpf(2)"), &None));
    let report = line.report.unwrap();
    assert!(report.syscalls["execve"].count == 2 && report.tasks >= 1, "{report:?}");
    assert!(!report.has_times() && report.syscalls.values().all(|sums| sums.spent.time_s == 0.0));
    assert_eq!((report.faults, report.lost_tasks), (None, 0));
    assert_eq!(line.services.keys().collect::<Vec<_>>(), ["idle"]);
    assert!(line.services_unseen["deaf"].contains("killed"), "{:?}", line.services_unseen);
}

fn neither() {
    let line = refused(&Stage::new("exit 9"));
    let why = line.missing.unwrap();
    assert!(
        line.report.is_none() && why.starts_with("no bpf(2); under the tracer: ") && why.contains("code 9"),
        "{why}"
    );
}

fn missing() {
    let stage = Stage::new("touch made");
    // They stand where the tracer would, and find the order after their own words.
    let says = |text: &str| {
        let output = "$(sed 's/.*\"output\":\"\\([^\"]*\\)\".*/\\1/' \"$0\")";
        format!("PATH=/usr/bin:/bin; printf '%s' '{text}' > \"{output}\"; exit 127")
    };
    for (tracer, part) in [
        (vec![], "nothing traces here"),
        (vec!["/no/such/tracer"], "/no/such/tracer"),
        (vec!["/bin/sh", "-c", "echo broken >&2; exit 5"], "the tracer reported nothing: it exited with 5: broken"),
        (vec!["/bin/sh", "-c", &says("nonsense")], "the tracer reported nothing"),
        (vec!["/bin/sh", "-c", &says("{\"refused\":{\"why\":\"not here\"}}")], "not here"),
    ] {
        let Evidence::Missing { workload, why } = diagnose(&stage, &tracer) else { panic!("{tracer:?}") };
        assert!(workload.as_deref() == Some("w") && why.contains(part), "{why:?} has no {part:?}");
    }
    assert!(!stage.path().join("made").exists(), "it was executed without being traced");
}

fn unplanned() {
    let stage = Stage::new("true");
    for (variant, workload, name) in [("none", "w", "variant `none`"), ("a", "none", "workload `none`")] {
        let subject = Subject { variant, workload };
        let error = execute(subject, &["true".to_owned()], &mut stage.local()).unwrap_err();
        assert_eq!(error.to_string(), format!("the {name} is not in the plan"));
    }
}
