//! What a search will cost, before it begins, and whether all variants are built for it or a model chooses. Times are estimates
//! from what was seen here before; numbers of trials come from simulated races.

use super::levels::{self, Factors};
use super::phases::Aim;
use crate::budget::{Budget, CONFIRMING_BLOCKS};
use bakeoff_command::estimates::{about, trials_s};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{CommandError, Registry};
use bakeoff_model::percent::percent;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_report::format::count;
use bakeoff_report::words::counted;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Trials of a variant in simulated races of 24 at 1 % noise: in the median where effects spread over 10 %, and where all
/// variants are equal.
const USUAL_TRIALS: f64 = 12.0;
const TIED_TRIALS: f64 = 34.0;

/// A model needs runs of a subset and of the best few; with a subset of more than this share, all are built instead.
const LARGEST_SUBSET: f64 = 0.75;
pub(crate) const FINALISTS: u64 = 12;
const SUBSET_BLOCKS: u64 = 3;
const BEST_RUNS: u64 = 3 * 16;

/// What is known before a search.
#[derive(Debug)]
pub(crate) struct Cost {
    variants: u64,
    factors: String,
    cells: u64,
    /// Of all variants.
    pub(crate) builds: u64,
    /// Of the whole plan.
    trials: u64,
    /// How long a trial takes, and all builds.
    trial_s: Option<f64>,
    building_s: Option<f64>,
    /// Variants of which a model could be made, if that saves anything.
    pub(crate) subset: Option<u64>,
}

impl Cost {
    pub(crate) fn of(
        folder: &StudyFolder,
        plan: &Plan,
        features: &Registry,
        jobs: usize,
        aim: Aim,
        is_simulated: bool,
    ) -> Result<Self, CommandError> {
        let factors = Factors::of(&folder.study, plan);
        let order = folder.order(plan, jobs, true);
        let is_built = folder.study.builds() && !is_simulated;
        let builds: BTreeSet<usize> = levels::builds(&folder.study, plan).into_iter().filter(|_| is_built).collect();
        let building_s = match features.maker(&folder.study)?.filter(|_| is_built) {
            Some(maker) => maker.foresee(&order)?.takes_s,
            None => Some(0.0),
        };
        let variants = plan.variants.len() as u64;
        let subset = factors.space(plan).map(|(space, _)| space.subset(aim.seed).chosen().len() as u64);
        let shown = factors.0.iter().map(|(name, levels)| format!("{} ({})", clean(name), levels.len()));
        Ok(Self {
            variants,
            factors: shown.collect::<Vec<_>>().join(", "),
            cells: (plan.workloads.len() * plan.conditions.len()) as u64,
            builds: builds.len() as u64,
            trials: plan.trials() - plan.building_trials(),
            trial_s: trials_s(&folder.dir, plan).map(|all_s| all_s / plan.trials().max(1) as f64),
            building_s,
            subset: subset.filter(|subset| *subset as f64 <= LARGEST_SUBSET * variants as f64),
        })
    }

    /// Whether building is so dear that it is not known whether all can be built.
    pub(crate) fn is_open(&self, budget: Budget) -> bool {
        self.subset.is_some() && self.builds > 0 && self.building_s.is_none() && matches!(budget, Budget::Seconds(_))
    }

    /// Whether a model chooses what is raced: building all would take more than half of the budget.
    pub(crate) fn needs_model(&self, budget: Budget, building_s: Option<f64>) -> bool {
        let trials = self.variants * self.cells * (2 * SUBSET_BLOCKS);
        let is_dear = match budget {
            Budget::Builds(most) => self.builds > most,
            Budget::Trials(most) => 2 * trials > most,
            Budget::Seconds(most_s) => {
                let building_s = building_s.or(self.building_s).unwrap_or(0.0);
                2.0 * (building_s + self.trial_s.unwrap_or(0.0) * trials as f64) > most_s
            }
        };
        is_dear && self.subset.is_some()
    }

    /// Fails if there are too few builds even for a model.
    pub(crate) fn check(&self, budget: Budget) -> Result<(), CommandError> {
        let Budget::Builds(most) = budget else { return Ok(()) };
        let least = self.subset.map_or(self.builds, |subset| subset + FINALISTS).min(self.builds);
        if most >= least {
            return Ok(());
        }
        let shown = counted(self.variants as u32, "variant");
        let error = format!("a budget of {} is too small: {shown} need {least}", budget.shown());
        Err(CommandError::usage(error).hint("raise --budget, or choose fewer variants with --only"))
    }

    /// Builds and trials of a search, with `each` trials of each variant that races.
    fn of_search(&self, has_model: bool, each: f64) -> [u64; 2] {
        let raced = |variants: u64| (each * (variants * self.cells) as f64).round() as u64;
        match self.subset.filter(|_| has_model) {
            Some(subset) => {
                let screened = (SUBSET_BLOCKS * subset + BEST_RUNS) * self.cells;
                [(subset + FINALISTS).min(self.builds), screened + raced(FINALISTS + 1)]
            }
            None => [self.builds, raced(self.variants)],
        }
    }

    fn line(&self, what: &str, builds: u64, trials: u64) -> String {
        let of_builds = self.building_s.map(|all_s| all_s * builds as f64 / self.builds.max(1) as f64);
        let time = of_builds.zip(self.trial_s).map(|(building_s, each_s)| about(building_s + each_s * trials as f64));
        let builds = if builds > 0 { count(builds) } else { "-".to_owned() };
        format!("  {what:<34}{builds:>8}{:>10}   {}\n", count(trials), time.unwrap_or_else(|| "unknown".to_owned()))
    }

    /// All of it, for people.
    pub(crate) fn page(&self, plan: &Plan, budget: Budget, aim: Aim, has_model: bool) -> String {
        let name = clean(&plan.study);
        let mut out = format!("Study {name}: which of {} variants is the best?\n", count(self.variants));
        let cells = if self.cells == 1 { "1 workload".to_owned() } else { format!("{} cells", self.cells) };
        let margin = percent(aim.margin.exp_m1());
        let _ =
            writeln!(out, "Factors and their levels: {}\n{cells}; margin {margin}; seed {}\n", self.factors, aim.seed);
        let _ = writeln!(out, "  {:<34}{:>8}{:>10}   time", "", "builds", "trials");
        out += &self.line(&format!("the whole plan, {}", counted(plan.blocks, "block")), self.builds, self.trials);
        let [builds, trials] = self.of_search(has_model, USUAL_TRIALS);
        out += &self.line("this search, in the median", builds, trials);
        let [builds, trials] = self.of_search(has_model, TIED_TRIALS);
        out += &self.line("this search, if all are equal", builds, trials);
        out += &self.line("the confirmation, at least", 0, u64::from(CONFIRMING_BLOCKS) * self.cells * 3);
        let _ = writeln!(out, "\nBudget: {}", budget.shown());
        out += match self.subset.filter(|_| has_model) {
            None if self.builds == 0 => "All variants race.\n".to_owned(),
            None => "All variants are built and race.\n".to_owned(),
            Some(subset) => format!(
                "{} variants are {}run; a model of factors and pairs chooses {FINALISTS} to race.\n",
                count(subset),
                if self.builds == 0 { "" } else { "built and " }
            ),
        }
        .as_str();
        out + "Trials are those of simulated races at 1 % noise; at 3 %, four to seven times as\n\
               many. If the budget ends first, tune names all that may still be the best.\n"
    }
}
