//! Calls and faults: as many as the tracer sees, and as many as programs are known to make.

use super::support::{Place, count, skipped, within};
use bakeoff_why::census::{Detail, Faults};
use std::fs;

pub(crate) const CASES: &[(&str, fn())] = &[
    ("listing_a_folder_makes_the_calls_that_the_tracer_counts", listing_a_folder),
    ("a_pipeline_makes_the_calls_that_the_tracer_counts", a_pipeline),
    ("threads_make_the_calls_that_the_tracer_counts", threads),
    ("turns_of_threads_make_the_calls_that_the_tracer_counts", turns_of_threads),
    ("a_static_program_is_counted_exactly", a_static_program),
    ("a_thread_that_executes_a_program_is_followed", a_thread_that_executes),
    ("programs_of_32_bits_have_their_own_numbers", programs_of_32_bits),
    ("writes_to_fresh_pages_are_counted", writes_to_fresh_pages),
    ("copies_on_write_are_counted", copies_on_write),
    ("reads_of_fresh_pages_are_counted", reads_of_fresh_pages),
];

/// Compares both ways of counting with the tracer, but for calls that vary from run to run.
fn compare(place: &Place, argv: &[&str], vary: &[&str]) {
    let Some((expected, tasks)) = place.traced(argv) else { return };
    for detail in [Detail::Times, Detail::Path] {
        let Some((report, _)) = place.watched(argv, detail) else { return };
        assert_eq!((report.tasks, report.lost_tasks), (tasks, 0), "{argv:?}");
        let own = report.syscalls.iter().map(|(name, sums)| (name.as_str(), sums.count));
        let own: Vec<(&str, u64)> = own.filter(|(name, _)| !vary.contains(name)).collect();
        let others = expected.iter().map(|(name, count)| (name.as_str(), *count));
        let others: Vec<(&str, u64)> = others.filter(|(name, _)| !vary.contains(name)).collect();
        assert_eq!(own, others, "{argv:?} {detail:?}");
    }
}

fn listing_a_folder() {
    let place = Place::new();
    for folder in 0..30 {
        fs::create_dir_all(place.path(&format!("tree/{folder}/sub"))).unwrap();
        fs::write(place.path(&format!("tree/{folder}/file")), "text").unwrap();
    }
    let tree = place.path("tree").display().to_string();
    compare(&place, &["/bin/ls", "-lR", &tree], &[]);
}

/// A shell hears of its children's ends when they come: between calls, or within one that is made again.
fn a_pipeline() {
    let place = Place::new();
    fs::write(place.path("file"), "b\na\nc\n").unwrap();
    let script = "cat file | sort | wc -l; (cat file; exec ls) > out; cat /nowhere 2> /dev/null; exec cat out";
    let vary = ["read", "rt_sigaction", "rt_sigreturn", "rt_sigprocmask", "wait4"];
    compare(&place, &["/bin/sh", "-c", script], &vary);
}

/// How often a thread waits depends on when others run, and so does whether its stack is that of one that has ended.
const VARY_BY_THREADS: [&str; 6] = ["futex", "mmap", "mprotect", "munmap", "madvise", "brk"];

fn threads() {
    let place = Place::new();
    let Some(program) = place.program_of_tracer() else { return };
    compare(&place, &[&program, "threads"], &VARY_BY_THREADS);
}

fn turns_of_threads() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    compare(&place, &[&program, "futexes"], &VARY_BY_THREADS);
    let Some((report, _)) = place.watched(&[&program, "futexes"], Detail::Times) else { return };
    let futex = report.syscalls["futex"].spent;
    assert!(futex.blocked_s > 0.0 && futex.times_blocked > 0 && futex.blocked_s <= futex.time_s, "{report:?}");
    assert_eq!((count(&report, "getppid"), report.tasks), (1000, 3));
}

