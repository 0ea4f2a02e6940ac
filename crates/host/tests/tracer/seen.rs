//! What is seen of programs that do nothing special, with exact counts where they are exact.

use super::support::{Ended, Place, skipped, strace};
use bakeoff_host::tracer::Census;
use bakeoff_host::tracer::TraceReport;
use std::path::Path;

pub(crate) const CASES: &[(&str, fn())] = &[
    ("a_static_program_is_counted_exactly", a_static_program_is_counted_exactly),
    ("a_program_makes_the_calls_that_strace_counts", a_program_makes_the_calls_that_strace_counts),
    ("a_file_that_is_not_there_is_missed", a_file_that_is_not_there_is_missed),
    ("a_dynamic_program_maps_its_c_library", a_dynamic_program_maps_its_c_library),
    ("children_count_and_so_do_those_in_the_background", children_count_and_so_do_those_in_the_background),
    ("what_children_do_is_told_apart", what_children_do_is_told_apart),
    ("what_happens_before_and_after_is_not_told", what_happens_before_and_after_is_not_told),
    ("files_are_told_apart_by_what_is_done_with_them", files_are_told_apart_by_what_is_done_with_them),
    ("threads_are_tasks", threads_are_tasks),
    ("threads_of_python_are_tasks", threads_of_python_are_tasks),
    ("what_cannot_be_started_is_said", what_cannot_be_started_is_said),
    ("the_environment_is_the_command_s_and_not_the_tracer_s", the_environment_is_the_command_s_and_not_the_tracer_s),
];

fn a_static_program_is_counted_exactly() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let ended = place.trace(&[&program, "calls"]);
    assert_eq!(ended.code, Some(5));
    assert_eq!(ended.calls("getppid"), (1000, 0));
    assert_eq!(ended.calls("openat"), (10, 9));
    assert_eq!(ended.calls("execve"), (1, 0));
    assert_eq!(ended.calls("exit_group"), (1, 0));
    assert_eq!(ended.looked_for("/nowhere/to/be/found"), (0, 7));
    assert_eq!(ended.looked_for("/nowhere/\u{fffd}"), (0, 1));
    assert_eq!(ended.looked_for("/dev/null"), (1, 0));
    assert_eq!(ended.looked_for(&program), (1, 0));
    assert_eq!(ended.traced().tasks, 1);
    assert!(ended.executes(&program) && !ended.executes("libc"), "{:?}", ended.traced().mapped);
}

/// Calls that never return are not among strace's.
fn as_strace(census: &Census) -> Vec<(&str, (u64, u64))> {
    let calls = census.syscalls.iter().map(|(name, calls)| (name.as_str(), (calls.count, calls.errors)));
    calls.filter(|(name, _)| !["exit", "exit_group"].contains(name)).collect()
}

fn a_program_makes_the_calls_that_strace_counts() {
    let place = Place::new();
    let file = place.write("file", "some text\n");
    let script = format!("cat {file} /nowhere; exec ls -l /usr > /dev/null");
    let static_program = place.program();
    let mut commands = vec![
        vec!["cat", &file, "/nowhere"],
        vec!["ls", "-l", "/usr"],
        vec!["perl", "-e", "print 1"],
        vec!["sh", "-c", &script],
    ];
    commands.extend(static_program.iter().map(|program| vec![program.as_str(), "calls"]));
    for argv in commands {
        let Some(expected) = strace(&place, &argv) else { return };
        let ended = place.trace(&argv);
        let mut seen = as_strace(ended.traced());
        let mut expected: Vec<(&str, (u64, u64))> =
            expected.iter().map(|(name, counts)| (name.as_str(), *counts)).collect();
        // A signal that comes during a call makes it one more; only a shell gets any here.
        if argv[0] == "sh" {
            for list in [&mut seen, &mut expected] {
                list.retain(|(name, _)| ["execve", "openat", "statx", "getdents64", "mmap"].contains(name));
            }
        }
        assert_eq!(seen, expected, "{argv:?}");
    }
}

