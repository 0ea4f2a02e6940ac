//! Samples that somebody else measured, judged. Their order is not known to be random, so everything here carries a caveat;
//! where a sample drifts or its values resemble their predecessors, the error rates of any unpaired test are fiction, and
//! there is no verdict. Lines that are blocks go the way of all blocks.
//!
//! Unpaired: Mann and Whitney's test and Hodges and Lehmann's shift of the logarithms, or of the values if some are not
//! positive. The verdict is that of [`super`], the family is every comparison of the same unit.

mod caveats;
mod tables;

use super::conclude::{conclude, conclude_effect};
use super::contrasts::Contrasts;
use super::infer::Inference;
use super::trials::Pairs;
use super::{Rule, Yardstick};
use crate::findings::{Comparison, RatioOfMeans, Scale, Test, Verdict};
use crate::samples::{FORMAT, Order, SampleFindings, SampleRow, SampleTable, Summary, Terms, Unaskable};
use crate::stats::equivalence::Zone;
use crate::stats::rank::MannWhitney;
use crate::stats::{holm, sort};
use crate::stopping::Reading;
use bakeoff_model::metric::Unit;
use bakeoff_model::samples::{Better, Sample};
use caveats::{caveat, means_disagree, never_vary, of_sample, order_caveat, refusal, spreads, too_few};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tables::Table;

/// Seed of the flips where lines are blocks and there are too many to enumerate.
const SEED: u64 = 0x0062_616b_656f_6666;

/// Judges samples: tables by what was measured and in which unit, the baseline against all others in each.
///
/// # Errors
/// If the baseline that is named is nowhere, or lines that should be blocks do not correspond.
pub fn judge_samples(samples: Vec<Sample>, terms: &Terms) -> Result<SampleFindings, Unaskable> {
    let tables = tables::of(samples, terms)?;
    let mut families: BTreeMap<&str, u32> = BTreeMap::new();
    for Table { samples, has_baseline } in &tables {
        *families.entry(&samples[0].unit).or_default() += if *has_baseline { samples.len() as u32 - 1 } else { 0 };
    }
    let rule = |unit: &str| Rule {
        alpha: 1.0 - terms.confidence,
        margin: terms.margin,
        family: families.get(unit).copied().unwrap_or(0),
        seed: SEED,
        reading: Reading::Fixed,
    };
    let mut drafts: Vec<Draft> = tables
        .par_iter()
        .map(|table| Draft::of(&table.samples, table.has_baseline, rule(&table.samples[0].unit), terms.paired))
        .collect();
    correct(&mut drafts);
    let compared = drafts.iter().any(|draft| draft.rows.iter().any(|row| row.inference.is_some()));
    let mut caveats = if compared { vec![order_caveat(terms.paired)] } else { vec![] };
    caveats.extend(tables::caveats(&tables));
    Ok(SampleFindings {
        format: FORMAT,
        confidence: terms.confidence,
        margin: terms.margin,
        paired: terms.paired,
        tables: drafts.into_iter().map(|draft| draft.conclude(terms.paired)).collect(),
        caveats,
    })
}

/// A table on its way to findings.
struct Draft {
    settings: BTreeMap<String, String>,
    row: String,
    unit: String,
    better: Better,
    exact: bool,
    rule: Rule,
    rows: Vec<DraftRow>,
}

/// A row, and what its comparison will be made of.
struct DraftRow {
    row: SampleRow,
    inference: Option<Inference>,
    pairs: Option<Pairs>,
    p_holm: Option<f64>,
    /// Neither its values nor the baseline's vary.
    constant: bool,
}

/// A sample, sorted.
struct Sorted {
    ascending: Vec<f64>,
    order: Order,
}

