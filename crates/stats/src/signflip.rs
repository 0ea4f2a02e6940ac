//! The winsorised sign-flip test, "WSF": is the centre of these contrasts θ, which θ are not refuted, and which fits
//! best? It is a sign-flip test (Fisher 1935, ch. 3) of Huber's clipped residuals (Huber 1964). It is not a test of means,
//! and it takes no interest in what the contrasts are contrasts of.
//!
//! With d = x − θ and m(θ) = 1.5 · median |d| (of the |d| that are not 0, if that median is 0), ψ = clip(d, −m, m) and
//! T = |Σ ψ|. If the two labels of each block were put on at random and make no difference, every pattern of signs of
//! ψ was equally likely, and m is the same under all of them; so
//!
//! p(θ) = 2⁻ⁿ · number of the 2ⁿ patterns s with |Σ sᵢ|ψᵢ|| ≥ T
//!
//! is exact whatever the distribution and whatever the drift. The smallest possible p is 2^(1−n).
//!
//! Write M for the sum of |ψ| on the lighter side. Then the patterns to be counted are those whose negative, or whose
//! positive, part sums to at most M: p = 2 · #{subsets of |ψ| that sum to ≤ M} / 2ⁿ, which `subsets` counts
//! exactly up to [`EXACT_MAX`] contrasts, `flips` estimates up to [`MONTE_CARLO_MAX`], and `edgeworth` approximates
//! beyond. Sums of different order that are equal must count as equal, so M gets a tolerance of 10⁻¹² of Σ|ψ|, the size
//! by which rounding errors are scaled.

use super::edgeworth::SignedSum;
use super::flips::{DRAWS, Flips};
use super::roots::narrow;
use super::subsets::SubsetCounter;

/// Up to this number of contrasts, p is exact.
const EXACT_MAX: usize = 36;

/// Up to this number of contrasts, p is exact where there are thousands of tests.
const QUICK_MAX: usize = 24;

/// Up to this number of contrasts, p is (1 + hits) / (1 + 199 999 seeded random flips). Beyond, Edgeworth's series is
/// closer to the exact p than that many flips would be, and its cost does not keep anyone from a million blocks.
const MONTE_CARLO_MAX: usize = 256;

/// How p is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// Every pattern of signs is counted.
    Exact,
    /// Random patterns are drawn.
    MonteCarlo,
    /// The distribution of the signed sum is approximated by Edgeworth's series.
    Edgeworth,
}

/// A residual is clipped at this many median absolute residuals.
const CLIP: f64 = 1.5;

/// Sums that differ by less than this part of Σ|ψ| are equal.
const TIE: f64 = 1e-12;

/// How closely the ends of an interval are found, as a part of about their distance from the centre.
const PRECISION: f64 = 1e-9;

/// Where p is a Monte Carlo estimate, an end is found when p there is alpha, give or take this many standard errors of
/// such an estimate: more digits would be digits of chance.
const CLOSE_ENOUGH: f64 = 2.0;

/// An end is corrected this many times at most: each correction leaves about a hundredth of the error.
const CORRECTIONS: u32 = 8;

/// The test of one set of contrasts. It keeps its buffers from one hypothesis to the next: hence `&mut self`.
#[derive(Debug, Clone)]
pub struct SignFlip {
    ascending: Vec<f64>,
    /// |ψ| of the hypothesis at hand, ascending.
    magnitudes: Vec<f64>,
    counter: Counter,
}

#[derive(Debug, Clone)]
enum Counter {
    Exact(SubsetCounter),
    MonteCarlo(Flips),
    Edgeworth,
}

/// Σ|ψ| on either side of a hypothesis.
#[derive(Debug, Clone, Copy)]
struct Weights {
    below: f64,
    above: f64,
}

impl Weights {
    /// True if the two sides are as heavy as each other, but for rounding.
    fn balance(self) -> bool {
        (self.above - self.below).abs() <= TIE * (self.above + self.below)
    }
}

