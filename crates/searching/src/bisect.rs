//! The search for the commit that changed the speed: which commits the next block runs, and how the search stands. It runs
//! and builds nothing; the same seed and the same outcomes give the same questions.
//!
//! Commits are numbered from the good one, 0, to the bad one. First good and bad are shown to differ. Then each question
//! block holds good, bad and one commit, and a posterior says where the first changed commit probably is; that part is a
//! heuristic and can only cost time. What it names is *proved*: blocks of the commit and its parent, from which a fresh
//! capital must show at least a third of the whole difference. The m-th pair needs 2^m/α, so the probability that any pair is
//! proved that does not differ by so much is α at most, whatever the commits and the noise are.

mod range;

use crate::bets::{Sizes, Unrefuted};
use crate::places::Places;
use bakeoff_model::shuffle::Stream;
use range::Range;
use std::collections::{BTreeMap, BTreeSet};

/// Evidence with which good and bad differ, either way: 2/α at 5 %. And that with which the ends of a half do.
const ENDS_EVIDENCE: f64 = 40.0;
const HALF_EVIDENCE: f64 = 20.0;

/// Blocks of the ends of a half before it is left again.
const HALF_BLOCKS: u32 = 200;

/// A commit's posterior, as the first changed one or a later one, from which it is not asked any more.
const SURE: f64 = 0.01;

/// A pair with this posterior is to be proved, and not any longer with less than that.
const NAMED: f64 = 0.8;
const UNNAMED: f64 = 0.4;

/// The part of the shown difference that a proved pair has at least.
const PROVED_PART: f64 = 1.0 / 3.0;

/// What a proof may assume about a difference of counts: the least, of their logarithms, that decides.
const COUNTS_DIFFER: f64 = 0.001;

/// After this number of blocks of one commit others are asked first, and built: where it lies halfway between good and bad,
/// no number of blocks may tell.
const COMMIT_BLOCKS: usize = 500;

/// A commit that failed in this number of blocks is struck out.
const FAILURES: u32 = 3;

/// What is asked, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The number of the bad commit, which is how many commits there are between good, exclusive, and bad, inclusive.
    pub commits: usize,
    /// The probability with which a wrong pair may be proved.
    pub alpha: f64,
    /// Blocks of good and bad before the difference counts as not shown.
    pub ends_blocks: u32,
    /// Blocks in all.
    pub blocks: u32,
    /// Whether counts of instructions are there to be asked: they have no noise.
    pub counts: bool,
    pub seed: u64,
}

/// What the search wants to know next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// A block of these commits, in this order.
    Block(Vec<usize>),
    /// The count of a commit.
    Count(usize),
    Nothing,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Good and bad were not shown to differ; which differences the same bets do not refute either, at 95 %.
    NotShown([f64; 2]),
    /// A commit was proved to change the speed.
    Proved(Proof),
    /// No pair was proved before the blocks ran out.
    Unproved {
        /// The closest commits that were shown to differ.
        between: [usize; 2],
        /// Those of which one is the first changed one with a posterior of 95 %, if there is one change only.
        likely: Vec<usize>,
    },
}

/// A pair of neighbouring commits that was proved to differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// The last commit before the change, and the one after it. Commits between them cannot be built.
    pub pair: [usize; 2],
    pub blocks: u32,
    /// The difference of their logarithms, by the bets that proved it, and what these do not refute, with the same evidence on
    /// either side: nothing less than the proved part, and never 0. That of good and bad is as they were when the pair was named.
    pub estimate: f64,
    pub interval: [f64; 2],
    pub whole: f64,
}

/// What is done now.
#[derive(Debug, Clone)]
enum Phase {
    Ends,
    /// The ends of what counts have left; both are counted first.
    Counting([usize; 2]),
    Question(usize),
    Proving(Proving),
    Ended(Ending),
}

/// A pair that is to be proved.
#[derive(Debug, Clone)]
struct Proving {
    pair: [usize; 2],
    /// The difference of good and bad, and the scale of all bets.
    whole: f64,
    scale: f64,
    evidence: Sizes,
    /// Differences, block by block.
    differences: Vec<f64>,
}

/// A search in progress.
#[derive(Debug, Clone)]
pub struct Bisection {
    rules: Rules,
    phase: Phase,
    blocks: u32,
    /// 1 if bad is slower, −1 if it is faster.
    sign: f64,
    ranges: Vec<Range>,
    built: BTreeSet<usize>,
    unbuildable: BTreeSet<usize>,
    failures: BTreeMap<usize, u32>,
    counts: BTreeMap<usize, f64>,
    proofs: i32,
    places: Places,
}

