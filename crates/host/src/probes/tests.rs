//! Probes against the real kernel: what they tell of jobs whose doings are known. A shell stands in for the launcher.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use super::all;
use super::cgroup::Cgroup;
use super::ours;
use super::perf::Counters;
use crate::cgroup::tests::{home, joining};
use crate::files::Files;
use crate::job::{Job, Limits};
use crate::launchers::{Ours, our_processes};
use crate::probe::{Confinement, JobObserved, Probe, Zombie};
use bakeoff_model::metric::{METRICS, Measurements};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

const NOTHING: JobObserved<'static> = JobObserved { wall_s: 0.0, zombies: &[] };
const SWITCHES: &str = "perl -e 'select undef, undef, undef, 0.0001 for 1 .. 300'";
/// Touches 4096 pages, each of them once.
const FAULTS: &str = "dd if=/dev/zero of=/dev/null bs=16M count=1 2> /dev/null";

/// A process that starts others on request, as a launcher does, and that runs no program itself.
struct Shell {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Shell {
    fn start() -> Self {
        let mut process = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut shell = Self { process, to, from };
        // It has begun once it replies.
        shell.execute(":");
        shell
    }

    /// Runs a command, waits for its end, and gives the one line that it printed.
    fn execute(&mut self, command: &str) -> String {
        self.to.write_all(format!("{command}\necho\n").as_bytes()).unwrap();
        let mut text = String::new();
        while !text.ends_with("\n\n") && text != "\n" {
            assert!(self.from.read_line(&mut text).unwrap() > 0, "{command} {text}");
        }
        text.trim().to_owned()
    }

    fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// What counters tell of commands that a shell runs, one after the other; none where they are refused.
fn counted(metric: &str, commands: &[&str]) -> Option<Vec<f64>> {
    let mut shell = Shell::start();
    let mut counters = Counters::open(shell.id(), &[metric]);
    if let Some(refused) = counters.unavailable().first() {
        println!("skipped: {refused:?}");
        return None;
    }
    let each = commands.iter().map(|command| {
        counters.before(&Job::default(), &mut Confinement::default()).unwrap();
        shell.execute(command);
        let mut measured = Measurements::new();
        counters.after(&NOTHING, &mut measured).unwrap();
        assert_eq!(measured.len(), 1, "{measured:?}");
        measured[metric]
    });
    Some(each.collect())
}

#[test]
fn switches_are_counted_in_all_processes_and_threads_but_not_in_the_launcher() {
    let tree = format!("sh -c \"{} & {} & wait\"", SWITCHES.replace('$', "\\$"), SWITCHES.replace('$', "\\$"));
    let Some(counts) = counted("context_switches", &[SWITCHES, &tree, SWITCHES, ":"]) else { return };
    let [one, two, again, nothing] = counts[..] else { panic!("{counts:?}") };
    // Others may have taken the processor from it a few times more; and a few times what it waited for was already there.
    assert!((250.0..900.0).contains(&one) && (250.0..900.0).contains(&again), "{counts:?}");
    assert!((500.0..1800.0).contains(&two), "{counts:?}");
    assert!(nothing.abs() < 1e-9, "{counts:?}");
}

/// Without a guard on the launcher one of the first few jobs takes its counter away.
#[test]
fn every_job_is_counted_and_not_only_the_first() {
    let Some(counts) = counted("page_faults", &["/bin/true"; 60]) else { return };
    assert!(counts.iter().all(|faults| (10.0..1000.0).contains(faults)), "{counts:?}");
}

#[test]
fn faults_are_those_of_the_memory_that_is_touched() {
    let tree = format!("sh -c '{FAULTS} & {FAULTS} & (({FAULTS}) &) ; wait; read x < /dev/null'");
    let Some(counts) = counted("page_faults", &["/bin/true", FAULTS, &tree]) else { return };
    let [nothing, one, _] = counts[..] else { panic!("{counts:?}") };
    let huge =
        Files::here().read("sys/kernel/mm/transparent_hugepage/enabled").is_some_and(|text| text.contains("[always]"));
    if huge {
        return println!("skipped: huge pages are on, and 4096 pages are fewer faults");
    }
    assert!(nothing > 10.0 && nothing < 1000.0, "{counts:?}");
    assert!((one - 4096.0).abs() < 1000.0, "{counts:?}");
    assert!(counts[2] > 2.0 * 4096.0 && counts[2] < 3.0 * 4096.0 + 2000.0, "{counts:?}");
}

#[test]
fn task_clock_is_cpu_time() {
    let spin = "perl -e '1 while (times)[0] + (times)[1] < 0.2'";
    let Some(counts) = counted("task_clock", &[spin, ":", spin]) else { return };
    for spun in [counts[0], counts[2]] {
        assert!((0.19..0.4).contains(&spun), "{counts:?}");
    }
    assert!(counts[1].abs() < 1e-9, "{counts:?}");
}

#[test]
fn counters_are_opened_where_they_are_wanted() {
    let shell = Shell::start();
    let counters = Counters::open(shell.id(), &["wall", "instructions"]);
    let measured = format!("{counters:?}");
    assert!(measured.contains("instructions") && !measured.contains("cycles"), "{measured}");
}

#[test]
fn a_job_in_a_group_is_measured_and_limited() {
    let Some(home) = home() else { return };
    let limits_memory = home.limits_memory();
    let home = Arc::new(home);
    let mut probe = Cgroup::with(Ok(Arc::clone(&home)), &["peak", "cgroup_cpu", "pids_peak", "pressure_cpu"]);
    let mut execute = |limits: Limits| {
        let mut confinement = Confinement::default();
        probe.before(&Job { limits, ..Job::default() }, &mut confinement).unwrap();
        let mut command = Command::new("dd");
        command.args(["if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"]).stderr(Stdio::null());
        let status = joining(command, confinement).status().unwrap();
        let mut measured = Measurements::new();
        probe.after(&NOTHING, &mut measured).unwrap();
        (status.signal(), probe.out_of_memory(), measured)
    };
    let (signal, out_of_memory, measured) = execute(Limits::default());
    assert_eq!((signal, out_of_memory), (None, false));
    assert!(!measured.is_empty());
    if limits_memory {
        let (signal, out_of_memory, _) = execute(Limits { memory_bytes: Some(16 << 20), ..Limits::default() });
        assert_eq!((signal, out_of_memory), (Some(libc::SIGKILL), true));
        assert!(!execute(Limits::default()).1);
    }
    let both = Limits { cpu_limit: Some(0.5), realtime: Some(1), memory_bytes: Some(1 << 30), ..Limits::default() };
    let refused = probe.refused(&both);
    assert!(refused.iter().any(|(what, why)| what == "cpu_limit" && why.contains("real-time")), "{refused:?}");
    assert_eq!(refused.len(), if limits_memory { 1 } else { 2 }, "{refused:?}");
    assert!(probe.refused(&Limits::default()).is_empty());
}

#[test]
fn without_groups_everything_says_so() {
    let why = "cgroups are switched off (BAKEOFF_CGROUPS is off)";
    let mut probe = Cgroup::with(Err(why.to_owned()), &["peak", "cgroup_cpu", "pids_peak", "pressure_cpu"]);
    let mut confinement = Confinement::default();
    let limits = Limits { memory_bytes: Some(1), cpu_limit: Some(1.0), ..Limits::default() };
    probe.before(&Job { limits: limits.clone(), ..Job::default() }, &mut confinement).unwrap();
    let mut measured = Measurements::new();
    probe.after(&NOTHING, &mut measured).unwrap();
    assert!(
        measured.is_empty() && confinement.into.is_none() && confinement.join.is_empty() && confinement.kill.is_empty()
    );
    assert_eq!(
        probe.refused(&limits).iter().map(|(what, _)| what.as_str()).collect::<Vec<_>>(),
        ["memory_bytes", "cpu_limit"]
    );
    let unavailable = probe.unavailable();
    assert_eq!(unavailable.len(), 1);
    assert_eq!((unavailable[0].why.as_str(), unavailable[0].metrics.len()), (why, 10));
}

/// Every metric that a probe gives or cannot give is one of the table's, and of all probes together none is missing.
#[test]
fn what_is_told_and_what_is_not_is_everything() {
    let mut shell = Shell::start();
    let wanted: Vec<&str> = METRICS.iter().map(|metric| &*metric.name).collect();
    let mut probes = all(shell.id(), &wanted);
    let mut confinement = Confinement::default();
    for probe in &mut probes {
        probe.before(&Job::default(), &mut confinement).unwrap();
    }
    shell.execute("sleep 0.1");
    let read = |path: &str| Files::here().read(path).unwrap_or_default();
    let io = || read("proc/self/io");
    let zombies = [Zombie { io_before: io(), io: io(), schedstat: read("proc/self/schedstat") }];
    let seen = JobObserved { wall_s: 0.1, zombies: &zombies };
    let mut measured = Measurements::new();
    for probe in &mut probes {
        probe.after(&seen, &mut measured).unwrap();
    }
    let unavailable: Vec<String> =
        probes.iter().flat_map(|probe| probe.unavailable()).flat_map(|reason| reason.metrics).collect();
    println!("{measured:?}\nunavailable: {unavailable:?}");
    for metric in METRICS {
        let ours = ["cgroup", "/proc/", "perf_event_open"].iter().any(|source| metric.source.starts_with(source));
        let is_there = measured.contains_key(&metric.name);
        let is_unavailable = unavailable.iter().any(|name| *name == metric.name);
        assert_eq!(is_there != is_unavailable, ours, "{metric:?} there: {is_there}, unavailable: {is_unavailable}");
    }
    assert!((0.0..=1.0).contains(&measured["foreign_cpu"]) && (0.0..=1.0).contains(&measured["steal"]), "{measured:?}");
    assert!(measured["load"] >= 0.0);
    drop(probes);
    assert!(!our_processes().contains(&shell.id()));
}

#[test]
fn our_cpu_time_is_that_of_the_whole_tree() {
    let mut shell = Shell::start();
    let _ours = Ours::register(shell.id());
    let files = Files::here();
    let before_s = ours::cpu_s(&files, None, 100.0);
    shell.execute("sh -c \"perl -e '1 while (times)[0] < 0.2'\"");
    let spun_s = ours::cpu_s(&files, None, 100.0) - before_s;
    // Other tests of this process add to it; nothing takes away from it.
    assert!(spun_s >= 0.15, "{spun_s}");
    assert!(our_processes().contains(&shell.id()) && our_processes().contains(&std::process::id()));
}