impl SignFlip {
    /// Takes contrasts in any order. None if there are none, or if one is not finite or so large that sums overflow.
    /// `seed` is for random flips; see [`Self::counting`].
    pub fn new(contrasts: &[f64], seed: u64) -> Option<Self> {
        let counter = |n: usize| match n {
            ..=EXACT_MAX => Counter::Exact(SubsetCounter::default()),
            n @ ..=MONTE_CARLO_MAX => Counter::MonteCarlo(Flips::draw(n, seed)),
            _ => Counter::Edgeworth,
        };
        Self::with(contrasts, counter)
    }

    /// The same for thousands of short sets, such as those of each machine of many: without random flips, and exact for as many
    /// contrasts as are counted in a moment. For more, the series is wrong by less than a hundredth of p.
    pub fn quick(contrasts: &[f64]) -> Option<Self> {
        let counter = |n| if n <= QUICK_MAX { Counter::Exact(SubsetCounter::default()) } else { Counter::Edgeworth };
        Self::with(contrasts, counter)
    }

    fn with(contrasts: &[f64], counter: impl Fn(usize) -> Counter) -> Option<Self> {
        let size: f64 = contrasts.iter().map(|x| x.abs()).sum();
        if contrasts.is_empty() || !(4.0 * size).is_finite() {
            return None;
        }
        let mut ascending = contrasts.to_vec();
        ascending.sort_by(f64::total_cmp);
        let counter = counter(contrasts.len());
        Some(Self { ascending, magnitudes: Vec::with_capacity(contrasts.len()), counter })
    }

    /// How p is found, which depends on the number of contrasts alone.
    pub fn counting(&self) -> Counting {
        match self.counter {
            Counter::Exact(_) => Counting::Exact,
            Counter::MonteCarlo(_) => Counting::MonteCarlo,
            Counter::Edgeworth => Counting::Edgeworth,
        }
    }

    /// The smallest p that these contrasts could have given, however large the effect.
    pub(super) fn smallest_p(&self) -> f64 {
        match self.counter {
            Counter::Exact(_) | Counter::Edgeworth => 2f64.powi(1 - self.ascending.len() as i32),
            Counter::MonteCarlo(_) => 1.0 / f64::from(DRAWS + 1),
        }
    }

    /// Two-sided p of the hypothesis that the contrasts are centred on `theta`.
    pub fn p(&mut self, theta: f64) -> f64 {
        self.p_by(theta, DRAWS)
    }

    /// The same by the first of the flips, where there are flips.
    fn p_by(&mut self, theta: f64, draws: u32) -> f64 {
        let weights = self.winsorise(theta);
        if weights.balance() {
            return 1.0;
        }
        let total = weights.below + weights.above;
        let limit = weights.below.min(weights.above) + TIE / 2.0 * total;
        let patterns = 2f64.powi(self.magnitudes.len() as i32 - 1);
        match &mut self.counter {
            Counter::Exact(subsets) => subsets.at_most(&self.magnitudes, limit) as f64 / patterns,
            Counter::MonteCarlo(flips) => {
                let hits = flips.among_the_first(draws, &self.magnitudes, limit, total);
                f64::from(1 + hits) / f64::from(1 + draws)
            }
            Counter::Edgeworth => self.series(weights),
        }
    }

    /// p, always by Edgeworth's series.
    fn p_by_series(&mut self, theta: f64) -> f64 {
        let weights = self.winsorise(theta);
        if weights.balance() { 1.0 } else { self.series(weights) }
    }

    /// p by Edgeworth's series, of the magnitudes at hand.
    fn series(&self, weights: Weights) -> f64 {
        let signed = SignedSum::of(&self.magnitudes);
        signed.at_least((weights.above - weights.below).abs()).max(self.smallest_p())
    }

