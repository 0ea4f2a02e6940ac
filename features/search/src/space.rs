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
    levels: Vec<usize>,
    combinations: Vec<Vec<usize>>,
    has_exclusions: bool,
}

impl Space {
    /// Factors with these numbers of levels, without the combinations that are excluded.
    pub fn new(levels: &[usize], is_excluded: &dyn Fn(&[usize]) -> bool) -> Self {
        let mut all: Vec<Vec<usize>> = vec![vec![]];
        for &count in levels {
            let with = |start: &Vec<usize>| (0..count).map(|level| [&start[..], &[level]].concat()).collect::<Vec<_>>();
            all = all.iter().flat_map(with).collect();
        }
        let before = all.len();
        all.retain(|levels| !is_excluded(levels));
        Self { levels: levels.to_vec(), has_exclusions: all.len() < before, combinations: all }
    }

    /// All combinations that are not excluded; other functions number them by their places here.
    pub fn combinations(&self) -> &[Vec<usize>] {
        &self.combinations
    }

    /// Columns of the model: the mean, the main effects and the pairs.
    pub fn columns(&self) -> usize {
        let freedoms: Vec<usize> = self.levels.iter().map(|levels| levels.saturating_sub(1)).collect();
        let mains: usize = freedoms.iter().sum();
        let pairs = (mains * mains - freedoms.iter().map(|own| own * own).sum::<usize>()) / 2;
        1 + mains + pairs
    }

    /// The row of a combination: the mean, the main effects, the pairs. The codes of a factor are orthogonal and have the
    /// mean square 1 (Helmert's contrasts), so ±1 where it has two levels.
    fn row(&self, combination: &[usize]) -> Vec<f64> {
        let codes: Vec<Vec<f64>> =
            self.levels.iter().zip(combination).map(|(levels, level)| helmert(*levels, *level)).collect();
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
        ((RUNS_PER_COLUMN * self.columns() as f64).ceil() as usize).min(self.combinations.len())
    }

    /// What to build: a fraction of resolution V if all factors have two levels, else a D-optimal subset.
    pub fn subset(&self, seed: u64) -> Subset {
        let mut stream = Stream::of(seed, &["subset"]);
        let is_binary = self.levels.iter().all(|levels| *levels == 2) && !self.has_exclusions;
        let fraction = if is_binary { fraction::resolution_five(self.levels.len(), self.runs()) } else { None };
        let chosen = match fraction {
            Some(mut members) => {
                // Which of the fractions it is depends on the seed: flipping a factor keeps the resolution.
                let flips: Vec<usize> = self.levels.iter().map(|_| stream.below(2) as usize).collect();
                members
                    .iter_mut()
                    .for_each(|member| member.iter_mut().zip(&flips).for_each(|(level, flip)| *level ^= flip));
                let place = |member: &Vec<usize>| self.combinations.iter().position(|other| other == member);
                members.iter().filter_map(place).collect()
            }
            None => self.exchange(&mut stream),
        };
        Subset { chosen, failed: BTreeSet::new() }
    }

    /// Fedorov's exchanges (1972): each member in turn is replaced by the candidate with which the determinant of XᵀX grows
    /// most, until nothing grows.
    fn exchange(&self, stream: &mut Stream) -> Vec<usize> {
        let mut candidates: Vec<usize> = (0..self.combinations.len()).collect();
        stream.shuffle(&mut candidates);
        candidates.truncate(CANDIDATES.max(self.runs()));
        let mut chosen: Vec<usize> = candidates[..self.runs()].to_vec();
        for _ in 0..SWEEPS {
            let mut has_gained = false;
            for at in 0..chosen.len() {
                let Some(factor) = self.information(&chosen, TINY) else { return chosen };
                let half = |combination: usize| factor.forward(&self.row(&self.combinations[combination]));
                let own = half(chosen[at]);
                let own_leverage = product(&own, &own);
                let gain = |candidate: usize| {
                    let other = half(candidate);
                    let both = product(&own, &other);
                    (1.0 + product(&other, &other)) * (1.0 - own_leverage) + both * both - 1.0
                };
                let free = candidates.iter().filter(|candidate| !chosen.contains(candidate));
                let gains = free.map(|candidate| Ranked { score: -gain(*candidate), combination: *candidate });
                if let Some(best) = gains.min_by(Ranked::order).filter(|best| -best.score > GAIN) {
                    chosen[at] = best.combination;
                    has_gained = true;
                }
            }
            if !has_gained {
                break;
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// The factor of XᵀX of some combinations, with a ridge.
    fn information(&self, chosen: &[usize], ridge: f64) -> Option<Cholesky> {
        let n = self.columns();
        let mut matrix = vec![0.0; n * n];
        chosen.iter().for_each(|combination| add_square(&mut matrix, &self.row(&self.combinations[*combination])));
        (0..n).for_each(|at| matrix[at * n + at] += ridge);
        Cholesky::of(&matrix, n)
    }
}

/// What is built of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subset {
    chosen: Vec<usize>,
    failed: BTreeSet<usize>,
}

impl Subset {
    /// The combinations to build, by their places in [`Space::combinations`].
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Whether its build failed.
    pub fn has_failed(&self, combination: usize) -> bool {
        self.failed.contains(&combination)
    }

    /// Strikes out one whose build failed, and returns the one to build in its place: that of which the others say least.
    pub fn replace(&mut self, failed: usize, space: &Space) -> Option<usize> {
        self.failed.insert(failed);
        self.chosen.retain(|other| *other != failed);
        let factor = space.information(&self.chosen, TINY)?;
        let is_free = |candidate: &usize| !self.chosen.contains(candidate) && !self.failed.contains(candidate);
        let leverage = |combination: usize| {
            let half = factor.forward(&space.row(&space.combinations[combination]));
            Ranked { score: -product(&half, &half), combination }
        };
        let free = (0..space.combinations.len()).filter(is_free);
        let next = free.map(leverage).min_by(Ranked::order)?.combination;
        self.chosen.push(next);
        Some(next)
    }
}

/// A run of a combination: the logarithm of its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    pub combination: usize,
    pub ln: f64,
}

/// A combination with its score; the least is the best, and of equals the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub combination: usize,
    pub score: f64,
}

