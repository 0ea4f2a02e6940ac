//! Do two unpaired groups of contrasts have the same mean? Welch's t, for the diagnostics: inside a block contrasts are
//! paired already, and the question is whether they depend on something else. It compares no variants.

use super::describe::{mean, sd};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two-sided p of equal means (Welch 1947): t = (ā − b̄)/√(u + v) with u = s²/n of either group and, for the degrees of
/// freedom, (u + v)² / (u²/(n₁−1) + v²/(n₂−1)) (Satterthwaite 1946). None if a group has fewer than two values, and if
/// neither varies.
pub fn welch_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let (u, v) = (sd(a)?.powi(2) / a.len() as f64, sd(b)?.powi(2) / b.len() as f64);
    let square = (u + v).powi(2);
    let degrees = square / (u * u / (a.len() as f64 - 1.0) + v * v / (b.len() as f64 - 1.0));
    let t = (mean(a) - mean(b)) / (u + v).sqrt();
    let student = StudentsT::new(0.0, 1.0, degrees).ok()?;
    t.is_finite().then(|| 2.0 * student.sf(t.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_an_answer() {
        let check = |a: &[f64], b: &[f64]| assert_eq!(welch_p(a, b), None, "{a:?} {b:?}");
        check(&[], &[1.0, 2.0]);
        check(&[1.0], &[1.0, 2.0]);
        check(&[1.0, 1.0], &[2.0, 2.0]);
        check(&[f64::NAN, 1.0], &[2.0, 3.0]);
        check(&[1e300, -1e300], &[2.0, 3.0]);
    }
}
