//! How a comparison is put into words and digits: the verdict's word for a metric's unit, and estimate and interval
//! as a change or as a ratio, both with the digits that the interval earns. No sentence is made here.

use crate::draw::paint::Ink;
use crate::draw::text::clean;
use crate::format::{exponent, fitting, fixed, percent, signed, units};
use bakeoff_judge::findings::{Caveat, Comparison, Findings, Inferred, Scale, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{SameIn, SharedLine};

/// Digits of an interval's half-width that a ratio shows, and a change in percent.
const RATIO_DIGITS: i32 = 2;
const CHANGE_DIGITS: i32 = 1;
/// No number shows more decimals than this because of its interval.
const DECIMALS_MAX: i32 = 6;

/// A departure smaller than this part of what it departs from is the arithmetic's, and zero.
const ARITHMETIC_NOISE: f64 = 1e-9;

/// How differences of a metric are worded: time is faster or slower, bytes and counts less or more, rates lower or
/// higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wording {
    unit: Unit,
    better: Direction,
}

impl Wording {
    /// The words for values of this unit.
    pub fn of(unit: Unit, better: Direction) -> Self {
        Self { unit, better }
    }

    /// The words for less of it, and for more.
    pub(crate) fn ends(self) -> [&'static str; 2] {
        match (self.unit, self.better) {
            (Unit::Seconds, Direction::Less) => ["faster", "slower"],
            (Unit::Bytes | Unit::Count | Unit::GuestInstructions, _) => ["less", "more"],
            (Unit::PerSecond, _) | (Unit::Seconds, Direction::More) => ["lower", "higher"],
        }
    }

    /// The word for a verdict.
    pub fn verdict(self, verdict: Verdict) -> &'static str {
        let [less, more] = self.ends();
        match (verdict, self.better) {
            (Verdict::Faster, Direction::Less) | (Verdict::Slower, Direction::More) => less,
            (Verdict::Slower, Direction::Less) | (Verdict::Faster, Direction::More) => more,
            (Verdict::Equivalent, _) => "equivalent",
            (Verdict::Negligible, _) => "negligible",
            (Verdict::Undecided { .. }, _) => "undecided",
            (Verdict::Withheld, _) => "other output",
        }
    }

    /// The word for a change's direction, whatever is claimed of it.
    pub fn direction(self, change: &Change) -> &'static str {
        self.ends()[usize::from(!change.is_less())]
    }

    /// Whether a variant is faster or higher, or else needs or has an amount.
    pub fn takes_is(self) -> bool {
        !matches!(self.unit, Unit::Bytes | Unit::Count | Unit::GuestInstructions)
    }

    /// `is`, or what one does with an amount; and its infinitive.
    pub fn verb(self) -> [&'static str; 2] {
        match (self.takes_is(), self.better) {
            (true, _) => ["is", "be"],
            (false, Direction::Less) => ["needs", "need"],
            (false, Direction::More) => ["has", "have"],
        }
    }
}

/// The word for a verdict on a cost in that unit.
pub fn verdict(verdict: Verdict, unit: Unit) -> &'static str {
    Wording::of(unit, Direction::Less).verdict(verdict)
}

/// The ink of a verdict.
pub fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Faster => Ink::Better,
        Verdict::Slower | Verdict::Withheld => Ink::Worse,
        Verdict::Equivalent | Verdict::Negligible => Ink::Same,
        Verdict::Undecided { .. } => Ink::Open,
    }
}

/// A metric as a sentence names it.
pub fn metric(name: &str) -> &str {
    match name {
        "wall" => "wall time",
        "user" => "user time",
        "sys" => "system time",
        "cpu" => "CPU time",
        other => other,
    }
}

/// The same, of a metric whose seconds may be something else.
pub fn metric_in(name: &str, unit: Unit) -> &str {
    match (name, unit) {
        ("wall", Unit::GuestInstructions) => "guest instructions",
        ("user", Unit::GuestInstructions) => "guest instructions in user mode",
        ("sys", Unit::GuestInstructions) => "guest instructions in the kernel",
        ("cpu", Unit::GuestInstructions) => "guest instructions of the trial",
        (name, _) => metric(name),
    }
}

/// The same, where it goes without saying that they are the guest's.
pub fn instructions(name: &str) -> &str {
    match name {
        "wall" => "instructions",
        "user" => "instructions in user mode",
        "sys" => "instructions in the kernel",
        "cpu" => "instructions of the trial",
        name => metric(name),
    }
}

