//! Samples that somebody else measured: the laws of their judgement, and how often it errs. The test itself is held to R
//! and scipy in `oracles/ranks.rs`.
use bakeoff_judge::findings::{Comparison, Inferred};
use bakeoff_judge::findings::{Scale, Test, Verdict};
use bakeoff_judge::judge_samples;
use bakeoff_judge::samples::{SampleFindings, SampleRow, Terms};
use bakeoff_model::metric::Direction as Better;
use bakeoff_model::shuffle::Stream;
use bakeoff_readers::Sample;
use bakeoff_testkit::records::sentence;

const SEED: u64 = 178;

fn terms() -> Terms {
    Terms { confidence: 0.95, margin: 0.01, paired: false, baseline: None }
}

fn sample(row: &str, col: &str, values: &[f64]) -> Sample {
    let (row, col, unit) = (row.to_owned(), col.to_owned(), "sec".to_owned());
    Sample { row, col, unit, values: values.to_vec(), ..Sample::default() }
}

fn judge(lists: &[&[f64]], terms: &Terms) -> SampleFindings {
    let name = |i: usize| char::from(b'a' + i as u8).to_string();
    judge_samples(lists.iter().enumerate().map(|(i, list)| sample("", &name(i), list)).collect(), terms).unwrap()
}

fn second(findings: &SampleFindings) -> (&SampleRow, &Comparison) {
    let row = &findings.tables[0].samples[1];
    (row, row.comparison.as_ref().unwrap())
}

const A: [f64; 8] = [10.1, 10.4, 9.8, 10.0, 10.3, 9.9, 10.2, 9.7];
const B: [f64; 7] = [11.2, 11.0, 11.5, 10.9, 11.4, 11.1, 11.3];

#[test]
fn scaling_changes_nothing_and_swapping_inverts() {
    let findings = judge(&[&A, &B], &terms());
    let (_, comparison) = second(&findings);
    assert_eq!(
        (comparison.verdict, comparison.tested().map(|tested| tested.test)),
        (Verdict::Slower, Some(Test::MannWhitney))
    );
    let scaled: Vec<Vec<f64>> = [&A[..], &B].iter().map(|list| list.iter().map(|x| x * 1024.0).collect()).collect();
    let scaled = judge(&[&scaled[0], &scaled[1]], &terms());
    assert!((second(&scaled).1.estimate - comparison.estimate).abs() < 1e-12);
    let swapped = judge(&[&B, &A], &terms());
    let (_, other) = second(&swapped);
    assert_eq!(other.verdict, Verdict::Faster);
    assert!((other.estimate * comparison.estimate - 1.0).abs() < 1e-12);
    let ([low, high], [other_low, other_high]) = (comparison.interval().unwrap(), other.interval().unwrap());
    assert!((low * other_high - 1.0).abs() < 1e-12 && (high * other_low - 1.0).abs() < 1e-12);
    assert_eq!(comparison.tested().and_then(|tested| tested.p), other.tested().and_then(|tested| tested.p));
}

#[test]
fn of_rates_more_is_faster() {
    let mut samples = vec![sample("", "a", &A), sample("", "b", &B)];
    samples.iter_mut().for_each(|sample| sample.better = Better::More);
    assert_eq!(second(&judge_samples(samples, &terms()).unwrap()).1.verdict, Verdict::Faster);
}

#[test]
fn a_family_is_all_of_a_unit() {
    let mut samples = vec![];
    for row in ["x", "y", "z"] {
        samples.extend([sample(row, "a", &A), sample(row, "b", &B)]);
    }
    samples.push(Sample { unit: "B".to_owned(), ..sample("x", "a", &A) });
    samples.push(Sample { unit: "B".to_owned(), ..sample("x", "b", &B) });
    let findings = judge_samples(samples, &terms()).unwrap();
    let families: Vec<(String, u32)> = findings.tables.iter().map(|t| (t.unit.clone(), t.family)).collect();
    let seconds = ("sec".to_owned(), 3);
    assert_eq!(families, [seconds.clone(), seconds.clone(), seconds, ("B".to_owned(), 1)]);
    let p: Vec<f64> = findings
        .tables
        .iter()
        .map(|t| t.samples[1].comparison.as_ref().unwrap())
        .map(|c| c.p_corrected().unwrap())
        .collect();
    assert!((p[0] / p[3] - 3.0).abs() < 1e-9, "{p:?}");
}

