//! The step of the grid that values lie on, because a clock ticked or a number was rounded. It sees only the values;
//! in doubt, it takes the coarser step. It does not know what the values measure.

/// Significant digits of the largest value that are looked at; what has more was not rounded.
const DIGITS: i32 = 12;
/// How far from a whole number of last digits a value may be: the error of computing with binary fractions.
const BINARY_ERROR: f64 = 0.01;
/// A continuous clock repeats no value. Where this part of the values is repeated, they lie on a grid.
const REPEATED: f64 = 0.5;
/// A grid this much finer than the smallest gap between values that repeat is that of the digits, not of the clock.
const FINER: f64 = 1000.0;

/// The step: of all values' greatest common divisor, the largest divisor that a clock or a printed figure has (1, 2, 4 or 5
/// times a power of ten). Where the values have none, but repeat, it is the smallest gap between them; if all are equal, it
/// may be as large as they are. None where no grid is to be seen, or all values are 0.
pub fn step(values: &[f64]) -> Option<f64> {
    let mut distinct: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let count = distinct.len();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if let ([only], true) = (distinct.as_slice(), count > 1) {
        return Some(only.abs()).filter(|step| *step > 0.0);
    }
    let usual = usual_step(&distinct);
    let repeats = (count - distinct.len()) as f64 >= REPEATED * count as f64 && count > 1;
    let gap = distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    if repeats && gap.is_finite() && usual.is_none_or(|usual| usual * FINER < gap) { Some(gap) } else { usual }
}

fn usual_step(values: &[f64]) -> Option<f64> {
    let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let last_digit = 10f64.powi(largest.log10().floor() as i32 + 1 - DIGITS);
    if last_digit < f64::MIN_POSITIVE {
        return None;
    }
    let mut divisor = 0u64;
    for value in values {
        let digits = (value / last_digit).abs();
        if (digits - digits.round()).abs() > BINARY_ERROR {
            return None;
        }
        divisor = greatest_common_divisor(divisor, digits.round() as u64);
    }
    let powers = (0..DIGITS as u32).rev().map(|power| 10u64.pow(power));
    let steps = powers.flat_map(|power| [5, 4, 2, 1].map(|first| first * power));
    let step = steps.into_iter().find(|step| divisor > 0 && divisor.is_multiple_of(*step))?;
    Some(step as f64 * last_digit)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expect: Option<f64>) {
        let step = step(values);
        let close = match (step, expect) {
            (Some(step), Some(expect)) => (step / expect - 1.0).abs() < 1e-9,
            (step, expect) => step == expect,
        };
        assert!(close, "{values:?}: {step:?}, not {expect:?}");
    }

    #[test]
    fn steps_are_found() {
        check(&[0.060, 0.064, 0.060], Some(0.004));
        check(&[0.10, 0.11, 0.10], Some(0.01));
        check(&[1.25, 1.50], Some(0.05));
        // Twelve ticks of ten milliseconds, or six of twenty: nobody can tell, and the coarser is assumed.
        check(&[0.06, 0.12, 0.06], Some(0.02));
        check(&[0.07, 0.1 + 0.2, 0.14], Some(0.01));
        check(&[0.062_123_456, 0.062_123_457], Some(1e-9));
        check(&[150.0, 153.0, 149.0], Some(1.0));
        check(&[0.0, 0.004, 0.008], Some(0.004));
        check(&[-0.004, 0.008], Some(0.004));
    }

    #[test]
    fn what_is_not_rounded_has_none() {
        check(&[0.1f64.exp(), 0.2f64.exp(), 0.3f64.exp()], None);
        check(&[], None);
        check(&[0.0, 0.0], None);
        check(&[f64::NAN, f64::INFINITY], None);
        check(&[1.0 / 3.0], None);
    }

    /// Ticks of 1/300 s are no decimal fractions, but they repeat.
    #[test]
    fn what_repeats_lies_on_a_grid() {
        let tick = |n: i32| f64::from(n) / 300.0;
        check(&[tick(19), tick(20), tick(19), tick(20), tick(20), tick(19)], Some(1.0 / 300.0));
        check(&[0.062_123_456; 6], Some(0.062_123_456));
        // Two of six equal by chance are no grid.
        check(&[tick(19), tick(19), tick(7), tick(11), tick(22), tick(26)], None);
    }
}
