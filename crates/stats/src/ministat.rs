//! Student's t as ministat (P.-H. Kamp, FreeBSD) tabulates it. The table's defects are kept, because anyone who recognises
//! what ministat printed, or prints the same, needs them; nothing should be believed further than the original.
//!
//! Defects: the level called 99.5 uses the quantile .999, which is 99.8 % two-sided; seven of its quantiles are misprints.

use super::student::t_quantile;
use statrs::distribution::{ContinuousCDF, Normal};

/// The levels as they are called, in percent.
pub const LEVELS: [f64; 6] = [80.0, 90.0, 95.0, 98.0, 99.0, 99.5];

/// The quantiles of Student's t that the levels use.
const QUANTILES: [f64; 6] = [0.9, 0.95, 0.975, 0.99, 0.995, 0.999];

/// Misprints of the last column: degrees of freedom, and what is printed there (in thousandths).
const MISPRINTS: [(u64, f64); 7] =
    [(1, 318_313.0), (7, 4782.0), (8, 4499.0), (9, 4296.0), (10, 4143.0), (11, 4024.0), (12, 3929.0)];

/// With more degrees of freedom than this it takes the normal distribution.
const FREEDOM_MAX: u64 = 100;

/// The tabulated quantile, which has three decimals; `level` is an index into [`LEVELS`]. NaN if there is none.
pub fn tabulated(degrees_of_freedom: u64, level: usize) -> f64 {
    let Some(&quantile) = QUANTILES.get(level) else { return f64::NAN };
    if level + 1 == QUANTILES.len()
        && let Some((_, misprint)) = MISPRINTS.iter().find(|(df, _)| *df == degrees_of_freedom)
    {
        return misprint / 1000.0;
    }
    let exact = match degrees_of_freedom {
        ..=FREEDOM_MAX => t_quantile(quantile, degrees_of_freedom as f64).unwrap_or(f64::NAN),
        _ => Normal::standard().inverse_cdf(quantile),
    };
    (exact * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_its_misprints() {
        let check = |df, level, expect: f64| assert_eq!(tabulated(df, level), expect, "{df} {level}");
        check(1, 0, 3.078);
        check(1, 4, 63.657);
        check(1, 5, 318.313);
        check(7, 5, 4.782);
        check(13, 5, 3.852);
        check(100, 2, 1.984);
        check(101, 5, 3.090);
        check(u64::MAX, 0, 1.282);
        check(4_000_000, 2, 1.96);
        assert!(tabulated(5, 6).is_nan());
    }
}
