//! Do values drift in the order of time, or resemble their predecessors? Mann and Kendall's test, and Bartels'. Both
//! look at ranks only, so that a few wild values move nothing. They say that time matters, not why, and they correct
//! nothing: blocks stay comparable inside, whatever happens between them.

use super::describe::median;
use statrs::distribution::{Beta, ContinuousCDF, Normal};

/// Up to this many values, none of them tied, Mann and Kendall's p is exact; beyond, it is normal.
const EXACT_MAX: usize = 60;

/// Bartels' approximation is made for this many values and more; for fewer there is no test here.
const BARTELS_MIN: usize = 10;

/// Beyond this many values Bartels' beta distribution is replaced by the normal one with the same variance.
const BARTELS_BETA_MAX: usize = 100;

/// A swing is sought in medians of one part in this many of a list.
const SWING_PART: usize = 4;

/// Whether values rise or fall in the order of time (Mann 1945, Kendall 1975).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// S: the number of pairs of which the later is larger, less the number of which the later is smaller.
    pub s: i64,
    /// The variance of S if every order of these values was equally likely.
    variance: f64,
    /// Two-sided p of that hypothesis.
    pub p: f64,
}

/// Tests values in the order of time. None for fewer than three, for NaN, and if all are equal.
///
/// S = Σ sign(xⱼ − xᵢ) over i < j. Without ties and for at most [`EXACT_MAX`] values p is exact, from the number of
/// permutations by inversions; else z = (|S| − 1)/√V is normal, with V = (n(n−1)(2n+5) − Σ t(t−1)(2t+5))/18 over all
/// groups of t equal values (Kendall 1975, ch. 4).
pub fn mann_kendall(values: &[f64]) -> Option<MannKendall> {
    let n = values.len();
    if n < 3 || values.iter().any(|x| x.is_nan()) {
        return None;
    }
    let ties = mid_ranks(values).1;
    let pairs = |n: usize| (n as f64) * (n as f64 - 1.0) / 2.0;
    let tied: f64 = ties.iter().map(|t| pairs(*t)).sum();
    let untied = pairs(n) - tied;
    if untied == 0.0 {
        return None;
    }
    let inversions = inversions(&mut values.to_vec());
    let s = untied as i64 - 2 * inversions as i64;
    let term = |n: usize| (n as f64) * (n as f64 - 1.0) * (2.0 * n as f64 + 5.0) / 18.0;
    let variance = term(n) - ties.iter().map(|t| term(*t)).sum::<f64>();
    let p =
        if ties.is_empty() && n <= EXACT_MAX { exact_p(n, inversions as usize) } else { normal_p(s as f64, variance) };
    Some(MannKendall { s, variance, p })
}

/// Two-sided p of an S with this variance, which moves in steps of 2.
fn normal_p(s: f64, variance: f64) -> f64 {
    let z = (s.abs() - 1.0).max(0.0) / variance.sqrt();
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

/// Two-sided p of several lists that may share one drift, each tested on its own: the sum of their S is normal with the
/// sum of their variances (van Belle & Hughes 1984, for equal directions). None without lists.
pub fn drift_together(tests: &[MannKendall]) -> Option<f64> {
    let s: f64 = tests.iter().map(|test| test.s as f64).sum();
    (!tests.is_empty()).then(|| normal_p(s, tests.iter().map(|test| test.variance).sum()))
}

/// How far time carries values up and down: the largest median of a quarter of them in a row (3 at least) less the smallest.
/// Single wild values do not move it, nor, in a long list, what ends soon. 0 for a list that is no longer than that.
pub fn swing(values: &[f64]) -> f64 {
    let size = (values.len() / SWING_PART).max(3);
    let mut ends: Option<[f64; 2]> = None;
    for centre in values.windows(size).filter_map(median) {
        let [low, high] = ends.unwrap_or([centre; 2]);
        ends = Some([low.min(centre), high.max(centre)]);
    }
    ends.map_or(0.0, |[low, high]| high - low)
}

/// The rank of every value, from 1, equal ones sharing the mean of theirs; and the sizes of the groups of equal ones.
fn mid_ranks(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut by_size: Vec<usize> = (0..values.len()).collect();
    by_size.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut ties) = (vec![0.0; values.len()], vec![]);
    let mut before = 0;
    for group in by_size.chunk_by(|a, b| values[*a] == values[*b]) {
        let shared = before as f64 + (group.len() as f64 + 1.0) / 2.0;
        group.iter().for_each(|index| ranks[*index] = shared);
        if group.len() > 1 {
            ties.push(group.len());
        }
        before += group.len();
    }
    (ranks, ties)
}

/// The number of pairs of which the earlier is larger, counted while merging; leaves the list sorted.
fn inversions(values: &mut [f64]) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut count = inversions(left) + inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut taken = 0;
    for x in right.iter() {
        while taken < left.len() && left[taken] <= *x {
            merged.push(left[taken]);
            taken += 1;
        }
        count += (left.len() - taken) as u64;
        merged.push(*x);
    }
    merged.extend_from_slice(&left[taken..]);
    values.copy_from_slice(&merged);
    count
}

