//! The statistics against independent implementations: R, and Python's scipy and statsmodels, asked at the time of the
//! test about generated data. Values that were once copied from them are in `tests/stats/golden.rs`. `make test` installs
//! the oracles; one that is missing leaves its tests ignored, and counted as such.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is tests")]

/// The path of a script of this folder.
macro_rules! script {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracles/", $name)
    };
}

mod diagnostics;
mod linear;
mod ranks;
mod sequential;

fn main() {
    bakeoff_testkit::oracle::main([diagnostics::CASES, linear::CASES, ranks::CASES, sequential::CASES].concat());
}
