//! What all phases of a search do: build what is missing, run a block, take its outcomes, and count what that has cost. A block
//! that is in the files already is taken from there, whatever the budget is now. It decides nothing else.

use crate::blocks::{Blocks, Run, Stop, seconds, trials, value};
use crate::budget::{Budget, CONFIRMING_BLOCKS, Spent};
use crate::progress::Progress;
use crate::race::{Outcome, Slot};
use bakeoff_command::target::replace;
use bakeoff_command::{Code, CommandError};
use bakeoff_host::interrupt;
use bakeoff_model::metric::{Direction, WALL};
use bakeoff_model::plan::{BASELINE, Plan};
use bakeoff_model::record::{Failure, Output, Record, Trial};
use bakeoff_model::study::OutputUse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Trials of a confirming block in a cell at most: of the baseline, its twin, the winner and a reduced one, or another layout.
const CONFIRMING_TRIALS: u64 = 4;

/// How a command ends that has built the baseline and nothing else.
const ONLY_BASELINE: &str = "only the baseline could be built";

/// A search at work.
pub(crate) struct Work<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) budget: Budget,
    pub(crate) spent: Spent,
    /// Blocks so far.
    pub(crate) taken: u32,
    /// Whether programs are linked again for each block; none before the first one.
    pub(crate) is_laid_out: Option<bool>,
    /// Variants that were run.
    pub(crate) run: BTreeSet<usize>,
    /// Variants that printed something other than the baseline.
    pub(crate) print_other: BTreeSet<usize>,
    pub(crate) progress: Progress,
    blocks: Blocks,
    /// Variants that are not built, as the budget has no room for them; and the file that says so.
    given_up: BTreeSet<usize>,
    given_up_file: PathBuf,
    /// The build of each variant, if anything is built, and how many are ordered at a time.
    builds: Vec<usize>,
    at_once: usize,
    /// What the baseline has printed in each cell.
    printed: BTreeMap<(String, String), BTreeSet<Vec<u8>>>,
}

