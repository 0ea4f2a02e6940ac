//! What repeated values may not do: values on a clock's grid, values of which most are equal, values at the launcher's floor.
//! Verdict, p and interval say the same of them, and nothing is promised that no number of blocks could keep.

use bakeoff_judge::findings::{Comparison, EffectKind, Findings, Inferred, Verdict};
use bakeoff_judge::samples::Terms;
use bakeoff_judge::{judge, judge_samples, stopping};
use bakeoff_model::record::{Record, TWIN, Trial};
use bakeoff_model::until::Until;
use bakeoff_readers::Sample;
use bakeoff_testkit::records::{execute, measure, study};

/// A study of one metric: the value of each variant in each pass; the twin has the baseline's.
fn of(metric: &str, variants: &[&str], passes: u32, value: impl Fn(&str, u32) -> f64) -> Record {
    let mut record = study(variants, &["idle"], &[metric]);
    execute(&mut record, passes, |trial: &mut Trial| {
        let name = if trial.variant == TWIN { variants[0] } else { &trial.variant };
        let value = value(name, trial.block);
        measure(trial, metric, value);
    });
    record
}

fn row<'a>(findings: &'a Findings, variant: &str) -> &'a Comparison {
    let row = findings.tables[0].rows.iter().find(|row| row.variant == variant).unwrap();
    row.comparison.as_ref().unwrap()
}

fn kinds(comparison: &Comparison) -> Vec<String> {
    comparison.caveats.iter().map(|caveat| caveat.kind()).collect()
}

/// Ten of sixteen contrasts are equal, and the others lie on one side: the centre is one of the equal ones, and refuted
/// itself, but not its neighbours.
#[test]
fn a_difference_in_few_blocks_is_in_an_interval_that_begins_at_none() {
    let few = [103.0, 150.0, 108.0, 170.0, 120.0, 130.0];
    for (variants, side) in [(vec!["base", "b", "c"], 1.0), (vec!["base", "b"], 1.0), (vec!["base", "b", "c"], -1.0)] {
        let value = |name: &str, block: u32| match (name, block.checked_sub(11)) {
            ("base", _) | (_, None) => 200.0,
            (_, Some(at)) => 200.0 + side * (few[at as usize] - 100.0),
        };
        let findings = judge(&of("nvcsw", &variants, 16, value));
        for variant in &variants[1..] {
            let comparison = row(&findings, variant);
            let [low, high] = comparison.interval().unwrap();
            assert!(low <= 1.0 && 1.0 <= high && high - low > 0.05, "{comparison:?}");
            assert!((low..=high).contains(&comparison.estimate), "{comparison:?}");
            assert!(matches!(comparison.verdict, Verdict::Undecided { .. }), "{comparison:?}");
            assert!(comparison.p_corrected().unwrap() > 0.05, "{comparison:?}");
        }
    }
}

/// Numbers of somebody else's clock, one of its ticks apart: the ranks differ, and the values could all be equal.
#[test]
fn p_of_unpaired_numbers_is_that_of_their_interval() {
    let sample = |col: &str, ticks: &[f64]| Sample {
        col: col.to_owned(),
        unit: "sec".to_owned(),
        values: ticks.iter().map(|ticks| ticks / 100.0).collect(),
        ..Sample::default()
    };
    let base = [10.0, 10.0, 9.0, 10.0, 10.0, 11.0, 10.0, 10.0, 10.0, 9.0, 10.0, 10.0];
    let terms = Terms { confidence: 0.95, margin: 0.01, paired: false, baseline: None };
    for (more, shown) in [(1.0, false), (4.0, true)] {
        let variant = base.map(|ticks| ticks + more);
        let findings = judge_samples(vec![sample("a", &base), sample("b", &variant)], &terms).unwrap();
        let comparison = findings.tables[0].samples[1].comparison.as_ref().unwrap();
        let [low, high] = comparison.interval().unwrap();
        assert!(
            comparison.tested().and_then(|tested| tested.p).unwrap() < 0.001,
            "the ranks are far apart: {comparison:?}"
        );
        assert_eq!(comparison.p_corrected().unwrap() <= 0.05, shown, "{comparison:?}");
        assert_eq!(low <= 1.0 && 1.0 <= high, !shown, "{comparison:?}");
        assert_eq!(comparison.verdict == Verdict::Slower, shown, "{comparison:?}");
    }
}

