//! All pairs of a table's variants: who is shown to differ from whom, and who is shown to be equivalent.
//!
//! The pairs with the baseline are those of the table's rows, and what the rows claim of them holds here too. The pairs
//! among the others are a second family, with a rate of its own. So a letter that is shared, an interval against the
//! best and a verdict cannot contradict each other.

use super::conclude::conclude_effect;
use super::contrasts::Contrasts;
use super::infer;
use super::trials::Values;
use super::{Rule, Yardstick};
use crate::findings::{Comparison, Ranked, Ranking, Row, Scale, Test, Verdict};
use crate::stats::letters;
use bakeoff_model::metric::Direction;

/// Fewer variants than this are a pair.
const VARIANTS_MIN: usize = 3;

/// None where there is nothing to rank: fewer than three variants with values, or too few blocks for some pair to be shown
/// to differ.
pub(super) fn ranking(values: &Values<'_>, rows: &[Row], yardstick: Yardstick, rule: Rule) -> Option<Ranking> {
    let measured: Vec<(&Row, f64)> = rows
        .iter()
        .filter_map(|row| {
            let summary = row.summary.as_ref()?;
            Some((row, summary.geomean.unwrap_or(summary.mean)))
        })
        .collect();
    if measured.len() < VARIANTS_MIN || !rule.reading.takes_p() {
        return None;
    }
    let cost = |centre: f64| if yardstick.better == Direction::More { -centre } else { centre };
    let order = letters::order(&measured.iter().map(|(_, centre)| cost(*centre)).collect::<Vec<_>>());
    let ranked: Vec<&Row> = order.iter().map(|place| measured[*place].0).collect();

    let pairs = Pairs::of(values, &ranked, &rows[0].variant, yardstick, rule)?;
    let display = letters::display(ranked.len(), &pairs.that(Comparison::differs))?;
    let against_best = |place: usize| if place == 0 { None } else { pairs.get(0, place) };
    let variants = ranked.iter().zip(display).enumerate().map(|(place, (row, letters))| Ranked {
        variant: row.variant.clone(),
        letters,
        against_best: against_best(place).map(|comparison| comparison.estimate),
        against_best_interval: against_best(place).and_then(|comparison| comparison.interval),
        scale: against_best(place).map_or(Scale::Ratio, |comparison| comparison.scale),
    });
    let named = |(a, b): (usize, usize)| [a, b].map(|place| ranked[place].variant.clone());
    let is_equivalent = |comparison: &Comparison| comparison.verdict == Verdict::Equivalent;
    Some(Ranking {
        variants: variants.collect(),
        pairs: pairs.0.len() as u32,
        differ: pairs.that(Comparison::differs).len() as u32,
        equivalent: pairs.that(is_equivalent).into_iter().map(named).collect(),
    })
}

/// All pairs of places in a ranking, the second against the first.
struct Pairs(Vec<((usize, usize), Comparison)>);

impl Pairs {
    /// None if some pair cannot be shown to differ, whatever it does.
    fn of(values: &Values<'_>, ranked: &[&Row], baseline: &str, yardstick: Yardstick, rule: Rule) -> Option<Self> {
        let (mut all, mut others) = (vec![], vec![]);
        for second in 0..ranked.len() {
            for first in 0..second {
                let (one, other) = (ranked[first], ranked[second]);
                if one.variant == baseline {
                    all.push(((first, second), other.comparison.clone()?));
                } else if other.variant == baseline {
                    all.push(((first, second), one.comparison.as_ref()?.turned()));
                } else {
                    let pairs = values.pairs(&one.variant, &other.variant);
                    others.push(((first, second), Contrasts::of_pairs(&pairs, yardstick, rule.margin)));
                }
            }
        }
        let (places, contrasts): (Vec<_>, Vec<_>) = others.into_iter().unzip();
        let rule = Rule { family: places.len().max(1) as u32, ..rule };
        for (place, inference) in places.into_iter().zip(infer::family(&contrasts, rule)) {
            all.push((place, conclude_effect(&inference?, yardstick, rule)));
        }
        let can_decide =
            |comparison: &Comparison| comparison.interval.is_some() || comparison.test == Test::Deterministic;
        all.iter().all(|(_, comparison)| can_decide(comparison)).then_some(Self(all))
    }

    fn get(&self, first: usize, second: usize) -> Option<&Comparison> {
        self.0.iter().find(|(place, _)| *place == (first, second)).map(|(_, comparison)| comparison)
    }

    fn that(&self, is: impl Fn(&Comparison) -> bool) -> Vec<(usize, usize)> {
        self.0.iter().filter(|(_, comparison)| is(comparison)).map(|(place, _)| *place).collect()
    }
}
