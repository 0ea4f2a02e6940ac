//! What a search will cost, before it begins, and whether all variants are built for it or a model chooses. Times are estimates
//! from what was seen here before; numbers of trials come from simulated races.

use super::task::Task;
use crate::budget::{Budget, CONFIRMING_BLOCKS};
use bakeoff_command::estimates::{about, trials_s};
use bakeoff_command::{CommandError, Order, Registry};
use bakeoff_model::percent::percent;
use bakeoff_model::plain::clean;
use bakeoff_report::format::count;
use bakeoff_report::words::counted;
use bakeoff_searching::screening::{ANCHORS, BLOCKS, FINALISTS};
use std::collections::BTreeSet;

/// Trials of a variant in simulated races of 24 at 1 % noise: in the median where effects spread over 10 %, and where all
/// variants are equal.
const USUAL_TRIALS: f64 = 12.0;
const TIED_TRIALS: f64 = 34.0;

/// A model needs runs of a subset and of the best few; with a subset of more than this share, all are built instead.
const LARGEST_SUBSET: f64 = 0.75;

/// What is known before a search.
pub(crate) struct Cost<'a> {
    task: &'a Task<'a>,
    /// Of all variants.
    pub(crate) builds: u64,
    /// How long a trial takes, and all builds.
    trial_s: Option<f64>,
    pub(crate) building_s: Option<f64>,
    /// Variants of which a model could be made, if that saves anything.
    pub(crate) subset: Option<u64>,
}

impl<'a> Cost<'a> {
    pub(crate) fn of(task: &'a Task<'a>, order: &Order<'_>, features: &Registry) -> Result<Self, CommandError> {
        let plan = task.plan;
        let building_s = match features.maker(order.study)?.filter(|_| !task.builds.is_empty()) {
            Some(maker) => maker.foresee(order)?.takes_s,
            None => Some(0.0),
        };
        let subset = Some(task.space().0.subset_len());
        let most = LARGEST_SUBSET * plan.variants.len() as f64;
        Ok(Self {
            task,
            builds: task.builds.iter().collect::<BTreeSet<_>>().len() as u64,
            trial_s: trials_s(order.dir, plan).map(|all_s| all_s / plan.trials().max(1) as f64),
            building_s,
            subset: subset.filter(|subset| *subset as f64 <= most).map(|subset| subset as u64),
        })
    }

    /// Whether a model chooses what is raced: building all would take more than half of the budget.
    pub(crate) fn needs_model(&self, building_s: f64) -> bool {
        let trials = self.trials_of(self.task.plan.variants.len(), 2 * BLOCKS);
        let is_dear = match self.task.budget {
            Budget::Builds(most) => self.builds > most,
            Budget::Trials(most) => 2 * trials > most,
            Budget::Seconds(most_s) => 2.0 * (building_s + self.trial_s.unwrap_or(0.0) * trials as f64) > most_s,
        };
        is_dear && self.subset.is_some()
    }

    /// Fails if there are too few builds even for a model.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        let least = self.subset.map_or(self.builds, |subset| subset + FINALISTS as u64).min(self.builds);
        match self.task.budget {
            budget @ Budget::Builds(most) if most < least => {
                let shown = counted(self.task.plan.variants.len() as u32, "variant");
                let error = format!("a budget of {} is too small: {shown} need {least}", budget.shown());
                Err(CommandError::usage(error).hint("use a larger --budget, or choose fewer variants with --only"))
            }
            _ => Ok(()),
        }
    }

    fn trials_of(&self, variants: usize, blocks: usize) -> u64 {
        (variants * blocks) as u64 * self.task.cells()
    }

    /// A line of the page about a search with `each` trials of each variant that races.
    fn line_of_search(&self, what: &str, has_model: bool, each: f64) -> String {
        let raced = |variants: usize| (each * self.trials_of(variants, 1) as f64).round() as u64;
        match self.subset.filter(|_| has_model) {
            Some(subset) => {
                let screened = self.trials_of(subset as usize + FINALISTS + ANCHORS, BLOCKS);
                self.line(what, (subset + FINALISTS as u64).min(self.builds), screened + raced(FINALISTS + 1))
            }
            None => self.line(what, self.builds, raced(self.task.plan.variants.len())),
        }
    }

    fn line(&self, what: &str, builds: u64, trials: u64) -> String {
        let of_builds = self.building_s.map(|all_s| all_s * builds as f64 / self.builds.max(1) as f64);
        let time = of_builds.zip(self.trial_s).map(|(building_s, each_s)| about(building_s + each_s * trials as f64));
        let builds = if builds > 0 { count(builds) } else { "-".to_owned() };
        format!("  {what:<34}{builds:>8}{:>10}   {}\n", count(trials), time.unwrap_or_else(|| "unknown".to_owned()))
    }

    /// All of it, for people.
    pub(crate) fn page(&self, has_model: bool) -> String {
        let (task, plan) = (self.task, self.task.plan);
        let (study, variants) = (clean(&plan.study), count(plan.variants.len() as u64));
        let factors = task.factors.iter().map(|(name, levels)| format!("{} ({})", clean(name), levels.len()));
        let cells = if task.cells() == 1 { "1 workload".to_owned() } else { format!("{} cells", task.cells()) };
        let whole = format!("the whole plan, {}", counted(plan.blocks, "block"));
        let racers = match self.subset.filter(|_| has_model) {
            Some(subset) => {
                format!("{} variants are run; a model of factors and pairs chooses {FINALISTS} to race.", count(subset))
            }
            None => "All variants race.".to_owned(),
        };
        [
            format!("Study {study}: which of {variants} variants is the best?\n"),
            format!("Factors and their levels: {}\n", factors.collect::<Vec<_>>().join(", ")),
            format!("{cells}; margin {}; seed {}\n\n", percent(task.margin.exp_m1()), plan.seed),
            format!("  {:<34}{:>8}{:>10}   time\n", "", "builds", "trials"),
            self.line(&whole, self.builds, plan.trials() - plan.building_trials()),
            self.line_of_search("this search, in the median", has_model, USUAL_TRIALS),
            self.line_of_search("this search, if all are equal", has_model, TIED_TRIALS),
            self.line("the confirmation, at least", 0, self.trials_of(3, CONFIRMING_BLOCKS as usize)),
            format!("\nBudget: {}\n{racers}\n", task.budget.shown()),
            "Trials are those of simulated races at 1 % noise; at 3 %, four to seven times as\n".to_owned(),
            "many. If the budget ends first, tune names all that may still be the best.\n".to_owned(),
        ]
        .concat()
    }
}
