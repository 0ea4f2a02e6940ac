//! Bets against "this one is not slower": the evidence from which the race and the bisection conclude. A capital that is
//! fair under that hypothesis reaches 1/α with probability α at most, at any time (Ville 1939). Nothing here knows what is
//! bet on, and which opponents and which scale are used must be fixed before the values are seen.
//!
//! Two kinds of factors. Each has mean 1 if the values are exchangeable with those of the opponents, does not decrease in
//! the own value, and does not increase in an opponent's, so it is at most fair for a faster one:
//!
//! - sizes: 1 + mean over opponents of tanh(λ · clip(difference / scale, ±2)) (Efron 1969; de la Peña 1999, one-sided);
//! - ranks: e^{λ a_R} / mean over r of e^{λ a_r}, a_r = Φ⁻¹((r − ½)/m), R the rank among m values; ties are averaged.

use bakeoff_stats::student::t_quantile;
use std::collections::BTreeMap;

/// Stakes on sizes, and on ranks.
const SIZE_STAKES: [f64; 4] = [0.15, 0.4, 1.0, 2.5];
const RANK_STAKES: [f64; 3] = [0.35, 1.2, 4.0];

/// A difference counts as at most this many scales.
const CLIP: f64 = 2.0;

/// Halvings of what an end of an interval may be.
const HALVINGS: u32 = 40;

/// Student's distribution with this many degrees of freedom is the normal one.
const NORMAL: f64 = 1e12;

/// The capital of bets, one account for each stake.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Accounts<const STAKES: usize>([f64; STAKES]);

/// The capitals of bets on sizes, and of bets on ranks.
pub(crate) type Sizes = Accounts<4>;
pub(crate) type Ranks = Accounts<3>;

impl<const STAKES: usize> Default for Accounts<STAKES> {
    fn default() -> Self {
        Self([1.0; STAKES])
    }
}

impl<const STAKES: usize> Accounts<STAKES> {
    /// The mean of all accounts.
    pub(crate) fn capital(&self) -> f64 {
        self.0.iter().sum::<f64>() / STAKES as f64
    }
}

impl Sizes {
    /// Bets that `own` is larger than the opponents' values. An infinite value is one that was not waited for. `own` then
    /// wins nothing, because an own time-out must never be a loss of the variant.
    pub(crate) fn bet(&mut self, own: f64, opponents: &[f64], scale: f64) {
        if opponents.is_empty() || scale.is_nan() || scale <= 0.0 {
            return;
        }
        let unit = |opponent: &f64| match (own.is_finite(), opponent.is_finite()) {
            (true, true) => ((own - opponent) / scale).clamp(-CLIP, CLIP),
            (false, true) => 0.0,
            (_, false) => -CLIP,
        };
        for (account, stake) in self.0.iter_mut().zip(SIZE_STAKES) {
            let won: f64 = opponents.iter().map(|opponent| (stake * unit(opponent)).tanh()).sum();
            *account *= 1.0 + won / opponents.len() as f64;
        }
    }
}

/// What bets on `values` less θ say of θ; values have the scale of the bets on each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unrefuted {
    /// The θ against which bets on either side have won as much.
    pub(crate) estimate: f64,
    /// What neither side refutes with the evidence that is needed: infinite where there are too few values.
    pub(crate) interval: [f64; 2],
}

impl Unrefuted {
    pub(crate) fn of(values: &[(f64, f64)], needed: f64) -> Self {
        let [mut value, mut scale] = [0.0_f64; 2];
        for next in values {
            (value, scale) = (value.max(next.0.abs()), scale.max(next.1));
        }
        // So far out, all values count as much as they can.
        let far = value + 2.0 * CLIP * scale;
        let estimate = boundary(-far, far, |theta| won(values, -1.0, theta) > won(values, 1.0, theta));
        let end = |side: f64| {
            let outside = side * far;
            let is_refuted = |theta| won(values, side, theta) >= needed;
            if is_refuted(outside) { boundary(outside, estimate, is_refuted) } else { side * f64::INFINITY }
        };
        Self { estimate, interval: [-1.0, 1.0].map(end) }
    }
}

/// The capital of bets that all values lie on the other side of θ.
fn won(values: &[(f64, f64)], side: f64, theta: f64) -> f64 {
    let mut bets = Sizes::default();
    values.iter().for_each(|(own, scale)| bets.bet(side * (theta - own), &[0.0], *scale));
    bets.capital()
}

