//! C's printf for floating-point numbers: `%g` with a precision, and `%f`, digit for digit as the GNU C library writes
//! them. It is for output that must equal another program's; what people read is written by [`crate::format`].

/// `%.{precision}g`: as many significant digits (0 counts as 1), without idle zeros, in powers of ten if the exponent
/// is below −4 or not below the precision. (C11, 7.21.6.1.)
pub fn g(value: f64, precision: usize) -> String {
    if let Some(word) = word(value) {
        return word;
    }
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_idle_zeros(mantissa), exponent.abs());
    }
    let decimals = (precision as i32 - 1 - exponent) as usize;
    without_idle_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// `%.{decimals}f`.
pub fn f(value: f64, decimals: usize) -> String {
    word(value).unwrap_or_else(|| format!("{value:.decimals$}"))
}

/// Infinities and values that are no number, which have no digits; a sign is shown.
fn word(value: f64) -> Option<String> {
    let word = if value.is_nan() { "nan" } else { "inf" };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    (!value.is_finite()).then(|| format!("{sign}{word}"))
}

fn without_idle_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: GNU C library 2.36, `printf("%.8g")` and `printf("%g")`.
    #[test]
    fn shortest_of_two_forms() {
        let check = |value, precision, expect: &str| assert_eq!(g(value, precision), expect, "{value:e} {precision}");
        check(0.0, 6, "0");
        check(-0.0, 6, "-0");
        check(100_000.0, 6, "100000");
        check(999_999.5, 6, "1e+06");
        check(1e6, 6, "1e+06");
        check(0.0001, 6, "0.0001");
        check(0.000_099_999_99, 6, "0.0001");
        check(0.000_012_345_678, 6, "1.23457e-05");
        check(238.047_614_3, 8, "238.04761");
        check(1e300, 8, "1e+300");
        check(5e-324, 8, "4.9406565e-324");
        check(-2.5, 1, "-2");
        check(3.5, 0, "4");
        check(123_456_789.0, 8, "1.2345679e+08");
        check(f64::NAN, 8, "nan");
        check(-f64::NAN, 8, "-nan");
        check(f64::NEG_INFINITY, 8, "-inf");
    }

    #[test]
    fn fixed_decimals() {
        assert_eq!(f(99.5, 1), "99.5");
        assert_eq!(f(0.25, 1), "0.2");
        assert_eq!(f(f64::INFINITY, 1), "inf");
    }
}
