//! Builds compared with what the study says of them: did the flags of its levels come through, are there variants that
//! are the same thing, did levels take words away, and do builds differ in something that no factor names? A doubt about a build is a caveat of
//! every comparison that rests on it. How anything was built is not known here, only what was seen of it.

mod alike;
mod built;
mod flags;
mod lost;
mod names;
mod settings;

pub(super) use built::latest;

use crate::findings::{
    BuildDoubts, Caveat, Comparison, Confounded, CostDoubt, Effects, Findings, Flag, FlagDoubt, FlagFate, Identical,
    Lost, Other, Ranking, Same, SettingChange, Step, Subject, Table, Verdict,
};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{BuildLine, StudyLine, TWIN, VariantLine, is_appending};
use built::built;
use std::collections::BTreeSet;

/// All doubts about these builds of a study, of which nothing need have been executed.
pub fn doubts(study: &StudyLine, builds: &[BuildLine]) -> BuildDoubts {
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

/// The variants that are the same thing in all files and are executed alike: racing them apart shows noise. Those whose
/// programs are the same but not their other files may differ in what these do.
pub fn same_files(study: &StudyLine, builds: &[BuildLine]) -> Vec<Vec<String>> {
    let groups = alike::identical(&study.variants, &study.build_factors, builds).into_iter();
    groups.filter(|group| group.same != Same::Binaries).map(|group| group.variants).collect()
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

/// Adds the doubts as caveats to the comparisons that rest on the builds concerned: those of variants, and all effects.
pub(super) fn warn(doubts: &BuildDoubts, tables: &mut [Table], families: &mut [Effects], study: &StudyLine) {
    let variants: Vec<&VariantLine> = study.variants.iter().filter(|variant| variant.name != TWIN).collect();
    let Some((&baseline, others)) = variants.split_first() else { return };
    for &variant in others {
        let caveats = about_pair(doubts, baseline, variant);
        let rows = tables.iter_mut().flat_map(|table| &mut table.rows);
        let comparisons = rows.filter(|row| row.variant == variant.name).filter_map(|row| row.comparison.as_mut());
        comparisons.for_each(|comparison| comparison.caveats.extend(caveats.iter().cloned()));
    }
    for effect in families.iter_mut().flat_map(|family| &mut family.effects) {
        let caveats = about_subject(doubts, &variants, &effect.subject);
        effect.comparison.iter_mut().for_each(|comparison| comparison.caveats.extend(caveats.iter().cloned()));
    }
}

/// The doubts that concern an effect: those of the levels that it is about, or of its variant and what that is compared
/// with. Of a condition against another one there are none: it is the same build on both sides.
fn about_subject(doubts: &BuildDoubts, variants: &[&VariantLine], subject: &Subject) -> Vec<Caveat> {
    let named = |name: &String| variants.iter().copied().find(|variant| variant.name == *name);
    match subject {
        Subject::Levels(steps) => {
            let mut caveats: Vec<Caveat> = vec![];
            for Step { factor, level, against } in steps {
                for caveat in about_levels(doubts, variants, factor, [level, against]) {
                    if !caveats.contains(&caveat) {
                        caveats.push(caveat);
                    }
                }
            }
            caveats
        }
        Subject::Variant { variant, against } => {
            let both = named(against).zip(named(variant));
            both.map_or(vec![], |(against, variant)| about_pair(doubts, against, variant))
        }
        Subject::Steps { .. } | Subject::Condition { .. } => vec![],
    }
}

/// The doubts that concern a variant and what it is compared with.
fn about_pair(doubts: &BuildDoubts, baseline: &VariantLine, variant: &VariantLine) -> Vec<Caveat> {
    let as_what = || if baseline.name == BASELINE { Other::Baseline } else { Other::Variant(baseline.name.clone()) };
    let differs = |factor: &Option<String>| match factor {
        Some(factor) => baseline.levels.get(factor) != variant.levels.get(factor),
        None => true,
    };
    let concerns = |doubt: &&FlagDoubt| {
        let either = doubt.variants.contains(&variant.name) || doubt.variants.contains(&baseline.name);
        either && differs(&doubt.factor)
    };
    let mut caveats: Vec<Caveat> = doubts.flags.iter().filter(concerns).filter_map(flag).collect();
    let parts = |lost: &&Lost| {
        let of = |name: &String, other: &String| lost.variants.contains(name) && lost.against == *other;
        of(&variant.name, &baseline.name) || of(&baseline.name, &variant.name)
    };
    caveats.extend(doubts.lost.iter().filter(parts).map(|lost| Caveat::WordsLost(lost.clone())));
    let of_both = |group: &&Identical| [baseline, variant].iter().all(|one| group.variants.contains(&one.name));
    caveats.extend(
        doubts.identical.iter().find(of_both).map(|group| Caveat::Identical { same: group.same, as_what: as_what() }),
    );
    let value_of =
        |doubt: &Confounded, name: &String| doubt.values.iter().position(|value| value.variants.contains(name));
    let differ = |doubt: &&Confounded| value_of(doubt, &baseline.name) != value_of(doubt, &variant.name);
    let settings: Vec<&Confounded> = doubts.confounded.iter().filter(differ).collect();
    caveats.extend(by_what_they_follow(&settings));
    caveats
}

/// One caveat for all settings that follow the same factors, so that all variants with the same level have the same
/// footnote.
fn by_what_they_follow(settings: &[&Confounded]) -> Vec<Caveat> {
    let way = |doubt: &&Confounded| (doubt.follows.clone(), doubt.together, doubt.comes_with().is_some());
    let ways: BTreeSet<(Vec<String>, bool, bool)> = settings.iter().map(way).collect();
    let of = |this: (Vec<String>, bool, bool)| {
        let of_this: Vec<&Confounded> = settings.iter().copied().filter(|doubt| way(doubt) == this).collect();
        confounded(&this.0, this.1, &of_this)
    };
    ways.into_iter().map(of).collect()
}

/// The doubts that concern two levels of a factor.
fn about_levels(doubts: &BuildDoubts, variants: &[&VariantLine], factor: &str, levels: [&str; 2]) -> Vec<Caveat> {
    let has = |name: &String| {
        let variant = variants.iter().find(|variant| variant.name == *name);
        variant.and_then(|variant| variant.levels.get(factor)).is_some_and(|level| levels.contains(&level.as_str()))
    };
    let concerns = |doubt: &&FlagDoubt| doubt.factor.as_deref() == Some(factor) && doubt.variants.iter().any(has);
    let mut caveats: Vec<Caveat> = doubts.flags.iter().filter(concerns).filter_map(flag).collect();
    let settings: Vec<&Confounded> =
        doubts.confounded.iter().filter(|doubt| doubt.follows.iter().any(|one| one == factor)).collect();
    caveats.extend(by_what_they_follow(&settings));
    let pairs = pairs(variants, factor, levels);
    let same = |pair: &[&VariantLine; 2]| {
        let mut groups = doubts.identical.iter();
        groups.find(|group| pair.iter().all(|one| group.variants.contains(&one.name))).map(|group| group.same)
    };
    let same: Option<Vec<Same>> = pairs.iter().map(same).collect();
    let same =
        same.and_then(|all| if all.contains(&Same::Binaries) { Some(Same::Binaries) } else { all.first().copied() });
    caveats.extend(same.map(|same| Caveat::Identical {
        same,
        as_what: Other::Level { factor: factor.to_owned(), level: levels[1].to_owned() },
    }));
    caveats
}

/// The pairs of variants that differ in these two levels and in nothing else.
fn pairs<'a>(variants: &[&'a VariantLine], factor: &str, [level, reference]: [&str; 2]) -> Vec<[&'a VariantLine; 2]> {
    let with = |level: &str| {
        let all = variants.iter().copied().filter(|one| one.levels.get(factor).is_some_and(|own| own == level));
        all.collect::<Vec<_>>()
    };
    let others = with(reference);
    let partner = |one: &'a VariantLine| {
        let same = |other: &&VariantLine| {
            let rest = |line: &VariantLine| {
                line.levels.iter().filter(|(f, _)| *f != factor).map(|(_, l)| l.clone()).collect::<Vec<_>>()
            };
            rest(one) == rest(other)
        };
        others.iter().copied().find(same).map(|other| [one, other])
    };
    with(level).into_iter().filter_map(partner).collect()
}

