//! Checks that need more than one part of the file at once.

use super::factors::PlacedFactor;
use super::section::{Section, Sink};
use crate::study::{PlanSpec, Recipe, Vary};
use std::ops::Range;
use std::sync::Arc;

/// The sections about what is built, which a [`super::RecipeReader`] reads.
pub(super) const BUILT: [&str; 2] = ["sources", "build"];

/// Refuses what only a [`super::RecipeReader`] could read, if there is none.
pub(super) fn nothing_is_built(file: &Section<'_>, plans: &[PlanSpec]) -> Option<Arc<dyn Recipe>> {
    let needs_it = |plan: &PlanSpec| plan.rebuild > 0 || plan.vary.contains(&Vary::LinkOrder);
    let plans = plans.iter().any(needs_it).then(|| file.place_of("plan").or(file.place_of("plans"))).flatten();
    let places = BUILT.iter().chain(&["build_factors"]).filter_map(|key| file.place_of(key));
    for place in places.chain(plans) {
        let remedy = "compile Bakeoff with its default feature `building`";
        file.sink.report(place, "this Bakeoff was compiled without the feature `building`", "", remedy);
    }
    None
}

/// Of two factors that set the same variable one would silently win, and the other's levels would be the same.
pub(super) fn variables_have_one_factor(sink: &Sink, factors: &[PlacedFactor<'_>]) {
    for (place, factor) in factors.iter().enumerate() {
        for (variable, span) in &factor.variables {
            let sets = |other: &&PlacedFactor<'_>| other.variables.iter().any(|(name, _)| name == variable);
            if let Some(other) = factors[..place].iter().find(sets) {
                let message = format!("factor `{}` also sets the variable `{variable}`", other.factor.name);
                let remedy = "use a different variable in each factor, and combine them in the script";
                sink.report(span.clone(), &message, "only one of these can take effect", remedy);
            }
        }
    }
}

/// Every variant boots, or none does: a kernel is named by each level of one factor, or by no level. Where the first is
/// named.
pub(super) fn every_level_boots(sink: &Sink, factors: &[PlacedFactor<'_>]) -> Option<Range<usize>> {
    let mut booting =
        factors.iter().map(|placed| (placed, placed.places("kernel"))).filter(|(_, places)| !places.is_empty());
    let (factor, kernels) = booting.next()?;
    let missing = factor.factor.levels.iter().filter(|level| level.kernel.is_none()).map(|level| level.name.as_str());
    let missing: Vec<&str> = missing.collect();
    if kernels.len() < factor.factor.levels.len() {
        let levels = if missing.len() == 1 { "level" } else { "levels" };
        let message = format!("factor `{}` has no `kernel` in {levels} {}", factor.factor.name, missing.join(", "));
        let remedy = "give each level of the factor a `kernel`, or remove `kernel` from all of them";
        sink.report(factor.span.clone(), &message, "", remedy);
    }
    for (_, others) in booting {
        let message = format!("factor `{}` already names the kernel", factor.factor.name);
        let remedy = "name the kernel in only one factor; any factor may change how the kernel is built";
        sink.report(others[0].clone(), &message, "", remedy);
    }
    kernels.first().cloned()
}

/// In a boot, no single trial can be repeated, and nothing is built.
pub(super) fn boots_allow_it(file: &Section<'_>, plans: &[PlanSpec], kernel: Option<&Range<usize>>) {
    if kernel.is_none() {
        return;
    }
    let at = file.place_of("plan").or(file.place_of("plans")).unwrap_or_default();
    if plans.iter().any(|plan| plan.rebuild > 0) {
        let remedy = "remove `rebuild`; the report shows the cost of each build";
        file.sink.report(at, "cannot measure `rebuild` in a study that boots kernels", "", remedy);
    }
}
