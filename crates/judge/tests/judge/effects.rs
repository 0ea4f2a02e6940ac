//! Contrasts beyond the pairs: main effects, interactions, suites of workloads and conditions, on records with a planted
//! truth. How a contrast is judged, once it is one, is tested in `judge.rs`.
#![expect(clippy::expect_used, reason = "all of this file is tests")]

use crate::{family, label, labels, names};
use bakeoff_judge::findings::{Effect, EffectKind, Effects, Over, Refusal, Scale, Test, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::record::{Block, Excluded, Failure, Outcome, Place, Record, Session, StudyLine, Trial, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::study::Decide;
use bakeoff_testkit::records::{decide, sentence};
use std::collections::BTreeMap;

const BLOCKS: u32 = 12;

/// A factor with its levels, the baseline's first.
pub(super) type Factor = (&'static str, &'static [&'static str]);

const TWO: [Factor; 2] = [("malloc", &["system", "perl"]), ("threads", &["off", "on"])];
const THREE: [Factor; 3] =
    [("cc", &["gcc", "clang", "tcc"]), ("malloc", &["system", "perl"]), ("threads", &["off", "on"])];

/// Every combination of levels, the baseline first.
pub(super) fn combinations(factors: &[Factor]) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for (factor, levels) in factors {
        let with = |known: &BTreeMap<String, String>, level: &str| {
            let mut more = known.clone();
            more.insert((*factor).to_owned(), level.to_owned());
            more
        };
        all = all.iter().flat_map(|known| levels.iter().map(|level| with(known, level)).collect::<Vec<_>>()).collect();
    }
    all
}

fn name(levels: &BTreeMap<String, String>) -> String {
    levels.values().cloned().collect::<Vec<_>>().join("-")
}

/// Levels, workload, condition → how many times as long as the baseline.
pub(super) type Truth = fn(&BTreeMap<String, String>, &str, &str) -> f64;

/// A study of these variants with 0.2 % of noise, and 10 % from block to block.
pub(super) fn record(
    variants: &[BTreeMap<String, String>],
    workloads: &[&str],
    conditions: &[&str],
    truth: Truth,
) -> Record {
    let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let mut record = Record::new(StudyLine {
        format: 1,
        bakeoff: "0".to_owned(),
        study: "test".to_owned(),
        plan: "default".to_owned(),
        identity: "0".to_owned(),
        seed: 178,
        variants: variants
            .iter()
            .map(|levels| VariantLine { name: name(levels), levels: levels.clone(), build: None, run: None })
            .collect(),
        workloads: owned(workloads),
        conditions: owned(conditions),
        decide: Decide { baseline: variants[0].clone(), metrics: owned(&["wall"]), ..decide() },
        until: bakeoff_model::until::Until::Blocks,
        ..StudyLine::default()
    });
    let (session, place) = (1, Place::default());
    record.sessions.push(Session { session, started_unix_s: 1e9, blocks: BLOCKS, place, ..Session::default() });
    let mut chance = Stream::of(178, &["effects"]);
    for number in 1..=BLOCKS {
        for workload in workloads {
            for condition in conditions {
                let block = 1.0 + 0.1 * chance.unit();
                for (index, levels) in variants.iter().enumerate() {
                    let noise = 1.0 + 0.002 * (chance.unit() + chance.unit() - 1.0);
                    let wall_s = 2.0 * block * noise * truth(levels, workload, condition);
                    record.trials.push(Trial {
                        block: number,
                        workload: (*workload).to_owned(),
                        condition: (*condition).to_owned(),
                        position: index as u32 + 1,
                        variant: name(levels),
                        session: 1,
                        started_unix_s: 1e9 + f64::from(number),
                        outcome: Outcome::Ok,
                        measurements: [("wall".to_owned(), wall_s)].into(),
                        leftovers: 0,
                        ..Trial::default()
                    });
                }
                let order = variants.iter().map(name).collect();
                let (workload, condition) = ((*workload).to_owned(), (*condition).to_owned());
                record.blocks.push(Block { block: number, workload, condition, order, ..Block::default() });
            }
        }
    }
    record
}

#[track_caller]
fn check(family: &Effects, name: &str, ratio: f64) {
    let effect = family.effects.iter().find(|effect| label(family, effect) == name).expect("an effect of this name");
    let comparison = effect.comparison.as_ref().expect("a comparison");
    let [low, high] = comparison.interval().expect("an interval");
    assert!((comparison.estimate / ratio - 1.0).abs() < 0.003, "{name}: {}, not {ratio}", comparison.estimate);
    assert!(low - 0.001 < ratio && ratio < high + 0.001, "{name}: {ratio} is not in {low} … {high}");
    let verdict = match ratio {
        ..0.98 => Verdict::Faster,
        1.02.. => Verdict::Slower,
        _ => Verdict::Equivalent,
    };
    assert_eq!(comparison.verdict, verdict, "{name}");
}

/// Own malloc saves a tenth, threads cost a twentieth, and both together cost 4 % more than that.
fn malloc_and_threads(levels: &BTreeMap<String, String>, _: &str, _: &str) -> f64 {
    let perl = levels["malloc"] == "perl";
    let on = levels["threads"] == "on";
    (if perl { 0.9 } else { 1.0 }) * (if on { 1.05 } else { 1.0 }) * (if perl && on { 1.04 } else { 1.0 })
}

#[test]
fn main_effects_are_averages_over_the_other_factors() {
    let findings = judge(&record(&combinations(&TWO), &["loop"], &["idle"], malloc_and_threads));
    let mains = family(&findings, EffectKind::Main);
    assert_eq!((names(mains), mains.aliases.len()), (["malloc=perl", "threads=on"].map(str::to_owned).to_vec(), 0));
    assert_eq!(labels(mains, &mains.effects[0])[1], "malloc=system");
    check(mains, "malloc=perl", 0.9 * 1.04f64.sqrt());
    check(mains, "threads=on", 1.05 * 1.04f64.sqrt());
    let interactions = family(&findings, EffectKind::Interaction);
    check(interactions, "malloc=perl × threads=on", 1.04);
    let comparison = interactions.effects[0].comparison.as_ref().expect("a comparison");
    assert!(comparison.caveats.iter().any(|caveat| caveat.kind() == "symmetric-errors"));
}

#[test]
fn simple_effects_are_averages_within_a_level_of_another_factor() {
    let truth: Truth = |levels, _, _| match (levels["malloc"].as_str(), levels["threads"].as_str()) {
        ("perl", "on") => 0.81,
        ("perl", _) => 0.9,
        _ => {
            if levels["cc"] == "tcc" {
                3.0
            } else {
                1.0
            }
        }
    };
    let findings = judge(&record(&combinations(&THREE), &["loop"], &["idle"], truth));
    let simple = |name: &str, within: &str| {
        let families = findings.effects.iter().filter(|family| family.kind == EffectKind::Simple);
        let all = families.flat_map(|family| family.effects.iter().map(move |effect| (labels(family, effect), effect)));
        let mut found = all.filter(|([label, _], effect)| {
            label == name && effect.within.as_ref().is_some_and(|level| level.to_string() == within)
        });
        let ([_, against], effect) = found.next().expect("an effect");
        assert!(found.next().is_none(), "{name} within {within} is there twice");
        let comparison = effect.comparison.as_ref().expect("a comparison");
        (comparison.estimate, comparison.interval().expect("an interval"), against)
    };
    // Where cc does nothing of its own with perl's malloc, it still does without.
    let third = 3.0_f64.powf(1.0 / 3.0);
    for (name, within, expect, against) in [
        ("malloc=perl", "threads=off", 0.9 / third, "malloc=system"),
        ("malloc=perl", "threads=on", 0.81 / third, "malloc=system"),
        ("malloc=perl", "cc=tcc", (0.9 * 0.81_f64).sqrt() / 3.0, "malloc=system"),
        ("threads=on", "malloc=perl", 0.9, "threads=off"),
        ("threads=on", "malloc=system", 1.0, "threads=off"),
        ("cc=tcc", "malloc=perl", 1.0, "cc=gcc"),
        ("cc=tcc", "malloc=system", 3.0, "cc=gcc"),
    ] {
        let (estimate, [low, high], reference) = simple(name, within);
        assert!((estimate / expect - 1.0).abs() < 0.003, "{name} within {within}: {estimate}, not {expect}");
        assert!(low < estimate && estimate < high && reference == against, "{name} within {within}: {low} {high}");
    }
    // A level and another factor are a family: of 4 levels and 2 other factors each.
    assert_eq!(findings.effects.iter().filter(|family| family.kind == EffectKind::Simple).count(), 8);
}

#[test]
fn factors_may_have_any_number_of_levels() {
    let truth: Truth = |levels, _, _| match (levels["cc"].as_str(), levels["threads"].as_str()) {
        ("clang", _) => 0.95,
        ("tcc", "on") => 3.3,
        ("tcc", _) => 3.0,
        _ => 1.0,
    };
    let findings = judge(&record(&combinations(&THREE), &["loop"], &["idle"], truth));
    let mains = family(&findings, EffectKind::Main);
    assert_eq!(names(mains), ["cc=clang", "cc=tcc", "malloc=perl", "threads=on"]);
    check(mains, "cc=clang", 0.95);
    check(mains, "cc=tcc", 3.0 * 1.1f64.sqrt());
    check(mains, "malloc=perl", 1.0);
    check(mains, "threads=on", 1.1f64.powf(1.0 / 3.0));
    let interactions = family(&findings, EffectKind::Interaction);
    assert_eq!(interactions.effects.len(), 5);
    check(interactions, "cc=tcc × threads=on", 1.1);
    check(interactions, "cc=clang × malloc=perl", 1.0);
}

/// One factor at a time: the pairs say all that there is to say.
#[test]
fn factors_that_are_not_crossed_have_no_effects_of_their_own() {
    let mut variants = combinations(&TWO);
    variants.pop();
    assert_eq!(judge(&record(&variants, &["loop"], &["idle"], malloc_and_threads)).effects, []);
}

/// Half of the combinations of three factors: each main effect goes with an interaction of the other two.
#[test]
fn a_fraction_names_what_it_cannot_tell_apart() {
    const FACTORS: [Factor; 3] =
        [("cc", &["gcc", "clang"]), ("malloc", &["system", "perl"]), ("threads", &["off", "on"])];
    let truth: Truth = |levels, _, _| {
        (if levels["cc"] == "clang" { 0.95 } else { 1.0 }) * (if levels["threads"] == "on" { 1.1 } else { 1.0 })
    };
    let mut half = combinations(&FACTORS);
    let changed = |v: &BTreeMap<String, String>| FACTORS.iter().filter(|(f, levels)| v[*f] != levels[0]).count();
    half.retain(|variant| changed(variant) % 2 == 0);
    let findings = judge(&record(&half, &["loop"], &["idle"], truth));
    let mains = family(&findings, EffectKind::Main);
    for (name, ratio) in [("cc=clang", 0.95), ("malloc=perl", 1.0), ("threads=on", 1.1)] {
        check(mains, name, ratio);
    }
    let comparison = mains.effects[0].comparison.as_ref().expect("a comparison");
    assert!(matches!(comparison.tested().map(|tested| tested.test), Some(Test::LinearModel { .. })), "{comparison:?}");
    let aliased = comparison.caveats.iter().find(|caveat| caveat.kind() == "aliased").expect("a caveat");
    assert!(sentence(aliased).contains("malloc × threads"), "{}", sentence(aliased));
    let interactions = family(&findings, EffectKind::Interaction);
    assert!(interactions.effects.iter().all(|effect| effect.comparison.is_none() && effect.refused.is_some()));
    assert!(!interactions.aliases.is_empty());
}

/// Whatever is judged by contrasts has an exact test, and says over what it is averaged where that is not everything.
#[track_caller]
fn check_over(family: &Effects, name: &str, ratio: f64, over: Option<(&[&str], u32)>) {
    check(family, name, ratio);
    let effect = family.effects.iter().find(|effect| label(family, effect) == name).expect("an effect of this name");
    let tested = effect.comparison.as_ref().and_then(|comparison| comparison.tested());
    assert_eq!(tested.map(|tested| tested.test), Some(Test::SignFlip), "{name}");
    let of = |over: &Over| (over.combinations.iter().map(self::name).collect::<Vec<_>>(), over.of);
    let expect = over.map(|(names, of)| (names.iter().map(|n| (*n).to_owned()).collect(), of));
    assert_eq!(effect.over.as_ref().map(of), expect, "{name}");
}

fn fail(record: &mut Record, variant: &str, every: usize) {
    let trials = record.trials.iter_mut().filter(|trial| trial.variant == variant);
    trials.step_by(every).for_each(|trial| {
        trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
    });
}

/// Two factors, of two and five levels, one combination left out.
const TWO_BY_FIVE: [Factor; 2] = [("cc", &["gcc", "clang"]), ("opt", &["O2", "O0", "O1", "O3", "Os"])];

/// Clang saves 4 %, and -O0 doubles.
fn compilers(levels: &BTreeMap<String, String>, _: &str, _: &str) -> f64 {
    (if levels["cc"] == "clang" { 0.96 } else { 1.0 }) * (if levels["opt"] == "O0" { 2.0 } else { 1.0 })
}

#[test]
fn a_combination_that_is_left_out_costs_what_needs_it_and_no_more() {
    let mut variants = combinations(&TWO_BY_FIVE);
    variants.retain(|levels| name(levels) != "clang-O1");
    let mut gap = record(&variants, &["loop"], &["idle"], compilers);
    gap.study.excluded = vec![Excluded { name: "cc=clang opt=O1".to_owned(), reason: "does not build".to_owned() }];
    let findings = judge(&gap);
    assert_eq!(findings.excluded, gap.study.excluded);
    let mains = family(&findings, EffectKind::Main);
    check_over(mains, "cc=clang", 0.96, Some((&["O2", "O0", "O3", "Os"], 5)));
    let over = mains.effects[0].over.as_ref().expect("a part");
    assert_eq!(over.levels["opt"], ["O2", "O0", "O3", "Os"]);
    check_over(mains, "opt=O0", 2.0, None);
    let level = mains.effects.iter().find(|effect| label(mains, effect) == "opt=O1").expect("an effect");
    assert!(
        level.comparison.is_none() && level.refused.as_ref().is_some_and(|refusal| *refusal == Refusal::InTheTable),
        "{level:?}"
    );
    let interactions = family(&findings, EffectKind::Interaction);
    check_over(interactions, "cc=clang × opt=O0", 1.0, None);
    let lost = interactions
        .effects
        .iter()
        .find(|effect| label(interactions, effect) == "cc=clang × opt=O1")
        .expect("an effect");
    assert!(lost.comparison.is_none() && lost.refused.is_some(), "{lost:?}");
    // Simple effects too, but for the one that does not exist.
    let simples = findings.effects.iter().filter(|family| family.kind == EffectKind::Simple);
    let within: Vec<String> =
        simples.flat_map(|f| &f.effects).filter_map(|e| Some(e.within.as_ref()?.to_string())).collect();
    assert_eq!(
        within.iter().filter(|within| within.starts_with("opt=")).collect::<Vec<_>>(),
        [&"opt=O2", &"opt=O0", &"opt=O3", &"opt=Os"]
    );
    // The baseline's own corner may be the one that is missing on the other side.
    let mut variants = combinations(&TWO_BY_FIVE);
    variants.retain(|levels| name(levels) != "clang-O2");
    let findings = judge(&record(&variants, &["loop"], &["idle"], compilers));
    check_over(family(&findings, EffectKind::Main), "cc=clang", 0.96, Some((&["O0", "O1", "O3", "Os"], 5)));
}

/// What cannot be estimated cannot be claimed falsely either, so it takes no part of alpha; what the linear model estimates does.
#[test]
fn a_gap_takes_nothing_from_the_others() {
    let mut record = record(&combinations(&TWO_BY_FIVE), &["loop"], &["idle"], compilers);
    fail(&mut record, "clang-O1", 1);
    let mains = judge(&record);
    let family = family(&mains, EffectKind::Main);
    let comparison = family.effects[0].comparison.as_ref().expect("a comparison");
    let tested = comparison.tested().expect("a test");
    let (p, corrected) = (tested.p.expect("a p"), tested.p_corrected.expect("a p"));
    let estimated = family.effects.iter().filter(|effect| effect.comparison.is_some()).count();
    assert!(family.effects.len() == 5 && estimated < 5, "{family:?}");
    assert!(corrected >= p && corrected <= estimated as f64 * p, "{p} {corrected}, {estimated} estimated");
}

/// A level that never succeeds, or is run on its own only, next to factors that are crossed completely.
#[test]
fn a_level_that_is_alone_leaves_the_others_as_they_are() {
    let truth: Truth = |levels, _, _| {
        (if levels["malloc"] == "perl" { 0.9 } else { 1.0 }) * (if levels["cc"] == "tcc" { 3.0 } else { 1.0 })
    };
    let mut failing = record(&combinations(&THREE), &["loop"], &["idle"], truth);
    let tcc: Vec<String> =
        failing.study.variants.iter().map(|v| v.name.clone()).filter(|v| v.starts_with("tcc")).collect();
    tcc.iter().for_each(|variant| fail(&mut failing, variant, 1));
    let mut alone = combinations(&THREE);
    alone.retain(|levels| levels["cc"] != "tcc" || name(levels) == "tcc-system-off");
    let alone = record(&alone, &["loop"], &["idle"], truth);
    for record in [failing, alone] {
        let findings = judge(&record);
        let mains = family(&findings, EffectKind::Main);
        assert_eq!(names(mains), ["cc=clang", "cc=tcc", "malloc=perl", "threads=on"]);
        check_over(mains, "cc=clang", 1.0, None);
        let threads = ["gcc-off", "gcc-on", "clang-off", "clang-on"];
        check_over(mains, "malloc=perl", 0.9, Some((&threads, 6)));
        let mallocs = ["gcc-system", "gcc-perl", "clang-system", "clang-perl"];
        check_over(mains, "threads=on", 1.0, Some((&mallocs, 6)));
        assert_eq!(mains.effects[2].over.as_ref().expect("a part").levels["cc"], ["gcc", "clang"]);
        assert!(mains.effects[1].comparison.is_none() && mains.effects[1].refused.is_some(), "{:?}", mains.effects[1]);
        let interactions = family(&findings, EffectKind::Interaction);
        check_over(interactions, "malloc=perl × threads=on", 1.0, Some((&["gcc", "clang"], 3)));
        check_over(interactions, "cc=clang × malloc=perl", 1.0, None);
    }
}

/// A variant that never succeeds is lost to what needs it; where the rest are no levels' combinations, they are counted.
#[test]
fn a_variant_that_fails_is_lost_to_what_needs_it() {
    let truth: Truth = |levels, _, _| if levels["malloc"] == "perl" { 0.9 } else { 1.0 };
    let mut record = record(&combinations(&THREE), &["loop"], &["idle"], truth);
    fail(&mut record, "clang-perl-on", 1);
    let findings = judge(&record);
    let mains = family(&findings, EffectKind::Main);
    let five = ["gcc-off", "gcc-on", "clang-off", "tcc-off", "tcc-on"];
    check_over(mains, "malloc=perl", 0.9, Some((&five, 6)));
    assert!(mains.effects[2].over.as_ref().expect("a part").levels.is_empty());
    check_over(mains, "cc=tcc", 1.0, None);
    check_over(family(&findings, EffectKind::Interaction), "cc=tcc × threads=on", 1.0, None);
    check_over(family(&findings, EffectKind::Interaction), "cc=clang × threads=on", 1.0, Some((&["system"], 2)));
}

/// A variant that fails now and then costs the blocks in which it fails, of the contrasts that need it.
#[test]
fn a_block_is_lost_to_what_needs_the_trial_that_failed() {
    let mut record = record(&combinations(&THREE), &["loop"], &["idle"], |_, _, _| 1.0);
    fail(&mut record, "clang-perl-on", 3);
    let blocks = |name: &str| {
        let findings = judge(&record);
        let mains = family(&findings, EffectKind::Main);
        let effect = mains.effects.iter().find(|effect| label(mains, effect) == name).cloned();
        effect.and_then(|effect| Some((effect.comparison?.blocks, effect.over)))
    };
    assert_eq!((blocks("cc=clang"), blocks("cc=tcc")), (Some((BLOCKS - 4, None)), Some((BLOCKS, None))));
}

/// Where a level is missing from a fraction, the linear model still tells the others.
#[test]
fn a_fraction_bears_a_level_that_fails() {
    const FACTORS: [Factor; 3] =
        [("cc", &["gcc", "clang", "tcc"]), ("malloc", &["system", "perl"]), ("threads", &["off", "on"])];
    let mut half = combinations(&FACTORS);
    let changed = |v: &BTreeMap<String, String>| FACTORS.iter().filter(|(f, levels)| v[*f] != levels[0]).count();
    half.retain(|variant| changed(variant) % 2 == 0);
    let truth: Truth = |levels, _, _| if levels["threads"] == "on" { 1.1 } else { 1.0 };
    let mut record = record(&half, &["loop"], &["idle"], truth);
    fail(&mut record, "tcc-perl-off", 1);
    fail(&mut record, "tcc-system-on", 1);
    let findings = judge(&record);
    let mains = family(&findings, EffectKind::Main);
    for (name, ratio) in [("cc=clang", 1.0), ("malloc=perl", 1.0), ("threads=on", 1.1)] {
        check(mains, name, ratio);
    }
    assert!(mains.effects[1].refused.is_some(), "{:?}", mains.effects[1]);
}

#[test]
fn a_suite_is_the_mean_over_its_workloads() {
    let truth: Truth = |levels, workload, _| match (levels["threads"].as_str(), workload) {
        ("on", "loop") => 1.2,
        ("on", "regex") => 0.9,
        _ => 1.0,
    };
    let variants = combinations(&TWO[1..]);
    let findings = judge(&record(&variants, &["loop", "regex"], &["idle"], truth));
    let suite = family(&findings, EffectKind::Suite);
    assert_eq!((&suite.workload, suite.condition.as_deref()), (&None, Some("idle")));
    check(suite, "on", (1.2f64 * 0.9).sqrt());
    assert_eq!(findings.effects.len(), 1, "{:?}", findings.effects);
}

#[test]
fn conditions_are_paired_by_pass() {
    let truth: Truth = |levels, _, condition| match (levels["threads"].as_str(), condition) {
        ("on", "busy") => 1.3,
        ("off", "busy") => 1.25,
        _ => 1.0,
    };
    let findings = judge(&record(&combinations(&TWO[1..]), &["loop"], &["idle", "busy"], truth));
    let conditions = family(&findings, EffectKind::Condition);
    assert_eq!((conditions.workload.as_deref(), conditions.condition.as_deref()), (Some("loop"), Some("busy")));
    let [_, against] = labels(conditions, &conditions.effects[0]);
    assert_eq!((names(conditions), &*against), (vec!["off: busy".to_owned(), "on: busy".to_owned()], "idle"));
    // Blocks of one pass differ by up to 10 %, so the estimates are only roughly the truth.
    for (effect, ratio) in conditions.effects.iter().zip([1.25, 1.3]) {
        let comparison = effect.comparison.as_ref().expect("a comparison");
        assert!((comparison.estimate / ratio - 1.0).abs() < 0.05 && comparison.verdict == Verdict::Slower);
    }
    check(family(&findings, EffectKind::ConditionChange), "on × busy", 1.04);
}

#[test]
fn blocks_that_lack_a_cell_are_left_out_and_counted() {
    let mut record = record(&combinations(&TWO), &["loop"], &["idle"], malloc_and_threads);
    record.trials[5].outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
    let findings = judge(&record);
    let comparison = family(&findings, EffectKind::Main).effects[0].comparison.clone().expect("a comparison");
    assert_eq!(comparison.blocks, BLOCKS - 1);
    assert!(
        comparison.caveats.iter().any(|caveat| sentence(caveat).starts_with("the estimate leaves out 1 of 12 blocks"))
    );
}

#[test]
fn zeros_make_effects_differences() {
    let mut record = record(&combinations(&TWO), &["loop"], &["idle"], malloc_and_threads);
    record.trials.iter_mut().filter(|trial| trial.variant == "system-off").for_each(|trial| {
        trial.measurements.insert("wall".to_owned(), 0.0);
    });
    let findings = judge(&record);
    let of = |effect: &Effect| effect.comparison.as_ref().map(|comparison| comparison.scale);
    assert_eq!(of(&family(&findings, EffectKind::Main).effects[0]), Some(Scale::Difference));
}

/// Letters for all pairs, on the deciding metric.
#[test]
fn all_pairs_get_letters() {
    let findings =
        judge(&record(
            &combinations(&TWO),
            &["loop"],
            &["idle"],
            |levels, _, _| {
                if levels["malloc"] == "perl" { 0.9 } else { 1.0 }
            },
        ));
    let ranking = findings.tables[0].ranking.as_ref().expect("a ranking");
    let letters: Vec<&str> = ranking.variants.iter().map(|ranked| ranked.letters.as_str()).collect();
    assert_eq!((letters, ranking.pairs, ranking.differ), (vec!["a", "a", "b", "b"], 6, 4));
    assert_eq!(ranking.equivalent.len(), 2, "{:?}", ranking.equivalent);
    assert_eq!(ranking.variants[0].against_best, None);
    let last = &ranking.variants[3];
    let [low, high] = last.against_best_interval.expect("an interval");
    assert!(low < 1.0 / 0.9 && 1.0 / 0.9 < high, "{low} {high}");
    let pair = judge(&record(&combinations(&TWO[1..]), &["loop"], &["idle"], |_, _, _| 1.0));
    assert_eq!(pair.tables[0].ranking, None);
}

/// Where one factor is all there is, its levels are asked about against each other as well; of many the ranking tells.
#[test]
fn levels_of_a_single_factor_are_compared_with_each_other() {
    let pairs = |factors: &[Factor]| {
        let times = |levels: &BTreeMap<String, String>, _: &str, _: &str| if levels["cc"] == "tcc" { 1.2 } else { 1.0 };
        let findings = judge(&record(&combinations(factors), &["loop"], &["idle"], times));
        let levels = findings.effects.into_iter().find(|family| family.kind == EffectKind::Levels);
        let label = |family: &Effects| family.effects.iter().map(|e| (labels(family, e), e.clone())).collect();
        levels.as_ref().map_or(vec![], label)
    };
    let [(labels, pair)] = pairs(&[("cc", &["gcc", "clang", "tcc"])]).try_into().expect("one pair");
    assert_eq!(labels, ["tcc", "clang"]);
    let comparison = pair.comparison.expect("a comparison");
    let [low, high] = comparison.interval().expect("an interval");
    assert!(comparison.verdict == Verdict::Slower && low < 1.2 && 1.2 < high, "{low} {high}");
    assert_eq!(pairs(&[("cc", &["a", "b", "c", "d", "e", "f"])]).len(), 10);
    assert!(pairs(&[("cc", &["a", "b", "c", "d", "e", "f", "g"])]).is_empty());
    assert!(pairs(&[("cc", &["gcc", "tcc"])]).is_empty() && pairs(&THREE).is_empty());
}
