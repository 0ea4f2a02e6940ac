//! Evidence that may be looked at after every block: a bet against the coins. If the labels of a block are put on at
//! random and make no difference, the sign of its contrast is the flip of a fair coin, whatever the noise and whatever
//! came before; so nobody who bets on these signs can expect to gain, and a fortune of 20 is seen with probability
//! 1/20 at most, at any time (Ville 1939). It assumes no distribution.
//!
//! For each contrast xᵢ, in the order of time,
//!
//! uᵢ = sign(xᵢ) · min(|xᵢ| / median of |x₁| … |xᵢ|, 1.5),
//!
//! Eₙ = mean over λ ∈ ±{0.1, 0.2, 0.4, 0.8, 1.6} of Πᵢ exp(λ uᵢ) / cosh(λ uᵢ).
//!
//! Given |uᵢ|, each factor has the mean 1 over its coin, so E is a martingale that begins at 1 (the stakes are those of
//! Efron 1969's symmetric sums, as de la Peña 1999 uses them).

use super::describe::middle;

/// What is bet; both ways.
const STAKES: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];

/// A contrast counts as at most this many median magnitudes.
const CLIP: f64 = 1.5;

/// How closely the ends of an interval are found, as a part of their distance from the middle.
const PRECISION: f64 = 1e-9;

/// The evidence of some contrasts, taken in the order of time.
#[derive(Debug, Clone, Default)]
pub struct EProcess {
    /// |x| so far, ascending.
    magnitudes: Vec<f64>,
    /// ln Π exp(λu)/cosh(λu) for each stake, for and against.
    ln_products: [[f64; 2]; STAKES.len()],
    largest: f64,
}

impl EProcess {
    /// No evidence yet.
    fn new() -> Self {
        Self { largest: 1.0, ..Self::default() }
    }

    /// The evidence of all of these contrasts; none if one of them is not finite.
    pub fn of(contrasts: &[f64]) -> Option<Self> {
        let mut process = Self::new();
        contrasts.iter().try_for_each(|x| process.push(*x).map(|_| ()))?;
        Some(process)
    }

    /// Takes the next contrast, and returns the evidence with it. None, and no change, if it is not finite.
    fn push(&mut self, contrast: f64) -> Option<f64> {
        if !contrast.is_finite() {
            return None;
        }
        let magnitude = contrast.abs();
        self.magnitudes.insert(self.magnitudes.partition_point(|m| *m < magnitude), magnitude);
        let median = middle(&self.magnitudes);
        // Where most contrasts are 0 their median is too, and a contrast that is not is infinitely larger: clipped.
        let u = if magnitude == 0.0 { 0.0 } else { (magnitude / median).min(CLIP).copysign(contrast) };
        for (stake, [up, down]) in STAKES.iter().zip(&mut self.ln_products) {
            *up += ln_factor(stake * u);
            *down += ln_factor(-stake * u);
        }
        self.largest = self.largest.max(self.value());
        Some(self.value())
    }

    /// The evidence against "centred on 0" as of now; 1 at the beginning. Infinite if it is beyond all numbers.
    pub fn value(&self) -> f64 {
        let products = self.ln_products.iter().flatten();
        let most = products.clone().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = products.map(|ln| (ln - most).exp()).sum();
        (most + (sum / (2 * STAKES.len()) as f64).ln()).exp()
    }

    /// The most evidence that there ever was.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// A p that holds at any time at which one chooses to stop: 1/E, and 1 at most.
    pub fn p(&self) -> f64 {
        (1.0 / self.value()).min(1.0)
    }
}

/// ln(exp(x)/cosh(x)) = ln 2 − ln(1 + exp(−2x)), without overflow.
fn ln_factor(x: f64) -> f64 {
    let away = (-2.0 * x.abs()).exp().ln_1p();
    std::f64::consts::LN_2 - away + if x < 0.0 { 2.0 * x } else { 0.0 }
}

/// The evidence that all contrasts together could give, if they had one sign and one size: no n contrasts that are shifted
/// far away give more.
pub fn at_most(n: usize) -> f64 {
    let products = STAKES.iter().flat_map(|stake| [ln_factor(*stake), ln_factor(-stake)]);
    products.map(|ln| (n as f64 * ln).exp()).sum::<f64>() / (2 * STAKES.len()) as f64
}

/// The confidence sequence at this moment: the hull of all θ against which the evidence of x − θ is below 1/alpha. Over
/// all moments together it covers the centre with probability 1 − alpha at least. The contrasts are given in the order of
/// time. None if one is not finite, if there are so few that no θ is refuted, however far away, or if every θ is.
pub fn interval(contrasts: &[f64], alpha: f64) -> Option<[f64; 2]> {
    let (low, high) = contrasts.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let span = high - low;
    if !span.is_finite() || !(4.0 * (low.abs() + high.abs())).is_finite() || at_most(contrasts.len()) < 1.0 / alpha {
        return None;
    }
    let inside = |theta: f64| evidence(contrasts, theta) < 1.0 / alpha;
    let centre = centre(contrasts);
    if !inside(centre) {
        return None;
    }
    let end = |direction: f64| {
        let (mut inner, mut step) = (centre, span.max(f64::MIN_POSITIVE));
        // Beyond the outermost contrast all signs agree; the farther, the more the sizes do.
        let mut outer = centre + direction * step;
        for _ in 0..60 {
            if !inside(outer) {
                break;
            }
            inner = outer;
            step *= 2.0;
            outer = centre + direction * step;
        }
        while (outer - inner).abs() > PRECISION * (outer - centre).abs() {
            let middle = f64::midpoint(inner, outer);
            if middle == inner || middle == outer {
                break;
            }
            if inside(middle) { inner = middle } else { outer = middle }
        }
        outer
    };
    // Where nothing varies, every other θ is refuted.
    if span == 0.0 { Some([low, low]) } else { Some([end(-1.0), end(1.0)]) }
}