fn a_file_that_is_not_there_is_missed() {
    let place = Place::new();
    let file = place.write("file", "some text\n");
    let ended = place.trace(&["cat", &file, "/nowhere/at/all", "relative"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), "some text\n"));
    assert_eq!(ended.looked_for(&file), (1, 0));
    assert_eq!(ended.looked_for("/nowhere/at/all"), (0, 1));
    assert_eq!(ended.looked_for("relative"), (0, 1));
    let mut sorted = ended.traced().opened.clone();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    assert_eq!(ended.traced().opened, sorted);
}

fn a_dynamic_program_maps_its_c_library() {
    let place = Place::new();
    let ended = place.trace(&["cat", "/dev/null"]);
    let cat = std::fs::canonicalize("/bin/cat").unwrap();
    if !std::fs::read(&cat).unwrap().windows(5).any(|part| part == b"libc.") {
        return skipped("what cat maps", "it needs no libc here");
    }
    assert!(ended.executes("libc"), "{:?}", ended.traced().mapped);
    assert!(ended.executes(&cat.display().to_string()), "{:?}", ended.traced().mapped);
    assert!(!ended.executes("traced") && !ended.executes("tracer"), "we are not it: {:?}", ended.traced().mapped);
}

fn children_count_and_so_do_those_in_the_background() {
    let place = Place::new();
    let file = place.write("file", "a\nb\n");
    let ended = place.trace(&["sh", "-c", &format!("cat {file} | cat | cat > out; cat {file} & cat {file}; wait")]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "a\nb\na\nb\n"));
    assert_eq!(ended.traced().tasks, 6);
    assert_eq!(ended.calls("exit_group"), (6, 0));
    assert_eq!(ended.looked_for(&file), (3, 0));
    // The shell's own, and the cats'; a shell that asks before it runs does not miss.
    assert_eq!(ended.calls("execve").0 - ended.calls("execve").1, 6);
    assert!(ended.executes("sh") && ended.executes("/cat"), "{:?}", ended.traced().mapped);
}

fn what_children_do_is_told_apart() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let script = format!("{program} calls; {program} calls & wait; {program} threads; exec {program} calls");
    let ended = place.trace(&["sh", "-c", &script]);
    let (all, children) = (ended.traced(), &ended.traced().children);
    assert_eq!((ended.code, all.tasks, children.processes), (Some(5), 12, 3), "threads are no processes");
    let of_children = |name: &str| children.syscalls[name];
    assert_eq!((of_children("getppid").count, of_children("openat").errors), (2008, 18));
    // The shell may make one of its own.
    assert!([3008, 3009].contains(&ended.calls("getppid").0), "{:?}", all.syscalls);
    assert_eq!((ended.calls("exit_group").0, of_children("exit_group").count), (4, 3));
}

fn what_happens_before_and_after_is_not_told() {
    let place = Place::new();
    let twice = |path: &str| format!("cat {path}; cat {path} & wait");
    // One that begins meanwhile goes on when it is over; a shell that has just forked may have begun neither before nor after.
    let script = format!(
        "{}; : > now; {}; (: > begun; until test -e over; do :; done; exec cat /nowhere/late) & \
         until test -e begun; do :; done; rm now; cat /nowhere/after; : > over; wait; exit 3",
        twice("/nowhere/before"),
        twice("/nowhere/during")
    );
    let (mut tracer, told) = place.tracer_during(&["sh", "-c", &script], Some("now"));
    let ended = Ended::of(&tracer.output().unwrap(), &told);
    let missed = |when: &str| ended.looked_for(&format!("/nowhere/{when}"));
    assert_eq!(["before", "during", "late", "after"].map(missed), [(0, 0), (0, 2), (0, 1), (0, 0)]);
    // The shell, three cats, and the rm that ends it.
    let children = &ended.traced().children;
    assert_eq!((ended.code, ended.traced().tasks, children.processes), (Some(3), 5, 4));
    assert_eq!((ended.calls("exit_group").0, children.syscalls["exit_group"].count), (4, 4), "not the shell's own");
    assert!(ended.executes("sh"), "it was there: {:?}", ended.traced().mapped);

    let (mut tracer, told) = place.tracer_during(&["cat", "/nowhere"], Some("never"));
    let ended = Ended::of(&tracer.output().unwrap(), &told);
    assert_eq!((ended.code, ended.traced()), (Some(1), &Census::default()));
}

