//! How numbers are written: durations, sizes, counts, ratios, changes and dates, with as many digits as they deserve.
//! A value other than zero is never written as zero. Nothing here knows what a number means.

use crate::draw::printf;
pub use bakeoff_model::percent::percent;

/// The minus sign, which is as wide as a digit.
const MINUS: char = '\u{2212}';
/// More decimals than this are written in powers of ten.
const DECIMALS_MAX: usize = 9;
/// Significant digits of a number that stands alone.
const SIGNIFICANT: usize = 3;

const SECONDS: &[(f64, &str)] = &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
const BYTES: &[(f64, &str)] =
    &[(1_099_511_627_776.0, "TiB"), (1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];

/// A duration in seconds, to three digits: `4.24 s`, `181 ms`, `52.0 µs`.
pub fn duration(seconds: f64) -> String {
    scaled(seconds, SECONDS)
}

/// A unit of time that somebody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Second,
    /// `ms`
    Millisecond,
    /// `µs`
    Microsecond,
}

impl TimeUnit {
    /// Its size in seconds, and its name.
    fn size(self) -> (f64, &'static str) {
        match self {
            Self::Second => (1.0, "s"),
            Self::Millisecond => (1e-3, "ms"),
            Self::Microsecond => (1e-6, "µs"),
        }
    }
}

/// The unit of a kind that fits a value, or of times the one that is asked for.
pub fn asked_or_fitting(
    value: f64,
    unit: bakeoff_model::metric::Unit,
    time_unit: Option<TimeUnit>,
) -> (f64, &'static str) {
    let asked = time_unit.filter(|_| unit == bakeoff_model::metric::Unit::Seconds);
    asked.map_or_else(|| fitting(value, units(unit)), TimeUnit::size)
}

/// A duration in seconds, in the unit asked for, to three digits: `0.0120 s`; in one that fits, if none is.
pub fn duration_in(seconds: f64, unit: Option<TimeUnit>) -> String {
    let Some((size, name)) = unit.map(TimeUnit::size) else { return duration(seconds) };
    let number = seconds / size;
    format!("{} {name}", fixed(number, decimals_of(number, SIGNIFICANT)))
}

/// A size in bytes, to three digits: `11.3 MiB`, `512 B`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, BYTES)
}

/// A value in a unit that fits it, to three digits: `12.0 ms`, `1.50 MiB`, `2.50`, `17`.
pub fn quantity(value: f64, unit: bakeoff_model::metric::Unit) -> String {
    scaled(value, units(unit)).trim_end().to_owned()
}

/// A count with its thousands set apart: `1,234,567`.
pub fn count(count: u64) -> String {
    thousands(&count.to_string())
}

/// How much more the second of two counts is, signed: `+1,137`, `−12`.
pub fn signed_count(before: u64, after: u64) -> String {
    let sign = if after < before { MINUS } else { '+' };
    format!("{sign}{}", count(after.abs_diff(before)))
}

/// A duration in seconds for people who wait: `45 s`, `2 min 10 s`, `1 h 5 min`, `3 d 4 h`.
pub fn waiting_time(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (large, small, large_unit, small_unit) = match whole {
        0 => return "less than 1 s".to_owned(),
        1..60 => return format!("{whole} s"),
        60..3600 => (whole / 60, whole % 60, "min", "s"),
        3600..86_400 => (whole / 3600, whole % 3600 / 60, "h", "min"),
        _ => (whole / 86_400, whole % 86_400 / 3600, "d", "h"),
    };
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// A point in time, in seconds since 1970-01-01, as date and minute in UTC: `2026-11-21 20:53 UTC`.
pub fn date(unix_s: f64) -> String {
    let minutes = (unix_s / 60.0).floor() as i64;
    let (year, month, day) = civil(minutes.div_euclid(1440));
    let minute = minutes.rem_euclid(1440);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

/// Year, month and day of days since 1970-01-01 (Hinnant 2013, "chrono-compatible low-level date algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Numbers from here on are written in powers of ten, and so is what no number of decimals shows.
const LARGE: f64 = 1e16;
/// Significant digits of such a number.
const DIGITS: usize = 5;

/// A number with a fixed number of decimals, or with as many more as it takes to not write zero.
pub fn fixed(value: f64, decimals: usize) -> String {
    let size = value.abs();
    let shows = |text: &String| size == 0.0 || text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let text = (decimals..=DECIMALS_MAX.max(decimals))
        .map(|d| format!("{size:.d$}"))
        .find(|text| shows(text) && size < LARGE)
        .unwrap_or_else(|| printf::g(size, DIGITS));
    let sign = if value < 0.0 { MINUS.to_string() } else { String::new() };
    sign + &thousands(&text)
}

/// Like [`fixed`], with a plus sign where the value is positive.
pub fn signed(value: f64, decimals: usize) -> String {
    let plus = if value > 0.0 { "+" } else { "" };
    plus.to_owned() + &fixed(value, decimals)
}

/// A number with at most this number of significant digits, and with a power of ten where it would be a row of zeros.
pub fn short(number: f64, digits: usize) -> String {
    let short = format!("{number:.*e}", digits.saturating_sub(1)).parse::<f64>().unwrap_or(number);
    if number == 0.0 || (1e-9..1e15).contains(&number.abs()) { short.to_string() } else { format!("{short:e}") }
}

/// A power of ten: that of the first digit, once the value has been rounded to this many significant digits.
pub fn exponent(value: f64, significant: usize) -> i32 {
    let text = format!("{:.*e}", significant.saturating_sub(1), value.abs());
    text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// Decimals with which a value has this many significant digits; none for large values.
pub fn decimals_of(value: f64, significant: usize) -> usize {
    let decimals = significant as i32 - 1 - exponent(value, significant);
    usize::try_from(decimals).unwrap_or(0)
}

/// Instructions of an emulated machine, whose clock counts them; the base unit is a billion of them.
const GUEST_INSTRUCTIONS: &[(f64, &str)] =
    &[(1000.0, "T instr."), (1.0, "G instr."), (1e-3, "M instr."), (1e-6, "k instr."), (1e-9, "instr.")];

/// The units of a kind, largest first, each with its size in base units: of seconds, or of bytes.
pub fn units(unit: bakeoff_model::metric::Unit) -> &'static [(f64, &'static str)] {
    use bakeoff_model::metric::Unit;
    match unit {
        Unit::Seconds => SECONDS,
        Unit::Bytes => BYTES,
        Unit::Count => &[(1.0, "")],
        Unit::PerSecond => &[(1.0, "/s")],
        Unit::GuestInstructions => GUEST_INSTRUCTIONS,
    }
}

/// The largest unit of which a value has at least one; the smallest if there is none, the base unit for zero.
pub fn fitting(value: f64, units: &'static [(f64, &'static str)]) -> (f64, &'static str) {
    let base = units.iter().find(|(size, _)| *size == 1.0);
    let fits = |(size, _): &&(f64, &str)| exponent(value / size, SIGNIFICANT) >= 0;
    let found = if value == 0.0 { base } else { units.iter().find(fits).or(units.last()) };
    found.copied().unwrap_or((1.0, ""))
}

