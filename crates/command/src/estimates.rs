//! How long trials take, by those that were seen before, and words before a number that is not known exactly.

use crate::state::journals_of;
use crate::walls::usual_walls;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::{Condition, Workload};
use bakeoff_model::until::Until;
use bakeoff_report::format::waiting_time;
use std::path::Path;

/// About so long.
pub fn about(seconds: f64) -> String {
    let word = if seconds < 1.0 { "" } else { "about " };
    format!("{word}{}", waiting_time(seconds))
}

/// Said before a number that a rule may make smaller.
pub fn at_most(plan: &Plan) -> &'static str {
    if plan.until == Until::Blocks { "" } else { "at most " }
}

/// How long all trials of a plan but those of building take, in seconds; `None` if nobody knows of one of the workloads.
pub fn trials_s(study_dir: &Path, plan: &Plan) -> Option<f64> {
    let read = |path: &std::path::PathBuf| bakeoff_journal::read(path).ok().map(|contents| contents.record);
    let known = usual_walls(&journals_of(study_dir).iter().filter_map(read).collect::<Vec<_>>());
    let cells = plan.workloads.iter().flat_map(|workload| plan.conditions.iter().map(move |c| (workload, c)));
    let block_s = |(workload, condition): (&Workload, &Condition)| {
        let measured = known.of(&workload.name, &condition.name).or(workload.takes_s);
        measured.map(|trial_s| trial_s * plan.trials_of_block(condition) as f64)
    };
    cells.map(block_s).sum::<Option<f64>>().map(|pass_s| pass_s * f64::from(plan.blocks))
}