impl Draft {
    fn of(table: &[Sample], has_baseline: bool, rule: Rule, paired: bool) -> Self {
        let sorted: Vec<Sorted> = table.par_iter().map(|sample| Sorted::of(&sample.values)).collect();
        let positive = sorted.iter().all(|sample| sample.ascending.first().is_some_and(|least| *least > 0.0));
        let scaled = |sample: &Sorted| -> Vec<f64> {
            if positive { sample.ascending.iter().map(|x| x.ln()).collect() } else { sample.ascending.clone() }
        };
        let scaled: Vec<Vec<f64>> =
            if paired || table.len() < 2 { vec![] } else { sorted.par_iter().map(scaled).collect() };
        let infer = |i: usize| -> (Option<Inference>, Option<Pairs>) {
            if i == 0 || !has_baseline {
                return (None, None);
            }
            let exact = table[i].exact && table[0].exact;
            if paired {
                let pairs =
                    Pairs { baseline: table[0].values.clone(), variant: table[i].values.clone(), ..Pairs::default() };
                return (of_blocks(&pairs, exact, rule), Some(pairs));
            }
            (unpaired([&scaled[i], &scaled[0]], positive, centre(&sorted[0].ascending), exact, rule), None)
        };
        let logarithms = |i: usize| scaled.get(i).filter(|_| positive).map(Vec::as_slice);
        let summarise = |i: usize| sorted[i].summary(&table[i].values, logarithms(i), rule.alpha);
        let (inferred, summaries): (Vec<_>, Vec<_>) = rayon::join(
            || (0..table.len()).into_par_iter().map(infer).collect(),
            || (0..table.len()).into_par_iter().map(summarise).collect(),
        );
        let sorted_baseline = &sorted[0];
        let seen = table.iter().zip(sorted.iter().zip(summaries));
        let rows = seen.zip(inferred).filter_map(|((sample, (sorted, summary)), (inference, pairs))| {
            let summary = summary?;
            let row = SampleRow {
                sample: sample.col.clone(),
                caveats: of_sample(sample, &summary, rule.alpha),
                summary,
                order: sorted.order,
                comparison: None,
                refused: None,
            };
            let constant = sorted.is_constant() && sorted_baseline.is_constant();
            Some(DraftRow { row, inference, pairs, p_holm: None, constant })
        });
        let Sample { settings, row, unit, better, exact, .. } = &table[0];
        Self {
            settings: settings.clone(),
            row: row.clone(),
            unit: unit.clone(),
            better: *better,
            exact: *exact,
            rule,
            rows: rows.collect(),
        }
    }

    fn conclude(self, paired: bool) -> SampleTable {
        let Self { settings, row, unit, better, exact, rule, rows } = self;
        let baseline = rows.first().map(|first| first.row.clone());
        let yardstick = Yardstick { unit: Unit::Count, better, floor: 0.0 };
        let mut samples = vec![];
        for DraftRow { mut row, inference, pairs, p_holm, constant } in rows {
            if let (Some(inference), Some(base)) = (inference, &baseline) {
                let mut comparison = match pairs {
                    Some(pairs) => conclude(&pairs, &inference, p_holm, yardstick, rule),
                    None => conclude_unpaired(&inference, p_holm, better, [&row.summary, &base.summary], rule),
                };
                comparison.caveats.extend(never_vary(constant, &inference));
                bound(&mut comparison);
                if !paired {
                    row.refused = refusal(&[(&base.sample, &base.order), (&row.sample, &row.order)]);
                    if row.refused.is_some() {
                        comparison.verdict = Verdict::Undecided { more_blocks: None };
                    }
                }
                row.comparison = Some(comparison);
            }
            samples.push(row);
        }
        SampleTable { settings, row, unit, better, exact, family: rule.family, samples }
    }
}

/// Holm's correction over all comparisons of a unit.
fn correct(drafts: &mut [Draft]) {
    let mut by_unit: BTreeMap<String, Vec<(usize, usize, f64)>> = BTreeMap::new();
    for (i, draft) in drafts.iter().enumerate() {
        for (j, row) in draft.rows.iter().enumerate() {
            if let Some(p) = row.inference.as_ref().and_then(|inference| inference.p) {
                by_unit.entry(draft.unit.clone()).or_default().push((i, j, p));
            }
        }
    }
    for places in by_unit.into_values() {
        let p: Vec<f64> = places.iter().map(|(.., p)| *p).collect();
        let family = places.first().map_or(0, |(i, ..)| drafts[*i].rule.family);
        for ((i, j, _), p_holm) in places.into_iter().zip(holm::adjust(&p, family as usize)) {
            drafts[i].rows[j].p_holm = Some(p_holm);
        }
    }
}

impl Sorted {
    fn of(values: &[f64]) -> Self {
        let sort = || {
            let mut ascending = values.to_vec();
            sort::sort(&mut ascending);
            ascending
        };
        let (order, ascending) = rayon::join(|| Order::of(values), sort);
        Self { ascending, order }
    }

    fn is_constant(&self) -> bool {
        self.ascending.first() == self.ascending.last()
    }

    fn summary(&self, values: &[f64], logarithms: Option<&[f64]>, alpha: f64) -> Option<Summary> {
        let summary = Summary::of(values, &self.ascending, logarithms, alpha)?;
        let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
        let bounded = |number: f64| number.clamp(f64::MIN, f64::MAX);
        Some(Summary {
            mean: bounded(summary.mean),
            mad: bounded(summary.mad),
            q1: bounded(summary.q1),
            q3: bounded(summary.q3),
            sd: finite(summary.sd),
            lag1: finite(summary.lag1),
            geomean: finite(summary.geomean),
            ..summary
        })
    }
}

/// The median of an ascending list; not a number for an empty one.
fn centre(ascending: &[f64]) -> f64 {
    let middle = |at: usize| ascending.get(at).copied().unwrap_or(f64::NAN);
    middle(ascending.len() / 2) / 2.0 + middle(ascending.len().saturating_sub(1) / 2) / 2.0
}

