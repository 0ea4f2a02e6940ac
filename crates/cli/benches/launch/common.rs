//! What all contestants share: what is run, how much of it, in which order, and what it took.

use bakeoff_model::shuffle::Stream;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) const SEED: u64 = 178;

/// What every contestant runs, and all of its environment.
pub(crate) const PROGRAM: &str = "/bin/true";
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How much of everything.
pub(crate) struct Extent {
    pub(crate) blocks: u32,
    pub(crate) executions: u32,
    pub(crate) ops: u32,
}

impl Extent {
    pub(crate) fn of_environment() -> Self {
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

/// What one contestant did in one block.
pub(crate) struct Spent {
    /// From the first execution to the last, with all that the contestant does around them, for one execution.
    pub(crate) each_s: f64,
    /// The median that it reports; none if it reports none.
    pub(crate) median_s: Option<f64>,
}

/// Nothing but a `PATH` in its environment, as the trials have it.
pub(crate) fn bare(command: &mut Command) -> &mut Command {
    command.env_clear().env("PATH", PATH).stdin(Stdio::null())
}

/// How long a command takes that must succeed; what it prints is thrown away.
pub(crate) fn elapsed_s(command: &mut Command) -> f64 {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let clock = Instant::now();
    let status = command.status().unwrap();
    let elapsed_s = clock.elapsed().as_secs_f64();
    assert!(status.success(), "{command:?}: {status}");
    elapsed_s
}
