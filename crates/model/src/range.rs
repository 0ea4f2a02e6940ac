//! Which numbers can be reckoned with: not only they, but their squares, sums and ratios are numbers too, and can be shown.

/// The largest, and one over the smallest, besides 0.
const MOST: f64 = 1e100;

/// Whether a number is finite, and neither too large nor too small.
pub fn is_usable(number: f64) -> bool {
    number == 0.0 || (1.0 / MOST..=MOST).contains(&number.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_square_cannot_be_reckoned_with() {
        for (number, expect) in [
            (0.0, true),
            (-1.5, true),
            (1e100, true),
            (1e-100, true),
            (1e308, false),
            (-1e101, false),
            (1e-101, false),
            (f64::INFINITY, false),
            (f64::NAN, false),
        ] {
            assert_eq!(is_usable(number), expect, "{number}");
        }
    }
}
