//! Power: how probable it is that a study of n blocks shows a difference, or an equivalence; how many blocks it takes, and
//! what could have been seen. Planning aids for contrasts that are normally distributed; nothing is concluded from them.
//! The sign-flip test has nearly the power of Student's t there (and more than that where single contrasts are far out,
//! if the sd is a robust one), and never less blocks than [`super::blocks::least`].
//!
//! With t the critical value of n − 1 degrees of freedom, δ the true difference and σ the sd of the contrasts,
//!
//! - difference: P(|T| > t) for T noncentral with noncentrality δ√n/σ (Student's t as R's `power.t.test(strict = TRUE)`);
//! - equivalence, both one-sided tests at once: P(−m + tS/√n < X̄ < m − tS/√n) (Phillips 1990).
//!
//! Both are normal probabilities given S, integrated over S/σ, which is √(χ²/(n−1)).

use super::quadrature::GaussLegendre;
use super::student::t_quantile;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;
use std::sync::LazyLock;

/// Beyond this many blocks a number is of no use to anyone.
const BLOCKS_MAX: u32 = 1_000_000;

/// The rule for each piece of an integral. To find its nodes takes far longer than an integral.
static RULE: LazyLock<GaussLegendre> = LazyLock::new(|| GaussLegendre::new(48));

/// Standard deviations beyond which there is nothing.
const FAR: f64 = 9.0;

/// The probability that |T| > `critical`, for Student's noncentral t. NaN unless all are finite and the degrees of freedom
/// positive. Either sign of noncentrality gives the same. Absolute error about 10⁻⁹.
fn two_sided_t(critical: f64, degrees_of_freedom: f64, noncentrality: f64) -> f64 {
    let normal = Normal::standard();
    let of = |s: f64| normal.sf(critical * s - noncentrality) + normal.cdf(-critical * s - noncentrality);
    over_spread(degrees_of_freedom, [noncentrality.abs() / critical, 1.0 / critical], of)
}

/// The mean of `f` over S/σ. `turn` is where `f` turns from its one value to the other, and how fast.
fn over_spread(degrees_of_freedom: f64, turn: [f64; 2], f: impl Fn(f64) -> f64) -> f64 {
    let nu = degrees_of_freedom;
    if !(nu > 0.0 && nu.is_finite() && turn.iter().all(|x| x.is_finite())) {
        return f64::NAN;
    }
    // The density of √(χ²/ν).
    let constant = (nu / 2.0) * (nu / 2.0).ln() + std::f64::consts::LN_2 - ln_gamma(nu / 2.0);
    let density = |s: f64| if s > 0.0 { (constant + (nu - 1.0) * s.ln() - nu * s * s / 2.0).exp() } else { 0.0 };
    let sd = (0.5 / nu).sqrt();
    let (low, high) = ((1.0 - FAR * sd).max(0.0), 1.0 + FAR * sd);
    let [place, width] = turn;
    let mut pieces = [low, place - FAR * width, place, place + FAR * width, 1.0, high].map(|s| s.clamp(low, high));
    pieces.sort_by(f64::total_cmp);
    pieces.windows(2).map(|piece| RULE.integral(piece[0], piece[1], |s| density(s) * f(s))).sum()
}

/// What a study is planned for: how its contrasts spread, and how sure it wants to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// Standard deviation of the contrasts, from block to block.
    pub sd: f64,
    /// Two-sided level of the test for a difference; level of each one-sided test for equivalence.
    pub alpha: f64,
}

impl Design {
    /// The probability of showing a true difference with `n` blocks. None for fewer than two, or if something is not
    /// finite or not positive that must be.
    pub fn of_difference(self, difference: f64, n: u32) -> Option<f64> {
        let nu = self.degrees_of_freedom(n)?;
        let critical = t_quantile(1.0 - self.alpha / 2.0, nu)?;
        number(two_sided_t(critical, nu, difference * f64::from(n).sqrt() / self.sd))
    }

    /// The probability of showing equivalence within ± `half_width` with `n` blocks, where the true difference is
    /// `difference`. None as above.
    pub fn of_equivalence(self, half_width: f64, difference: f64, n: u32) -> Option<f64> {
        let nu = self.degrees_of_freedom(n)?;
        let critical = t_quantile(1.0 - self.alpha, nu)?;
        let normal = Normal::standard();
        let scale = f64::from(n).sqrt() / self.sd;
        let (below, above) = ((half_width + difference) * scale, (half_width - difference) * scale);
        let of = |s: f64| (normal.cdf(above - critical * s) - normal.cdf(critical * s - below)).max(0.0);
        // It is 0 from s = half-width/critical on, with a kink there.
        let kink = half_width * scale / critical;
        number(over_spread(nu, [kink, 1.0 / critical], of))
    }

