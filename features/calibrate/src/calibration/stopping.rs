//! Studies that may stop early, and studies that were run one variant after the other: what a rule for stopping does to
//! the rate of false differences, and how much of it remains where the study bounds the effect of time.

use super::levels::{ALPHA, MARGIN};
use super::orders::{Order, Simulated};
use super::simulate::{Sample, flag};
use super::worlds::World;
use bakeoff_judge::InferenceMode;
use bakeoff_judge::findings::Verdict;
use bakeoff_judge::samples::{SampleRow, Terms, judge_samples};
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::eprocess::EProcess;
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::spending;
use std::sync::OnceLock;

/// The most blocks of a study that is looked at a few times: as many as have an exact p, or a study takes milliseconds.
const MOST_DECIDED: u32 = 36;
/// The most blocks of a study that is looked at after each.
const MOST_ANYTIME: usize = 40;
/// Where a study ends when its interval is narrow enough: from this block on, and this narrow (on the logarithm).
const PRECISION_FROM: usize = 10;
const PRECISION_MOST: usize = 30;
const PRECISION: f64 = 0.01;

fn contrasts(world: World, blocks: usize, stream: &mut Stream) -> Vec<f64> {
    Simulated::new(world, Order::Randomised, blocks, &[0.0, 0.0], stream).contrasts(0, 1)
}

fn p(contrasts: &[f64]) -> f64 {
    SignFlip::new(contrasts, 0).map_or(0.0, |mut test| test.p(0.0))
}

/// Two variants that are the same, looked at up to five times: [differs at any look by the levels of the looks].
pub(super) fn decided(world: World, stream: &mut Stream) -> Sample {
    static LEVELS: OnceLock<Vec<(u32, f64)>> = OnceLock::new();
    let levels = LEVELS.get_or_init(|| {
        let looks = spending::looks(MOST_DECIDED);
        // Without levels every look would be a false difference, which no goal forgives.
        let levels = spending::levels(&looks, ALPHA).unwrap_or_else(|| vec![1.0; looks.len()]);
        looks.into_iter().zip(levels).collect()
    });
    let contrasts = contrasts(world, MOST_DECIDED as usize, stream);
    [flag(levels.iter().any(|(look, level)| p(&contrasts[..*look as usize]) <= *level)), 0.0, 0.0, 0.0]
}

/// Two variants that are the same, looked at after every block up to the 40th: [the evidence ever reaches 1 in 20].
pub(super) fn anytime(world: World, stream: &mut Stream) -> Sample {
    let contrasts = contrasts(world, MOST_ANYTIME, stream);
    let process = EProcess::of(&contrasts);
    [flag(process.is_none_or(|process| process.largest() >= 1.0 / ALPHA)), 0.0, 0.0, 0.0]
}

/// Two variants that are the same, until the interval reaches ±1 % at most, from 10 blocks on and up to 30: [differs then,
/// at 0.6 of 5 %].
pub(super) fn precision(world: World, stream: &mut Stream) -> Sample {
    let contrasts = contrasts(world, PRECISION_MOST, stream);
    let alpha = InferenceMode::Precision.level(ALPHA);
    for blocks in PRECISION_FROM..=PRECISION_MOST {
        let Some(mut test) = SignFlip::new(&contrasts[..blocks], 0) else { break };
        let Some([low, high]) = test.interval(alpha) else { break };
        if (high - low) / 2.0 <= PRECISION.ln_1p() || blocks == PRECISION_MOST {
            return [flag(test.p(0.0) <= alpha), 0.0, 0.0, 0.0];
        }
    }
    [1.0; 4]
}

/// Values of each sample that was measured before or after the other.
const SEQUENTIAL: usize = 20;

/// Two samples, one after the other, judged as samples of unknown order are. An obvious difference is a factor of 2.
fn unpaired(world: World, effect: f64, stream: &mut Stream) -> Option<SampleRow> {
    let study = Simulated::new(world, Order::Sequential, SEQUENTIAL, &[0.0, effect], stream);
    let sample =
        |variant: usize| bakeoff_readers::Sample { col: variant.to_string(), ..of_seconds(study.values(variant)) };
    let terms = Terms { confidence: 1.0 - ALPHA, margin: MARGIN, paired: false, baseline: None };
    let mut findings = judge_samples(vec![sample(0), sample(1)], &terms).ok()?;
    findings.tables.pop()?.samples.pop()
}

/// A sample of times.
pub(super) fn of_seconds(values: Vec<f64>) -> bakeoff_readers::Sample {
    bakeoff_readers::Sample { unit: "sec".to_owned(), values, ..bakeoff_readers::Sample::default() }
}

fn is_difference(row: &SampleRow) -> bool {
    let verdict = row.comparison.as_ref().map(|comparison| comparison.verdict);
    verdict.is_none_or(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower | Verdict::Negligible))
}

/// Two variants that are the same, 20 trials of one and then 20 of the other: [a verdict is refused, they are called
/// different although time is visible].
pub(super) fn sequential(world: World, stream: &mut Stream) -> Sample {
    let Some(row) = unpaired(world, 0.0, stream) else { return [1.0; 4] };
    [flag(row.refused.is_some()), flag(is_difference(&row) && row.time_could_explain.is_some()), 0.0, 0.0]
}

/// One of them takes twice as long: [that is said].
pub(super) fn obvious(world: World, stream: &mut Stream) -> Sample {
    let row = unpaired(world, std::f64::consts::LN_2, stream);
    [flag(row.is_some_and(|row| row.refused.is_none() && is_difference(&row))), 0.0, 0.0, 0.0]
}
