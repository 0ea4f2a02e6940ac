//! Records in, findings out: which trials count, how they are paired, which test judges them, what is claimed and
//! which doubts go with it. The records are built here, trial by trial; the statistics themselves are tested elsewhere.
#![expect(clippy::expect_used, reason = "all of this file is tests")]

use bakeoff_judge::findings::{Comparison, Findings, Inferred, Row, Scale, Test, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::metric::{Direction, Metric, Unit};
use bakeoff_model::record::{Block, Failure, Outcome, Place, Record, Session, StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::study::Decide;

/// A study of `names`, the baseline first, with a twin, of one workload under one condition.
fn study(names: &[&str], metrics: &[&str]) -> Record {
    let variant = |name: &&str| VariantLine { name: (*name).to_owned(), levels: [].into(), build: None, run: None };
    let mut record = Record::new(StudyLine {
        format: 1,
        bakeoff: "0".to_owned(),
        study: "test".to_owned(),
        question: None,
        plan: "default".to_owned(),
        identity: "0".to_owned(),
        seed: 178,
        variants: names.iter().chain(&[TWIN]).map(variant).collect(),
        workloads: vec!["loop".to_owned()],
        conditions: vec!["idle".to_owned()],
        decide: Decide {
            baseline: [].into(),
            metrics: metrics.iter().map(|m| (*m).to_owned()).collect(),
            margin: 0.01,
            confidence: 0.95,
            ..Decide::default()
        },
        until: bakeoff_model::until::Until::Blocks,
        looks_until: None,
        simulated: None,
        ..StudyLine::default()
    });
    record.sessions.push(Session {
        session: 1,
        started_unix_s: 1e9,
        blocks: 0,
        place: Place::default(),
        memory_floor_bytes: None,
        ..Session::default()
    });
    record
}

/// Adds a block in which every variant has one value of every metric; `None` is a failed trial.
fn block(record: &mut Record, values: &[(&str, Option<f64>)]) {
    let number = record.blocks.len() as u32 + 1;
    let (workload, condition) = ("loop".to_owned(), "idle".to_owned());
    let order: Vec<String> = values.iter().map(|(variant, _)| (*variant).to_owned()).collect();
    for (index, (variant, value)) in values.iter().enumerate() {
        let failed = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
        let measurements = record.study.decide.metrics.iter().map(|metric| (metric.clone(), value.unwrap_or(99.0)));
        record.trials.push(Trial {
            block: number,
            workload: workload.clone(),
            condition: condition.clone(),
            position: index as u32 + 1,
            variant: (*variant).to_owned(),
            session: 1,
            started_unix_s: 1e9 + f64::from(number),
            outcome: if value.is_some() { Outcome::Ok } else { failed },
            measurements: measurements.collect(),
            leftovers: 0,
            ..Trial::default()
        });
    }
    record.blocks.push(Block { block: number, workload, condition, order, ..Block::default() });
    record.sessions[0].blocks = number;
}

/// A baseline of about 2 s; block by block it varies by up to 5 %, whatever is measured in it.
fn baseline_s(index: usize) -> f64 {
    2.0 + (index * 37 % 11) as f64 * 0.01
}

/// A little noise without a tendency: between ± 0.3 %.
fn noise(index: usize) -> f64 {
    [0.0021, -0.0013, 0.0030, -0.0027, -0.0002, 0.0008, -0.0030, 0.0011, 0.0027, -0.0024][index % 10]
}

/// Two variants and the twin: `b` takes `ratio` times as long as `a`, plus noise.
fn two(blocks: usize, ratio: f64) -> Record {
    let mut record = study(&["a", "b"], &["wall"]);
    for index in 0..blocks {
        let a = baseline_s(index);
        let (b, twin) = (a * ratio * (1.0 + noise(index)), a * (1.0 + noise(index + 3)));
        block(&mut record, &[("a", Some(a)), ("b", Some(b)), (TWIN, Some(twin))]);
    }
    record
}

/// Two variants without a twin, from pairs.
fn pairs(metric: &str, pairs: &[(Option<f64>, Option<f64>)]) -> Record {
    let mut record = study(&["a", "b"], &[metric]);
    pairs.iter().for_each(|(a, b)| block(&mut record, &[("a", *a), ("b", *b)]));
    record
}

fn some(pairs: &[(f64, f64)]) -> Vec<(Option<f64>, Option<f64>)> {
    pairs.iter().map(|(a, b)| (Some(*a), Some(*b))).collect()
}

fn row<'f>(findings: &'f Findings, variant: &str) -> &'f Row {
    findings.tables[0].rows.iter().find(|row| row.variant == variant).expect("a row")
}

