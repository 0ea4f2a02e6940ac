//! Flags that levels declare and that did not come through to the compiler or linker.

use super::built::{Built, built};
use super::kinds_of_doubts::{FlagDoubt, FlagFate};
use crate::bolt::KEY;
use crate::journal::{BuildLine, FlagSeen, LayerLine, PROFILE, is_appending};
use bakeoff_model::record::{FactorLine, VariantLine};

/// The instruction whose words are for rustc, and not for the calls that a layer's `compilations` count.
const RUSTFLAGS: &str = "rustflags";

/// Every such flag, with the variants that it concerns.
pub(super) fn flags(variants: &[VariantLine], factors: &[FactorLine], builds: &[BuildLine]) -> Vec<FlagDoubt> {
    let mut doubts: Vec<FlagDoubt> = vec![];
    let built = built(variants, builds);
    for one in &built {
        let mut all = of_build(one, &built, factors);
        all.extend(compiler(one, factors));
        for seen in &all {
            let Some(fate) = fate(seen, one) else { continue };
            let name = &one.variant.name;
            let same = |known: &&mut FlagDoubt| {
                (&known.layer, &known.variable, &known.flag, &known.fate)
                    == (&seen.layer, &seen.variable, &seen.flag, &fate)
            };
            match doubts.iter_mut().find(same) {
                Some(known) => known.variants.push(name.clone()),
                None => doubts.push(FlagDoubt {
                    variants: vec![name.clone()],
                    factor: factor_of(factors, seen),
                    layer: seen.layer.clone(),
                    variable: seen.variable.clone(),
                    flag: seen.flag.clone(),
                    reached: if matches!(fate, FlagFate::Partly | FlagFate::LeftBefore { .. }) {
                        effective(seen)
                    } else {
                        seen.reached
                    },
                    fate,
                    of: seen.of,
                    unseen: if seen.is_appended() { unseen(one, &seen.layer) } else { 0 },
                }),
            }
        }
    }
    doubts.sort_by_key(|doubt| match doubt.fate {
        FlagFate::NeverArrived => 0,
        FlagFate::Overridden { .. } => 1,
        FlagFate::LeftBefore { .. } => 2,
        FlagFate::Partly => 3,
    });
    doubts
}

/// How far the flags of a build came. Of an appended flag, and of a profile, a compilation that was seen in the build of another level and
/// not in this one counts as one that it did not reach: a cache may have answered in the compiler's place. If no layer had
/// a call that the flag is for, the first one stands for all.
fn of_build(one: &Built<'_>, built: &[Built<'_>], factors: &[FactorLine]) -> Vec<FlagSeen> {
    let all = &one.build.proof.flags;
    let mut seen: Vec<FlagSeen> = vec![];
    for flag in all {
        let mut flag = flag.clone();
        if flag.is_appended() || flag.is_of_profile() {
            let is_for_all = flag.variable == RUSTFLAGS || Some(flag.of) == compilations(one, &flag.layer);
            let others = built.iter().filter(|other| differ_in_tuning(one.variant, other.variant, factors));
            let most = others.filter_map(|other| calls(other, &flag)).max().unwrap_or(0);
            // What is for links, or for one language, has another number.
            if is_for_all {
                flag.of = calls(one, &flag).unwrap_or(0).max(most);
            }
        }
        seen.push(flag);
    }
    let is_repeated = |at: usize| {
        let flag = &seen[at];
        let of_others = |flag: &FlagSeen| seen.iter().any(|other| same_flag(flag, other) && other.of > 0);
        flag.of == 0 && (of_others(flag) || seen[..at].iter().any(|other| same_flag(flag, other)))
    };
    (0..seen.len()).filter(|&at| !is_repeated(at)).map(|at| seen[at].clone()).collect()
}

fn same_flag(one: &FlagSeen, other: &FlagSeen) -> bool {
    (&one.variable, &one.flag) == (&other.variable, &other.flag)
}

/// Calls of a flag's layer that should have had it; none if the record does not say.
fn calls(one: &Built<'_>, flag: &FlagSeen) -> Option<u64> {
    match flag.variable.as_str() {
        RUSTFLAGS => of_rust(one, &flag.layer),
        _ => compilations(one, &flag.layer).map(|seen| seen + unseen(one, &flag.layer)),
    }
}

