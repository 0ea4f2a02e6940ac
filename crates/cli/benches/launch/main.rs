//! What it costs to execute a trial, beside a loop in C, hyperfine, megafine and perf, in randomised blocks:
//! `cargo bench -p bakeoff-cli --bench launch`. Every contestant executes `/bin/true`; then a workload marks a million
//! ops; then the peak of `/bin/true` is looked at after a program that needs a GiB. Ratios come with intervals of our
//! own analysis, and with the goals beside them. Nothing is asserted: a busy machine is not a failure.
//!
//! `BLOCKS` changes the number of blocks, `EXECUTIONS` that of the executions in each, `OPS` that of the ops;
//! `BAKEOFF_BENCH_QUICK=1` makes all of them small, to see whether it executes. What is not here and cannot be installed
//! is skipped, and said so.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

mod contestants;
mod goals;
mod marks;
mod ours;
mod peers;

use bakeoff_model::shuffle::Stream;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const SEED: u64 = 178;

/// What every contestant executes, and all of its environment.
pub(crate) const PROGRAM: &str = "/bin/true";
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How much of everything.
pub(crate) struct Extent {
    pub(crate) blocks: u32,
    pub(crate) executions: u32,
    pub(crate) ops: u32,
}

impl Extent {
    fn of_environment() -> Self {
        let is_quick = std::env::var("BAKEOFF_BENCH_QUICK").is_ok_and(|word| word == "1");
        let number = |name: &str, usual: u32, quick: u32| {
            let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
            given.unwrap_or(if is_quick { quick } else { usual })
        };
        Self {
            blocks: number("BLOCKS", 16, 12),
            executions: number("EXECUTIONS", 300, 6),
            ops: number("OPS", 1_000_000, 20_000),
        }
    }
}

/// The contestants of every block, in an order of its own.
pub(crate) fn orders(blocks: u32, contestants: usize, what: &str) -> Vec<Vec<usize>> {
    let order = |block: u32| {
        let mut order: Vec<usize> = (0..contestants).collect();
        Stream::of(SEED, &[what, &block.to_string()]).shuffle(&mut order);
        order
    };
    (1..=blocks).map(order).collect()
}

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
