//! A bisection at work: it builds what the method plans, runs it or counts it, and hands the outcomes back. What is in the files
//! already is taken from there, whatever the budget is now. It decides nothing else.

use super::args::Args;
use super::cost::{ENDS_BLOCKS, TOOL_TRIALS, are_counts_cheaper, time_left};
use super::files::{COUNT, Files, planted};
use crate::blocks::{Blocks, Run, Stop, cell, ended, failure, logarithm, seconds, trials};
use crate::budget::{Budget, Spent};
use crate::progress::Progress;
use bakeoff_building::{Cache, Commit, Commits};
use bakeoff_command::{CommandError, Registry};
use bakeoff_host::interrupt;
use bakeoff_model::plain::clean;
use bakeoff_model::record::{Outcome, Output, Record, Trial};
use bakeoff_report::failure_in_full;
use bakeoff_report::format::waiting_time;
use bakeoff_searching::bisect::{Ask, Bisection, Rules};
use bakeoff_searching::race::of_workloads;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The file that says what counts instructions.
const COUNTER: &str = "counter.json";
/// Why there is no count after all.
const FAILED_COUNT: &str = "the command cannot be counted";
/// Blocks of an ordinary run have small numbers, which say in which layouts programs are linked.
const FIRST_BLOCK: u32 = 10_000;
/// Blocks of all kinds, without a budget that is smaller.
pub(super) const MOST_BLOCKS: u32 = 3_000;
/// The probability of a wrong proof.
pub(super) const ALPHA: f64 = 0.05;
/// An end whose run fails this often ends the search.
const FAILURES: usize = 3;

/// A search at work.
pub(super) struct Work<'a> {
    pub(super) bisection: Bisection,
    pub(super) spent: Spent,
    pub(super) progress: Progress,
    /// Why instructions do not help; none if they were counted, or still may be.
    pub(super) uncounted: Option<String>,
    pub(super) counts: BTreeMap<usize, f64>,
    /// Whether programs are linked again for each block; none before the first one.
    pub(super) is_laid_out: Option<bool>,
    counter: Counter,
    args: &'a Args,
    commits: &'a Commits,
    builder: Builder<'a>,
    /// The numbers of the blocks in which a commit failed.
    failures: BTreeMap<usize, Vec<u32>>,
    /// What good and bad print in each workload and condition; none if one of them once printed something else there.
    printed: BTreeMap<(usize, [String; 2]), Option<Vec<Output>>>,
}

/// Builds commits.
struct Builder<'a> {
    args: &'a Args,
    commits: &'a Commits,
    files: &'a Files,
    blocks: Blocks,
    /// The commits that the study on disk has: the baseline, and those of the plans so far.
    written: BTreeSet<usize>,
}

impl Builder<'_> {
    /// Builds those of the commits that nobody tried to build. The commits that cannot be built.
    fn build(&mut self, commits: &[usize], watch: &mut dyn FnMut(f64)) -> Result<Vec<usize>, Stop> {
        if !commits.iter().all(|at| self.written.contains(at)) {
            self.written.extend([0].iter().chain(commits));
            self.files.study(self.args, self.commits, &self.written, None)?;
            let truth = self.args.simulate.iter();
            let truth = truth.flat_map(|truth| ["--simulate".to_owned(), planted(truth, self.commits, &self.written)]);
            self.blocks.words = truth.collect();
        }
        let all: BTreeSet<String> = commits.iter().map(|at| self.commits.variant(*at)).collect();
        if all.iter().any(|name| self.blocks.is_built(name).is_none())
            && (interrupt::count() > 0 || !self.blocks.build(&all, watch)?)
        {
            return Err(Stop::Interrupted);
        }
        Ok(commits.iter().copied().filter(|at| self.is_built(*at) == Some(false)).collect())
    }

    fn is_built(&self, commit: usize) -> Option<bool> {
        self.blocks.is_built(&self.commits.variant(commit))
    }

    fn runs(&self, commits: &[usize]) -> Vec<Run> {
        commits.iter().map(|at| Run { variant: self.commits.variant(*at), repeat: 0 }).collect()
    }

    fn why(&self, commit: usize) -> &str {
        self.blocks.why(&self.commits.variant(commit))
    }
}

