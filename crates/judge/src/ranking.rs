//! All variants of a table in their order: which are shown to differ, and which to be equivalent. Pairs are
//! [`super::pairs`]'s, so a shared letter, an interval against the best and a verdict cannot contradict each other.

use super::ids::{Ids, VariantId};
use super::pairs::Pairs;
use crate::findings::{Comparison, Ranked, Ranking, Row, Scale, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_stats::letters;

/// Fewer variants than this are a pair.
const VARIANTS_MIN: usize = 3;

/// None where there is nothing to rank: fewer than three variants that can be compared, or too few blocks for any pair among
/// the others to be shown to differ. `centre` says where each variant stands.
pub(super) fn ranking(
    pairs: &Pairs,
    centre: &dyn Fn(VariantId) -> f64,
    ids: &Ids<'_>,
    better: Direction,
) -> Option<Ranking> {
    if pairs.variants.len() < VARIANTS_MIN || !pairs.can_decide() {
        return None;
    }
    let centres = pairs.variants.iter().map(|variant| centre(*variant));
    let costs: Vec<f64> = centres.map(|centre| if better == Direction::More { -centre } else { centre }).collect();
    let ranked: Vec<VariantId> = letters::order(&costs).iter().map(|place| pairs.variants[*place]).collect();
    let that = |is: &dyn Fn(&Comparison) -> bool| -> Vec<(usize, usize)> {
        let places = (0..ranked.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        places.filter(|(first, second)| pairs.get(ranked[*second], ranked[*first]).is_some_and(|c| is(&c))).collect()
    };
    let differ = that(&Comparison::differs);
    let display = letters::display(ranked.len(), &differ)?;
    let variants = display.into_iter().enumerate().map(|(place, letters)| {
        let against_best = if place == 0 { None } else { pairs.get(ranked[place], ranked[0]) };
        Ranked {
            variant: ids.name(ranked[place]).to_owned(),
            letters,
            against_best: against_best.as_ref().map(|comparison| comparison.estimate),
            against_best_interval: against_best.as_ref().and_then(|comparison| comparison.interval()),
            scale: against_best.map_or(Scale::Ratio, |comparison| comparison.scale),
        }
    });
    let named = |(a, b): (usize, usize)| [a, b].map(|place| ids.name(ranked[place]).to_owned());
    let equivalent = that(&|comparison| comparison.verdict == Verdict::Equivalent);
    Some(Ranking {
        variants: variants.collect(),
        pairs: pairs.count() as u32,
        differ: differ.len() as u32,
        equivalent: equivalent.into_iter().map(named).collect(),
        left_out: pairs.left_out.clone(),
    })
}

/// Where each variant stands: by what its row says of it against the baseline, so that nothing stands before what it is shown
/// to be worse than. Where a row has a difference in place of a ratio, by the means.
pub(super) fn centres(pairs: &Pairs, rows: &[Row], ids: &Ids<'_>) -> impl Fn(VariantId) -> f64 + use<> {
    let row = |id: &VariantId| rows.iter().find(|row| row.variant == ids.name(*id));
    let estimate = |id: &VariantId| match row(id)?.comparison.as_ref() {
        None => Some((*id, 1.0)),
        Some(comparison) => (comparison.scale == Scale::Ratio).then_some((*id, comparison.estimate)),
    };
    let estimates: Option<Vec<(VariantId, f64)>> = pairs.variants.iter().map(estimate).collect();
    let centres = estimates.unwrap_or_else(|| {
        let means = pairs.variants.iter().map(|id| {
            let summary = row(id).and_then(|row| row.summary.as_ref());
            (*id, summary.map_or(f64::NAN, |summary| summary.geomean.unwrap_or(summary.mean)))
        });
        means.collect()
    });
    move |variant| centres.iter().find(|(id, _)| *id == variant).map_or(f64::NAN, |(_, centre)| *centre)
}
