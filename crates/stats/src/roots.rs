//! Where a function of one variable changes its sign, given a bracket: by interpolation, truncation and projection. It
//! needs no derivative and no continuity, and never many more steps than bisection.

/// Some 2,100 halvings distinguish all floating-point numbers; more steps than twice that find nothing.
const STEPS_MAX: i32 = 4200;

/// Narrows the bracket between `positive`, where the function is > 0, and `other`, where it is not, until it is no wider
/// than `tolerance`, and returns it: first where it is > 0, then where it is not. The two ends may lie either way round.
/// `values` are the function's at those two; a value that is 0 or not finite makes the next step a bisection.
///
/// The ITP method (Oliveira & Takahashi 2020), with κ₁ = 0.2/(b − a), κ₂ = 2 and n₀ = 1. Where a point is found at which
/// the function is exactly 0, both ends are that point.
pub(super) fn narrow(
    mut positive: f64,
    mut other: f64,
    values: [f64; 2],
    tolerance: f64,
    mut function: impl FnMut(f64) -> f64,
) -> [f64; 2] {
    let [mut at_positive, mut at_other] = values;
    let first = (other - positive).abs();
    let allowed = (first / tolerance).log2().ceil() + 1.0;
    let mut step = 0;
    while (other - positive).abs() > tolerance && step < STEPS_MAX {
        let middle = positive + (other - positive) / 2.0;
        let half = (other - positive).abs() / 2.0;
        let slack = (tolerance / 2.0 * 2f64.powf(allowed - f64::from(step)) - half).max(0.0);
        let secant = positive + (other - positive) * (at_positive / (at_positive - at_other));
        let usable = at_positive.is_finite() && at_other.is_finite() && at_other < 0.0 && secant.is_finite();
        let next = if usable { project(secant, middle, 0.2 * (2.0 * half).powi(2) / first, slack) } else { middle };
        let between = (next - positive) * (other - next) > 0.0;
        let next = if between { next } else { middle };
        if next == positive || next == other {
            break;
        }
        let value = function(next);
        if value == 0.0 {
            return [next, next];
        }
        if value > 0.0 {
            (positive, at_positive) = (next, value)
        } else {
            (other, at_other) = (next, value)
        }
        step += 1;
    }
    [positive, other]
}

/// The secant's point, moved towards the middle by `truncation`, and no further from the middle than `slack`.
fn project(secant: f64, middle: f64, truncation: f64, slack: f64) -> f64 {
    let towards = (middle - secant).signum();
    let truncated = if truncation <= (middle - secant).abs() { secant + towards * truncation } else { middle };
    if (truncated - middle).abs() <= slack { truncated } else { middle - towards * slack }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(positive: f64, other: f64, tolerance: f64, root: f64, most: u32, function: impl Fn(f64) -> f64) {
        let mut calls = 0;
        let values = [function(positive), function(other)];
        let [inside, outside] = narrow(positive, other, values, tolerance, |x| {
            calls += 1;
            function(x)
        });
        assert!((outside - inside).abs() <= tolerance, "{inside} {outside}");
        assert!((inside - root).abs() <= tolerance, "{inside}, not {root}");
        assert!(calls <= most, "{calls} calls");
    }

    #[test]
    fn smooth_functions_take_few_steps() {
        check(2.0, 0.0, 1e-12, 2f64.ln(), 12, |x: f64| x.exp() - 2.0);
        check(0.0, 2.0, 1e-12, 2f64.ln(), 12, |x: f64| 2.0 - x.exp());
        check(-1.0, 8.0, 1e-9, 3.0, 15, |x: f64| 3.0 - x);
    }

    #[test]
    fn steps_take_no_more_than_two_beyond_bisection() {
        check(0.0, 1.0, 1e-9, 0.3, 33, |x: f64| if x < 0.3 { 1.0 } else { -1e-9 });
        check(0.0, 1.0, 1e-9, 0.3, 33, |x: f64| if x < 0.3 { f64::INFINITY } else { f64::NAN });
    }

    #[test]
    fn a_root_that_is_hit_is_both_ends() {
        assert_eq!(narrow(0.0, 2.0, [1.0, -1.0], 1e-9, |x| 1.0 - x), [1.0, 1.0]);
        assert_eq!(narrow(5.0, 5.0, [1.0, 1.0], 1e-9, |_| 1.0), [5.0, 5.0]);
    }
}