impl Bisection {
    /// Before its first block.
    pub fn new(rules: Rules) -> Self {
        Self {
            phase: Phase::Ends,
            blocks: 0,
            sign: 1.0,
            ranges: vec![Range::new(0, rules.commits)],
            built: [0, rules.commits].into(),
            unbuildable: BTreeSet::new(),
            failures: BTreeMap::new(),
            counts: BTreeMap::new(),
            proofs: 0,
            places: Places::default(),
            rules,
        }
    }

    /// What is to be run or counted next.
    pub fn plan(&self) -> Ask {
        let Some(range) = self.ranges.last() else { return Ask::Nothing };
        let mut commits = match &self.phase {
            Phase::Ends => vec![range.good, range.bad],
            Phase::Question(commit) => vec![range.good, range.bad, *commit],
            Phase::Proving(proving) => proving.pair.to_vec(),
            Phase::Counting(left) => return self.next_count(*left).map_or(Ask::Nothing, Ask::Count),
            Phase::Ended(_) => return Ask::Nothing,
        };
        Stream::of(self.rules.seed, &["bisect", &self.blocks.to_string()]).shuffle(&mut commits);
        Ask::Block(commits)
    }

    /// How it ended, if it has.
    pub fn ending(&self) -> Option<&Ending> {
        if let Phase::Ended(ending) = &self.phase { Some(ending) } else { None }
    }

    /// Blocks taken so far, and builds that were tried, those of good and bad included.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// See [`Self::blocks`].
    pub fn builds(&self) -> usize {
        self.built.len() + self.unbuildable.len()
    }

    /// Takes the outcomes of the planned block, in its order: logarithms, or none where a run failed.
    pub fn take(&mut self, outcomes: &[Option<f64>]) {
        let Ask::Block(plan) = self.plan() else { return };
        if outcomes.len() != plan.len() {
            return;
        }
        self.blocks += 1;
        self.built.extend(&plan);
        let missing: Vec<usize> = plan.iter().zip(outcomes).filter(|(_, y)| y.is_none()).map(|(c, _)| *c).collect();
        if missing.is_empty() {
            let values: Vec<f64> = outcomes.iter().flatten().copied().collect();
            self.learn(&plan, &values);
        }
        for commit in missing {
            let failures = self.failures.entry(commit).or_default();
            *failures += 1;
            if *failures >= FAILURES {
                self.strike(commit);
            }
        }
        self.decide();
    }

    /// Strikes out a commit of the plan whose build failed. Without good and bad there is no search: if one of them is it,
    /// the caller has to end.
    pub fn build_failed(&mut self, commit: usize) {
        self.strike(commit);
        self.decide();
    }

    fn strike(&mut self, commit: usize) {
        let is_end = self.ranges.iter().any(|range| commit == range.good || commit == range.bad);
        if !is_end {
            self.unbuildable.insert(commit);
            self.built.remove(&commit);
            self.ranges.iter_mut().for_each(|range| range.forget(commit));
        }
    }

    /// Takes the count of the planned commit; none if it cannot be counted, and then counts are not asked any more.
    pub fn counted(&mut self, count: Option<f64>) {
        let (Phase::Counting(left), Ask::Count(commit)) = (&self.phase, self.plan()) else { return };
        let left = *left;
        self.built.insert(commit);
        let Some(count) = count.filter(|count| *count > 0.0) else {
            self.phase = Phase::Ends;
            self.rules.counts = false;
            return self.decide();
        };
        self.counts.insert(commit, count.ln());
        let ln = |commit: usize| self.counts.get(&commit).copied();
        if let (Some(good), Some(bad)) = (ln(0), ln(self.rules.commits)) {
            if self.sign * (bad - good) < COUNTS_DIFFER {
                self.rules.counts = false;
            } else if commit != 0 && commit != self.rules.commits {
                let has_changed = self.sign * (count.ln() - f64::midpoint(good, bad)) > 0.0;
                self.phase = Phase::Counting(if has_changed { [left[0], commit] } else { [commit, left[1]] });
            }
        }
        self.decide();
    }

    /// The commit to count next; none if the counts have left a pair of neighbours.
    fn next_count(&self, left: [usize; 2]) -> Option<usize> {
        let ends = [0, self.rules.commits].into_iter().find(|end| !self.counts.contains_key(end));
        ends.or_else(|| self.nearest_middle(left))
    }

    /// The commit nearest the middle that is not struck out.
    fn nearest_middle(&self, [low, high]: [usize; 2]) -> Option<usize> {
        let inside = (low + 1..high).filter(|commit| !self.unbuildable.contains(commit));
        inside.min_by_key(|commit| (2 * commit).abs_diff(low + high))
    }

