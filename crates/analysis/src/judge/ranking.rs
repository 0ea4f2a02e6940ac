//! All pairs of a table's variants: who is shown to differ from whom, and who is shown to be equivalent. Holm's
//! correction is over all pairs. It compares nothing with the baseline in particular: that is what the rows are for.

use super::Rule;
use super::contrasts::Contrasts;
use super::trials::Values;
use crate::findings::{Ranked, Ranking, Row, Scale};
use crate::stats::signflip::SignFlip;
use crate::stats::{holm, letters};
use bakeoff_model::metric::Direction;

/// Fewer variants than this are a pair, and fewer blocks than this give no exact test.
const VARIANTS_MIN: usize = 3;
const BLOCKS_MIN: usize = 6;

/// None where there is nothing to rank: fewer than three variants with values, or fewer than six blocks in some pair.
pub(super) fn ranking(values: &Values<'_>, rows: &[Row], better: Direction, rule: Rule) -> Option<Ranking> {
    let measured: Vec<(&str, f64)> = rows
        .iter()
        .filter_map(|row| {
            let summary = row.summary.as_ref()?;
            Some((row.variant.as_str(), summary.geomean.unwrap_or(summary.mean)))
        })
        .collect();
    if measured.len() < VARIANTS_MIN || !rule.reading.takes_p() {
        return None;
    }
    let cost = |centre: f64| if better == Direction::More { -centre } else { centre };
    let order = letters::order(&measured.iter().map(|(_, centre)| cost(*centre)).collect::<Vec<_>>());
    let names: Vec<&str> = order.iter().map(|place| measured[*place].0).collect();
    let contrasts = |a: &str, b: &str| Contrasts::of_pairs(&values.pairs(a, b), rule.margin);

    let (mut pairs, mut p, mut equivalent) = (vec![], vec![], vec![]);
    for (i, a) in names.iter().enumerate() {
        for (j, b) in names.iter().enumerate().skip(i + 1) {
            let contrasts = contrasts(a, b);
            if contrasts.values.len() < BLOCKS_MIN {
                return None;
            }
            let mut test = SignFlip::new(&contrasts.values, rule.seed)?;
            pairs.push((i, j));
            p.push(rule.reading.overall(test.p(0.0)));
            if contrasts.zone.is_some_and(|zone| test.is_within(zone.half_width, rule.level(2.0 * rule.alpha))) {
                equivalent.push([(*a).to_owned(), (*b).to_owned()]);
            }
        }
    }
    let corrected = holm::adjust(&p, p.len());
    let differ: Vec<(usize, usize)> =
        pairs.iter().zip(&corrected).filter(|(_, p)| **p <= rule.alpha).map(|(pair, _)| *pair).collect();
    let display = letters::display(names.len(), &differ)?;
    let best = names[0];
    // Over all pairs, not only those with the best: which one is the best was not fixed before the data.
    let alpha = rule.level(rule.alpha / pairs.len() as f64);
    let ranked = |(name, letters): (&&str, String)| {
        let contrasts = contrasts(best, name);
        let mut test = if *name == best { None } else { SignFlip::new(&contrasts.values, rule.seed) };
        let outward = |x: f64| if contrasts.scale == Scale::Ratio { x.exp() } else { x };
        Ranked {
            variant: (*name).to_owned(),
            letters,
            against_best: test.as_mut().map(|test| outward(test.estimate())),
            against_best_interval: test.as_mut().and_then(|test| test.interval(alpha)).map(|ends| ends.map(outward)),
            scale: contrasts.scale,
        }
    };
    Some(Ranking {
        variants: names.iter().zip(display).map(ranked).collect(),
        pairs: pairs.len() as u32,
        differ: differ.len() as u32,
        equivalent,
    })
}
