//! A range of commits whose ends are thought to differ, what was asked inside it, and the posterior of the first changed
//! commit. The posterior is a heuristic: a normal likelihood, made robust by clipping and tempered. It proves nothing.

use crate::bets::{Sizes, Unrefuted};
use bakeoff_stats::describe::{MAD_TO_SD, median};
use std::collections::BTreeMap;

/// The likelihood is raised to this power, and one block counts as at most this many nats: spikes and modes are not normal.
const TEMPER: f64 = 0.8;
const CLIP_NATS: f64 = 2.5;

/// A commit's distance from the middle of good and bad counts as at most half their difference and this many sds.
const CLIP_SDS: f64 = 1.5;

/// How much surer than the prior a pair is that counts have found.
const COUNTS_NATS: f64 = 4.0;

/// What was asked of one commit.
#[derive(Debug, Clone, Default)]
struct Asked {
    /// Its value less the middle of good and bad, block by block; those from good, and from it to bad.
    from_middle: Vec<f64>,
    from_good: Vec<f64>,
    to_bad: Vec<f64>,
    /// It is slower than good, and bad is slower than it.
    above_good: Sizes,
    below_bad: Sizes,
    /// "Neither" was concluded once, and did not lead anywhere, or is being followed.
    is_split: bool,
}

/// A range of commits.
#[derive(Debug, Clone)]
pub(super) struct Range {
    pub(super) good: usize,
    pub(super) bad: usize,
    /// Of bad and good, block by block, and the scale of the bets on each.
    pub(super) differences: Vec<f64>,
    scales: Vec<f64>,
    /// That bad is slower, or faster.
    pub(super) slower: Sizes,
    pub(super) faster: Sizes,
    pub(super) is_shown: bool,
    asked: BTreeMap<usize, Asked>,
    /// Differences of pairs that were to be proved.
    proofs: BTreeMap<[usize; 2], Vec<f64>>,
    /// A pair that counts have found.
    counted: Option<[usize; 2]>,
    scale: f64,
    middle: Option<f64>,
}

impl Range {
    pub(super) fn new(good: usize, bad: usize) -> Self {
        Self {
            good,
            bad,
            differences: vec![],
            scales: vec![],
            slower: Sizes::default(),
            faster: Sizes::default(),
            is_shown: false,
            asked: BTreeMap::new(),
            proofs: BTreeMap::new(),
            counted: None,
            scale: 0.0,
            middle: None,
        }
    }

    /// The estimated difference of the ends.
    pub(super) fn difference(&self) -> Option<f64> {
        self.middle
    }

    /// The spread of a difference of two runs; 0 while it is unknown.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Takes the difference of bad and good in a block. What is bet on it was fixed before.
    pub(super) fn take_ends(&mut self, difference: f64) {
        self.slower.bet(difference, &[0.0], self.scale);
        self.faster.bet(-difference, &[0.0], self.scale);
        self.differences.push(difference);
        self.scales.push(self.scale);
        self.estimate();
    }

    /// The differences that bets on the ends do not refute, whichever side: infinite where there are too few blocks.
    pub(super) fn unrefuted(&self, needed: f64) -> [f64; 2] {
        let values: Vec<(f64, f64)> = self.differences.iter().copied().zip(self.scales.iter().copied()).collect();
        Unrefuted::of(&values, needed).interval
    }

    fn estimate(&mut self) {
        self.middle = median(&self.differences);
        let centre = self.middle.unwrap_or(0.0);
        let about = |centre: f64| median(&self.differences.iter().map(|x| (x - centre).abs()).collect::<Vec<f64>>());
        // Of one or two differences only their size is known.
        let centre = if self.differences.len() < 3 { 0.0 } else { centre };
        let spread = MAD_TO_SD * about(centre).unwrap_or(0.0);
        self.scale = spread.max(1e-3 * self.middle.unwrap_or(0.0).abs());
    }

    /// Turns faster into slower.
    pub(super) fn reverse(&mut self) {
        std::mem::swap(&mut self.slower, &mut self.faster);
        self.differences.iter_mut().for_each(|x| *x = -*x);
        self.estimate();
    }