/// Of x − θ.
fn evidence(contrasts: &[f64], theta: f64) -> f64 {
    let shifted: Vec<f64> = contrasts.iter().map(|x| x - theta).collect();
    EProcess::of(&shifted).map_or(f64::INFINITY, |process| process.value())
}

/// The contrast, or the midpoint of two neighbours, with the least evidence against it.
fn centre(contrasts: &[f64]) -> f64 {
    let mut ascending = contrasts.to_vec();
    ascending.sort_by(f64::total_cmp);
    let n = ascending.len();
    let median = middle(&ascending);
    // Evidence grows outwards on both sides, but for small steps: a few quantiles around the median are enough.
    let quantiles = (1..10).map(|tenth| ascending[tenth * (n - 1) / 10]);
    let all = std::iter::once(median).chain(quantiles).map(|theta| (theta, evidence(contrasts, theta)));
    all.min_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(median, |(theta, _)| theta)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, factor by factor, from another side: nothing sorted, nothing in logarithms.
    fn by_definition(contrasts: &[f64]) -> f64 {
        let product = |lambda: f64| -> f64 {
            let factor = |i: usize| {
                let mut so_far: Vec<f64> = contrasts[..=i].iter().map(|x| x.abs()).collect();
                so_far.sort_by(f64::total_cmp);
                let median = f64::midpoint(so_far[i / 2], so_far[i.div_ceil(2)]);
                let x = contrasts[i];
                let u = if x == 0.0 { 0.0 } else { x.signum() * (x.abs() / median).min(1.5) };
                (lambda * u).exp() / (lambda * u).cosh()
            };
            (0..contrasts.len()).map(factor).product()
        };
        let lambdas = STAKES.iter().flat_map(|stake| [*stake, -stake]);
        lambdas.map(product).sum::<f64>() / 10.0
    }

    #[test]
    fn evidence_is_as_defined() {
        let check = |contrasts: &[f64]| {
            let mut process = EProcess::new();
            for n in 1..=contrasts.len() {
                let (found, expect) = (process.push(contrasts[n - 1]), by_definition(&contrasts[..n]));
                assert!(found.is_some_and(|e| (e / expect - 1.0).abs() < 1e-12), "{contrasts:?}: {found:?}, {expect}");
            }
        };
        check(&[0.3, -0.1, 0.2, 0.2, 0.0, 5.0, -0.4]);
        check(&[0.0, 0.0, 0.0, 1.0, -2.0]);
        check(&[1e300, -1e-300, 3.0]);
        check(&[-1.0; 12]);
    }

    /// The mean of E over all flips of all coins is 1, after every block: exactly what makes it a fair bet.
    #[test]
    fn nobody_can_expect_to_gain() {
        let magnitudes = [0.3, 0.1, 0.2, 7.0, 0.0, 0.25, 0.9, 0.31];
        let flipped = |pattern: u32| -> Vec<f64> {
            magnitudes.iter().enumerate().map(|(i, m)| if pattern >> i & 1 == 1 { -m } else { *m }).collect()
        };
        let all = (0..256).filter_map(|pattern| EProcess::of(&flipped(pattern)));
        let mean = all.map(|process| process.value()).sum::<f64>() / 256.0;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn beginnings_and_extremes() {
        assert_eq!(EProcess::new().value(), 1.0);
        assert_eq!(EProcess::new().p(), 1.0);
        let mut process = EProcess::new();
        assert_eq!(process.push(f64::NAN), None);
        assert_eq!(process.push(f64::INFINITY), None);
        assert_eq!(process.push(0.0), Some(1.0));
        let long = EProcess::of(&vec![1.0; 5000]).unwrap_or_default();
        assert_eq!((long.value(), long.p()), (f64::INFINITY, 0.0));
        let there_and_back = EProcess::of(&[[1.0; 8], [-1.0; 8]].concat()).unwrap_or_default();
        assert!(there_and_back.largest() > 10.0 && there_and_back.value() < 1.0, "{there_and_back:?}");
    }

    #[test]
    fn interval_is_what_is_not_refuted() {
        let contrasts = [0.011, 0.025, 0.018, 0.022, 0.031, 0.016, 0.02, 0.024, 0.012, 0.021, 0.019, 0.5];
        let Some([low, high]) = interval(&contrasts, 0.05) else { panic!("no interval") };
        let evidence =
            |theta: f64| EProcess::of(&contrasts.map(|x| x - theta)).map_or(f64::NAN, |process| process.value());
        assert!(0.0 < low && low < 0.02 && 0.021 < high && high < 0.5, "{low} {high}");
        let step = 1e-6;
        assert!(evidence(low + step) < 20.0 && evidence(low - step) >= 20.0, "{low}");
        assert!(evidence(high - step) < 20.0 && evidence(high + step) >= 20.0, "{high}");
        let wider = interval(&contrasts, 0.01);
        assert!(wider.is_some_and(|[l, h]| l <= low && high <= h), "{wider:?}");
    }

    #[test]
    fn intervals_that_there_are_not() {
        let check = |contrasts: &[f64], expect| assert_eq!(interval(contrasts, 0.05), expect, "{contrasts:?}");
        check(&[], None);
        check(&[0.1; 5], None);
        check(&[0.1; 20], Some([0.1, 0.1]));
        check(&[0.1, f64::NAN], None);
        check(&[f64::MAX, f64::MIN], None);
        check(&[1e300; 20], Some([1e300, 1e300]));
        assert!(at_most(7) < 20.0 && at_most(8) > 20.0, "{} {}", at_most(7), at_most(8));
    }
}
