//! Laws of published figures: what values really gave is never called impossible, whatever digits it is printed with;
//! two or three values come back from their figures; and figures that nothing can give are found out.
#![allow(clippy::unwrap_used, reason = "all of this is tests")]

use bakeoff_check_summary::figures::compare::{Sample, pooled, ratio, smallest_exact_p, welch};
use bakeoff_check_summary::figures::{Fault, Figures, Range, Statistic, narrow, narrow_without_n, reconstruct};
use bakeoff_stats::describe::{mean, sd};
use proptest::prelude::*;

/// What the median of an even number of values is.
#[derive(Debug, Clone, Copy)]
enum MedianRule {
    UpperMiddle,
    MeanOfMiddles,
}

/// A value printed with so many decimals, as the range that its digits leave.
fn printed(value: f64, decimals: i32) -> Range {
    let unit = 10f64.powi(-decimals);
    let shown = (value / unit).round() * unit;
    let half = unit / 2.0 * (1.0 + 1e-9) + 1e-13 * value.abs();
    [shown - half, shown + half]
}

/// All figures of some values, with so many decimals.
fn figures(values: &[f64], decimals: i32, rule: MedianRule) -> Figures {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let median = match rule {
        MedianRule::UpperMiddle => sorted[n / 2],
        MedianRule::MeanOfMiddles => sorted[(n - 1) / 2] / 2.0 + sorted[n / 2] / 2.0,
    };
    let print = |x| Some(printed(x, decimals));
    Figures {
        n: n as u64,
        min: print(sorted[0]),
        max: print(sorted[n - 1]),
        median: print(median),
        mean: print(mean(values)),
        sd: sd(values).and_then(print),
    }
}

/// Some of the figures, as a mask of five bits tells.
fn some(f: Figures, mask: u8) -> Figures {
    let keep = |bit: u8, figure: Option<Range>| figure.filter(|_| mask & (1 << bit) != 0);
    Figures {
        n: f.n,
        min: keep(0, f.min),
        max: keep(1, f.max),
        median: keep(2, f.median),
        mean: keep(3, f.mean),
        sd: keep(4, f.sd),
    }
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    let spiky = (0.0..1.0f64, 0.0..1.0f64).prop_map(|(x, u)| if u < 0.1 { 3.0 + 40.0 * x } else { 3.0 + x });
    let coarse = (0..4i32).prop_map(f64::from);
    prop_oneof![
        prop::collection::vec(-10.0..10.0f64, 1..40),
        prop::collection::vec(spiky, 1..40),
        prop::collection::vec(coarse, 1..12),
        prop::collection::vec(1e6..1.000_1e6f64, 1..8),
    ]
}

