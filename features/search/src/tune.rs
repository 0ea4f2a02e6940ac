//! `bakeoff tune`: the best variant of a study under a budget. It opens the study, finds the files of the search or begins them,
//! and leads through the phases: a model if the space is big, the race, the ablation, the confirmation.

mod answer;
mod confirm;
mod cost;
mod phases;
mod task;
mod work;

use crate::blocks::{Blocks, NAME_DIGITS, Stop, ended, failure, lock};
use crate::budget::Budget;
use answer::{Answer, Found};
use bakeoff_command::arguments::margin;
use bakeoff_command::selection::{Jobs, Selection};
use bakeoff_command::state::StateFolder;
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_model::digest::Digest;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::STATE_FOLDER;
use bakeoff_report::words::{named, subject};
use confirm::MOST_BLOCKS;
use cost::Cost;
use phases::Raced;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use task::Task;
use work::Work;

/// Below the study's own state: a folder for each search.
const FOLDER: &str = "tune";
/// What was decided when the search began.
const BEGUN: &str = "search.json";

/// Find the best variant of a study within a budget
///
/// All variants run in common blocks, and each leaves as soon as it is shown not to be the best, or not to be better than the
/// leader by more than the margin. At the end, an ordinary run of the winner against the baseline shows the gain. Ctrl-C stops
/// after the current trial: run the same command again to resume. A larger budget resumes too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    only_here: crate::only_here::OnlyHere,
    /// What the search may cost: a time (`90min`, `2h`), `'400 trials'` or `'30 builds'`
    ///
    /// If building all variants would take more than half of it, only some are built, and a model of factors and pairs of factors
    /// chooses twelve to race. What 12 blocks of the confirmation cost is kept for it.
    #[arg(long, value_name = "WHAT", value_parser = Budget::parse)]
    budget: Budget,
    /// The largest difference that does not matter
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = margin)]
    margin: f64,
    /// Draw the order of the trials from another seed than the plan's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    jobs: Jobs,
    /// Print what the search will cost, and begin nothing
    #[arg(long)]
    dry_run: bool,
    /// Rehearse the search: build and run nothing, but draw random durations according to TRUTH, as `run --simulate` does
    #[arg(long, value_name = "TRUTH", conflicts_with = "jobs")]
    simulate: Option<String>,
    /// Print one JSON object instead of the report and the answer
    ///
    /// `variants` has each variant with its `state`: `left`, `dropped` (not the best), `parked` (not better than the winner by
    /// more than the margin), `failed`, `screened`, `judged by a model` or `not run`. `winner` is null if the budget ended first;
    /// then the best is one of `candidates`. `left_out` has the factors that can stay at the baseline's level, and `reduced` the
    /// variant without them. `confirmation` has the gains and their journal.
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// A search that is about to begin, or to resume.
struct Search<'a> {
    args: &'a Args,
    features: &'a Registry,
    folder: &'a StudyFolder,
    task: &'a Task<'a>,
    cost: Cost<'a>,
    /// Where its files are.
    dir: PathBuf,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.selection.study, features)?;
    let mut plan = args.selection.plan(&folder.study)?;
    if plan.boots() {
        return Err(CommandError::usage("tune: the variants of this plan boot kernels, and a search runs no kernels")
            .hint("use `bakeoff run`"));
    }
    let deciding = plan.decide.metrics.first().map_or("", String::as_str);
    let is_missing = |name: &str| bakeoff_host::counters(true).iter().any(|(own, open)| *own == name && open.is_err());
    if features.instruments.iter().any(|one| one.metric == deciding) && is_missing(deciding) {
        let error =
            format!("tune: this machine cannot measure {deciding}; an instrument counts it, and a count needs no race");
        return Err(CommandError::usage(error).hint("use `bakeoff run --blocks 3`, or choose another deciding metric"));
    }
    plan.seed = args.seed.unwrap_or(plan.seed);
    let task = Task::of(&folder.study, &plan, args.budget, args.margin.ln_1p(), args.simulate.is_some());
    let cost = Cost::of(&task, &folder.order(&plan, args.jobs.at_a_time(), true), features)?;
    cost.check()?;
    if args.dry_run {
        screen::out(&cost.page(cost.needs_model(cost.building_s.unwrap_or(0.0))));
        return Ok(Code::Done);
    }
    StateFolder::of(&folder.dir)?;
    let dir = folder.dir.join(STATE_FOLDER).join(FOLDER).join(name(args, &folder, &task)?);
    let _lock = lock(&dir)?;
    Search { args, features, folder: &folder, task: &task, cost, dir }.execute()
}

