//! Looking at a study several times without being fooled: how small p must be at each look so that a study in which
//! nothing differs is judged different, at any of its looks, with probability α at most. It knows the looks and
//! nothing of the data.
//!
//! The error is spent by α(t) = α · ln(1 + (e − 1) t), where t is the part of the planned blocks that there are (Lan &
//! DeMets 1983; nearly the boundary of Pocock 1977). At look k the boundary bₖ is such that
//!
//! P(|S₁| ≤ b₁, …, |Sₖ₋₁| ≤ bₖ₋₁, |Sₖ| > bₖ) = α(tₖ) − α(tₖ₋₁),
//!
//! where Sₖ is a sum of nₖ independent standard normal numbers: that is what the statistic of a sign-flip test tends
//! to. The density of Sₖ among the studies that have not crossed a boundary is carried from look to look by integration
//! (Armitage, McPherson & Rowe 1969). It hands out the nominal level P(|N(0, nₖ)| > bₖ), for any p.

use super::quadrature::GaussLegendre;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Parts of the most blocks at which a study is looked at. With 40 blocks: 8, 12, 18, 27, 40.
const PARTS: [f64; 5] = [0.2, 0.3, 0.45, 0.675, 1.0];

/// With fewer blocks a sign-flip test cannot refute anything at 5 %.
const FIRST_LOOK_MIN: u32 = 6;

/// Nodes for each look, and at most as many.
const NODES_MIN: f64 = 48.0;
const NODES_MAX: f64 = 1000.0;
/// Nodes for each standard deviation of what is added from one look to the next.
const NODES_PER_SD: f64 = 8.0;

/// Farther out than this many standard deviations there is nothing.
const FAR: f64 = 38.0;

/// The looks of a study of at most `most` blocks: at 20, 30, 45, 67.5 and 100 % of them, rounded, from 6 blocks on.
pub fn looks(most: u32) -> Vec<u32> {
    let mut looks: Vec<u32> = PARTS.iter().map(|part| (part * f64::from(most)).round() as u32).collect();
    looks.retain(|look| *look >= FIRST_LOOK_MIN || *look == most);
    looks.dedup();
    looks
}

/// The error that is spent when this part of the blocks is there.
fn spent(alpha: f64, part: f64) -> f64 {
    alpha * ((std::f64::consts::E - 1.0) * part.clamp(0.0, 1.0)).ln_1p()
}

/// The two-sided nominal level of each look, at numbers of blocks that grow. None if they do not, if there are none, or
/// unless 0 < alpha ≤ 1.
pub fn levels(looks: &[u32], alpha: f64) -> Option<Vec<f64>> {
    let last = f64::from(*looks.last()?);
    let grow = looks[0] > 0 && looks.windows(2).all(|pair| pair[0] < pair[1]);
    if !(grow && alpha > 0.0 && alpha <= 1.0) {
        return None;
    }
    let normal = Normal::standard();
    let mut survivors: Option<Survivors> = None;
    let mut before = [0.0, 0.0];
    let mut levels = vec![];
    for look in looks {
        let [blocks_before, spent_before] = before;
        let blocks = f64::from(*look);
        let spent = spent(alpha, blocks / last);
        let sd = (blocks - blocks_before).sqrt();
        let budget = spent - spent_before;
        let boundary = match &survivors {
            None => normal.inverse_cdf(1.0 - budget / 2.0).min(FAR) * sd,
            Some(survivors) => survivors.boundary(budget, sd, blocks.sqrt()),
        };
        // For small budgets, 1 − budget/2 has lost its digits; but at the first look the level is the budget.
        levels.push(if survivors.is_none() { budget } else { 2.0 * normal.sf(boundary / blocks.sqrt()) });
        survivors = Some(Survivors::after(survivors.as_ref(), sd, boundary));
        before = [blocks, spent];
    }
    Some(levels)
}

/// The least alpha of a whole study at which this p, at look number `look` (from 0), is significant: the inverse of
/// [`levels`], so that it can be compared with alpha, and corrected for a family, like any other p (the sequential p-value of
/// Liu & Anderson 2008, at one look). Never less than p. None if there is no such look or no p.
pub fn adjusted_p(looks: &[u32], look: usize, p: f64) -> Option<f64> {
    let level = |alpha: f64| levels(looks, alpha)?.get(look).copied();
    let most = level(1.0)?;
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    if p >= most || p == 0.0 {
        return Some(if p == 0.0 { 0.0 } else { 1.0 });
    }
    // Nearly straight on logarithmic scales: regula falsi, the Illinois way (Dowell & Jarratt 1971).
    let off = |alpha: f64| level(alpha).map(|level| level.ln() - p.ln());
    let (mut low, mut high) = ([p.ln(), off(p)?], [0.0, most.ln() - p.ln()]);
    for _ in 0..100 {
        let middle = if low[1] == high[1] { low[0] } else { low[0] - low[1] * (high[0] - low[0]) / (high[1] - low[1]) };
        let at = off(middle.exp())?;
        if at.abs() < 1e-10 {
            return Some(middle.exp());
        }
        if at < 0.0 {
            low = [middle, at];
            high[1] /= 2.0;
        } else {
            high = [middle, at];
            low[1] /= 2.0;
        }
    }
    Some(high[0].exp())
}

