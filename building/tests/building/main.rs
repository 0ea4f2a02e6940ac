//! Builds by the real `sh`, `tar` and `cc` of this machine, each test in a cache and a study folder of its own. This
//! executable is also, for tests that kill a whole Bakeoff, a Bakeoff that builds something.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod again;
mod appended;
mod archives;
mod bolted;
mod chains;
mod confined;
mod costs;
mod damage;
mod failures;
mod gc;
mod git;
mod graph;
mod judged;
mod kills;
mod layouts;
mod left_before;
mod links;
mod mutated;
mod on_demand;
mod origins;
mod outside;
mod pages;
mod patches;
mod processes;
mod profiled;
mod proof;
mod rebuilt;
mod records;
mod rustflags;
mod sources;
mod study;
mod traps;
mod tuned;
mod wrappers;
