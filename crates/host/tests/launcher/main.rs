//! The launcher against a real kernel: what it executes, measures, kills and survives. This executable becomes the
//! launcher itself, and also the owners that are killed or interrupted, so its `main` is its own. Nothing here
//! asserts that something is fast, except that it takes nowhere near the time for which a process would sleep.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, though without the harness that says so")]

mod ends;
mod interrupts;
mod leftovers;
mod measures;
mod owner;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    bakeoff_host::launcher_main_if_asked();
    owner::become_one_if_asked();
    // A case that waits for what never comes fails with all others, rather than wait for ever.
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(2 * support::LONG_S));
        std::process::exit(101);
    });
    let cases: Vec<(&str, fn())> = [ends::CASES, measures::CASES, leftovers::CASES, interrupts::CASES].concat();
    let cases = cases
        .into_iter()
        .map(|(name, case)| {
            Trial::test(name, move || {
                case();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), cases).exit();
}
