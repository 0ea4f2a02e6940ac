//! The interim view of a record: which of its passes are judged now, and in which mode of inference. It knows the looks
//! of a study and the passes that are complete; whether there are blocks enough, [`super::stopping_rule`] says.

use super::mode::InferenceMode;
use crate::findings::Stopping;
use bakeoff_model::record::{Block, Record, StudyLine};
use bakeoff_model::until::Until;
use bakeoff_stats::spending;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct InterimView {
    pub(super) mode: InferenceMode,
    /// Blocks of passes after this one are not judged.
    pub(super) last_pass: u32,
    /// The rule, for the findings; none for a fixed number of blocks.
    pub(super) stopping: Option<Stopping>,
}

impl InterimView {
    pub(super) fn of(record: &Record) -> Self {
        let until = record.study.until;
        let passes = complete_passes(record);
        if until == Until::Blocks {
            // Every layout has the same number of passes.
            let whole = record.study.layouts.map(|layouts| passes / layouts.max(1) * layouts);
            return Self { mode: InferenceMode::Fixed, last_pass: whole.unwrap_or(u32::MAX), stopping: None };
        }
        let looks = looks(&record.study);
        let seen = looks.iter().rposition(|look| *look <= passes);
        let mode = match (until, seen) {
            (Until::Precision(_), _) => InferenceMode::Precision,
            (Until::Anytime, _) => InferenceMode::Anytime,
            (_, Some(look)) => InferenceMode::Look { most: looks.last().copied().unwrap_or(0), look },
            (_, None) => InferenceMode::Early { first: looks.first().copied().unwrap_or(0) },
        };
        let last_pass = match mode {
            InferenceMode::Look { look, .. } => looks[look],
            _ => u32::MAX,
        };
        let judged_blocks = last_pass.min(passes);
        let most_blocks = record.sessions.last().map_or(0, |session| session.blocks);
        let stopping = Some(Stopping { until, looks, judged_blocks, most_blocks, enough: false });
        Self { mode, last_pass, stopping }
    }
}

/// The looks of a study; none unless it is looked at a few times only.
pub(super) fn looks(study: &StudyLine) -> Vec<u32> {
    let most = study.looks_until.unwrap_or_else(|| study.until.default_blocks());
    if study.until == Until::Decided { spending::looks(most) } else { vec![] }
}

/// The number of passes, from the first on, of which every block is finished.
pub fn complete_passes(record: &Record) -> u32 {
    let mut executed: BTreeMap<(u32, &str, &str), BTreeSet<&str>> = BTreeMap::new();
    for trial in record.trials.iter().filter(|trial| trial.is_final()) {
        let block = (trial.block, trial.workload.as_str(), trial.condition.as_str());
        executed.entry(block).or_default().insert(&trial.variant);
    }
    let mut finished: BTreeMap<u32, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for Block { block, workload, condition, order, .. } in &record.blocks {
        let trials = executed.get(&(*block, workload.as_str(), condition.as_str()));
        if trials.is_some_and(|trials| order.iter().all(|variant| trials.contains(variant.as_str()))) {
            finished.entry(*block).or_default().insert((workload, condition));
        }
    }
    let study = &record.study;
    let cells =
        || study.workloads.iter().flat_map(|workload| study.conditions.iter().map(move |c| (&**workload, &**c)));
    let wanted = |pass: u32| cells().filter(|cell| !record.is_left_out(*cell, pass)).count();
    (1..).take_while(|pass| finished.get(pass).is_some_and(|cells| cells.len() == wanted(*pass))).last().unwrap_or(0)
}
