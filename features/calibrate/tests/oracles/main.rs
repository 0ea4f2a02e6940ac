//! The other tools' methods against independent implementations, which are asked at the time of the test. One that is
//! missing leaves its tests ignored, and counted as such.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is tests")]

/// The path of a script of this folder.
macro_rules! script {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracles/", $name)
    };
}

mod bootstrap;
#[allow(dead_code, unused_imports, reason = "the bench uses the rest")]
#[path = "../../benches/peers/bootstrap.rs"]
mod resampled;

fn main() {
    bakeoff_testkit::oracle::main(bootstrap::CASES.to_vec());
}