/// The name of a search: the same study, variants, seed and margin are the same search, whatever its budget.
fn name(args: &Args, folder: &StudyFolder, task: &Task<'_>) -> Result<String, CommandError> {
    let mut digest = Digest::of("tune");
    for path in [&folder.file, &folder.file.with_extension("lock")] {
        digest.field("file", &fs::read(path).unwrap_or_default());
    }
    digest.field("plan", task.plan.name.as_bytes());
    task.plan.variants.iter().for_each(|variant| _ = digest.field("variant", variant.name.as_bytes()));
    digest.field("seed", &task.plan.seed.to_le_bytes()).field("margin", &task.margin.to_le_bytes());
    digest.field("truth", args.simulate.as_deref().unwrap_or_default().as_bytes());
    digest.field("inputs", folder.inputs(&folder.expected()?)?.digest().as_bytes());
    Ok(digest.hex()[..NAME_DIGITS].to_owned())
}

impl Search<'_> {
    /// The options of `run` that all of its commands have.
    fn words(&self, truth: Option<String>) -> Vec<String> {
        let plan = ["--plan".to_owned(), self.task.plan.name.clone()];
        let jobs = || ["--jobs".to_owned(), self.args.jobs.at_a_time().to_string()];
        let more = truth.map_or_else(jobs, |truth| ["--simulate".to_owned(), truth]);
        [plan, more].concat()
    }

    fn execute(&self) -> Result<Code, CommandError> {
        let words = self.words(self.args.simulate.clone());
        let blocks = Blocks::open(&self.dir, &self.folder.file, words, !self.task.builds.is_empty())?;
        let mut work = Work::of(self.task, blocks, self.args.jobs.at_a_time(), self.args.quiet);
        self.check_builds(&work)?;
        let mut found = Found::default();
        let searched = self.search(&mut work, &mut found);
        work.progress.end();
        ended(searched)?;
        ended(self.confirm(&work, &mut found))?;
        self.tell(&work, &found);
        Ok(Code::Done)
    }

    /// Fails if builds of a search that resumes are gone, or would now be other ones.
    fn check_builds(&self, work: &Work<'_>) -> Result<(), CommandError> {
        let mut plan = self.task.plan.clone();
        plan.variants.retain(|variant| work.blocks.is_built(&variant.name) == Some(true));
        let maker = self.features.maker(&self.folder.study)?.filter(|_| !self.task.builds.is_empty());
        let Some(maker) = maker.filter(|_| !plan.variants.is_empty()) else { return Ok(()) };
        let order = self.folder.order(&plan, self.args.jobs.at_a_time(), true);
        let Some(missing) = maker.foresee(&order)?.missing else { return Ok(()) };
        let error = format!("this search needs builds that were removed, or that have other sources now: {missing}");
        Err(CommandError::usage(error)
            .hint(format!("restore the sources, or remove {} to begin the search again", self.dir.display())))
    }

    /// All phases but the confirmation.
    fn search(&self, work: &mut Work<'_>, found: &mut Found) -> Result<(), Stop> {
        found.has_model = self.has_model(work)?;
        if !self.args.quiet {
            screen::err(&format!("{}\n", self.cost.page(found.has_model)));
        }
        let (racers, model) = match found.has_model {
            true => phases::screen(work)?,
            false => ((0..self.task.plan.variants.len()).collect(), None),
        };
        let raced = phases::race(work, &racers)?;
        fail_without_racers(work, &raced)?;
        if raced.racers.len() < 2 {
            return Ok(());
        }
        let blocks = raced.race.blocks;
        found.raced = Some(raced);
        if let Some(winner) = found.winner().filter(|winner| *winner != 0) {
            found.left_out = Some(phases::ablate(work, winner, blocks, model.as_ref())?);
        }
        Ok(())
    }

    /// Whether a model chooses what races. That is decided once, as estimates change.
    fn has_model(&self, work: &mut Work<'_>) -> Result<bool, Stop> {
        if let Some(known) = fs::read(self.dir.join(BEGUN)).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(known);
        }
        let mut building_s = self.cost.building_s;
        if building_s.is_none() && self.cost.subset.is_some() && matches!(self.args.budget, Budget::Seconds(_)) {
            // Nobody knows how long a build takes, so the first two show it. No block has begun.
            work.prepare(0, &[0, 1])?;
            building_s = Some(work.spent.building_s * (self.cost.builds as f64 / work.spent.builds.max(1) as f64));
        }
        let has_model = self.cost.needs_model(building_s.unwrap_or(0.0));
        work.blocks.write(BEGUN, &has_model)?;
        Ok(has_model)
    }

    /// Confirms the gain, unless the best is the baseline or unknown.
    fn confirm(&self, work: &Work<'_>, found: &mut Found) -> Result<(), Stop> {
        let Some(best) = found.best().filter(|best| *best != 0) else { return Ok(()) };
        let reduced = found.reduced(self.task).filter(|reduced| *reduced != 0);
        let variants = [Some(best), reduced].into_iter().flatten();
        let variants: Vec<String> = variants.map(|variant| self.task.name(variant).to_owned()).collect();
        let mut words = self.words(self.args.simulate.as_ref().map(|truth| truth_of(truth, self.task.plan, &variants)));
        words.extend(self.args.quiet.then(|| "--quiet".to_owned()));
        let has_room = work.spent.fits(self.task.budget, work.confirming(MOST_BLOCKS), 0);
        let order = confirm::Order { study: self.folder, words, variants, has_room, is_shown: !self.args.json };
        found.confirmed = Some(confirm::confirm(&order, self.features)?);
        Ok(())
    }

    fn tell(&self, work: &Work<'_>, found: &Found) {
        let answer = Answer { work, found };
        if self.args.json {
            let own = self.dir.strip_prefix(&self.folder.dir).unwrap_or(&self.dir);
            return screen::json(&format!("{:#}\n", answer.json(&own.to_string_lossy())));
        }
        // Those that left for another reason than their speed.
        let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for variant in 0..self.task.plan.variants.len() {
            if let Some(why) = answer.why(variant) {
                reasons.entry(why).or_default().push(self.task.name(variant).to_owned());
            }
        }
        for (why, names) in reasons {
            work.progress.note(&clean(&format!("{} {why}", named(names))));
        }
        screen::out(&format!("\n{}\n", clean(&answer.line())));
    }
}