/// Two-sided p of a number of inversions in a random permutation of n things. Placing the k-th largest adds 0 to k − 1
/// inversions, each equally likely, so the distribution is a convolution of uniform ones.
fn exact_p(n: usize, inversions: usize) -> f64 {
    let mut chance = vec![1.0f64];
    for k in 2..=n {
        let mut next = vec![0.0; chance.len() + k - 1];
        for (at, p) in chance.iter().enumerate() {
            next[at..at + k].iter_mut().for_each(|sum| *sum += p / k as f64);
        }
        chance = next;
    }
    let extreme = inversions.min(chance.len() - 1 - inversions);
    (2.0 * chance[..=extreme].iter().sum::<f64>()).min(1.0)
}

/// Whether successive values resemble each other (Bartels 1982): von Neumann's ratio, of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bartels {
    /// Σ(Rᵢ − Rᵢ₊₁)² / Σ(Rᵢ − R̄)²: 2 if order means nothing, less if neighbours are alike, more if they alternate.
    pub ratio: f64,
    /// Its variance if every order of these values was equally likely.
    variance: f64,
    /// Two-sided p of that hypothesis.
    pub p: f64,
}

/// Tests values in the order of time. None for fewer than [`BARTELS_MIN`], for NaN, and if all are equal.
///
/// Under all orders the ratio has mean 2, and its variance is known exactly; ratio ÷ 4 is taken as symmetrically beta
/// distributed with that variance (Bartels 1982), beyond 100 values as normal. Without ties the variance is Bartels'
/// 4(n−2)(5n²−2n−9) / (5n(n+1)(n−1)²); with ties it is that of the mid-ranks at hand, by [`permutation_variance`].
pub fn bartels(values: &[f64]) -> Option<Bartels> {
    let n = values.len();
    if n < BARTELS_MIN || values.iter().any(|x| x.is_nan()) {
        return None;
    }
    let ranks = mid_ranks(values).0;
    let middle = (n as f64 + 1.0) / 2.0;
    let deviations: Vec<f64> = ranks.iter().map(|rank| rank - middle).collect();
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    if squares == 0.0 {
        return None;
    }
    let steps: f64 = deviations.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let ratio = steps / squares;
    let variance = permutation_variance(&deviations);
    let p = if n <= BARTELS_BETA_MAX {
        // 16 · variance of beta(a, a), which is 16 / (4(2a + 1)).
        let shape = 2.0 / variance - 0.5;
        let beta = Beta::new(shape, shape).ok()?;
        2.0 * beta.cdf((ratio.min(4.0 - ratio) / 4.0).max(0.0))
    } else {
        2.0 * Normal::standard().sf((ratio - 2.0).abs() / variance.sqrt())
    };
    Some(Bartels { ratio, variance, p: p.min(1.0) })
}

/// Two-sided p of several lists whose values may all resemble their predecessors, each tested on its own: the sum of their
/// z is normal with as large a variance as there are lists (Stouffer 1949). None without lists.
pub fn dependence_together(tests: &[Bartels]) -> Option<f64> {
    let z: f64 = tests.iter().map(|test| (test.ratio - 2.0) / test.variance.sqrt()).sum();
    (!tests.is_empty()).then(|| (2.0 * Normal::standard().sf(z.abs() / (tests.len() as f64).sqrt())).min(1.0))
}

