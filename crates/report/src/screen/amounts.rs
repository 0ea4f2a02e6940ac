//! Comparisons in the few words that a row has room for: up to a factor of two in percent, beyond it as a factor.

use crate::format::{decimals_of, fixed};
use crate::words::{Change, Wording};
use bakeoff_judge::findings::{Comparison, Inferred, Scale, Verdict};
use bakeoff_model::metric::{Direction, Unit};

/// From this factor on, percent are hard to read.
const FACTOR: f64 = 2.0;
/// Significant digits of a factor.
const DIGITS: usize = 3;

/// A comparison in words: what is claimed, and the interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    /// `8.0 % slower`, `4.35 × as fast`, `undecided`.
    pub claim: String,
    /// `4.6 … 10.4 %`, `4.25 … 4.44`; empty if there is none.
    pub interval: String,
}

impl Amount {
    /// What is claimed of a comparison in a metric of this unit.
    pub fn of(comparison: &Comparison, unit: Unit, better: Direction) -> Self {
        let change = Change::with(comparison, comparison.printed_interval(), unit);
        let unvaried = || comparison.unvaried().map_or(String::new(), did_not_vary);
        let alone = || Change::interval_alone(comparison, comparison.printed_interval(), unit).unwrap_or_else(unvaried);
        let claim = |word: &str| Self { claim: word.to_owned(), interval: alone() };
        match comparison.verdict {
            Verdict::Faster | Verdict::Slower => factor(comparison, unit).unwrap_or_else(|| {
                let word = Wording::of(unit, better).direction(&change);
                let interval = match comparison.inferred {
                    Inferred::Exact => "exact".to_owned(),
                    _ => change.range().unwrap_or_else(unvaried),
                };
                Self { claim: format!("{} {word}", change.amount()), interval }
            }),
            Verdict::Negligible => claim("negligible"),
            Verdict::Equivalent if comparison.inferred == Inferred::Exact => {
                Self { claim: "the same".to_owned(), interval: "exact".to_owned() }
            }
            Verdict::Equivalent => claim("equivalent"),
            Verdict::Undecided { .. } => match comparison.inferred {
                Inferred::TooFew => claim("too few blocks"),
                Inferred::TooCoarse => claim("clock too coarse"),
                _ => claim("undecided"),
            },
            Verdict::Withheld => Self { claim: "other output".to_owned(), interval: String::new() },
        }
    }
}

/// What is printed where values that can vary did not.
pub(super) fn did_not_vary(runs: u32) -> String {
    format!("did not vary in {runs} runs")
}

/// A ratio of two or more, or of a half or less, as a factor; none where percent serve.
fn factor(comparison: &Comparison, unit: Unit) -> Option<Amount> {
    let ratio = comparison.estimate;
    if comparison.scale != Scale::Ratio || (1.0 / FACTOR..FACTOR).contains(&ratio) || ratio == 1.0 / FACTOR {
        return None;
    }
    let as_what = match (unit, ratio > 1.0) {
        (Unit::Seconds, true) => "as long",
        (Unit::Seconds, false) => "as fast",
        (Unit::Bytes, true) => "as much",
        (Unit::Count | Unit::GuestInstructions, true) => "as many",
        (Unit::PerSecond, true) => "as high",
        (_, false) => return None,
    };
    let outward = |x: f64| if ratio > 1.0 { x } else { 1.0 / x };
    let times = outward(ratio);
    let decimals = decimals_of(times, DIGITS);
    let interval = match (comparison.inferred, comparison.printed_interval()) {
        (Inferred::Exact, _) => "exact".to_owned(),
        (_, None) => comparison.unvaried().map_or(String::new(), did_not_vary),
        (_, Some([low, high])) => {
            let [low, high] = if ratio > 1.0 { [low, high] } else { [outward(high), outward(low)] };
            format!("{} … {}", fixed(low, decimals), fixed(high, decimals))
        }
    };
    Some(Amount { claim: format!("{} × {as_what}", fixed(times, decimals)), interval })
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
        assert_eq!([amount.claim.as_str(), amount.interval.as_str()], expect);
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