impl<'a> Work<'a> {
    pub(super) fn of(
        args: &'a Args,
        commits: &'a Commits,
        files: &'a Files,
        features: &Registry,
    ) -> Result<Self, CommandError> {
        files.clear();
        let mut blocks = Blocks::open(&files.dir, &files.study_path(None), vec![], args.simulate.is_none())?;
        if args.simulate.is_none() {
            // Commits do not change, so what was removed from the cache is built again.
            let cache = Cache::default_root().and_then(Cache::open).map_err(CommandError::usage)?;
            blocks.keep_builds(|digest| digest.as_ref().is_none_or(|digest| cache.prefix_of(digest).exists()))?;
        }
        let counter = Counter::of(args, files, features)?;
        let uncounted = if let Counter::None(why) = &counter { Some(why.clone()) } else { None };
        let rules = Rules {
            commits: commits.all.len() - 1,
            alpha: ALPHA,
            ends_blocks: match args.budget {
                Some(Budget::Seconds(_) | Budget::Trials(_)) => MOST_BLOCKS,
                // Builds limit no blocks.
                Some(Budget::Builds(_)) | None => ENDS_BLOCKS,
            },
            blocks: MOST_BLOCKS,
            counts: uncounted.is_none(),
            seed: args.seed,
        };
        Ok(Self {
            bisection: Bisection::new(rules),
            spent: Spent::default(),
            progress: Progress::of(args.quiet),
            uncounted,
            counts: BTreeMap::new(),
            is_laid_out: None,
            counter,
            args,
            commits,
            builder: Builder { args, commits, files, blocks, written: BTreeSet::new() },
            failures: BTreeMap::new(),
            printed: BTreeMap::new(),
        })
    }

    /// Leads the search to its end.
    pub(super) fn search(&mut self) -> Result<(), Stop> {
        loop {
            let plan = match self.bisection.plan() {
                Ask::Nothing => return Ok(()),
                Ask::Block(plan) => plan,
                Ask::Count(commit) => vec![commit],
            };
            if let Some(failed) = self.build(&plan)?.first() {
                self.bisection.build_failed(*failed);
                continue;
            }
            self.show();
            if let Ask::Count(commit) = self.bisection.plan() {
                let count = self.count(commit)?;
                self.bisection.counted(count);
            } else {
                let outcomes = self.block(&plan)?;
                self.bisection.take(&outcomes);
            }
        }
    }

    /// Ends a search that went as far as this. It fails if the search was interrupted.
    pub(super) fn finish(&mut self, searched: Result<(), Stop>) -> Result<(), CommandError> {
        self.progress.end();
        self.builder.files.clear();
        ended(searched)?;
        self.bisection.stop();
        Ok(())
    }

    /// Builds what is missing; the commits that cannot be built. Without good and bad there is no search.
    pub(super) fn build(&mut self, plan: &[usize]) -> Result<Vec<usize>, Stop> {
        let missing: Vec<usize> = plan.iter().copied().filter(|at| self.builder.is_built(*at).is_none()).collect();
        let is_over = self.args.budget.is_some_and(|budget| self.spent.room(budget) < missing.len());
        // A build that no trial can follow is of no use.
        if !missing.is_empty() && (is_over || !self.has_room(plan.len() as u64)) {
            return Err(Stop::Budget);
        }
        let stands = missing.first().map(|first| format!("{}; {}", self.shown(*first), self.spent.shown()));
        let Self { progress, builder, .. } = self;
        let mut watch = |seconds: f64| {
            if let Some(stands) = &stands {
                progress.draw("build", &format!("{stands}; {} of building so far", waiting_time(seconds)));
            }
        };
        watch(builder.blocks.building_s());
        let failed = builder.build(plan, &mut watch)?;
        let tried = (0..self.commits.all.len()).filter(|at| self.builder.is_built(*at).is_some());
        self.spent.builds = if self.args.simulate.is_some() { 0 } else { tried.count() as u64 };
        self.spent.building_s = self.builder.blocks.building_s();
        let is_end = |at: &&usize| **at == 0 || **at == self.commits.all.len() - 1;
        if let Some(end) = failed.iter().find(is_end) {
            let error = format!("{} cannot be built: {}", self.shown(*end), clean(self.builder.why(*end)));
            self.builder.blocks.forget_failed_builds()?;
            return Err(failure(&error, "name another commit, or change how commits are built").into());
        }
        for commit in failed.iter().filter(|at| missing.contains(at)) {
            let (commit, why) = (self.shown(*commit), clean(self.builder.why(*commit)));
            let skipped = "cannot be built, so it is skipped (use another --seed to try again)";
            self.progress.note(&format!("{commit} {skipped}: {why}"));
        }
        Ok(failed)
    }

    fn shown(&self, commit: usize) -> String {
        named(&self.commits.all[commit])
    }

