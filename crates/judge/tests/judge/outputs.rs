//! What follows from what was printed: the baseline and its twin say whether a difference means anything.

use bakeoff_judge::findings::{Effect, EffectKind, Effects, Findings, Verdict};
use bakeoff_model::record::{Failure, Outcome, Output, OutputDifference, Record, TWIN, Trial};
use bakeoff_model::study::OutputUse;
use bakeoff_model::until::Until;
use bakeoff_testkit::records::why;
use bakeoff_testkit::records::{execute, measure, noise, study};

fn printed(text: &str) -> Vec<Output> {
    vec![Output { bytes: text.len() as u64, sha256: text.to_owned() }]
}

/// Three variants of which `b` takes half as long and `c` twice as long, and which print what `prints` says.
fn record(prints: impl Fn(&Trial) -> String) -> Record {
    let mut record = study(&["baseline", "b", "c"], &["idle"], &["wall"]);
    execute(&mut record, 12, |trial| {
        let factor = match trial.variant.as_str() {
            "b" => 0.5,
            "c" => 2.0,
            _ => 1.0,
        };
        let wall = factor * noise(trial);
        measure(trial, "wall", wall);
        trial.output = printed(&prints(trial));
    });
    record
}

fn verdicts(findings: &Findings) -> Vec<Verdict> {
    findings.tables[0].rows[1..].iter().map(|row| row.comparison.as_ref().unwrap().verdict).collect()
}

#[test]
fn who_prints_something_else_gets_no_verdict() {
    let differs = |trial: &Trial| if trial.variant == "b" { "other" } else { "same" }.to_owned();
    let mut record = record(differs);
    let first = OutputDifference { process: 1, byte: 0, line: 1, baseline: None, printed: None };
    record.trials.iter_mut().find(|t| t.variant == "b" && t.block == 3).unwrap().output_difference =
        Some(first.clone());
    let findings = bakeoff_judge::judge(&record);
    assert_eq!(verdicts(&findings), [Verdict::Withheld, Verdict::Slower]);
    let [outputs] = findings.outputs.as_slice() else { panic!("{:?}", findings.outputs) };
    assert_eq!((outputs.varies, outputs.baseline_trials, outputs.baseline_bytes), (false, 24, [4, 4]));
    let [other] = outputs.others.as_slice() else { panic!("{outputs:?}") };
    assert_eq!((other.variant.as_str(), other.trials, other.of, other.bytes), ("b", 12, 12, [5, 5]));
    assert_eq!(other.first, Some(first));
    // It is ranked nowhere; two are too few for a ranking.
    assert_eq!(findings.tables[0].ranking, None);

    let mut verdict_of = |output: OutputUse| {
        record.study.outputs = [("loop".to_owned(), output)].into();
        let findings = bakeoff_judge::judge(&record);
        (verdicts(&findings), findings.outputs.len())
    };
    let decided = vec![Verdict::Faster, Verdict::Slower];
    assert_eq!(verdict_of(OutputUse::Noted), (decided.clone(), 1));
    assert_eq!(verdict_of(OutputUse::Varies), (decided.clone(), 0));
    assert_eq!(verdict_of(OutputUse::Null), (decided, 0));
}

#[test]
fn one_trial_that_differs_is_enough() {
    let findings = bakeoff_judge::judge(&record(|trial| match (trial.variant.as_str(), trial.block) {
        ("c", 7) => "other".to_owned(),
        _ => "same".to_owned(),
    }));
    assert_eq!(verdicts(&findings), [Verdict::Faster, Verdict::Withheld]);
    assert_eq!((findings.outputs[0].others[0].trials, findings.outputs[0].others[0].of), (1, 12));
}

#[test]
fn where_the_baseline_varies_nothing_follows() {
    for varying in ["baseline", TWIN] {
        let findings = bakeoff_judge::judge(&record(|trial| match (trial.variant.as_str(), trial.block) {
            (variant, 5) if variant == varying => "another".to_owned(),
            ("b", _) => "other".to_owned(),
            _ => "same".to_owned(),
        }));
        assert_eq!(verdicts(&findings), [Verdict::Faster, Verdict::Slower], "{varying}");
        let [outputs] = findings.outputs.as_slice() else { panic!("{:?}", findings.outputs) };
        assert!(outputs.varies && outputs.others.is_empty());
    }
}

