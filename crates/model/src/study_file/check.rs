//! Checks that need more than one part of the file at once.

use super::factors::PlacedFactor;
use super::section::{Section, Sink};
use crate::problem::suggest;
use crate::record::Building;
use crate::study::{Layer, PlanSpec, Vary, Workload};
use std::ops::Range;

/// A build variable that no script mentions cannot take effect: the level would be a lie.
pub(super) fn variables_are_used(sink: &Sink, factors: &[PlacedFactor], layers: &[Layer]) {
    if layers.is_empty() {
        if let Some(factor) = factors.first() {
            let remedy = "add a `[[build]]` layer whose script uses the variables of its levels";
            sink.report(factor.span.clone(), "there are build factors, but nothing is built", "", remedy);
        }
        return;
    }
    let levels = || factors.iter().flat_map(|placed| &placed.factor.levels);
    for (variable, span) in factors.iter().flat_map(|f| &f.variables) {
        let trains = |layer: &Layer| levels().any(|level| level.tuning.mentions(&layer.name, variable));
        if !layers.iter().any(|layer| layer.mentions(variable) || trains(layer)) {
            let remedy = format!("use `${variable}` in a script or verify line of a [[build]] layer, or leave it out");
            sink.report(span.clone(), &format!("no layer uses the variable `{variable}`"), "no effect", &remedy);
        }
    }
}

/// Of two factors that set the same variable one would silently win, and the other's levels would be the same.
pub(super) fn variables_have_one_factor(sink: &Sink, factors: &[PlacedFactor]) {
    for (place, factor) in factors.iter().enumerate() {
        for (variable, span) in &factor.variables {
            let sets = |other: &&PlacedFactor| other.variables.iter().any(|(name, _)| name == variable);
            if let Some(other) = factors[..place].iter().find(sets) {
                let message = format!("factor `{}` sets the variable `{variable}` too", other.factor.name);
                let remedy = "give each factor variables of its own, and put them together in the script";
                sink.report(span.clone(), &message, "only one could win", remedy);
            }
        }
    }
}

/// What a layer says of a factor, or of a level's variable, must be of one that there is.
pub(super) fn layers_name_what_there_is(file: &Section<'_>, factors: &[PlacedFactor], layers: &[Layer]) {
    let names = || factors.iter().map(|placed| placed.factor.name.as_str());
    let variables = || factors.iter().flat_map(|placed| &placed.variables).map(|(name, _)| name.as_str());
    for layer in layers {
        for factor in layer.implied.keys().filter(|factor| !names().any(|name| name == *factor)) {
            let message =
                format!("layer `{}` says what is implied by `{factor}`, which is not a build factor", layer.name);
            file.sink.report(file.place_of("build").unwrap_or_default(), &message, "", &suggest(factor, names()));
        }
        for flag in layer.flags.iter().filter(|flag| !variables().any(|name| name == *flag)) {
            let message = format!("layer `{}` lists the flags `{flag}`, which no level sets", layer.name);
            file.sink.report(file.place_of("build").unwrap_or_default(), &message, "", &suggest(flag, variables()));
        }
    }
}

/// To relink, or to measure building, needs something that is built.
pub(super) fn plans_build_what_there_is(file: &Section<'_>, plans: &[PlanSpec], layers: &[Layer]) {
    if !layers.is_empty() {
        return;
    }
    let at = file.place_of("plan").or(file.place_of("plans")).unwrap_or_default();
    let remedy = "add a `[[build]]` layer, or leave it out";
    if plans.iter().any(|plan| plan.vary.contains(&Vary::LinkOrder)) {
        file.sink.report(at.clone(), "`link-order` cannot be varied where nothing is built", "", remedy);
    }
    if plans.iter().any(|plan| plan.rebuild > 0) {
        file.sink.report(at, "`rebuild` cannot be measured where nothing is built", "", remedy);
    }
}

/// Where building is measured, it stands beside the workloads, and what it costs must be the compiler's own.
pub(super) fn building_can_be_measured(
    file: &Section<'_>,
    plans: &[PlanSpec],
    layers: &[Layer],
    workloads: &[Workload],
) {
    if plans.iter().all(|plan| plan.rebuild == 0) {
        return;
    }
    let at = file.place_of("plan").or(file.place_of("plans")).unwrap_or_default();
    for layer in layers {
        let name = Building::workload_of(&layer.name);
        if workloads.iter().any(|workload| workload.name == name) {
            let message = format!("`{name}` is the name under which building `{}` is measured", layer.name);
            let remedy = format!("rename the workload `{name}`, or leave `rebuild` out");
            file.sink.report(at.clone(), &message, "there is a workload of that name", &remedy);
        }
        if layer.compiler_cache.is_some() {
            let message = format!("`rebuild` would measure the compiler cache of the layer `{}`", layer.name);
            let remedy = "leave `cache` out of the layer, or `rebuild` out of the plan";
            file.sink.report(at.clone(), &message, "what building costs is not comparable", remedy);
        }
    }
}

/// Every variant boots, or none does: a kernel is named by each level of one factor, or by no level. Where the first is named.
pub(super) fn every_level_boots(sink: &Sink, factors: &[PlacedFactor]) -> Option<Range<usize>> {
    let mut booting = factors.iter().filter(|placed| !placed.kernels.is_empty());
    let factor = booting.next()?;
    let missing = factor.factor.levels.iter().filter(|level| level.kernel.is_none()).map(|level| level.name.as_str());
    let missing: Vec<&str> = missing.collect();
    if factor.kernels.len() < factor.factor.levels.len() {
        let message = format!("of factor `{}`, {} names no `kernel`", factor.factor.name, missing.join(", "));
        let remedy = "every variant boots, or none does: give each level of the factor a `kernel`";
        sink.report(factor.span.clone(), &message, "", remedy);
    }
    for other in booting {
        let message = format!("factor `{}` names the kernel already", factor.factor.name);
        let remedy = "name it in the levels of one factor; all factors may change how it is built";
        sink.report(other.kernels[0].clone(), &message, "", remedy);
    }
    factor.kernels.first().cloned()
}

/// In a boot, no single trial can be repeated, and nothing is built.
pub(super) fn boots_allow_it(file: &Section<'_>, plans: &[PlanSpec], kernel: Option<&Range<usize>>) {
    if kernel.is_none() {
        return;
    }
    let at = file.place_of("plan").or(file.place_of("plans")).unwrap_or_default();
    if plans.iter().any(|plan| plan.rebuild > 0) {
        let remedy = "leave it out; the report has what each build cost";
        file.sink.report(at, "`rebuild` cannot be measured where variants boot", "", remedy);
    }
}
