//! Trials that do not count, of every attempt, repeated ones too. [`super::trials`] has those that are compared.

use super::ids::{Cell, Ids};
use crate::findings::{FailedTrials, VoidBy};
use bakeoff_model::record::{Outcome, Record, StudyLine, TWIN, Trial};
use std::collections::BTreeMap;

/// Every attempt of every cell, in the order of time.
pub(super) struct Attempts<'a> {
    ids: Ids<'a>,
    cells: BTreeMap<Cell, Vec<&'a Trial>>,
}

impl<'a> Attempts<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let (ids, mut cells) = (Ids::of(record), BTreeMap::<Cell, Vec<&Trial>>::new());
        for trial in &record.trials {
            let place = ids.place(&trial.workload, &trial.condition);
            cells.entry(Cell { variant: ids.variant(&trial.variant), place }).or_default().push(trial);
        }
        Self { ids, cells }
    }

    /// How many attempts of a cell are void, of how many.
    pub(super) fn void_of(&self, variant: &str, workload: &str, condition: &str) -> [u32; 2] {
        let cell = Cell { variant: self.ids.variant(variant), place: self.ids.place(workload, condition) };
        let attempts = self.cells.get(&cell).map_or(&[][..], Vec::as_slice);
        let void = attempts.iter().filter(|trial| matches!(trial.outcome, Outcome::Void(_)));
        [void.count() as u32, attempts.len() as u32]
    }

    /// The cells with trials that do not count: in the order of the variants, the twin last.
    pub(super) fn lost(&self, study: &StudyLine) -> Vec<FailedTrials> {
        let planned = study.variants.iter().map(|variant| variant.name.as_str()).filter(|name| *name != TWIN);
        let variants = planned.chain([TWIN]).map(|name| self.ids.variant(name));
        let cells = variants.flat_map(|variant| self.ids.places(study).map(move |place| Cell { variant, place }));
        cells.filter_map(|cell| self.lost_of(study, cell)).collect()
    }

    /// None if all of them count.
    fn lost_of(&self, study: &StudyLine, cell: Cell) -> Option<FailedTrials> {
        let attempts = self.cells.get(&cell)?;
        let (workload, condition) = self.ids.names(cell.place);
        let mut lost = FailedTrials {
            variant: self.ids.name(cell.variant).to_owned(),
            workload: workload.to_owned(),
            condition: condition.to_owned(),
            of: attempts.len() as u32,
            ..FailedTrials::default()
        };
        count_lost(study, attempts, &mut lost);
        (lost.failed + lost.void > 0).then_some(lost)
    }
}

fn count_lost(study: &StudyLine, attempts: &[&Trial], lost: &mut FailedTrials) {
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    for trial in attempts {
        let known = last.entry(trial.block).or_default();
        *known = trial.attempt.max(*known);
    }
    for trial in attempts {
        match &trial.outcome {
            Outcome::Ok => {}
            Outcome::Failed(failure) => {
                lost.failed += 1;
                lost.example.get_or_insert_with(|| failure.clone());
            }
            Outcome::Void(why) => {
                lost.void += 1;
                lost.repeated += u32::from(last.get(&trial.block).is_some_and(|last| trial.attempt < *last));
                count(&mut lost.void_by, rule(study, trial, why), why);
            }
        }
    }
}

/// The metric of the first rule that applies: a rule's reason begins with it. None if a changed file made it void.
fn rule(study: &StudyLine, trial: &Trial, why: &str) -> Option<String> {
    let applies = |rule: &&bakeoff_model::study::VoidRule| {
        trial.value(&rule.metric).is_some_and(|x| x > rule.above) && why.starts_with(&format!("{} ", rule.metric))
    };
    study.void_if.iter().find(applies).map(|rule| rule.metric.clone())
}

fn count(void_by: &mut Vec<VoidBy>, metric: Option<String>, why: &str) {
    match void_by.iter_mut().find(|known| known.metric == metric && (metric.is_some() || known.example == why)) {
        Some(known) => known.trials += 1,
        None => void_by.push(VoidBy { metric, trials: 1, example: why.to_owned() }),
    }
}
