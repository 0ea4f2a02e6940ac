//! `bakeoff tune`: the best variant of a study under a budget. It opens the study, finds the files of the search or begins them,
//! and leads through the phases: a model if the space is big, the race, the ablation, the confirmation.

mod answer;
mod confirm;
mod cost;
mod levels;
mod phases;
mod work;

use crate::blocks::{Blocks, Stop};
use crate::budget::Budget;
use crate::progress::Progress;
use answer::{Answer, Found};
use bakeoff_command::arguments::margin;
use bakeoff_command::selection::{Jobs, Selection};
use bakeoff_command::state::{State, StateFolder};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::target::replace;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_host::interrupt;
use bakeoff_model::digest::Digest;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::STATE_FOLDER;
use bakeoff_report::words::named;
use confirm::MOST_BLOCKS;
use cost::Cost;
use levels::Factors;
use phases::Aim;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use work::Work;

/// Below the study's own state: a folder for each search.
const FOLDER: &str = "tune";
/// Digits of a search's name.
const NAME_DIGITS: usize = 12;
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
    #[arg(long)]
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
    plan: &'a Plan,
    factors: Factors,
    aim: Aim,
    cost: Cost,
    /// Where its files are.
    dir: PathBuf,
    /// Whether anything is built.
    builds: bool,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let folder = StudyFolder::open(&args.selection.study, features)?;
    let plan = args.selection.plan(&folder.study)?;
    refuse(&plan, features)?;
    let aim = Aim { seed: args.seed.unwrap_or(plan.seed), margin: args.margin.ln_1p() };
    let is_simulated = args.simulate.is_some();
    let cost = Cost::of(&folder, &plan, features, args.jobs.at_a_time(), aim, is_simulated)?;
    cost.check(args.budget)?;
    let dir = folder.dir.join(STATE_FOLDER).join(FOLDER).join(name(args, &folder, &plan, aim)?);
    let factors = Factors::of(&folder.study, &plan);
    let builds = folder.study.builds() && !is_simulated;
    let search = Search { args, features, folder: &folder, plan: &plan, factors, aim, cost, dir, builds };
    if args.dry_run {
        screen::out(&search.page(search.cost.needs_model(args.budget, None)));
        return Ok(Code::Done);
    }
    interrupt::install()?;
    StateFolder::of(&folder.dir)?;
    fs::create_dir_all(&search.dir)
        .map_err(|error| CommandError::unwritten(&format!("cannot create {}", search.dir.display()), &error))?;
    let _lock = State::at(&search.dir.join(BEGUN)).lock()?;
    search.execute()
}

/// Fails if a plan cannot be searched.
fn refuse(plan: &Plan, features: &Registry) -> Result<(), CommandError> {
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
    Ok(())
}

/// The name of a search: the same study, variants, seed and margin are the same search, whatever its budget.
fn name(args: &Args, folder: &StudyFolder, plan: &Plan, aim: Aim) -> Result<String, CommandError> {
    let mut digest = Digest::of("tune");
    for path in [&folder.file, &folder.file.with_extension("lock")] {
        digest.field("file", &fs::read(path).unwrap_or_default());
    }
    digest.field("plan", plan.name.as_bytes());
    plan.variants.iter().for_each(|variant| _ = digest.field("variant", variant.name.as_bytes()));
    digest.field("seed", &aim.seed.to_le_bytes()).field("margin", &aim.margin.to_le_bytes());
    digest.field("truth", args.simulate.as_deref().unwrap_or_default().as_bytes());
    digest.field("inputs", folder.inputs(&folder.expected()?)?.digest().as_bytes());
    Ok(digest.hex()[..NAME_DIGITS].to_owned())
}

