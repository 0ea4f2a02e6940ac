//! Which values stand out, by the modified z score. It marks and removes nothing: a slow trial is a trial.

use super::describe::{MAD_TO_SD, mean, median};

/// Beyond this modified z score, either way, a value stands out (Iglewicz & Hoaglin 1993).
pub const THRESHOLD: f64 = 3.5;

/// Makes a mean absolute deviation comparable with a standard deviation: √(π/2).
const MEAN_DEVIATION_TO_SD: f64 = 1.253_314;

/// The modified z score of every value: (x − median) / (1.4826 · MAD), each side of the median with a median absolute
/// deviation of its own ("double MAD", Rosenmai 2013), because times are skewed. A side on which more than half of the
/// values equal the median has none, and takes (x − median) / (1.253314 · mean absolute deviation) instead (Iglewicz &
/// Hoaglin 1993); one on which all do has scores of 0. None if there are no values, or if one is not finite or too
/// large to compute with.
pub fn modified_z(values: &[f64]) -> Option<Vec<f64>> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|x| x - centre).collect();
    if deviations.iter().any(|d| !(d * values.len() as f64).is_finite()) {
        return None;
    }
    let sd_of = |side: &dyn Fn(f64) -> bool| {
        let distances: Vec<f64> = deviations.iter().filter(|d| side(**d)).map(|d| d.abs()).collect();
        match median(&distances) {
            Some(mad) if mad > 0.0 => MAD_TO_SD * mad,
            _ => MEAN_DEVIATION_TO_SD * mean(&distances),
        }
    };
    let (below, above) = (sd_of(&|d| d <= 0.0), sd_of(&|d| d >= 0.0));
    let score = |d: &f64| match d {
        d if *d < 0.0 => d / below,
        d if *d > 0.0 => d / above,
        _ => 0.0,
    };
    Some(deviations.iter().map(score).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python, exact: `m = median(x)`; on each side `(x - m) / (1.4826 * median(|x - m|))`.
    #[test]
    fn scores_by_hand() {
        // Median 4; below: 0 1 2 3, whose median is 1.5; above: 0 1 3 96, whose median is 2.
        let scores = modified_z(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 100.0]).expect("finite values");
        let expect = [-3.0 / 1.5, -2.0 / 1.5, -1.0 / 1.5, 0.0, 1.0 / 2.0, 3.0 / 2.0, 96.0 / 2.0];
        for (score, expect) in scores.iter().zip(expect) {
            assert!((score - expect / 1.4826).abs() < 1e-12, "{score}, not {expect} / 1.4826");
        }
    }

    #[test]
    fn table() {
        let check = |values: &[f64], expect: &[usize]| {
            let scores = modified_z(values).unwrap_or_default();
            let beyond: Vec<usize> = (0..scores.len()).filter(|index| scores[*index].abs() > THRESHOLD).collect();
            assert_eq!(beyond, expect, "{values:?}");
        };
        check(&[], &[]);
        check(&[1.0, 1e9], &[]);
        check(&[1.0, 1.1, 0.9, 1.0], &[]);
        check(&[5.0; 12], &[]);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 100.0], &[6]);
        check(&[-100.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0], &[0]);
        // Most are equal: the mean deviation takes over.
        check(&[3.0, 3.0, 3.0, 3.0, 9.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0], &[4]);
        check(&[1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0], &[]);
        check(&[1.0, f64::INFINITY, 2.0, 3.0, 4.0, 5.0], &[]);
        check(&[1e308, -1e308, 1e308, -1e308, 0.0, 1.0], &[]);
        // Far from 0 and close together.
        check(&[1e15, 1e15 + 1.0, 1e15 + 2.0, 1e15 + 3.0, 1e15 + 4.0, 1e15 + 1e6], &[5]);
    }
}