    /// The centre: the root of Σ ψ(θ), between the extremes. It is between the median and the mean in spirit. Where
    /// Σ ψ jumps across 0, at a value that most contrasts share, it is that value.
    pub fn estimate(&self) -> f64 {
        let (low, high) = (self.ascending[0], self.ascending[self.ascending.len() - 1]);
        // Close to 0 floating-point numbers never end; what is this close to 0 is 0.
        let nonzero = self.ascending.iter().map(|x| x.abs()).filter(|x| *x > 0.0);
        let resolution = f64::EPSILON * nonzero.fold(f64::INFINITY, f64::min);
        let tilt = |theta| {
            let weights = self.weigh(theta, self.clip(theta));
            if weights.balance() { 0.0 } else { weights.above - weights.below }
        };
        let values = [tilt(low), tilt(high)];
        let [low, high] = narrow(low, high, values, resolution, tilt);
        let shared = self.ascending.iter().copied().find(|x| (low..=high).contains(x));
        shared.unwrap_or(low + (high - low) / 2.0)
    }

    /// The hull of all θ with p(θ) > `alpha`: an interval of confidence 1 − alpha for the centre. It lies between the
    /// smallest and the largest contrast. None if so few contrasts cannot refute anything at `alpha`.
    pub fn interval(&mut self, alpha: f64) -> Option<[f64; 2]> {
        if self.smallest_p() > alpha {
            return None;
        }
        let centre = self.estimate();
        let (smallest, largest) = (self.ascending[0], self.ascending[self.ascending.len() - 1]);
        Some([self.end(centre, smallest, alpha), self.end(centre, largest, alpha)])
    }

    /// One end of the interval: between the centre and the outermost contrast on that side, beyond which all signs are
    /// equal and p is the smallest possible.
    fn end(&mut self, centre: f64, outermost: f64, alpha: f64) -> f64 {
        if self.counting() != Counting::MonteCarlo {
            return self.end_by(Self::p, centre, outermost, alpha);
        }
        // Each p costs 199 999 flips. The series says where the end should be; the flips correct it: the series, asked
        // for an alpha that is off by as much as it was wrong, says where to look next.
        let close_enough = CLOSE_ENOUGH * (alpha * (1.0 - alpha) / f64::from(DRAWS)).sqrt();
        let (mut asked, mut end) = (alpha, outermost);
        for _ in 0..CORRECTIONS {
            end = self.end_by(Self::p_by_series, centre, outermost, asked);
            // Most ends are confirmed by a quarter of the flips already.
            let quick = self.p_by(end, DRAWS / 4);
            if (quick - alpha).abs() <= close_enough || end == outermost {
                break;
            }
            let p = self.p(end);
            if (p - alpha).abs() <= close_enough {
                break;
            }
            asked *= alpha / p;
        }
        end
    }

    /// The end by one way of finding p.
    fn end_by(&mut self, p: fn(&mut Self, f64) -> f64, centre: f64, outermost: f64, alpha: f64) -> f64 {
        let length = self.expected_length(centre);
        end_of_interval(centre, outermost, length, alpha, PRECISION, |theta| p(self, theta))
    }

    /// About how far the ends of an interval are from the centre: 2/√n times what residuals are clipped at.
    pub(super) fn expected_length(&self, centre: f64) -> f64 {
        let n = self.ascending.len();
        2.0 * self.clip(centre).min(self.distance(centre, n - 1)) / (n as f64).sqrt()
    }

    /// Fills `magnitudes` with |ψ| at `theta`, ascending, and weighs both sides.
    fn winsorise(&mut self, theta: f64) -> Weights {
        let (below, above) = self.ascending.split_at(self.ascending.partition_point(|x| *x < theta));
        // Residuals grow outwards from theta, on both sides: merging the two sides sorts them.
        let (mut b, mut a) = (below.len(), 0);
        self.magnitudes.clear();
        while b > 0 && a < above.len() {
            let (from_below, from_above) = (theta - below[b - 1], above[a] - theta);
            let takes_below = from_below <= from_above;
            self.magnitudes.push(if takes_below { from_below } else { from_above });
            b -= usize::from(takes_below);
            a += usize::from(!takes_below);
        }
        self.magnitudes.extend(below[..b].iter().rev().map(|x| theta - x));
        self.magnitudes.extend(above[a..].iter().map(|x| x - theta));
        let clip = self.clip(theta);
        self.magnitudes.iter_mut().rev().take_while(|d| **d > clip).for_each(|d| *d = clip);
        self.weigh(theta, clip)
    }