fn rule() -> impl Strategy<Value = MedianRule> {
    prop_oneof![Just(MedianRule::UpperMiddle), Just(MedianRule::MeanOfMiddles)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn what_was_measured_is_possible_and_stays_inside(values in values(), decimals in -1..7i32, rule in rule(), mask in 0..32u8) {
        let all = figures(&values, decimals, rule);
        let narrowed = narrow(&some(all, mask));
        prop_assert!(narrowed.is_ok(), "{values:?} {all:?}: {narrowed:?}");
        let narrowed = narrowed.unwrap();
        let exact = figures(&values, 12, rule);
        let pairs = [(narrowed.min, exact.min), (narrowed.max, exact.max), (narrowed.median, exact.median),
                     (narrowed.mean, exact.mean), (narrowed.sd, exact.sd)];
        for (index, (range, truth)) in pairs.into_iter().enumerate() {
            if let (Some(range), Some(truth)) = (range, truth) {
                let centre = truth[0] / 2.0 + truth[1] / 2.0;
                let slack = 1e-9 * centre.abs().max(1e-3);
                prop_assert!(range[0] - slack <= centre && centre <= range[1] + slack,
                             "figure {index} {centre} not in {range:?} of {values:?}");
            }
        }
    }

    #[test]
    fn three_values_come_back_from_their_figures(values in prop::collection::vec(-50.0..50.0f64, 3), decimals in 0..6i32, mask in 0..4u8) {
        let all = figures(&values, decimals, MedianRule::MeanOfMiddles);
        let given = some(all, [0b00111, 0b01011, 0b01111, 0b11111][usize::from(mask)]);
        let found = reconstruct(&narrow(&given).unwrap()).unwrap();
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        for (range, value) in found.iter().zip(&sorted) {
            prop_assert!(range[0] - 1e-9 <= *value && *value <= range[1] + 1e-9, "{value} not in {range:?}");
            // 3 · mean − smallest − largest loses digits: five half units.
            prop_assert!(range[1] - range[0] <= 5.001 * 10f64.powi(-decimals), "{range:?}");
        }
    }

    #[test]
    fn two_values_come_back_from_mean_and_deviation(a in -50.0..50.0f64, b in -50.0..50.0f64, decimals in 0..6i32) {
        let all = figures(&[a, b], decimals, MedianRule::MeanOfMiddles);
        let found = reconstruct(&narrow(&some(all, 0b11000)).unwrap()).unwrap();
        for (range, value) in found.iter().zip([a.min(b), a.max(b)]) {
            prop_assert!(range[0] - 1e-9 <= value && value <= range[1] + 1e-9, "{value} not in {range:?}");
        }
    }

    #[test]
    fn figures_that_nothing_gives_are_found_out(values in prop::collection::vec(1.0..9.0f64, 3..30), which in 0..6u8, rule in rule()) {
        let mut f = figures(&values, 6, rule);
        let (min, max, n) = (f.min.unwrap()[0], f.max.unwrap()[1], values.len() as f64);
        prop_assume!(max - min > 0.1);
        let at = |x: f64| Some(printed(x, 6));
        match which {
            0 => f.mean = at(max + 0.01),
            1 => f.median = at(min - 0.01),
            // Popoviciu, and von Szőkefalvi-Nagy.
            2 => f.sd = at(((max - min).powi(2) / 4.0 * n / (n - 1.0)).sqrt() + 0.01),
            3 => f.sd = at(((max - min).powi(2) / 2.0 / (n - 1.0)).sqrt() - 0.01),
            4 => (f.min, f.max) = (f.max, f.min),
            // All but the smallest at the largest.
            _ => f.mean = at((min + (n - 1.0) * max) / n + 0.01),
        }
        prop_assert!(narrow(&f).is_err(), "{f:?}");
    }

    #[test]
    fn what_was_measured_is_possible_without_n_too(values in values(), decimals in -1..7i32, rule in rule(), mask in 0..32u8) {
        let all = figures(&values, decimals, rule);
        let narrowed = narrow_without_n(&Figures { n: 0, ..some(all, mask) });
        prop_assert!(narrowed.is_ok(), "{values:?} {all:?}: {narrowed:?}");
        let (narrowed, exact) = (narrowed.unwrap(), figures(&values, 12, rule));
        for (left, exact) in [(narrowed.mean, exact.mean), (narrowed.sd, exact.sd), (narrowed.median, exact.median)] {
            let inside = left.zip(exact).is_none_or(|(l, e)| l[0] <= e[1] && e[0] <= l[1]);
            prop_assert!(inside, "{values:?}: {left:?} {exact:?}");
        }
    }

    #[test]
    fn a_band_holds_the_interval_of_every_point_in_it(a in 1.0..2.0f64, b in 1.0..2.0f64, s_a in 0.001..0.3f64, s_b in 0.001..0.3f64,
                                                      n_a in 2..9u64, n_b in 2..40u64, w in 0.0..0.2f64, at in prop::array::uniform4(0.0..=1.0f64)) {
        let wide = |x: f64| [x * (1.0 - w), x * (1.0 + w)];
        let point = |x: f64, at: f64| [x * (1.0 - w + 2.0 * w * at); 2];
        let boxes = [Sample { n: n_a, mean: wide(a), sd: wide(s_a) }, Sample { n: n_b, mean: wide(b), sd: wide(s_b) }];
        let points = [Sample { n: n_a, mean: point(a, at[0]), sd: point(s_a, at[1]) },
                      Sample { n: n_b, mean: point(b, at[2]), sd: point(s_b, at[3]) }];
        let within = |inner: Range, outer: Range| outer[0] <= inner[0] + 1e-12 && inner[1] <= outer[1] + 1e-12;
        for test in [pooled, welch] {
            let (band, point) = (test(&boxes[0], &boxes[1], 0.05).unwrap(), test(&points[0], &points[1], 0.05).unwrap());
            prop_assert!(within(point.p, band.p) && within(point.estimate.estimate, band.estimate.estimate));
            prop_assert!(within(point.estimate.low, band.estimate.low) && within(point.estimate.high, band.estimate.high));
        }
        if let Some(band) = ratio(&boxes[0], &boxes[1], 0.05) {
            let point = ratio(&points[0], &points[1], 0.05).unwrap();
            prop_assert!(within(point.low, band.low) && within(point.high, band.high), "{point:?} {band:?}");
        }
    }

    /// What comes of each is not looked at: other laws do that.
    #[test]
    fn nothing_panics(n in prop_oneof![0..5u64, Just(u64::MAX)], numbers in prop::array::uniform10(prop_oneof![
        Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(0.0), Just(1e300), Just(-1e300), Just(5e-324), -5.0..5.0f64
    ]), mask in 0..32u8) {
        let range = |i: usize| Some([numbers[2 * i], numbers[2 * i + 1]]);
        let f = some(Figures { n, min: range(0), max: range(1), median: range(2), mean: range(3), sd: range(4) }, mask);
        let _ = narrow(&f);
        let _ = (reconstruct(&f), narrow_without_n(&f));
        let sample = Sample { n, mean: [numbers[0], numbers[1]], sd: [numbers[2], numbers[3]] };
        for other in [sample, Sample { n: 3, mean: [1.0, 1.0], sd: [0.0, 0.0] }] {
            let _ = (pooled(&sample, &other, 0.05), welch(&sample, &other, 0.05), ratio(&sample, &other, 0.05));
            let _ = smallest_exact_p(sample.n, other.n);
        }
    }
}

#[test]
fn faults_say_which_figure_and_what_would_be_allowed() {
    let exact = |x: f64| Some([x, x]);
    let f = Figures { n: 3, min: exact(1.0), max: exact(3.0), median: exact(2.0), mean: exact(2.5), sd: None };
    let Err(Fault::Outside { which: Statistic::Mean, allowed, .. }) = narrow(&f) else { panic!("{:?}", narrow(&f)) };
    assert!((allowed[0] - 2.0).abs() < 1e-9 && (allowed[1] - 2.0).abs() < 1e-9, "{allowed:?}");
    assert_eq!(narrow(&Figures::default()), Err(Fault::Empty));
    let endless = Figures { n: 2, mean: exact(f64::INFINITY), ..Figures::default() };
    assert_eq!(narrow(&endless), Err(Fault::NotFinite(Statistic::Mean)));
    // Huge is not impossible.
    let huge = Figures { n: 3, min: exact(1e300), max: exact(3e300), mean: exact(2e300), sd: exact(1e300), ..f };
    let huge = Figures { median: exact(2e300), ..huge };
    assert!(narrow(&huge).is_ok(), "{:?}", narrow(&huge));
    let sample = |mean: f64| Sample { n: 3, mean: [mean, mean], sd: [1e299, 1e299] };
    let (small, large) =
        (welch(&sample(1e300), &sample(2e300), 0.05).unwrap(), ratio(&sample(1e300), &sample(2e300), 0.05));
    assert!((small.estimate.estimate[0] / 1e300 - 1.0).abs() < 1e-12 && large.unwrap().low[0] > 1.0);
}

#[test]
fn some_figures_are_impossible_whatever_n_is() {
    let exact = |x: f64| Some([x, x]);
    let f = Figures { min: exact(1.0), max: exact(3.0), mean: exact(2.0), median: exact(2.0), ..Figures::default() };
    assert!(narrow_without_n(&f).is_ok());
    // Of two values, 1 and 3, the deviation is √2.
    assert!(narrow_without_n(&Figures { sd: exact(1.414), ..f }).is_ok());
    for wrong in [
        Figures { sd: exact(1.415), ..f },
        Figures { sd: exact(-0.1), ..f },
        Figures { sd: exact(f64::INFINITY), ..f },
        Figures { mean: exact(3.1), ..f },
        Figures { median: exact(0.9), ..f },
        Figures { min: exact(3.5), ..f },
        // With half of the values at 2.9 and above.
        Figures { median: exact(2.9), mean: exact(1.9), ..f },
    ] {
        assert!(narrow_without_n(&wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_bounds_of_the_deviation_are_reached() {
    // The least and the greatest deviation of five values from 0 to 10 with median 2 and mean 4: by hand, 0, 2, 2, 6, 10
    // and 0, 0, 2, 8, 10.
    let exact = |x: f64| Some([x, x]);
    let f = Figures { n: 5, min: exact(0.0), max: exact(10.0), median: exact(2.0), mean: exact(4.0), sd: None };
    let [low, high] = narrow(&f).unwrap().sd.unwrap();
    assert!((low - sd(&[0.0, 2.0, 2.0, 6.0, 10.0]).unwrap()).abs() < 1e-9, "{low}");
    assert!((high - sd(&[0.0, 0.0, 2.0, 8.0, 10.0]).unwrap()).abs() < 1e-9, "{high}");
    assert!((smallest_exact_p(3, 3) - 0.1).abs() < 1e-12 && (smallest_exact_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
}
