//! The statistics against independent implementations: R, and Python's scipy and statsmodels, asked at the time of the
//! test about generated data. Values that were once copied from them are in `tests/golden.rs`. `make test` installs
//! the oracles; one that is missing leaves its tests ignored, and counted as such.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test, and not of the pure crate's own"
)]

mod bootstrap;
mod diagnostics;
mod linear;
mod published;
mod ranks;
mod sequential;
mod support;

use libtest_mimic::{Arguments, Trial};
use support::Case;

fn main() {
    let cases: Vec<Case> =
        [bootstrap::CASES, diagnostics::CASES, linear::CASES, published::CASES, ranks::CASES, sequential::CASES]
            .concat();
    let trial = |case: Case| {
        let missing = case.oracle.missing();
        let name = missing.as_ref().map_or(case.name.to_owned(), |why| format!("{} (skipped: {why})", case.name));
        let check = move || {
            (case.check)();
            Ok(())
        };
        Trial::test(name, check).with_ignored_flag(missing.is_some())
    };
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect()).exit();
}
