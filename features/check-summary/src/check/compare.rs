//! One summary against another: difference and ratio with their intervals, and what they show. Numbers in, numbers
//! out; the words are the report's.

use super::caveat::Caveat;
use super::finding::{SdFrom, SummaryFinding, Terms};
use crate::figures::Range;
use crate::figures::compare::{self as stats, Estimate, Test};
use crate::published::Summary;
use bakeoff_stats::equivalence::Zone;
use serde::{Deserialize, Serialize};

/// Two summaries that are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The summary's name.
    pub name: String,
    /// The baseline's.
    pub baseline: String,
    /// What was measured of both.
    pub quantity: Option<String>,
    /// The unit of both.
    pub unit: Option<String>,
}

impl Pair {
    pub(super) fn of(one: &SummaryFinding, baseline: &SummaryFinding) -> Self {
        let Summary { name, quantity, unit, .. } = one.published.clone();
        Self { name, baseline: baseline.published.name.clone(), quantity, unit }
    }
}

/// A summary against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Which two.
    #[serde(flatten)]
    pub pair: Pair,
    /// Its mean less the baseline's; from the least to the greatest that the digits allow. None without means.
    pub difference: Option<Range>,
    /// Its mean by the baseline's; none unless both are positive.
    pub ratio: Option<Range>,
    /// The difference by Student's pooled t, as ministat has it; none without two values of each and a bounded sd.
    pub pooled: Option<Test>,
    /// The difference by Welch's t.
    pub welch: Option<Test>,
    /// The ratio by Fieller's theorem for independent arms; none if unbounded, too.
    pub ratio_interval: Option<Estimate>,
    /// The ratio with the interval of confidence 1 − 2α, which must lie within the margin to show equivalence.
    pub equivalence_interval: Option<Estimate>,
    /// Whether the two differ, by the ratio's interval, or Welch's where there is none.
    pub differ: Shown,
    /// Whether they are equivalent at the margin.
    pub equivalent: Shown,
    /// What is missing for an interval; empty if there is one.
    pub missing: Vec<String>,
    /// Doubts about this comparison.
    pub caveats: Vec<Caveat>,
}

/// Whether something is shown, wherever in their ranges the figures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It depends on what the figures were before they were printed, or on what was not published.
    Open,
    /// Too little is known.
    Unknown,
}

/// Whether an interval leaves out a value.
fn excludes(Estimate { low, high, .. }: Estimate, value: f64) -> Shown {
    if low[0] > value || high[1] < value {
        Shown::Yes
    } else if low[1] <= value && high[0] >= value {
        Shown::No
    } else {
        Shown::Open
    }
}

fn within(Estimate { low, high, .. }: Estimate, zone: Range) -> Shown {
    if zone[0] <= low[0] && high[1] <= zone[1] {
        Shown::Yes
    } else if low[1] < zone[0] || high[0] > zone[1] {
        Shown::No
    } else {
        Shown::Open
    }
}

/// The ratios that do not matter.
pub(super) fn zone(margin: f64) -> Range {
    let half = Zone::of_log_ratios(margin).half_width;
    [(-half).exp(), half.exp()]
}

/// Whether the ratio is within a margin.
pub(super) fn equivalent(comparison: &Comparison, margin: f64) -> Shown {
    comparison.equivalence_interval.map_or(Shown::Unknown, |estimate| within(estimate, zone(margin)))
}

pub(super) fn compare(one: &SummaryFinding, baseline: &SummaryFinding, terms: &Terms) -> Comparison {
    let alpha = 1.0 - terms.confidence;
    let difference = one.mean.zip(baseline.mean).map(|(b, a)| [b[0] - a[1], b[1] - a[0]]);
    let positive = |mean: &Range| mean[0] > 0.0;
    let ratio = one.mean.filter(positive).zip(baseline.mean.filter(positive)).map(|(b, a)| [b[0] / a[1], b[1] / a[0]]);
    let samples = baseline.sample().zip(one.sample());
    let welch: Option<Test> = samples.and_then(|(a, b)| stats::welch(&a, &b, alpha));
    let ratio_at = |alpha| samples.and_then(|(a, b)| stats::ratio(&a, &b, alpha));
    let ratio_interval = ratio_at(alpha);
    let differ = match (ratio_interval, welch) {
        (Some(estimate), _) => excludes(estimate, 1.0),
        (None, Some(test)) => excludes(test.estimate, 0.0),
        (None, None) => Shown::Unknown,
    };
    let mut comparison = Comparison {
        pair: Pair::of(one, baseline),
        difference,
        ratio,
        pooled: samples.and_then(|(a, b)| stats::pooled(&a, &b, alpha)),
        welch,
        ratio_interval,
        equivalence_interval: ratio_at(2.0 * alpha),
        differ,
        equivalent: Shown::Unknown,
        missing: if welch.is_some() { vec![] } else { [baseline, one].into_iter().filter_map(missing).collect() },
        caveats: caveats(one, baseline, terms.confidence),
    };
    comparison.equivalent = equivalent(&comparison, terms.margin);
    comparison
}

/// What an interval would need of a summary, in words; none if nothing.
fn missing(finding: &SummaryFinding) -> Option<String> {
    let name = &finding.published.name;
    match (finding.published.n, finding.mean, finding.sd) {
        _ if finding.impossible.is_some() => Some(format!("possible figures of {name}")),
        (None, None, _) => Some(format!("n and the mean of {name}")),
        (None, _, _) if finding.published.sd.is_none() => Some(format!("n and the sd of {name}")),
        (None, _, _) => Some(format!("n of {name}")),
        (Some(1), _, _) => Some(format!("a second value of {name}")),
        (_, None, _) => Some(format!("the mean of {name}")),
        (_, _, None) => Some(format!("the sd of {name}")),
        _ => None,
    }
}

fn caveats(one: &SummaryFinding, baseline: &SummaryFinding, confidence: f64) -> Vec<Caveat> {
    let mut caveats = vec![];
    if let (Some(n_b), Some(n_a)) = (one.published.n, baseline.published.n)
        && n_a > 1
        && n_b > 1
        && let smallest_p = stats::smallest_exact_p(n_a, n_b)
        && smallest_p > 1.0 - confidence
    {
        caveats.push(Caveat::TooFewValues { n: [n_a, n_b], confidence, smallest_p });
    }
    if [one, baseline].iter().any(|finding| finding.sd_from == SdFrom::Bounds) {
        caveats.push(Caveat::SdBounded);
    }
    caveats
}
