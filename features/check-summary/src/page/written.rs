//! How numbers, what their digits leave of them, and what is missing are written on this page, everywhere the same. It
//! computes nothing.

use crate::check::Pair;
use bakeoff_report::draw::text::clean;
use bakeoff_report::format::exponent;
pub(super) use bakeoff_report::format::{fixed, signed};

/// No number shows more decimals.
const DECIMALS_MAX: i32 = 9;

/// A quantity before what is said of it.
pub(super) fn of(quantity: Option<&str>, text: &str) -> String {
    quantity.map_or_else(|| text.to_owned(), |quantity| format!("{}: {text}", clean(quantity)))
}

/// `clang against gcc`, with their quantity.
pub(super) fn both(pair: &Pair) -> String {
    of(pair.quantity.as_deref(), &format!("{} against {}", clean(&pair.name), clean(&pair.baseline)))
}

pub(super) fn in_unit(unit: Option<&str>) -> String {
    unit.map_or(String::new(), |unit| format!(" {}", clean(unit)))
}

pub(super) fn percents(ratio: [f64; 2]) -> [f64; 2] {
    ratio.map(|ratio| (ratio - 1.0) * 100.0)
}

/// What is missing, each once.
pub(super) fn needs(missing: &[&str]) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let once: Vec<String> = missing.iter().filter(|one| seen.insert(**one)).map(|one| clean(one)).collect();
    if once.is_empty() { "positive means and a bounded sd".to_owned() } else { bakeoff_report::words::listed(&once) }
}

/// An interval at its widest, and at its narrowest if that looks different.
pub(super) fn intervals(low: [f64; 2], high: [f64; 2], shown: impl Fn(f64) -> String) -> String {
    let pair = |low, high| format!("[{}, {}]", shown(low), shown(high));
    let (widest, narrowest) = (pair(low[0], high[1]), pair(low[1], high[0]));
    // Ends that different figures in their ranges give need not make an interval.
    if widest == narrowest || low[1] > high[0] { widest } else { format!("{widest} to {narrowest}") }
}

/// Decimals that show two digits of half a width.
pub(super) fn decimals_for(width: f64) -> usize {
    let wanted = if width > 0.0 && width.is_finite() { 1 - exponent(width / 2.0, 2) } else { 3 };
    usize::try_from(wanted.min(DECIMALS_MAX)).unwrap_or(0)
}

/// A range of what a number can be: its middle and half its width, `4.2130 ± 0.0005`; the number alone where that is
/// nothing.
pub(super) fn ranged([low, high]: [f64; 2], write: fn(f64, usize) -> String) -> String {
    let (middle, half) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
    if half <= 1e-12 * middle.abs() {
        return write(middle, 3);
    }
    let decimals = usize::try_from((-exponent(half, 1)).min(DECIMALS_MAX + 3)).unwrap_or(0);
    // A width that is a good part of the number is shown by its ends.
    if half > 0.2 * middle.abs() {
        let decimals = decimals + 1;
        // Rounding errors of our own are no end of a range.
        let [low, high] = [low, high].map(|end| if end.abs() < 1e-6 * half { 0.0 } else { end });
        return format!("{} … {}", write(low, decimals), write(high, decimals));
    }
    format!("{} ± {}", write(middle, decimals), fixed(half, decimals))
}

/// p, or its range if the digits leave one that shows.
pub(super) fn p_value(p: [f64; 2]) -> String {
    let one = |p: f64| match p {
        p if p < 1e-4 => "< 0.0001".to_owned(),
        p if p < 0.1 => format!("{p:.4}"),
        p => format!("{p:.2}"),
    };
    let (low, high) = (one(p[0]), one(p[1]));
    if low == high { low } else { format!("{low} … {high}") }
}
