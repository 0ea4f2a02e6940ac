//! Words that a level took away from source files: `make CFLAGS=-O3` replaces what the project's own `CFLAGS` said, and the
//! program that comes of it is another one. Levels that only differ in flags are compared with the one that leaves the
//! project's flags alone, or with each other if there is none.

use super::built::{Built, built};
use super::kinds_of_doubts::{Lost, LostWord};
use crate::journal::{BuildLine, is_appending};
use bakeoff_model::record::{FactorLine, VariantLine};
use std::collections::{BTreeMap, BTreeSet};

/// Every loss, with the variants that have it.
pub(super) fn lost(variants: &[VariantLine], factors: &[FactorLine], builds: &[BuildLine]) -> Vec<Lost> {
    let built = built(variants, builds);
    let levels = Levels { factors, flags: flags(builds) };
    let mut all: Vec<Lost> = vec![];
    for one in &built {
        // Backwards, because of several that have as much the last is taken.
        let others = built.iter().rev().filter(|other| levels.may_lose(one.variant, other.variant));
        let losses = others.map(|other| (other, words(one, other, &levels)));
        // That of the one which has most of what this one lacks.
        let Some((against, words)) = losses.filter(|(_, words)| !words.is_empty()).max_by_key(|(_, words)| words.len())
        else {
            continue;
        };
        let (name, against) = (one.variant.name.clone(), against.variant.name.clone());
        match all.iter_mut().find(|known| known.words == words && known.against == against) {
            Some(known) => known.variants.push(name),
            None => all.push(Lost { variants: vec![name], against, words }),
        }
    }
    all
}

/// The variables of levels that are known to hold flags: a build's record names each that had one.
fn flags(builds: &[BuildLine]) -> BTreeSet<&str> {
    let seen = builds.iter().flat_map(|build| &build.proof.flags).map(|seen| seen.variable.as_str());
    seen.filter(|name| !["CC", "CXX", "LD"].contains(name)).collect()
}

/// The words that another build gives to files and this one does not, those of most files first.
fn words(one: &Built<'_>, other: &Built<'_>, levels: &Levels<'_>) -> Vec<LostWord> {
    let said: BTreeSet<String> = [one.variant, other.variant].into_iter().flat_map(|of| levels.words(of)).collect();
    let mut files: BTreeMap<&String, u64> = BTreeMap::new();
    for (file, words) in &other.build.proof.words {
        let own = one.build.proof.words.get(file);
        let lacks = |word: &&String| own.is_none_or(|own| !own.contains(*word)) && !said.contains(*word);
        words.iter().filter(lacks).for_each(|word| *files.entry(word).or_default() += 1);
    }
    let mut lost: Vec<LostWord> =
        files.into_iter().map(|(word, files)| LostWord { word: word.clone(), files }).collect();
    lost.sort_by_key(|lost| std::cmp::Reverse(lost.files));
    lost
}

/// What the levels of variants say.
struct Levels<'a> {
    factors: &'a [FactorLine],
    flags: BTreeSet<&'a str>,
}

impl Levels<'_> {
    /// Whether two variants differ in flags and in nothing else that concerns building, and the first is not the one that
    /// leaves the project's flags alone.
    fn may_lose(&self, one: &VariantLine, other: &VariantLine) -> bool {
        let mut differing =
            self.factors.iter().filter(|factor| one.levels.get(&factor.name) != other.levels.get(&factor.name));
        let is_of_flags = |factor: &FactorLine| {
            let mut keys = factor.levels.values().flat_map(|level| level.keys());
            !factor.takes_sources && keys.all(|key| self.flags.contains(key.as_str()) || is_appending(key))
        };
        let is_plain = |factor: &FactorLine| {
            let level = one.levels.get(&factor.name).and_then(|level| factor.levels.get(level));
            level.is_none_or(|level| level.values().all(|value| value.trim().is_empty()))
        };
        one.name != other.name
            && one.levels != other.levels
            && differing.clone().any(|factor| !is_plain(factor))
            && differing.all(is_of_flags)
    }

    /// The words of a variant's levels: that these are in one build and not in another is what the study wants.
    fn words(&self, variant: &VariantLine) -> Vec<String> {
        let levels = self.factors.iter().filter_map(|factor| factor.levels.get(variant.levels.get(&factor.name)?));
        let words = levels.flat_map(|level| level.values()).flat_map(|value| value.split_whitespace());
        words.map(|word| word.replace(['"', '\'', '\\'], "")).collect()
    }
}