/// How many blocks are missing, as far as that is known: ` (needs about 14 more blocks)`.
pub fn more_blocks(verdict: Verdict) -> String {
    match verdict {
        Verdict::Undecided { more_blocks: Some(n) } => format!(" (needs about {})", counted(n, "more block")),
        _ => String::new(),
    }
}

/// What this number of blocks could have seen, if known: `, a difference of 1.8 % would probably have been seen`.
pub fn detectable(comparison: &Comparison, unit: Unit) -> String {
    let Some(detectable) = comparison.detectable else { return String::new() };
    let (departure, size, name) = match comparison.scale {
        Scale::Ratio => (detectable - 1.0, 0.01, "%"),
        Scale::Difference => {
            let (size, name) = fitting(detectable, units(unit));
            (detectable, size, name)
        }
    };
    let shown = departure / size;
    let decimals = usize::try_from(1 - exponent(shown, 2)).unwrap_or(0);
    let unit = if name.is_empty() { String::new() } else { format!("\u{a0}{name}") };
    format!(", but a difference of {}{unit} would probably have been seen", fixed(shown, decimals))
}

/// `1 block`, `12 blocks`.
pub fn counted(n: u32, noun: &str) -> String {
    format!("{} {noun}{}", fixed(f64::from(n), 0), if n == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Decimals that show this many digits of an interval's half-width, and every departure from "no difference" as one.
fn decimals(departures: &[f64], interval: Option<[f64; 2]>, digits: i32, at_least: i32) -> usize {
    let noise = |[low, high]: [f64; 2]| ARITHMETIC_NOISE * low.abs().max(high.abs());
    let wide = interval.filter(|ends| ends[1] - ends[0] > noise(*ends));
    let half_width = wide.map(|[low, high]| (high - low) / 2.0);
    let for_width = half_width.map(|half| digits - 1 - exponent(half, 2));
    let for_departures = departures.iter().filter(|d| **d != 0.0).map(|d| -exponent(*d, 1));
    let wanted = for_departures.chain(for_width).fold(at_least, i32::max);
    usize::try_from(wanted.min(DECIMALS_MAX)).unwrap_or(0)
}

/// The size of the largest of the numbers.
fn largest(estimate: f64, interval: Option<[f64; 2]>) -> f64 {
    interval.into_iter().flatten().chain([estimate]).map(f64::abs).fold(0.0, f64::max)
}

/// A departure from something of the given size, without the noise of the arithmetic.
fn settled(departure: f64, size: f64) -> f64 {
    if departure.abs() <= ARITHMETIC_NOISE * size { 0.0 } else { departure }
}

/// Estimate and interval as a table shows them: `0.8391 [0.8312, 0.8466]`, or a signed difference in a unit's size.
pub fn against_baseline(comparison: &Comparison, unit_size: f64) -> String {
    let without = match (comparison.inferred, comparison.unvaried()) {
        (Inferred::Exact, _) => "exact".to_owned(),
        (_, Some(runs)) => format!("did not vary in {runs} runs"),
        _ => "none".to_owned(),
    };
    let interval = comparison.printed_interval();
    let written = match comparison.scale {
        Scale::Ratio => ratio(comparison.estimate, interval, &without),
        Scale::Difference => difference(comparison.estimate, interval, unit_size, &without),
    };
    written + &narrower(comparison)
}

/// The confidence of the interval that is shown, where it is not the study's: ` at 90 %`.
pub fn narrower(comparison: &Comparison) -> String {
    let is_other = comparison.is_within() && comparison.printed_interval().is_some();
    if is_other { format!(" at {}", percent(comparison.shown_confidence())) } else { String::new() }
}

/// A signed difference with its interval, in a unit given by its size, or the word for not having one.
pub fn difference(estimate: f64, interval: Option<[f64; 2]>, unit_size: f64, without: &str) -> String {
    let largest = largest(estimate, interval);
    let departure = |x: f64| settled(x, largest) / unit_size;
    let (estimate, interval) = (departure(estimate), interval.map(|i| i.map(departure)));
    let departures: Vec<f64> = interval.into_iter().flatten().chain([estimate]).collect();
    let decimals = decimals(&departures, interval, RATIO_DIGITS, 0);
    bracketed(estimate, interval, without, |x| signed(x, decimals))
}

/// A ratio with its interval, or the word for not having one: `0.8391 [0.8312, 0.8466]`, `1.0400 [none]`.
pub fn ratio(estimate: f64, interval: Option<[f64; 2]>, without: &str) -> String {
    let departures: Vec<f64> =
        interval.into_iter().flatten().chain([estimate]).map(|x| settled(x - 1.0, 1.0)).collect();
    let decimals = decimals(&departures, interval, RATIO_DIGITS, if interval.is_some() { 2 } else { 4 });
    bracketed(estimate, interval, without, |x| fixed(x, decimals))
}

fn bracketed(estimate: f64, interval: Option<[f64; 2]>, without: &str, write: impl Fn(f64) -> String) -> String {
    match interval {
        Some([low, high]) => format!("{} [{}, {}]", write(estimate), write(low), write(high)),
        None => format!("{} [{without}]", write(estimate)),
    }
}

/// Estimate and interval of a comparison as a change from the baseline: in percent, or in the metric's unit.
#[derive(Debug)]
pub struct Change {
    estimate: f64,
    interval: Option<[f64; 2]>,
    unit: &'static str,
    decimals: usize,
    /// Said after an interval that has another confidence than the study.
    narrower: String,
}

impl Change {
    /// The change with the interval that the verdict rests on, and with its confidence where that is not the study's.
    pub fn of(comparison: &Comparison, unit: Unit) -> Self {
        let narrower = narrower(comparison);
        Self { narrower, ..Self::with(comparison, comparison.printed_interval(), unit) }
    }

    /// The change with the given interval of the comparison.
    pub fn with(comparison: &Comparison, interval: Option<[f64; 2]>, unit: Unit) -> Self {
        Self::made(comparison, interval, unit, true)
    }

    /// The interval without an estimate next to it: `−1.6 … +1.4 %`, however many digits the estimate would need.
    pub fn interval_alone(comparison: &Comparison, interval: Option<[f64; 2]>, unit: Unit) -> Option<String> {
        Self::made(comparison, interval, unit, false).signed_range()
    }

    fn made(comparison: &Comparison, interval: Option<[f64; 2]>, unit: Unit, is_estimate_shown: bool) -> Self {
        let largest = largest(comparison.estimate, interval);
        let (offset, size, unit, at_least) = match comparison.scale {
            Scale::Ratio => (1.0, 0.01, "%", 1),
            Scale::Difference => {
                let (size, name) = fitting(largest, units(unit));
                (0.0, size, name, 0)
            }
        };
        let departure = |x: f64| settled(x - offset, largest) / size;
        let (estimate, interval) = (departure(comparison.estimate), interval.map(|i| i.map(departure)));
        let shown = is_estimate_shown.then_some(estimate);
        let departures: Vec<f64> = interval.into_iter().flatten().chain(shown).collect();
        let decimals = decimals(&departures, interval, CHANGE_DIGITS, at_least);
        Self { estimate, interval, unit, decimals, narrower: String::new() }
    }

    /// The end of a comparison's interval that is further from no change, with the digits that the interval has: `1.6
    /// %`.
    pub fn furthest(comparison: &Comparison, unit: Unit) -> Option<String> {
        let change = Self::made(comparison, comparison.interval(), unit, false);
        let [low, high] = change.interval?;
        Some(change.with_unit(fixed(low.abs().max(high.abs()), change.decimals)))
    }

    /// Whether the estimate is below that of the baseline.
    pub fn is_less(&self) -> bool {
        self.estimate < 0.0
    }

    /// How much, whatever the direction: `16.1 %`.
    pub fn amount(&self) -> String {
        self.with_unit(fixed(self.estimate.abs(), self.decimals))
    }

    /// How much and which way: `−16.1 %`.
    pub fn signed(&self) -> String {
        self.with_unit(signed(self.estimate, self.decimals))
    }

    /// The interval in the estimate's direction, to stand next to [`Self::amount`]: `15.3 … 16.9 %`.
    pub fn range(&self) -> Option<String> {
        let [low, high] = self.interval?;
        let [low, high] = if self.estimate < 0.0 { [-high, -low] } else { [low, high] };
        let range = format!("{} … {}", fixed(low, self.decimals), fixed(high, self.decimals));
        Some(self.with_unit(range) + &self.narrower)
    }

    /// The interval, to stand next to [`Self::signed`]: `−0.6 … +0.4 %`.
    pub fn signed_range(&self) -> Option<String> {
        let [low, high] = self.interval?;
        let range = format!("{} … {}", signed(low, self.decimals), signed(high, self.decimals));
        Some(self.with_unit(range) + &self.narrower)
    }

    fn with_unit(&self, number: String) -> String {
        if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
    }
}

/// A variant in a sentence.
pub fn subject(variant: &str) -> String {
    if variant == BASELINE { "the baseline".to_owned() } else { variant.to_owned() }
}

/// Of more names than this in a sentence, the rest is only counted.
pub const NAMED_MAX: usize = 4;

/// The names in a list; of too many, the rest is only counted.
pub fn named(mut names: Vec<String>) -> String {
    if names.len() > NAMED_MAX {
        let rest = counted((names.len() - NAMED_MAX) as u32, "other");
        names.truncate(NAMED_MAX);
        names.push(rest);
    }
    listed(&names)
}

/// `b and c are the same program as a, file for file`.
pub fn same_program(names: Vec<String>, baseline: &str, same_in: SameIn) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    let how = if same_in == SameIn::Files { ", file for file" } else { how_same(same_in) };
    format!("{} {verb} the same program as {baseline}{how}", named(names))
}

/// What follows "the same program" where files differ.
pub fn how_same(same_in: SameIn) -> &'static str {
    match same_in {
        SameIn::Files => "",
        SameIn::Code => "; only addresses differ",
    }
}

