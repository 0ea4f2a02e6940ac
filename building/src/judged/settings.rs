//! Settings in which builds differ, and which factor they follow. It compares what the study's commands described; what
//! a setting means is nobody's business here.

use super::built::{Built, built};
use super::kinds_of_doubts::{Confounded, SettingValue};
use super::names::Names;
use crate::journal::BuildLine;
use bakeoff_model::record::{FactorLine, VariantLine};
use std::collections::{BTreeMap, BTreeSet};

/// A setting that takes more factors than these to explain counts as one that none explains.
const MOST_TOGETHER: usize = 3;

/// Every setting in which builds differ and that no factor names, by name.
pub(super) fn confounded(variants: &[VariantLine], factors: &[FactorLine], builds: &[BuildLine]) -> Vec<Confounded> {
    let built = built(variants, builds);
    // A factor of which one level is built explains nothing.
    let varies = |factor: &&FactorLine| {
        let level = |one: &Built<'_>| one.variant.levels.get(&factor.name).cloned();
        built.iter().map(level).collect::<BTreeSet<_>>().len() > 1
    };
    let factors: Vec<&FactorLine> = factors.iter().filter(varies).collect();
    let names: Vec<Names<'_>> = factors.iter().map(|factor| Names::of(factor)).collect();
    let settings: BTreeSet<&String> = built.iter().flat_map(|one| one.build.proof.described.keys()).collect();
    settings.into_iter().filter_map(|setting| of(setting, &built, &factors, &names)).collect()
}

/// The doubt about one setting; none if the builds do not differ in it, or if the factors that name it explain it.
fn of(setting: &str, built: &[Built<'_>], factors: &[&FactorLine], names: &[Names<'_>]) -> Option<Confounded> {
    let values: Vec<Option<&str>> =
        built.iter().map(|one| one.build.proof.described.get(setting).map(String::as_str)).collect();
    let [first, others @ ..] = values.as_slice() else { return None };
    if others.iter().all(|value| value == first) {
        return None;
    }
    let named = |&(_, names): &(&&FactorLine, &Names<'_>)| names.name(setting, &values);
    let (naming, silent): (Vec<_>, Vec<_>) = factors.iter().zip(names).partition(named);
    let naming: Vec<&str> = naming.iter().map(|(factor, _)| factor.name.as_str()).collect();
    let with = |more: &[&str]| is_explained(built, &values, &[naming.as_slice(), more].concat());
    if with(&[]) {
        return None;
    }
    let silent: Vec<&str> = silent.iter().map(|(factor, _)| factor.name.as_str()).collect();
    let alone: Vec<&str> = silent.iter().copied().filter(|factor| with(&[factor])).collect();
    // All factors together tell every build from every other, and so would explain a date.
    let left_over = factors.len() - naming.len();
    let few = (2..=MOST_TOGETHER).filter(|&number| number < left_over).flat_map(|number| subsets(&silent, number));
    let several = if alone.is_empty() { few.into_iter().find(|some| with(some)) } else { None };
    let together = several.is_some();
    let follows: Vec<String> = several.unwrap_or(alone).into_iter().map(str::to_owned).collect();
    let values = values_with_levels(built, &values, follows.first().filter(|_| !together));
    // Of another source everything may be different, so that nobody misses its name.
    let of_sources: Vec<&str> =
        factors.iter().filter(|factor| factor.takes_sources).map(|factor| &*factor.name).collect();
    let named_by = naming.into_iter().filter(|name| !of_sources.contains(name)).map(str::to_owned).collect();
    Some(Confounded { setting: setting.to_owned(), follows, together, named_by, values })
}

/// Whether builds with the same levels of these factors have the same value.
fn is_explained(built: &[Built<'_>], values: &[Option<&str>], factors: &[&str]) -> bool {
    let mut seen: BTreeMap<Vec<Option<&String>>, Option<&str>> = BTreeMap::new();
    built.iter().zip(values).all(|(one, value)| {
        let levels = factors.iter().map(|factor| one.variant.levels.get(*factor)).collect();
        *seen.entry(levels).or_insert(*value) == *value
    })
}

/// The values with their variants, and with the levels of a factor that go with them.
fn values_with_levels(built: &[Built<'_>], values: &[Option<&str>], factor: Option<&String>) -> Vec<SettingValue> {
    let mut all: Vec<SettingValue> = vec![];
    for (one, value) in built.iter().zip(values) {
        let at = all.iter().position(|known| known.value.as_deref() == *value).unwrap_or_else(|| {
            all.push(SettingValue { value: value.map(str::to_owned), levels: vec![], variants: vec![] });
            all.len() - 1
        });
        all[at].variants.push(one.variant.name.clone());
        let level = factor.and_then(|factor| one.variant.levels.get(factor));
        let level = level.filter(|level| !all[at].levels.contains(level)).cloned();
        all[at].levels.extend(level);
    }
    all
}

/// All choices of this many of them, each in their order.
fn subsets<'a>(of: &[&'a str], number: usize) -> Vec<Vec<&'a str>> {
    match (number, of) {
        (0, _) => vec![vec![]],
        (_, []) => vec![],
        (_, [first, rest @ ..]) => {
            let with_first = subsets(rest, number - 1).into_iter().map(|rest| [&[*first], rest.as_slice()].concat());
            with_first.chain(subsets(rest, number)).collect()
        }
    }
}