fn comparison(record: &Record) -> Comparison {
    row(&judge(record), "b").comparison.clone().expect("a comparison")
}

fn kinds(caveats: &[bakeoff_judge::findings::Caveat]) -> Vec<String> {
    caveats.iter().map(|caveat| caveat.kind()).collect()
}

#[test]
fn verdicts_of_plain_studies() {
    let check = |blocks, ratio: f64, expect| {
        let comparison = comparison(&two(blocks, ratio));
        assert_eq!(comparison.verdict, expect, "{comparison:?}");
        let [low, high] = comparison.interval().expect("an interval");
        assert!(low <= comparison.estimate && comparison.estimate <= high);
        assert!(low <= ratio && ratio <= high, "{comparison:?}");
        assert_eq!((comparison.scale, comparison.blocks), (Scale::Ratio, blocks as u32));
    };
    check(10, 0.95, Verdict::Faster);
    check(10, 1.05, Verdict::Slower);
    check(10, 1.00, Verdict::Equivalent);
    check(10, 1.005, Verdict::Negligible);
    check(40, 0.95, Verdict::Faster);
}

#[test]
fn the_number_of_blocks_chooses_the_test() {
    let check = |blocks, expect, has_interval, caveats: &[&str]| {
        let comparison = comparison(&two(blocks, 1.05));
        let test = comparison.tested().map(|tested| tested.test);
        assert_eq!((test, comparison.interval().is_some()), (expect, has_interval), "{comparison:?}");
        assert_eq!(kinds(&comparison.caveats), caveats, "{blocks} blocks");
    };
    check(1, None, false, &["too-few-blocks"]);
    check(2, None, false, &["too-few-blocks"]);
    check(3, Some(Test::PairedLogT), true, &["model-based"]);
    check(5, Some(Test::PairedLogT), true, &["model-based"]);
    check(6, Some(Test::SignFlip), true, &[]);
    check(36, Some(Test::SignFlip), true, &[]);
    check(37, Some(Test::SignFlipMonteCarlo { seed: 178 }), true, &[]);
}

#[test]
fn a_level_that_needs_more_blocks_is_not_faked() {
    let mut record = two(7, 1.05);
    record.study.decide.confidence = 0.99;
    let comparison = comparison(&record);
    assert_eq!((comparison.interval(), comparison.tested().and_then(|tested| tested.p)), (None, Some(2f64.powi(-6))));
    assert_eq!(comparison.verdict, Verdict::Undecided { more_blocks: Some(1) });
    assert_eq!(kinds(&comparison.caveats), ["too-few-blocks"]);
}

/// Seven variants, of which only two were ever run: what was not compared cannot be claimed falsely, and takes nothing
/// from the others.
#[test]
fn what_was_not_compared_takes_nothing_from_the_others() {
    let mut record = study(&["a", "b", "c", "d", "e", "f", "g"], &["wall"]);
    for index in 0..7 {
        let a = baseline_s(index);
        block(&mut record, &[("a", Some(a)), ("b", Some(a * 1.05 * (1.0 + noise(index))))]);
    }
    let findings = judge(&record);
    assert_eq!(findings.method.family, 6);
    let comparison = row(&findings, "b").comparison.clone().expect("a comparison");
    assert_eq!(
        (comparison.tested().and_then(|tested| tested.p), comparison.p_corrected()),
        (Some(2f64.powi(-6)), Some(2f64.powi(-6)))
    );
    assert_eq!(comparison.verdict, Verdict::Slower);
    assert_eq!((&row(&findings, "c").summary, &row(&findings, "c").comparison), (&None, &None));
}