/// The variance of Σ(dᵢ − dᵢ₊₁)² / Σdᵢ² over all orders of deviations d that sum to 0.
///
/// The ratio is 2 − (d₁² + dₙ² + 2L)/S₂ with L = Σdᵢdᵢ₊₁, and the bracket has mean 0. With S₂ = Σd², S₄ = Σd⁴, sampling
/// without replacement gives E(d₁² + dₙ²)² = 2S₄/n + 2(S₂² − S₄)/(n(n−1)), E(d₁²L) = (S₄ − S₂²)/(n(n−1)), and
/// E(L²) = (S₂² − S₄)/n + (S₂² − 2S₄)/(n(n−1)) (as Wald & Wolfowitz 1943 for the circular sum).
fn permutation_variance(deviations: &[f64]) -> f64 {
    let n = deviations.len() as f64;
    // Scaled, or fourth powers of ranks would lose digits.
    let largest = deviations.iter().fold(0.0f64, |most, d| most.max(d.abs()));
    let power = |k| deviations.iter().map(|d| (d / largest).powi(k)).sum::<f64>();
    let (second, fourth) = (power(2).powi(2), power(4));
    let orders = n * (n - 1.0);
    let ends = 2.0 * fourth / n + 2.0 * (second - fourth) / orders;
    let ends_and_products = 2.0 * (fourth - second) / orders;
    let products = (second - fourth) / n + (second - 2.0 * fourth) / orders;
    (ends + 4.0 * ends_and_products + 4.0 * products) / second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_say() {
        for values in [&[][..], &[1.0], &[1.0, 2.0], &[1.0, f64::NAN, 2.0, 3.0], &[7.0; 20]] {
            assert_eq!(mann_kendall(values), None, "{values:?}");
            assert_eq!(bartels(values), None, "{values:?}");
        }
        assert_eq!(bartels(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]), None);
    }

    #[test]
    fn extremes() {
        let rising: Vec<f64> = (0..40).map(|i| (f64::from(i) - 20.0) * 1e300 / 40.0).collect();
        let trend = mann_kendall(&rising).expect("forty values");
        assert_eq!(trend.s, 780);
        assert!(trend.p < 1e-40 && bartels(&rising).expect("forty values").p < 1e-12);
        // Infinity has a rank like any other value: a trial that never ended is the slowest.
        let last = mann_kendall(&[1.0, 2.0, 3.0, 4.0, f64::INFINITY]).expect("five values");
        assert_eq!((last.s, last.p), (10, 2.0 / 120.0));
    }

    /// Two lists that each hardly drift do so together; two that drift apart do not.
    #[test]
    fn lists_that_drift_together() {
        let list = |slope: f64| -> Vec<f64> { (0..10).map(|i| slope * f64::from(i) + f64::from(i * 7 % 10)).collect() };
        let test = |slope: f64| mann_kendall(&list(slope)).expect("ten values");
        let (up, down) = (test(0.9), test(-0.9));
        assert!(up.p > 0.01 && down.p > 0.01, "{up:?} {down:?}");
        let p = |tests: &[MannKendall]| drift_together(tests).expect("lists");
        assert!(
            p(&[up, up]) < up.p && p(&[up, up]) < 0.02 && p(&[up, down]) > 0.5,
            "{} {}",
            p(&[up, up]),
            p(&[up, down])
        );
        assert!((p(&[up]) - up.p).abs() < 0.02, "{} {}", p(&[up]), up.p);
        let wave: Vec<f64> = (0..12).map(|i| f64::from(i * 5 % 12 / 3)).collect();
        let alike = bartels(&wave).expect("twelve values");
        let together = dependence_together(&[alike, alike]).expect("lists");
        assert!(together <= alike.p, "{together} {alike:?}");
        assert_eq!((drift_together(&[]), dependence_together(&[])), (None, None));
    }

    #[test]
    fn swings() {
        let check = |values: &[f64], expect: f64| assert_eq!(swing(values), expect, "{values:?}");
        check(&[], 0.0);
        check(&[1.0, 9.0], 0.0);
        check(&[1.0, 2.0, 9.0], 0.0);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0);
        // One wild value is none, wherever it stands.
        check(&[1.0, 1.0, 900.0, 1.0, 1.0, 1.0, 1.0, -900.0], 0.0);
        let line: Vec<f64> = (0..40).map(f64::from).collect();
        check(&line, 30.0);
    }

    /// A hundred thousand values take no quadratic time, and nothing overflows.
    #[test]
    fn many_values() {
        let values: Vec<f64> = (0..100_000u64).map(|i| (i * 48_271 % 99_991) as f64).collect();
        let trend = mann_kendall(&values).expect("values");
        assert!(trend.s.abs() < 50_000_000 && (0.0..=1.0).contains(&trend.p), "{trend:?}");
        assert!(bartels(&values).is_some_and(|b| b.ratio > 0.0 && b.ratio < 4.0));
    }

    /// Bartels' formula, from the general variance of any scores.
    #[test]
    fn variance_without_ties_is_bartels() {
        for n in [10, 11, 40, 1000] {
            let middle = (f64::from(n) + 1.0) / 2.0;
            let deviations: Vec<f64> = (1..=n).map(|rank| f64::from(rank) - middle).collect();
            let n = f64::from(n);
            let bartels = 4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0) / (5.0 * n * (n + 1.0) * (n - 1.0).powi(2));
            let general = permutation_variance(&deviations);
            assert!((general / bartels - 1.0).abs() < 1e-12, "n = {n}: {general}, not {bartels}");
        }
    }

    /// The variance over every order of five scores, two of them tied.
    #[test]
    fn variance_with_ties_by_enumeration() {
        fn orders(rest: &[f64], order: &mut Vec<f64>, ratios: &mut Vec<f64>) {
            if rest.is_empty() {
                let squares: f64 = order.iter().map(|d| d * d).sum();
                ratios.push(order.windows(2).map(|p| (p[1] - p[0]).powi(2)).sum::<f64>() / squares);
            }
            for chosen in 0..rest.len() {
                let others: Vec<f64> = (0..rest.len()).filter(|i| *i != chosen).map(|i| rest[i]).collect();
                order.push(rest[chosen]);
                orders(&others, order, ratios);
                order.pop();
            }
        }
        let (scores, mut ratios) = ([-1.5, -1.5, 0.0, 1.0, 2.0], vec![]);
        orders(&scores, &mut vec![], &mut ratios);
        assert_eq!(ratios.len(), 120);
        let variance = ratios.iter().map(|r| (r - 2.0).powi(2)).sum::<f64>() / 120.0;
        assert!((permutation_variance(&scores) - variance).abs() < 1e-12);
        assert!((ratios.iter().sum::<f64>() / 120.0 - 2.0).abs() < 1e-12);
    }
}
