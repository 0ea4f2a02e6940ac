//! What this machine can and cannot do for measurements, each figure probed on the spot. It advises; it changes
//! nothing that stays, needs no privileges, and an absent file is a fact ("not here"), never a failure.

mod clock;
mod groups;
mod kernel;
mod perf_events;
mod processes;
mod processor;
mod surroundings;

use crate::files::Files;
use serde::Serialize;
use std::path::Path;

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How good that is.
    pub state: State,
    /// What was found, with figures and units.
    pub found: String,
    /// What that means for measurements.
    pub means: String,
    /// A command or deed that mends it, if there is one.
    pub remedy: Option<String>,
}

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As good as it gets.
    Good,
    /// It adds noise, or a bias to beware of.
    Noisy,
    /// It is not here: something cannot be measured, controlled or told.
    Missing,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>, means: &str) -> Self {
        Self { name, state: State::Good, found: found.into(), means: means.to_owned(), remedy: None }
    }

    fn noisy(name: &'static str, found: impl Into<String>, means: &str) -> Self {
        Self { state: State::Noisy, ..Self::good(name, found, means) }
    }

    fn missing(name: &'static str, found: impl Into<String>, means: &str) -> Self {
        Self { state: State::Missing, ..Self::good(name, found, means) }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// Every check, in the order in which they read best. Takes about a third of a second.
pub fn checks() -> Vec<Check> {
    let files = Files::here();
    let mut checks = vec![
        surroundings::load(&files),
        surroundings::steal(&files),
        surroundings::pressure(&files),
        surroundings::swap(&files),
        surroundings::virtualisation(&files),
        processor::governor(&files),
        processor::turbo(&files),
        processor::smt(&files),
        kernel::address_randomisation(&files),
        processes::fixed_addresses(),
    ];
    checks.extend(groups::checks(&files));
    checks.extend([
        perf_events::hardware(&files),
        perf_events::software(&files),
        processes::realtime(),
        processes::drop_caches(),
        processes::pipe_size(),
        processes::descriptors(),
        processes::enclosure(),
        processes::process_limit(&files),
        clock::source(&files),
        clock::cost(),
        clock::cpu_time_split(),
        kernel::memory_floor(),
        kernel::confinement(),
    ]);
    checks
}

/// Space for builds and journals below `path`.
pub fn disk(path: &Path) -> Check {
    surroundings::disk(path)
}
