//! Ordinary least squares of values on numeric columns, with a constant of its own for every block, and errors that
//! hold if the values vary unequally. It knows columns and weights; what they mean, its caller knows.
//!
//! The blocks are absorbed: values and columns are centred within each block, and regressing the ones on the others
//! gives the same coefficients and residuals as writing the blocks out as columns (Frisch & Waugh 1933; Lovell 1963),
//! whether the blocks are complete or not. The leverage of an observation is then 1/(size of its block) + its leverage
//! among the centred columns.

use super::super::describe::mean;
use super::super::student::{p_of_zero, t_quantile};
use super::basis::{Basis, dot, norm};
use std::collections::BTreeMap;

/// A column that centring reduces to less than this part of its size was constant in every block.
const CONSTANT: f64 = 1e-12;

/// A combination is a function of the columns' span if it misses it by less than this part.
const ESTIMABLE: f64 = 1e-7;

/// 1 − leverage below which an observation is taken to determine a coefficient alone.
const ALONE: f64 = 1e-9;

/// Rounding error of a value, as a part of the largest one.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A linear combination of coefficients, estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Its value, in the unit of y.
    pub estimate: f64,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom: number of observations − rank, blocks included.
    pub df: usize,
    /// Two-sided p of the hypothesis that it is 0, by Student's t. Without variation it is 0 or 1.
    pub p: f64,
}

impl Estimate {
    /// Interval of confidence 1 − alpha: estimate ± t(1 − alpha/2, df) · se. None unless 0 < alpha < 1.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let half = t_quantile(1.0 - alpha / 2.0, self.df as f64)? * self.se;
        Some([self.estimate - half, self.estimate + half])
    }
}

/// Why a combination has no estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The data does not tell it from other combinations, or not one weight for each column was given.
    NotEstimable,
    /// It rests on observations that leave nothing to judge their variation by.
    NoError,
}

/// A least-squares fit.
#[derive(Debug, Clone)]
pub struct Ols {
    pub(super) basis: Basis,
    /// Length of each centred column; 0 if it is constant in every block.
    lengths: Vec<f64>,
    /// Q'y, residuals: in units of `unit`.
    rotated: Vec<f64>,
    residuals: Vec<f64>,
    /// 1 − leverage.
    freedom: Vec<f64>,
    df: usize,
    /// The largest centred value, which keeps squares from overflowing.
    unit: f64,
    /// What is closer to 0 than this, in that unit, is 0.
    rounding: f64,
}

impl Ols {
    /// Fits `y` (any unit) on `columns`; `blocks` names the block of each value. None if there are no values, if lengths
    /// differ, or if a number is not finite or so large that sums overflow.
    pub fn new(blocks: &[usize], columns: &[Vec<f64>], y: &[f64]) -> Option<Self> {
        let n = y.len();
        let summable = |values: &[f64]| (4.0 * values.iter().map(|x| x.abs()).sum::<f64>()).is_finite();
        let whole = columns.iter().all(|column| column.len() == n && summable(column));
        if n == 0 || blocks.len() != n || !whole || !summable(y) {
            return None;
        }
        let blocks = members(blocks);
        let (lengths, units): (Vec<f64>, Vec<Vec<f64>>) = columns.iter().map(|x| unit_column(&blocks, x)).unzip();
        let basis = Basis::of(units);

        let mut residuals = centred(&blocks, y);
        let unit = largest(&residuals).max(f64::MIN_POSITIVE);
        let rounding = (ROUNDING * largest(y) / unit).min(1.0);
        residuals.iter_mut().for_each(|e| *e /= unit);
        let mut rotated = basis.project_out(&mut residuals);
        let more = basis.project_out(&mut residuals);
        rotated.iter_mut().zip(more).for_each(|(r, m)| *r += m);
        residuals.iter_mut().filter(|e| e.abs() <= rounding).for_each(|e| *e = 0.0);

        let mut freedom = vec![0.0; n];
        for block in &blocks {
            let rest = 1.0 - 1.0 / block.len() as f64;
            for i in block {
                freedom[*i] = rest - basis.orthonormal.iter().map(|q| q[*i] * q[*i]).sum::<f64>();
            }
        }
        let df = n.saturating_sub(blocks.len() + basis.rank());
        Some(Self { basis, lengths, rotated, residuals, freedom, df, unit, rounding })
    }

