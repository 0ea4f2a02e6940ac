//! Student's t for two unpaired lists, pooled and after Welch. Both assume independent, normally distributed values, and
//! that nothing drifted while they were measured; whoever prints them says so. Not for blocks, whose pairing they waste.

use super::describe::{mean, sd};
use super::student::{t_quantile, two_sided_p};

/// The difference of two means, and how well it is known. Of values in their unit, or of logarithms: the caller's choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferenceT {
    /// mean(x) − mean(y).
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of t; after Welch rarely a whole number.
    pub degrees_of_freedom: f64,
}

impl DifferenceT {
    /// With one standard deviation for both lists: s² = ((m − 1)s_x² + (n − 1)s_y²)/(m + n − 2), standard error
    /// s·√(1/m + 1/n), m + n − 2 degrees of freedom (Student 1908; Fisher 1925). None for fewer than two values in
    /// either list, or for what is not finite.
    pub fn pooled(x: &[f64], y: &[f64]) -> Option<Self> {
        let (m, n) = (x.len() as f64, y.len() as f64);
        let (x_sd, y_sd) = (sd(x)?, sd(y)?);
        let degrees_of_freedom = m + n - 2.0;
        let variance = ((m - 1.0) * x_sd * x_sd + (n - 1.0) * y_sd * y_sd) / degrees_of_freedom;
        Self::finite(x, y, variance.sqrt() * (1.0 / m + 1.0 / n).sqrt(), degrees_of_freedom)
    }

    /// With a standard deviation for each list: v = s²/n, standard error √(v_x + v_y),
    /// (v_x + v_y)²/(v_x²/(m − 1) + v_y²/(n − 1)) degrees of freedom (Welch 1947; Satterthwaite 1946). None for fewer
    /// than two values in either list, or for what is not finite.
    pub fn welch(x: &[f64], y: &[f64]) -> Option<Self> {
        let (m, n) = (x.len() as f64, y.len() as f64);
        let (x_error, y_error) = (sd(x)? / m.sqrt(), sd(y)? / n.sqrt());
        let standard_error = x_error.hypot(y_error);
        // As parts of the whole, so that very large and very small values neither overflow nor vanish.
        let part = |error: f64| if standard_error > 0.0 { (error / standard_error).powi(4) } else { 0.5 };
        let degrees_of_freedom = 1.0 / (part(x_error) / (m - 1.0) + part(y_error) / (n - 1.0));
        Self::finite(x, y, standard_error, degrees_of_freedom)
    }

    fn finite(x: &[f64], y: &[f64], standard_error: f64, degrees_of_freedom: f64) -> Option<Self> {
        let difference = mean(x) - mean(y);
        let finite = difference.is_finite() && standard_error.is_finite() && degrees_of_freedom.is_finite();
        finite.then_some(Self { difference, standard_error, degrees_of_freedom })
    }

    /// Interval of confidence 1 − alpha: difference ± t(1 − alpha/2) · standard error.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let half = t_quantile(1.0 - alpha / 2.0, self.degrees_of_freedom)? * self.standard_error;
        Some([self.difference - half, self.difference + half])
    }

    /// Two-sided p of the hypothesis that both means are equal. Without variation it is 0 or 1.
    pub fn p(&self) -> Option<f64> {
        if self.difference == 0.0 {
            return Some(1.0);
        }
        if self.standard_error == 0.0 {
            return Some(0.0);
        }
        two_sided_p(self.difference / self.standard_error, self.degrees_of_freedom)
    }
}

/// Two-sided p of equal means after Welch, where chance is involved at all: none if neither list varies.
pub fn welch_p(x: &[f64], y: &[f64]) -> Option<f64> {
    DifferenceT::welch(x, y).filter(|difference| difference.standard_error > 0.0)?.p()
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
        assert_eq!(DifferenceT::welch(&[1.0, 1.0], &[2.0, 2.0]).and_then(|d| d.p()), Some(0.0));
        assert_eq!(DifferenceT::pooled(&[1.0, 1.0], &[1.0, 1.0]).and_then(|d| d.p()), Some(1.0));
    }
}
