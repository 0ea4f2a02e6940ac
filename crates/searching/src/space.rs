//! Big spaces: which combinations of levels to build when building all of them costs too much, and what a model says of
//! those that were not built. It knows no times but those it is given, and concludes nothing: the race does that, and its
//! guarantee covers only variants that were built.

mod fraction;

use bakeoff_model::shuffle::Stream;
use bakeoff_stats::cholesky::Cholesky;
use bakeoff_stats::describe::{MAD_TO_SD, median};
use std::collections::BTreeSet;

/// A subset has at least this many runs for each column of the model.
const RUNS_PER_COLUMN: f64 = 1.2;

/// What shrinks main effects and pairs, in runs.
const RIDGE_MAINS: f64 = 1.0;
const RIDGE_PAIRS: f64 = 3.0;

/// How much of a built combination's score is the model's.
const MODEL_PART: f64 = 0.5;

/// Of more combinations than this, that many are drawn as candidates.
const CANDIDATES: usize = 1024;

/// Makes the first matrices invertible; small against one run.
const TINY: f64 = 1e-3;

/// How often the model and the effects of blocks are fitted in turn, and beyond how many sds a run is clipped.
const FITS: u32 = 6;
const CLIP: f64 = 2.5;

/// Exchanges stop after this many sweeps, or when one gains less than this.
const SWEEPS: u32 = 20;
const GAIN: f64 = 1e-6;

/// Combinations of levels.
#[derive(Debug, Clone)]
pub struct Space {
    /// How many levels each factor has.
    pub levels: Vec<usize>,
    /// All that are not excluded, each with a level of each factor, in ascending order. Functions number them by their places.
    pub combinations: Vec<Vec<usize>>,
}

impl Space {
    /// All combinations of factors with these numbers of levels, without the excluded ones.
    pub fn of_levels(levels: &[usize], is_excluded: &dyn Fn(&[usize]) -> bool) -> Self {
        let mut combinations: Vec<Vec<usize>> = vec![vec![]];
        for &count in levels {
            let with = |start: &Vec<usize>| (0..count).map(|level| [&start[..], &[level]].concat()).collect::<Vec<_>>();
            combinations = combinations.iter().flat_map(with).collect();
        }
        combinations.retain(|levels| !is_excluded(levels));
        Self { levels: levels.to_vec(), combinations }
    }

    /// The row of a combination: the mean, the main effects, the pairs. The codes of a factor are orthogonal and have the
    /// mean square 1 (Helmert's contrasts), so ±1 where it has two levels.
    fn row(&self, combination: usize) -> Vec<f64> {
        let levels = self.levels.iter().zip(&self.combinations[combination]);
        let codes: Vec<Vec<f64>> = levels.map(|(levels, level)| helmert(*levels, *level)).collect();
        let mut row = vec![1.0];
        row.extend(codes.iter().flatten());
        for (at, one) in codes.iter().enumerate() {
            for other in &codes[at + 1..] {
                row.extend(one.iter().flat_map(|a| other.iter().map(move |b| a * b)));
            }
        }
        row
    }

    /// Runs of a subset that the model can be fitted to.
    fn runs(&self) -> usize {
        ((RUNS_PER_COLUMN * self.row(0).len() as f64).ceil() as usize).min(self.combinations.len())
    }

    /// How many combinations a subset has.
    pub fn subset_len(&self) -> usize {
        self.fraction().map_or_else(|| self.runs(), |members| members.len())
    }

    /// What to build: a fraction of resolution V if all factors have two levels, else a D-optimal subset.
    pub fn subset(&self, seed: u64) -> Vec<usize> {
        let mut stream = Stream::of(seed, &["subset"]);
        let Some(members) = self.fraction() else { return self.exchange(&mut stream) };
        // Which of the fractions it is depends on the seed: flipping a factor keeps the resolution.
        let factors = 0..self.levels.len();
        let flips: usize = factors.clone().map(|factor| (stream.below(2) as usize) << factor).sum();
        // In the order of combinations the first factor changes last.
        let place = |member: usize| factors.clone().fold(0, |place, at| 2 * place + ((member ^ flips) >> at) % 2);
        members.into_iter().map(place).collect()
    }

    /// The members of a fraction of resolution V, if there is one.
    fn fraction(&self) -> Option<Vec<usize>> {
        let factors = self.levels.len();
        let is_full = 1_usize.checked_shl(factors as u32) == Some(self.combinations.len());
        let is_binary = is_full && self.levels.iter().all(|levels| *levels == 2);
        if is_binary { fraction::resolution_five(factors, self.runs()) } else { None }
    }