    fn show(&mut self) {
        let n = self.commits.all.len() - 1;
        let likely = self.bisection.likely();
        let short = |at: Option<&usize>| at.map_or("", |at| self.commits.all[*at].short());
        let range = match likely.len() {
            0 | 1 => short(likely.first()).to_owned(),
            _ => format!("{} to {}", short(likely.first()), short(likely.last())),
        };
        let left = time_left(n, &self.spent, self.args.budget, self.bisection.clarity());
        let stands = format!("{} of {n} commits left, {range}; {left}; {}", likely.len(), self.spent.shown());
        self.progress.draw(self.bisection.stage(), &stands);
    }

    /// Fails if the budget has no room for this number of trials.
    fn afford(&self, trials: u64) -> Result<(), Stop> {
        match interrupt::count() {
            0 if self.has_room(trials) => Ok(()),
            0 => Err(Stop::Budget),
            _ => Err(Stop::Interrupted),
        }
    }

    /// Whether the budget has room for this number of trials.
    pub(super) fn has_room(&self, trials: u64) -> bool {
        let used = |budget: Budget| self.spent.share(budget) + trials as f64 * self.spent.trial_share(budget);
        self.args.budget.is_none_or(|budget| matches!(budget, Budget::Builds(_)) || used(budget) <= 1.0)
    }

    /// Runs a block, and returns logarithms of times.
    fn block(&mut self, plan: &[usize]) -> Result<Vec<Option<f64>>, Stop> {
        let runs = self.builder.runs(plan);
        let number = FIRST_BLOCK + self.bisection.blocks() + 1;
        let record = match self.builder.blocks.record(number, &runs) {
            Some(record) => record,
            None => {
                self.afford(runs.len() as u64)?;
                self.builder.blocks.run(number, &runs)?.ok_or(Stop::Interrupted)?
            }
        };
        self.spent.trials += record.trials.len() as u64;
        self.spent.running_s += seconds(&record);
        self.is_laid_out.get_or_insert(record.blocks.iter().any(|block| block.layout.is_some()));
        self.take_output(plan, &runs, &record);
        let outcomes: Vec<Option<f64>> = runs.iter().map(|run| outcome(&record, run)).collect();
        for ((run, &commit), _) in runs.iter().zip(plan).zip(&outcomes).filter(|(_, time)| time.is_none()) {
            let failures = self.failures.entry(commit).or_default();
            failures.push(number);
            if failures.len() >= FAILURES && (commit == 0 || commit == self.commits.all.len() - 1) {
                self.builder.blocks.forget_blocks(failures[0])?;
                let why = trials(&record, run).find_map(why_failed).unwrap_or_default();
                let error = format!("{FAILURES} runs of {} failed{why}", self.shown(commit));
                let hint = if self.args.builds() { "" } else { ", name a study, or add --build" };
                return Err(failure(&error, &format!("correct the command{hint}")).into());
            }
        }
        Ok(outcomes)
    }

    /// Counts the instructions of a commit; none if that cannot be done, or would take long.
    fn count(&mut self, commit: usize) -> Result<Option<f64>, Stop> {
        let last = self.commits.all.len() - 1;
        let plan = if commit.is_multiple_of(last) { vec![0, last] } else { vec![commit] };
        let runs = self.builder.runs(&plan);
        let Some(record) = self.count_block(plan[0], &runs)? else { return Ok(None) };
        if commit != last {
            self.spent.counts += self.counter.trials(&runs);
            self.spent.running_s += seconds(&record);
        }
        let own = &runs[usize::from(commit == last)];
        let count = outcome(&record, own).map(f64::exp);
        match count {
            Some(count) => _ = self.counts.insert(commit, count),
            None => self.uncounted = Some(FAILED_COUNT.to_owned()),
        }
        Ok(count)
    }

