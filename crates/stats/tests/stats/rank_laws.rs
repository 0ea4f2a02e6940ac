//! Laws of the rank test, and its order statistics against all differences written down: for lists long
//! enough that they are searched and not enumerated, with ties, clusters and long tails.
use bakeoff_stats::rank::MannWhitney;
use proptest::prelude::*;

/// Ascending lists of a kind: smooth, with long tails, on a grid, in clusters, half of them equal.
fn list(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    (0..5, prop::collection::vec((0.0f64..1.0, -1.0f64..1.0), sizes)).prop_map(|(kind, values)| {
        let value = |(u, v): (f64, f64)| match kind {
            0 => v,
            1 => v / (u * u + 1e-9),
            2 => (v * 20.0).round() / 10.0,
            3 => (v * 4.0).round() + u * 1e-13,
            _ => {
                if u < 0.5 {
                    0.3
                } else {
                    v
                }
            }
        };
        let mut list: Vec<f64> = values.into_iter().map(value).collect();
        list.sort_by(f64::total_cmp);
        list
    })
}

fn middle(ascending: &[f64]) -> f64 {
    ascending[(ascending.len() - 1) / 2] / 2.0 + ascending[ascending.len() / 2] / 2.0
}

/// Whether `low` is an entry of some rank of the ascending list, and `high` one of the same rank from its end.
fn are_equally_far(ascending: &[f64], [low, high]: [f64; 2]) -> bool {
    let below = |limit: f64| ascending.partition_point(|d| *d < limit);
    let up_to = |limit: f64| ascending.partition_point(|d| *d <= limit);
    let n = ascending.len();
    below(low).max(n - up_to(high)) < up_to(low).min(n - below(high))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// The oracle forms and sorts all differences. The rank of the interval's ends is checked against R elsewhere: here, both
    /// ends must be equally far from the ends of the list.
    #[test]
    fn shift_and_interval_are_order_statistics(x in list(1..400), y in list(1..250)) {
        let mut differences: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| x - y)).collect();
        differences.sort_by(f64::total_cmp);
        let test = MannWhitney::new(&x, &y).expect("finite lists");
        prop_assert_eq!(test.shift(), middle(&differences));
        if let Some([low, high]) = test.interval(0.05) {
            prop_assert!(are_equally_far(&differences, [low, high]));
        }
    }

    #[test]
    fn swapping_the_lists_inverts(x in list(2..80), y in list(2..80)) {
        let (one, other) = (MannWhitney::new(&x, &y).unwrap(), MannWhitney::new(&y, &x).unwrap());
        prop_assert!((one.p() - other.p()).abs() <= 1e-12 * one.p());
        prop_assert_eq!(one.shift(), -other.shift());
        let turned = other.interval(0.05).map(|[low, high]| [-high, -low]);
        prop_assert_eq!(one.interval(0.05), turned);
    }

    #[test]
    fn scaling_scales(x in list(2..60), y in list(2..60), power in -20i32..20) {
        // By powers of two, so that nothing is rounded.
        let factor = 2f64.powi(power);
        let scaled = |list: &[f64]| list.iter().map(|x| x * factor).collect::<Vec<_>>();
        let (large_x, large_y) = (scaled(&x), scaled(&y));
        let (one, other) = (MannWhitney::new(&x, &y).unwrap(), MannWhitney::new(&large_x, &large_y).unwrap());
        prop_assert_eq!(one.p(), other.p());
        prop_assert_eq!(one.shift() * factor, other.shift());
    }
}

#[test]
fn long_lists_are_searched_exactly() {
    // Differences of 0, 1, 2 … and of 0, n, 2n …: every whole number between the ends once.
    let n = 30_000u32;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let y: Vec<f64> = (0..n).rev().map(|i| -f64::from(i) * f64::from(n)).collect();
    let test = MannWhitney::new(&x, &y).unwrap();
    assert_eq!(test.shift(), (f64::from(n) * f64::from(n) - 1.0) / 2.0);
    // P(U ≤ k − 1) at 5 %, approximated: k = ⌊mn/2 + ½ − 1.95996 √(mn(m + n + 1)/12)⌋.
    let (pairs, all) = (9e8f64, 60_001.0f64);
    let k = (pairs / 2.0 + 0.5 - 1.959963984540054 * (pairs * all / 12.0).sqrt()).floor();
    assert_eq!(test.interval(0.05), Some([k - 1.0, pairs - k]));
}

#[test]
fn little_and_bad_input() {
    assert!(MannWhitney::new(&[], &[1.0]).is_none());
    assert!(MannWhitney::new(&[1.0], &[]).is_none());
    assert!(MannWhitney::new(&[2.0, 1.0], &[1.0]).is_none());
    assert!(MannWhitney::new(&[1.0, f64::NAN], &[1.0]).is_none());
    assert!(MannWhitney::new(&[1.0], &[1.0, f64::INFINITY]).is_none());
    assert!(MannWhitney::new(&[1.0, f64::NAN, 2.0], &[1.0]).is_none());
    assert!(MannWhitney::new(&[-1e308], &[1e308]).is_none());
    let one = MannWhitney::new(&[3.0], &[1.0]).unwrap();
    assert_eq!((one.p(), one.shift(), one.interval(0.05)), (1.0, 2.0, None));
    let equal = MannWhitney::new(&[3.0; 500], &[3.0; 300]).unwrap();
    assert_eq!((equal.p(), equal.shift(), equal.interval(0.05)), (1.0, 0.0, Some([0.0, 0.0])));
    let huge = MannWhitney::new(&[1e300, 2e300], &[-1e300, 3e300]).unwrap();
    assert_eq!((huge.shift(), huge.interval(f64::NAN)), (0.5e300, None));
}