/// Compilations that were seen in a layer; none if the record does not say.
fn compilations(one: &Built<'_>, layer: &str) -> Option<u64> {
    one.build.layers.iter().find(|known| known.name == layer)?.compilations
}

/// Objects in a layer of compilers that were not called through the wrapper.
fn unseen(one: &Built<'_>, layer: &str) -> u64 {
    one.build.proof.unseen.get(layer).copied().unwrap_or(0)
}

/// Crates whose compilation was seen in a layer; none if nothing was appended there.
fn of_rust(one: &Built<'_>, layer: &str) -> Option<u64> {
    let seen = one.build.proof.flags.iter().filter(|seen| seen.variable == RUSTFLAGS && seen.layer == layer);
    seen.map(|seen| seen.of).max()
}

/// Whether two variants differ, as far as building goes, in nothing but what is appended, the compiler, a profile, or BOLT.
fn differ_in_tuning(one: &VariantLine, other: &VariantLine, factors: &[FactorLine]) -> bool {
    let is_tuning = |factor: &&FactorLine| {
        let mut keys = factor.levels.values().flat_map(|level| level.keys());
        !factor.takes_sources
            && keys.all(|key| is_appending(key) || key == "compiler" || [PROFILE, KEY].contains(&key.as_str()))
    };
    let mut differing = factors.iter().filter(|factor| one.levels.get(&factor.name) != other.levels.get(&factor.name));
    differing.all(|factor| is_tuning(&factor))
}

/// What is to be said of a flag; none if it came through, or if nothing was seen. An appended flag should come through
/// everywhere; that a file has no profile may be right, because it belongs to a program that was not run.
fn fate(seen: &FlagSeen, one: &Built<'_>) -> Option<FlagFate> {
    let is_appended = seen.is_appended();
    let left = one.build.proof.left_before.get(&seen.layer).filter(|_| seen.variable != RUSTFLAGS);
    if let Some(files) = left.filter(|_| effective(seen) > 0) {
        return Some(FlagFate::LeftBefore { files: files.iter().cloned().collect() });
    }
    if seen.of == 0 {
        return is_appended.then_some(FlagFate::NeverArrived);
    }
    match effective(seen) {
        0 if seen.reached == 0 => Some(FlagFate::NeverArrived),
        0 => Some(FlagFate::Overridden { by: seen.overridden_by.clone() }),
        effective if 2 * effective < seen.of || (is_appended && effective < seen.of) => Some(FlagFate::Partly),
        _ => None,
    }
}

/// The compiler that a level names, as if it were a flag, in the layers of which a part was there before.
fn compiler(one: &Built<'_>, factors: &[FactorLine]) -> Vec<FlagSeen> {
    const COMPILER: &str = "compiler";
    let level = |factor: &FactorLine| factor.levels.get(one.variant.levels.get(&factor.name)?)?.get(COMPILER).cloned();
    let Some(flag) = factors.iter().find_map(level) else { return vec![] };
    let layers = one.build.layers.iter().filter(|layer| one.build.proof.left_before.contains_key(&layer.name));
    let of = |layer: &LayerLine| {
        let (layer, of) = (layer.name.clone(), layer.compilations.unwrap_or(0).max(1));
        FlagSeen { layer, variable: COMPILER.to_owned(), flag: flag.clone(), reached: of, of, ..FlagSeen::default() }
    };
    layers.map(of).collect()
}

/// Those that had it, and nothing that overrides it.
fn effective(seen: &FlagSeen) -> u64 {
    seen.reached.saturating_sub(seen.overridden)
}

/// The factor that has the flag: of several that append, the one whose words it is among.
fn factor_of(factors: &[FactorLine], seen: &FlagSeen) -> Option<String> {
    let texts = |factor: &FactorLine| -> Vec<String> {
        factor.levels.values().filter_map(|level| level.get(&seen.variable)).cloned().collect()
    };
    let has = |factor: &&FactorLine| texts(factor).iter().any(|text| text.split(' ').any(|word| word == seen.flag));
    let found = factors.iter().find(has).or_else(|| factors.iter().find(|factor| !texts(factor).is_empty()));
    found.map(|factor| factor.name.clone())
}
