//! Builds compared with what the study says of them: did the flags of its levels come through, are there variants that
//! are the same thing, did levels take words away, and do builds differ in something that no factor names? A doubt about a build is one of
//! every comparison that rests on it. How anything was built is not known here, only what was seen of it.

mod alike;
mod arrived;
mod built;
mod cost;
mod described;
mod flags;
pub(crate) mod kinds_of_doubts;
mod lost;
mod names;
mod page;
mod sections;
mod sentences;
mod settings;

pub(crate) use described::{describe, sentence_on_link};
pub(crate) use kinds_of_doubts::BuildDoubts;
pub(crate) use page::{build_doubts, print};
pub(crate) use sections::BUILDS;

use crate::journal::{BuildLine, BuildOutcome, LinkSeen, is_appending};
use crate::nouns::Building;
use bakeoff_command::FeatureFindings;
use bakeoff_judge::findings::{
    Besides, Comparison, Cost, Findings, Objection, Ranking, Remarks, Step, Subject, Unmade, Verdict,
};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{Record, StudyLine, TWIN, VariantLine};
use bakeoff_model::study::Vary;
use bakeoff_report::words::counted;
use built::{built, latest};
pub(crate) use cost::BuiltAndExecuted;
use cost::built_and_executed;
use kinds_of_doubts::{Confounded, CostDoubt, FlagDoubt, Identical, Same};
use sections::{COST, DOUBTS};
use std::collections::BTreeSet;

/// All that is found about the builds of a record: as data, and as remarks.
pub(crate) fn find(record: &Record, findings: &Findings) -> FeatureFindings {
    let study = &record.study;
    let mut builds = latest(&BuildLine::all(&record.made));
    let of_variant = |build: &BuildLine| findings.variants.iter().position(|v| build.variants.contains(&v.name));
    builds.sort_by_key(|build| of_variant(build).unwrap_or(usize::MAX));
    let doubts = doubts(study, &builds);
    let costs = built_and_executed(record, &builds, findings);
    let mut found = FeatureFindings::default();
    let mut keep = |name: &str, data: serde_json::Result<serde_json::Value>| {
        found.sections.extend(data.ok().map(|data| (name.to_owned(), data)));
    };
    keep(BUILDS, serde_json::to_value(&builds));
    if doubts != BuildDoubts::default() {
        keep(DOUBTS, serde_json::to_value(&doubts));
    }
    if !costs.is_empty() {
        keep(COST, serde_json::to_value(&costs));
    }
    found.remarks = Remarks { besides: besides(&builds, &doubts, costs), ..objections(study, findings, &doubts) };
    found.remarks.study.extend(identical_differs(findings, &doubts));
    found.remarks.study.extend(kept_layouts(study, &builds));
    let failed = builds.iter().filter(|build| build.failed_unforeseen());
    let failed: Vec<String> = failed.flat_map(|build| &build.variants).cloned().collect();
    found.remarks.study.extend((!failed.is_empty()).then(|| sentences::failed(&failed)));
    found
}

/// The programs and libraries that no pass gave another layout, although it did others.
fn kept_layouts(study: &StudyLine, builds: &[BuildLine]) -> Option<Objection> {
    let links = builds.iter().flat_map(|build| &build.proof.links);
    let mut kept: Vec<&LinkSeen> = links.filter(|link| link.repeated.same_in_s().is_none()).collect();
    kept.sort_by_key(|link| &link.file);
    kept.dedup_by_key(|link| &link.file);
    (study.vary.contains(&Vary::Layouts) && !kept.is_empty()).then(|| sentences::kept_layouts(&kept))
}