impl Search<'_> {
    fn page(&self, has_model: bool) -> String {
        self.cost.page(self.plan, self.args.budget, self.aim, has_model)
    }

    /// The options of `run` that all of its commands have.
    fn words(&self, truth: Option<String>) -> Vec<String> {
        let plan = ["--plan".to_owned(), self.plan.name.clone()];
        let jobs = || vec!["--jobs".to_owned(), self.args.jobs.at_a_time().to_string()];
        let more = truth.map_or_else(jobs, |truth| vec!["--simulate".to_owned(), truth]);
        plan.into_iter().chain(more).collect()
    }

    fn execute(&self) -> Result<Code, CommandError> {
        let words = self.words(self.args.simulate.clone());
        let blocks = Blocks::open(&self.dir, &self.folder.file, words, self.builds)?;
        let jobs = self.args.jobs.at_a_time();
        let builds = if self.builds { levels::builds(&self.folder.study, self.plan) } else { vec![] };
        let mut work = Work::of(self.plan, blocks, &self.dir, builds, jobs, self.args.budget);
        work.progress = Progress::of(self.args.quiet);
        let mut found = Found::default();
        self.check_builds(&work)?;
        match self.search(&mut work, &mut found) {
            Ok(()) | Err(Stop::Budget) => {}
            Err(Stop::Interrupted) => return Ok(self.stopped(&work)),
            Err(Stop::Failed(error)) => return Err(error),
        }
        work.progress.end();
        if let Some(order) = self.confirmation(&work, &found) {
            found.confirmed = confirm::confirm(&order, self.features)?;
            if found.confirmed.is_none() {
                return Ok(self.stopped(&work));
            }
        }
        self.tell(&work, &found);
        Ok(Code::Done)
    }

    /// Fails if builds of a search that resumes are gone, or would now be other ones.
    fn check_builds(&self, work: &Work<'_>) -> Result<(), CommandError> {
        let mut plan = self.plan.clone();
        plan.variants.retain(|variant| work.is_name_built(&variant.name));
        let maker = self.features.maker(&self.folder.study)?.filter(|_| self.builds && !plan.variants.is_empty());
        let order = self.folder.order(&plan, self.args.jobs.at_a_time(), true);
        let Some(missing) = maker.map(|maker| maker.foresee(&order)).transpose()?.and_then(|foreseen| foreseen.missing)
        else {
            return Ok(());
        };
        let error = format!("this search resumes with builds that are gone, or whose sources have changed: {missing}");
        Err(CommandError::usage(error)
            .hint(format!("restore the sources, or remove {} to begin the search again", self.dir.display())))
    }

    /// All phases but the confirmation.
    fn search(&self, work: &mut Work<'_>, found: &mut Found) -> Result<(), Stop> {
        found.has_model = self.has_model(work)?;
        if !self.args.quiet {
            screen::err(&format!("{}\n", self.page(found.has_model)));
        }
        let space = self.factors.space(self.plan).filter(|_| found.has_model);
        let racers = match space {
            Some((space, variants)) => phases::screen(work, space, &variants, self.aim.seed)?,
            None => (0..self.plan.variants.len()).collect(),
        };
        let raced = phases::race(work, &racers, self.aim, self.builds)?;
        let blocks = raced.race.blocks();
        if raced.racers.len() < 2 {
            return Ok(());
        }
        found.raced = Some(raced);
        if let Some(winner) = found.winner().filter(|winner| *winner != 0) {
            found.left_out = phases::ablate(work, &self.factors, winner, blocks, self.aim)?;
        }
        Ok(())
    }

    /// Whether a model chooses what races. That is decided once, as estimates change.
    fn has_model(&self, work: &mut Work<'_>) -> Result<bool, Stop> {
        let path = self.dir.join(BEGUN);
        if let Some(known) = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(known);
        }
        let building_s = if self.cost.is_open(self.args.budget) {
            // Nobody knows how long a build takes, so the first two show it.
            work.prepare(&[0, 1])?;
            Some(work.spent.building_s * (self.cost.builds as f64 / work.spent.builds.max(1) as f64))
        } else {
            None
        };
        let has_model = self.cost.needs_model(self.args.budget, building_s);
        replace(&path, has_model.to_string().as_bytes()).map_err(|error| unwritten(&path, &error))?;
        Ok(has_model)
    }

    fn stopped(&self, work: &Work<'_>) -> Code {
        work.progress.end();
        screen::err("stopped, but nothing is lost; run the same command again to resume\n");
        Code::Interrupted
    }

    /// What is to be confirmed; none if it is the baseline or nothing.
    fn confirmation<'a>(&'a self, work: &Work<'_>, found: &Found) -> Option<confirm::Order<'a>> {
        let best = found.best().filter(|best| *best != 0)?;
        let reduced = found.reduced(self.plan).filter(|reduced| *reduced != 0);
        let variants: Vec<String> =
            std::iter::once(best).chain(reduced).map(|variant| work.name(variant).to_owned()).collect();
        let truth = self.args.simulate.as_ref().map(|truth| truth_of(truth, self.plan, &variants));
        Some(confirm::Order {
            folder: &self.dir,
            dir: &self.folder.dir,
            study: &self.folder.file,
            words: self.words(truth),
            variants,
            has_room: work.spent.fits(self.args.budget, work.confirming(MOST_BLOCKS), 0),
            is_shown: !self.args.json,
            quiet: self.args.quiet,
        })
    }

    fn tell(&self, work: &Work<'_>, found: &Found) {
        let answer = Answer { work, factors: &self.factors, aim: self.aim, found, builds: self.builds };
        if self.args.json {
            let own = self.dir.file_name().unwrap_or_default().to_string_lossy();
            let json = answer.json(&format!("{STATE_FOLDER}/{FOLDER}/{own}"));
            screen::json(&format!("{json:#}\n"));
            return;
        }
        self.tell_failed(work);
        screen::out(&format!("\n{}\n", clean(&answer.line())));
    }

    /// Notes on those that left for another reason than their speed.
    fn tell_failed(&self, work: &Work<'_>) {
        let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for variant in 0..self.plan.variants.len() {
            let why = match work.is_built(variant) {
                Some(false) if work.why(variant).is_empty() => {
                    "could not be built; `bakeoff build` shows why".to_owned()
                }
                Some(false) => format!("could not be built: {}", work.why(variant)),
                _ if work.print_other.contains(&variant) => "printed something other than the baseline".to_owned(),
                _ => continue,
            };
            reasons.entry(why).or_default().push(work.name(variant).to_owned());
        }
        for (why, names) in reasons {
            work.progress.note(&clean(&format!("{} {why}", named(names))));
        }
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::unwritten(&format!("cannot write {}", path.display()), error)
}

/// A truth without the variants that do not take part.
fn truth_of(truth: &str, plan: &Plan, variants: &[String]) -> String {
    let takes_part = |item: &&str| {
        let name = item.rsplit_once(':').map_or(*item, |(name, _)| name).trim();
        variants.iter().any(|own| own == name) || plan.variants.iter().all(|other| other.name != name)
    };
    truth.split(',').filter(takes_part).collect::<Vec<_>>().join(",")
}