/// Where something that is so at `yes`, and not at `no`, ends: the last number where it is.
fn boundary(mut yes: f64, mut no: f64, is_so: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let between = f64::midpoint(yes, no);
        if is_so(between) { yes = between } else { no = between }
    }
    yes
}

impl Ranks {
    /// Bets that `own` is larger than the opponents' values; infinite values as in [`Sizes::bet`].
    pub(crate) fn bet(&mut self, own: f64, opponents: &[f64], tables: &mut Tables) {
        if opponents.is_empty() {
            return;
        }
        let smaller = opponents.iter().filter(|opponent| **opponent < own).count();
        let equal = if own.is_finite() { opponents.iter().filter(|opponent| **opponent == own).count() } else { 0 };
        let table = tables.of(opponents.len() + 1);
        for (account, factors) in self.0.iter_mut().zip(table) {
            let tied = &factors[smaller..=smaller + equal];
            let factor = tied.iter().sum::<f64>() / tied.len() as f64;
            *account *= if own.is_finite() { factor } else { factor.min(1.0) };
        }
    }
}

/// The factors of each rank, by the number of values that are ranked. They are kept because they are dear.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables(BTreeMap<usize, [Vec<f64>; RANK_STAKES.len()]>);

impl Tables {
    fn of(&mut self, values: usize) -> &[Vec<f64>; RANK_STAKES.len()] {
        self.0.entry(values).or_insert_with(|| {
            let score = |rank: usize| t_quantile((rank as f64 + 0.5) / values as f64, NORMAL).unwrap_or(0.0);
            let scores: Vec<f64> = (0..values).map(score).collect();
            RANK_STAKES.map(|stake| {
                let mean = scores.iter().map(|a| (stake * a).exp()).sum::<f64>() / values as f64;
                scores.iter().map(|a| (stake * a).exp() / mean).collect()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of the factor over all orders of m values is 1, exactly.
    #[test]
    fn ranks_are_a_fair_bet() {
        let mut tables = Tables::default();
        for values in [vec![1.0, 2.0], vec![1.0, 2.0, 3.0, 4.0, 7.0], vec![1.0, 1.0, 2.0], vec![5.0; 4]] {
            let mut mean = [0.0; 3];
            for own in 0..values.len() {
                let mut others = values.clone();
                let value = others.remove(own);
                let mut ranks = Ranks::default();
                ranks.bet(value, &others, &mut tables);
                mean.iter_mut().zip(ranks.0).for_each(|(sum, factor)| *sum += factor / values.len() as f64);
            }
            assert!(mean.iter().all(|mean| (mean - 1.0).abs() < 1e-12), "{values:?}: {mean:?}");
        }
    }

    #[test]
    fn sizes_are_a_fair_bet() {
        for (one, other) in [(0.0, 0.01), (3.0, 3.0), (0.0, 100.0)] {
            let (mut there, mut back) = (Sizes::default(), Sizes::default());
            there.bet(one, &[other], 0.01);
            back.bet(other, &[one], 0.01);
            let mean: Vec<f64> = there.0.iter().zip(back.0).map(|(a, b)| f64::midpoint(*a, b)).collect();
            assert!(mean.iter().all(|mean| (mean - 1.0).abs() < 1e-12), "{mean:?}");
        }
    }

    /// A run that timed out is no evidence against its variant, whatever the others did.
    #[test]
    fn a_time_out_never_wins_against_oneself() {
        let mut tables = Tables::default();
        for opponents in [vec![1.0, 2.0], vec![f64::INFINITY, 2.0], vec![f64::INFINITY; 2]] {
            let (mut sizes, mut ranks) = (Sizes::default(), Ranks::default());
            sizes.bet(f64::INFINITY, &opponents, 1.0);
            ranks.bet(f64::INFINITY, &opponents, &mut tables);
            assert!(sizes.capital() <= 1.0 && ranks.capital() <= 1.0, "{opponents:?}");
        }
        let mut ranks = Ranks::default();
        ranks.bet(1.0, &[f64::INFINITY], &mut tables);
        assert!(ranks.capital() < 1.0, "an opponent that timed out was slower");
    }
}