/// `from` upwards by `step`, so many.
fn rising(from: f64, step: f64, n: u32) -> Vec<f64> {
    (0..n).map(|i| from + step * f64::from(i)).collect()
}

#[track_caller]
fn check_refused(findings: &SampleFindings) {
    let (row, comparison) = second(findings);
    let refused = row.refused.as_ref().unwrap();
    assert!(
        refused.kind() == "drift" && sentence(refused).contains("could explain a difference of up to"),
        "{refused:?}"
    );
    assert!(matches!(comparison.verdict, Verdict::Undecided { .. }), "{comparison:?}");
    assert!(row.time_could_explain.unwrap() > 1.0 && comparison.interval().is_some());
}

#[test]
fn what_time_could_explain_is_no_verdict() {
    // 19 % from the first to the last, and 9 % between the two.
    let drifting = rising(10.0, 0.1, 20);
    check_refused(&judge(&[&A, &drifting], &terms()));
    assert!(second(&judge(&[&A, &drifting], &terms())).1.tested().and_then(|tested| tested.p).unwrap() < 0.01);
    // The baseline's drift counts as much.
    check_refused(&judge(&[&drifting, &A], &terms()));
    // One drift through both, which neither shows on its own.
    let creeping = |from: f64| -> Vec<f64> { [3, 1, 0, 2, 7, 5, 4, 6, 9, 8].map(|i| from + f64::from(i)).to_vec() };
    let findings = judge(&[&creeping(100.0), &creeping(110.0)], &terms());
    check_refused(&findings);
    assert!(findings.tables[0].samples.iter().all(|row| row.order.drift_p.unwrap() > 0.01), "{findings:?}");
    // A long sample is looked at in chunks.
    let mut random = Stream::of(SEED, &["samples"]);
    let mut long = |drift: f64| -> Vec<f64> {
        (0..30_000).map(|i| 100.0 + drift * f64::from(i) / 30_000.0 + random.normal()).collect()
    };
    check_refused(&judge(&[&long(0.0), &long(4.0)], &terms()));
}

#[test]
fn what_time_could_not_explain_is_a_verdict() {
    let check = |a: &[f64], b: &[f64], expect: Verdict| {
        let findings = judge(&[a, b], &terms());
        let (row, comparison) = second(&findings);
        assert_eq!((comparison.verdict, &row.refused), (expect, &None));
        assert!(comparison.caveats.iter().any(|caveat| caveat.kind() == "drift"), "{comparison:?}");
        row.time_could_explain.unwrap()
    };
    // sleep 0.1 and sleep 0.2 on a machine that warms up by 1 %.
    let could = check(&rising(0.1001, 0.00005, 20), &rising(0.2003, 0.0001, 20), Verdict::Slower);
    assert!(could > 1.01 && could < 1.02, "{could}");
    check(&rising(0.2003, 0.0001, 20), &rising(0.1001, 0.00005, 20), Verdict::Faster);
    // Where some values are not positive, differences are bounded.
    let could = check(&rising(-1.0, 0.1, 20), &rising(50.0, 0.1, 20), Verdict::Slower);
    assert!((could - 3.0).abs() < 1e-9, "{could}");
    // A drift by a fifth of the margin leaves equivalence.
    check(&rising(100.0, 0.01, 20), &rising(100.1, 0.01, 20), Verdict::Equivalent);
}

#[test]
fn a_drift_beyond_the_margin_leaves_no_equivalence() {
    let steady: Vec<f64> = [3, 7, 1, 9, 4, 8, 0, 5, 2, 6].map(|i| 100.9 + 0.01 * f64::from(i)).to_vec();
    let drifting = rising(100.0, 0.1, 20);
    let findings = judge(&[&steady, &drifting], &terms());
    let [low, high] = second(&findings).1.equivalence_interval().unwrap();
    assert!(low > 1.0 / 1.01 && high < 1.01, "{low} {high}");
    check_refused(&findings);
}