/// Several variants of about `ratios` times the baseline, with noise that may be larger than their differences.
fn several(ratios: &[f64], blocks: usize, spread: f64, seed: usize) -> Record {
    let names: Vec<String> = (0..=ratios.len()).map(|i| format!("v{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut record = study(&names, &["wall"]);
    for index in 0..blocks {
        let chance = |variant: usize| ((index * 7919 + variant * 104_729 + seed * 1299) % 1009) as f64 / 1009.0 - 0.5;
        let value = |variant: usize| {
            let ratio = if variant == 0 { 1.0 } else { ratios[variant - 1] };
            baseline_s(index) * ratio * (1.0 + spread * chance(variant))
        };
        let values: Vec<(&str, Option<f64>)> =
            names.iter().enumerate().map(|(i, name)| (*name, Some(value(i)))).collect();
        block(&mut record, &values);
    }
    record
}

/// Issue 26, point 2: one report, one answer. Verdict, interval, corrected p, letters and the interval against the best say the
/// same of a pair, whatever is true of the variants.
#[test]
fn verdict_interval_and_letters_agree() {
    let (mut decided, mut open) = (0, 0);
    for seed in 0..60 {
        let ratios = [1.0, 1.004, 1.01, 1.02, 0.985, 1.03];
        let findings = judge(&several(&ratios, 6 + seed % 9, 0.02 + 0.002 * (seed % 11) as f64, seed));
        let table = &findings.tables[0];
        let ranking = table.ranking.as_ref().expect("all pairs");
        let letters = |name: &str| &ranking.variants.iter().find(|v| v.variant == name).expect("ranked").letters;
        let share = |a: &str, b: &str| letters(a).chars().any(|letter| letters(b).contains(letter));
        for row in &table.rows[1..] {
            let comparison = row.comparison.as_ref().expect("compared");
            let [low, high] = comparison.interval().expect("an interval");
            let excludes = low > 1.0 || high < 1.0;
            assert_eq!(comparison.differs(), excludes, "seed {seed}: {comparison:?}");
            assert_eq!(share("v0", &row.variant), !excludes, "seed {seed}: {comparison:?}");
            assert!(!excludes || comparison.p_corrected().expect("p") <= 0.05, "seed {seed}: {comparison:?}");
            if comparison.is_within() {
                let [low, high] = comparison.shown_interval().expect("an interval");
                assert!(low >= 1.0 / 1.01 && high <= 1.01, "seed {seed}: {comparison:?}");
                assert_eq!(comparison.shown_confidence(), 0.9);
            }
            decided += u32::from(excludes);
            open += u32::from(!excludes);
        }
        let best = &ranking.variants[0];
        for other in &ranking.variants[1..] {
            let [low, high] = other.against_best_interval.expect("an interval");
            assert_eq!(share(&best.variant, &other.variant), low <= 1.0 && 1.0 <= high, "seed {seed}: {other:?}");
        }
    }
    assert!(decided > 50 && open > 50, "{decided} {open}");
}

/// Issue 26, point 3: with few blocks and many commands that are far apart, all pairs are decided.
#[test]
fn many_variants_that_are_far_apart_are_all_told_apart() {
    let ratios: Vec<f64> = (1..28).map(|i| 1.0 + 0.1 * f64::from(i)).collect();
    for confidence in [0.95, 0.99] {
        let mut record = several(&ratios, 12, 0.01, 1);
        record.study.decide.confidence = confidence;
        let findings = judge(&record);
        let ranking = findings.tables[0].ranking.as_ref().expect("all pairs");
        assert_eq!((ranking.pairs, ranking.differ), (378, 378), "{confidence}");
    }
}

/// A table that cannot decide anything is left out.
#[test]
fn a_ranking_that_could_not_tell_two_apart_is_left_out() {
    let mut record = several(&[1.5, 2.0], 7, 0.01, 1);
    assert!(judge(&record).tables[0].ranking.is_some());
    record.study.decide.confidence = 0.99;
    let findings = judge(&record);
    assert_eq!(findings.tables[0].ranking, None);
    assert_eq!(kinds(&findings.tables[0].rows[1].comparison.as_ref().expect("compared").caveats), ["too-few-blocks"]);
}

#[test]
fn a_noisy_study_says_how_many_blocks_it_needs() {
    let noisy: Vec<_> = (0..10).map(|i| (baseline_s(i), baseline_s(i) * (1.003 + 10.0 * noise(i)))).collect();
    let comparison = comparison(&pairs("wall", &some(&noisy)));
    let Verdict::Undecided { more_blocks: Some(more) } = comparison.verdict else { panic!("{comparison:?}") };
    assert!((10..1000).contains(&more), "{more}");
}

#[test]
fn failed_trials_are_kept_out_and_counted() {
    let mut record = two(10, 1.05);
    block(&mut record, &[("a", Some(2.0)), ("b", None), (TWIN, Some(2.0))]);
    block(&mut record, &[("a", None), ("b", Some(50.0)), (TWIN, Some(2.0))]);
    record.trials.last_mut().expect("a trial").outcome = Outcome::Void("throttled".to_owned());
    let findings = judge(&record);
    let b = row(&findings, "b");
    let comparison = b.comparison.as_ref().expect("a comparison");
    assert_eq!((comparison.blocks, comparison.verdict), (10, Verdict::Slower));
    assert_eq!(kinds(&comparison.caveats), ["incomplete-blocks"]);
    assert_eq!(b.summary.as_ref().map(|s| s.n), Some(11));
    let failures: Vec<_> =
        findings.failures.iter().map(|f| (f.variant.as_str(), f.failed, f.void, f.of, f.example.is_some())).collect();
    assert_eq!(failures, [("a", 1, 0, 12, true), ("b", 1, 0, 12, true), (TWIN, 0, 1, 12, false)]);
}

#[test]
fn a_missing_metric_is_named_and_has_no_table() {
    let mut record = two(10, 1.05);
    record.study.decide.metrics = ["maxrss", "nonsense"].map(str::to_owned).to_vec();
    let findings = judge(&record);
    assert!(findings.tables.is_empty(), "{:?}", findings.tables);
    assert_eq!(findings.missing.iter().flat_map(|group| &group.metrics).collect::<Vec<_>>(), ["maxrss"]);
    assert_eq!(kinds(&findings.caveats), ["unknown-metric"]);
}

#[test]
fn cpu_is_derived() {
    let mut record = two(8, 1.05);
    record.study.decide.metrics = vec!["cpu".to_owned()];
    for trial in &mut record.trials {
        let wall = trial.measurements["wall"];
        trial.measurements = [("user".to_owned(), wall), ("sys".to_owned(), 1.0)].into();
    }
    let findings = judge(&record);
    assert_eq!(row(&findings, "a").summary.as_ref().map(|s| s.min), Some(3.0));
}

#[test]
fn identical_values_are_not_judged_by_chance() {
    let check = |a: f64, b: f64, expect| {
        let mut record = pairs("pages", &some(&[(a, b); 4]));
        record.study.metrics = vec![Metric {
            name: "pages".into(),
            unit: Unit::Count,
            better: Direction::Less,
            what: "pages of a book".into(),
            source: "its index".into(),
            exact: true,
            counted: false,
        }];
        let comparison = comparison(&record);
        assert_eq!((comparison.inferred, comparison.verdict), (Inferred::Exact, expect), "{comparison:?}");
        assert_eq!((comparison.interval(), comparison.tested().and_then(|tested| tested.p)), (None, None));
        assert_eq!(kinds(&comparison.caveats).iter().filter(|k| **k != "zero-median").count(), 0);
    };
    check(4096.0, 4096.0, Verdict::Equivalent);
    check(0.0, 0.0, Verdict::Equivalent);
    check(4096.0, 8192.0, Verdict::Slower);
    check(8192.0, 4096.0, Verdict::Faster);
    check(100_000.0, 100_001.0, Verdict::Negligible);
    check(0.0, 5.0, Verdict::Slower);
}

#[test]
fn zeros_are_compared_by_differences() {
    let faults = [(0.0, 3.0), (0.0, 4.0), (1.0, 5.0), (0.0, 2.0), (0.0, 6.0), (0.0, 3.0), (2.0, 4.0), (0.0, 5.0)];
    let zero = comparison(&pairs("majflt", &some(&faults)));
    assert_eq!((zero.scale, zero.verdict), (Scale::Difference, Verdict::Slower));
    assert!(zero.interval().is_some_and(|[low, high]| low >= 2.0 && high <= 6.0));
    assert_eq!(kinds(&zero.caveats), ["zero-median"]);
    // With a median to take the margin from, differences can be shown not to matter.
    let many: Vec<_> =
        (0..10).map(|i| (1000.0 + (i % 3) as f64, 1000.0 + (i % 2) as f64)).chain([(0.0, 0.0)]).collect();
    let counts = comparison(&pairs("minflt", &some(&many)));
    assert_eq!((counts.scale, counts.verdict), (Scale::Difference, Verdict::Equivalent));
    assert!(counts.ratio_of_means.is_some() && counts.ratio_of_max.is_some());
}

/// Issue 26, point 1: that values never vary makes no metric exact. Few of them show nothing; more are tested like any.
#[test]
fn equal_values_of_a_metric_that_is_not_exact_are_judged_by_chance() {
    let check = |metric, a: f64, b: f64, blocks, test, expect| {
        let comparison = comparison(&pairs(metric, &some(&vec![(a, b); blocks])));
        assert_eq!(comparison.tested().map(|tested| tested.test), test, "{comparison:?}");
        assert_eq!(comparison.differs(), expect, "{comparison:?}");
    };
    check("maxrss", 4096.0, 8192.0, 4, None, false);
    check("maxrss", 4096.0, 8192.0, 6, Some(Test::SignFlip), true);
    check("maxrss", 4096.0, 4096.0, 6, Some(Test::SignFlip), false);
    // A clock that ticks every 4 ms.
    for blocks in [3, 5, 6, 20] {
        check("user", 0.060, 0.064, blocks, None, false);
    }
}

#[test]
fn a_variant_that_sometimes_stalls_is_pointed_out() {
    let mut record = two(12, 0.98);
    record.trials[7].measurements.insert("wall".to_owned(), 9.0);
    let comparison = comparison(&record);
    assert_eq!(comparison.verdict, Verdict::Faster);
    assert_eq!(kinds(&comparison.caveats), ["typical-and-mean-disagree"]);
    assert!(comparison.ratio_of_means.is_some_and(|r| r.estimate > 1.2));
    assert!(comparison.ratio_of_max.is_some_and(|r| r > 4.0));
}

/// Issue 26, point 1: beyond the margin a clock's ticks leave no verdict; below it they widen every interval.
#[test]
fn ticks_refuse_or_widen() {
    let ticks = [(0.01, 0.01), (0.01, 0.02), (0.02, 0.01), (0.01, 0.01), (0.01, 0.02), (0.02, 0.02), (0.01, 0.01)];
    let coarse = comparison(&pairs("sys", &some(&ticks)));
    assert_eq!(coarse.inferred, Inferred::TooCoarse);
    assert_eq!(coarse.verdict, Verdict::Undecided { more_blocks: None });
    assert!(kinds(&coarse.caveats).contains(&"clock-too-coarse".to_owned()), "{coarse:?}");
    let counts = comparison(&pairs("nvcsw", &some(&ticks.map(|(a, b)| (100.0 * a, 100.0 * b)))));
    assert_eq!(counts.tested().map(|tested| tested.test), Some(Test::SignFlip));

    let fine: Vec<(f64, f64)> =
        (0..10).map(|i| (2.0 + 0.01 * (i * 7 % 10) as f64, 2.1 + 0.01 * (i * 3 % 10) as f64)).collect();
    let exactly: Vec<(f64, f64)> = fine.iter().map(|(a, b)| (a.exp(), (a.exp().ln() + (b / a).ln()).exp())).collect();
    let [rounded, smooth] = [fine, exactly].map(|values| comparison(&pairs("wall", &some(&values))));
    let [[low, high], [inner_low, inner_high]] = [&rounded, &smooth].map(|c| c.interval().expect("an interval"));
    let wider = 1.0 + 0.01 / 2.0;
    assert!(
        (inner_low / low - wider).abs() < 1e-4 && (high / inner_high - wider).abs() < 1e-4,
        "{rounded:?} {smooth:?}"
    );
    assert!(kinds(&rounded.caveats).contains(&"clock-ticks".to_owned()), "{rounded:?}");
    assert!(!kinds(&smooth.caveats).contains(&"clock-ticks".to_owned()), "{smooth:?}");
    assert_eq!(rounded.verdict, Verdict::Slower);
}

#[test]
fn the_twin_is_the_noise_floor() {
    let quiet = judge(&two(10, 1.05));
    let floor = quiet.tables[0].noise_floor.as_ref().and_then(|row| row.comparison.as_ref()).expect("a twin");
    assert_eq!((floor.verdict, floor.tested().and_then(|tested| tested.p)), (Verdict::Equivalent, floor.p_corrected()));
    assert!(quiet.variants.iter().chain([]).all(|variant| variant.name != TWIN));
    assert!(quiet.tables[0].rows.iter().all(|row| row.variant != TWIN));
    assert_eq!(kinds(&quiet.caveats), Vec::<&str>::new());

    let mut biased = two(10, 1.05);
    biased
        .trials
        .iter_mut()
        .filter(|t| t.variant == TWIN)
        .for_each(|t| *t.measurements.get_mut("wall").unwrap() *= 1.03);
    assert_eq!(kinds(&judge(&biased).caveats), ["twin-differs"]);
}

#[test]
fn doubts_about_the_whole_study() {
    let mut record = two(10, 1.05);
    record.study.simulated = Some("b = 1.05".to_owned());
    let elsewhere = Place { host: "elsewhere".to_owned(), ..Place::default() };
    record.sessions.push(Session {
        session: 2,
        started_unix_s: 2e9,
        blocks: 12,
        place: elsewhere,
        memory_floor_bytes: None,
        ..Session::default()
    });
    record.trials.last_mut().expect("a trial").session = 2;
    let findings = judge(&record);
    let expect = ["simulated", "unfinished", "several-places", "interrupted-blocks", "prolonged"];
    assert_eq!(kinds(&findings.caveats), expect);
    assert_eq!((findings.blocks_finished, findings.blocks_total, findings.blocks_wanted), (10, 12, 12));
    assert_eq!((findings.places.len(), findings.sessions), (2, 2));

    record.trials.pop();
    assert_eq!(judge(&record).blocks_finished, 9);
}

#[test]
fn an_empty_record_is_judged_too() {
    let findings = judge(&study(&["a", "b"], &["wall", "user"]));
    assert_eq!((findings.tables.len(), findings.blocks_finished), (2, 0));
    assert!(findings.tables.iter().flat_map(|t| &t.rows).all(|row| row.summary.is_none() && row.comparison.is_none()));
}

#[test]
fn what_no_launcher_can_tell_apart_is_not_called_equivalent() {
    let mut record = study(&["a", "b"], &["maxrss"]);
    for _ in 0..10 {
        block(&mut record, &[("a", Some(3e6)), ("b", Some(3e6))]);
    }
    let verdict = |record: &Record| {
        let comparison = judge(record).tables.remove(0).rows.remove(1).comparison.expect("a comparison");
        (comparison.verdict, kinds(&comparison.caveats).join(" "))
    };
    assert_eq!(verdict(&record).0, Verdict::Equivalent);
    record.sessions[0].memory_floor_bytes = Some(3e6);
    let (verdict, caveats) = verdict(&record);
    assert_eq!(verdict, Verdict::Undecided { more_blocks: None });
    assert!(caveats.contains("memory-floor"), "{caveats}");
}

#[test]
fn a_study_that_was_prolonged_or_left_processes_behind_says_so() {
    let mut record = two(10, 1.05);
    let mut later = record.sessions[0].clone();
    later.session = 2;
    later.blocks = 10;
    record.sessions[0].blocks = 8;
    record.sessions.push(later);
    record.trials[0].leftovers = 2;
    let found = judge(&record);
    assert_eq!(kinds(&found.caveats), ["prolonged", "leftovers"]);
    assert_eq!(found.sessions, 1, "a session without trials was nowhere");
}
