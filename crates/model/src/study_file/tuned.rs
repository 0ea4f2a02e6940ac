//! What several levels that change the calls of compilers must not do together, or with a layer. The keys are read in
//! `factors/tuning.rs`.

use super::factors::PlacedFactor;
use super::section::{Section, Sink};
use crate::study::Layer;

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