impl Ranked {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(self.combination.cmp(&other.combination))
    }
}

/// Scores all combinations of a space by a ridge model of main effects and pairs, the best first, from blocks of runs. A
/// combination that was run counts half by its own mean. Blocks need not hold the same combinations: each has an effect,
/// fitted together with the model. A run far from the model counts as one that is less far (Huber 1964). None if nothing was
/// run.
pub fn rank(space: &Space, blocks: &[Vec<Measured>]) -> Option<Vec<Ranked>> {
    let n = space.columns();
    let mains: usize = space.levels.iter().map(|levels| levels.saturating_sub(1)).sum();
    let rows: Vec<Vec<f64>> = space.combinations.iter().map(|combination| space.row(combination)).collect();
    let runs = || blocks.iter().flatten();
    let distinct: BTreeSet<usize> = runs().map(|run| run.combination).collect();
    let mut matrix = vec![0.0; n * n];
    runs().for_each(|run| add_square(&mut matrix, &rows[run.combination]));
    // The ridge is in runs that are each a mean over the blocks.
    let each = runs().count() as f64 / distinct.len() as f64;
    for at in 0..n {
        matrix[at * n + at] += each
            * if at == 0 {
                TINY
            } else if at <= mains {
                RIDGE_MAINS
            } else {
                RIDGE_PAIRS
            };
    }
    let factor = Cholesky::of(&matrix, n).filter(|_| !distinct.is_empty())?;
    let mut scores = vec![0.0; rows.len()];
    let mut clipped: Vec<Measured> = vec![];
    for _ in 0..FITS {
        clipped = without_blocks(blocks, &scores);
        let mut right = vec![0.0; n];
        for run in &clipped {
            right.iter_mut().zip(&rows[run.combination]).for_each(|(sum, x)| *sum += x * run.ln);
        }
        let effects = factor.solve(&right);
        scores = rows.iter().map(|row| product(row, &effects)).collect();
    }
    for combination in distinct {
        let own: Vec<f64> = clipped.iter().filter(|run| run.combination == combination).map(|run| run.ln).collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        scores[combination] = MODEL_PART * scores[combination] + (1.0 - MODEL_PART) * mean;
    }
    let mut ranked: Vec<Ranked> =
        scores.into_iter().enumerate().map(|(combination, score)| Ranked { combination, score }).collect();
    ranked.sort_by(Ranked::order);
    Some(ranked)
}

/// Runs without the effects of their blocks, no farther from the model than residuals usually are.
fn without_blocks(blocks: &[Vec<Measured>], scores: &[f64]) -> Vec<Measured> {
    let mut residuals = vec![];
    for block in blocks {
        let own: Vec<f64> = block.iter().map(|run| run.ln - scores[run.combination]).collect();
        let effect = median(&own).unwrap_or(0.0);
        residuals.extend(own.iter().map(|residual| residual - effect));
    }
    let sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    let bound = CLIP * MAD_TO_SD * median(&sizes).unwrap_or(0.0);
    let bound = if bound > 0.0 { bound } else { f64::INFINITY };
    let run = |(run, residual): (&Measured, f64)| {
        let ln = scores[run.combination] + residual.clamp(-bound, bound);
        Measured { combination: run.combination, ln }
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

fn add_square(matrix: &mut [f64], row: &[f64]) {
    for (line, a) in matrix.chunks_exact_mut(row.len()).zip(row) {
        line.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
    }
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