/// Fails if no budget helps, because all variants failed. Nothing was learnt of them, so the next command tries again.
fn fail_without_racers(work: &mut Work<'_>, raced: &Raced) -> Result<(), CommandError> {
    let is_unbuilt = |variant: usize| work.is_built(variant) == Some(false);
    let error = if raced.race.blocks > 0 && work.well.is_empty() {
        work.blocks.forget_blocks(0)?;
        let why =
            |variant: &usize| Some(format!("; {} {}", subject(work.task.name(*variant)), work.failure(*variant)?));
        format!("no variant ran well{}", raced.racers.iter().find_map(why).unwrap_or_default())
    } else if (1..work.task.plan.variants.len()).all(is_unbuilt) {
        let why = work.why(1).unwrap_or_default();
        work.blocks.forget_failed_builds()?;
        format!("all variants but the baseline {why}")
    } else {
        return Ok(());
    };
    Err(failure(&error, "correct the study, then run the same command again"))
}

/// A truth without the variants that do not take part.
fn truth_of(truth: &str, plan: &Plan, variants: &[String]) -> String {
    let takes_part = |item: &&str| {
        let name = item.rsplit_once(':').map_or(*item, |(name, _)| name).trim();
        variants.iter().any(|own| own == name) || plan.variants.iter().all(|other| other.name != name)
    };
    truth.split(',').filter(takes_part).collect::<Vec<_>>().join(",")
}
