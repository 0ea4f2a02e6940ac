//! Laws of the sign-flip test: what must hold for any contrasts, checked on random ones; p against an enumeration of
//! the definition in whole numbers; and how it behaves at its limits. The median is checked against its
//! definition too.
#![expect(clippy::expect_used, reason = "all of this file is tests")]

use bakeoff_stats::describe::median;
use bakeoff_stats::signflip::{Counting, SignFlip};
use proptest::prelude::*;

/// Up to so many contrasts all patterns are counted, and up to so many some are drawn.
const EXACT_MAX: usize = 36;
const MONTE_CARLO_MAX: usize = 256;

fn flips(contrasts: &[f64]) -> SignFlip {
    SignFlip::new(contrasts, 178).expect("finite contrasts")
}

/// p(0) by its definition: all 2^n patterns, in whole numbers. The contrasts are multiplied by 4, so that one and a
/// half times an average of two is a whole number.
fn by_definition(contrasts: &[i64]) -> f64 {
    let mut sizes: Vec<i64> = contrasts.iter().map(|x| 4 * x.abs()).collect();
    sizes.sort_unstable();
    let doubled_median = |sizes: &[i64]| sizes[(sizes.len() - 1) / 2] + sizes[sizes.len() / 2];
    if doubled_median(&sizes) == 0 {
        sizes.retain(|x| *x > 0);
    }
    let clip = if sizes.is_empty() { 0 } else { doubled_median(&sizes) / 4 * 3 };
    let psi: Vec<i64> = contrasts.iter().map(|x| (4 * x).clamp(-clip, clip)).collect();
    let observed = psi.iter().sum::<i64>().abs();
    let patterns = 1u32 << psi.len();
    let sum = |signs: u32| psi.iter().enumerate().map(|(i, x)| if signs >> i & 1 == 1 { -x } else { *x }).sum::<i64>();
    let extreme = (0..patterns).filter(|signs| sum(*signs).abs() >= observed).count();
    extreme as f64 / f64::from(patterns)
}

/// Contrasts without ties, as times give them.
fn contrasts(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-1.0f64..1.0, 0..20u32).prop_map(|(x, stall)| if stall == 0 { x * 50.0 } else { x }), sizes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_median_is_that_of_the_sorted_values(x in prop::collection::vec(-9i32..9, 1..30)) {
        let values: Vec<f64> = x.iter().map(|x| f64::from(*x) / 10.0).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let [low, high] = [sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]];
        prop_assert_eq!(median(&values), Some(low + 0.5 * (high - low)));
    }

    #[test]
    fn p_is_the_enumerated_one(x in prop::collection::vec(-12i64..20, 1..11)) {
        let floats: Vec<f64> = x.iter().map(|x| *x as f64).collect();
        prop_assert_eq!(flips(&floats).p(0.0), by_definition(&x));
        // The same in tenths, which are not exact: ties must still be ties.
        let tenths: Vec<f64> = x.iter().map(|x| *x as f64 / 10.0).collect();
        prop_assert_eq!(flips(&tenths).p(0.0), by_definition(&x));
    }

    #[test]
    fn turning_all_signs_changes_no_p_and_turns_the_interval(x in contrasts(6..24), theta in -0.5f64..0.5) {
        let turned: Vec<f64> = x.iter().map(|x| -x).collect();
        let (mut one, mut other) = (flips(&x), flips(&turned));
        prop_assert_eq!(one.p(theta), other.p(-theta));
        prop_assert!((one.estimate() + other.estimate()).abs() < 1e-9);
        let ([low, high], [low_turned, high_turned]) = (one.interval(0.05).unwrap(), other.interval(0.05).unwrap());
        prop_assert!((low + high_turned).abs() < 1e-6 && (high + low_turned).abs() < 1e-6);
    }

    #[test]
    fn the_order_of_blocks_is_irrelevant(x in contrasts(6..20).prop_flat_map(|x| (Just(x.clone()), Just(x).prop_shuffle()))) {
        let (mut one, mut other) = (flips(&x.0), flips(&x.1));
        prop_assert_eq!(one.p(0.0), other.p(0.0));
        prop_assert_eq!(one.interval(0.05), other.interval(0.05));
    }

    #[test]
    fn intervals_contain_the_estimate_and_each_other(x in contrasts(6..24)) {
        let mut test = flips(&x);
        let centre = test.estimate();
        let ([low, high], [inner_low, inner_high]) = (test.interval(0.05).unwrap(), test.interval(0.10).unwrap());
        prop_assert!(low <= inner_low && inner_low <= centre && centre <= inner_high && inner_high <= high);
        prop_assert!(x.iter().any(|x| *x <= low) && x.iter().any(|x| *x >= high));
    }

    #[test]
    fn the_interval_is_what_the_test_does_not_refute(x in contrasts(6..20), part in 0.0f64..1.0) {
        let mut test = flips(&x);
        let [low, high] = test.interval(0.05).unwrap();
        let theta = -1.5 + 3.0 * part;
        let slack = 1e-7 * (high - low);
        if low + slack < theta && theta < high - slack {
            prop_assert!(test.p(theta) > 0.05);
        } else if theta < low - slack || high + slack < theta {
            prop_assert!(test.p(theta) <= 0.05);
        }
    }

    #[test]
    fn moving_all_contrasts_moves_the_interval(x in contrasts(6..20), by in -2.0f64..2.0) {
        let moved: Vec<f64> = x.iter().map(|x| x + by).collect();
        let ([low, high], [low_moved, high_moved]) = (flips(&x).interval(0.05).unwrap(), flips(&moved).interval(0.05).unwrap());
        prop_assert!((low + by - low_moved).abs() < 1e-6 && (high + by - high_moved).abs() < 1e-6);
    }
}

