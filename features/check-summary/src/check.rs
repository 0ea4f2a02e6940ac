//! Judging published figures: each summary, whether it is possible and which values gave it; each against the baseline;
//! and each claim about them. The figures are known to their printed digits only, so every number is a range, and
//! nothing is called shown unless it is shown wherever in its range each figure is. It never sees the order in which
//! values came about, and says so.

mod caveat;
mod claims;
mod compare;
mod finding;
mod stated;
#[cfg(test)]
mod tests;
mod words;

use crate::figures::{self, Figures, Range};
use crate::published::claim::{Claim, baseline_of};
use crate::published::{Figure, Printing, Published, Summary};
use serde::Serialize;

pub use crate::figures::compare::{Estimate, Test};
pub use caveat::Caveat;
pub use claims::{ClaimFinding, Outcome, Why};
pub use compare::{Comparison, Pair, Shown};
pub use finding::{SdFrom, SummaryFinding, Terms};
pub use stated::{Follows, StatedFinding};

/// The version of [`SummaryFindings`].
pub const FORMAT: u32 = 3;

/// All that is said of published figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryFindings {
    /// [`FORMAT`].
    pub format: u32,
    /// How they were judged.
    pub terms: Terms,
    /// How they were printed.
    pub printing: Printing,
    /// Lines of the text that were not needed.
    pub lines_left_out: usize,
    /// Lines that were taken as titles or remarks, counted from 1.
    pub lines_unread: Vec<usize>,
    /// Titles of columns with numbers that are no known figures.
    pub columns_unread: Vec<String>,
    /// One for each summary, in their order.
    pub summaries: Vec<SummaryFinding>,
    /// One for each summary that has a baseline of its quantity and unit.
    pub comparisons: Vec<Comparison>,
    /// One for each difference that was printed with the figures.
    pub stated: Vec<StatedFinding>,
    /// One for each claim, in their order.
    pub claims: Vec<ClaimFinding>,
    /// Doubts about all of it.
    pub caveats: Vec<Caveat>,
}

/// Judges published figures and claims about them.
pub fn check_summary(published: &Published, claims: &[Claim], terms: Terms) -> SummaryFindings {
    let summaries: Vec<SummaryFinding> =
        published.summaries.iter().map(|summary| finding(summary, published.printing)).collect();
    let pairs = (0..summaries.len()).map(|at| (at, baseline_of(&published.summaries, terms.baseline, at)));
    let comparisons: Vec<Comparison> = pairs
        .filter(|(at, baseline)| at != baseline)
        .map(|(at, baseline)| compare::compare(&summaries[at], &summaries[baseline], &terms))
        .collect();
    let judged = claims.iter().filter_map(|claim| {
        let (subject, object) = (summaries.get(claim.subject)?, summaries.get(claim.object)?);
        Some(claims::judge(claim, subject, object, &terms))
    });
    let stated = published.stated.iter().filter_map(|stated| stated::judge(stated, &summaries));
    SummaryFindings {
        format: FORMAT,
        terms,
        printing: published.printing,
        lines_left_out: published.lines_left_out,
        lines_unread: published.lines_unread.clone(),
        columns_unread: published.columns_unread.clone(),
        claims: judged.collect(),
        stated: stated.collect(),
        caveats: caveats(&summaries, &comparisons, claims),
        summaries,
        comparisons,
    }
}

fn finding(summary: &Summary, printing: Printing) -> SummaryFinding {
    let range = |figure: &Option<Figure>| figure.as_ref().map(Figure::range);
    let figures = Figures {
        n: summary.n.unwrap_or(0),
        min: range(&summary.min),
        max: range(&summary.max),
        median: range(&summary.median),
        mean: range(&summary.mean),
        sd: range(&summary.sd).map(|sd| if printing == Printing::EightDigits { one_pass(sd, summary) } else { sd }),
    };
    let narrowed = match summary.n {
        Some(_) => figures::narrow(&figures),
        None => figures::narrow_without_n(&figures),
    };
    let impossible = narrowed.as_ref().err().map(|fault| words::fault(fault, summary));
    let possible = narrowed.ok();
    let values = possible.as_ref().and_then(figures::reconstruct).filter(|_| summary.n.is_some_and(|n| n <= 3));
    let sd_from = match (&summary.sd, &values, possible.and_then(|f| f.sd)) {
        (Some(_), _, _) => SdFrom::Published,
        (None, Some(_), Some(_)) => SdFrom::Values,
        (None, None, Some(_)) => SdFrom::Bounds,
        (None, _, None) => SdFrom::Nothing,
    };
    let (mean, sd) = possible.map_or((None, None), |f| (f.mean, f.sd));
    SummaryFinding { published: summary.clone(), impossible, values, mean, sd, sd_from }
}

/// ministat computes the variance in one pass, (Σx² − (Σx)²/n)/(n − 1), whose error grows with the square of the values
/// (Chan, Golub & LeVeque 1983): what it printed can be off by that much more than its digits.
fn one_pass([low, high]: Range, summary: &Summary) -> Range {
    let sizes = [&summary.min, &summary.max, &summary.mean].into_iter().flatten().map(|figure| figure.value.abs());
    let size = sizes.fold(0.0, f64::max);
    if size <= 0.0 {
        return [low, high];
    }
    let Some(n) = summary.n else { return [low, high] };
    let error = 2.0 * n as f64 * f64::EPSILON;
    let square = |s: f64| (s / size) * (s / size).abs();
    let low_square = square(low) - error;
    let widest = (square(high) + error).max(0.0).sqrt() * size;
    [low_square.abs().sqrt().copysign(low_square) * size, widest.max(high)]
}

/// What no summary can tell.
fn caveats(summaries: &[SummaryFinding], comparisons: &[Comparison], claims: &[Claim]) -> Vec<Caveat> {
    if comparisons.is_empty() && claims.is_empty() {
        return vec![];
    }
    let intervals = comparisons.iter().filter(|comparison| comparison.welch.is_some()).count();
    let is_n_unknown = summaries.iter().any(|summary| summary.published.n.is_none());
    let doubts = [
        Some(Caveat::OrderUnknown),
        (intervals > 0).then_some(Caveat::ModelBased),
        is_n_unknown.then_some(Caveat::NUnknown),
        (intervals > 1).then_some(Caveat::Uncorrected),
    ];
    doubts.into_iter().flatten().collect()
}
