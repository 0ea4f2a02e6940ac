//! What holds for all findings: an answer is no more certain than its row, and `--only` leaves the same in words and in JSON.

use bakeoff_judge::findings::{Findings, Row, Subject, Verdict};
use bakeoff_judge::judge_with_levels;
use bakeoff_model::metric::Unit;
use bakeoff_model::record::{Block, Record, Trial};
use bakeoff_report::{Context, brief, json};
use bakeoff_testkit::findings::{baseline, comparison, quiet_twin, row, study, summary, table};
use bakeoff_testkit::letters;
use bakeoff_testkit::records::{self, execute, measure, noise};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

/// The verdict that an interval and a margin allow.
fn verdict([low, high]: [f64; 2], margin: f64) -> Verdict {
    let is_within = low > 1.0 / (1.0 + margin) && high < 1.0 + margin;
    match (high < 1.0 || low > 1.0, is_within) {
        (true, true) => Verdict::Negligible,
        (false, true) => Verdict::Equivalent,
        (true, false) if high < 1.0 => Verdict::Faster,
        (true, false) => Verdict::Slower,
        (false, false) => Verdict::Undecided { more_blocks: None },
    }
}

fn of_rows(rows: Vec<Row>, margin: f64) -> Findings {
    let names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut findings = study(&names, vec![table("wall", Unit::Seconds, rows, quiet_twin())]);
    findings.method.margin = margin;
    findings
}

/// Whether some digit is not 0.
fn is_something(text: &str) -> bool {
    text.chars().any(|c| ('1'..='9').contains(&c))
}

/// The amounts of a text: its numbers before a per cent sign or a sign of multiplication.
fn amounts(text: &str) -> Vec<String> {
    let text = text.replace('\u{a0}', " ");
    let words: Vec<&str> = text.split([' ', '(', ')', ',', ';', ':']).filter(|word| !word.is_empty()).collect();
    let is_sign = |word: &&str| ["%", "×"].contains(word);
    words.windows(2).filter(|pair| is_sign(&pair[1])).map(|pair| pair[0].to_owned()).collect()
}

proptest! {
    #[test]
    fn the_answer_is_never_0_where_its_row_is_not(
        centre in prop_oneof![0.3..3.0, 0.98..1.02, 0.9999..1.0001],
        half in prop_oneof![0.0..0.2, 0.0..0.002, 0.0..0.000_02],
        others in proptest::collection::vec((0.5..2.0, 0.0..0.1), 0..3),
        margin in prop_oneof![Just(0.01), Just(0.0001)],
    ) {
        let variant = |name: &str, centre: f64, half: f64| {
            let interval = [centre * (1.0 - half), centre * (1.0 + half)];
            let [low, high] = interval;
            row(name, summary(4.0 * centre, 4.0, 4.5), comparison(centre, low, high, verdict(interval, margin)))
        };
        let others = others.iter().enumerate().map(|(at, (centre, half))| variant(&format!("v-{at}"), *centre, *half));
        let rows = [baseline(summary(4.0, 4.0, 4.5)), variant("b", centre, half)].into_iter().chain(others);
        let findings = of_rows(rows.collect(), margin);
        let brief = brief(&findings, Context::default());
        let answer = letters(&brief.answer);
        let is_zero_somewhere = brief.rows.iter().filter(|row| row.comparison.is_some()).any(|row| {
            !is_something(&letters(&row.claim)) && !is_something(&letters(&row.interval))
        });
        for amount in amounts(&answer) {
            prop_assert!(is_something(&amount) || is_zero_somewhere, "{} in {}", amount, answer);
        }
        // Each number of an answer is a number of a row, or the margin; of what is negligible the row has only the interval.
        let is_negligible = |row: &bakeoff_report::BriefRow<'_>| row.comparison.is_some_and(|c| c.verdict == Verdict::Negligible);
        let is_unsaid = brief.rows.iter().any(is_negligible);
        let words: String = brief.rows.iter().map(|row| letters(&row.claim) + " " + &letters(&row.interval) + " ").collect();
        for amount in amounts(&answer) {
            let digits = amount.trim_start_matches(['±', '−', '+']);
            let is_margin = amount.starts_with('±') || digits == "1" || digits == "0.01";
            prop_assert!(is_unsaid || is_margin || words.contains(digits), "{} of {} is not in {}", amount, answer, words);
        }
    }
}

