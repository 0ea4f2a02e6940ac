//! Flags that levels declare and that did not come through to the compiler or linker.

use super::built::built;
use crate::findings::{FlagDoubt, FlagFate};
use bakeoff_model::record::{BuildLine, FactorLine, FlagSeen, VariantLine};

/// Every such flag, with the variants that it concerns.
pub(super) fn flags(variants: &[VariantLine], factors: &[FactorLine], builds: &[BuildLine]) -> Vec<FlagDoubt> {
    let mut doubts: Vec<FlagDoubt> = vec![];
    for one in built(variants, builds) {
        for seen in &one.build.proof.flags {
            let Some(fate) = fate(seen) else { continue };
            let name = &one.variant.name;
            let same = |known: &&mut FlagDoubt| {
                (&known.layer, &known.variable, &known.flag, &known.fate)
                    == (&seen.layer, &seen.variable, &seen.flag, &fate)
            };
            match doubts.iter_mut().find(same) {
                Some(known) => known.variants.push(name.clone()),
                None => doubts.push(FlagDoubt {
                    variants: vec![name.clone()],
                    factor: factor_of(factors, &seen.variable),
                    layer: seen.layer.clone(),
                    variable: seen.variable.clone(),
                    flag: seen.flag.clone(),
                    reached: if fate == FlagFate::Partly { effective(seen) } else { seen.reached },
                    fate,
                    of: seen.of,
                }),
            }
        }
    }
    doubts.sort_by_key(|doubt| match doubt.fate {
        FlagFate::NeverArrived => 0,
        FlagFate::Overridden { .. } => 1,
        FlagFate::Partly => 2,
    });
    doubts
}

/// What is to be said of a flag; none if it came through, or if nothing was seen.
fn fate(seen: &FlagSeen) -> Option<FlagFate> {
    if seen.of == 0 {
        return None;
    }
    match effective(seen) {
        0 if seen.reached == 0 => Some(FlagFate::NeverArrived),
        0 => Some(FlagFate::Overridden { by: seen.overridden_by.clone() }),
        effective if 2 * effective < seen.of => Some(FlagFate::Partly),
        _ => None,
    }
}

/// Those that had it, and nothing that overrides it.
fn effective(seen: &FlagSeen) -> u64 {
    seen.reached.saturating_sub(seen.overridden)
}

fn factor_of(factors: &[FactorLine], variable: &str) -> Option<String> {
    let has = |factor: &&FactorLine| factor.levels.values().any(|level| level.contains_key(variable));
    factors.iter().find(has).map(|factor| factor.name.clone())
}
