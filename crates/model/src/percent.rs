//! The one way in which a fraction is written as a percentage. It decides nothing about what is shown.

/// A fraction as a percentage without idle zeros, in nine digits: 0.01 is `1 %`, 0.995 `99.5 %`, 0.954 `95.4 %`.
pub fn percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    let rounded: f64 = format!("{percent:.8e}").parse().unwrap_or(percent);
    format!("{rounded} %")
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percentages_have_no_idle_digits() {
        let check = |fraction: f64, expect: &str| assert_eq!(percent(fraction), expect, "{fraction}");
        check(0.954, "95.4 %");
        check(1.0 - (1.0 - 0.954), "95.4 %");
        check(2.0 * 0.95 - 1.0, "90 %");
        check(0.01, "1 %");
        check(0.995, "99.5 %");
        check(0.07, "7 %");
        check(0.0, "0 %");
        check(1e-12, "0.0000000001 %");
        check(f64::NAN, "NaN %");
    }
}
