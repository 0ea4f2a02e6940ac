//! What several levels that change the calls of compilers must not do together, or with a layer. The keys are read in
//! `words.rs`.

use super::levels::Said;
use crate::nouns::Layer;
use crate::trained::executes;
use crate::tuning::Tuning;
use bakeoff_model::study::{PlanSpec, Workload};
use bakeoff_model::study_file::{Section, Sink};
use std::ops::Range;

/// The factors whose levels have this instruction: the name of each, and its first place.
pub(super) fn with<'a>(factors: &'a [Said<'_>], key: &str) -> impl Iterator<Item = (&'a str, Range<usize>)> {
    let place = move |said: &'a Said<'_>| said.placed.places(key).into_iter().next();
    factors.iter().filter_map(move |said| Some((said.placed.factor.name.as_str(), place(said)?)))
}

/// Of two factors that have this instruction, one would silently win. The first place of it, if there is one.
pub(super) fn in_one_factor(sink: &Sink, factors: &[Said<'_>], key: &str, has: &str) -> Option<Range<usize>> {
    let mut having = with(factors, key);
    let (first, at_first) = having.next()?;
    for (_, at) in having {
        let remedy = format!("use `{key}` in the levels of one factor only; `append` is allowed in every factor");
        sink.report(at, &format!("factor `{first}` already {has}"), "only one of these can take effect", &remedy);
    }
    Some(at_first)
}

/// A cache that the project also calls by itself would not see what is appended behind it, and give the objects of
/// another level.
pub(super) fn no_cache_comes_between(file: &Section<'_>, factors: &[Said<'_>], layers: &[Layer]) {
    if factors.iter().flat_map(Said::specs).all(|spec| spec.tuning.is_empty()) {
        return;
    }
    for layer in layers.iter().filter(|layer| layer.compiler_cache.is_some()) {
        let message = format!("levels append compiler flags, but layer `{}` has a compiler cache", layer.name);
        let remedy = "remove `cache` from the layer, or pass the flags to the script in a variable";
        let label = "the cache could return another level's object files";
        file.sink.report(file.place_of("build").unwrap_or_default(), &message, label, remedy);
    }
}

/// Of two factors that profile, one would silently win; and words that do the same by hand would disturb both.
pub(super) fn one_factor_profiles(sink: &Sink, factors: &[Said<'_>]) {
    let Some(at_first) = in_one_factor(sink, factors, "profile", "has a profile") else { return };
    if let Some(word) = factors.iter().flat_map(Said::specs).find_map(|spec| by_hand(&spec.tuning)) {
        let message = format!("`profile` conflicts with `{word}`, which a level appends");
        sink.report(at_first, &message, "", "remove that flag; `profile` already creates and uses a profile");
    }
}

/// Notes which workloads are the training of a level.
pub(super) fn mark_trained(factors: &mut [Said<'_>], workloads: &[Workload]) {
    for level in factors.iter_mut().flat_map(|said| &mut said.levels) {
        let Tuning { training, bolt, trained_on, .. } = &mut level.spec.tuning;
        for command in training.values().chain(bolt.iter().map(|bolt| &bolt.training)) {
            let trained = workloads.iter().filter(|workload| executes(command, &workload.run));
            trained_on.extend(trained.map(|workload| workload.name.clone()));
        }
    }
}

/// A word that makes or uses a profile.
fn by_hand(tuning: &Tuning) -> Option<&str> {
    const STARTS: [&str; 6] = [
        "-fprofile-generate",
        "-fprofile-use",
        "-fprofile-instr",
        "-fcs-profile-generate",
        "-fprofile-arcs",
        "--coverage",
    ];
    let words = tuning.words().into_iter().flat_map(|(_, words)| words).map(String::as_str);
    words.into_iter().find(|word| STARTS.iter().any(|start| word.starts_with(start)))
}

/// What compiles nothing has no profile.
pub(super) fn profiled_layers_compile(sink: &Sink, factors: &[Said<'_>], layers: &[Layer]) {
    for said in factors {
        let trained = |layer: &&Layer| {
            layer.compiles_nothing && said.specs().any(|spec| spec.tuning.training.contains_key(&layer.name))
        };
        if let (Some(layer), Some(at)) = (layers.iter().find(trained), said.placed.places("profile").first()) {
            let message = format!("layer `{}` has a profile, but also `compiles = false`", layer.name);
            sink.report(at.clone(), &message, "", "name another layer, or remove `compiles` from this one");
        }
    }
}

/// A build with a profile is no single script.
pub(super) fn plans_allow_a_profile(sink: &Sink, plans: &[PlanSpec], factors: &[Said<'_>]) {
    let Some((_, at)) = with(factors, "profile").next() else { return };
    if plans.iter().any(|plan| plan.rebuild > 0) {
        let remedy = "remove `rebuild` from the plan; the table of builds shows the cost of each build";
        let label = "the layer is built twice, with a training run in between";
        sink.report(at, "`rebuild` can measure only a single script, but a level has a profile", label, remedy);
    }
}
