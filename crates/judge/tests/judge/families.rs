//! What belongs to a family of comparisons, and what a family may take from its members.

use crate::labels;
use bakeoff_judge::findings::{Comparison, EffectKind, Findings, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::record::{Failure, Outcome, SharedLine, VariantLine};
use bakeoff_testkit::records::why;
use bakeoff_testkit::records::{execute, measure, noise, study};

/// The letters of two variants have one in common: they are not shown to differ.
fn share(findings: &Findings, one: &str, other: &str) -> bool {
    let ranking = findings.tables[0].ranking.as_ref().unwrap();
    let letters = |name: &str| &ranking.variants.iter().find(|ranked| ranked.variant == name).unwrap().letters;
    letters(one).chars().any(|letter| letters(other).contains(letter))
}

fn row<'a>(findings: &'a Findings, variant: &str) -> &'a Comparison {
    let row = findings.tables[0].rows.iter().find(|row| row.variant == variant).unwrap();
    row.comparison.as_ref().unwrap()
}

/// In a 2 × 2, `a=1 within b=0` is the row of that variant, and among levels of one factor a pair is one of the ranking's.
#[test]
fn a_pair_has_one_verdict_wherever_it_stands() {
    let names = ["00", "10", "01", "11"];
    for effect in [0.0, 0.002, 0.0025, 0.003, 0.0035, 0.004, 0.02] {
        let mut record = study(&names, &["idle"], &["wall"]);
        for (variant, name) in record.study.variants.iter_mut().zip(names) {
            let levels = ["a", "b"].into_iter().zip(name.chars());
            variant.levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_string())).collect();
        }
        record.study.decide.baseline = record.study.variants[0].levels.clone();
        execute(&mut record, 9, |trial| {
            let ones = trial.variant.matches('1').count() as f64;
            let wall_s = (1.0 + effect * ones) * noise(trial);
            measure(trial, "wall", wall_s);
        });
        let findings = judge(&record);
        let simple = findings.effects.iter().filter(|family| family.kind == EffectKind::Simple);
        let labelled =
            simple.flat_map(|family| family.effects.iter().map(move |effect| (labels(family, effect), effect)));
        let within: Vec<_> = labelled.collect();
        assert_eq!(within.len(), 4);
        for ([label, _], effect) in within {
            let comparison = effect.comparison.as_ref().unwrap();
            let within = effect.within.as_ref().map(ToString::to_string);
            match (label.as_str(), within.as_deref()) {
                ("a=1", Some("b=0")) => assert_eq!(comparison, row(&findings, "10")),
                ("b=1", Some("a=0")) => assert_eq!(comparison, row(&findings, "01")),
                ("a=1", Some("b=1")) => assert_eq!(comparison.differs(), !share(&findings, "11", "01"), "{effect:?}"),
                ("b=1", Some("a=1")) => assert_eq!(comparison.differs(), !share(&findings, "11", "10"), "{effect:?}"),
                other => panic!("{other:?}"),
            }
        }
    }
    for effect in [0.0, 0.002, 0.003, 0.004, 0.005, 0.02] {
        let levels = ["v0", "v1", "v2", "v3"];
        let mut record = study(&levels, &["idle"], &["wall"]);
        for (variant, name) in record.study.variants.iter_mut().zip(levels) {
            variant.levels = [("only".to_owned(), name.to_owned())].into();
        }
        record.study.decide.baseline = record.study.variants[0].levels.clone();
        execute(&mut record, 9, |trial| {
            let wall_s = if trial.variant == "v3" { 1.0 + effect } else { 1.0 } * noise(trial);
            measure(trial, "wall", wall_s);
        });
        let findings = judge(&record);
        let family = findings.effects.iter().find(|family| family.kind == EffectKind::Levels).unwrap();
        assert_eq!(family.effects.len(), 3);
        for pair in &family.effects {
            let differs = pair.comparison.as_ref().unwrap().differs();
            let [one, other] = labels(family, pair);
            assert_eq!(differs, !share(&findings, &one, &other), "{effect}: {pair:?}");
        }
    }
}

