//! Counts and rates: do two of them differ, how well is one of them known, and are many p-values as small only as often
//! as they may be? Nothing here compares measurements.

use statrs::distribution::{Beta, ContinuousCDF};

/// Tables whose probabilities differ by less than this part of themselves count as equally probable.
const TIE: f64 = 1e-7;

/// Two-sided p of Fisher's exact test (1935) of [[a, b], [c, d]]: the probability, given the margins, of all tables that
/// are at most as probable as this one. It is 1 if a row or a column is empty.
///
/// The hypergeometric probabilities are built up from the most probable table by their ratios, (r−k)(s−k) / ((k+1)(n−r−s+k+1))
/// from k to k+1 with first row r and first column s, so no factorial is ever formed.
pub fn fisher_exact([[a, b], [c, d]]: [[u32; 2]; 2]) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(f64::from);
    let (row, column, n) = (a + b, a + c, a + b + c + d);
    let (least, most) = ((row + column - n).max(0.0), row.min(column));
    let ratio = |k: f64| (row - k) * (column - k) / ((k + 1.0) * (n - row - column + k + 1.0));
    let mode = ((row + 1.0) * (column + 1.0) / (n + 2.0)).floor().clamp(least, most);
    let (mut weights, mut weight) = (vec![(mode, 1.0)], 1.0);
    let mut k = mode;
    while k < most && weight > 0.0 {
        weight *= ratio(k);
        k += 1.0;
        weights.push((k, weight));
    }
    (k, weight) = (mode, 1.0);
    while k > least && weight > 0.0 {
        k -= 1.0;
        weight /= ratio(k);
        weights.push((k, weight));
    }
    // A table so improbable that its weight has vanished is as improbable as p can be.
    let observed = weights.iter().find(|(k, _)| *k == a).map_or(0.0, |(_, weight)| *weight);
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let extreme = weights.iter().map(|(_, weight)| weight).filter(|weight| **weight <= observed * (1.0 + TIE));
    (extreme.sum::<f64>() / all).min(1.0)
}

/// The interval of confidence 1 − `alpha` for a proportion of which `hits` of `of` were seen (Clopper & Pearson 1934):
/// from the alpha/2 quantile of beta(k, n−k+1) to the 1−alpha/2 quantile of beta(k+1, n−k). It covers at least that
/// often, whatever the truth. None if `of` is 0 or less than `hits`, and unless 0 < alpha < 1.
pub fn binomial_interval(hits: u32, of: u32, alpha: f64) -> Option<[f64; 2]> {
    let inside = 0.0 < alpha && alpha < 1.0;
    if of == 0 || hits > of || !inside {
        return None;
    }
    let (k, rest) = (f64::from(hits), f64::from(of - hits));
    let low = if hits == 0 { 0.0 } else { beta_quantile(k, rest + 1.0, alpha / 2.0)? };
    let high = if hits == of { 1.0 } else { 1.0 - beta_quantile(rest, k + 1.0, alpha / 2.0)? };
    Some([low, high])
}

/// By bisection, until two neighbouring numbers are left; lower quantiles only, where relative precision matters.
fn beta_quantile(a: f64, b: f64, probability: f64) -> Option<f64> {
    let beta = Beta::new(a, b).ok()?;
    let (mut low, mut high) = (0.0f64, 1.0f64);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high || high - low <= 1e-15 * high {
            return Some(middle);
        }
        if beta.cdf(middle) < probability { low = middle } else { high = middle }
    }
}

/// Are p-values, in any order, small more often than p-values may be? p of Kolmogorov and Smirnov's one-sided test: the
/// probability of an excess as large as theirs, D⁺, the largest over all u of the part of them that are ≤ u, less u, if each
/// is ≤ u with a probability of at most u. None if there are none, or if one is not between 0 and 1.
///
/// The p-values of exact tests are discrete (multiples of 2^(1−n) for n blocks, and fewer with ties) and so are not
/// uniform even where all is well; but they are never too small: P(p ≤ u) ≤ u. That is all that a test promises, and
/// all that is tested here, against the uniform distribution as the worst case: so it errs on the safe side for any
/// mixture of discrete and continuous p-values, and draws no random number. That some are too large is no fault.
///
/// P(D⁺ ≥ d) = d Σ C(n,j) (d + j/n)^(j−1) (1 − d − j/n)^(n−j) over 0 ≤ j ≤ n(1−d), exactly (Birnbaum & Tingey 1951).
pub fn too_small(p_values: &[f64]) -> Option<f64> {
    if p_values.is_empty() || !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let n = p_values.len() as f64;
    let mut ascending = p_values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let excesses = ascending.iter().enumerate().map(|(before, p)| (before as f64 + 1.0) / n - p);
    let excess = excesses.fold(0.0, f64::max);
    Some(smirnov_tail(p_values.len(), excess))
}

/// P(D⁺ ≥ `excess`) for n independent uniform values. All terms are positive, so nothing cancels.
fn smirnov_tail(n: usize, excess: f64) -> f64 {
    if excess <= 0.0 {
        return 1.0;
    }
    let count = n as f64;
    let (mut sum, mut ln_choose) = (0.0, 0.0);
    for j in 0..=n {
        let part = j as f64 / count;
        let (inside, outside) = (excess + part, 1.0 - excess - part);
        let remaining = (n - j) as f64;
        if outside < 0.0 || (outside == 0.0 && n > j) {
            break;
        }
        // 0⁰ is 1: ln 0 must not meet a 0.
        let of_outside = if n > j { remaining * outside.ln() } else { 0.0 };
        sum += (ln_choose + (j as f64 - 1.0) * inside.ln() + of_outside).exp();
        ln_choose += (remaining / (j as f64 + 1.0)).ln();
    }
    (excess * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fisher_of_little() {
        for table in [[[0, 0], [0, 0]], [[3, 0], [5, 0]], [[0, 0], [5, 9]], [[1, 1], [1, 1]]] {
            assert!((fisher_exact(table) - 1.0).abs() < 1e-12, "{table:?}");
        }
        // Fisher's tea: 1 + 1 of 70 orders.
        assert!((fisher_exact([[4, 0], [0, 4]]) - 2.0 / 70.0).abs() < 1e-15);
        assert!(fisher_exact([[u32::MAX >> 12, 0], [0, u32::MAX >> 12]]) < 1e-300);
    }

    #[test]
    fn intervals_of_little() {
        assert_eq!(binomial_interval(0, 0, 0.05), None);
        assert_eq!(binomial_interval(3, 2, 0.05), None);
        assert_eq!(binomial_interval(1, 2, 1.0), None);
        assert_eq!(binomial_interval(1, 2, f64::NAN), None);
        // 1 − (1 − high)ⁿ = 1 − alpha/2.
        let [low, high] = binomial_interval(0, 10, 0.05).expect("an interval");
        assert!(low == 0.0 && (high - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-14);
    }

    #[test]
    fn small_p_values() {
        assert_eq!(too_small(&[]), None);
        assert_eq!(too_small(&[0.5, 1.5]), None);
        assert_eq!(too_small(&[0.5, f64::NAN]), None);
        // One value: P(1 − u ≥ 1 − p) = p.
        assert!(too_small(&[0.03]).is_some_and(|p| (p - 0.03).abs() < 1e-15));
        assert_eq!(too_small(&[1.0; 50]), Some(1.0));
        assert_eq!(too_small(&[0.0; 50]), Some(0.0));
    }
}