    /// The least number of blocks that shows a true difference with this power; [`super::blocks::least`] not considered.
    /// None beyond [`BLOCKS_MAX`].
    pub fn blocks_for_difference(self, difference: f64, power: f64) -> Option<u32> {
        self.smallest(difference.abs(), [1.0 - self.alpha / 2.0, power], |n| self.of_difference(difference, n), power)
    }

    /// The least number of blocks that shows equivalence within ± `half_width` with this power. None beyond
    /// [`BLOCKS_MAX`], as it is where the true difference is not within.
    pub fn blocks_for_equivalence(self, half_width: f64, difference: f64, power: f64) -> Option<u32> {
        let room = half_width - difference.abs();
        self.smallest(room, [1.0 - self.alpha, power], |n| self.of_equivalence(half_width, difference, n), power)
    }

    /// The smallest true difference that a study of `n` blocks shows with this power. None as for
    /// [`Self::of_difference`], and unless alpha < power < 1.
    pub fn detectable(self, n: u32, power: f64) -> Option<f64> {
        let nu = self.degrees_of_freedom(n).filter(|_| self.alpha < power && power < 1.0)?;
        let critical = t_quantile(1.0 - self.alpha / 2.0, nu)?;
        let normal = Normal::standard();
        // On the normal scale, where power is nearly straight, with the slope that is nearly its own: T is about normal with
        // variance 1 + t²/2ν (Johnson & Welch 1940).
        let aim = normal.inverse_cdf(power);
        let slope = (1.0 + critical * critical / (2.0 * nu)).sqrt();
        let mut noncentrality = (critical + aim).max(0.1);
        for _ in 0..50 {
            let off = normal.inverse_cdf(two_sided_t(critical, nu, noncentrality).clamp(1e-15, 1.0 - 1e-15)) - aim;
            let next = (noncentrality - off * slope).max(noncentrality / 2.0);
            let close = (next - noncentrality).abs() < 1e-9 * next;
            noncentrality = next;
            if close {
                break;
            }
        }
        number(noncentrality * self.sd / f64::from(n).sqrt())
    }

    /// n − 1, if there are two blocks and the spread and level make sense.
    fn degrees_of_freedom(self, n: u32) -> Option<f64> {
        let sensible = n >= 2 && self.sd > 0.0 && self.sd.is_finite() && self.alpha > 0.0 && self.alpha < 1.0;
        sensible.then(|| f64::from(n) - 1.0)
    }

    /// The smallest n ≥ 2 with enough power, which is 2 where nothing spreads; `distance` and the normal quantiles of `probabilities` tell where to begin.
    fn smallest(
        self,
        distance: f64,
        probabilities: [f64; 2],
        power_of: impl Fn(u32) -> Option<f64>,
        power: f64,
    ) -> Option<u32> {
        if !(distance > 0.0 && self.alpha > 0.0 && self.alpha < 1.0 && 0.0 < power && power < 1.0) {
            return None;
        }
        if self.sd == 0.0 {
            return Some(2);
        }
        let normal = Normal::standard();
        let [test, aim] = probabilities.map(|p| normal.inverse_cdf(p));
        let begin = ((test + aim).max(0.0) * self.sd / distance).powi(2);
        if begin.is_nan() || begin > f64::from(BLOCKS_MAX) {
            return None;
        }
        let enough = |n: u32| power_of(n).map(|found| found >= power);
        // Upwards in growing steps until there is power enough, then the least by halving; power grows with n.
        let (mut low, mut high, mut step) = (1, (begin as u32).max(2), 1);
        while !enough(high)? {
            if high >= BLOCKS_MAX {
                return None;
            }
            (low, high, step) = (high, (high + step).min(BLOCKS_MAX), 2 * step);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if enough(middle)? { high = middle } else { low = middle }
        }
        Some(high)
    }
}