#[test]
fn lines_that_are_blocks_bear_a_drift() {
    let drifting: Vec<f64> = (0..12).map(|i| 100.0 + 5.0 * f64::from(i)).collect();
    let slower: Vec<f64> = drifting.iter().enumerate().map(|(i, x)| x * (1.02 + 0.001 * (i % 3) as f64)).collect();
    let findings = judge(&[&drifting, &slower], &Terms { paired: true, ..terms() });
    let (row, comparison) = second(&findings);
    assert_eq!(
        (comparison.verdict, comparison.tested().map(|tested| tested.test), comparison.blocks),
        (Verdict::Slower, Some(Test::SignFlip), 12)
    );
    assert!(row.refused.is_none());
}

fn exact(col: &str, values: &[f64]) -> Sample {
    Sample { exact: true, ..sample("", col, values) }
}

/// Only what was declared exact is judged without chance, and only while it does not vary.
#[test]
fn exact_is_what_was_declared_so_and_does_not_vary() {
    let judge = |samples: Vec<Sample>, paired| judge_samples(samples, &Terms { paired, ..terms() }).unwrap();
    for paired in [false, true] {
        let findings = judge(vec![exact("a", &[100.0]), exact("b", &[105.0])], paired);
        let (_, comparison) = second(&findings);
        if !paired {
            assert_eq!((comparison.inferred, comparison.verdict), (Inferred::Exact, Verdict::Slower));
        }
        let findings = judge(vec![exact("a", &[7.0; 8]), exact("b", &[7.0; 8])], paired);
        let (_, comparison) = second(&findings);
        assert_eq!((comparison.inferred, comparison.verdict), (Inferred::Exact, Verdict::Equivalent));
        // A clock that ticks repeats itself as well.
        for other in [7.0, 7.5] {
            let findings = judge(vec![sample("", "a", &[7.0; 8]), sample("", "b", &[other; 8])], paired);
            let (_, comparison) = second(&findings);
            assert_ne!(comparison.inferred, Inferred::Exact);
            assert_eq!((comparison.interval(), comparison.equivalence_interval()), (None, None));
            assert_eq!(comparison.verdict, Verdict::Undecided { more_blocks: None }, "{comparison:?}");
            assert!(comparison.caveats.iter().any(|caveat| caveat.kind() == "never-vary"), "{comparison:?}");
        }
    }
    let findings = judge(vec![exact("a", &[100.0, 101.0, 101.0]), exact("b", &[101.0; 3])], false);
    let (row, comparison) = second(&findings);
    assert_eq!(comparison.tested().map(|tested| tested.test), Some(Test::MannWhitney));
    assert!(row.caveats.is_empty());
    let doubt = &findings.tables[0].samples[0].caveats[0];
    assert_eq!(doubt.kind(), "not-exact");
    assert!(sentence(doubt).contains("from 100 to 101"), "{}", sentence(doubt));
}

/// What differs in a setting is not compared, and the baseline is one for all that share their settings.
#[test]
fn tables_are_apart_by_settings() {
    let of = |pkg: &str, row: &str, col: &str, values: &[f64]| {
        let settings = [("pkg".to_owned(), pkg.to_owned())].into();
        Sample { settings, ..sample(row, col, values) }
    };
    let both = vec![of("x", "s", "a", &A), of("y", "s", "a", &B), of("x", "s", "b", &B), of("y", "s", "b", &A)];
    let findings = judge_samples(both, &terms()).unwrap();
    let verdicts: Vec<Verdict> =
        findings.tables.iter().map(|table| table.samples[1].comparison.as_ref().unwrap().verdict).collect();
    assert_eq!(verdicts, [Verdict::Slower, Verdict::Faster]);
    assert!(findings.caveats.iter().all(|caveat| caveat.kind() == "order-unknown"), "{:?}", findings.caveats);
    let apart = judge_samples(vec![of("x", "s", "a", &A), of("y", "s", "b", &B)], &terms()).unwrap();
    assert!(apart.tables.iter().all(|table| table.samples.len() == 1));
    assert_eq!(apart.caveats[0].kind(), "settings-differ");
    assert!(sentence(&apart.caveats[0]).contains("a, b differ in pkg"), "{}", sentence(&apart.caveats[0]));
    let names = ["a", "b", "c"].map(|col| of("x", "r", col, &A));
    let [first, others @ ..] = &names;
    let missing = vec![first.clone(), of("x", "s", "b", &A), of("x", "s", "c", &B)];
    let missing = judge_samples([missing, others.to_vec()].concat(), &terms()).unwrap();
    assert!(missing.tables[1].samples.iter().all(|row| row.comparison.is_none()), "b is no baseline");
    let doubt = missing.caveats.iter().find(|caveat| caveat.kind() == "sets-differ").unwrap();
    assert!(sentence(doubt).contains("s (only in b, c)"), "{}", sentence(doubt));
}