fn besides(builds: &[BuildLine], doubts: &BuildDoubts, costs: Vec<BuiltAndExecuted>) -> Besides {
    let is_built = |build: &BuildLine| build.outcome == BuildOutcome::Built;
    let none = !builds.is_empty() && !builds.iter().any(is_built);
    let failed = builds.iter().filter(|build| !is_built(build));
    let unmade = failed.flat_map(|build| {
        let is_foreseen = build.failed_as_foreseen().is_some();
        build.variants.iter().map(move |variant| Unmade { variant: variant.clone(), is_foreseen })
    });
    let cost = |one: BuiltAndExecuted| Cost {
        variant: one.variant,
        verb: "builds".to_owned(),
        time: one.building,
        bytes: one.prefix_bytes,
    };
    let mut besides = Besides {
        no_answer: none.then(|| format!("none of {} succeeded", counted(builds.len() as u32, "build"))),
        unmade: unmade.collect(),
        alarms: doubts.flags.iter().filter_map(sentences::alarm).collect(),
        costs: costs.into_iter().map(cost).collect(),
        files: builds.iter().flat_map(logs).cloned().collect(),
        ..Besides::default()
    };
    besides.alarms.extend(doubts.lost.iter().map(sentences::lost_alarm));
    for build in builds {
        let Some(size) = build.proof.sizes.values().copied().reduce(|a, b| a + b) else { continue };
        for variant in &build.variants {
            besides.sizes.entry(variant.clone()).or_insert(size);
        }
    }
    besides
}

/// Where the logs of a build are.
fn logs(build: &BuildLine) -> impl Iterator<Item = &String> {
    let whole = match &build.outcome {
        BuildOutcome::Failed { log, .. } => log.as_ref(),
        BuildOutcome::Built => None,
    };
    build.layers.iter().filter_map(|layer| layer.log.as_ref()).chain(whole)
}

/// All doubts about these builds of a study, of which nothing need have been run.
pub(crate) fn doubts(study: &StudyLine, builds: &[BuildLine]) -> BuildDoubts {
    let (variants, factors) = (&study.variants, &study.build_factors);
    // That a flag never arrived may be why a variant is the same thing as another one, and shares its row.
    let all: Vec<VariantLine> = variants.iter().chain(study.shared.iter().map(|one| &one.variant)).cloned().collect();
    let flags = flags::flags(&all, factors, builds);
    let mut identical = alike::identical(variants, factors, builds);
    identical.iter_mut().for_each(|group| group.unproven = unproven(group, &flags));
    BuildDoubts {
        lost: lost::lost(&all, factors, builds),
        flags,
        identical,
        confounded: settings::confounded(variants, factors, builds),
        costs: costs(variants, builds),
    }
}

/// The appended words that did not win everywhere in the builds of a group: then these may be the same because of that, and
/// not because the words change nothing.
fn unproven(group: &Identical, flags: &[FlagDoubt]) -> Vec<String> {
    let concerns = |doubt: &&FlagDoubt| {
        is_appending(&doubt.variable) && doubt.variants.iter().any(|name| group.variants.contains(name))
    };
    let mut words: Vec<String> = flags.iter().filter(concerns).map(|doubt| doubt.flag.clone()).collect();
    words.dedup();
    words
}

/// The variants that are the same thing in all files and are run alike: racing them apart shows noise. Those whose
/// programs are the same but not their other files may differ in what these do.
pub(crate) fn same_files(study: &StudyLine, builds: &[BuildLine]) -> Vec<Vec<String>> {
    let groups = alike::identical(&study.variants, &study.build_factors, builds).into_iter();
    groups.filter(|group| group.same != Same::Binaries).map(|group| group.variants).collect()
}

/// Whether two variants differ in nothing but how they were built.
pub(crate) fn run_alike(study: &StudyLine, both: [&VariantLine; 2]) -> bool {
    alike::executed_alike(both[0], both[1], &study.build_factors)
}

fn costs(variants: &[VariantLine], builds: &[BuildLine]) -> Vec<CostDoubt> {
    let mut costs: Vec<CostDoubt> = vec![];
    for one in built(variants, builds) {
        for layer in &one.build.layers {
            let Some(kept_by) = &layer.compiler_cache else { continue };
            let same = |known: &&mut CostDoubt| (&known.layer, &known.compiler_cache) == (&layer.name, kept_by);
            match costs.iter_mut().find(same) {
                Some(known) => known.variants.push(one.variant.name.clone()),
                None => costs.push(CostDoubt {
                    layer: layer.name.clone(),
                    compiler_cache: kept_by.clone(),
                    variants: vec![one.variant.name.clone()],
                }),
            }
        }
    }
    costs
}

