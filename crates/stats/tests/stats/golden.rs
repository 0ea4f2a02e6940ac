//! Statistics against values that NIST certifies, and values from other implementations: numpy and scipy 1.17 and R 4.2,
//! and for the sign-flip test a transcription of its definition into Python's exact fractions. Each test names the command
//! that gave its numbers.
#![expect(clippy::expect_used, reason = "all of this file is tests")]

use bakeoff_stats::describe::{Description, mean};
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::student::{MeanT, fieller_interval, t_quantile};

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

#[track_caller]
fn assert_interval(interval: Option<[f64; 2]>, [low, high]: [f64; 2], tolerance: f64) {
    let found = interval.expect("an interval");
    assert!(close(found[0], low, tolerance) && close(found[1], high, tolerance), "{found:?}, not {:?}", [low, high]);
}

const TIMES_S: [f64; 10] = [2.31, 2.29, 2.35, 2.30, 2.41, 2.28, 2.33, 2.30, 2.29, 3.90];

/// numpy: `np.percentile(x, [25, 50, 75])`, `x.mean()`, `x.std(ddof=1)`, `1.4826 * np.median(abs(x - np.median(x)))`,
/// `d = x - x.mean(); (d[:-1] * d[1:]).sum() / (d * d).sum()`; scipy: `stats.gmean(x)`.
#[test]
fn description() {
    let d = Description::new(&TIMES_S, 0.05).expect("ten values");
    assert_eq!((d.n, d.min, d.max), (10, 2.28, 3.90));
    let pairs = [
        (d.q1, 2.2925),
        (d.median, 2.305),
        (d.q3, 2.345),
        (d.mean, 2.476),
        (d.sd.unwrap(), 0.5018233420902884),
        (d.geomean.unwrap(), 2.4412816663394734),
        (d.mad, 0.0296520),
        (d.lag1.unwrap(), -0.03387515222110446),
    ];
    for (found, expected) in pairs {
        assert!(close(found, expected, 1e-12), "{found}, not {expected}");
    }
}

/// scipy: `stats.quantile_test(x, p=.5).confidence_interval(c)` for c = .95, .99 and .999.
#[test]
fn interval_of_the_median() {
    let check = |alpha, expect| assert_eq!(Description::new(&TIMES_S, alpha).unwrap().median_interval, expect);
    check(0.05, Some([2.29, 2.41]));
    check(0.01, Some([2.28, 3.90]));
    check(0.001, None);
}

#[test]
fn description_of_little() {
    assert_eq!(Description::new(&[], 0.05), None);
    let one = Description::new(&[3.0], 0.05).unwrap();
    assert_eq!((one.n, one.median, one.mad), (1, 3.0, 0.0));
    assert_eq!((one.sd, one.lag1, one.median_interval), (None, None, None));
    let constant = Description::new(&[0.1; 7], 0.05).unwrap();
    assert_eq!((constant.mean, constant.lag1), (0.1, None));
    assert_eq!(Description::new(&[1.0, 0.0, 2.0], 0.05).unwrap().geomean, None);
}

/// NIST StRD, univariate, NumAcc1 to 4: generated as NIST defines them; certified mean, sd and lag-1 correlation.
#[test]
fn nist_certified() {
    let alternating = |first: f64, low: f64, high: f64| {
        let mut list = vec![first];
        (0..500).for_each(|_| list.extend([low, high]));
        list
    };
    let sets = [
        (vec![10_000_001.0, 10_000_003.0, 10_000_002.0], 10_000_002.0, 1.0, -0.5, 1e-9),
        (alternating(1.2, 1.1, 1.3), 1.2, 0.1, -0.999, 1e-9),
        (alternating(1_000_000.2, 1_000_000.1, 1_000_000.3), 1_000_000.2, 0.1, -0.999, 1e-9),
        (alternating(10_000_000.2, 10_000_000.1, 10_000_000.3), 10_000_000.2, 0.1, -0.999, 1e-7),
    ];
    for (list, mean, sd, lag1, digits) in sets {
        let found = Description::new(&list, 0.05).unwrap();
        for (found, certified) in [(found.mean, mean), (found.sd.unwrap(), sd), (found.lag1.unwrap(), lag1)] {
            assert!((found / certified - 1.0).abs() <= digits, "{found}, not {certified}");
        }
    }
}

/// Where a plain sum gives 0 and a one-pass variance gives 0 or worse.
#[test]
fn rounding_is_compensated() {
    assert_eq!(mean(&[1.0, 1e100, 1.0, -1e100]), 0.5);
    let d = Description::new(&[1e9, 1e9 + 1.0, 1e9 + 2.0], 0.05).unwrap();
    assert_eq!((d.mean, d.sd), (1e9 + 1.0, Some(1.0)));
}