/// Half of a 2 × 2 × 2, where only a linear model says anything: constant times on a grid of 4 ms.
#[test]
fn a_linear_model_knows_of_ticks_too() {
    let half = |metric: &str, unit_s: f64, other: f64| {
        let names = ["000", "110", "101", "011"];
        let value = |name: &str, _| unit_s * if matches!(name, "000" | "101") { 1.0 } else { other };
        let mut record = of(metric, &names, 12, value);
        for (variant, name) in record.study.variants.iter_mut().zip(names) {
            let levels = ["a", "b", "c"].into_iter().zip(name.chars());
            variant.levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_string())).collect();
        }
        record.study.decide.baseline = record.study.variants[0].levels.clone();
        judge(&record)
    };
    for (unit_s, inferred) in [(0.060, Some(Inferred::TooCoarse)), (6.0, None)] {
        let findings = half("user", unit_s, (unit_s + 0.004) / unit_s);
        let mains = findings.effects.iter().find(|effects| effects.kind == EffectKind::Main).unwrap();
        assert_eq!(mains.effects.len(), 3);
        for effect in &mains.effects {
            let comparison = effect.comparison.as_ref().unwrap();
            assert!(matches!(comparison.verdict, Verdict::Undecided { .. }), "{effect:?}");
            assert_eq!(comparison.interval(), None, "what never varies has no error: {effect:?}");
            assert!(inferred.is_none_or(|inferred| comparison.inferred == inferred), "{comparison:?}");
        }
    }
}

#[test]
fn the_clock_is_known_by_all_values_of_a_table() {
    // Two variants that are the same in every block, by a clock that the third one shows to tick every 10 ms.
    let value = |name: &str, block: u32| if name == "c" { 3.45 + 0.01 * f64::from(block % 5) } else { 3.45 };
    let findings = judge(&of("user", &["base", "b", "c"], 12, value));
    let same = row(&findings, "b");
    assert_eq!(same.verdict, Verdict::Equivalent, "{same:?}");
    assert!((same.resolution - (0.01f64 / 3.45).ln_1p()).abs() < 1e-4, "{same:?}");
}

#[test]
fn no_number_of_blocks_is_promised_that_a_tick_forbids() {
    // 0.4 % apart, on a clock whose ticks are 0.67 % of a value.
    let times = [1.50, 1.51, 1.49, 1.50, 1.52, 1.50, 1.48, 1.51, 1.50, 1.49, 1.51, 1.50];
    let value = |name: &str, block: u32| {
        let at = (block as usize - 1) % times.len();
        times[at] + if name == "b" && block % 3 < 2 { 0.01 } else { 0.0 }
    };
    let record = of("user", &["base", "b"], 12, value);
    let findings = judge(&record);
    let comparison = row(&findings, "b");
    assert_eq!(comparison.verdict, Verdict::Undecided { more_blocks: None }, "{comparison:?}");
    assert!(comparison.detectable.is_none_or(|least| least > 1.0067), "{comparison:?}");

    // A rule that could never be fulfilled ends the study, and one on the width asks of the blocks only what they can do.
    let mut coarse = of("user", &["base", "b"], 60, |_, block| 0.06 + 0.01 * f64::from(block % 2));
    coarse.study.until = Until::Anytime;
    assert!(stopping::enough(&coarse), "{:?}", row(&judge(&coarse), "b"));
    let mut fine = of("user", &["base", "b"], 40, |_, block| 1.5 + 0.01 * f64::from(block % 2));
    fine.study.until = Until::Precision(0.005);
    assert!(stopping::enough(&fine), "{:?}", row(&judge(&fine), "b"));
}

#[test]
fn at_the_launchers_floor_no_pair_is_equivalent() {
    let value = |name: &str, block: u32| match name {
        "base" => 65536.0 + 4.0 * f64::from(block % 3),
        "b" => 65536.0 * 1.005 + 4.0 * f64::from(block % 4),
        _ => 65536.0 * 1.0051 + 4.0 * f64::from(block % 5),
    };
    let mut record = of("maxrss", &["base", "b", "c"], 12, value);
    record.sessions[0].memory_floor_bytes = Some(65536.0);
    let findings = judge(&record);
    for variant in ["b", "c"] {
        let comparison = row(&findings, variant);
        assert_eq!(comparison.verdict, Verdict::Undecided { more_blocks: None });
        assert!(comparison.interval().unwrap()[0] <= 1.0, "{comparison:?}");
        assert!(kinds(comparison).contains(&"memory-floor".to_owned()));
    }
    let ranking = findings.tables[0].ranking.as_ref();
    assert!(ranking.is_none_or(|ranking| ranking.differ == 0), "{ranking:?}");
}