/// The doubts about the comparisons that rest on the builds concerned: those of variants, and all effects.
fn objections(study: &StudyLine, findings: &Findings, doubts: &BuildDoubts) -> Remarks {
    let variants: Vec<&VariantLine> = study.variants.iter().filter(|variant| variant.name != TWIN).collect();
    let Some((&baseline, others)) = variants.split_first() else { return Remarks::default() };
    let mut remarks = Remarks::default();
    for &variant in others {
        remarks.variants.push((variant.name.clone(), about_pair(doubts, baseline, variant)));
    }
    for effect in findings.effects.iter().flat_map(|family| &family.effects) {
        if remarks.effects.iter().all(|(known, _)| *known != effect.subject) {
            remarks.effects.push((effect.subject.clone(), about_subject(doubts, &variants, &effect.subject)));
        }
    }
    remarks
}

/// The doubts that concern an effect: those of the levels that it is about, or of its variant and what that is compared
/// with. Of a condition against another one there are none: it is the same build on both sides.
fn about_subject(doubts: &BuildDoubts, variants: &[&VariantLine], subject: &Subject) -> Vec<Objection> {
    let named = |name: &String| variants.iter().copied().find(|variant| variant.name == *name);
    match subject {
        Subject::Levels(steps) => {
            let mut objections: Vec<Objection> = vec![];
            for Step { factor, level, against } in steps {
                for objection in about_levels(doubts, variants, factor, [level, against]) {
                    if !objections.contains(&objection) {
                        objections.push(objection);
                    }
                }
            }
            objections
        }
        Subject::Variant { variant, against } => {
            let both = named(against).zip(named(variant));
            both.map_or(vec![], |(against, variant)| about_pair(doubts, against, variant))
        }
        Subject::Steps { .. } | Subject::Condition { .. } => vec![],
    }
}

/// The doubts that concern a variant and what it is compared with.
fn about_pair(doubts: &BuildDoubts, baseline: &VariantLine, variant: &VariantLine) -> Vec<Objection> {
    let as_what = if baseline.name == BASELINE { "the baseline" } else { baseline.name.as_str() };
    let pair = [baseline, variant];
    let flags = doubts.flags.iter().filter(|doubt| doubt.concerns(pair));
    let mut objections: Vec<Objection> = flags.filter_map(sentences::flag).collect();
    objections.extend(doubts.lost.iter().filter(|lost| lost.parts(pair)).map(sentences::lost));
    let same = doubts.identical.iter().find(|group| group.has(pair));
    objections.extend(same.map(|group| sentences::identical(group.same, as_what)));
    let settings: Vec<&Confounded> = doubts.confounded.iter().filter(|doubt| doubt.parts(pair)).collect();
    objections.extend(by_what_they_follow(&settings));
    objections
}

/// One doubt for all settings that follow the same factors, so that all variants with the same level have the same
/// footnote.
fn by_what_they_follow(settings: &[&Confounded]) -> Vec<Objection> {
    let way = |doubt: &&Confounded| (doubt.follows.clone(), doubt.together, doubt.comes_with().is_some());
    let ways: BTreeSet<(Vec<String>, bool, bool)> = settings.iter().map(way).collect();
    let of = |this: (Vec<String>, bool, bool)| {
        let of_this: Vec<&Confounded> = settings.iter().copied().filter(|doubt| way(doubt) == this).collect();
        sentences::confounded(&this.0, this.1, &of_this)
    };
    ways.into_iter().map(of).collect()
}