impl<'a> Work<'a> {
    /// `builds` has the build of each variant; `jobs` steps of building are at work at a time.
    pub(crate) fn of(
        plan: &'a Plan,
        blocks: Blocks,
        dir: &Path,
        builds: Vec<usize>,
        jobs: usize,
        budget: Budget,
    ) -> Self {
        let given_up_file = dir.join("given-up.json");
        let given_up = fs::read(&given_up_file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut work = Self {
            plan,
            budget,
            spent: Spent::default(),
            taken: 0,
            is_laid_out: None,
            run: BTreeSet::new(),
            print_other: BTreeSet::new(),
            progress: Progress::default(),
            blocks,
            given_up: given_up.unwrap_or_default(),
            given_up_file,
            builds,
            at_once: 2 * jobs.max(2),
            printed: BTreeMap::new(),
        };
        work.count_builds();
        work
    }

    /// Those that were tried count.
    fn count_builds(&mut self) {
        let tried = (0..self.builds.len()).filter(|variant| self.is_built(*variant).is_some());
        self.spent.builds = tried.map(|variant| self.builds[variant]).collect::<BTreeSet<_>>().len() as u64;
        self.spent.building_s = self.blocks.building_s();
    }

    pub(crate) fn name(&self, variant: usize) -> &str {
        &self.plan.variants[variant].name
    }

    /// Whether a variant was built; none if nobody tried.
    pub(crate) fn is_built(&self, variant: usize) -> Option<bool> {
        self.blocks.is_built(self.name(variant))
    }

    /// Whether the variant of that name was built.
    pub(crate) fn is_name_built(&self, name: &str) -> bool {
        self.blocks.is_built(name) == Some(true)
    }

    /// How many builds there are.
    pub(crate) fn built(&self) -> usize {
        let built = (0..self.builds.len()).filter(|variant| self.is_built(*variant) == Some(true));
        built.map(|variant| self.builds[variant]).collect::<BTreeSet<_>>().len()
    }

    /// Why a variant could not be built. Of several that have the same build, one has the reason.
    pub(crate) fn why(&self, variant: usize) -> &str {
        let same = (0..self.builds.len()).filter(|other| self.builds[*other] == self.builds[variant]);
        same.map(|other| self.blocks.why(self.name(other))).find(|why| !why.is_empty()).unwrap_or_default()
    }

    fn cells(&self) -> u64 {
        (self.plan.workloads.len() * self.plan.conditions.len()) as u64
    }

    /// Trials of this number of blocks of the confirmation.
    pub(crate) fn confirming(&self, blocks: u32) -> u64 {
        u64::from(blocks) * self.cells() * CONFIRMING_TRIALS
    }

    /// Builds what was never tried of these variants, as far as the budget allows, and the baseline along with them.
    pub(crate) fn prepare(&mut self, variants: &[usize]) -> Result<(), Stop> {
        let is_missing = |variant: &usize| self.is_built(*variant).is_none() && !self.given_up.contains(variant);
        let missing: BTreeSet<usize> = variants.iter().copied().chain([0]).filter(is_missing).collect();
        let mut missing: Vec<usize> = missing.into_iter().collect();
        while !missing.is_empty() {
            let room = self.spent.room(self.budget);
            if room == 0 {
                return Ok(self.give_up(&missing)?);
            }
            let rest = missing.split_off(self.first_builds(&missing, self.at_once.min(room)));
            let names: BTreeSet<String> = missing.iter().map(|variant| self.name(*variant).to_owned()).collect();
            self.progress.building(names.len(), rest.len(), &self.spent, self.budget);
            let is_done = match self.blocks.build(&names) {
                // The first few failed but for the baseline, which an order of its own cannot build. Others may not.
                Err(error) if !rest.is_empty() && self.built() == 0 && error.to_string().contains(ONLY_BASELINE) => {
                    self.at_once = usize::MAX;
                    missing.extend(rest);
                    continue;
                }
                built => built?,
            };
            self.count_builds();
            if !is_done {
                return Err(Stop::Interrupted);
            }
            if self.blocks.is_built(BASELINE) == Some(false) {
                let error = format!("the baseline could not be built: {}", self.blocks.why(BASELINE));
                return Err(Stop::Failed(
                    CommandError::text(Code::VariantFailed, format!("error: {error}\n"))
                        .hint("`bakeoff build` shows its log"),
                ));
            }
            missing = rest;
        }
        Ok(())
    }

    /// Variants for which no budget was left are not built later: blocks that were run would have held them.
    fn give_up(&mut self, variants: &[usize]) -> Result<(), CommandError> {
        self.given_up.extend(variants);
        replace(&self.given_up_file, &serde_json::to_vec(&self.given_up)?)
            .map_err(|error| CommandError::unwritten("cannot write the files of the search", &error))
    }

    /// How many of these variants have the first few builds.
    fn first_builds(&self, variants: &[usize], most: usize) -> usize {
        let mut builds = BTreeSet::new();
        let fits = |variant: &&usize| {
            builds.insert(self.builds[**variant]);
            builds.len() <= most
        };
        variants.iter().take_while(fits).count()
    }

    /// Runs a block of variants that are built, and returns their outcomes. The first run of `reference` shows what the others
    /// have to print.
    pub(crate) fn block(&mut self, number: u32, slots: &[Slot], reference: usize) -> Result<Vec<Outcome>, Stop> {
        let run = |slot: &Slot| Run { variant: self.name(slot.variant).to_owned(), repeat: slot.repeat };
        let runs: Vec<Run> = slots.iter().map(run).collect();
        let record = match self.blocks.record(number, &runs) {
            Some(record) => record,
            None => {
                let trials = runs.len() as u64 * self.cells();
                if interrupt::count() > 0 {
                    return Err(Stop::Interrupted);
                }
                if !self.spent.fits(self.budget, trials, self.confirming(CONFIRMING_BLOCKS)) {
                    return Err(Stop::Budget);
                }
                self.blocks.run(number, &runs)?.ok_or(Stop::Interrupted)?
            }
        };
        self.account(&record);
        self.run.extend(slots.iter().map(|slot| slot.variant));
        let reference = slots.iter().position(|slot| slot.variant == reference && slot.repeat == 0);
        self.learn_output(&record, reference.map(|at| &runs[at]));
        let mut outcomes = vec![];
        for (slot, run) in slots.iter().zip(&runs) {
            let of_cells: Vec<Outcome> = trials(&record, run).map(|trial| self.outcome(&record, trial, slot)).collect();
            outcomes.push(Outcome::of_workloads(&of_cells));
        }
        Ok(outcomes)
    }

    fn account(&mut self, record: &Record) {
        self.taken += 1;
        self.spent.trials += record.trials.len() as u64;
        self.spent.running_s += seconds(record);
        self.is_laid_out.get_or_insert(record.blocks.iter().any(|block| block.layout.is_some()));
    }

    fn learn_output(&mut self, record: &Record, reference: Option<&Run>) {
        for trial in reference.iter().flat_map(|run| trials(record, run)) {
            if trial.outcome == bakeoff_model::record::Outcome::Ok {
                self.printed.entry(cell(trial)).or_default().insert(printed(trial));
            }
        }
    }

    fn outcome(&mut self, record: &Record, trial: &Trial, slot: &Slot) -> Outcome {
        let metric = record.study.decide.metrics.first().map_or(WALL, String::as_str);
        let sign = match record.study.metric(metric).map(|metric| metric.better) {
            Some(Direction::More) => -1.0,
            _ => 1.0,
        };
        if let bakeoff_model::record::Outcome::Failed(Failure::TimedOut { .. }) = trial.outcome {
            return Outcome::TimedOut;
        }
        let is_compared = record.study.outputs.get(&trial.workload).is_none_or(|of| *of == OutputUse::Compared);
        // Where the baseline prints something else each time, nothing follows.
        let expected = self.printed.get(&cell(trial)).filter(|printed| is_compared && printed.len() == 1);
        match value(trial, metric).filter(|value| *value > 0.0) {
            Some(_) if expected.is_some_and(|expected| !expected.contains(&printed(trial))) => {
                self.print_other.insert(slot.variant);
                Outcome::Failed
            }
            Some(value) => Outcome::Took(sign * value.ln()),
            None => Outcome::Failed,
        }
    }
}

fn cell(trial: &Trial) -> (String, String) {
    (trial.workload.clone(), trial.condition.clone())
}

/// What a trial printed, as bytes that tell one output from another.
fn printed(trial: &Trial) -> Vec<u8> {
    let of = |output: &Output| format!("{} {}\n", output.bytes, output.sha256);
    trial.output.iter().map(of).collect::<String>().into_bytes()
}
