//! The sign-flip test of a plain mean (Fisher 1935, ch. 3), for comparison with the winsorised one. Exact only: for
//! more contrasts than can be counted it says nothing.

use super::subsets::SubsetCounter;

/// Up to this number of contrasts there is a p.
pub const EXACT_MAX: usize = 36;

/// Two-sided p of the hypothesis that the contrasts are symmetric about `theta`:
/// 2⁻ⁿ · #{signs s: |Σ sᵢ|xᵢ − θ|| ≥ |Σ (xᵢ − θ)|}. None for no contrasts, more than [`EXACT_MAX`], or if a sum overflows.
pub fn mean_p(contrasts: &[f64], theta: f64) -> Option<f64> {
    let mut sizes: Vec<f64> = contrasts.iter().map(|x| (x - theta).abs()).collect();
    let total: f64 = sizes.iter().sum();
    if contrasts.is_empty() || contrasts.len() > EXACT_MAX || !(4.0 * total).is_finite() {
        return None;
    }
    sizes.sort_by(f64::total_cmp);
    let above: f64 = contrasts.iter().map(|x| (x - theta).max(0.0)).sum();
    // Sums of a different order that are equal must count as equal.
    let limit = above.min(total - above) + 1e-12 * total;
    let patterns = 2f64.powi(contrasts.len() as i32 - 1);
    Some((SubsetCounter::default().at_most(&sizes, limit) as f64 / patterns).min(1.0))
}