/// The doubts that concern two levels of a factor.
fn about_levels(doubts: &BuildDoubts, variants: &[&VariantLine], factor: &str, levels: [&str; 2]) -> Vec<Objection> {
    let has = |name: &String| {
        let variant = variants.iter().find(|variant| variant.name == *name);
        variant.and_then(|variant| variant.levels.get(factor)).is_some_and(|level| levels.contains(&level.as_str()))
    };
    let flags = doubts.flags.iter().filter(|doubt| doubt.factor.as_deref() == Some(factor));
    let flags = flags.filter(|doubt| doubt.variants.iter().any(has));
    let mut objections: Vec<Objection> = flags.filter_map(sentences::flag).collect();
    let settings: Vec<&Confounded> =
        doubts.confounded.iter().filter(|doubt| doubt.follows.iter().any(|one| one == factor)).collect();
    objections.extend(by_what_they_follow(&settings));
    let pairs = pairs(variants, factor, levels);
    let same =
        |pair: &[&VariantLine; 2]| doubts.identical.iter().find(|group| group.has(*pair)).map(|group| group.same);
    let same: Option<Vec<Same>> = pairs.iter().map(same).collect();
    let same =
        same.and_then(|all| if all.contains(&Same::Binaries) { Some(Same::Binaries) } else { all.first().copied() });
    objections.extend(same.map(|same| sentences::identical(same, &format!("with {factor}={}", levels[1]))));
    objections
}

/// The pairs of variants that differ in these two levels and in nothing else.
fn pairs<'a>(variants: &[&'a VariantLine], factor: &str, [level, reference]: [&str; 2]) -> Vec<[&'a VariantLine; 2]> {
    let has = |one: &VariantLine, level: &str| one.levels.get(factor).is_some_and(|own| own == level);
    let mut pairs = vec![];
    for one in variants.iter().filter(|one| has(one, level)) {
        let mut others = variants.iter().filter(|other| has(other, reference));
        pairs.extend(others.find(|other| but_for(one, factor) == but_for(other, factor)).map(|other| [*one, *other]));
    }
    pairs
}

/// The levels of a variant but for that of a factor.
fn but_for<'a>(variant: &'a VariantLine, factor: &str) -> Vec<&'a String> {
    variant.levels.iter().filter(|(name, _)| *name != factor).map(|(_, level)| level).collect()
}

/// Variants that are the same in all files and were judged different: like the baseline's twin, they show how far this
/// machine may be believed.
fn identical_differs(findings: &Findings, doubts: &BuildDoubts) -> Option<Objection> {
    let same = doubts.identical.iter().filter(|group| group.same != Same::Binaries);
    let groups: Vec<&Identical> = same.collect();
    let is_claimed = |comparison: &Comparison| matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
    let (mut differ, mut of) = (0, 0);
    let baseline = findings.variants.first()?;
    for table in &findings.tables {
        for group in &groups {
            let is_compared = group.variants.contains(&baseline.name);
            let rows = table.rows.iter().filter(|row| is_compared && group.variants.contains(&row.variant));
            let verdicts: Vec<bool> = rows.filter_map(|row| row.comparison.as_ref()).map(is_claimed).collect();
            of += verdicts.len();
            differ += verdicts.iter().filter(|claimed| **claimed).count();
            // The baseline's own pairs are counted already.
            let ranked =
                table.ranking.iter().filter(|_| !is_compared).flat_map(|ranking| apart(ranking, &group.variants));
            let ranked: Vec<bool> = ranked.collect();
            of += ranked.len();
            differ += ranked.iter().filter(|apart| **apart).count();
        }
    }
    (differ > 0).then(|| sentences::identical_differs(differ, of))
}

/// For each pair of these variants that is ranked, whether it is shown to differ.
fn apart(ranking: &Ranking, variants: &[String]) -> Vec<bool> {
    let letters =
        ranking.variants.iter().filter(|ranked| variants.contains(&ranked.variant)).map(|ranked| &ranked.letters);
    let letters: Vec<&String> = letters.collect();
    let pairs = letters.iter().enumerate().flat_map(|(i, one)| letters[i + 1..].iter().map(move |other| (one, other)));
    pairs.map(|(one, other)| !one.chars().any(|letter| other.contains(letter))).collect()
}

impl Building {
    /// The doubts about these builds of a study, as a page; empty if there is none.
    pub fn doubts(study: &StudyLine, builds: &[BuildLine], width: usize) -> String {
        build_doubts(&doubts(study, builds), width, false)
    }
}
