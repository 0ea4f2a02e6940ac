//! Variants that are the same thing: a comparison of them shows this machine's noise, as the baseline's twin does.

use super::built::{Built, built};
use super::kinds_of_doubts::{Identical, Same};
use crate::journal::BuildLine;
use bakeoff_model::record::{FactorLine, VariantLine};

/// All groups of such variants; those that are the same in all files first.
pub(super) fn identical(variants: &[VariantLine], factors: &[FactorLine], builds: &[BuildLine]) -> Vec<Identical> {
    // Without the factors it is not known whether variants differ in how they are run.
    if factors.is_empty() {
        return vec![];
    }
    let built = built(variants, builds);
    let mut groups = vec![];
    for same_build in [same_files as fn(&BuildLine, &BuildLine) -> bool, same_binaries] {
        let mut left: Vec<&Built<'_>> = built.iter().collect();
        while let Some(&first) = left.first() {
            let same = |one: &&Built<'_>| {
                executed_alike(first.variant, one.variant, factors) && same_build(first.build, one.build)
            };
            let (group, others): (Vec<_>, Vec<_>) = left.into_iter().partition(same);
            left = others;
            groups.extend(identical_of(&group, &groups));
        }
    }
    groups
}

fn identical_of(group: &[&Built<'_>], known: &[Identical]) -> Option<Identical> {
    let (first, others) = group.split_first()?;
    let same = if others.is_empty() {
        return None;
    } else if others.iter().all(|one| one.build.digest == first.build.digest) {
        Same::Build
    } else if others.iter().all(|one| same_files(first.build, one.build)) {
        Same::Files
    } else {
        Same::Binaries
    };
    let variants: Vec<String> = group.iter().map(|one| one.variant.name.clone()).collect();
    known.iter().all(|other| other.variants != variants).then_some(Identical { variants, same, unproven: vec![] })
}

fn same_files(one: &BuildLine, other: &BuildLine) -> bool {
    let [a, b] = [one, other].map(|build| &build.proof);
    one.digest == other.digest || (a.files.is_some() && a.files == b.files && a.binaries == b.binaries)
}

fn same_binaries(one: &BuildLine, other: &BuildLine) -> bool {
    let [a, b] = [one, other].map(|build| &build.proof);
    same_files(one, other) || (a.binaries.is_some() && a.binaries == b.binaries)
}

/// Whether two variants differ in nothing but how they were built.
pub(super) fn executed_alike(first: &VariantLine, other: &VariantLine, factors: &[FactorLine]) -> bool {
    let is_built = |name: &String| factors.iter().any(|factor| factor.name == *name);
    let run_levels = |variant: &VariantLine| -> Vec<(String, String)> {
        variant.levels.iter().filter(|(factor, _)| !is_built(factor)).map(|(f, l)| (f.clone(), l.clone())).collect()
    };
    (&first.run, run_levels(first)) == (&other.run, run_levels(other))
}
