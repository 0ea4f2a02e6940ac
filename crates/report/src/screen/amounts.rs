//! Comparisons in the few words that a row has room for: up to a factor of two in percent, beyond it as a factor.

use crate::draw::rendered::{Rendered, Role};
use crate::format::{decimals_of, fixed, percent};
use crate::words::{self, Change, Wording};
use bakeoff_judge::findings::{Comparison, Inferred, Scale, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use serde::Serialize;

/// From this factor on, percent are hard to read.
const FACTOR: f64 = 2.0;
const DIGITS: usize = 3;

/// What is claimed of a comparison: as data, and in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// How large the difference is that is claimed; none where none is.
    pub size: Option<Size>,
    /// `8.0 % slower`, `4.35 × as fast`, `undecided`.
    pub claim: Rendered,
    /// `4.6 … 10.4 %`, `4.25 … 4.44`; empty if there is none.
    pub interval: Rendered,
}

/// How large a difference is, whatever its direction, and the ends of its interval in that direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the fields are an estimate and its interval")]
pub enum Size {
    /// In percent of the baseline.
    Percent { estimate: f64, interval: Option<[f64; 2]> },
    /// As a factor.
    Times { estimate: f64, interval: Option<[f64; 2]>, r#as: As },
    /// In the metric's base unit.
    Absolute { estimate: f64, interval: Option<[f64; 2]> },
}

/// What there is that number of times as much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names are words of the sentence")]
pub enum As {
    Long,
    Fast,
    Much,
    Many,
    High,
}

impl Amount {
    /// What is claimed of a comparison in a metric of this unit.
    pub fn of(comparison: &Comparison, unit: Unit, better: Direction) -> Self {
        let interval = comparison.printed_interval();
        let ink = words::ink(comparison.verdict);
        let size = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower).then(|| Size::of(comparison, unit));
        let is_exact = comparison.inferred == Inferred::Exact;
        let (claim, range) = match (size, comparison.verdict) {
            (Some(Size::Times { estimate, interval, r#as }), _) => {
                let decimals = decimals_of(estimate, DIGITS);
                let range = interval.map(|ends| ends.map(|end| fixed(end, decimals)));
                let range = range.map(|[low, high]| format!("{low} … {high}"));
                (format!("{} × as {}", fixed(estimate, decimals), r#as.word()), range)
            }
            (Some(_), _) => {
                let change = Change::with(comparison, interval, unit);
                (format!("{} {}", change.amount(), Wording::of(unit, better).direction(&change)), change.range())
            }
            (None, verdict) => {
                let claim = match (verdict, comparison.inferred) {
                    (Verdict::Negligible, _) => "negligible",
                    (Verdict::Equivalent, Inferred::Exact) => "the same",
                    (Verdict::Withheld, _) => "other output",
                    (Verdict::Undecided { .. }, Inferred::TooFew) => "too few blocks",
                    (Verdict::Undecided { .. }, Inferred::TooCoarse) => "clock too coarse",
                    (Verdict::Undecided { .. }, _) => "undecided",
                    _ => "equivalent",
                };
                (claim.to_owned(), Change::interval_alone(comparison, interval, unit))
            }
        };
        let range = match comparison.verdict {
            Verdict::Withheld => String::new(),
            Verdict::Faster | Verdict::Slower | Verdict::Equivalent if is_exact => "exact".to_owned(),
            _ => range.or_else(|| comparison.unvaried().map(did_not_vary)).unwrap_or_default(),
        };
        let claim = if size.is_some() && comparison.on_the_whole().is_some() { claim + " on the whole" } else { claim };
        Self { size, claim: Rendered::new(Role::Claim(ink), claim), interval: Rendered::new(Role::Interval, range) }
    }

    /// The verb before the claim, and the word after it: `takes … as`, `needs … than`.
    pub fn joints(&self, wording: Wording) -> [&'static str; 2] {
        match self.size {
            Some(Size::Times { r#as: As::Long, .. }) => ["takes", "as"],
            Some(Size::Times { .. }) => [wording.verb()[0], "as"],
            _ => [wording.verb()[0], "than"],
        }
    }
}

/// Two that are not shown to differ by more than the margin: `a and b are equivalent in wall time: within ±1 %`. What
/// they were compared in follows its preposition; of those that cannot be distinguished, the most that they may differ
/// by is given.
pub fn not_apart(comparison: &Comparison, names: [Rendered; 2], of: Rendered, margin: f64, unit: Unit) -> Rendered {
    let [one, other] = names;
    let within = format!("within ±{}", percent(margin));
    let both = text![one, " and ", other];
    match comparison.verdict {
        Verdict::Negligible => text![both, " differ", of, ", but ", within],
        Verdict::Equivalent => text![both, " are equivalent", of, ": ", within],
        _ => {
            let most = most_apart(comparison, unit).map(|most| format!(": any difference is at most {most}"));
            text![both, " cannot be distinguished", most.unwrap_or_default()]
        }
    }
}

/// The larger end of an undecided interval.
pub(super) fn most_apart(comparison: &Comparison, unit: Unit) -> Option<String> {
    Change::furthest(comparison, unit).filter(|_| comparison.scale == Scale::Ratio)
}

impl Size {
    /// A ratio of two or more, or of a half or less, is a factor.
    fn of(comparison: &Comparison, unit: Unit) -> Self {
        let (ratio, interval) = (comparison.estimate, comparison.printed_interval());
        if comparison.scale == Scale::Difference {
            let sign = if ratio < 0.0 { -1.0 } else { 1.0 };
            return Self::Absolute {
                estimate: ratio.abs(),
                interval: directed(interval, sign < 0.0, |end| sign * end),
            };
        }
        let is_less = ratio < 1.0;
        if let Some(r#as) = As::of(ratio, unit) {
            let times = |ratio: f64| if is_less { 1.0 / ratio } else { ratio };
            return Self::Times { estimate: times(ratio), interval: directed(interval, is_less, times), r#as };
        }
        let percent = |ratio: f64| 100.0 * if is_less { 1.0 - ratio } else { ratio - 1.0 };
        Self::Percent { estimate: percent(ratio), interval: directed(interval, is_less, percent) }
    }
}

fn directed(interval: Option<[f64; 2]>, is_less: bool, to: impl Fn(f64) -> f64) -> Option<[f64; 2]> {
    interval.map(|[low, high]| if is_less { [to(high), to(low)] } else { [to(low), to(high)] })
}

impl As {
    /// None where percent serve.
    fn of(ratio: f64, unit: Unit) -> Option<Self> {
        if ratio > 1.0 / FACTOR && ratio < FACTOR || ratio == 1.0 / FACTOR {
            return None;
        }
        match (unit, ratio > 1.0) {
            (Unit::Seconds, true) => Some(Self::Long),
            (Unit::Seconds, false) => Some(Self::Fast),
            (Unit::Bytes, true) => Some(Self::Much),
            (Unit::Count | Unit::GuestInstructions, true) => Some(Self::Many),
            (Unit::PerSecond, true) => Some(Self::High),
            (_, false) => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Fast => "fast",
            Self::Much => "much",
            Self::Many => "many",
            Self::High => "high",
        }
    }
}

/// What is printed where values that can vary did not.
pub(super) fn did_not_vary(runs: u32) -> String {
    format!("did not vary in {runs} runs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_judge::findings::{Test, Tested};

    fn check(estimate: f64, interval: [f64; 2], unit: Unit, verdict: Verdict, expect: [&str; 2]) {
        let tested = Tested {
            test: Test::SignFlip,
            p: Some(0.001),
            p_corrected: Some(0.001),
            interval: Some(interval),
            equivalence_interval: Some(interval),
        };
        let comparison = Comparison {
            blocks: 20,
            scale: Scale::Ratio,
            estimate,
            confidence: 0.95,
            inferred: Inferred::Tested(tested),
            resolution: 0.0,
            verdict,
            detectable: None,
            ratio_of_means: None,
            ratio_of_max: None,
            better_in: None,
            caveats: vec![],
        };
        let amount = Amount::of(&comparison, unit, Direction::Less);
        assert_eq!([amount.claim, amount.interval].map(|text| text.shown()), expect);
    }

    #[test]
    fn above_a_factor_of_two_there_are_no_percent() {
        use Unit::{Bytes, Seconds};
        use Verdict::{Faster, Negligible, Slower};
        check(1.08, [1.046, 1.104], Seconds, Slower, ["8.0 % slower", "4.6 … 10.4 %"]);
        check(0.23, [0.2252, 0.2353], Seconds, Faster, ["4.35 × as fast", "4.25 … 4.44"]);
        check(14.9, [14.6, 15.2], Seconds, Slower, ["14.9 × as long", "14.6 … 15.2"]);
        check(2.0, [1.9, 2.1], Seconds, Slower, ["2.00 × as long", "1.90 … 2.10"]);
        check(3.18, [3.1, 3.2], Bytes, Slower, ["3.18 × as much", "3.10 … 3.20"]);
        check(0.2, [0.19, 0.21], Bytes, Faster, ["80.0 % less", "79.0 … 81.0 %"]);
        check(1.004, [1.002, 1.006], Seconds, Negligible, ["negligible", "+0.2 … +0.6 %"]);
    }
}
