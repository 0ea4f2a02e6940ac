//! Judging a claim about two summaries. A claim is supported only if the figures show it wherever in their ranges they
//! are; it is contradicted only if they show the opposite everywhere; anything between is not shown, and why not is
//! said. "Not significant" is never taken for "equal".

use super::compare::{Comparison, Shown, compare, equivalent, zone};
use super::finding::{SummaryFinding, Terms};
use crate::figures::{Range, intersect};
use crate::published::claim::{Amount, Claim, Says, Way};
use crate::published::{Figure, is_rate};
use serde::{Deserialize, Serialize};

/// What becomes of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The figures show it.
    Supported,
    /// The figures show the opposite.
    Contradicted,
    /// The figures show neither.
    NotShown,
    /// The figures themselves are impossible, and show nothing.
    Impossible,
}

/// Why a claim has its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A summary is impossible; its name.
    ImpossibleFigures(String),
    /// Without n ≥ 2, mean and spread of both there is no interval.
    TooLittleKnown,
    /// Units that do not match: the claim's and the figures'.
    OtherUnit(String, Option<String>),
    /// The interval shows it: the way, and the size if one was claimed.
    Shows,
    /// The interval includes no difference.
    IncludesNoDifference,
    /// Whether the interval includes no difference depends on digits that were not printed.
    DependsOnDigits,
    /// The interval shows a difference the other way.
    OtherWay,
    /// The way is shown, but the claimed size lies outside the interval.
    SizeOutside,
    /// The way is shown and the size lies within the interval, but the figures give another one.
    OtherSize,
    /// The interval lies within the margin.
    WithinMargin,
    /// The interval lies within the margin, and excludes no difference.
    WithinMarginButDifferent,
    /// The interval lies outside the margin.
    OutsideMargin,
    /// The interval reaches beyond the margin: neither equality nor a difference of that size is shown.
    BeyondMargin,
    /// They are shown to differ; claimed was that they do not, with no margin.
    Differ,
    /// There is no interval, but the published means alone give another size or way.
    Arithmetic,
    /// A test did not find a difference, which is all that was claimed.
    NotSignificant,
}

/// A claim, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimFinding {
    /// As it was read.
    pub claim: Claim,
    /// What becomes of it.
    pub outcome: Outcome,
    /// Why.
    pub why: Why,
    /// The margin that was judged at, as a fraction, if the claim is about equality.
    pub margin: Option<f64>,
    /// Subject against object.
    pub comparison: Comparison,
}

/// Judges one claim.
pub(super) fn judge(claim: &Claim, subject: &SummaryFinding, object: &SummaryFinding, terms: &Terms) -> ClaimFinding {
    let comparison = compare(subject, object, terms);
    let margin = match &claim.says {
        Says::Equal { within } => Some(within.as_ref().map_or(terms.margin, |figure| figure.value / 100.0)),
        _ => None,
    };
    let impossible = [subject, object].into_iter().find(|finding| finding.impossible.is_some());
    let (outcome, why) = match impossible {
        Some(finding) => (Outcome::Impossible, Why::ImpossibleFigures(finding.published.name.clone())),
        None => match &claim.says {
            Says::Differs { way, amount } => differs(*way, amount.as_ref(), &comparison, terms),
            Says::Different => by_shown(comparison.differ, Outcome::Supported, Why::Shows),
            Says::Equal { within } => equal(within.is_some(), margin.unwrap_or(terms.margin), &comparison),
            Says::NotSignificant => match comparison.differ {
                Shown::No => (Outcome::Supported, Why::NotSignificant),
                shown => by_shown(shown, Outcome::Contradicted, Why::Differ),
            },
        },
    };
    ClaimFinding { claim: claim.clone(), outcome, why, margin, comparison }
}

/// What follows where a difference is shown, and what where it is not.
fn by_shown(shown: Shown, outcome: Outcome, why: Why) -> (Outcome, Why) {
    match shown {
        Shown::Yes => (outcome, why),
        Shown::No => (Outcome::NotShown, Why::IncludesNoDifference),
        Shown::Open => (Outcome::NotShown, Why::DependsOnDigits),
        Shown::Unknown => (Outcome::NotShown, Why::TooLittleKnown),
    }
}

fn equal(with_margin: bool, margin: f64, comparison: &Comparison) -> (Outcome, Why) {
    let Some(interval) = comparison.ratio_interval else { return (Outcome::NotShown, Why::TooLittleKnown) };
    let [low, high] = zone(margin);
    let outside = interval.low[0] > high || interval.high[1] < low;
    match (equivalent(comparison, margin), comparison.differ) {
        _ if outside => (Outcome::Contradicted, Why::OutsideMargin),
        (Shown::Yes, Shown::Yes) if with_margin => (Outcome::Supported, Why::WithinMarginButDifferent),
        // Without a margin of its own the claim is of no difference at all.
        (Shown::Yes, Shown::Yes) => (Outcome::Contradicted, Why::WithinMarginButDifferent),
        (Shown::Yes, _) => (Outcome::Supported, Why::WithinMargin),
        (_, Shown::Yes) if !with_margin => (Outcome::Contradicted, Why::Differ),
        (Shown::Open, _) => (Outcome::NotShown, Why::DependsOnDigits),
        _ => (Outcome::NotShown, Why::BeyondMargin),
    }
}