fn files_are_told_apart_by_what_is_done_with_them() {
    let place = Place::new();
    place.write("in", "1\n");
    let script = place.write("x.sh", "read x < in; echo $x\n");
    std::fs::create_dir(place.path("sub")).unwrap();
    place.write("sub/data", "2\n");
    let command = "sh ./x.sh > out; cd sub; cat data; cat ../absent; ls; mv ../out ../moved; kill -0 $$; exit 3";
    let Some((used, code)) = place.files(&["sh", "-c", command]) else { return };
    assert_eq!(code, Some(3));
    let has = |paths: &std::collections::BTreeSet<String>, name: &str| {
        paths.iter().any(|path| Path::new(path).canonicalize().is_ok_and(|path| path == place.path(name)))
    };
    for read in ["in", "x.sh", "sub/data", "sub"] {
        assert!(has(&used.read, read) && !has(&used.written, read), "{read}: {used:?}");
    }
    assert!(has(&used.written, "moved") && !has(&used.read, "moved"), "{used:?}");
    assert!(used.missed.contains(&place.path("sub/../absent").display().to_string()), "{used:?}");
    for part in ["/libc.so", "/cat", "/sh"] {
        assert!(used.read.iter().any(|path| path.contains(part)), "{part}: {used:?}");
    }
    assert!(script.starts_with('/') && !used.read.iter().any(|path| path.starts_with("/proc")), "{used:?}");
    // The interpreter of an interpreter's choice, and a program that another one becomes.
    let by_env = place.write("by-env", "#!/usr/bin/env sh\nexec cat in\n");
    std::fs::set_permissions(&by_env, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Some((used, code)) = place.files(&[&by_env]) else { return };
    assert_eq!(code, Some(0));
    for part in [by_env.as_str(), "/env", "/sh", "/cat", "/in"] {
        assert!(used.read.iter().any(|path| path.ends_with(part)), "{part}: {used:?}");
    }
}

fn threads_are_tasks() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let ended = place.trace(&[&program, "threads"]);
    assert_eq!((ended.code, ended.traced().tasks, ended.traced().children.processes), (Some(0), 9, 0));
    assert_eq!(ended.calls("getppid"), (8, 0));
    assert_eq!(ended.calls("exit").0, 8);
}

fn threads_of_python_are_tasks() {
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        return skipped("threads of python", "there is no /usr/bin/python3");
    }
    let place = Place::new();
    let text = "import threading\nfor i in range(5):\n t = threading.Thread(target=lambda: open('/dev/null').close())\n \
                t.start()\n t.join()\nprint('done')";
    let ended = place.trace(&[python, "-c", text]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "done\n"));
    assert_eq!((ended.traced().tasks, ended.looked_for("/dev/null")), (6, (5, 0)));
}

fn what_cannot_be_started_is_said() {
    let place = Place::new();
    let text = place.write("text", "no program\n");
    for (argv, part) in [(vec!["no-such-program"], "not found"), (vec![text.as_str()], "ermission")] {
        let ended = place.trace(&argv);
        let TraceReport::NotStarted { what, why } = &ended.told else { panic!("{:?}", ended.told) };
        assert!(what == argv[0] && why.contains(part), "{what}: {why}");
        assert_eq!(ended.code, Some(127));
    }
}

fn the_environment_is_the_command_s_and_not_the_tracer_s() {
    let mut place = Place::new();
    let file = place.write("nothing.so", "no library\n");
    place.env.insert("LD_PRELOAD".to_owned(), file.clone());
    place.env.insert("OWN".to_owned(), "its own".to_owned());
    let (mut tracer, told) = place.tracer(&["sh", "-c", "echo $OWN, $BAKEOFF_MARKS, $OTHER"]);
    let output = tracer.env("BAKEOFF_MARKS", "3").env("OTHER", "the tracer's").output().unwrap();
    let ended = Ended::of(&output, &told);
    assert_eq!(ended.out, "its own, 3,\n");
    assert!(ended.looked_for(&file).0 > 0, "the loader looks at what is to be loaded first");
}
