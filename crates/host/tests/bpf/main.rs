//! Programs that are attached, against a real kernel: nothing of them remains when they are dropped, or when their process is
//! killed. Called with a word of its own, this executable attaches a program until it is killed.

#![allow(clippy::unwrap_used, clippy::print_stdout, unsafe_code, reason = "a test ends where something is wrong")]

use bakeoff_host::bpf::{attach, load};
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The word by which this executable attaches a program.
const ATTACH: &str = "attach-until-killed";

/// `r0 = 0; exit`.
const NOTHING: [u64; 2] = [0xb7, 0x95];

const CASES: &[(&str, fn())] = &[
    ("nothing_remains_when_a_program_is_dropped", nothing_remains_when_dropped),
    ("nothing_remains_of_a_process_that_is_killed", nothing_remains_when_killed),
];

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == ATTACH) {
        return attach_until_killed();
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

/// Attaches a program that does nothing at all system calls.
fn attached() -> std::io::Result<OwnedFd> {
    attach(&load(&NOTHING)?, c"sys_enter")
}

fn attach_until_killed() {
    match attached() {
        Ok(_attached) => {
            println!("attached");
            std::thread::sleep(Duration::from_secs(600));
        }
        Err(error) => println!("{error}"),
    }
}

/// Says that something is not shown here.
fn skipped(why: &str) {
    // If standard error is gone, nobody is there to read it.
    let _ = writeln!(std::io::stderr(), "skipped: what remains of programs: {why}");
}

/// The programs that the kernel has, by their numbers: BPF_PROG_GET_NEXT_ID. None if that may not be asked.
fn programs() -> Option<BTreeSet<u32>> {
    let mut ids = BTreeSet::new();
    let mut words = [0_u32; 3];
    loop {
        // SAFETY: the kernel reads and writes three words, which is what there is.
        let done = unsafe { libc::syscall(libc::SYS_bpf, 11, words.as_mut_ptr(), size_of_val(&words)) };
        if done != 0 {
            let end = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT);
            return end.then_some(ids);
        }
        ids.insert(words[1]);
        words = [words[1], 0, 0];
    }
}

/// Waits until these programs are gone: the kernel frees them a little later.
fn are_freed(ids: &BTreeSet<u32>) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        programs().unwrap().is_disjoint(ids)
    })
}

/// The programs that are there now, and were not before. Other tests attach some at the same time; those are freed soon too.
fn new_since(before: &BTreeSet<u32>) -> BTreeSet<u32> {
    programs().unwrap().difference(before).copied().collect()
}

fn nothing_remains_when_dropped() {
    let Some(before) = programs() else { return skipped("they may not be listed") };
    let attached = match attached() {
        Ok(attached) => attached,
        Err(error) => return skipped(&error.to_string()),
    };
    let new = new_since(&before);
    assert!(!new.is_empty(), "an attached program is listed");
    drop(attached);
    assert!(are_freed(&new));
}

fn nothing_remains_when_killed() {
    let Some(before) = programs() else { return skipped("they may not be listed") };
    let mut owner = Command::new(std::env::current_exe().unwrap()).arg(ATTACH).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let new = new_since(&before);
    owner.kill().unwrap();
    owner.wait().unwrap();
    if said != "attached\n" {
        return skipped(said.trim());
    }
    assert!(!new.is_empty() && are_freed(&new), "{new:?}");
}