/// Two factors, crossed, two workloads, two conditions: effects of every kind.
fn crossed(slower: f64) -> Record {
    let names = ["x=1 y=no", "x=2 y=no", "x=3 y=no", "x=1 y=yes", "x=2 y=yes", "x=3 y=yes"];
    let mut record = records::study(&names, &["idle", "busy"], &["wall"]);
    for variant in &mut record.study.variants {
        let levels = variant.name.split(' ').filter_map(|level| level.split_once('='));
        variant.levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_owned())).collect();
    }
    record.study.decide.baseline = record.study.variants[0].levels.clone();
    record.study.decide.trends = vec!["x".to_owned()];
    record.study.workloads.push("regex".to_owned());
    execute(&mut record, 6, |trial| {
        let wall_s = noise(trial) * if trial.variant.contains("x=2") { slower } else { 1.0 };
        measure(trial, "wall", wall_s);
    });
    let again = record.trials.iter().cloned().map(|trial| Trial { workload: "regex".to_owned(), ..trial });
    record.trials.extend(again.collect::<Vec<_>>());
    let again = record.blocks.iter().cloned().map(|block| Block { workload: "regex".to_owned(), ..block });
    record.blocks.extend(again.collect::<Vec<_>>());
    record
}

/// The variants and levels that effects are about.
fn subjects(findings: &Findings) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for effect in findings.effects.iter().flat_map(|family| &family.effects) {
        match &effect.subject {
            Subject::Levels(steps) => all.extend(steps.iter().map(|step| format!("{}={}", step.factor, step.level))),
            Subject::Steps { factor } => all.extend([factor.clone()]),
            Subject::Variant { variant, against } => all.extend([variant.clone(), against.clone()]),
            Subject::Condition { variant, .. } => all.extend([variant.clone()]),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn only_leaves_the_same_in_words_and_in_json(chosen in proptest::collection::vec(any::<bool>(), 6), slower in 0.8..1.3) {
        let all = judge_with_levels(&crossed(slower), true);
        let only: Vec<String> =
            all.variants.iter().zip(&chosen).filter(|(_, is)| **is).map(|(variant, _)| variant.name.clone()).collect();
        let mut findings = all.clone();
        prop_assert_eq!(findings.retain(&only), None);
        let names: BTreeSet<&str> = findings.variants.iter().map(|variant| variant.name.as_str()).collect();
        let has = |text: &String| names.iter().any(|name| *name == text || name.split(' ').any(|level| level == text));
        prop_assert!(subjects(&findings).iter().all(|text| text == "x" || has(text)), "{:?}", subjects(&findings));
        // JSON claims what the rows say, of the same variants, and no more than it did of all.
        let value = |findings: &Findings| -> Value { serde_json::from_str(&json(findings, None).unwrap()).unwrap() };
        let (json, whole) = (value(&findings), value(&all));
        let claims = json["claims"].as_array().unwrap();
        let brief = brief(&findings, Context::default());
        let rows: Vec<_> = brief.rows.iter().filter(|row| row.comparison.is_some()).collect();
        prop_assert_eq!(claims.len(), rows.len());
        for (claim, row) in claims.iter().zip(rows) {
            prop_assert_eq!(claim["subject"].as_str(), Some(row.variant));
            let text = letters(&row.claim);
            prop_assert_eq!(claim["text"].as_str(), Some(text.as_str()));
            prop_assert!(names.contains(row.variant));
            prop_assert!(whole["claims"].as_array().unwrap().contains(claim), "{}", claim);
        }
    }
}
