//! Interrupts reach the owner of a launcher, and end only what they should.

use crate::owner::Owner;
use crate::support::{LONG_S, Listener, NOT_LONG_S, Scratch};
use bakeoff_host::End;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Instant;

/// A command that ignores what it can, and leaves a child in another session.
fn stubborn() -> String {
    format!("trap '' INT TERM HUP; setsid sleep {LONG_S} & echo ready; sleep {LONG_S}")
}

fn begin(scratch: &Scratch, patience: &str, script: &str) -> (Owner, Listener) {
    let out = scratch.fifo("out");
    let owner = Owner::start(scratch, patience, script);
    let mut said = Listener::open(&out);
    assert_eq!(said.line(), "ready");
    (owner, said)
}

fn signal(owner: &Owner, signal: Signal) {
    kill_process(Pid::from_child(&owner.process), signal).unwrap();
}

fn killed(owner: Owner, said: Listener, begun: Instant, interrupts: u32) {
    assert_eq!(said.end(), "", "somebody lives on and holds the output");
    let (ended, next, count) = owner.report();
    assert_eq!(ended.end, End::Interrupted);
    assert!(ended.measurements["wall"] > 0.0);
    assert_eq!((next.end, next.measurements.len()), (End::Interrupted, 0));
    assert_eq!(count, interrupts);
    assert!(begun.elapsed().as_secs() < NOT_LONG_S);
}

#[test]
fn the_first_one_kills_the_impatient() {
    let (scratch, begun) = (Scratch::new(), Instant::now());
    let (owner, said) = begin(&scratch, "first", &stubborn());
    signal(&owner, Signal::INT);
    killed(owner, said, begun, 1);
}

#[test]
fn the_first_one_spares_the_patient() {
    let scratch = Scratch::new();
    // The second is the time in which it would be killed.
    let (owner, said) = begin(&scratch, "second", "echo ready; sleep 1; exit 7");
    signal(&owner, Signal::HUP);
    assert_eq!(said.end(), "");
    let (ended, next, count) = owner.report();
    assert_eq!(ended.end, End::Exited(7));
    assert_eq!((next.end, count), (End::Interrupted, 1));
}

#[test]
fn the_second_one_kills_the_patient() {
    let (scratch, begun) = (Scratch::new(), Instant::now());
    let (owner, said) = begin(&scratch, "second", &stubborn());
    signal(&owner, Signal::INT);
    signal(&owner, Signal::TERM); // another one: two of the same kind may arrive as one
    killed(owner, said, begun, 2);
}
