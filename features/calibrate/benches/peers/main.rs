//! Other tools' methods and ours on the same simulated studies: `cargo bench -p bakeoff-calibrate --bench peers` prints how
//! often each claims a difference where there is none, how often it sees one, and how wide its interval is. Nothing is
//! promised of them.
//!
//! `STUDIES` changes the number of studies in each of the surroundings, `SEED` the seed of all chance;
//! `BAKEOFF_BENCH_QUICK=1` makes the number small, to see whether it works.

#![allow(unused_imports, reason = "unit tests are executed by tests/benches.rs")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

pub(crate) mod bootstrap;
mod methods;
mod table;

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

pub(crate) fn main() {
    let is_quick = std::env::var("BAKEOFF_BENCH_QUICK").is_ok_and(|word| word == "1");
    let studies = number("STUDIES").unwrap_or(if is_quick { 250 } else { 10_000 }) as u32;
    print!(
        "{}",
        table::page(
            &table::measure(studies, number("SEED").unwrap_or(178)),
            bakeoff_report::Style { width: 120, colour: false }
        )
    );
}
