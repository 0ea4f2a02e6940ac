//! Builds held against the study: lies, twins and side effects, from records built by hand.

use super::records::BuiltRecord;
use crate::Building;
use crate::journal::{BuildLine, BuildOutcome, FlagSeen, LayerLine, Proof};
use crate::judged::BuildDoubts;
use crate::judged::doubts as doubts_about_builds;
use crate::judged::kinds_of_doubts::{FlagFate, Same};
use bakeoff_command::Registry;
use bakeoff_judge::findings::{Effect, EffectKind, Findings, Subject};
use bakeoff_model::record::{FactorLine, SharedLine};
use bakeoff_testkit::records::sentence;
use bakeoff_testkit::records::{execute, kinds, measure, noise, study};

/// A factor and its levels, each with the value of its one variable, which has the factor's name in capitals.
pub(super) type Levels = (&'static str, &'static [(&'static str, &'static str)]);

/// A study of all combinations of these levels, the first of each being the baseline's, and one build for each.
pub(super) fn crossed(factors: &[Levels]) -> BuiltRecord {
    let mut points: Vec<Vec<(&'static str, &'static str)>> = vec![vec![]];
    for &(factor, levels) in factors {
        let mut longer = vec![];
        for point in &points {
            longer.extend(levels.iter().map(|(level, _)| [point.as_slice(), &[(factor, *level)]].concat()));
        }
        points = longer;
    }
    let name = |point: &Vec<(&'static str, &'static str)>| {
        let others = point.iter().zip(factors).filter(|((_, level), (_, levels))| *level != levels[0].0);
        let terms: Vec<String> = others.map(|((factor, level), _)| format!("{factor}={level}")).collect();
        if terms.is_empty() { "baseline".to_owned() } else { terms.join(" ") }
    };
    let names: Vec<String> = points.iter().map(name).collect();
    let mut record = study(&names.iter().map(String::as_str).collect::<Vec<_>>(), &["idle"], &["wall"]);
    for (variant, point) in record.study.variants.iter_mut().zip(&points) {
        variant.levels = point.iter().map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect();
    }
    record.study.build_factors = factors.iter().map(factor_line).collect();
    let builds = names.iter().enumerate().map(|(i, name)| build(&format!("{i:064x}"), &[name])).collect();
    BuiltRecord::of(record, builds)
}

fn factor_line((name, levels): &Levels) -> FactorLine {
    let variables = |value: &str| [(name.to_uppercase(), value.to_owned())].into();
    FactorLine {
        name: (*name).to_owned(),
        levels: levels.iter().map(|(level, value)| ((*level).to_owned(), variables(value))).collect(),
        ..FactorLine::default()
    }
}

fn build(digest: &str, variants: &[&str]) -> BuildLine {
    BuildLine {
        digest: digest.to_owned(),
        variants: variants.iter().map(|name| (*name).to_owned()).collect(),
        ..BuildLine::default()
    }
}

fn describe(record: &mut BuiltRecord, settings: &[(&str, &[Option<&str>])]) {
    for (setting, values) in settings {
        assert_eq!(values.len(), record.builds.len());
        for (build, value) in record.builds.iter_mut().zip(*values) {
            if let Some(value) = value {
                build.proof.described.insert((*setting).to_owned(), (*value).to_owned());
            }
        }
    }
}

/// The findings with those about builds.
pub(super) fn judge(record: &BuiltRecord) -> Findings {
    Registry::of(&[&Building]).judge(&record.whole())
}

fn doubts(record: &BuiltRecord) -> BuildDoubts {
    doubts_about_builds(&record.study, &record.builds)
}

const MALLOC: Levels = ("malloc", &[("system", "-Uusemymalloc"), ("perl", "-Dusemymalloc")]);
const THREADS: Levels = ("threads", &[("off", ""), ("on", "-Dusethreads")]);

fn flag(reached: u64, of: u64, overridden: u64) -> FlagSeen {
    let overridden_by = (overridden > 0).then(|| "-O2".to_owned());
    let [layer, variable, flag] = ["perl", "MALLOC", "-O3"].map(str::to_owned);
    FlagSeen { layer, variable, flag, reached, of, overridden, overridden_by }
}

