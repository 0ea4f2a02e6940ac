//! Two findings side by side: what is paired, how the intervals lie to each other, and that the page says so in words.

use bakeoff_judge::findings::{Findings, Scale, Verdict};
use bakeoff_judge::side_by_side::{Intervals, side_by_side as pair};
use bakeoff_report::{Style, side_by_side};

fn page(here: &Findings, there: &Findings) -> String {
    let page = side_by_side(&pair(here, there), here, there, Style { width: 100, colour: false });
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Findings with another interval of the first table's second row.
fn with_interval(interval: Option<[f64; 2]>) -> Findings {
    let mut findings = bakeoff_testkit::findings::pair();
    let comparison = findings.tables[0].rows[1].comparison.as_mut().unwrap();
    bakeoff_testkit::findings::tested(comparison).interval = interval;
    findings
}

#[test]
fn intervals_overlap_are_apart_or_cannot_be_told() {
    let here = with_interval(Some([0.8, 0.9]));
    for (there, expect) in [
        (Some([0.85, 0.95]), Intervals::Overlap),
        (Some([0.9, 0.95]), Intervals::Overlap),
        (Some([0.82, 0.83]), Intervals::Overlap),
        (Some([0.91, 0.95]), Intervals::Apart),
        (Some([0.7, 0.79]), Intervals::Apart),
        (None, Intervals::Unknown),
    ] {
        let there = with_interval(there);
        for (a, b) in [(&here, &there), (&there, &here)] {
            assert_eq!(pair(a, b).pairs[0].intervals, expect);
        }
    }
    let mut other = here.clone();
    other.tables[0].rows[1].comparison.as_mut().unwrap().scale = Scale::Difference;
    assert_eq!(pair(&here, &other).pairs[0].intervals, Intervals::Unknown);
}

/// Of what is equivalent the page prints the narrower interval, so that one is compared.
#[test]
fn the_intervals_that_are_printed_are_compared() {
    let equivalent = |narrower| {
        let mut findings = with_interval(Some([0.8, 1.2]));
        let comparison = findings.tables[0].rows[1].comparison.as_mut().unwrap();
        comparison.verdict = Verdict::Equivalent;
        bakeoff_testkit::findings::tested(comparison).equivalence_interval = Some(narrower);
        findings
    };
    let (here, there) = (equivalent([0.991, 0.996]), equivalent([1.002, 1.008]));
    assert_eq!(pair(&here, &there).pairs[0].intervals, Intervals::Apart);
    assert_eq!(pair(&here, &here).pairs[0].intervals, Intervals::Overlap);
}

#[test]
fn the_page_claims_no_more_than_it_shows() {
    let (here, there) = (with_interval(Some([0.8, 0.9])), with_interval(Some([0.91, 0.95])));
    let shown = page(&here, &there);
    assert!(shown.contains("are apart in 1"), "{shown}");
    assert!(shown.contains("[0.800, 0.900]") && shown.contains("[0.910, 0.950]") && shown.contains("apart"), "{shown}");
    assert!(shown.contains("This is not a test"), "{shown}");
    assert!(page(&here, &here).contains("are apart in 0"));
}

#[test]
fn what_only_one_of_them_has_is_named() {
    let here = bakeoff_testkit::findings::pair();
    let mut there = here.clone();
    there.tables[0].workload = "other".to_owned();
    there.method.margin = 0.5;
    let pairs = pair(&here, &there);
    assert_eq!((pairs.only_here.len(), pairs.only_there.len()), (1, 1));
    let shown = page(&here, &there);
    assert!(shown.contains("only here: ") && shown.contains("only there: "), "{shown}");
    assert!(shown.contains("50 % there"), "{shown}");
    let mut nothing = here.clone();
    nothing.tables.clear();
    assert!(page(&here, &nothing).contains("The two findings have no comparison in common"));
}
