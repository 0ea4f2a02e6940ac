//! A bisection at work: it builds what the method plans, runs it or counts it, and hands the outcomes back. What is in the files
//! already is taken from there, whatever the budget is now. It decides nothing else.

use super::args::Args;
use super::cost::{ENDS_BLOCKS, time_left};
use super::files::Files;
use crate::bisect::{Ask, Bisection, Rules};
use crate::blocks::{Blocks, Run, Stop, seconds, trials, value};
use crate::budget::{Budget, Spent};
use crate::progress::Progress;
use bakeoff_building::{Commit, Commits};
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_host::interrupt;
use bakeoff_model::metric::WALL;
use bakeoff_model::plain::clean;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The metric that counts.
const COUNT: &str = "instructions";
/// Counting with a tool takes this many times as long. A command that takes longer than this is not counted.
const COUNTED_S: f64 = 10.0;
/// Blocks of an ordinary run have small numbers, which say in which layouts programs are linked.
const FIRST_BLOCK: u32 = 10_000;
/// Blocks of all kinds, without a budget that is smaller.
const MOST_BLOCKS: u32 = 3_000;
/// The probability of a wrong proof.
pub(super) const ALPHA: f64 = 0.05;
/// An end whose run fails this often ends the search.
const FAILURES: u32 = 3;

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
    args: &'a Args,
    commits: &'a Commits,
    builder: Builder<'a>,
    failures: BTreeMap<usize, u32>,
}

/// Builds commits.
pub(super) struct Builder<'a> {
    pub(super) commits: &'a Commits,
    pub(super) files: &'a Files,
    pub(super) blocks: Blocks,
}

