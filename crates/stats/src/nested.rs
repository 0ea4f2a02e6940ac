//! Nested repetition: components of variance, and how often to repeat on each level (Kalibera & Jones 2013). It says where
//! the variation comes from and how to spend time; inference uses the means of the topmost level and nothing else.

use super::describe::{mean, sum};

/// What one level of repetition adds to the variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// How often its units are repeated within one unit of the next level (the top level: altogether).
    pub repetitions: usize,
    /// S²: mean variance of its units' means within one unit of the next level (divisor r − 1).
    pub variance: f64,
    /// T²: what is left of S² after S²/r of the level below: what this level itself adds. Estimates can be negative, and are
    /// kept so here.
    pub component: f64,
}

/// The levels of `values`, lowest first, where `repetitions` says how many values make a unit of the second level, how
/// many of those a unit of the third, and so on, and the values of a unit stand together. T₁² = S₁²,
/// Tᵢ² = Sᵢ² − Sᵢ₋₁²/rᵢ₋₁ (the corrected form of Kalibera & Jones' §6). None unless each level is repeated at least twice
/// and the numbers multiply to that of the values, which must be finite.
pub fn levels(values: &[f64], repetitions: &[usize]) -> Option<Vec<Level>> {
    let expected = repetitions.iter().try_fold(1usize, |product, r| product.checked_mul(*r))?;
    let finite = values.iter().all(|x| x.is_finite());
    if repetitions.is_empty() || repetitions.iter().any(|r| *r < 2) || expected != values.len() || !finite {
        return None;
    }
    let mut means = values.to_vec();
    let mut levels: Vec<Level> = Vec::with_capacity(repetitions.len());
    for &repetitions in repetitions {
        let within = |unit: &[f64]| {
            let centre = mean(unit);
            let squares: Vec<f64> = unit.iter().map(|x| (x - centre) * (x - centre)).collect();
            sum(&squares) / (unit.len() - 1) as f64
        };
        let variances: Vec<f64> = means.chunks_exact(repetitions).map(within).collect();
        let variance = mean(&variances);
        let below = levels.last().map_or(0.0, |level| level.variance / level.repetitions as f64);
        levels.push(Level { repetitions, variance, component: variance - below });
        means = means.chunks_exact(repetitions).map(mean).collect();
    }
    Some(levels)
}

/// How often to repeat each level but the topmost, which is repeated as often as time allows: ⌈√(cᵢ₊₁/cᵢ · Tᵢ²/Tᵢ₊₁²)⌉
/// (Kalibera & Jones 2013, §6.2). `costs` is the time that each level's unit needs in addition to what it consists of, in any
/// unit. A level that adds nothing (Tᵢ² ≤ 0) is not repeated. Where the next level adds nothing, repeating this one is as good
/// as repeating that one, and cheaper: there is no optimum, and `None` stands for "as often as is convenient". None at all
/// unless there is a cost above 0 for each level.
pub fn optimal_repetitions(levels: &[Level], costs: &[f64]) -> Option<Vec<Option<u64>>> {
    if costs.len() != levels.len() || costs.iter().any(|cost| !(cost.is_finite() && *cost > 0.0)) {
        return None;
    }
    let optimum = |(level, cost): (&[Level], &[f64])| {
        if level[0].component <= 0.0 {
            return Some(1);
        }
        let ratio = cost[1] / cost[0] * level[0].component / level[1].component;
        (level[1].component > 0.0).then(|| ratio.sqrt().ceil().max(1.0) as u64)
    };
    Some(levels.windows(2).zip(costs.windows(2)).map(optimum).collect())
}
