//! Builds by the real `sh`, `tar` and `cc` of this machine, each test in a cache and a study folder of its own. It has
//! its own `main` because this executable becomes the launcher of what is built, and, for tests that kill a whole
//! Bakeoff, a Bakeoff that builds one layer.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests; the lints see only those of the usual harness")]

mod chains;
mod failures;
mod processes;
mod sources;
mod study;

use libtest_mimic::{Arguments, Trial, run};

fn main() {
    bakeoff_host::launcher_main_if_asked();
    processes::builder_main_if_asked();
    let groups = [chains::TESTS, failures::TESTS, processes::TESTS, sources::TESTS];
    let trial = |&(name, test): &(&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    run(&Arguments::from_args(), groups.concat().iter().map(trial).collect()).exit();
}