impl Builder<'_> {
    /// Builds those of the commits that nobody tried to build. The commits that cannot be built.
    pub(super) fn build(&mut self, commits: &[usize]) -> Result<Vec<usize>, Stop> {
        let names = |commits: &[usize]| commits.iter().map(|at| self.commits.variant(*at)).collect::<BTreeSet<_>>();
        let all = names(commits);
        if all.iter().any(|name| self.blocks.is_built(name).is_none()) {
            let tried = |at: &usize| commits.contains(at) || self.blocks.is_built(&self.commits.variant(*at)).is_some();
            let known: BTreeSet<usize> = (0..self.commits.all.len()).filter(|at| *at == 0 || tried(at)).collect();
            let lock = self.commits.lock(&known)?;
            self.files.write(&format!("{WALL}.lock"), &lock)?;
            self.files.write(&format!("{COUNT}.lock"), &lock)?;
            if interrupt::count() > 0 || !self.blocks.build(&all)? {
                return Err(Stop::Interrupted);
            }
        }
        Ok(commits.iter().copied().filter(|at| self.is_built(*at) == Some(false)).collect())
    }

    pub(super) fn is_built(&self, commit: usize) -> Option<bool> {
        self.blocks.is_built(&self.commits.variant(commit))
    }

    pub(super) fn runs(&self, commits: &[usize]) -> Vec<Run> {
        commits.iter().map(|at| Run { variant: self.commits.variant(*at), repeat: 0 }).collect()
    }

    pub(super) fn why(&self, commit: usize) -> &str {
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
        let uncounted = uncounted(args, files, features)?;
        let rules = Rules {
            commits: commits.all.len() - 1,
            alpha: ALPHA,
            ends_blocks: ENDS_BLOCKS,
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
            args,
            commits,
            builder: Builder { commits, files, blocks: files.blocks(args, commits)? },
            failures: BTreeMap::new(),
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

    /// Ends a search that went as far as this; false if it was interrupted.
    pub(super) fn finish(&mut self, searched: Result<(), Stop>) -> Result<bool, CommandError> {
        self.progress.end();
        match searched {
            Ok(()) | Err(Stop::Budget) => self.bisection.stop(),
            Err(Stop::Interrupted) => {
                screen::err("stopped, but nothing is lost; run the same command again to resume\n");
                return Ok(false);
            }
            Err(Stop::Failed(error)) => return Err(error),
        }
        Ok(true)
    }

    /// Builds what is missing; the commits that cannot be built. Without good and bad there is no search.
    pub(super) fn build(&mut self, plan: &[usize]) -> Result<Vec<usize>, Stop> {
        let missing: Vec<usize> = plan.iter().copied().filter(|at| self.builder.is_built(*at).is_none()).collect();
        if !missing.is_empty() && self.args.budget.is_some_and(|budget| self.spent.room(budget) < missing.len()) {
            return Err(Stop::Budget);
        }
        if let Some(first) = missing.first() {
            self.progress.draw("build", &format!("{}; {}", self.shown(*first), self.spent.shown()));
        }
        let failed = self.builder.build(plan)?;
        let tried = (0..self.commits.all.len()).filter(|at| self.builder.is_built(*at).is_some());
        self.spent.builds = if self.args.simulate.is_some() { 0 } else { tried.count() as u64 };
        self.spent.building_s = self.builder.blocks.building_s();
        let is_end = |at: &&usize| **at == 0 || **at == self.commits.all.len() - 1;
        if let Some(end) = failed.iter().find(is_end) {
            let error = format!("{} cannot be built: {}", self.shown(*end), clean(self.builder.why(*end)));
            return Err(failure(error, "name another commit, or change --build").into());
        }
        for commit in failed.iter().filter(|at| missing.contains(at)) {
            self.progress.note(&format!("{} cannot be built, so it is skipped", self.shown(*commit)));
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
        let left = time_left(n, &self.spent, self.bisection.clarity());
        let stands = format!("{} of {n} commits left, {range}; {left}; {}", likely.len(), self.spent.shown());
        self.progress.draw(self.bisection.stage(), &stands);
    }

    /// Fails if the budget has no room for this number of trials.
    fn afford(&self, trials: u64) -> Result<(), Stop> {
        let used = |budget: Budget| self.spent.share(budget) + trials as f64 * self.spent.trial_share(budget) > 1.0;
        match self.args.budget {
            _ if interrupt::count() > 0 => Err(Stop::Interrupted),
            Some(budget) if !matches!(budget, Budget::Builds(_)) && used(budget) => Err(Stop::Budget),
            _ => Ok(()),
        }
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
        let time = |run: &Run| trials(&record, run).find_map(|trial| value(trial, WALL)).map(f64::ln);
        let outcomes: Vec<Option<f64>> = runs.iter().map(time).collect();
        for commit in plan.iter().zip(&outcomes).filter(|(_, time)| time.is_none()).map(|(commit, _)| *commit) {
            let failures = self.failures.entry(commit).or_default();
            *failures += 1;
            if *failures >= FAILURES && (commit == 0 || commit == self.commits.all.len() - 1) {
                let error = format!("{FAILURES} runs of {} failed", self.shown(commit));
                return Err(failure(error, "try the command in that commit; `bakeoff compare --git` shows why").into());
            }
        }
        Ok(outcomes)
    }

    /// Counts the instructions of a commit; none if that cannot be done, or would take long.
    fn count(&mut self, commit: usize) -> Result<Option<f64>, Stop> {
        let Builder { files, blocks, .. } = &self.builder;
        let study = files.study(self.args, self.commits, COUNT)?;
        let blocks = blocks.of_study(&files.dir.join(COUNT), &study)?;
        let last = self.commits.all.len() - 1;
        let (plan, number) = if commit.is_multiple_of(last) { (vec![0, last], 0) } else { (vec![commit], commit) };
        let (runs, number) = (self.builder.runs(&plan), FIRST_BLOCK + number as u32);
        let record = match blocks.record(number, &runs) {
            _ if self.spent.trial_s().is_some_and(|trial_s| trial_s > COUNTED_S) => None,
            Some(record) => Some(record),
            None => {
                self.afford(runs.len() as u64)?;
                match blocks.run(number, &runs) {
                    Ok(None) => return Err(Stop::Interrupted),
                    Ok(record) => record,
                    Err(_) if interrupt::count() > 0 => return Err(Stop::Interrupted),
                    Err(_) => None,
                }
            }
        };
        let own = &runs[plan.iter().position(|at| *at == commit).unwrap_or(0)];
        let count = record.as_ref().and_then(|record| trials(record, own).find_map(|trial| value(trial, COUNT)));
        match count {
            Some(count) => _ = self.counts.insert(commit, count),
            None => self.uncounted = Some("the command cannot be counted, or takes too long".to_owned()),
        }
        if let Some(record) = record.filter(|_| commit != last) {
            self.spent.trials += record.trials.len() as u64;
            self.spent.running_s += seconds(&record);
        }
        Ok(count)
    }

    /// The commits that could not be built or run, each with the reason.
    pub(super) fn skipped(&self) -> Vec<(usize, String)> {
        let why = |at: usize| match self.builder.is_built(at) {
            Some(false) => Some(self.builder.why(at).to_owned()),
            _ if self.failures.get(&at).is_some_and(|failures| *failures >= FAILURES) => {
                Some("its runs failed".to_owned())
            }
            _ => None,
        };
        (0..self.commits.all.len()).filter_map(|at| Some((at, why(at)?))).collect()
    }
}

/// Why instructions cannot be counted on this machine. That is found out once, so that the same files lead to the same end.
fn uncounted(args: &Args, files: &Files, features: &Registry) -> Result<Option<String>, CommandError> {
    if args.simulate.is_some() {
        return Ok(Some("the search is simulated".to_owned()));
    }
    let path = files.dir.join("counts.json");
    if let Some(known) = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
        return Ok(known);
    }
    let is_counter = bakeoff_host::counters(true).iter().any(|(name, open)| *name == COUNT && open.is_ok());
    let instrument = || features.instruments.iter().find(|one| one.metric == COUNT).map(|one| (one.open)());
    let why = match is_counter {
        true => None,
        false => match instrument() {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some("this machine has no counter".to_owned()),
        },
    };
    files.write("counts.json", &serde_json::to_string(&why)?)?;
    Ok(why)
}

/// `1f2e3d4 (“topic: what”)`
pub(super) fn named(commit: &Commit) -> String {
    format!("{} (“{}”)", commit.short(), clean(&commit.subject))
}

fn failure(error: String, hint: &str) -> CommandError {
    CommandError::text(Code::VariantFailed, format!("error: {error}\n")).hint(hint)
}