/// What can be said without any inference.
fn nothing(scale: Scale, zone: Option<Zone>, estimate: f64) -> Inference {
    Inference {
        blocks: 0,
        scale,
        zone,
        estimate,
        interval: None,
        equivalence_interval: None,
        simultaneous_interval: None,
        p: None,
        test: Test::TooFew,
        sd: None,
    }
}

/// The inference from lines that are blocks. Where nothing varies although chance could have a part in it, there is a p
/// at most: an interval without width would be false.
fn of_blocks(pairs: &Pairs, exact: bool, rule: Rule) -> Option<Inference> {
    let mut contrasts = Contrasts::of_pairs(pairs, rule.margin);
    let constant = contrasts.constant;
    contrasts.constant &= exact;
    let inference = Inference::new(&contrasts, rule);
    if !constant || exact {
        return inference;
    }
    let estimate = *contrasts.values.first()?;
    let nothing = nothing(contrasts.scale, contrasts.zone, estimate);
    let Inference { p, test, blocks, .. } = inference.unwrap_or_else(|| nothing.clone());
    Some(Inference { p, test, blocks, ..nothing })
}

/// The inference from two ascending lists of logarithms, or of values, the baseline's last. Where neither varies, it is
/// exact if that is their nature; otherwise there is no interval, as in [`of_blocks`].
fn unpaired(
    [variant, baseline]: [&[f64]; 2],
    positive: bool,
    median: f64,
    exact: bool,
    rule: Rule,
) -> Option<Inference> {
    let (scale, zone) = if positive {
        (Scale::Ratio, Some(Zone::of_log_ratios(rule.margin)))
    } else {
        let half_width = rule.margin * median.abs();
        (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
    };
    let nothing = nothing(scale, zone, centre(variant) - centre(baseline));
    let is_constant = |list: &[f64]| list.first() == list.last();
    let constant = is_constant(variant) && is_constant(baseline);
    if constant && exact {
        return Some(Inference { test: Test::Deterministic, ..nothing });
    }
    if variant.len().min(baseline.len()) < 3 {
        return Some(nothing);
    }
    let Some(test) = MannWhitney::new(variant, baseline) else { return Some(nothing) };
    let ((estimate, p), (interval, (equivalence_interval, simultaneous_interval))) = rayon::join(
        || rayon::join(|| test.shift(), || test.p()),
        || {
            rayon::join(
                || test.interval(rule.alpha),
                || {
                    rayon::join(
                        || test.interval(2.0 * rule.alpha),
                        || rule.simultaneous_alpha().and_then(|alpha| test.interval(alpha)),
                    )
                },
            )
        },
    );
    let how = if test.is_exact() { Test::MannWhitney } else { Test::MannWhitneyNormal };
    let told = Inference { estimate, p: Some(p), test: how, ..nothing };
    Some(if constant { told } else { Inference { interval, equivalence_interval, simultaneous_interval, ..told } })
}

fn conclude_unpaired(
    inference: &Inference,
    p_holm: Option<f64>,
    better: Better,
    [variant, baseline]: [&Summary; 2],
    rule: Rule,
) -> Comparison {
    let mut comparison = conclude_effect(inference, p_holm, better, rule);
    comparison.caveats.retain(|caveat| caveat.kind != "too-few-blocks");
    if inference.scale == Scale::Ratio {
        let means = variant.mean / baseline.mean;
        comparison.ratio_of_means = means.is_finite().then_some(RatioOfMeans { estimate: means, interval: None });
        comparison.ratio_of_max = Some(variant.max / baseline.max).filter(|ratio| ratio.is_finite());
    }
    comparison.caveats.extend(
        [
            too_few(inference, [variant.n, baseline.n], rule),
            spreads(inference, variant, baseline),
            means_disagree(&comparison, rule),
        ]
        .into_iter()
        .flatten(),
    );
    comparison
}

/// Ratios and differences beyond the range of numbers are put to its end, and said to be: infinity is no number in JSON.
fn bound(comparison: &mut Comparison) {
    let least = if comparison.scale == Scale::Ratio { f64::MIN_POSITIVE } else { f64::MIN };
    let mut beyond = false;
    let mut put = |number: &mut f64| {
        let inside = number.clamp(least, f64::MAX);
        beyond |= inside != *number;
        *number = inside;
    };
    let Comparison { estimate, interval, equivalence_interval, simultaneous_interval, .. } = comparison;
    put(estimate);
    for interval in [interval, equivalence_interval, simultaneous_interval] {
        // Where squares overflow, an end is not even a number.
        if interval.is_some_and(|ends| ends.iter().any(|end| end.is_nan())) {
            *interval = None;
        }
        interval.iter_mut().flatten().for_each(&mut put);
    }
    if beyond {
        let text = "some number of this comparison is too large to be written, or too small; the largest, or the smallest, \
                    stands in its place";
        comparison.caveats.push(caveat("out-of-range", text.to_owned()));
    }
}