fn a_static_program() {
    let place = Place::new();
    let Some(program) = place.program_of_tracer() else { return };
    for detail in [Detail::Times, Detail::Path] {
        let Some((report, _)) = place.watched(&[&program, "calls"], detail) else { return };
        let calls = ["getppid", "openat", "execve", "exit_group"].map(|call| count(&report, call));
        assert_eq!((calls, report.tasks), ([1000, 10, 1, 1], 1), "{report:?}");
    }
}

/// It gets the number of its process, which was another thread's.
fn a_thread_that_executes() {
    let place = Place::new();
    let Some(program) = place.program_of_tracer() else { return };
    for detail in [Detail::Times, Detail::Path] {
        let Some((report, _)) = place.watched(&[&program, "exec-in-thread"], detail) else { return };
        let calls = ["getppid", "execve", "exit_group"].map(|call| count(&report, call));
        assert_eq!((calls, report.tasks), ([1000, 2, 1], 3), "{report:?}");
    }
}

/// Without a C library, which is not there for such programs: 7 getppid and an exit.
const OF_32_BITS: &str = r#"
void _start(void) {
    int answer;
    for (int i = 0; i < 7; i++)
        __asm__ volatile("int $0x80" : "=a"(answer) : "a"(64) : "memory");
    __asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
"#;

fn programs_of_32_bits() {
    let place = Place::new();
    if !cfg!(target_arch = "x86_64") {
        return skipped("programs of 32 bits", "not on this machine");
    }
    let source = place.path("short.c");
    fs::write(&source, OF_32_BITS).unwrap();
    let options = ["-m32", "-O1", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie"];
    // A full path replaces the folder of tests.
    let Some(program) = place.compiled(&source.display().to_string(), &options) else { return };
    if std::process::Command::new(&program).status().is_err() {
        return skipped("programs of 32 bits", "this kernel does not run them");
    }
    for detail in [Detail::Times, Detail::Path] {
        let script = format!("{program}; exec {program}");
        let Some((report, _)) = place.watched(&["/bin/sh", "-c", &script], detail) else { return };
        assert_eq!((count(&report, "getppid"), count(&report, "exit")), (14 + shell_s_own(&report), 2), "{report:?}");
    }
}

/// A shell may ask for its parent once.
fn shell_s_own(report: &bakeoff_why::census::Report) -> u64 {
    count(report, "getppid").saturating_sub(14).min(1)
}

const PAGES: f64 = 5000.0;
const NEARLY: [f64; 2] = [0.997 * PAGES, 1.003 * PAGES];

/// What a subcommand of the program faults, beyond what it faults if it does nothing.
fn faults(what: &str) -> Option<[f64; 4]> {
    let place = Place::new();
    let program = place.program()?;
    let of = |what: &str| {
        let (report, _) = place.watched(&[&program, what], Detail::Times)?;
        let Some(Faults { read_absent, write_absent, read_present, write_present }) = report.faults else {
            skipped("page faults", "this kernel has no tracepoint for them");
            return None;
        };
        Some([read_absent, write_absent, read_present, write_present].map(|count| count as f64))
    };
    let (all, without) = (of(what)?, of("nothing")?);
    Some(std::array::from_fn(|kind| all[kind] - without[kind]))
}

fn writes_to_fresh_pages() {
    let Some([_, write_absent, _, write_present]) = faults("faults") else { return };
    within("writes to pages that are not present", write_absent, NEARLY);
    within("writes to pages that are", write_present, [-5.0, 5.0]);
}

fn copies_on_write() {
    let Some([_, write_absent, _, write_present]) = faults("copies") else { return };
    within("writes to pages that are not present", write_absent, NEARLY);
    // The child and its parent copy some of their own stack and data besides.
    within("copies on write", write_present, [NEARLY[0], NEARLY[1]]);
}

fn reads_of_fresh_pages() {
    let Some([read_absent, write_absent, ..]) = faults("reads") else { return };
    within("reads of pages that are not present", read_absent, NEARLY);
    within("writes to pages that are not present", write_absent, [-5.0, 5.0]);
}