    /// The combination of coefficients with these weights, one for each column.
    pub fn combination(&self, weights: &[f64]) -> Result<Estimate, Gap> {
        if weights.len() != self.lengths.len() || weights.iter().any(|w| !w.is_finite()) {
            return Err(Gap::NotEstimable);
        }
        // Weights for the coefficients of columns of length 1.
        let scaled: Vec<f64> =
            weights.iter().zip(&self.lengths).map(|(w, l)| if *l > 0.0 { w / l } else { *w }).collect();
        let kept: Vec<f64> = self.basis.kept.iter().map(|column| scaled[*column]).collect();
        let z = self.basis.dual(&kept);
        let size = largest(&scaled).max(f64::MIN_POSITIVE);
        let within = |(w, coordinates): (&f64, &Vec<f64>)| (w - dot(coordinates, &z)).abs() <= ESTIMABLE * size;
        if !scaled.iter().zip(&self.basis.coordinates).all(within) {
            return Err(Gap::NotEstimable);
        }
        if self.df == 0 {
            return Err(Gap::NoError);
        }
        let shares = self.shares(&z);
        let variance = self.variance(&shares)?;
        let value = dot(&z, &self.rotated);
        let reach: f64 = self.rounding * shares.iter().map(|a| a.abs()).sum::<f64>();
        let estimate = if value.abs() <= reach { 0.0 } else { value * self.unit };
        let se = variance.sqrt() * self.unit;
        let is_finite = estimate.is_finite() && se.is_finite();
        let p = p_of_zero(estimate, se, self.df as f64).filter(|_| is_finite).ok_or(Gap::NoError)?;
        Ok(Estimate { estimate, se, df: self.df, p })
    }

    /// a: the weight of each value in the estimate, Q z.
    fn shares(&self, z: &[f64]) -> Vec<f64> {
        let mut shares = vec![0.0; self.residuals.len()];
        for (q, z) in self.basis.orthonormal.iter().zip(z) {
            shares.iter_mut().zip(q).for_each(|(a, q)| *a += z * q);
        }
        shares
    }

    /// HC3: Σ aᵢ² eᵢ² / (1 − hᵢ)², where aᵢ are the estimate's weights of the values, eᵢ the residuals, and hᵢ the leverages
    /// (MacKinnon & White 1985; Long & Ervin 2000). It is close to the jackknife, and cautious: with hᵢ to the first power (HC2)
    /// it would be unbiased if all values vary equally, and in blocks of m smaller by a factor of √(m/(m − 1)) at least, √2 for
    /// pairs.
    ///
    /// Of 10 000 simulated studies (normal noise, thrice as large at one level; seed 178), the 95 % intervals held the truth in
    /// .974 (half fraction of 2⁴ in 5 blocks), .973 (10 blocks), .992 (10 pairs).
    fn variance(&self, shares: &[f64]) -> Result<f64, Gap> {
        let negligible = ALONE * largest(shares);
        let mut variance = 0.0;
        for ((a, e), freedom) in shares.iter().zip(&self.residuals).zip(&self.freedom) {
            // An observation without influence, such as one alone in its block, says nothing about the error either.
            if a.abs() > negligible {
                if *freedom < ALONE {
                    return Err(Gap::NoError);
                }
                variance += (a * e).powi(2) / freedom.powi(2);
            }
        }
        Ok(variance)
    }
}

/// The places of each block's members.
fn members(blocks: &[usize]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, block) in blocks.iter().enumerate() {
        members.entry(*block).or_default().push(place);
    }
    members.into_values().collect()
}

/// The values minus their block's mean; twice, since the mean of large values is rounded.
fn centred(blocks: &[Vec<usize>], values: &[f64]) -> Vec<f64> {
    let mut centred = values.to_vec();
    for block in blocks.iter().chain(blocks) {
        let mean = mean(&block.iter().map(|i| centred[*i]).collect::<Vec<_>>());
        block.iter().for_each(|i| centred[*i] -= mean);
    }
    centred
}

/// A column centred and brought to length 1, with the length it had; zeros and 0 if it is constant in every block.
fn unit_column(blocks: &[Vec<usize>], column: &[f64]) -> (f64, Vec<f64>) {
    let mut unit = centred(blocks, column);
    let size = largest(&unit);
    if size <= CONSTANT * largest(column) {
        return (0.0, vec![0.0; column.len()]);
    }
    unit.iter_mut().for_each(|x| *x /= size);
    let length = norm(&unit);
    unit.iter_mut().for_each(|x| *x /= length);
    (length * size, unit)
}

/// The largest magnitude; 0 of nothing.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, x| x.abs().max(largest))
}
