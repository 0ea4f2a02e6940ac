//! Checks that need more than one part of the file at once.

use super::factors::PlacedFactor;
use super::section::Sink;
use crate::study::Layer;

/// A build variable that no script mentions cannot take effect: the level would be a lie.
pub(super) fn variables_are_used(sink: &Sink, factors: &[PlacedFactor], layers: &[Layer]) {
    if layers.is_empty() {
        if let Some(factor) = factors.first() {
            let remedy = "add a `[[build]]` layer whose script uses the variables of its levels";
            sink.report(factor.span.clone(), "there are build factors, but nothing is built", "", remedy);
        }
        return;
    }
    for (variable, span) in factors.iter().flat_map(|f| &f.variables) {
        if !layers.iter().any(|layer| layer.mentions(variable)) {
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
