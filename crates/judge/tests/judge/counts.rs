//! Counts of an instrument: two of them agree or do not, and nothing is equal by them whose time they hardly see.

use bakeoff_judge::findings::{Caveat, Comparison, Findings, Inferred, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::metric::{Direction, Metric, SEEN, Unit};
use bakeoff_testkit::records as common;

/// Three blocks of two variants: counts of the baseline and of the other, and the share of the other's time that is seen.
fn counted(counts: [[f64; 2]; 3], share: Option<f64>) -> Findings {
    let mut record = common::study(&["a", "b"], &["idle"], &["instructions"]);
    record.study.metrics = vec![Metric {
        name: "instructions".into(),
        unit: Unit::Count,
        better: Direction::Less,
        what: "instructions, counted".into(),
        source: "a tool".into(),
        exact: true,
        counted: true,
    }];
    common::execute(&mut record, 3, |trial| {
        let is_other = trial.variant == "b";
        common::measure(trial, "instructions", counts[trial.block as usize - 1][usize::from(is_other)]);
        if let Some(share) = share {
            common::measure(trial, SEEN, if is_other { share } else { 0.95 });
        }
    });
    judge(&record)
}

fn comparison(findings: &Findings) -> &Comparison {
    findings.tables[0].rows[1].comparison.as_ref().unwrap()
}

#[test]
fn counts_that_agree_are_exact_and_others_are_judged_like_measurements() {
    let check = |counts: [[f64; 2]; 3], expect: Verdict, is_exact: bool| {
        let findings = counted(counts, Some(0.9));
        let comparison = comparison(&findings);
        assert_eq!((comparison.verdict, comparison.inferred == Inferred::Exact), (expect, is_exact), "{counts:?}");
        let differ =
            comparison.caveats.iter().any(|caveat| matches!(caveat, Caveat::CountsDiffer { by } if *by > 1e-5));
        assert_eq!(differ, !is_exact, "{counts:?}");
    };
    check([[1e6, 1e6]; 3], Verdict::Equivalent, true);
    // Within 10⁻⁵, which the number of a process may cost.
    check([[1e6, 1e6 + 9.0], [1e6 + 5.0, 1e6 + 9.0], [1e6, 1e6]], Verdict::Equivalent, true);
    check([[1e6, 1e6 + 20.0]; 3], Verdict::Negligible, true);
    check([[1e6, 1.05e6]; 3], Verdict::Slower, true);
    check([[1e6, 0.95e6]; 3], Verdict::Faster, true);
    let differ = [[1e6, 1e6], [1e6 + 20.0, 1e6 + 21.0], [1e6 + 30.0, 1e6 + 30.0]];
    check(differ, Verdict::Equivalent, false);
}

#[test]
fn nothing_is_equal_by_counts_that_hardly_see_its_time() {
    let check = |share: Option<f64>, other: f64, expect: Verdict| {
        let findings = counted([[1e6, other]; 3], share);
        let comparison = comparison(&findings);
        assert_eq!(comparison.verdict, expect, "{share:?} {other}");
        let unseen = comparison.caveats.iter().any(|caveat| matches!(caveat, Caveat::UnseenTime { .. }));
        assert_eq!(unseen, share.is_none_or(|share| share < 0.8), "{share:?}");
        let of_study = findings.caveats.iter().find_map(|caveat| match caveat {
            Caveat::Counted { seen, .. } => Some(seen.iter().map(|one| one.share).fold(1.0, f64::min)),
            _ => None,
        });
        assert!(of_study.is_some_and(|least| (least - share.unwrap_or(0.0)).abs() < 1e-9), "{of_study:?}");
    };
    let undecided = Verdict::Undecided { more_blocks: None };
    check(Some(0.8), 1e6, Verdict::Equivalent);
    check(Some(0.79), 1e6, undecided);
    check(Some(0.79), 1.005e6, undecided);
    check(Some(0.79), 1.05e6, Verdict::Slower);
    check(None, 1e6, undecided);
}