fn scaled(value: f64, units: &'static [(f64, &'static str)]) -> String {
    let (size, name) = fitting(value, units);
    let amount = value / size;
    let whole = size == 1.0 && amount.fract() == 0.0 && (amount == 0.0 || name == "B" || name.is_empty());
    let decimals = if whole { 0 } else { decimals_of(amount, SIGNIFICANT) };
    format!("{} {name}", fixed(amount, decimals))
}

/// Sets the thousands of a number's whole part apart.
fn thousands(digits: &str) -> String {
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let mut text = String::with_capacity(digits.len() + whole / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && i < whole && (whole - i) % 3 == 0 {
            text.push(',');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + std::fmt::Debug>(write: fn(T) -> String, cases: &[(T, &str)]) {
        for (input, expect) in cases {
            assert_eq!(write(*input), *expect, "input {input:?}");
        }
    }

    #[test]
    fn durations() {
        let cases = [
            (4.2412, "4.24 s"),
            (0.181, "181 ms"),
            (52e-6, "52.0 µs"),
            (0.9996, "1.00 s"),
            (0.000_999_7, "1.00 ms"),
            (9.996, "10.0 s"),
            (0.0, "0 s"),
            (3e-9, "3.00 ns"),
            (2.5e-11, "0.0250 ns"),
            (-0.5, "−500 ms"),
            (1234.0, "1,234 s"),
        ];
        check(duration, &cases);
    }

    #[test]
    fn sizes() {
        let cases = [
            (11.3 * 1_048_576.0, "11.3 MiB"),
            (512.0, "512 B"),
            (7.0, "7 B"),
            (1_048_575.0, "1.00 MiB"),
            (0.0, "0 B"),
            (64.0 * 1_048_576.0, "64.0 MiB"),
        ];
        check(bytes, &cases);
    }

    #[test]
    fn counts() {
        check(count, &[(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]);
    }

    #[test]
    fn waiting_times() {
        let cases = [
            (0.2, "less than 1 s"),
            (45.4, "45 s"),
            (59.6, "1 min"),
            (130.0, "2 min 10 s"),
            (3900.0, "1 h 5 min"),
            (273_600.0, "3 d 4 h"),
            (-3.0, "less than 1 s"),
        ];
        check(waiting_time, &cases);
    }

    #[test]
    fn nothing_but_zero_is_written_as_zero() {
        let cases = [(0.0, "0.00"), (0.0004, "0.0004"), (-0.0004, "−0.0004"), (1e-12, "1e-12"), (1234.5, "1,234.50")];
        check(|x| fixed(x, 2), &cases);
    }

    #[test]
    fn dates() {
        let cases = [
            (0.0, "1970-01-01 00:00 UTC"),
            (951_782_400.0, "2000-02-29 00:00 UTC"),
            (1_795_294_381.5, "2026-11-21 20:53 UTC"),
            (-60.0, "1969-12-31 23:59 UTC"),
            (4_107_542_399.0, "2100-02-28 23:59 UTC"),
        ];
        check(date, &cases);
    }
}
