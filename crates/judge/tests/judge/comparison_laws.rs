//! Laws of whole comparisons, from records: values in other units give the same ratios, variants that change places
//! give the inverse, and the order of the lines in the journal does not matter.

use bakeoff_judge::findings::{Comparison, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::record::{Outcome, Record, StudyLine, Trial, VariantLine};
use bakeoff_model::study::Decide;
use proptest::prelude::*;

/// One workload, one condition, one metric; the first of each pair is the baseline.
fn record(pairs: &[(f64, f64)]) -> Record {
    let variant = |name: &str| VariantLine { name: name.to_owned(), levels: [].into(), build: None, run: None };
    let mut record = Record::new(StudyLine {
        format: 1,
        bakeoff: "0".to_owned(),
        study: "test".to_owned(),
        question: None,
        plan: "default".to_owned(),
        identity: "0".to_owned(),
        seed: 178,
        variants: vec![variant("a"), variant("b")],
        workloads: vec!["loop".to_owned()],
        conditions: vec!["idle".to_owned()],
        decide: Decide {
            baseline: [].into(),
            metrics: vec!["wall".to_owned()],
            margin: 0.01,
            confidence: 0.95,
            ..Decide::default()
        },
        until: bakeoff_model::until::Until::Blocks,
        looks_until: None,
        simulated: None,
        ..StudyLine::default()
    });
    for (index, (a, b)) in pairs.iter().enumerate() {
        for (position, (variant, wall_s)) in [("a", a), ("b", b)].into_iter().enumerate() {
            record.trials.push(Trial {
                block: index as u32 + 1,
                workload: "loop".to_owned(),
                condition: "idle".to_owned(),
                position: position as u32 + 1,
                variant: variant.to_owned(),
                session: 1,
                started_unix_s: index as f64,
                outcome: Outcome::Ok,
                measurements: [("wall".to_owned(), *wall_s)].into(),
                leftovers: 0,
                ..Trial::default()
            });
        }
    }
    record
}

fn compare(record: &Record) -> Comparison {
    let row = judge(record).tables.remove(0).rows.remove(1);
    row.comparison.unwrap_or_else(|| panic!("{record:?} compares nothing"))
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-7
}

fn close_intervals(a: Option<[f64; 2]>, b: Option<[f64; 2]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => close(a[0], b[0]) && close(a[1], b[1]),
        (a, b) => a == b,
    }
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((0.9f64..1.1, 0.9f64..1.1), 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn other_units_give_the_same_ratios(pairs in pairs(), factor in 1e-6f64..1e6) {
        let scaled: Vec<_> = pairs.iter().map(|(a, b)| (a * factor, b * factor)).collect();
        let (one, other) = (compare(&record(&pairs)), compare(&record(&scaled)));
        prop_assert!(close(one.estimate, other.estimate), "{:?} {:?}", one, other);
        prop_assert!(close_intervals(one.interval(), other.interval()), "{:?} {:?}", one, other);
        prop_assert!(close_intervals(one.ratio_of_means.unwrap().interval, other.ratio_of_means.unwrap().interval));
    }

    #[test]
    fn changing_places_inverts_the_ratio(pairs in pairs()) {
        let swapped: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (one, other) = (compare(&record(&pairs)), compare(&record(&swapped)));
        let invert = |interval: Option<[f64; 2]>| interval.map(|[low, high]| [1.0 / high, 1.0 / low]);
        prop_assert!(close(one.estimate, 1.0 / other.estimate), "{:?} {:?}", one, other);
        prop_assert!(close_intervals(one.interval(), invert(other.interval())), "{:?} {:?}", one, other);
        prop_assert!(close_intervals(one.equivalence_interval(), invert(other.equivalence_interval())));
        let means = [one.ratio_of_means.unwrap(), other.ratio_of_means.unwrap()];
        prop_assert!(close_intervals(means[0].interval, invert(means[1].interval)));
        let mirrored = match other.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            verdict => verdict,
        };
        let same = matches!((one.verdict, mirrored), (Verdict::Undecided { .. }, Verdict::Undecided { .. }));
        prop_assert!(same || one.verdict == mirrored, "{:?} {:?}", one, other);
    }

    #[test]
    fn the_order_of_lines_does_not_matter(pairs in pairs()) {
        let in_order = record(&pairs);
        let mut reversed = in_order.clone();
        reversed.trials.reverse();
        prop_assert_eq!(judge(&in_order), judge(&reversed));
    }
}