    /// Σ|ψ| on both sides of `theta`, where residuals are clipped at `clip`.
    fn weigh(&self, theta: f64, clip: f64) -> Weights {
        let (below, above) = self.ascending.split_at(self.ascending.partition_point(|x| *x < theta));
        Weights {
            below: below.iter().rev().map(|x| (theta - x).min(clip)).sum(),
            above: above.iter().map(|x| (x - theta).min(clip)).sum(),
        }
    }

    /// m(θ): what residuals are clipped at; 0 if they are all 0.
    pub(super) fn clip(&self, theta: f64) -> f64 {
        let median = self.middle_distance(theta, 0);
        if median > 0.0 {
            return CLIP * median;
        }
        let (begin, end) =
            (self.ascending.partition_point(|x| *x < theta), self.ascending.partition_point(|x| *x <= theta));
        let zeros = end - begin;
        if zeros == self.ascending.len() { 0.0 } else { CLIP * self.middle_distance(theta, zeros) }
    }

    /// The median distance from `theta`, without those of the `nearest` contrasts.
    fn middle_distance(&self, theta: f64, nearest: usize) -> f64 {
        let n = self.ascending.len() - nearest;
        self.distance(theta, nearest + (n - 1) / 2) / 2.0 + self.distance(theta, nearest + n / 2) / 2.0
    }

    /// How far from `theta` the contrast is that has `nearer` ones between. The nearest ones stand together, so bisection
    /// finds where they begin, and nothing is sorted.
    fn distance(&self, theta: f64, nearer: usize) -> f64 {
        let x = &self.ascending;
        let (mut low, mut high) = (0, x.len() - nearer - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            if theta - x[middle] > x[middle + nearer + 1] - theta { low = middle + 1 } else { high = middle }
        }
        f64::max(theta - x[low], x[low + nearer] - theta)
    }
}

/// Where p falls to `alpha` between `centre`, where it is 1, and `outermost`, which is the answer if it never does: first
/// a bracket, outwards in steps that begin at `length`; then the root of ln p, which is nearly straight. The end is found
/// to `precision`, as a part of its distance from the centre, and lies on the side where p ≤ `alpha`.
pub(super) fn end_of_interval(
    centre: f64,
    outermost: f64,
    length: f64,
    alpha: f64,
    precision: f64,
    mut p: impl FnMut(f64) -> f64,
) -> f64 {
    let side = (outermost - centre).signum();
    let mut length = length.min((outermost - centre).abs());
    // p = alpha refutes, and must not look like a root.
    let mut above = |theta| Some((p(theta) / alpha).ln()).filter(|v| *v != 0.0).unwrap_or(-f64::MIN_POSITIVE);
    let (mut inner, mut at_inner) = (centre, -alpha.ln());
    loop {
        let reached = length >= (outermost - centre).abs() || length == 0.0;
        let outer = if reached { outermost } else { centre + side * length };
        let at_outer = above(outer);
        if at_outer < 0.0 {
            let tolerance = (precision * (outer - centre).abs()).max(f64::EPSILON * centre.abs());
            return narrow(inner, outer, [at_inner, at_outer], tolerance, above)[1];
        }
        if reached {
            return outermost;
        }
        (inner, at_inner) = (outer, at_outer);
        length *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::middle;

    /// Also where contrasts are equal to each other, or to θ, or all of them are on one side of it.
    #[test]
    fn the_clip_is_that_of_the_definition() {
        for n in 1..40 {
            let x: Vec<f64> = (0..n).map(|i| f64::from((i * i * 37 + 11 * i) % 19) / 2.0 - 3.0).collect();
            let test = SignFlip::new(&x, 0).unwrap();
            for theta in (-20..20).map(|tenths| f64::from(tenths) / 2.0) {
                let mut distances: Vec<f64> = x.iter().map(|x| (x - theta).abs()).collect();
                distances.sort_by(f64::total_cmp);
                if middle(&distances) == 0.0 {
                    distances.retain(|d| *d > 0.0);
                }
                let clip = if distances.is_empty() { 0.0 } else { CLIP * middle(&distances) };
                assert_eq!(test.clip(theta), clip, "{theta} among {x:?}");
            }
        }
    }
}
