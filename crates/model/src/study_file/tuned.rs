//! What several levels that change the calls of compilers must not do together, or with a layer. The keys are read in
//! `factors/tuning.rs`.

use super::factors::PlacedFactor;
use super::section::{Section, Sink};
use crate::study::{Layer, PlanSpec, Tuning};

/// Of two factors that choose the compiler, one would silently win.
pub(super) fn one_factor_chooses_the_compiler(sink: &Sink, factors: &[PlacedFactor]) {
    let mut choosing = factors.iter().filter(|placed| !placed.compilers.is_empty());
    let Some(first) = choosing.next() else { return };
    for other in choosing {
        let message = format!("factor `{}` chooses the compiler already", first.factor.name);
        let remedy = "choose it in the levels of one factor; `append` may stand in any";
        sink.report(other.compilers[0].clone(), &message, "only one could win", remedy);
    }
}

/// A cache that the project also calls by itself would not see what is appended behind it, and give the objects of another
/// level.
pub(super) fn no_cache_comes_between(file: &Section<'_>, factors: &[PlacedFactor], layers: &[Layer]) {
    let mut levels = factors.iter().flat_map(|placed| &placed.factor.levels);
    if levels.all(|level| level.tuning.is_empty()) {
        return;
    }
    for layer in layers.iter().filter(|layer| layer.compiler_cache.is_some()) {
        let message = format!("levels append to the compilers' words, and layer `{}` has a compiler cache", layer.name);
        let remedy = "leave `cache` out of the layer, or hand the words over in a variable of the script";
        let label = "it could give the objects of another level";
        file.sink.report(file.place_of("build").unwrap_or_default(), &message, label, remedy);
    }
}

/// Of two factors that profile, one would silently win; and words that do the same by hand would disturb both.
pub(super) fn one_factor_profiles(sink: &Sink, factors: &[PlacedFactor]) {
    let mut profiling = factors.iter().filter(|placed| !placed.profiles.is_empty());
    let Some(first) = profiling.next() else { return };
    for other in profiling {
        let message = format!("factor `{}` has a profile already", first.factor.name);
        let remedy = "put `profile` into the levels of one factor; `append` may stand in any";
        sink.report(other.profiles[0].clone(), &message, "only one could win", remedy);
    }
    let levels = || factors.iter().flat_map(|placed| &placed.factor.levels);
    if let Some(word) = levels().find_map(|level| by_hand(&level.tuning)) {
        let message = format!("`profile` and `{word}`, which a level appends, are two profiles");
        sink.report(first.profiles[0].clone(), &message, "", "leave the word out: `profile` makes and uses one itself");
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
pub(super) fn profiled_layers_compile(sink: &Sink, factors: &[PlacedFactor], layers: &[Layer]) {
    for placed in factors {
        let trained = |layer: &&Layer| {
            let mut levels = placed.factor.levels.iter();
            layer.compiles_nothing && levels.any(|level| level.tuning.training.contains_key(&layer.name))
        };
        if let (Some(layer), Some(at)) = (layers.iter().find(trained), placed.profiles.first()) {
            let message = format!("layer `{}` has `compiles = false`, and a profile", layer.name);
            sink.report(at.clone(), &message, "", "name another layer, or leave `compiles` out of that one");
        }
    }
}

/// A build with a profile is no single script.
pub(super) fn plans_allow_a_profile(sink: &Sink, plans: &[PlanSpec], factors: &[PlacedFactor]) {
    let Some(at) = factors.iter().find_map(|placed| placed.profiles.first()) else { return };
    if plans.iter().any(|plan| plan.rebuild > 0) {
        let remedy = "leave `rebuild` out of the plan; the table of builds has what each build cost";
        let label = "it is built twice, with a training between";
        sink.report(at.clone(), "`rebuild` measures one script, and a level has a profile", label, remedy);
    }
}