#[test]
fn a_flag_that_did_not_come_through() {
    let fate = |seen: FlagSeen| {
        let mut record = crossed(&[MALLOC]);
        record.builds[1].proof.flags = vec![seen];
        let doubts = doubts(&record).flags;
        assert!(doubts.iter().all(|doubt| doubt.variants == ["malloc=perl"]));
        assert!(doubts.iter().all(|doubt| doubt.factor.as_deref() == Some("malloc")));
        doubts.into_iter().next().map(|doubt| doubt.fate)
    };
    assert_eq!(fate(flag(0, 12, 0)), Some(FlagFate::NeverArrived));
    assert_eq!(fate(flag(12, 12, 12)), Some(FlagFate::Overridden { by: Some("-O2".to_owned()) }));
    assert_eq!(fate(flag(5, 12, 0)), Some(FlagFate::Partly));
    assert_eq!(fate(flag(12, 12, 7)), Some(FlagFate::Partly));
    assert_eq!(fate(flag(6, 12, 0)), None);
    assert_eq!(fate(flag(0, 0, 0)), None, "nothing was seen, so nothing is known");
}

#[test]
fn one_doubt_for_all_variants_of_a_level() {
    let mut record = crossed(&[MALLOC, THREADS]);
    record.builds[2].proof.flags = vec![flag(0, 12, 0)];
    record.builds[3].proof.flags = vec![flag(0, 14, 0)];
    let doubts = doubts(&record).flags;
    assert_eq!(doubts.len(), 1);
    assert_eq!(doubts[0].variants, ["malloc=perl", "malloc=perl threads=on"]);
    assert_eq!((doubts[0].reached, doubts[0].of), (0, 12));
}

fn proof(binaries: &str, files: &str) -> Proof {
    Proof { binaries: Some(binaries.to_owned()), files: Some(files.to_owned()), ..Proof::default() }
}