    fn learn(&mut self, plan: &[usize], raw: &[f64]) {
        let corrected = self.places.corrected(raw);
        let at = |commit: usize| plan.iter().position(|other| *other == commit).unwrap_or(0);
        let value = |commit: usize| self.sign * corrected[at(commit)];
        let Some(range) = self.ranges.last_mut() else { return };
        if let Phase::Proving(proving) = &mut self.phase {
            let difference = value(proving.pair[1]) - value(proving.pair[0]);
            proving.evidence.bet(difference - PROVED_PART * proving.whole, &[0.0], proving.scale);
            proving.differences.push(difference);
            range.take_proof(proving.pair, difference);
            return;
        }
        let [good, bad] = [range.good, range.bad].map(value);
        if let Phase::Question(commit) = self.phase {
            range.ask(commit, [good, value(commit), bad]);
        }
        if let Some(expected) = range.difference() {
            let surprise = self.sign * (raw[at(range.bad)] - raw[at(range.good)]) - expected;
            let surprise = surprise.clamp(-3.0 * range.scale(), 3.0 * range.scale());
            self.places.take([at(range.good), at(range.bad)], plan.len(), self.sign * surprise);
        }
        range.take_ends(bad - good);
    }

    /// Chooses what to do next.
    fn decide(&mut self) {
        if let Phase::Ended(_) = self.phase {
            return;
        }
        if let Some(proof) = self.proved() {
            self.phase = Phase::Ended(Ending::Proved(proof));
            return;
        }
        if self.blocks >= self.rules.blocks {
            self.phase = Phase::Ended(self.unproved());
            return;
        }
        if !self.are_ends_shown() {
            return;
        }
        if self.count_first() {
            return;
        }
        if let Some(half) = self.split() {
            self.ranges.push(half);
            self.phase = Phase::Ends;
            return;
        }
        let Some(range) = self.ranges.last() else { return };
        let weights = range.posterior();
        let (pair, mass) = self.likeliest(range, &weights);
        if let Phase::Proving(proving) = &self.phase
            && self.mass(range, &weights, proving.pair) >= UNNAMED
        {
            return;
        }
        if mass >= NAMED && pair.iter().all(|commit| self.built.contains(commit)) {
            let (whole, scale) = (range.difference().unwrap_or(0.0), range.scale());
            self.proofs += 1;
            self.phase =
                Phase::Proving(Proving { pair, whole, scale, evidence: Sizes::default(), differences: vec![] });
        } else {
            self.phase = self.question(range, &weights).map_or(Phase::Ends, Phase::Question);
        }
    }

    /// The proof, if the pair is proved.
    fn proved(&self) -> Option<Proof> {
        let Phase::Proving(Proving { pair, whole, scale, evidence, differences }) = &self.phase else { return None };
        let needed = 2f64.powi(self.proofs) / self.rules.alpha;
        (evidence.capital() >= needed).then(|| {
            let values: Vec<(f64, f64)> = differences.iter().map(|one| (self.sign * one, *scale)).collect();
            let Unrefuted { estimate, interval } = Unrefuted::of(&values, needed);
            Proof { pair: *pair, blocks: differences.len() as u32, estimate, interval, whole: *whole }
        })
    }

    /// Whether the ends of the range are shown to differ. If they are not yet, or not within the limit, the phase says what
    /// to do about it.
    fn are_ends_shown(&mut self) -> bool {
        let is_root = self.ranges.len() == 1;
        let Some(range) = self.ranges.last_mut() else { return false };
        let (needed, blocks) =
            if is_root { (ENDS_EVIDENCE, self.rules.ends_blocks) } else { (HALF_EVIDENCE, HALF_BLOCKS) };
        if is_root && !range.is_shown && range.faster.capital() >= needed {
            self.sign = -1.0;
            range.reverse();
        }
        range.is_shown |= range.slower.capital() >= needed;
        if range.is_shown {
            return true;
        }
        self.phase = Phase::Ends;
        let is_over = range.differences.len() >= blocks as usize;
        if is_over && is_root {
            self.stop();
        } else if is_over {
            // "Neither" was wrong, or the larger half was: back to where it was asked.
            self.ranges.pop();
        }
        is_over && !is_root
    }

    /// Asks counts before anything noisy. True while there is one to ask.
    fn count_first(&mut self) -> bool {
        if !self.rules.counts || self.ranges.len() > 1 {
            return false;
        }
        let left = if let Phase::Counting(left) = self.phase { left } else { [0, self.rules.commits] };
        self.phase = Phase::Counting(left);
        if self.next_count(left).is_some() {
            return true;
        }
        self.rules.counts = false;
        self.built.extend(left);
        if let Some(range) = self.ranges.last_mut() {
            range.believe(left);
        }
        false
    }