/// A combination that is the same program as another one has that one's values, and is no gap.
#[test]
fn a_row_that_is_shared_counts_for_both() {
    let levels = |name: &str| -> bakeoff_model::study::Levels {
        ["cc", "opt"].into_iter().zip(name.chars()).map(|(f, level)| (f.to_owned(), level.to_string())).collect()
    };
    let mut record = study(&["00", "10", "11"], &["idle"], &["wall"]);
    record.study.variants.iter_mut().for_each(|variant| variant.levels = levels(&variant.name));
    record.study.decide.baseline = levels("00");
    let variant = VariantLine { name: "01".to_owned(), levels: levels("01"), ..VariantLine::default() };
    record.study.shared = vec![SharedLine { variant, with: "00".to_owned(), ..SharedLine::default() }];
    execute(&mut record, 12, |trial| {
        let wall_s = if trial.variant == "11" { 1.1 } else { 1.0 } * noise(trial);
        measure(trial, "wall", wall_s);
    });
    let findings = judge(&record);
    let mains = findings.effects.iter().find(|family| family.kind == EffectKind::Main).unwrap();
    let estimates: Vec<f64> = mains.effects.iter().map(|e| e.comparison.as_ref().unwrap().estimate).collect();
    assert!(estimates.iter().all(|estimate| (estimate - 1.1f64.sqrt()).abs() < 0.002), "{estimates:?}");
    assert!(mains.effects.iter().all(|effect| effect.over.is_none()), "{mains:?}");
    let simple = findings.effects.iter().filter(|family| family.kind == EffectKind::Simple).flat_map(|f| &f.effects);
    let same = simple.filter(|effect| effect.comparison.is_none()).map(|effect| effect.refused.as_ref().map(why));
    assert_eq!(same.collect::<Vec<_>>(), [Some("both are the same program".to_owned())]);
}

/// One variant that hardly ever succeeds is left out of the ranking by name, and the others are ranked.
#[test]
fn a_variant_with_too_few_values_takes_the_ranking_from_nobody() {
    let mut record = study(&["base", "b", "c", "rare"], &["idle"], &["wall"]);
    execute(&mut record, 12, |trial| {
        let wall_s = if trial.variant == "c" { 1.2 } else { 1.0 } * noise(trial);
        measure(trial, "wall", wall_s);
        if trial.variant == "rare" && trial.block > 2 {
            trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
        }
    });
    let findings = judge(&record);
    let ranking = findings.tables[0].ranking.as_ref().unwrap();
    assert_eq!((ranking.variants.len(), ranking.pairs), (3, 3));
    assert_eq!(ranking.left_out, ["rare"]);
    assert!(share(&findings, "base", "b") && !share(&findings, "b", "c"));
}

/// A mean is not what a verdict is about: one stall does not put a variant behind what it is shown to be faster than.
#[test]
fn nothing_stands_before_what_it_is_slower_than() {
    let mut record = study(&["base", "b", "c"], &["idle"], &["wall"]);
    execute(&mut record, 12, |trial| {
        let wall_s = match trial.variant.as_str() {
            "b" if trial.block == 5 => 5.0,
            "b" => 0.97 * noise(trial),
            "c" => 1.1 * noise(trial),
            _ => noise(trial),
        };
        measure(trial, "wall", wall_s);
    });
    let findings = judge(&record);
    assert_eq!(row(&findings, "b").verdict, Verdict::Faster);
    let order: Vec<&str> =
        findings.tables[0].ranking.as_ref().unwrap().variants.iter().map(|ranked| ranked.variant.as_str()).collect();
    assert_eq!(order, ["b", "base", "c"]);
}

/// A 2 × 2 whose last combination always fails, with the fewest blocks that can show anything: a part of alpha would be too
/// little for what is left.
#[test]
fn what_cannot_be_estimated_takes_no_part_of_alpha() {
    let names = ["00", "10", "01", "11"];
    let mut record = study(&names, &["idle"], &["wall"]);
    for (variant, name) in record.study.variants.iter_mut().zip(names) {
        let levels = ["a", "b"].into_iter().zip(name.chars());
        variant.levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_string())).collect();
    }
    record.study.decide.baseline = record.study.variants[0].levels.clone();
    execute(&mut record, 6, |trial| {
        let wall_s = if trial.variant == "10" { 1.1 } else { 1.0 } * noise(trial);
        measure(trial, "wall", wall_s);
        if trial.variant == "11" {
            trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
        }
    });
    let findings = judge(&record);
    let mut shown = 0;
    for effect in findings.effects.iter().flat_map(|family| &family.effects) {
        let Some(comparison) = &effect.comparison else { continue };
        let told = comparison.caveats.iter().any(|caveat| caveat.kind() == "too-few-blocks");
        assert!(comparison.interval().is_some() || told, "no interval, and no word on it: {effect:?}");
        shown += u32::from(comparison.interval().is_some());
    }
    assert!(shown > 0, "{:?}", findings.effects);
}
