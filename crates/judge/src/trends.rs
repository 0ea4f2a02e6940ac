//! What a step of a factor with rising levels does: the slope of ln y on the number i of the step, fitted by least squares
//! within each block, Σ (i − ī) ln y ÷ Σ (i − ī)²: one contrast, whose weights sum to 0.

use super::contrasts::{Planned, Weights};
use super::ids::{Cell, Ids, Place};
use super::study::variants;
use crate::findings::Subject;
use bakeoff_model::record::StudyLine;
use std::collections::BTreeMap;

/// Names and what belongs to them: other factors and their levels, levels and their variants.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// One contrast for each such factor; none for one whose combinations with the other factors are not all there.
pub(super) fn trends(study: &StudyLine, ids: &Ids<'_>, place: Place) -> Vec<Planned> {
    let of = |factor: &String| {
        let weights = weights(study, ids, place, factor)?;
        let subject = Subject::Steps { factor: factor.clone() };
        Some(Planned { subject, weights })
    };
    study.decide.trends.iter().filter_map(of).collect()
}

fn weights(study: &StudyLine, ids: &Ids<'_>, place: Place, factor: &str) -> Option<Weights> {
    let mut steps: Vec<(f64, &str)> = vec![];
    let mut groups: BTreeMap<Pairs<'_>, Pairs<'_>> = BTreeMap::new();
    for variant in variants(study) {
        let Some(level) = variant.levels.get(factor) else { continue };
        let number = level.trim().parse::<f64>().ok()?;
        if !steps.iter().any(|(_, known)| known == level) {
            steps.push((number, level));
        }
        let others = variant.levels.iter().filter(|(name, _)| *name != factor);
        let others = others.map(|(name, level)| (name.as_str(), level.as_str())).collect();
        groups.entry(others).or_default().push((level, &variant.name));
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_whole = groups.values().all(|group| group.len() == steps.len());
    if steps.len() < 3 || groups.is_empty() || !is_whole {
        return None;
    }
    let centre = (steps.len() - 1) as f64 / 2.0;
    let squares: f64 = (0..steps.len()).map(|step| (step as f64 - centre).powi(2)).sum();
    let share = 1.0 / (squares * groups.len() as f64);
    let mut weights = Weights::new();
    for (level, variant) in groups.values().flatten() {
        let step = steps.iter().position(|(_, known)| known == level)?;
        let cell = Cell { variant: ids.variant(variant), place };
        weights.insert(cell, (step as f64 - centre) * share);
    }
    // The middle of an odd number of steps has no weight.
    weights.retain(|_, weight| *weight != 0.0);
    Some(weights)
}