/// In what variants that share a row are the same: the weakest of it.
pub fn same_in(shared: &[SharedLine]) -> SameIn {
    let is_code = shared.iter().any(|one| one.same_in == SameIn::Code);
    if is_code { SameIn::Code } else { SameIn::Files }
}

/// Whether a comparison is of a program with itself, file for file.
pub fn is_same_program(comparison: &Comparison) -> bool {
    let is_it = |caveat: &Caveat| matches!(caveat, Caveat::Of(objection) if objection.same_program);
    comparison.caveats.iter().any(is_it)
}

/// What a drawing has of a comparison: nothing where nothing is claimed of a ratio.
pub fn drawable(comparison: Option<&Comparison>) -> Option<&Comparison> {
    comparison.filter(|c| c.scale == Scale::Ratio && c.printed_interval().is_some() && c.verdict != Verdict::Withheld)
}

/// Whether nothing is claimed of it.
pub fn is_open(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Verdict::Undecided { .. })
}

/// All variants, where nothing is left to run because they are the same program.
pub fn one_program(findings: &Findings) -> Option<Vec<String>> {
    let variants = findings.variants.iter().chain(findings.shared.iter().map(|one| &one.variant));
    findings.is_one_program.then(|| variants.map(|variant| clean(&variant.name)).collect())
}

