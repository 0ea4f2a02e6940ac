//! `bakeoff doctor`: what this machine can measure, what will be noisy, and how to fix it. It looks and changes
//! nothing.

use crate::checks::checks;
use crate::twins;
use bakeoff_command::check::{Check, State};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::{Registry, screen};
use std::fmt::Write as _;

/// Check what this machine can measure, and what will be noisy
///
/// Each line names one thing that matters for measurements, and shows its state on this machine. `good`: it does not
/// disturb measurements. `noisy`: it widens intervals, so a study needs more blocks. `missing`: it cannot be measured
/// or controlled here, or is unknown; the line below shows what you lose. `fix:` shows what would help. Doctor changes
/// nothing and takes about a second. `bakeoff help machine` explains each line.
///
/// The `twin` line summarises all studies that finished on this machine. A twin is the same program as its baseline, so
/// about one study in twenty should judge the two different at the 5 % level. If more studies do so than chance can
/// explain, this machine is too noisy.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn execute(_: &Args, features: &Registry) -> Result<Code, CommandError> {
    let mut checks = checks();
    checks.extend(features.makers.iter().filter_map(|maker| (maker.check)()));
    checks.extend(features.places.iter().map(|place| (place.check)()));
    checks.push(twin());
    screen::out(&page(&checks));
    Ok(Code::Done)
}

/// What this machine's own studies say of it.
fn twin() -> Check {
    let history = twins::of_this_machine();
    let remedy = "run nothing else during a study, and fix the other checks marked noisy".to_owned();
    Check {
        name: "twin",
        state: if history.is_suspicious { State::Noisy } else { State::Good },
        found: history.sentence,
        means: "on this machine, a program differs from itself more often than chance can explain".to_owned(),
        remedy: history.is_suspicious.then_some(remedy),
    }
}

fn page(checks: &[Check]) -> String {
    let place = bakeoff_host::place::fingerprint();
    let mut out =
        format!("{}: {}, {} CPUs, {}, kernel {}\n\n", place.host, place.cpu, place.cpus, place.os, place.kernel);
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in checks {
        let word = match check.state {
            State::Good => "good   ",
            State::Noisy => "noisy  ",
            State::Missing => "missing",
        };
        let _ = writeln!(out, "{word}  {:width$}  {}", check.name, check.found);
        let indent = " ".repeat(9 + width + 2);
        if check.state != State::Good && !check.means.is_empty() {
            let _ = writeln!(out, "{indent}{}", check.means);
        }
        if let Some(remedy) = &check.remedy {
            let _ = writeln!(out, "{indent}fix: {remedy}");
        }
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let (good, noisy, missing) = (count(State::Good), count(State::Noisy), count(State::Missing));
    let _ = writeln!(
        out,
        "\n{good} good, {noisy} noisy, {missing} missing. Reports omit missing values; they never print them as 0."
    );
    out.push_str("Noise widens the intervals in reports, and the twin in every study shows how much noise there is.\n");
    out
}