#[test]
fn values_that_differ_unasked_are_named() {
    let mixed = Sample { vary: [".fullname".to_owned()].into(), ..sample("", "a", &A) };
    let findings = judge_samples(vec![mixed], &terms()).unwrap();
    let doubt = &findings.tables[0].samples[0].caveats[0];
    assert!(doubt.kind() == "values-vary" && sentence(doubt).contains("differ in .fullname"), "{doubt:?}");
}

#[test]
fn strange_numbers_are_judged_without_a_panic() {
    let lists: [&[f64]; 10] = [
        &[1.0],
        &[1.0, 2.0],
        &[7.0; 5],
        &[0.0; 4],
        &[-1.0, 0.0, 1.0, 2.0, -2.0],
        &[1e300, 1.1e300, 1.2e300, 1e300],
        &[5e-324, 1e-323, 5e-324, 2e-323],
        &[f64::MAX, f64::MIN, 0.0, f64::MAX],
        &[9_007_199_254_740_992.0, 9_007_199_254_740_994.0, 9_007_199_254_740_992.0],
        &[1.0, 1.0, 1.0, 2.0, 1.0, 1.0],
    ];
    for x in lists {
        for y in lists {
            for paired in [false, x.len() == y.len()] {
                let asked = judge_samples(vec![sample("", "a", x), sample("", "b", y)], &Terms { paired, ..terms() });
                let Ok(findings) = asked else {
                    assert!(paired, "{x:?} {y:?}: {asked:?}");
                    continue;
                };
                let (_, comparison) = second(&findings);
                let interval = comparison.interval().into_iter().flatten();
                assert!(interval.chain([comparison.estimate]).all(f64::is_finite), "{x:?} {y:?}: {comparison:?}");
                if comparison.scale == Scale::Ratio {
                    assert!(comparison.estimate > 0.0, "{x:?} {y:?}: {comparison:?}");
                }
            }
        }
    }
    assert!(judge_samples(vec![], &terms()).unwrap().tables.is_empty());
}

/// 4,000 pairs of samples of 10 and 12 values, exponential and so skewed, that do not differ, and as many that differ by 30 %.
/// False verdicts, coverage of the interval, and refusals, which are mistakes here too.
#[test]
fn errors_are_as_rare_as_they_should_be() {
    const STUDIES: u32 = 4000;
    println!("seed {SEED}, {STUDIES} studies each");
    let mut random = Stream::of(SEED, &["samples"]);
    let (mut differs, mut covered, mut refused) = (0, 0, 0);
    for _ in 0..STUDIES {
        let mut list = |n: u32, factor: f64| -> Vec<f64> { (0..n).map(|_| random.exponential(factor)).collect() };
        let (a, b, c) = (list(10, 1.0), list(12, 1.0), list(12, 1.3));
        let null = judge(&[&a, &b], &terms());
        let (row, comparison) = second(&null);
        differs += u32::from(comparison.tested().and_then(|tested| tested.p).unwrap() <= 0.05);
        refused += u32::from(row.refused.is_some());
        let shifted = judge(&[&a, &c], &terms());
        let [low, high] = second(&shifted).1.interval().unwrap();
        covered += u32::from(low <= 1.3 && 1.3 <= high);
    }
    let rate = |count: u32| f64::from(count) / f64::from(STUDIES);
    println!("differs {}, covered {}, refused {}", rate(differs), rate(covered), rate(refused));
    // Three standard errors of a rate of .05 are .0103; the test is discrete, and below its level. A verdict is refused where
    // time seems visible, and then only if there would be one.
    assert!(rate(differs) < 0.0603 && rate(covered) > 0.9397 && rate(refused) < 0.01);
}