/// A variant's name, and those of the variants that share its row: `opt=O2 = own`.
pub fn with_shared(findings: &Findings, variant: &str) -> String {
    let others = findings.shared.iter().filter(|one| one.with == variant).map(|one| one.variant.name.as_str());
    let names: Vec<String> = std::iter::once(variant).chain(others).map(clean).collect();
    names.join(" = ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_follows_unit_and_direction() {
        let check = |unit, better, words: [&str; 2]| {
            let wording = Wording::of(unit, better);
            assert_eq!([wording.verdict(Verdict::Faster), wording.verdict(Verdict::Slower)], words);
        };
        check(Unit::Seconds, Direction::Less, ["faster", "slower"]);
        check(Unit::Seconds, Direction::More, ["higher", "lower"]);
        check(Unit::Bytes, Direction::Less, ["less", "more"]);
        check(Unit::Count, Direction::More, ["more", "less"]);
        check(Unit::PerSecond, Direction::More, ["higher", "lower"]);
        check(Unit::PerSecond, Direction::Less, ["lower", "higher"]);
    }

    #[test]
    fn ratios_show_what_their_interval_earns() {
        let check = |estimate, interval, expect: &str| assert_eq!(ratio(estimate, interval, "none"), expect);
        check(0.83912, Some([0.83121, 0.84660]), "0.8391 [0.8312, 0.8466]");
        check(1.2, Some([0.9, 1.7]), "1.20 [0.90, 1.70]");
        check(1.004, Some([1.00002, 1.01]), "1.00400 [1.00002, 1.01000]");
        check(12.34, Some([8.1, 15.2]), "12.34 [8.10, 15.20]");
        check(0.5, Some([0.5, 0.5]), "0.50 [0.50, 0.50]");
        check(0.5, Some([0.5, 0.5 + f64::EPSILON]), "0.50 [0.50, 0.50]");
        check(1.0 + f64::EPSILON, Some([0.99, 1.01]), "1.000 [0.990, 1.010]");
        check(0.98764, None, "0.9876 [none]");
    }
}
