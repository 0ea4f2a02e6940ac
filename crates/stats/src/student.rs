//! Intervals and tests by Student's t, for what the sign-flip test does not give: three to five blocks, and means.
//! They assume normally distributed contrasts; the report says so.

use super::describe::{mean, sd};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// From this many degrees of freedom on, the quantile has a short formula that is right to nine digits and more. The library's own
/// loses digits (at 100,000 it has six), and for many more it does not end.
const FREEDOM_MANY: f64 = 1e3;

/// Here the distribution is the normal one, to all digits that matter.
const FREEDOM_MOST: f64 = 1e9;

/// The quantile of Student's t; none unless 0 < `probability` < 1 and `degrees_of_freedom` > 0.
///
/// From 1000 degrees of freedom ν on it is z + (z³ + z)/4ν + (5z⁵ + 16z³ + 3z)/96ν² + (3z⁷ + 19z⁵ + 17z³ − 15z)/384ν³
/// (Fisher & Cornish 1960).
pub fn t_quantile(probability: f64, degrees_of_freedom: f64) -> Option<f64> {
    if !(0.0 < probability && probability < 1.0) || degrees_of_freedom.is_nan() || degrees_of_freedom <= 0.0 {
        return None;
    }
    if degrees_of_freedom < FREEDOM_MANY {
        return StudentsT::new(0.0, 1.0, degrees_of_freedom).ok().map(|t| t.inverse_cdf(probability));
    }
    let z = Normal::standard().inverse_cdf(probability);
    let nu = degrees_of_freedom;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * nu * nu);
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * nu.powi(3));
    Some(z + (z.powi(3) + z) / (4.0 * nu) + second + third)
}

/// Two-sided p of a value of Student's t; 0 for an infinite one. None for what is not a number.
pub fn two_sided_p(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    if t.is_nan() || degrees_of_freedom.is_nan() {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom.min(FREEDOM_MOST)).ok()?;
    Some(if t.is_finite() { 2.0 * student.sf(t.abs()) } else { 0.0 })
}

/// Two-sided p of the hypothesis that what is estimated is 0. Without variation it is 0 or 1.
pub(super) fn p_of_zero(estimate: f64, standard_error: f64, degrees_of_freedom: f64) -> Option<f64> {
    match (estimate, standard_error) {
        (0.0, _) => Some(1.0),
        (_, 0.0) => Some(0.0),
        _ => two_sided_p(estimate / standard_error, degrees_of_freedom),
    }
}

/// The mean of some contrasts and how well it is known (Student 1908).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanT {
    mean: f64,
    standard_error: f64,
    degrees_of_freedom: f64,
}

impl MeanT {
    /// None for fewer than two contrasts.
    pub fn new(contrasts: &[f64]) -> Option<Self> {
        let n = contrasts.len() as f64;
        let standard_error = sd(contrasts)? / n.sqrt();
        Some(Self { mean: mean(contrasts), standard_error, degrees_of_freedom: n - 1.0 })
    }

    /// Interval of confidence 1 − alpha: mean ± t(1 − alpha/2, n − 1) · s/√n.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let half = t_quantile(1.0 - alpha / 2.0, self.degrees_of_freedom)? * self.standard_error;
        Some([self.mean - half, self.mean + half])
    }

    /// Two-sided p of the hypothesis that the mean is 0. Without variation it is 0 or 1.
    pub fn p(&self) -> Option<f64> {
        p_of_zero(self.mean, self.standard_error, self.degrees_of_freedom)
    }
}

/// The interval of confidence 1 − alpha for the ratio mean(numerators) ÷ mean(denominators) of paired values: all ρ
/// with (ȳ − ρx̄)² ≤ t² (s_yy − 2ρ s_xy + ρ² s_xx)/n (Fieller 1954). None for fewer than two pairs, and none if it is
/// unbounded, which it is if the denominator's mean does not differ from 0 at `alpha`.
pub fn fieller_interval(numerators: &[f64], denominators: &[f64], alpha: f64) -> Option<[f64; 2]> {
    let n = numerators.len().min(denominators.len());
    let (y, x) = (&numerators[..n], &denominators[..n]);
    let (y_mean, x_mean) = (mean(y), mean(x));
    let covariance = |a: &[f64], a_mean: f64, b: &[f64], b_mean: f64| {
        a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean)).sum::<f64>() / (n as f64 - 1.0)
    };
    let t = t_quantile(1.0 - alpha / 2.0, n as f64 - 1.0)?;
    let weight = t * t / n as f64;
    // The roots of a ρ² − 2b ρ + c.
    let a = x_mean * x_mean - weight * covariance(x, x_mean, x, x_mean);
    let b = x_mean * y_mean - weight * covariance(x, x_mean, y, y_mean);
    let c = y_mean * y_mean - weight * covariance(y, y_mean, y, y_mean);
    if a.is_nan() || a <= 0.0 {
        return None;
    }
    // The ratio of the means always satisfies the inequality, so a negative discriminant is a rounding error.
    let half = (b * b - a * c).max(0.0).sqrt();
    Some([(b - half) / a, (b + half) / a])
}