    /// Counts in a block; none if that failed or was not worth while, now or before.
    fn count_block(&mut self, number: usize, runs: &[Run]) -> Result<Option<Record>, Stop> {
        let Builder { files, blocks, written, .. } = &self.builder;
        let given_up = format!("uncounted-{number}.json");
        self.uncounted = files.read(&given_up);
        if self.uncounted.is_some() {
            return Ok(None);
        }
        let study = files.study(self.args, self.commits, written, Some(COUNT))?;
        let blocks = blocks.of_study(&files.dir.join(COUNT), &study)?;
        let number = FIRST_BLOCK + number as u32;
        if let Some(record) = blocks.record(number, runs) {
            return Ok(Some(record));
        }
        let is_cheap = |clarity| are_counts_cheaper(self.commits.all.len() - 1, clarity);
        let is_worth = self.counter != Counter::Tool || self.bisection.clarity().is_some_and(is_cheap);
        let why = match self.afford(self.counter.trials(runs)) {
            _ if !is_worth => "counting would take longer than the search does without it",
            Err(Stop::Budget) => "the budget has no room for counts",
            Err(stop) => return Err(stop),
            Ok(()) => match blocks.run(number, runs) {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => return Err(Stop::Interrupted),
                Err(_) if interrupt::count() > 0 => return Err(Stop::Interrupted),
                Err(_) => FAILED_COUNT,
            },
        };
        self.uncounted = Some(why.to_owned());
        let why = serde_json::to_string(why).map_err(CommandError::from)?;
        files.write(given_up.as_ref(), &why)?;
        Ok(None)
    }

    /// Remembers what good and bad print.
    fn take_output(&mut self, plan: &[usize], runs: &[Run], record: &Record) {
        let ends = [0, self.commits.all.len() - 1];
        for (commit, run) in plan.iter().zip(runs).filter(|(commit, _)| ends.contains(commit)) {
            for trial in trials(record, run).filter(|trial| trial.outcome == Outcome::Ok) {
                let known = self.printed.entry((*commit, cell(trial))).or_insert_with(|| Some(trial.output.clone()));
                *known = known.take().filter(|known| *known == trial.output);
            }
        }
    }

    /// Whether good and bad always print, and not the same.
    pub(super) fn print_other(&self) -> bool {
        let of_bad = |cell: &[String; 2]| self.printed.get(&(self.commits.all.len() - 1, cell.clone()))?.as_ref();
        let of_good = self.printed.iter().filter(|((commit, _), _)| *commit == 0);
        of_good.filter_map(|((_, cell), good)| Some((good.as_ref()?, of_bad(cell)?))).any(|(good, bad)| good != bad)
    }

    /// The commits that could not be built or run, each with the reason.
    pub(super) fn skipped(&self) -> Vec<(usize, String)> {
        let why = |at: usize| match self.builder.is_built(at) {
            Some(false) => Some(self.builder.why(at).to_owned()),
            _ if self.failures.get(&at).is_some_and(|failures| failures.len() >= FAILURES) => {
                Some("its runs failed".to_owned())
            }
            _ => None,
        };
        (0..self.commits.all.len()).filter_map(|at| Some((at, why(at)?))).collect()
    }
}

/// What counts instructions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Counter {
    Processor,
    /// A program that runs the command, which takes long.
    Tool,
    /// Nothing, and why.
    None(String),
}

impl Counter {
    /// That of this machine. It is found out once, so that the same files lead to the same end.
    fn of(args: &Args, files: &Files, features: &Registry) -> Result<Self, CommandError> {
        if args.simulate.is_some() {
            return Ok(Self::None("the search is simulated".to_owned()));
        }
        if let Some(known) = files.read(COUNTER) {
            return Ok(known);
        }
        let has_processor = bakeoff_host::counters(true).iter().any(|(name, open)| *name == COUNT && open.is_ok());
        let tool = features.instruments.iter().find(|one| one.metric == COUNT && !has_processor);
        let counter = match tool.map(|one| (one.open)()) {
            _ if has_processor => Self::Processor,
            Some(Ok(_)) => Self::Tool,
            Some(Err(error)) => Self::None(error.to_string()),
            None => Self::None("this machine has no counter".to_owned()),
        };
        files.write(COUNTER.as_ref(), &serde_json::to_string(&counter)?)?;
        Ok(counter)
    }

    /// How many trials take as long as it does for these.
    fn trials(&self, runs: &[Run]) -> u64 {
        runs.len() as u64 * if *self == Self::Tool { TOOL_TRIALS } else { 1 }
    }
}

/// What became of a run: of several workloads and conditions, the mean of the logarithms.
fn outcome(record: &Record, run: &Run) -> Option<f64> {
    of_workloads(&trials(record, run).map(|trial| logarithm(record, trial)).collect::<Vec<_>>())
}

/// Why a trial failed, after a colon.
fn why_failed(trial: &Trial) -> Option<String> {
    if let Outcome::Failed(why) = &trial.outcome { Some(format!(": {}", failure_in_full(why))) } else { None }
}

/// `1f2e3d4 (“topic: what”)`
pub(super) fn named(commit: &Commit) -> String {
    format!("{} (“{}”)", commit.short(), clean(&commit.subject))
}