/// The density of S among the studies that have not crossed a boundary, at nodes on its positive half: for each node
/// its place and density × weight.
struct Survivors(Vec<[f64; 2]>);

impl Survivors {
    /// The survivors of the look after `before`'s: S grew by a normal number of standard deviation `sd`, and |S| ≤ `boundary`.
    fn after(before: Option<&Self>, sd: f64, boundary: f64) -> Self {
        let normal = Normal::standard();
        let density = |s: f64| match before {
            None => normal.pdf(s / sd) / sd,
            Some(Self(nodes)) => {
                let reach = |u: f64| (normal.pdf((s - u) / sd) + normal.pdf((s + u) / sd)) / sd;
                nodes.iter().map(|[u, mass]| mass * reach(*u)).sum()
            }
        };
        let nodes = (NODES_PER_SD * boundary / sd).clamp(NODES_MIN, NODES_MAX) as usize;
        Self(GaussLegendre::new(nodes).on(0.0, boundary).map(|[s, weight]| [s, weight * density(s)]).collect())
    }

    /// Where the boundary must be for this probability of crossing it next: by Newton's method, kept inside a bracket.
    fn boundary(&self, budget: f64, sd: f64, sd_in_all: f64) -> f64 {
        let normal = Normal::standard();
        let both = |b: f64, of: &dyn Fn(f64) -> f64| -> f64 {
            self.0.iter().map(|[u, mass]| 2.0 * mass * (of((b - u) / sd) + of((b + u) / sd))).sum()
        };
        let (mut low, mut high) = (0.0, FAR * sd_in_all);
        let mut b = 2.0 * sd_in_all;
        for _ in 0..200 {
            let found = both(b, &|x| normal.sf(x));
            if found > budget {
                low = b
            } else {
                high = b
            }
            if (found / budget - 1.0).abs() < 1e-11 || high - low <= 1e-13 * high {
                break;
            }
            // Newton's method on the logarithm, which is nearly straight.
            let next = b + (found / budget).ln() * found * sd / both(b, &|x| normal.pdf(x));
            b = if low < next && next < high { next } else { f64::midpoint(low, high) };
        }
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_of_a_study() {
        let check = |most, expect: &[u32]| assert_eq!(looks(most), expect, "{most}");
        check(40, &[8, 12, 18, 27, 40]);
        check(100, &[20, 30, 45, 68, 100]);
        check(20, &[6, 9, 14, 20]);
        check(7, &[7]);
        check(3, &[3]);
    }

    /// Recomputed by scipy's multivariate normal distribution in `tests/oracles/sequential.rs`; a simulation before that
    /// had .0147 .0104 .0133 .0169 .0210.
    #[test]
    fn levels_of_the_usual_looks() {
        let levels = levels(&looks(40), 0.05).unwrap_or_default();
        let expect = [0.01477, 0.01065, 0.01308, 0.01659, 0.02029];
        assert_eq!(levels.len(), expect.len());
        for (level, expect) in levels.iter().zip(expect) {
            assert!((level - expect).abs() < 0.00001, "{levels:?}");
        }
    }

    #[test]
    fn one_look_spends_everything() {
        let check = |alpha: f64| {
            let levels = levels(&[20], alpha).unwrap_or_default();
            assert!((levels[0] / alpha - 1.0).abs() < 1e-12, "{levels:?}");
        };
        [0.05, 1e-9, 1.0].into_iter().for_each(check);
    }

    #[test]
    fn adjusted_p_inverts_the_levels() {
        let usual = looks(40);
        for alpha in [1e-8, 0.001, 0.01, 0.05, 0.3, 0.9] {
            for (look, level) in levels(&usual, alpha).unwrap_or_default().into_iter().enumerate() {
                let found = adjusted_p(&usual, look, level).unwrap_or(f64::NAN);
                assert!((found / alpha - 1.0).abs() < 1e-6, "{alpha}, look {look}: {found}");
            }
        }
        assert_eq!(adjusted_p(&usual, 0, 1.0), Some(1.0));
        assert_eq!(adjusted_p(&usual, 0, 0.0), Some(0.0));
        assert_eq!(adjusted_p(&usual, 5, 0.5), None);
        assert_eq!(adjusted_p(&usual, 0, f64::NAN), None);
    }

    #[test]
    fn what_cannot_be_said() {
        let check = |looks: &[u32], alpha| assert_eq!(levels(looks, alpha), None, "{looks:?} {alpha}");
        check(&[], 0.05);
        check(&[0, 8], 0.05);
        check(&[8, 8], 0.05);
        check(&[9, 8], 0.05);
        check(&[8], 0.0);
        check(&[8], 1.5);
        check(&[8], f64::NAN);
    }

    /// A look after every block, and looks far apart: the levels stay levels.
    #[test]
    fn many_looks_and_far_ones() {
        let every: Vec<u32> = (6..=60).collect();
        for looks in [every, vec![1, 1_000_000, u32::MAX]] {
            let levels = levels(&looks, 0.05).unwrap_or_default();
            assert_eq!(levels.len(), looks.len());
            assert!(levels.iter().all(|level| *level > 0.0 && *level <= 0.05), "{levels:?}");
        }
    }
}