/// scipy: `l = np.log(z / y); r = stats.ttest_1samp(l, 0); r.pvalue; r.confidence_interval(.95)`, and `(.9)`.
/// Fieller: `scipy.optimize.brentq` on `w = z - r * y; w.mean()**2 - t**2 * w.var(ddof=1) / 5`, either side of the ratio.
#[test]
fn students_t() {
    let (y, z) = ([2.31, 2.29, 2.35, 2.30, 2.41], [2.25, 2.27, 2.26, 2.24, 2.30f64]);
    let logarithms: Vec<f64> = y.iter().zip(&z).map(|(y, z)| (z / y).ln()).collect();
    let t = MeanT::new(&logarithms).expect("five values");
    assert!(close(t.p().unwrap(), 0.010385410565730063, 1e-12));
    assert_interval(t.interval(0.05), [-0.04741763046080023, -0.011498645898279307], 1e-12);
    assert_interval(t.interval(0.10), [-0.04324803297421313, -0.015668243384866408], 1e-12);
    assert_interval(fieller_interval(&z, &y, 0.05), [0.9537227421394842, 0.9887862818052482], 1e-12);
    assert_interval(fieller_interval(&z, &y, 0.10), [0.9576264733702182, 0.9845425492134318], 1e-12);
}

/// scipy: `stats.t.ppf(p, df)`.
#[test]
fn students_t_of_very_much() {
    let check = |p, df, expect| {
        let found = t_quantile(p, df).unwrap();
        assert!(close(found, expect, 1e-9), "{p} {df}: {found}");
    };
    check(0.975, 99_999.0, 1.9599877077718442);
    check(0.975, 999.0, 1.9623414611334493);
    check(0.975, 1001.0, 1.9623367052808798);
    check(0.9999, 1001.0, 3.732837737396866);
    check(0.975, 100_001.0, 1.9599877072973786);
    check(0.9995, 1e6, 3.2905364612487222);
    check(0.975, 1e300, 1.9599639845400538);
}

#[test]
fn students_t_of_little() {
    assert_eq!(MeanT::new(&[1.0]), None);
    assert_eq!(t_quantile(1.0, 4.0), None);
    assert_eq!(t_quantile(0.9, 0.0), None);
    assert_eq!(MeanT::new(&[0.0, 0.0, 0.0]).unwrap().p(), Some(1.0));
    assert_eq!(MeanT::new(&[0.5, 0.5, 0.5]).unwrap().p(), Some(0.0));
    // A denominator that may well be 0 leaves the ratio unbounded.
    assert_eq!(fieller_interval(&[1.0, 2.0, 3.0], &[-1.0, 0.5, 1.0], 0.05), None);
    assert_eq!(fieller_interval(&[1.0], &[1.0], 0.05), None);
}

/// Contrasts in thousandths; `p` of 0 and of 10 thousandths, in 2^-n; the centre; the intervals at 95 % and 90 %.
///
/// Python: `psi(x, t)` as defined in `stats::signflip`, on `fractions.Fraction`; `p` by `itertools.product((1, -1),
/// repeat=n)`; the centre by bisection of `sum(psi(x, t))`; each interval by a scan of 200 steps from the smallest to
/// the largest contrast and bisection at the outermost steps with p > alpha.
#[test]
fn sign_flips_by_definition() {
    let check = |thousandths: &[i32], p: [f64; 2], centre, at_95: [f64; 2], at_90: [f64; 2]| {
        let contrasts: Vec<f64> = thousandths.iter().map(|x| f64::from(*x) / 1000.0).collect();
        let mut test = SignFlip::new(&contrasts, 0).expect("finite contrasts");
        assert_eq!([test.p(0.0), test.p(0.01)], p.map(|count| count / 2f64.powi(contrasts.len() as i32)));
        assert!(close(test.estimate(), centre, 1e-9), "{}", test.estimate());
        assert_interval(test.interval(0.05), at_95, 1e-8);
        assert_interval(test.interval(0.10), at_90, 1e-8);
    };
    check(&[11, 24, -3, 18, 9, 31, 14, 7], [4.0, 102.0], 0.01345, [0.005, 0.023], [0.00675, 0.021]);
    check(&[11, 24, -3, 18, 9, 900, 14, 7], [4.0, 102.0], 0.01345, [0.005, 0.4545], [0.00675, 0.036]);
    check(&[0, 0, 1, 1, 2, 3, -1, 1], [40.0, 2.0], 0.00083333333333, [0.0, 0.002], [0.0, 0.00175]);
    check(&[0, 0, 0, 0, 0, 4, 6, 9], [64.0, 2.0], 0.0, [0.0, 0.005], [0.0, 0.00475]);
}
