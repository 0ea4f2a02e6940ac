//! `compare --harness NAME`: the commands are run under a harness, and its benchmarks are compared.

use crate::names;
use bakeoff_command::CommandError;
use bakeoff_model::metric::is_of_harness;
use bakeoff_model::plan::Plan;
use clap::builder::{ArgPredicate, PossibleValuesParser};
use clap::{Arg, ArgMatches, Command};

/// What is decided on unless another metric is given, and what is done with the output: times are different in every
/// trial.
const DEFAULTS: [(&str, &str); 2] = [("metrics", "sec/op"), ("output", "varies")];

/// Adds the option, with which others have another default.
pub(crate) fn options(command: Command) -> Command {
    let help =
        "Treat the commands as runs of this benchmark harness, and compare each benchmark by its time per operation";
    let more = "Each trial is one process of the harness, and Bakeoff judges each benchmark like a workload. \
                The harness may write its results to the path in $BAKEOFF_HARNESS; otherwise, Bakeoff reads them from standard output.";
    let harness = Arg::new("harness").long("harness").value_name("NAME").help(help);
    let command = command.mut_args(|arg| match DEFAULTS.iter().find(|(id, _)| arg.get_id() == id) {
        Some((_, value)) => arg.default_value_if("harness", ArgPredicate::IsPresent, *value),
        None => arg,
    });
    command.arg(harness.long_help(format!("{help}\n\n{more}")).value_parser(PossibleValuesParser::new(names::all())))
}

/// Makes the plan one of benchmarks.
pub(crate) fn plan(asked: &ArgMatches, plan: &mut Plan) -> Result<(), CommandError> {
    let Some(harness) = asked.get_one::<String>("harness") else {
        return match plan.decide.metrics.iter().find(|metric| is_of_harness(metric)) {
            Some(metric) => {
                Err(CommandError::usage(format!("`{metric}` is a metric of benchmarks, but no harness was named"))
                    .hint("name the harness that runs the benchmarks, such as --harness go"))
            }
            None => Ok(()),
        };
    };
    plan.workloads.iter_mut().for_each(|workload| workload.harness = Some(harness.clone()));
    Ok(())
}
