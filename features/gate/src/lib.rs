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
use bakeoff_command::{Code, Conclusion, Feature, Gathering, Group, Registry, Subcommand};

/// How `bakeoff gate` may end.
const ENDS: [Exit; 3] = [
    (Code::GateFailed, "a variant is shown to be slower than the limit allows"),
    (Code::Undecided, "undecided: a slowdown beyond the limit is neither shown nor excluded"),
    (Code::VariantFailed, "a variant could not be built, or a trial failed"),
];

/// The slice.
#[derive(Debug)]
pub struct Gate;

impl Feature for Gate {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("gate", command::execute).group(Group::Report).exits(&ENDS));
        to.sections.push(&spec::GateSection);
        to.gatherings.push(Gathering { line: spec::NAME, gather: spec::keep, trials: None });
        to.conclusions.push(Conclusion {
            options: options::options,
            check: options::check,
            exits: &[
                (Code::GateFailed, "--gate: a variant is shown to be slower than the limit allows"),
                (Code::Undecided, "--gate: a slowdown beyond the limit is neither shown nor excluded"),
            ],
            takes_output: options::take_output,
            decides: options::is_asked,
            conclude: options::conclude,
        });
    }
}
