//! Checks that need more than one part of the file at once.

use super::levels::Said;
use crate::nouns::Layer;
use bakeoff_model::problem::suggest;
use bakeoff_model::record::Building;
use bakeoff_model::study::{PlanSpec, Vary, Workload};
use bakeoff_model::study_file::{Section, Sink};

/// A build variable that no script mentions cannot take effect: the level would be a lie.
pub(super) fn variables_are_used(sink: &Sink, factors: &[Said<'_>], layers: &[Layer]) {
    if layers.is_empty() {
        if let Some(factor) = factors.first() {
            let remedy = "add a `[[build]]` layer with a script that uses the variables of the levels";
            sink.report(factor.placed.span.clone(), "the study has build factors but builds nothing", "", remedy);
        }
        return;
    }
    let specs = || factors.iter().flat_map(Said::specs);
    for (variable, span) in factors.iter().flat_map(|said| &said.placed.variables) {
        let trains = |layer: &Layer| specs().any(|spec| spec.tuning.mentions(&layer.name, variable));
        if !layers.iter().any(|layer| layer.mentions(variable) || trains(layer)) {
            let remedy =
                format!("use `${variable}` in a script or verify line of a [[build]] layer, or remove the variable");
            sink.report(span.clone(), &format!("no layer uses the variable `{variable}`"), "no effect", &remedy);
        }
    }
}

/// What a layer says of a factor, or of a level's variable, must be of one that there is.
pub(super) fn layers_name_what_there_is(file: &Section<'_>, factors: &[Said<'_>], layers: &[Layer]) {
    let names = || factors.iter().map(|said| said.placed.factor.name.as_str());
    let variables = || factors.iter().flat_map(|said| &said.placed.variables).map(|(name, _)| name.as_str());
    for layer in layers {
        for factor in layer.implied.keys().filter(|factor| !names().any(|name| name == *factor)) {
            let message = format!("`implied` of layer `{}` names `{factor}`, which is not a build factor", layer.name);
            file.sink.report(file.place_of("build").unwrap_or_default(), &message, "", &suggest(factor, names()));
        }
        for flag in layer.flags.iter().filter(|flag| !variables().any(|name| name == *flag)) {
            let message = format!("`flags` of layer `{}` lists `{flag}`, which no level sets", layer.name);
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
    let remedy = "add a `[[build]]` layer, or remove the setting";
    if plans.iter().any(|plan| plan.vary.contains(&Vary::LinkOrder)) {
        file.sink.report(at.clone(), "cannot vary `link-order`: the study builds nothing", "", remedy);
    }
    if plans.iter().any(|plan| plan.rebuild > 0) {
        file.sink.report(at, "cannot measure `rebuild`: the study builds nothing", "", remedy);
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
            let message = format!("the name `{name}` is reserved for measuring the build of `{}`", layer.name);
            let remedy = format!("rename the workload `{name}`, or remove `rebuild`");
            file.sink.report(at.clone(), &message, "a workload has this name", &remedy);
        }
        if layer.compiler_cache.is_some() {
            let message = format!("`rebuild` would measure the compiler cache of the layer `{}`", layer.name);
            let remedy = "remove `cache` from the layer, or `rebuild` from the plan";
            file.sink.report(at.clone(), &message, "build costs would not be comparable", remedy);
        }
    }
}
