//! The bootstrap against scipy's, both from the same resampled means.

use crate::resampled::Resampled;
use bakeoff_model::shuffle::Stream;
use bakeoff_testkit::oracle::{Case, Oracle, assert_close};

pub(crate) const CASES: &[Case] =
    &[Case { name: "bootstrap_intervals_agree_with_scipy", oracle: Oracle::Python, check: intervals_agree }];

const SEED: u64 = 178;

/// 60 lists of 3 to 40 values, some skewed, some with ties. All are multiples of 2⁻²⁰, so that sums are exact: a resample
/// that is a permutation has the same mean for both, and not one beside it.
fn intervals_agree() {
    let mut lists = vec![];
    for study in 0..60u32 {
        let mut stream = Stream::of(SEED, &["bootstrap", &study.to_string()]);
        let n = 3 + stream.below(38);
        let value = |stream: &mut Stream| match study % 3 {
            0 => stream.normal(),
            1 => stream.exponential(0.1) + 100.0,
            _ => stream.below(6) as f64,
        };
        let values: Vec<f64> = (0..n).map(|_| (value(&mut stream) * 1_048_576.0).round() / 1_048_576.0).collect();
        let mean = |stream: &mut Stream| (0..n).map(|_| values[stream.below(n) as usize]).sum::<f64>() / n as f64;
        let means: Vec<f64> = (0..400).map(|_| mean(&mut stream)).collect();
        lists.extend([values, means]);
    }
    let answers = Oracle::Python.ask(script!("bootstrap.py"), &lists);
    assert_eq!(answers.len(), 60);
    for (pair, answer) in lists.chunks(2).zip(answers) {
        let (values, means) = (&pair[0], &pair[1]);
        let resampled = Resampled::of(means.clone()).unwrap();
        let bca = resampled.bca(values, 0.05).unwrap();
        for (ours, theirs) in resampled.percentile(0.05).into_iter().chain(bca).zip(answer) {
            assert_close(&format!("seed {SEED}, {values:?}"), ours, theirs, 1e-9);
        }
    }
}
