//! All pairs of a table's variants, each with one verdict, wherever it is printed: as a row, letters, simple effect or
//! levels. Pairs with the baseline are those of the rows; the others are a second family, with a rate of its own.

use super::conclude::conclude_effect;
use super::contrasts::Contrasts;
use super::ids::{Ids, Place, VariantId};
use super::infer;
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use crate::findings::{Comparison, Inferred, Outputs, Table, Verdict};
use std::collections::BTreeMap;

/// The pairs of one table.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    /// The variants that can be compared, the baseline first.
    pub(super) variants: Vec<VariantId>,
    /// Those with values that cannot be: they have too few, or their clock is too coarse.
    pub(super) left_out: Vec<String>,
    /// The second variant of the key against the first.
    all: BTreeMap<(VariantId, VariantId), Comparison>,
}

impl Pairs {
    /// Of variants that have values, the baseline first, each with its comparison with the baseline; `contrasts` are those of
    /// the second variant against the first. None where the stopping rule has no use for a p.
    pub(super) fn of(
        variants: &[(VariantId, Option<&Comparison>)],
        contrasts: &dyn Fn(VariantId, VariantId) -> Contrasts,
        ids: &Ids<'_>,
        spec: MetricSpec,
        rule: DecisionRule,
    ) -> Option<Self> {
        let ((first, _), others) = variants.split_first()?;
        if !rule.mode.takes_p() {
            return None;
        }
        let mut pairs = Self { variants: vec![*first], ..Self::default() };
        for (variant, comparison) in others {
            match comparison.filter(|comparison| can_decide(comparison)) {
                Some(comparison) => {
                    pairs.all.insert((*first, *variant), comparison.clone());
                    pairs.variants.push(*variant);
                }
                None => pairs.left_out.push(ids.name(*variant).to_owned()),
            }
        }
        pairs.among_others(contrasts, spec, rule);
        Some(pairs)
    }

    fn among_others(
        &mut self,
        contrasts: &dyn Fn(VariantId, VariantId) -> Contrasts,
        spec: MetricSpec,
        rule: DecisionRule,
    ) {
        let others = &self.variants[1..];
        let keys: Vec<(VariantId, VariantId)> = others
            .iter()
            .enumerate()
            .flat_map(|(at, second)| others[..at].iter().map(move |first| (*first, *second)))
            .collect();
        let contrasts: Vec<Contrasts> = keys.iter().map(|(first, second)| contrasts(*first, *second)).collect();
        // Those of the other benchmarks of a suite are judged in their own tables.
        let elsewhere = keys.len() * (rule.tables.max(1) as usize - 1);
        let rule = DecisionRule { family: (keys.len() + elsewhere).max(1) as u32, ..rule };
        for (key, inference) in keys.into_iter().zip(infer::infer_family(&contrasts, elsewhere, rule)) {
            if let Some(inference) = inference {
                self.all.insert(key, conclude_effect(&inference, spec, rule));
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.variants.len() * self.variants.len().saturating_sub(1) / 2
    }

    pub(super) fn get(&self, variant: VariantId, against: VariantId) -> Option<Comparison> {
        let known = |first: VariantId, second: VariantId| self.all.get(&(first, second));
        known(against, variant).cloned().or_else(|| known(variant, against).map(Comparison::turned))
    }

    /// Whether any pair of these kinds could be shown to differ: those with the baseline, and those among the others.
    pub(super) fn can_decide(&self) -> bool {
        let among = |(first, _): &&(VariantId, VariantId)| Some(first) != self.variants.first();
        let mut others = self.all.iter().filter(|(key, _)| among(key)).peekable();
        others.peek().is_none() || others.any(|(_, comparison)| can_decide(comparison))
    }
}

fn can_decide(comparison: &Comparison) -> bool {
    comparison.interval().is_some() || comparison.inferred == Inferred::Exact
}

/// What is known before effects are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct EffectInputs<'a> {
    pub(super) tables: &'a [Table],
    /// Those of the deciding metric.
    pub(super) pairs: &'a BTreeMap<Place, Pairs>,
    pub(super) deciding: &'a str,
    /// Which variants printed something other than the baseline.
    pub(super) outputs: &'a [Outputs],
    /// The least share of any variant's time that a count can see, if anything is counted.
    pub(super) seen: Option<f64>,
}

impl EffectInputs<'_> {
    /// A variant against another one, on a metric of a workload under a condition; none if no table and no ranking has it.
    pub(super) fn get(
        &self,
        metric: &str,
        ids: &Ids<'_>,
        place: Place,
        variant: VariantId,
        against: VariantId,
    ) -> Option<Comparison> {
        let (workload, condition) = ids.names(place);
        let mut of_place =
            self.tables.iter().filter(|table| table.workload == workload && table.condition == condition);
        let rows = &of_place.find(|table| table.metric == metric)?.rows;
        let row = |id: VariantId| rows.iter().skip(1).find(|row| row.variant == ids.name(id))?.comparison.clone();
        let baseline = rows.first().map(|row| ids.variant(&row.variant));
        let found = if Some(against) == baseline {
            row(variant)
        } else if Some(variant) == baseline {
            row(against).map(|comparison| comparison.turned())
        } else if metric == self.deciding {
            self.pairs.get(&place).and_then(|pairs| pairs.get(variant, against))
        } else {
            None
        };
        found.filter(|comparison| comparison.verdict != Verdict::Withheld)
    }
}
