//! Welch's t for two unpaired lists. It assumes independent, normally distributed values, and that nothing drifted while
//! they were measured; the report says so. Not for blocks, whose pairing it wastes.

use super::describe::{mean, sd};
use super::student::two_sided_p;

/// Two-sided p of equal means, where chance is involved at all: with v = s²/n, t = (x̄ − ȳ)/√(v_x + v_y) has
/// (v_x + v_y)²/(v_x²/(m − 1) + v_y²/(n − 1)) degrees of freedom (Welch 1947; Satterthwaite 1946). None for fewer than two
/// values in either list, if neither varies, and for what is not finite.
pub fn welch_p(x: &[f64], y: &[f64]) -> Option<f64> {
    let (m, n) = (x.len() as f64, y.len() as f64);
    let (x_error, y_error) = (sd(x)? / m.sqrt(), sd(y)? / n.sqrt());
    let (difference, standard_error) = (mean(x) - mean(y), x_error.hypot(y_error));
    // As parts of the whole, so that very large and very small values neither overflow nor vanish.
    let part = |error: f64| (error / standard_error).powi(4);
    let degrees_of_freedom = 1.0 / (part(x_error) / (m - 1.0) + part(y_error) / (n - 1.0));
    let finite = difference.is_finite() && standard_error.is_finite() && degrees_of_freedom.is_finite();
    if !finite || standard_error == 0.0 {
        return None;
    }
    if difference == 0.0 { Some(1.0) } else { two_sided_p(difference / standard_error, degrees_of_freedom) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_without_an_answer() {
        let check = |x: &[f64], y: &[f64]| assert_eq!(welch_p(x, y), None, "{x:?} {y:?}");
        check(&[], &[1.0, 2.0]);
        check(&[1.0], &[1.0, 2.0]);
        check(&[1.0, 1.0], &[2.0, 2.0]);
        check(&[f64::NAN, 1.0], &[2.0, 3.0]);
        assert_eq!(welch_p(&[1.0, 2.0], &[0.0, 3.0]), Some(1.0));
    }
}
