//! The gate: passes only where a larger slowdown is excluded, fails only where one is shown, and says otherwise how many
//! blocks are missing. It judges nothing itself: it holds the report's own intervals against a limit.
//!
//! [`spec`] reads `[gate]`; [`decide`] makes a [`decision`] of findings, with [`slowdown`] and [`missing`]; [`page`] and
//! [`junit`] write it; [`command`] and [`options`] are where users ask for it.

mod command;
mod decide;
mod decision;
#[cfg(test)]
mod error_rates;
mod junit;
mod missing;
mod options;
mod page;
#[cfg(test)]
mod simulated;
mod slowdown;
mod spec;

use bakeoff_command::exits::Exit;
use bakeoff_command::{Code, CommandError, Concluded, Conclusion, Feature, Finished, Subcommand};
use bakeoff_model::study_file::Extension;
use clap::ArgMatches;

/// How `bakeoff gate` may end.
const ENDS: [Exit; 3] = [
    (Code::GateFailed, "a variant is shown to be slower than the limit allows"),
    (Code::Undecided, "such a slowdown is neither shown nor excluded"),
    (Code::VariantFailed, "a variant could not be built, or a trial of it failed"),
];

/// The slice.
#[derive(Debug)]
pub struct Gate;

impl Feature for Gate {
    fn commands(&self) -> Vec<Subcommand> {
        vec![Subcommand::with_features("gate", command::execute).after("report").exits(&ENDS)]
    }

    fn section(&self) -> Option<&'static dyn Extension> {
        Some(&spec::GateSection)
    }

    fn line(&self) -> Option<&'static str> {
        Some(spec::NAME)
    }

    fn gather(&self, study: &mut dyn Finished) -> Result<(), CommandError> {
        spec::keep(study)
    }

    fn conclusion(&self) -> Option<Conclusion> {
        Some(Conclusion {
            options: options::options,
            check: options::check,
            exits: &[
                (Code::GateFailed, "--gate: a variant is shown to be slower than the limit allows"),
                (Code::Undecided, "--gate: such a slowdown is neither shown nor excluded"),
            ],
            conclude: options::conclude,
        })
    }

    fn conclude_alike(&self, asked: &ArgMatches, concluded: &Concluded<'_>) -> Result<Option<Code>, CommandError> {
        options::is_asked(asked).then(|| options::conclude(asked, concluded)).transpose()
    }
}
