//! What it costs to run a trial, beside a loop in C, hyperfine, megafine and perf, in randomised blocks:
//! `cargo bench -p bakeoff --bench launch`. Every contestant runs `/bin/true`; then a workload marks a million
//! ops; then the peak of `/bin/true` is looked at after a program that needs a GiB. Ratios come with intervals of our
//! own analysis, and with the goals beside them. Nothing is asserted: a busy machine is not a failure.
//!
//! `BLOCKS` changes the number of blocks, `EXECUTIONS` that of the executions in each, `OPS` that of the ops;
//! `BAKEOFF_BENCH_QUICK=1` makes all of them small, to see whether it runs. What is not here and cannot be installed
//! is skipped, and said so.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

mod common;
mod contestants;
mod goals;
mod marks;
mod ours;
mod peers;

use common::{Extent, PROGRAM, SEED};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The C program; none, with a word, if there is no compiler.
fn compile(folder: &Path) -> Option<PathBuf> {
    let (source, program) = (folder.join("launch.c"), folder.join("launch"));
    std::fs::write(&source, include_str!("launch.c")).unwrap();
    let cc = |more: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-o"]).arg(&program).arg(&source).args(more);
        cc.status().is_ok_and(|status| status.success())
    };
    if cc(&["-static"]) || cc(&[]) {
        return Some(program);
    }
    println!("skipped: everything: `cc` does not compile a C program, and the loop in C is what all is compared with");
    None
}

fn main() {
    let extent = Extent::of_environment();
    let folder = tempfile::tempdir().unwrap();
    let Some(c) = compile(folder.path()) else { return };
    println!("{PROGRAM}: {} blocks of {} executions by each contestant, seed {SEED}", extent.blocks, extent.executions);
    contestants::compare(&extent, folder.path(), &c);
    println!("\n{} blocks, {} ops, each with some work of about a microsecond", extent.blocks, extent.ops);
    marks::compare(&extent, folder.path(), &c);
    marks::peak(folder.path(), &c);
}