    /// Fedorov's exchanges (1972): each member in turn is replaced by the candidate with which the determinant of XᵀX grows
    /// most, until nothing grows.
    fn exchange(&self, stream: &mut Stream) -> Vec<usize> {
        let mut candidates: Vec<usize> = (0..self.combinations.len()).collect();
        stream.shuffle(&mut candidates);
        candidates.truncate(CANDIDATES.max(self.runs()));
        let mut chosen: Vec<usize> = candidates[..self.runs()].to_vec();
        // Of equal gains, the first combination's is taken.
        candidates.sort_unstable();
        for _ in 0..SWEEPS {
            let before = chosen.clone();
            for at in 0..chosen.len() {
                let Some(factor) = self.information(&chosen, |_| TINY) else { return chosen };
                let own = factor.forward(&self.row(chosen[at]));
                let leverage = product(&own, &own);
                let gain = |candidate: &usize| {
                    let other = factor.forward(&self.row(*candidate));
                    let both = product(&own, &other);
                    (*candidate, (1.0 + product(&other, &other)) * (1.0 - leverage) + both * both - 1.0)
                };
                let gains = candidates.iter().filter(|candidate| !chosen.contains(candidate)).map(gain);
                if let Some((candidate, _)) = first_of_largest(gains).filter(|(_, gain)| *gain > GAIN) {
                    chosen[at] = candidate;
                }
            }
            if chosen == before {
                break;
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// What to build instead of a combination that failed: the one that those chosen say least about. None if there is no other.
    pub fn replacement(&self, chosen: &[usize], failed: &BTreeSet<usize>) -> Option<usize> {
        let factor = self.information(chosen, |_| TINY)?;
        let leverage = |combination: usize| {
            let half = factor.forward(&self.row(combination));
            (combination, product(&half, &half))
        };
        let is_free = |combination: &usize| !chosen.contains(combination) && !failed.contains(combination);
        let (combination, _) = first_of_largest((0..self.combinations.len()).filter(is_free).map(leverage))?;
        Some(combination)
    }

    /// The factor of XᵀX of some combinations, with a ridge for each column.
    fn information(&self, combinations: &[usize], ridge: impl Fn(usize) -> f64) -> Option<Cholesky> {
        let n = self.row(0).len();
        let mut matrix = vec![0.0; n * n];
        for row in combinations.iter().map(|combination| self.row(*combination)) {
            for (line, a) in matrix.chunks_exact_mut(n).zip(&row) {
                line.iter_mut().zip(&row).for_each(|(sum, b)| *sum += a * b);
            }
        }
        (0..n).for_each(|at| matrix[at * n + at] += ridge(at));
        Cholesky::of(&matrix, n)
    }
}

/// A run of a combination: the logarithm of its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    pub combination: usize,
    pub ln: f64,
}

/// What was learned of a space.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The logarithm of each combination's value.
    pub values: Vec<f64>,
    /// The runs without the effects of their blocks.
    runs: Vec<Measured>,
}

impl Model {
    /// A ridge model of main effects and pairs, from blocks of runs. Blocks need not hold the same combinations: each has an
    /// effect, fitted together with the model. A run far from the model counts as one that is less far (Huber 1964). None if
    /// nothing was run.
    pub fn of(space: &Space, blocks: &[Vec<Measured>]) -> Option<Self> {
        let mains: usize = space.levels.iter().map(|levels| levels.saturating_sub(1)).sum();
        let combinations: Vec<usize> = blocks.iter().flatten().map(|run| run.combination).collect();
        let distinct = combinations.iter().collect::<BTreeSet<_>>().len().max(1);
        // The ridge is in runs that are each a mean over the blocks.
        let each = combinations.len() as f64 / distinct as f64;
        let ridge = |at: usize| match at {
            0 => each * TINY,
            at if at <= mains => each * RIDGE_MAINS,
            _ => each * RIDGE_PAIRS,
        };
        let factor = space.information(&combinations, ridge)?;
        let rows: Vec<Vec<f64>> = (0..space.combinations.len()).map(|combination| space.row(combination)).collect();
        let mut model = Self { values: vec![0.0; rows.len()], runs: vec![] };
        for _ in 0..FITS {
            model.runs = without_blocks(blocks, &model.values);
            let mut right = vec![0.0; space.row(0).len()];
            for run in &model.runs {
                right.iter_mut().zip(&rows[run.combination]).for_each(|(sum, x)| *sum += x * run.ln);
            }
            let effects = factor.solve(&right);
            model.values = rows.iter().map(|row| product(row, &effects)).collect();
        }
        Some(model)
    }

    /// The combinations, the best first, and of equals the one that comes first. One that was run counts half by its own mean.
    pub fn ranked(&self) -> Vec<usize> {
        let score = |combination: usize| {
            let own = self.runs.iter().filter(|run| run.combination == combination).map(|run| run.ln);
            let own: Vec<f64> = own.collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            let value = self.values[combination];
            if own.is_empty() { value } else { MODEL_PART * value + (1.0 - MODEL_PART) * mean }
        };
        let scores: Vec<f64> = (0..self.values.len()).map(score).collect();
        let mut ranked: Vec<usize> = (0..scores.len()).collect();
        ranked.sort_by(|one, other| scores[*one].total_cmp(&scores[*other]));
        ranked
    }
}

/// Runs without the effects of their blocks, no farther from the model than residuals usually are.
fn without_blocks(blocks: &[Vec<Measured>], values: &[f64]) -> Vec<Measured> {
    let mut residuals = vec![];
    for block in blocks {
        let own: Vec<f64> = block.iter().map(|run| run.ln - values[run.combination]).collect();
        let effect = median(&own).unwrap_or(0.0);
        residuals.extend(own.iter().map(|residual| residual - effect));
    }
    let sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    let bound = CLIP * MAD_TO_SD * median(&sizes).unwrap_or(0.0);
    let bound = if bound > 0.0 { bound } else { f64::INFINITY };
    let run = |(run, residual): (&Measured, f64)| {
        let ln = values[run.combination] + residual.clamp(-bound, bound);
        Measured { ln, ..*run }
    };
    blocks.iter().flatten().zip(residuals).map(run).collect()
}

/// Helmert's codes of a level: the j-th compares level j with the mean of those before it.
fn helmert(levels: usize, level: usize) -> Vec<f64> {
    let code = |j: usize| {
        let (j, size) = (j as f64, (levels as f64 / (j * (j + 1)) as f64).sqrt());
        match level as f64 {
            own if own < j => -size,
            own if own == j => size * j,
            _ => 0.0,
        }
    };
    (1..levels).map(code).collect()
}

/// The largest of some numbers, with its combination; of equals the first.
fn first_of_largest(numbers: impl Iterator<Item = (usize, f64)>) -> Option<(usize, f64)> {
    numbers.min_by(|(_, one), (_, other)| other.total_cmp(one))
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
