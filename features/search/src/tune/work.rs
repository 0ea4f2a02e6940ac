//! What all phases of a search do: build what is missing, run a block, take its outcomes, and count what that has cost. A block
//! that is in the files already is taken from there, whatever the budget is now. It decides nothing else.

use super::task::Task;
use crate::blocks::{Blocks, Part, Run, Stop, cell, failure, logarithm, seconds, trials};
use crate::budget::{CONFIRMING_BLOCKS, Spent};
use crate::progress::Progress;
use bakeoff_host::interrupt;
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{Failure, Outcome, Output, Record, Trial};
use bakeoff_model::study::{Condition, OutputUse, Workload};
use bakeoff_searching::race::{Slot, of_workloads};
use std::collections::{BTreeMap, BTreeSet};

/// Trials of a confirming block in a cell at most: of the baseline, its twin, the winner and a reduced one, or another layout.
const CONFIRMING_TRIALS: u64 = 4;

/// A search at work.
pub(crate) struct Work<'a> {
    pub(crate) task: &'a Task<'a>,
    pub(crate) blocks: Blocks,
    pub(crate) spent: Spent,
    /// Whether programs are linked again for each block; none before the first one.
    pub(crate) is_laid_out: Option<bool>,
    /// Variants that were run.
    pub(crate) run: BTreeSet<usize>,
    /// Those of them that neither failed nor timed out in a whole block.
    pub(crate) well: BTreeSet<usize>,
    pub(crate) progress: Progress,
    /// How many builds are ordered at a time.
    at_once: usize,
    /// What the baseline prints in each cell; none if it once printed something else there.
    printed: BTreeMap<[String; 2], Option<Vec<Output>>>,
    /// Variants that printed something other than the baseline.
    print_other: BTreeSet<usize>,
    /// Why a run of a variant failed first.
    failures: BTreeMap<usize, String>,
}

impl<'a> Work<'a> {
    /// `jobs` steps of building are at work at a time.
    pub(crate) fn of(task: &'a Task<'a>, blocks: Blocks, jobs: usize, quiet: bool) -> Self {
        let mut work = Self {
            task,
            blocks,
            spent: Spent::default(),
            is_laid_out: None,
            run: BTreeSet::new(),
            well: BTreeSet::new(),
            progress: Progress::of(quiet),
            at_once: 2 * jobs.max(2),
            printed: BTreeMap::new(),
            print_other: BTreeSet::new(),
            failures: BTreeMap::new(),
        };
        work.count_builds();
        work
    }

    /// Counts the builds that were tried, and how long they took.
    fn count_builds(&mut self) {
        let builds = self.task.builds.iter().enumerate();
        let tried = builds.filter(|(variant, _)| self.is_built(*variant).is_some()).map(|(_, build)| build);
        self.spent.builds = tried.collect::<BTreeSet<_>>().len() as u64;
        self.spent.building_s = self.blocks.building_s();
    }

    /// Whether a variant was built; none if nobody tried.
    pub(crate) fn is_built(&self, variant: usize) -> Option<bool> {
        self.blocks.is_built(self.task.name(variant))
    }

    /// Why a variant left, unless for its speed. Of several that have the same build, one has the reason.
    pub(crate) fn why(&self, variant: usize) -> Option<String> {
        if self.is_built(variant) == Some(false) {
            let builds = &self.task.builds;
            let same = (0..builds.len()).filter(|other| builds[*other] == builds[variant]);
            let why = same.map(|other| self.blocks.why(self.task.name(other))).find(|why| !why.is_empty());
            let why = why.map_or("; `bakeoff build` shows why".to_owned(), |why| format!(": {why}"));
            return Some(format!("could not be built{why}"));
        }
        self.print_other.contains(&variant).then(|| "printed something other than the baseline".to_owned())
    }

    /// Why runs of a variant failed, if any did.
    pub(crate) fn failure(&self, variant: usize) -> Option<String> {
        Some(format!("failed: {}", self.failures.get(&variant)?))
    }

    /// Trials of this number of blocks of the confirmation.
    pub(crate) fn confirming(&self, blocks: u32) -> u64 {
        u64::from(blocks) * self.task.cells() * CONFIRMING_TRIALS
    }

    /// Builds what was never tried of these variants, as far as the budget allows, and the baseline along with them. `number` is
    /// that of the block that needs them.
    pub(crate) fn prepare(&mut self, number: u32, variants: &[usize]) -> Result<(), Stop> {
        let missing = variants.iter().copied().chain([0]).filter(|variant| self.is_built(*variant).is_none());
        let mut missing: Vec<usize> = missing.collect::<BTreeSet<_>>().into_iter().collect();
        // What a block holds is fixed once it has begun, even if a larger budget has room for more now.
        if missing.is_empty() || self.blocks.has_begun(number) {
            return Ok(());
        }
        let Task { builds, budget, .. } = self.task;
        missing.sort_by_key(|variant| builds[*variant]);
        while !missing.is_empty() && self.spent.room(*budget) > 0 {
            let most = self.at_once.min(self.spent.room(*budget));
            let builds = missing.chunk_by(|one, other| builds[*one] == builds[*other]);
            let first: usize = builds.take(most).map(<[usize]>::len).sum();
            let rest = missing.split_off(first);
            let names: BTreeSet<String> = missing.iter().map(|variant| self.task.name(*variant).to_owned()).collect();
            let stands = format!("{} now, {} later", names.len(), rest.len());
            let (spent, progress) = (self.spent, &mut self.progress);
            let mut watch = |building_s| {
                let now = Spent { building_s, ..spent };
                progress.show("building", [&stands, ""], &now, *budget);
            };
            watch(spent.building_s);
            let is_done = self.blocks.build(&names, &mut watch)?;
            self.count_builds();
            if !is_done {
                return Err(Stop::Interrupted);
            }
            if self.blocks.is_built(BASELINE) == Some(false) {
                let error = format!("the baseline cannot be built: {}", self.blocks.why(BASELINE));
                self.blocks.forget_failed_builds()?;
                return Err(failure(&error, "`bakeoff build` shows its log").into());
            }
            missing = rest;
        }
        Ok(())
    }