fn differs(way: Way, amount: Option<&Amount>, comparison: &Comparison, terms: &Terms) -> (Outcome, Why) {
    let unit = comparison.pair.unit.as_deref();
    let more_is_better = terms.more_is_better || unit.is_some_and(is_rate);
    let more = match way {
        Way::More => true,
        Way::Less => false,
        Way::Faster => more_is_better,
        Way::Slower => !more_is_better,
    };
    if let Some(Amount::Absolute(_, Some(claimed))) = amount
        && unit.is_some_and(|unit| unit != claimed)
    {
        return (Outcome::NotShown, Why::OtherUnit(claimed.clone(), unit.map(str::to_owned)));
    }
    let Some(difference) = comparison.difference else { return (Outcome::NotShown, Why::TooLittleKnown) };
    if comparison.differ == Shown::Unknown && !means_agree(amount, more, way, comparison) {
        return (Outcome::Contradicted, Why::Arithmetic);
    }
    if comparison.differ != Shown::Yes {
        return by_shown(comparison.differ, Outcome::Supported, Why::Shows);
    }
    let goes_up = difference[0] / 2.0 + difference[1] / 2.0 > 0.0;
    if goes_up != more {
        return (Outcome::Contradicted, Why::OtherWay);
    }
    let Some(amount) = amount else { return (Outcome::Supported, Why::Shows) };
    let (estimate, interval, readings) = match amount {
        Amount::Absolute(figure, _) => {
            let Some(test) = comparison.welch else { return (Outcome::NotShown, Why::TooLittleKnown) };
            (test.estimate.estimate, test.estimate.widest(), vec![signed(figure.range(), more)])
        }
        Amount::Percent(_) | Amount::Times(_) => {
            let Some(interval) = comparison.ratio_interval else { return (Outcome::NotShown, Why::TooLittleKnown) };
            (interval.estimate, interval.widest(), ratios(amount, more, matches!(way, Way::Faster | Way::Slower)))
        }
    };
    let meets = |range: Range| readings.iter().any(|reading| intersect(*reading, range).is_some());
    match (meets(estimate), meets(interval)) {
        (true, _) => (Outcome::Supported, Why::Shows),
        (false, true) => (Outcome::NotShown, Why::OtherSize),
        (false, false) => (Outcome::Contradicted, Why::SizeOutside),
    }
}

/// Whether the means, as far as their digits tell, can differ this way and by this much.
fn means_agree(amount: Option<&Amount>, more: bool, way: Way, comparison: &Comparison) -> bool {
    let readings_meet = |readings: Vec<Range>, range: Range| readings.iter().any(|r| intersect(*r, range).is_some());
    let this_way = comparison.difference.is_none_or(|[low, high]| if more { high > 0.0 } else { low < 0.0 });
    let this_much = match (amount, comparison.difference, comparison.ratio) {
        (Some(Amount::Absolute(figure, _)), Some(range), _) => readings_meet(vec![signed(figure.range(), more)], range),
        (Some(amount @ (Amount::Percent(_) | Amount::Times(_))), _, Some(range)) => {
            readings_meet(ratios(amount, more, matches!(way, Way::Faster | Way::Slower)), range)
        }
        _ => true,
    };
    this_way && this_much
}

fn signed([low, high]: Range, positive: bool) -> Range {
    if positive { [low, high] } else { [-high, -low] }
}

/// The ratios, subject ÷ object, that a claimed size can mean. `20 % faster` is read as 20 % less time and as 20 % more
/// speed; `20 % less` only as what it says.
fn ratios(amount: &Amount, more: bool, speed_too: bool) -> Vec<Range> {
    let inverse = |[low, high]: Range| [1.0 / high, if low > 0.0 { 1.0 / low } else { f64::INFINITY }];
    match amount {
        Amount::Times(figure) if more => vec![figure.range()],
        Amount::Times(figure) => vec![inverse(figure.range())],
        Amount::Percent(figure) => {
            let [low, high] = fractions(figure);
            let (up, down) = ([1.0 + low, 1.0 + high], [1.0 - high, 1.0 - low]);
            let (plain, other) = if more { (up, down) } else { (down, up) };
            if speed_too && other[0] > 0.0 { vec![plain, inverse(other)] } else { vec![plain] }
        }
        Amount::Absolute(..) => vec![],
    }
}

fn fractions(figure: &Figure) -> Range {
    figure.range().map(|percent| percent / 100.0)
}
