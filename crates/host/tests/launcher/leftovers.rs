//! Processes that try to outlive their trial.

use crate::owner::Owner;
use crate::support::{LONG_S, Listener, NOT_LONG_S, Scratch, execute, exists};
use bakeoff_host::{End, lock::Lock};
use std::fs::File;
use std::time::Instant;

#[test]
fn are_killed_and_counted() {
    let check = |script: &str, expect| {
        let scratch = Scratch::new();
        scratch.fifo("ready");
        // Each writes its own id, says so, and stays; the main process leaves as soon as all have.
        let stay = format!("echo $$ >> pids; echo > ready; exec sleep {LONG_S}");
        let begun = Instant::now();
        // Open for writing too, so that it never ends between two of them.
        let ended = execute(&scratch.sh(&format!("exec 3<>ready; {}", script.replace("STAY", &stay))));
        assert_eq!((&ended.end, ended.leftovers), (&End::Exited(5), expect), "{script}");
        assert!(begun.elapsed().as_secs() < NOT_LONG_S);
        let pids = scratch.read("pids");
        assert_eq!(pids.lines().count(), expect as usize, "{script}");
        assert!(!pids.lines().any(exists), "{script} left {pids}");
    };
    check("sh -c 'STAY' & read x <&3; exit 5", 1);
    check("setsid sh -c 'STAY' & read x <&3; exit 5", 1);
    check("(setsid sh -c 'STAY' &) ; read x <&3; exit 5", 1);
    check("setsid sh -c 'trap \"\" TERM HUP INT; STAY' & read x <&3; exit 5", 1);
    check("setsid sh -c 'STAY' & read x <&3; setsid sh -c 'STAY' & read x <&3; exit 5", 2);
    check(
        "(setsid sh -c 'setsid sh -c \"STAY\" & STAY' &); read x <&3; test $(wc -l < pids) = 2 || read x <&3; exit 5",
        2,
    );
}

#[test]
fn that_keep_forking_are_caught() {
    let scratch = Scratch::new();
    if !scratch.has_perl() {
        return;
    }
    scratch.fifo("ready");
    // Every process of the chain forks the next and ends at once: whoever looks at one sees it no more.
    let chain =
        "use POSIX; POSIX::setsid(); open F, '>', 'ready'; print F qq(x\\n); close F; while (1) { exit if fork }";
    std::fs::write(scratch.path("chain.pl"), chain).unwrap();
    let ended = execute(&scratch.sh("exec 3<>ready; perl chain.pl & read x <&3; exit 5"));
    assert_eq!(ended.end, End::Exited(5));
    assert!(ended.leftovers >= 1, "{ended:?}");
}

#[test]
fn orphans_that_ended_in_time_do_not_count() {
    let scratch = Scratch::new();
    scratch.fifo("ready");
    // The end of the FIFO shows when the orphan is so far gone that no signal can change how it ended.
    let ended = execute(&scratch.sh("(setsid sh -c 'exit 0' > ready &); cat ready; exit 5"));
    assert_eq!((ended.end, ended.leftovers), (End::Exited(5), 0));
}

#[test]
fn nothing_survives_the_death_of_the_owner() {
    let scratch = Scratch::new();
    let out = scratch.fifo("out");
    let begun = Instant::now();
    let script = format!("echo $$; setsid sh -c 'echo $$; exec sleep {LONG_S}' & sleep {LONG_S}");
    let mut owner = Owner::start(&scratch, "first", &script);
    let mut said = Listener::open(&out);
    let pids = [said.line(), said.line()];
    assert!(pids.iter().all(|pid| exists(pid)), "{pids:?}");
    assert!(Lock::take(&scratch.path("lock")).is_err());

    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    // The launcher keeps the lock until nothing is left; this waits for it.
    File::open(scratch.path("lock")).unwrap().lock().unwrap();
    assert!(!pids.iter().any(|pid| exists(pid)), "{pids:?}");
    assert_eq!(said.end(), "");
    assert!(begun.elapsed().as_secs() < NOT_LONG_S);
}