    /// Takes the values of good, of a commit and of bad in a block.
    pub(super) fn ask(&mut self, commit: usize, [good, own, bad]: [f64; 3]) {
        let asked = self.asked.entry(commit).or_default();
        asked.above_good.bet(own - good, &[0.0], self.scale);
        asked.below_bad.bet(bad - own, &[0.0], self.scale);
        asked.from_middle.push(own - f64::midpoint(good, bad));
        asked.from_good.push(own - good);
        asked.to_bad.push(bad - own);
    }

    /// How often a commit was asked.
    pub(super) fn blocks_of(&self, commit: usize) -> usize {
        self.asked.get(&commit).map_or(0, |asked| asked.from_middle.len())
    }

    /// Takes a difference of two neighbouring commits.
    pub(super) fn take_proof(&mut self, pair: [usize; 2], difference: f64) {
        self.proofs.entry(pair).or_default().push(difference);
    }

    /// Believes counts, until time contradicts them.
    pub(super) fn believe(&mut self, pair: [usize; 2]) {
        self.counted = Some(pair);
    }

    /// Forgets a commit that cannot be run.
    pub(super) fn forget(&mut self, commit: usize) {
        self.asked.remove(&commit);
    }

    /// The half with the larger difference, if a commit is shown to be slower than good and faster than bad.
    pub(super) fn split(&mut self, enough: f64) -> Option<Self> {
        let is_neither = |asked: &Asked| {
            !asked.is_split && asked.above_good.capital() >= enough && asked.below_bad.capital() >= enough
        };
        let (commit, asked) = self.asked.iter_mut().find(|(_, asked)| is_neither(asked))?;
        asked.is_split = true;
        let is_before = median(&asked.from_good) > median(&asked.to_bad);
        Some(if is_before { Self::new(self.good, *commit) } else { Self::new(*commit, self.bad) })
    }

    /// The probability, for each commit after good, that it is the first changed one.
    pub(super) fn posterior(&self) -> Vec<f64> {
        let n = self.bad - self.good;
        let (Some(difference), true) = (self.middle, self.scale > 0.0) else { return vec![1.0 / n as f64; n] };
        let mut logs = vec![0.0; n];
        let mut after = 0.0;
        for at in (0..n).rev() {
            after += self.asked.get(&(self.good + 1 + at)).map_or(0.0, |asked| self.evidence(difference, asked));
            logs[at] = after;
        }
        let mut add = |pair: &[usize; 2], nats: f64| {
            let first = pair[0].saturating_sub(self.good);
            let last = pair[1].saturating_sub(self.good).min(n);
            logs.iter_mut().take(last).skip(first).for_each(|log| *log += nats);
        };
        let square = self.scale * self.scale;
        for (pair, differences) in &self.proofs {
            let nats = |x: &f64| (difference * (x - difference / 2.0) / square).clamp(-CLIP_NATS, CLIP_NATS);
            add(pair, TEMPER * differences.iter().map(nats).sum::<f64>());
        }
        if let Some(pair) = &self.counted {
            add(pair, COUNTS_NATS + (n as f64).ln());
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.iter_mut().for_each(|log| *log = (*log - most).exp());
        let all: f64 = logs.iter().sum();
        logs.iter().map(|weight| weight / all).collect()
    }

    /// In nats, that a commit is as slow as bad, against as fast as good.
    fn evidence(&self, difference: f64, asked: &Asked) -> f64 {
        let square = 0.75 * self.scale * self.scale;
        let bound = difference.abs() / 2.0 + CLIP_SDS * square.sqrt();
        let nats = |v: &f64| (difference * v.clamp(-bound, bound) / square).clamp(-CLIP_NATS, CLIP_NATS);
        TEMPER * asked.from_middle.iter().map(nats).sum::<f64>()
    }

    /// The closest commits that were shown to differ, with an evidence that allows for many commits.
    pub(super) fn closest_shown(&self, enough: f64) -> [usize; 2] {
        let mut closest = [self.good, self.bad];
        for (commit, asked) in &self.asked {
            for (is_shown, pair) in [
                (asked.above_good.capital() >= enough, [self.good, *commit]),
                (asked.below_bad.capital() >= enough, [*commit, self.bad]),
            ] {
                if is_shown && pair[1] - pair[0] < closest[1] - closest[0] {
                    closest = pair;
                }
            }
        }
        closest
    }
}