#[test]
fn too_few_contrasts_for_the_level_give_no_interval() {
    let check = |n: usize, alpha, expect| {
        let contrasts: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        assert_eq!(flips(&contrasts).interval(alpha).is_some(), expect, "n = {n}, alpha = {alpha}");
    };
    check(1, 0.05, false);
    check(5, 0.05, false);
    check(6, 0.05, true);
    check(7, 0.01, false);
    check(8, 0.01, true);
    check(6, 1.0 / 32.0, true);
}

#[test]
fn what_is_not_a_number_is_not_admitted() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        assert!(SignFlip::new(&[0.1, 0.2, bad], 0).is_none(), "{bad}");
    }
    assert!(SignFlip::new(&[], 0).is_none());
}

#[test]
fn constant_contrasts_are_known_exactly() {
    let mut test = flips(&[0.02; 8]);
    assert_eq!((test.estimate(), test.p(0.02), test.p(0.0)), (0.02, 1.0, 1.0 / 128.0));
    assert_eq!(test.interval(0.05), Some([0.02, 0.02]));
    assert_eq!(flips(&[0.0; 8]).p(0.0), 1.0);
}

/// A stall of any size moves the estimate no further than a moderate one does.
#[test]
fn a_huge_outlier_is_bounded() {
    let with = |outlier: f64| flips(&[0.01, 0.012, 0.008, 0.011, 0.009, 0.013, 0.007, 0.01, 0.012, outlier]);
    let (far, mut farther) = (with(1.0), with(1e12));
    assert!((far.estimate() - farther.estimate()).abs() < 1e-6);
    let [low, high] = farther.interval(0.05).unwrap();
    assert!(0.0 < low && high < 0.03, "{low} {high}");
}

#[test]
fn beyond_enumeration_p_is_estimated_and_repeatable() {
    let contrasts: Vec<f64> = (0..EXACT_MAX as u32 + 1).map(|i| f64::from(i * i * 7 % 41) / 41.0 - 0.35).collect();
    let (mut one, mut same) = (flips(&contrasts), flips(&contrasts));
    assert_eq!([flips(&contrasts[..EXACT_MAX]).counting(), one.counting()], [Counting::Exact, Counting::MonteCarlo]);
    assert_eq!(one.p(0.0), same.p(0.0));
    let ([low, high], centre) = (one.interval(0.05).unwrap(), one.estimate());
    assert!(low < centre && centre < high);
    // The ends are where p is 5 %, give or take the chance in 199 999 flips.
    let standard_error = (0.05f64 * 0.95 / 200_000.0).sqrt();
    for p in [one.p(low), one.p(high)] {
        assert!((p - 0.05).abs() < 2.5 * standard_error, "{p}");
    }
}

/// Beyond [`MONTE_CARLO_MAX`] p is approximated; here against 100 000 flips of the definition.
#[test]
fn with_many_blocks_p_is_approximated() {
    const DRAWS: u32 = 100_000;
    let mut state = 178u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let contrasts: Vec<f64> =
        (0..=MONTE_CARLO_MAX).map(|_| random() - 0.54 + 20.0 * (random() - 0.96).max(0.0)).collect();
    let mut test = flips(&contrasts);
    assert_eq!(test.counting(), Counting::Edgeworth);
    let mut sizes: Vec<f64> = contrasts.iter().map(|x| x.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let clip = 1.5 * sizes[sizes.len() / 2];
    let psi: Vec<f64> = contrasts.iter().map(|x| x.clamp(-clip, clip)).collect();
    let observed = psi.iter().sum::<f64>().abs();
    let mut flipped = || psi.iter().map(|x| if random() < 0.5 { -x } else { *x }).sum::<f64>().abs();
    let p = f64::from((0..DRAWS).map(|_| u32::from(flipped() >= observed)).sum::<u32>()) / f64::from(DRAWS);
    let standard_error = (p * (1.0 - p) / f64::from(DRAWS)).sqrt();
    assert!(0.005 < p && p < 0.5, "{p} says nothing");
    assert!((test.p(0.0) - p).abs() < 4.0 * standard_error, "{} {p}", test.p(0.0));
    let [low, high] = test.interval(0.05).unwrap();
    assert!((test.p(low) - 0.05).abs() < 1e-6 && (test.p(high) - 0.05).abs() < 1e-6);
}