fn number(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// The upper bound, of this confidence, of the true sd, where `n` normally distributed contrasts have the sd `sd`:
/// sd · √((n − 1)/χ²), χ² the (1 − confidence) quantile (Browne 1995, for planning from a pilot). None for fewer than two.
pub fn sd_upper(sd: f64, n: u32, confidence: f64) -> Option<f64> {
    let nu = f64::from(n.checked_sub(1)?);
    let sensible = 0.0 < confidence && confidence < 1.0;
    let chi_squared = ChiSquared::new(nu).ok().filter(|_| sensible)?.inverse_cdf(1.0 - confidence);
    number(sd * (nu / chi_squared).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification: rows are sd, columns differences; blocks for 80 % and 95 %, then equivalence within
    /// 1 % (80 %).
    #[test]
    fn blocks_to_see_a_difference() {
        let differences: [f64; 4] = [0.005, 0.01, 0.02, 0.05];
        let table = [
            (0.005, [[10, 16], [5, 6], [3, 5], [3, 3]], 4),
            (0.01, [[34, 55], [11, 16], [5, 6], [4, 4]], 11),
            (0.02, [[129, 211], [34, 55], [11, 16], [4, 5]], 36),
            (0.05, [[791, 1308], [201, 331], [52, 85], [11, 16]], 218),
        ];
        for (sd, row, equivalent) in table {
            let design = Design { sd, alpha: 0.05 };
            for (difference, expect) in differences.iter().zip(row) {
                let found =
                    [0.8, 0.95].map(|power| design.blocks_for_difference(difference.ln_1p(), power).unwrap_or(0));
                let close = found.iter().zip(expect).all(|(found, expect)| found.abs_diff(expect) <= 1);
                assert!(close, "sd {sd}, {difference}: {found:?}, not {expect:?}");
            }
            let found = design.blocks_for_equivalence(0.01f64.ln_1p(), 0.0, 0.8).unwrap_or(0);
            assert!(found.abs_diff(equivalent) <= 1, "sd {sd}: {found}, not {equivalent}");
        }
    }

    #[test]
    fn detectable_is_what_has_that_power() {
        let check = |sd, alpha, n, power| {
            let design = Design { sd, alpha };
            let difference = design.detectable(n, power).unwrap_or(f64::NAN);
            let found = design.of_difference(difference, n).unwrap_or(f64::NAN);
            assert!((found - power).abs() < 1e-7, "{design:?}, {n}: {difference} has {found}, not {power}");
        };
        for n in [2, 3, 6, 12, 40, 1000, BLOCKS_MAX] {
            for alpha in [0.05, 0.01, 1e-6] {
                for power in [0.3, 0.8, 0.99] {
                    check(0.02, alpha, n, power);
                }
            }
        }
    }

    #[test]
    fn blocks_are_the_least_that_suffice() {
        for sd in [0.003, 0.02, 0.4] {
            let design = Design { sd, alpha: 0.01 };
            for difference in [0.004, 0.02, 0.3] {
                let n = design.blocks_for_difference(difference, 0.9).unwrap_or(0);
                let power = |n| design.of_difference(difference, n).unwrap_or(0.0);
                assert!(power(n) >= 0.9 && (n == 2 || power(n - 1) < 0.9), "{sd} {difference}: {n}");
            }
        }
    }

    #[test]
    fn what_cannot_be_planned() {
        let none = |design: Design| {
            assert_eq!(design.blocks_for_difference(0.01, 0.8), None, "{design:?}");
            assert_eq!(design.of_difference(0.01, 10), None, "{design:?}");
            assert_eq!(design.detectable(10, 0.8), None, "{design:?}");
        };
        for sd in [f64::NAN, f64::INFINITY, -1.0] {
            none(Design { sd, alpha: 0.05 });
        }
        for alpha in [0.0, 1.0, f64::NAN] {
            none(Design { sd: 0.01, alpha });
        }
        let design = Design { sd: 0.01, alpha: 0.05 };
        assert_eq!(design.blocks_for_difference(0.0, 0.8), None);
        assert_eq!(design.blocks_for_difference(1e-9, 0.8), None, "too many");
        assert_eq!(design.blocks_for_difference(f64::NAN, 0.8), None);
        assert_eq!(design.blocks_for_difference(1e300, 0.8), Some(2));
        assert_eq!(design.blocks_for_equivalence(0.01, 0.01, 0.8), None, "at the margin");
        assert_eq!(design.of_difference(0.01, 1), None);
        assert_eq!(design.detectable(1, 0.8), None);
        assert_eq!(design.detectable(10, 0.01), None, "less than the level");
        let certain = Design { sd: 0.0, alpha: 0.05 };
        assert_eq!(certain.blocks_for_difference(0.01, 0.8), Some(2));
        assert_eq!(certain.of_difference(0.01, 10), None);
        assert_eq!(sd_upper(1.0, 1, 0.8), None);
        assert_eq!(sd_upper(1.0, 0, 0.8), None);
        assert_eq!(sd_upper(1.0, 6, 1.0), None);
    }
}
