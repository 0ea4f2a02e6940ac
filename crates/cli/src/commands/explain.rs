//! `bakeoff explain`: why variants of a study differ. What is missing runs as with `bakeoff run`; then what explains is gathered
//! of the variants in question, and printed. Nothing is explained here: features do.

use super::run::{RunArgs, Use, ended, run_here};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::{FeatureArgs, Registry, journals, screen};

/// Explain a difference: which causes account for how much of it, and what remains
///
/// For the baseline and each variant that was shown to differ, Bakeoff runs the workload under valgrind, counts every
/// instruction, and shows which functions need more or fewer, and how much of the difference in time that is. The study
/// must have been run, or Bakeoff runs it first. The journal keeps the counts, and `bakeoff report` shows them too. For a
/// journal instead of a study, Bakeoff runs nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    asked: FeatureArgs,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    if let Some(journal) = args.run.journal() {
        let record = journals::read(journal, features)?;
        features.explain(&args.asked, &record, &features.judge(&record))?;
        return Ok(Code::Done);
    }
    let (mut folder, plan) = args.run.open(features)?;
    features.gather_to_explain(&args.asked, &plan, &mut folder.study.sections)?;
    let of = Use {
        features,
        asked: None,
        quiet: args.run.is_quiet(),
        without_trials: &|_, otherwise| {
            screen::out(&otherwise?);
            Ok(Code::Done)
        },
        finish: &|raced| {
            if let Some(code) = ended(raced.ending) {
                return Ok(code);
            }
            features.explain(&args.asked, &raced.record, &features.judge(&raced.record))?;
            Ok(Code::Done)
        },
    };
    run_here(&args.run, &folder, plan, &of)
}