/// None for one that came through in part.
fn flag(doubt: &FlagDoubt) -> Option<Caveat> {
    let FlagDoubt { flag, variable, layer, reached, of, fate, .. } = doubt;
    let flag = |of: u64| Flag { flag: flag.clone(), variable: variable.clone(), layer: layer.clone(), of };
    match fate {
        FlagFate::NeverArrived => Some(Caveat::FlagNeverArrived(flag(*of))),
        FlagFate::Overridden { by } => Some(Caveat::FlagOverridden { flag: flag(*reached), by: by.clone() }),
        FlagFate::Partly | FlagFate::LeftBefore { .. } => None,
    }
}

fn confounded(follows: &[String], together: bool, settings: &[&Confounded]) -> Caveat {
    let changes = settings.iter().map(|doubt| SettingChange::from(*doubt)).collect();
    match settings.first().and_then(|doubt| doubt.comes_with()) {
        Some(factor) => Caveat::AlsoChanges { factor: factor.to_owned(), settings: changes },
        None => Caveat::Confounded { follows: follows.to_vec(), together, settings: changes },
    }
}

/// Variants that are the same in all files and were judged different: like the baseline's twin, they show how far this
/// machine may be believed.
pub(super) fn identical_differs(findings: &Findings) -> Option<Caveat> {
    let same = findings.build_doubts.identical.iter().filter(|group| group.same != Same::Binaries);
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
    (differ > 0).then_some(Caveat::IdenticalDiffers { differ, of })
}

/// For each pair of these variants that is ranked, whether it is shown to differ.
fn apart(ranking: &Ranking, variants: &[String]) -> Vec<bool> {
    let letters =
        ranking.variants.iter().filter(|ranked| variants.contains(&ranked.variant)).map(|ranked| &ranked.letters);
    let letters: Vec<&String> = letters.collect();
    let pairs = letters.iter().enumerate().flat_map(|(i, one)| letters[i + 1..].iter().map(move |other| (one, other)));
    pairs.map(|(one, other)| !one.chars().any(|letter| other.contains(letter))).collect()
}
