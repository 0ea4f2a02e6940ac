//! Student's t, looked at after every block: the evidence against "the mean is 0" and a confidence sequence, for contrasts
//! that are normally distributed. It is the peer that the bet of [`super::eprocess`] is measured against; it loses its
//! power where single contrasts are far out, and no verdict is based on it.
//!
//! The size mean/sd gets a normal prior with variance τ² = 1, and the scale the invariant one. With ν = n − 1,
//! t² = n x̄²/s² and r = 1 + n τ²,
//!
//! BFₙ = r^(−1/2) · [(1 + t²/ν) / (1 + t²/(ν r))]^((ν + 1)/2)
//!
//! (Jeffreys 1961; that it may be stopped at any time: Lai 1976, Wang & Ramdas 2023, arXiv 2310.03722). BFₙ < 1/α is the
//! same as |x̄| < s/√n · √(ν (c − 1)/(1 − c/r)) with c = (√r/α)^(2/(ν + 1)).

use super::describe::{mean, sd};

/// Variance of the prior of mean/sd.
const TAU_SQUARED: f64 = 1.0;

/// The evidence against "the mean is 0", as of now; it begins at 1. None if a contrast is not finite.
pub fn evidence(contrasts: &[f64]) -> Option<f64> {
    if contrasts.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let Some(sd) = sd(contrasts) else { return Some(1.0) };
    let (n, mean) = (contrasts.len() as f64, mean(contrasts));
    let (nu, r) = (n - 1.0, 1.0 + n * TAU_SQUARED);
    // t²/ν; where nothing varies it is infinite, and the quotient tends to r.
    let size = n * (mean / sd).powi(2) / nu;
    let quotient = match (mean == 0.0, size.is_finite()) {
        (true, _) => 1.0,
        (false, true) => (1.0 + size) / (1.0 + size / r),
        (false, false) => r,
    };
    let evidence = ((nu + 1.0) / 2.0 * quotient.ln() - r.ln() / 2.0).exp();
    (!evidence.is_nan()).then_some(evidence)
}

/// The confidence sequence for the mean at this moment, of confidence 1 − alpha over all moments. None if it is unbounded,
/// as it is for few contrasts, and unless 0 < alpha < 1.
pub fn interval(contrasts: &[f64], alpha: f64) -> Option<[f64; 2]> {
    let sd = sd(contrasts).filter(|sd| sd.is_finite())?;
    let (n, mean) = (contrasts.len() as f64, mean(contrasts));
    let (nu, r) = (n - 1.0, 1.0 + n * TAU_SQUARED);
    let c = (2.0 / (nu + 1.0) * (r.sqrt() / alpha).ln()).exp();
    let bounded = 0.0 < alpha && alpha < 1.0 && c < r && mean.is_finite();
    let half = sd / n.sqrt() * (nu * (c - 1.0) / (1.0 - c / r)).sqrt();
    bounded.then_some([mean - half, mean + half])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_reaches_one_in_alpha_where_the_interval_ends() {
        let contrasts = [0.01, 0.03, 0.02, 0.05, -0.01, 0.02, 0.04];
        let Some([low, high]) = interval(&contrasts, 0.05) else { panic!("no interval") };
        for end in [low, high] {
            let shifted = contrasts.map(|x| x - end);
            assert!(
                evidence(&shifted).is_some_and(|e| (e / 20.0 - 1.0).abs() < 1e-9),
                "{end}: {:?}",
                evidence(&shifted)
            );
        }
    }

    #[test]
    fn few_and_extreme_contrasts() {
        assert_eq!(evidence(&[]), Some(1.0));
        assert_eq!(evidence(&[5.0]), Some(1.0));
        assert!(evidence(&[0.0, 0.0]).is_some_and(|e| (e * 3f64.sqrt() - 1.0).abs() < 1e-12));
        assert_eq!(evidence(&[f64::NAN, 1.0]), None);
        // Without variation the quotient is r, so the evidence is r^(ν/2).
        assert!(evidence(&[2.0; 9]).is_some_and(|e| (e / 10f64.powi(4) - 1.0).abs() < 1e-9));
        assert_eq!(interval(&[], 0.05), None);
        assert_eq!(interval(&[1.0, 2.0], 0.05), None, "unbounded");
        assert_eq!(interval(&[1.0; 20], 0.05), Some([1.0, 1.0]));
        assert_eq!(interval(&[1.0; 20], 1.5), None);
        assert_eq!(interval(&[f64::INFINITY, 1.0, 2.0], 0.05), None);
    }
}
