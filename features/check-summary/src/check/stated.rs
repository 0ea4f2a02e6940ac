//! What ministat printed with the figures, compared with them: does "Difference at 95.0% confidence" follow from the rows that
//! it stands below? It is asked by ministat's own method, Student's pooled t and its table, and only what no values with
//! these figures can give does not follow. Whether the difference is real is another question.

use super::compare::Pair;
use super::finding::SummaryFinding;
use crate::figures::compare::{Estimate, Sample, pooled};
use crate::figures::{Range, intersect};
use crate::published::{Figure, Stated, StatedDifference};
use bakeoff_stats::ministat::{LEVELS, tabulated};
use serde::{Deserialize, Serialize};

/// Whether what was stated follows from the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Follows {
    /// It does, as far as the digits tell.
    Yes,
    /// No values with these figures give it: the figures show a difference where none was proven, or the other way.
    OtherOutcome,
    /// The difference, or its part of the mean, is another one.
    OtherDifference,
    /// The half-width, or the pooled standard deviation, is another one.
    OtherWidth,
    /// The figures are impossible, or n or the standard deviation is missing.
    Unknown,
}

/// What was stated, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatedFinding {
    /// As it was read.
    pub stated: Stated,
    /// The one that it is about, and the one that this is compared with.
    #[serde(flatten)]
    pub pair: Pair,
    /// Whether it follows.
    pub follows: Follows,
    /// What the figures give by the same method, with the half-width as ministat's table has it; none if unknown.
    pub difference: Option<Estimate>,
}

/// What ministat computes of two samples, each from the least to the greatest that the digits allow.
struct Computed {
    difference: Range,
    half_width: Range,
    pooled_sd: Range,
}

/// Judges what was stated; none if it is about nothing that was read.
pub(super) fn judge(stated: &Stated, summaries: &[SummaryFinding]) -> Option<StatedFinding> {
    let (subject, object) = (summaries.get(stated.subject)?, summaries.get(stated.object)?);
    let samples = object.sample().zip(subject.sample());
    let computed = samples.and_then(|(a, b)| compute(&a, &b, stated.confidence.value));
    let follows = match (&computed, object.mean) {
        (Some(computed), Some(mean)) => follows(stated, computed, mean),
        _ => Follows::Unknown,
    };
    let difference = computed.map(|Computed { difference: [low, high], half_width: [narrow, wide], .. }| Estimate {
        estimate: [low, high],
        low: [low - wide, high - narrow],
        high: [low + narrow, high + wide],
    });
    Some(StatedFinding { stated: stated.clone(), pair: Pair::of(subject, object), follows, difference })
}

/// By Student's pooled t; at a level that ministat knows, with the quantile of its table, and otherwise with the exact one.
fn compute(a: &Sample, b: &Sample, percent: f64) -> Option<Computed> {
    let band = pooled(a, b, 1.0 - percent / 100.0)?.estimate;
    let freedom = a.n.saturating_add(b.n).saturating_sub(2);
    let halves = [band.high[0] - band.estimate[0], band.high[1] - band.estimate[1]];
    let per_sd = (1.0 / a.n as f64 + 1.0 / b.n as f64).sqrt();
    let exact = bakeoff_stats::student::t_quantile(1.0 - (1.0 - percent / 100.0) / 2.0, freedom as f64)?;
    let level = LEVELS.iter().position(|level| (level - percent).abs() < 1e-9);
    let tabulated = level.map(|level| tabulated(freedom, level)).filter(|t| t.is_finite());
    // Editions and the digits of the table differ by less than this.
    let slack = 6e-4 / exact;
    let scale = tabulated.map_or(1.0, |t| t / exact);
    Some(Computed {
        difference: band.estimate,
        half_width: [halves[0] * (scale - slack), halves[1] * (scale + slack)],
        pooled_sd: halves.map(|half| half / (exact * per_sd)),
    })
}

fn follows(stated: &Stated, computed: &Computed, mean: Range) -> Follows {
    let [low, high] = computed.difference;
    let most = low.abs().max(high.abs());
    let least = low.max(-high).max(0.0);
    let Some(StatedDifference { absolute, percent, pooled_sd }) = &stated.difference else {
        return if least > computed.half_width[1] { Follows::OtherOutcome } else { Follows::Yes };
    };
    if most < computed.half_width[0] {
        return Follows::OtherOutcome;
    }
    let parts = |range: Range| quotients(range, mean).map(|part| part * 100.0);
    let apart = |figure: Option<&Figure>, range: Range| {
        figure.is_some_and(|figure| intersect(figure.range(), widened(range)).is_none())
    };
    let (absolute, percent) = (absolute.as_ref(), percent.as_ref().filter(|_| mean[0] > 0.0));
    if apart(absolute.map(|[difference, _]| difference), computed.difference)
        || apart(percent.map(|[part, _]| part), parts(computed.difference))
    {
        return Follows::OtherDifference;
    }
    // FreeBSD's of today counts the error of the first mean, too, which makes the part wider or narrower.
    let width = parts(computed.half_width);
    let ratio = quotients([mean[0] + low, mean[1] + high], mean);
    let width = [width[0] * ratio[0].abs().min(1.0), width[1] * ratio[1].abs().max(1.0)];
    let other_width = apart(absolute.map(|[_, width]| width), computed.half_width)
        || apart(percent.map(|[_, width]| width), width)
        || apart(pooled_sd.as_ref(), computed.pooled_sd);
    if other_width { Follows::OtherWidth } else { Follows::Yes }
}

/// All quotients of two ranges, of which the second is positive.
fn quotients(a: Range, b: Range) -> Range {
    let all = [a[0] / b[0], a[0] / b[1], a[1] / b[0], a[1] / b[1]];
    [all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

/// ministat prints six significant digits, and computes in floating point.
fn widened([low, high]: Range) -> Range {
    let slack = 5e-6 * low.abs().max(high.abs());
    [low - slack, high + slack]
}
