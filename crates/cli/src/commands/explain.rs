//! `bakeoff explain`: why variants of a study differ. What is missing runs as with `bakeoff run`; then what explains is gathered
//! of the variants in question, and printed. Nothing is explained here: features do.

use super::run::{RunArgs, Use, ended, run_here};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{CONFIRM, Confirmation, FeatureArgs, Registry, journals, screen};
use bakeoff_judge::findings::Findings;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use std::cell::RefCell;

mod isolating;

/// Explain a difference: which causes account for how much of it, and what remains
///
/// For the baseline and each variant that was shown to differ, Bakeoff runs the workload under valgrind and counts
/// every instruction. It shows which functions need more or fewer instructions, and how much of the time difference
/// that explains. If the study has not been run yet, Bakeoff runs it first. The journal keeps the counts, and `bakeoff
/// report` shows them too. If you name a journal instead of a study, Bakeoff runs nothing.
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
        let findings = features.judge(&record);
        features.explain(&args.asked, &record, &findings)?;
        if features.to_confirm(&args.asked, &record, &findings)?.is_empty() {
            return Ok(Code::Done);
        }
        let error = CommandError::usage("--confirm runs trials, so it needs a study, not a journal");
        return Err(error.hint("name the study instead of its journal"));
    }
    let (mut folder, plan) = args.run.open(features)?;
    features.gather_to_explain(&args.asked, &plan, &mut folder.study.sections)?;
    let to_confirm = RefCell::new(vec![]);
    let code = run(args, features, &folder, plan.clone(), &|record, findings| {
        features.explain(&args.asked, record, findings)?;
        to_confirm.replace(features.to_confirm(&args.asked, record, findings)?);
        Ok(())
    })?;
    for confirmation in to_confirm.into_inner() {
        match confirm(args, features, &plan, &confirmation)? {
            Code::Done => {}
            other => return Ok(other),
        }
    }
    Ok(code)
}

/// What is done with a complete record.
type Finish<'a> = dyn Fn(&Record, &Findings) -> Result<(), CommandError> + 'a;

fn run(
    args: &Args,
    features: &Registry,
    folder: &StudyFolder,
    plan: Plan,
    finish: &Finish<'_>,
) -> Result<Code, CommandError> {
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
            finish(&raced.record, &features.judge(&raced.record))?;
            Ok(Code::Done)
        },
    };
    run_here(&args.run, folder, plan, &of)
}

/// Runs a variant with a level that isolates a cause, and without, beside the baseline.
fn confirm(args: &Args, features: &Registry, plan: &Plan, confirmation: &Confirmation) -> Result<Code, CommandError> {
    let mut folder = args.run.folder(features)?;
    isolating::add(&mut folder.study, plan, confirmation, features)?;
    let plan = Plan { name: CONFIRM.to_owned(), ..args.run.plan(&folder.study)? };
    features.gather_confirming(confirmation, &plan, &mut folder.study.sections)?;
    if !args.run.is_quiet() {
        let Confirmation { changed, level, .. } = confirmation;
        let what = clean(&format!("{changed} with and without {}", level.says));
        screen::err(&format!("to confirm, {what}: {} trials follow\n", plan.trials()));
    }
    run(args, features, &folder, plan, &|record, findings| {
        features.confirmed(confirmation, record, findings);
        Ok(())
    })
}