    /// Runs a block of variants that are built, and returns their outcomes, as a race takes them. As long as one
    /// of them never ran well, the cheapest workload comes first: who fails there, or times out, does not run the others.
    pub(crate) fn block(&mut self, number: u32, slots: &[Slot]) -> Result<Vec<Option<f64>>, Stop> {
        let is_new = slots.iter().any(|slot| !self.well.contains(&slot.variant));
        let all = [Part::default()];
        let parts = self.cheap_first().filter(|_| is_new);
        let parts: &[Part] = parts.as_ref().map_or(&all, |parts| parts);
        let mut outcomes: Vec<Vec<Option<f64>>> = vec![vec![]; slots.len()];
        for part in parts {
            let is_well = |at: &usize| outcomes[*at].iter().all(|outcome| outcome.is_some_and(f64::is_finite));
            let left: Vec<usize> = (0..slots.len()).filter(is_well).collect();
            if left.is_empty() {
                break;
            }
            self.blocks.part = part.clone();
            let own: Vec<Slot> = left.iter().map(|at| slots[*at]).collect();
            for (at, of_cells) in left.into_iter().zip(self.part(number, &own)?) {
                outcomes[at].extend(of_cells);
            }
        }
        let outcomes: Vec<Option<f64>> = outcomes.iter().map(|of_cells| of_workloads(of_cells)).collect();
        let well = slots.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_some_and(f64::is_finite));
        self.well.extend(well.map(|(slot, _)| slot.variant));
        Ok(outcomes)
    }

    /// The parts of a block by cost: the workload that takes the least, as the study says, and the rest.
    fn cheap_first(&self) -> Option<[Part; 2]> {
        let plan = self.task.plan;
        let takes = |workload: &&Workload| workload.takes_s.unwrap_or(f64::INFINITY);
        let cheapest = plan.workloads.iter().min_by(|one, other| takes(one).total_cmp(&takes(other)))?;
        let cells = plan.workloads.iter().flat_map(|workload| plan.conditions.iter().map(move |c| (workload, c)));
        let (first, rest): (Vec<_>, Vec<_>) = cells.partition(|(workload, _)| workload.name == cheapest.name);
        let named = |cells: Vec<(&Workload, &Condition)>| {
            cells.into_iter().map(|(workload, condition)| [workload.name.clone(), condition.name.clone()]).collect()
        };
        let parts = [Part { name: "", without: named(rest) }, Part { name: "-rest", without: named(first) }];
        (plan.workloads.len() > 1).then_some(parts)
    }

    /// Runs a part of a block, and returns the outcomes of each slot's cells.
    fn part(&mut self, number: u32, slots: &[Slot]) -> Result<Vec<Vec<Option<f64>>>, Stop> {
        let run = |slot: &Slot| Run { variant: self.task.name(slot.variant).to_owned(), repeat: slot.repeat };
        let runs: Vec<Run> = slots.iter().map(run).collect();
        let Part { name, without } = &self.blocks.part;
        // A block is begun only if all of it fits.
        let cells = self.task.cells() - if name.is_empty() { 0 } else { without.len() as u64 };
        let trials_left = runs.len() as u64 * cells;
        let kept = self.confirming(CONFIRMING_BLOCKS);
        let record = match self.blocks.record(number, &runs) {
            Some(record) => record,
            None if interrupt::count() > 0 => return Err(Stop::Interrupted),
            None if !self.spent.fits(self.task.budget, trials_left, kept) => return Err(Stop::Budget),
            None => self.blocks.run(number, &runs)?.ok_or(Stop::Interrupted)?,
        };
        self.spent.trials += record.trials.len() as u64;
        self.spent.running_s += seconds(&record);
        self.is_laid_out.get_or_insert(record.blocks.iter().any(|block| block.layout.is_some()));
        self.run.extend(slots.iter().map(|slot| slot.variant));
        for trial in record.trials.iter().filter(|trial| trial.variant == BASELINE && trial.outcome == Outcome::Ok) {
            let known = self.printed.entry(cell(trial)).or_insert_with(|| Some(trial.output.clone()));
            *known = known.take().filter(|known| *known == trial.output);
        }
        let of_run = |(slot, run): (&Slot, &Run)| {
            trials(&record, run).map(|trial| self.outcome(&record, trial, slot.variant)).collect()
        };
        Ok(slots.iter().zip(&runs).map(of_run).collect())
    }

    /// The outcome of a trial, as a race takes it.
    fn outcome(&mut self, record: &Record, trial: &Trial, variant: usize) -> Option<f64> {
        if let Outcome::Failed(failure) = &trial.outcome {
            self.failures.entry(variant).or_insert_with(|| bakeoff_report::failure(failure));
            return matches!(failure, Failure::TimedOut { .. }).then_some(f64::INFINITY);
        }
        let value = logarithm(record, trial)?;
        let is_compared = record.study.outputs.get(&trial.workload).is_none_or(|of| *of == OutputUse::Compared);
        // Where the baseline prints something else each time, nothing follows.
        let expected = self.printed.get(&cell(trial)).and_then(Option::as_ref).filter(|_| is_compared);
        if expected.is_some_and(|expected| *expected != trial.output) {
            self.print_other.insert(variant);
            return None;
        }
        Some(value)
    }
}
