//! Variants of which every trial fails in the same way, noticed while the study goes on: nobody shall wait for the last
//! block to read the reason. It ends nothing; other variants may do well.

use bakeoff_model::record::{Outcome, Record, TWIN, Trial};
use bakeoff_report::failure_in_full;
use std::collections::{BTreeMap, BTreeSet};

/// A variant that fails while others of the block do well is reported after this many trials; where all fail, after the
/// first block.
const ENOUGH: u32 = 2;

/// Variant, workload, condition.
type Cell = (String, String, String);

/// What came of the trials of this session.
#[derive(Debug, Default)]
pub(crate) struct Failing {
    /// Of cells of which no trial has succeeded: how many failed, and how the first one did.
    cells: BTreeMap<Cell, (u32, String)>,
    /// Cells of which nothing is to be said any more: a trial did well, or failed in another way, or it was said.
    settled: BTreeSet<Cell>,
    /// The block that is run: how many of its trials have ended, and how many of them failed.
    block: [u32; 2],
    /// Whether the study has one condition only, which then goes without saying.
    one_condition: bool,
}

impl Failing {
    /// For a study of which these trials are there already.
    pub(crate) fn after(record: &Record) -> Self {
        let did_well = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok);
        let settled = did_well.map(cell).collect();
        Self { settled, one_condition: record.study.conditions.len() < 2, ..Self::default() }
    }

    /// Takes note of a trial that is not repeated.
    pub(crate) fn ended(&mut self, trial: &Trial) {
        let cell = cell(trial);
        self.block[0] += 1;
        let Outcome::Failed(failure) = &trial.outcome else {
            self.settled.insert(cell);
            return;
        };
        self.block[1] += 1;
        let how = failure_in_full(failure);
        let (number, first) = self.cells.entry(cell.clone()).or_insert_with(|| (0, how.clone()));
        *number += 1;
        if *first != how {
            self.settled.insert(cell);
        }
    }

    /// What is to be said now that a block has ended, each once: one line for those that fail alike.
    pub(crate) fn block_ended(&mut self) -> Vec<String> {
        let [ended, failed] = std::mem::take(&mut self.block);
        let least = if ended == failed { 1 } else { ENOUGH };
        let mut alike: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
        let mut said = vec![];
        for (cell, (number, how)) in &self.cells {
            if *number >= least && !self.settled.contains(cell) {
                let names = alike.entry((how.as_str(), cell.1.as_str(), cell.2.as_str())).or_default();
                // The twin runs what the baseline does.
                if cell.0 != TWIN && !names.contains(&cell.0.as_str()) {
                    names.push(&cell.0);
                }
                said.push(cell.clone());
            }
        }
        alike.retain(|_, names| !names.is_empty());
        let line = |((how, workload, condition), names): (&(&str, &str, &str), &Vec<&str>)| {
            let under = if self.one_condition { String::new() } else { format!(" under {condition}") };
            format!("note: every trial of {} on {workload}{under} fails in the same way: {how}", names.join(", "))
        };
        let lines = alike.iter().map(line).collect();
        self.settled.extend(said);
        lines
    }
}

fn cell(trial: &Trial) -> Cell {
    (trial.variant.clone(), trial.workload.clone(), trial.condition.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::record::{Failure, StudyLine};

    fn trial(variant: &str, why: Option<&str>) -> Trial {
        let outcome = why.map_or(Outcome::Ok, |why| Outcome::Failed(Failure::BadMarks { why: why.to_owned() }));
        Trial { variant: variant.to_owned(), workload: "w".to_owned(), outcome, ..Trial::default() }
    }

    /// A study with these conditions, of which these trials are there.
    fn after(conditions: &[&str], trials: &[(&str, Option<&str>)]) -> Failing {
        let conditions = conditions.iter().map(|&name| name.to_owned()).collect();
        let mut record = Record::new(StudyLine { conditions, ..StudyLine::default() });
        record.trials = trials.iter().map(|(variant, why)| trial(variant, *why)).collect();
        Failing::after(&record)
    }

    fn block(failing: &mut Failing, trials: &[(&str, Option<&str>)]) -> Vec<String> {
        trials.iter().for_each(|(variant, why)| failing.ended(&trial(variant, *why)));
        failing.block_ended()
    }

    #[test]
    fn a_study_that_fails_as_a_whole_says_so_after_its_first_block() {
        let mut failing = after(&["idle"], &[]);
        let all = [("a", Some("no phase")), (TWIN, Some("no phase")), ("b", Some("no phase"))];
        let said = block(&mut failing, &all);
        assert!(said.len() == 1 && said[0].contains("of a, b on w fails") && said[0].ends_with("no phase"), "{said:?}");
        assert!(block(&mut failing, &all).is_empty(), "it is said once");
    }

    #[test]
    fn a_variant_that_always_fails_is_named_after_two_blocks() {
        let mut failing = after(&["idle"], &[]);
        let some = [("a", None), (TWIN, None), ("b", Some("x")), ("c", Some("y"))];
        assert!(block(&mut failing, &some).is_empty());
        let said = block(&mut failing, &[("a", None), ("b", Some("x")), ("c", Some("z"))]);
        assert!(said.len() == 1 && said[0].contains("of b on w"), "c fails in several ways: {said:?}");
    }

    #[test]
    fn a_variant_that_did_well_once_is_not_named() {
        let mut failing = after(&["idle"], &[]);
        assert!(block(&mut failing, &[("a", None), ("b", None)]).is_empty());
        assert!(block(&mut failing, &[("a", None), ("b", Some("x"))]).is_empty());
        assert!(block(&mut failing, &[("a", None), ("b", Some("x"))]).is_empty());
        assert!(block(&mut failing, &[("a", Some("x")), ("b", Some("x"))]).is_empty());
        let mut failing = after(&["idle"], &[("a", None), ("b", None)]);
        assert!(block(&mut failing, &[("b", Some("x"))]).is_empty(), "in a session before");
    }

    #[test]
    fn a_condition_is_named_where_there_are_several() {
        let mut failing = after(&["idle", "busy"], &[]);
        let busy = Trial { condition: "busy".to_owned(), ..trial("a", Some("x")) };
        failing.ended(&busy);
        let said = failing.block_ended();
        assert!(said.len() == 1 && said[0].starts_with("note: every trial of a on w under busy fails"), "{said:?}");
    }
}
