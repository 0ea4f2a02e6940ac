//! What is left of findings where only some variants are asked for.

use bakeoff_judge::findings::{EffectKind, Findings};
use bakeoff_judge::judge_with_levels;
use bakeoff_model::record::{Block, Trial};
use bakeoff_testkit::records::{execute, measure, noise, study};
use std::collections::BTreeSet;

/// Two factors, crossed, and their levels of three and two; two workloads, two conditions, a trend: every kind of family.
fn every_family() -> Findings {
    let names = ["x=1 y=no", "x=2 y=no", "x=3 y=no", "x=1 y=yes", "x=2 y=yes", "x=3 y=yes"];
    let mut record = study(&names, &["idle", "busy"], &["wall"]);
    for variant in &mut record.study.variants {
        let levels = variant.name.split(' ').filter_map(|level| level.split_once('='));
        variant.levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_owned())).collect();
    }
    record.study.decide.baseline = record.study.variants[0].levels.clone();
    record.study.decide.trends = vec!["x".to_owned()];
    record.study.workloads.push("regex".to_owned());
    execute(&mut record, 6, |trial| {
        let wall_s = noise(trial);
        measure(trial, "wall", wall_s);
    });
    let again = record.trials.iter().cloned().map(|trial| Trial { workload: "regex".to_owned(), ..trial });
    record.trials.extend(again.collect::<Vec<_>>());
    let again = record.blocks.iter().cloned().map(|block| Block { workload: "regex".to_owned(), ..block });
    record.blocks.extend(again.collect::<Vec<_>>());
    judge_with_levels(&record, true)
}

fn kinds(findings: &Findings) -> BTreeSet<String> {
    findings.effects.iter().map(|family| format!("{:?}", family.kind)).collect()
}

#[test]
fn no_family_tells_of_variants_that_are_not_asked_for() {
    let all = every_family();
    assert_eq!(kinds(&all).len(), 8, "{:?}", kinds(&all));
    let only = |names: &[&str]| {
        let mut findings = all.clone();
        assert_eq!(findings.retain(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()), None);
        findings
    };
    let two = only(&["x=2 y=no"]);
    // There is no interaction of what has one level only, and no pair without the baseline.
    let expect = [
        EffectKind::Condition,
        EffectKind::ConditionChange,
        EffectKind::Main,
        EffectKind::Simple,
        EffectKind::Suite,
        EffectKind::Trend,
    ];
    assert_eq!(kinds(&two), expect.map(|kind| format!("{kind:?}")).into());
    let json = serde_json::to_string(&(&two.tables, &two.effects)).unwrap();
    assert!(!json.contains("x=3") && !json.contains("yes"), "{json}");
    let both = only(&["x=2 y=no", "x=2 y=yes"]);
    assert!(kinds(&both).contains("Interaction") && !kinds(&both).contains("Levels"), "{:?}", kinds(&both));
    let json = serde_json::to_string(&both.effects).unwrap();
    assert!(json.contains("yes") && !json.contains("x=3"), "{json}");
    assert!(kinds(&only(&["x=2 y=no", "x=3 y=no"])).contains("Levels"));
    assert_eq!(kinds(&only(&[])), kinds(&all));
    assert_eq!(all.clone().retain(&["x=4".to_owned()]), Some("x=4".to_owned()));
}