#[test]
fn variants_that_are_the_same_thing() {
    let mut record = crossed(&[MALLOC, THREADS]);
    assert_eq!(doubts(&record).identical, [], "of nothing seen nothing is said");
    for (build, proof) in
        record.builds.iter_mut().zip([proof("b", "f"), proof("c", "g"), proof("b", "f"), proof("c", "h")])
    {
        build.proof = proof;
    }
    let identical = doubts(&record).identical;
    let of = |same: Same| {
        identical.iter().filter(|group| group.same == same).map(|group| group.variants.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(Same::Files), [["baseline", "malloc=perl"]]);
    assert_eq!(of(Same::Binaries), [["threads=on", "malloc=perl threads=on"]]);
    assert_eq!(of(Same::Build), Vec::<Vec<String>>::new());
}

#[test]
fn variants_that_share_a_build() {
    let mut record = crossed(&[MALLOC, THREADS]);
    record.builds = vec![
        build("one", &["baseline", "malloc=perl"]),
        build("two", &["threads=on"]),
        build("three", &["malloc=perl threads=on"]),
    ];
    let identical = doubts(&record).identical;
    assert_eq!(identical.len(), 1);
    assert_eq!(
        (identical[0].same, &*identical[0].variants),
        (Same::Build, &["baseline".to_owned(), "malloc=perl".to_owned()][..])
    );

    // If `malloc` is a factor of execution, the two differ in how they are run.
    record.study.build_factors.remove(0);
    assert_eq!(doubts(&record).identical, []);
    record.study.build_factors.clear();
    assert_eq!(doubts(&record).identical, [], "a record that does not tell the factors");
}

/// The hint file: `threads=on` changes `d_fork` behind one's back.
#[test]
fn a_setting_that_no_factor_names() {
    let mut record = crossed(&[MALLOC, THREADS]);
    let [undef, define] = [Some("undef"), Some("define")];
    describe(
        &mut record,
        &[
            ("usemymalloc", &[undef, undef, define, define]),
            ("usethreads", &[undef, define, undef, define]),
            (
                "config_args",
                &[
                    Some("-Uusemymalloc"),
                    Some("-Uusemymalloc -Dusethreads"),
                    Some("-Dusemymalloc"),
                    Some("-Dusemymalloc -Dusethreads"),
                ],
            ),
            ("d_fork", &[undef, define, undef, define]),
            ("cf_time", &[Some("1"), Some("2"), Some("3"), Some("4")]),
            ("ivsize", &[Some("8"); 4]),
            ("i_db", &[None, None, Some(""), Some("")]),
        ],
    );
    let found = doubts(&record).confounded;
    let names: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|doubt| (doubt.setting.as_str(), doubt.follows.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(names, [("cf_time", vec![]), ("d_fork", vec!["threads"]), ("i_db", vec!["malloc"])]);
    let values: Vec<(Option<&str>, Vec<String>)> =
        found[1].values.iter().map(|value| (value.value.as_deref(), value.levels.clone())).collect();
    assert_eq!(values, [(undef, vec!["off".to_owned()]), (define, vec!["on".to_owned()])]);
    assert_eq!(found[1].values[1].variants, ["threads=on", "malloc=perl threads=on"]);

    record.study.build_factors[1].implied = vec!["d_*".to_owned()];
    assert!(doubts(&record).confounded.iter().all(|doubt| doubt.setting != "d_fork"));
}

/// A factor that names a setting must also explain it: another one that changes it as well is found out.
#[test]
fn a_setting_that_its_own_factor_does_not_explain() {
    let mut record = crossed(&[MALLOC, THREADS]);
    let [undef, define] = [Some("undef"), Some("define")];
    describe(&mut record, &[("usemymalloc", &[undef, undef, define, undef])]);
    let found = doubts(&record).confounded;
    assert_eq!((&*found[0].follows, &*found[0].named_by), (&["threads".to_owned()][..], &["malloc".to_owned()][..]));
}

/// Perl's `ccflags` has one word for gcc and another for threads: two factors change it, and each alone explains a
/// part.
#[test]
fn a_setting_that_follows_two_factors_together() {
    const LOCALE: Levels = ("locale", &[("off", "-locale"), ("on", "+locale")]);
    let mut record = crossed(&[MALLOC, THREADS, LOCALE]);
    let [none, one, other, both] = [Some(""), Some("-fwrapv"), Some("-D_GNU_SOURCE"), Some("-fwrapv -D_GNU_SOURCE")];
    let dates: Vec<String> = (1..=8).map(|day| day.to_string()).collect();
    let dates: Vec<Option<&str>> = dates.iter().map(|day| Some(day.as_str())).collect();
    describe(&mut record, &[("ccflags", &[none, none, other, other, one, one, both, both]), ("cf_time", &dates)]);
    let found = doubts(&record).confounded;
    let names: Vec<(&str, &[String], bool)> =
        found.iter().map(|doubt| (doubt.setting.as_str(), &*doubt.follows, doubt.together)).collect();
    let of_two = ["malloc".to_owned(), "threads".to_owned()];
    assert_eq!(names, [("ccflags", &of_two[..], true), ("cf_time", &[], false)], "a date follows nothing");
    assert!(found[0].values.iter().all(|value| value.levels.is_empty() && value.variants.len() == 2));

    // Beside variants that differ in either, the caveat says of which two factors it is.
    let findings = judged(record, |_| 1.0);
    let says_so = |variant: &str| {
        let row = findings.tables[0].rows.iter().find(|row| row.variant == variant).expect("a row");
        let caveats = &row.comparison.as_ref().expect("a comparison").caveats;
        caveats.iter().any(|caveat| sentence(caveat).contains("changed with malloc and threads together"))
    };
    assert!(says_so("threads=on") && says_so("malloc=perl") && !says_so("locale=on"));
}

/// What comes with a level is no confounder of it, and what is said of it shows the words that differ.
#[test]
fn what_comes_with_a_factor_is_told_by_its_difference() {
    let check = |off: &str, on: &str, expect: &str| {
        let mut record = crossed(&[THREADS]);
        describe(&mut record, &[("ccflags", &[Some(off), Some(on)])]);
        let findings = judged(record, |_| 1.0);
        let row = findings.tables[0].rows.iter().find(|row| row.variant == "threads=on").expect("a row");
        let caveats = &row.comparison.as_ref().expect("a comparison").caveats;
        let texts: Vec<String> = caveats.iter().filter(|one| one.kind() == "also-changes").map(sentence).collect();
        assert_eq!(texts, [format!("threads also changes ccflags ({expect})")]);
        assert!(!kinds(caveats).contains(&"confounded".to_owned()));
    };
    check(
        "-fwrapv -fno-strict-aliasing -pipe -D_FILE_OFFSET_BITS=64",
        "-D_REENTRANT -D_GNU_SOURCE -fwrapv -fno-strict-aliasing -pipe -D_FILE_OFFSET_BITS=64",
        "… → … -D_REENTRANT -D_GNU_SOURCE",
    );
    check("-O1 -pipe", "-O3 -pipe", "… -O1 → … -O3");
    check("undef", "define", "undef → define");
    check("a b", "b a", "a b → b a");
    check("/opt/a-very-long-folder/lib/one", "/opt/a-very-long-folder/lib/two", "…r/lib/one → …r/lib/two");
}

/// A setting that belongs to another factor is confounded, even if only one changes it.
#[test]
fn a_setting_of_another_factor_is_confounded() {
    let mut record = crossed(&[MALLOC, THREADS]);
    let [undef, define] = [Some("undef"), Some("define")];
    describe(&mut record, &[("usemymalloc", &[undef, define, undef, define])]);
    assert_eq!(caveats_of(&judged(record, |_| 1.0), "threads=on"), ["confounded"]);
}

/// What has another source may differ in anything: it is no explanation that a reader would miss.
#[test]
fn a_factor_of_sources_explains_what_follows_it_and_is_not_missed_otherwise() {
    let mut record = crossed(&[MALLOC, THREADS]);
    let [undef, define] = [Some("undef"), Some("define")];
    describe(
        &mut record,
        &[("d_fork", &[undef, define, undef, define]), ("d_malloc", &[undef, undef, define, define])],
    );
    record.study.build_factors[0].takes_sources = true;
    let found = doubts(&record).confounded;
    assert_eq!(found.len(), 1, "d_malloc follows the factor of sources");
    assert_eq!((&*found[0].follows, found[0].named_by.len()), (&["threads".to_owned()][..], 0));

    // Of one level only, it explains nothing.
    record.study.variants.iter_mut().for_each(|variant| drop(variant.levels.remove("malloc")));
    let found = doubts(&record).confounded;
    assert_eq!(found.iter().map(|doubt| doubt.setting.as_str()).collect::<Vec<_>>(), ["d_fork", "d_malloc"]);
}

/// A flag that never arrived may be why a variant shares another one's row.
#[test]
fn flags_of_a_variant_that_shares_a_row_are_doubted_too() {
    let mut record = crossed(&[THREADS]);
    record.builds[1].proof.flags = vec![flag(0, 12, 0)];
    let variant = record.study.variants.remove(1);
    assert_eq!(variant.name, "threads=on");
    record.study.shared = vec![SharedLine { variant, with: "baseline".to_owned(), ..SharedLine::default() }];
    assert_eq!(doubts(&record).flags[0].variants, ["threads=on"]);
}

#[test]
fn variants_are_one_program_if_all_share_a_row_and_no_trial_was_executed() {
    let mut record = crossed(&[THREADS]);
    let variant = record.study.variants.remove(1);
    let is_one = |record: &BuiltRecord| judge(record).is_one_program;
    assert!(!is_one(&record), "nothing shares the row");
    record.study.shared =
        vec![SharedLine { variant: variant.clone(), with: "baseline".to_owned(), ..SharedLine::default() }];
    assert!(is_one(&record));
    record.study.variants.push(variant);
    assert!(!is_one(&record), "another row is left");
    record.study.variants.pop();
    execute(&mut record, 1, |trial| measure(trial, "wall", 1.0));
    assert!(!is_one(&record), "there are trials");
}

#[test]
fn builds_that_failed_tell_nothing() {
    let mut record = crossed(&[THREADS]);
    describe(&mut record, &[("d_fork", &[Some("undef"), None])]);
    record.builds[1].outcome = failed();
    assert!(doubts(&record).is_empty());
}

#[test]
fn costs_beside_a_compiler_cache() {
    let mut record = crossed(&[THREADS]);
    let layer =
        LayerLine { name: "perl".to_owned(), compiler_cache: Some("ccache".to_owned()), ..LayerLine::default() };
    record.builds.iter_mut().for_each(|build| build.layers = vec![layer.clone()]);
    let costs = doubts(&record).costs;
    assert_eq!((costs.len(), &*costs[0].variants), (1, &["baseline".to_owned(), "threads=on".to_owned()][..]));
}

/// `shift` is what a variant's wall time is multiplied by.
pub(super) fn judged(mut record: BuiltRecord, shift: impl Fn(&str) -> f64) -> Findings {
    execute(&mut record, 12, |trial| {
        let wall_s = shift(&trial.variant) * noise(trial);
        measure(trial, "wall", wall_s);
    });
    judge(&record)
}

/// The doubts of a variant's comparison that are about builds.
pub(super) fn caveats_of(findings: &Findings, variant: &str) -> Vec<String> {
    let row = findings.tables[0].rows.iter().find(|row| row.variant == variant).expect("a row");
    let all = kinds(&row.comparison.as_ref().expect("a comparison").caveats);
    let about_builds = ["flag-", "words-", "identical-", "confounded", "also-changes"];
    all.into_iter().filter(|kind| about_builds.iter().any(|start| kind.starts_with(start))).collect()
}

/// Such as `malloc=perl × threads=on`, or a variant.
fn label(effect: &Effect) -> String {
    match &effect.subject {
        Subject::Levels(steps) => {
            steps.iter().map(|step| format!("{}={}", step.factor, step.level)).collect::<Vec<_>>().join(" × ")
        }
        _ => effect.variant().unwrap_or_default().to_owned(),
    }
}

#[test]
fn comparisons_carry_the_doubts_about_their_builds() {
    let mut record = crossed(&[MALLOC, THREADS]);
    record.builds[2].proof.flags = vec![flag(0, 12, 0)];
    describe(&mut record, &[("d_fork", &[Some("undef"), Some("define"), Some("undef"), Some("define")])]);
    let findings = judged(record, |_| 1.0);
    assert_eq!(caveats_of(&findings, "malloc=perl"), ["flag-never-arrived"]);
    assert_eq!(caveats_of(&findings, "threads=on"), ["also-changes"]);
    assert_eq!(caveats_of(&findings, "malloc=perl threads=on"), ["also-changes"]);
    let mains = &findings.effects[0].effects;
    let kinds_of = |name: &str| {
        let effect = mains.iter().find(|effect| label(effect) == name).expect("an effect");
        kinds(&effect.comparison.as_ref().expect("a comparison").caveats)
    };
    assert_eq!(kinds_of("malloc=perl"), ["flag-never-arrived"]);
    assert_eq!(kinds_of("threads=on"), ["also-changes"]);
    assert!(kinds(&findings.caveats).iter().all(|kind| *kind != "identical-differs"));
}

/// What two options do together rests on the builds of both, and an average over workloads on those of its variant.
#[test]
fn effects_of_several_builds_carry_the_doubts_about_all_of_them() {
    let mut record = crossed(&[MALLOC, THREADS]);
    record.builds[2].proof.flags = vec![flag(0, 12, 0)];
    describe(&mut record, &[("d_fork", &[Some("undef"), Some("define"), Some("undef"), Some("define")])]);
    let caveats = |findings: &Findings, kind: EffectKind, name: &str| {
        let family = findings.effects.iter().find(|family| family.kind == kind).expect("a family");
        let effect = family.effects.iter().find(|effect| label(effect) == name).expect("an effect");
        let all = &effect.comparison.as_ref().expect("a comparison").caveats;
        kinds(all)
    };
    let findings = judged(record.clone(), |_| 1.0);
    let interaction = caveats(&findings, EffectKind::Interaction, "malloc=perl × threads=on");
    assert_eq!(interaction, ["symmetric-errors", "flag-never-arrived", "also-changes"]);
    record.study.conditions.push("busy".to_owned());
    let findings = judged(record.clone(), |_| 1.0);
    assert_eq!(caveats(&findings, EffectKind::ConditionChange, "threads=on"), ["symmetric-errors", "also-changes"]);
    assert_eq!(caveats(&findings, EffectKind::Condition, "threads=on"), [""; 0]);
}

/// The baseline's own lie is one of every comparison along that factor.
#[test]
fn a_flag_of_the_baseline_that_never_arrived() {
    let mut record = crossed(&[MALLOC, THREADS]);
    record.builds[0].proof.flags = vec![flag(0, 12, 0)];
    let findings = judged(record, |_| 1.0);
    assert_eq!(caveats_of(&findings, "malloc=perl"), ["flag-never-arrived"]);
    assert_eq!(caveats_of(&findings, "threads=on"), [""; 0]);
}

#[test]
fn the_same_program_that_was_judged_different() {
    let alike = |shift: f64| {
        let mut record = crossed(&[MALLOC]);
        record.builds.iter_mut().for_each(|build| build.proof = proof("b", "f"));
        judged(record, move |variant| if variant == "malloc=perl" { shift } else { 1.0 })
    };
    let findings = alike(1.0);
    assert_eq!(caveats_of(&findings, "malloc=perl"), ["identical-build"]);
    assert!(!kinds(&findings.caveats).contains(&"identical-differs".to_owned()));
    let findings = alike(1.2);
    assert_eq!(caveats_of(&findings, "malloc=perl"), ["identical-build"]);
    assert!(kinds(&findings.caveats).contains(&"identical-differs".to_owned()), "{:?}", findings.caveats);
}

/// Two variants that are the same as each other, but not as the baseline, are compared in the ranking alone.
#[test]
fn the_same_program_that_ranks_apart() {
    let levels: Levels = ("malloc", &[("system", "a1"), ("perl", "b1"), ("other", "c1")]);
    let mut record = crossed(&[levels]);
    record.builds[1].proof = proof("b", "f");
    record.builds[2].proof = proof("b", "f");
    let shift = |variant: &str| match variant {
        "malloc=perl" => 1.2,
        "malloc=other" => 1.4,
        _ => 1.0,
    };
    let findings = judged(record, shift);
    assert!(kinds(&findings.caveats).contains(&"identical-differs".to_owned()), "{:?}", findings.caveats);
    assert_eq!(caveats_of(&findings, "malloc=perl"), [""; 0]);
}

/// Behind what makes the whole study doubtful, and before what is missing of it. A build that succeeded later is no
/// failure.
#[test]
fn builds_that_failed_are_a_doubt_about_the_study() {
    let mut record = study(&["a", "b"], &["idle"], &["wall"]);
    execute(&mut record, 1, |trial| measure(trial, "wall", 0.3));
    record.study.simulated = Some("a=1".to_owned());
    record.sessions[0].blocks = 2;
    let failed = || BuildLine { outcome: failed(), ..build("b", &["b"]) };
    let mut record = BuiltRecord::of(record, vec![failed(), build("a", &["a"])]);
    let findings = judge(&record);
    assert_eq!(kinds(&findings.caveats), ["simulated", "failed-builds", "unfinished"]);
    let digests = findings.sections["builds"].as_array().expect("builds").iter().map(|build| &build["digest"]);
    assert_eq!(digests.collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(findings.besides.no_answer, None);
    record.builds.push(build("c", &["b"]));
    assert_eq!(kinds(&judge(&record).caveats), ["simulated", "unfinished"]);
    record.builds = vec![failed()];
    assert_eq!(judge(&record).besides.no_answer.as_deref(), Some("none of 1 build succeeded"));
}

fn failed() -> BuildOutcome {
    BuildOutcome::Failed { layer: "make".to_owned(), why: "exit 2".to_owned(), tail: vec![], log: None }
}
