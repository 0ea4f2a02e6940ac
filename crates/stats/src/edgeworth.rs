//! The chance that a randomly signed sum is large, for more numbers than counting or drawing can deal with: the
//! normal distribution, corrected for its tails and for coarse values. It approximates what [`super::subsets`] counts.

use statrs::distribution::{ContinuousCDF, Normal};

/// Moments of Σ sᵢ aᵢ with fair random signs, from the magnitudes aᵢ ≥ 0 in ascending order.
#[derive(Debug, Clone, Copy)]
pub(super) struct SignedSum {
    sd: f64,
    /// Standardised fourth and sixth cumulants; the odd ones are 0.
    k4: f64,
    k6: f64,
    /// The largest number of which all magnitudes are whole multiples, so half of the distance between neighbouring
    /// sums; next to nothing unless the values are coarse.
    half_step: f64,
}

impl SignedSum {
    pub(super) fn of(ascending: &[f64]) -> Self {
        // The largest, which is the clipping, scales: so no power overflows.
        let top = ascending.last().copied().unwrap_or(0.0);
        let (mut m2, mut m4, mut m6) = (0.0, 0.0, 0.0);
        let (mut step, mut incommensurable) = (0.0, false);
        for a in ascending {
            let square = (a / top).powi(2);
            m2 += square;
            m4 += square * square;
            m6 += square * square * square;
            // Once there is no common divisor, there is none.
            if !incommensurable {
                step = common_divisor(step, *a, 1e-6 * top);
                incommensurable = step <= 1e-5 * top && step > 0.0;
            }
        }
        // The cumulants of a fair sign are 1, 0, −2, 0, 16.
        Self { sd: top * m2.sqrt(), k4: -2.0 * m4 / m2.powi(2), k6: 16.0 * m6 / m2.powi(3), half_step: step }
    }

    /// P(|Σ| ≥ `total`), by Edgeworth's series to the second order (Feller 1971, XVI.4):
    /// P(Σ > xσ) = 1 − Φ(x) + φ(x) (κ₄ He₃(x)/24 + κ₆ He₅(x)/720 + κ₄² He₇(x)/1152), with Sheppard's half step.
    pub(super) fn at_least(&self, total: f64) -> f64 {
        let x = ((total - self.half_step) / self.sd).max(0.0);
        let normal = Normal::standard();
        let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let square = x * x;
        let he3 = x * (square - 3.0);
        let he5 = x * (square * (square - 10.0) + 15.0);
        let he7 = x * (square * (square * (square - 21.0) + 105.0) - 105.0);
        let correction = self.k4 / 24.0 * he3 + self.k6 / 720.0 * he5 + self.k4 * self.k4 / 1152.0 * he7;
        // Far out the series loses its footing; there the plain normal tail, which is too heavy, errs on the safe side.
        let tail = if x < 6.0 { normal.sf(x) + density * correction } else { normal.sf(x) };
        (2.0 * tail).clamp(0.0, 1.0)
    }
}

/// Euclid's algorithm; what is not above `nothing` is 0.
fn common_divisor(mut a: f64, mut b: f64, nothing: f64) -> f64 {
    while b > nothing {
        (a, b) = (b, a % b);
        // A remainder that is one rounding error short of the divisor is 0.
        if a - b <= nothing {
            b = 0.0;
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subsets::SubsetCounter;

    /// Against exact counts for as many numbers as can be counted; the error falls with their number.
    fn check(magnitudes: &[f64], relative: f64) {
        let total: f64 = magnitudes.iter().sum();
        for negated in 13..=17 {
            // A sum that can occur, as the observed one does.
            let lighter: f64 = magnitudes.iter().step_by(2).take(negated).sum();
            let part = 1.0 - 2.0 * lighter / total;
            let limit = lighter + 1e-12 * total;
            let exact =
                2.0 * SubsetCounter::default().at_most(magnitudes, limit) as f64 / 2f64.powi(magnitudes.len() as i32);
            let ours = SignedSum::of(magnitudes).at_least(part * total);
            assert!((ours - exact).abs() <= relative * exact + 1e-6, "{part}: {ours}, exactly {exact}");
        }
    }

    #[test]
    fn agrees_with_exact_counts_of_36() {
        let clipped: Vec<f64> = (1..=36).map(|i| f64::from(i).sqrt().min(5.1)).collect();
        check(&clipped, 0.003);
    }

    #[test]
    fn coarse_values_get_half_a_step() {
        let mut coarse: Vec<f64> = (0..36).map(|i| f64::from(i % 4)).collect();
        coarse.sort_by(f64::total_cmp);
        check(&coarse, 0.02);
        check(&[1.0; 36], 0.02);
    }

    #[test]
    fn limits() {
        let sum = SignedSum::of(&[1e300; 400]);
        assert_eq!(sum.at_least(0.0), 1.0);
        assert!(sum.at_least(4e302) < 1e-20);
        assert!((sum.at_least(1e300 * (1.0 + 1.959964 * 20.0)) - 0.05).abs() < 1e-3);
    }
}
