//! What the tracer survives, and hands on: signals, stops, threads that run, first threads that end first, processes
//! that outlive the main one, a kernel that refuses.

use super::support::{Ended, Place};
use bakeoff_host::tracer::TraceReport;
use std::os::unix::process::CommandExt as _;
use std::time::{Duration, Instant};

pub(crate) const CASES: &[(&str, fn())] = &[
    ("it_ends_by_the_signal_that_the_command_ended_by", it_ends_by_the_signal_that_the_command_ended_by),
    ("a_broken_pipe_kills_as_ever", a_broken_pipe_kills_as_ever),
    ("signals_arrive_each_once", signals_arrive_each_once),
    ("what_stops_itself_is_seen_to_be_stopped_and_goes_on", what_stops_itself_is_seen_to_be_stopped_and_goes_on),
    ("a_thread_may_become_another_program", a_thread_may_become_another_program),
    (
        "what_is_mapped_after_the_first_thread_has_ended_is_seen",
        what_is_mapped_after_the_first_thread_has_ended_is_seen,
    ),
    ("what_outlives_the_main_process_dies_with_it", what_outlives_the_main_process_dies_with_it),
    ("a_killed_tracer_takes_all_with_it", a_killed_tracer_takes_all_with_it),
    ("what_the_tracer_is_asked_the_command_is_asked", what_the_tracer_is_asked_the_command_is_asked),
    ("a_child_that_is_killed_is_no_more_than_that", a_child_that_is_killed_is_no_more_than_that),
    ("a_kernel_that_refuses_is_said", a_kernel_that_refuses_is_said),
];

fn it_ends_by_the_signal_that_the_command_ended_by() {
    let place = Place::new();
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGPIPE, libc::SIGSEGV] {
        let ended = place.trace(&["sh", "-c", &format!("cat /nowhere; kill -{signal} $$")]);
        assert_eq!((ended.code, ended.signal), (None, Some(signal)));
        assert_eq!(ended.looked_for("/nowhere"), (0, 1));
    }
    let Some(program) = place.program() else { return };
    assert_eq!(place.trace(&[&program, "abort"]).signal, Some(libc::SIGABRT));
}

fn a_broken_pipe_kills_as_ever() {
    let place = Place::new();
    let ended = place.trace(&["sh", "-c", "yes | head -n 1"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "y\n"));
}

fn signals_arrive_each_once() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    assert_eq!(place.trace(&[&program, "signals"]).code, Some(6));
}

fn what_stops_itself_is_seen_to_be_stopped_and_goes_on() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let ended = place.trace(&[&program, "stops"]);
    assert_eq!((ended.code, ended.traced().tasks), (Some(3), 2));
}

fn a_thread_may_become_another_program() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let ended = place.trace(&[&program, "exec-in-thread"]);
    assert_eq!((ended.code, ended.traced().tasks), (Some(5), 3));
    assert_eq!((ended.calls("getppid"), ended.calls("execve")), ((1000, 0), (2, 0)));
    assert_eq!(ended.looked_for(&program), (2, 0));
}

fn what_is_mapped_after_the_first_thread_has_ended_is_seen() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let ended = place.trace(&[&program, "headless"]);
    assert_eq!((ended.code, ended.traced().tasks), (Some(0), 2));
    assert!(ended.maps("/etc/passwd"), "{:?}", ended.traced().mapped);
}

/// Whether a process is gone, or has ended and is only not reaped yet; waits for it.
fn is_gone(pid: &str) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

fn what_outlives_the_main_process_dies_with_it() {
    let place = Place::new();
    let ended = place.trace(&["sh", "-c", "sleep 1000 > /dev/null & echo $!"]);
    assert_eq!(ended.code, Some(0));
    assert!(is_gone(ended.out.trim()), "process {} goes on", ended.out);
}

fn a_killed_tracer_takes_all_with_it() {
    let place = Place::new();
    let (mut tracer, _) = place.tracer(&["sh", "-c", "echo $$ > pid.new; mv pid.new pid; exec sleep 1000"]);
    let mut tracer = tracer.spawn().unwrap();
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(place.path("pid")) {
            break pid;
        }
        assert!(tracer.try_wait().unwrap().is_none(), "it has ended");
        std::thread::yield_now();
    };
    tracer.kill().unwrap();
    tracer.wait().unwrap();
    assert!(is_gone(pid.trim()), "process {pid} goes on");
}

/// It is asked alone, and in a group with others, as the launcher asks; once is once.
fn what_the_tracer_is_asked_the_command_is_asked() {
    for (signal, number, is_group) in [
        ("TERM", libc::SIGTERM, false),
        ("INT", libc::SIGINT, true),
        ("USR1", libc::SIGUSR1, true),
        ("QUIT", libc::SIGQUIT, false),
    ] {
        let place = Place::new();
        let script =
            format!("trap 'echo asked; exit 3' {signal}; echo $$ > .pid; mv .pid pid; while :; do sleep 0.01; done");
        // A shell cannot trap what was ignored when it began, as in the background of another shell.
        let (mut tracer, told) = place.tracer(&["env", "--default-signal", "sh", "-c", &script]);
        let mut tracer = tracer.process_group(0).stdout(std::process::Stdio::piped()).spawn().unwrap();
        while !place.path("pid").exists() {
            assert!(tracer.try_wait().unwrap().is_none(), "it has ended");
            std::thread::yield_now();
        }
        let pid = i32::try_from(tracer.id()).unwrap();
        // SAFETY: kill touches no memory.
        assert_eq!(unsafe { libc::kill(if is_group { -pid } else { pid }, number) }, 0);
        let ended = Ended::of(&tracer.wait_with_output().unwrap(), &told);
        assert_eq!((ended.code, ended.out.as_str()), (Some(3), "asked\n"), "{signal}");
    }
}

fn a_child_that_is_killed_is_no_more_than_that() {
    let place = Place::new();
    let ended = place.trace(&["sh", "-c", "sleep 1000 & kill -9 $!; wait $!; echo $?"]);
    assert_eq!((ended.code, ended.out.as_str(), ended.traced().tasks), (Some(0), "137\n", 2));
}

/// Answers ptrace(2) with EPERM, as a container does.
fn without_ptrace() -> std::io::Result<()> {
    let op = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_ptrace as u32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the calls read the program, which outlives them.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if refused { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

fn a_kernel_that_refuses_is_said() {
    let place = Place::new();
    let (mut tracer, told) = place.tracer(&["touch", "made"]);
    // SAFETY: it makes two system calls between fork and exec, and allocates nothing.
    unsafe { tracer.pre_exec(without_ptrace) };
    let ended = Ended::of(&tracer.output().unwrap(), &told);
    let TraceReport::Refused { why } = &ended.told else { panic!("{:?}", ended.told) };
    assert!(why.contains("ptrace(2): Operation not permitted"), "{why}");
    assert!(!place.path("made").exists(), "the command was executed without being traced");
}
