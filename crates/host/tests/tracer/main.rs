//! The tracer against a real kernel: what it counts, maps and finds of real programs, and what it survives. Called with
//! a word of its own, this executable is the tracer.

#![allow(clippy::unwrap_used, unsafe_code, reason = "a test ends where something is not as it should be")]

mod hostile;
mod seen;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut words = std::env::args().skip(1);
    if words.next().is_some_and(|word| word == support::TRACE) {
        let order = words.next().unwrap();
        std::process::exit(bakeoff_host::tracer::execute(order.as_ref()).unwrap());
    }
    let cases: Vec<(&str, fn())> = seen::CASES.iter().chain(hostile::CASES).copied().collect();
    let trial = |(name, case): (&str, fn())| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect()).exit();
}