    /// The half to go on in, if a commit is like neither end.
    fn split(&mut self) -> Option<Range> {
        let enough = self.enough();
        self.ranges.last_mut()?.split(enough)
    }

    /// Neighbouring commits that can be built, with the most mass between them.
    fn likeliest(&self, range: &Range, weights: &[f64]) -> ([usize; 2], f64) {
        let mut best = ([range.good, range.bad], 0.0);
        let mut before = range.good;
        for commit in range.good + 1..=range.bad {
            if commit < range.bad && self.unbuildable.contains(&commit) {
                continue;
            }
            let mass = self.mass(range, weights, [before, commit]);
            if mass > best.1 {
                best = ([before, commit], mass);
            }
            before = commit;
        }
        best
    }

    fn mass(&self, range: &Range, weights: &[f64], [before, after]: [usize; 2]) -> f64 {
        let inside = (before + 1).max(range.good + 1)..=after.min(range.bad);
        inside.map(|commit| weights[commit - range.good - 1]).sum()
    }

    /// The commit to ask: a built one that is most uncertain, else one to build, in the middle of the gap with the median, else
    /// one that was asked for long.
    fn question(&self, range: &Range, weights: &[f64]) -> Option<usize> {
        let mut below = 0.0;
        let mut median = None;
        let [mut fresh, mut long] = [None::<(f64, usize)>; 2];
        for commit in range.good + 1..range.bad {
            below += weights[commit - range.good - 1];
            if below >= 0.5 && median.is_none() {
                median = Some(commit);
            }
            let distance = (below - 0.5).abs();
            let is_open = self.built.contains(&commit) && SURE < below && below < 1.0 - SURE;
            let best = if range.blocks_of(commit) < COMMIT_BLOCKS { &mut fresh } else { &mut long };
            if is_open && best.is_none_or(|(nearest, _)| distance < nearest) {
                *best = Some((distance, commit));
            }
        }
        let median = median.unwrap_or(range.bad);
        let low = self.built.range(range.good..median).next_back().copied().unwrap_or(range.good);
        let high = self.built.range(median..=range.bad).next().copied().unwrap_or(range.bad);
        let commit = |(_, commit)| commit;
        fresh.map(commit).or_else(|| self.nearest_middle([low, high])).or(long.map(commit))
    }

    fn unproved(&self) -> Ending {
        match self.ranges.iter().rfind(|range| range.is_shown) {
            Some(shown) => Ending::Unproved { between: shown.closest_shown(self.enough()), likely: likely(shown) },
            None => Ending::NotShown(self.ranges.first().map_or([0.0; 2], |range| range.unrefuted(ENDS_EVIDENCE))),
        }
    }

    /// Evidence that allows for all commits that may be asked.
    fn enough(&self) -> f64 {
        HALF_EVIDENCE * (1.0 + (self.rules.commits as f64).log2().ceil())
    }

    /// Ends the search as it stands, as the budget is used.
    pub fn stop(&mut self) {
        if self.ending().is_none() {
            self.phase = Phase::Ended(self.unproved());
        }
    }

    /// What it does, in a word or two.
    pub fn stage(&self) -> &'static str {
        match self.phase {
            Phase::Ends if self.ranges.len() == 1 => "good and bad",
            Phase::Counting(_) => "counting instructions",
            Phase::Ends | Phase::Question(_) => "search",
            Phase::Proving(_) | Phase::Ended(_) => "proof",
        }
    }

    /// Those of which one is the first changed one with a posterior of 95 %, if there is one change only.
    pub fn likely(&self) -> Vec<usize> {
        if let Phase::Counting([low, high]) = self.phase {
            return (low + 1..=high).collect();
        }
        match self.ranges.last() {
            Some(range) if range.is_shown => likely(range),
            Some(range) => (range.good + 1..=range.bad).collect(),
            None => vec![],
        }
    }

    /// The difference of good and bad, in spreads of a difference of two runs; none while they are not shown to differ.
    pub fn clarity(&self) -> Option<f64> {
        let range = self.ranges.first().filter(|range| range.is_shown)?;
        Some(range.difference()? / range.scale())
    }
}

fn likely(range: &Range) -> Vec<usize> {
    let weights = range.posterior();
    let weight = |commit: usize| weights[commit - range.good - 1];
    let mut order: Vec<usize> = (range.good + 1..=range.bad).collect();
    order.sort_by(|one, other| weight(*other).total_cmp(&weight(*one)));
    let mut mass = 0.0;
    let is_needed = |commit: &usize| {
        let needed = mass < 0.95;
        mass += weight(*commit);
        needed
    };
    let mut likely: Vec<usize> = order.into_iter().take_while(is_needed).collect();
    likely.sort_unstable();
    likely
}

#[cfg(test)]
mod tests;