#[test]
fn what_does_not_count_or_was_not_recorded_says_nothing() {
    let mut failed = record(|_| "same".to_owned());
    for trial in failed.trials.iter_mut().filter(|trial| trial.variant == "b" && trial.block < 4) {
        trial.outcome = Outcome::Failed(Failure::BadMarks { why: "no".to_owned() });
        trial.output = printed("other");
    }
    // A journal of before.
    let mut old = record(|trial| trial.variant.clone());
    old.trials.iter_mut().for_each(|trial| trial.output.clear());
    for record in [failed, old, record(|_| String::new())] {
        let findings = bakeoff_judge::judge(&record);
        assert_eq!((verdicts(&findings), findings.outputs.len()), (vec![Verdict::Faster, Verdict::Slower], 0));
    }
}

#[test]
fn more_blocks_are_not_waited_for() {
    let mut record = record(|trial| trial.variant.replace(TWIN, "baseline"));
    record.study.until = Until::Decided;
    record.study.looks_until = Some(12);
    assert!(bakeoff_judge::stopping::enough(&record));
}

/// Every block is there: what is missing was left out because of what it printed, and that is what is said.
#[test]
fn an_effect_that_lacks_another_program_says_so() {
    let mut record = study(&["baseline", "b", "c"], &["idle", "busy"], &["wall"]);
    execute(&mut record, 12, |trial| {
        let wall = noise(trial);
        measure(trial, "wall", wall);
        trial.output = printed("same");
    });
    let mails = "mails".to_owned();
    let of_mails: Vec<Trial> =
        record.trials.iter().map(|trial| Trial { workload: mails.clone(), ..trial.clone() }).collect();
    record.trials.extend(of_mails);
    record.study.workloads.push(mails);
    let is_other = |trial: &&mut Trial| trial.variant == "b" && trial.workload == "mails" && trial.condition == "busy";
    record.trials.iter_mut().filter(is_other).for_each(|trial| trial.output = printed("other"));
    let findings = bakeoff_judge::judge(&record);
    let mut refused: Vec<(EffectKind, String)> = vec![];
    for family in &findings.effects {
        for effect in family.effects.iter().filter(|effect| effect.comparison.is_none()) {
            let why = effect.refused.as_ref().map(why).unwrap();
            assert_eq!(why, "b did not print the same output as the baseline on mails", "{effect:?}");
            refused.push((family.kind, crate::label(family, effect)));
        }
    }
    let expect =
        [(EffectKind::Suite, "b"), (EffectKind::Condition, "b: busy"), (EffectKind::ConditionChange, "b × busy")];
    assert_eq!(refused, expect.map(|(kind, label)| (kind, label.to_owned())));
}

#[test]
fn what_another_program_takes_is_no_effect_of_a_factor() {
    let mut record = study(&["baseline", "x=2", "y=2", "x=2 y=2"], &["idle"], &["wall"]);
    for (variant, levels) in record.study.variants.iter_mut().zip([["1", "1"], ["2", "1"], ["1", "2"], ["2", "2"]]) {
        variant.levels = ["x", "y"].map(str::to_owned).into_iter().zip(levels.map(str::to_owned)).collect();
    }
    execute(&mut record, 12, |trial| {
        let wall = noise(trial);
        measure(trial, "wall", wall);
        trial.output = printed(if trial.variant == "x=2 y=2" { "other" } else { "same" });
    });
    let with = bakeoff_judge::judge(&record);
    record.trials.iter_mut().for_each(|trial| trial.output.clear());
    let all = bakeoff_judge::judge(&record);
    record.trials.retain(|trial| trial.variant != "x=2 y=2");
    let without = bakeoff_judge::judge(&record);
    assert!(!all.effects.is_empty());
    // What a pair is judged with, its row, counts all rows of the table; its estimate is its own.
    let estimates = |findings: &Findings| -> Vec<(String, Option<f64>)> {
        let of = |family: &Effects, effect: &Effect| {
            (crate::label(family, effect), effect.comparison.as_ref().map(|comparison| comparison.estimate))
        };
        findings.effects.iter().flat_map(|family| family.effects.iter().map(move |effect| of(family, effect))).collect()
    };
    assert_eq!(estimates(&with), estimates(&without));
    assert_ne!(estimates(&with), estimates(&all));
}
