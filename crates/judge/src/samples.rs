//! Samples that somebody else measured, judged. Their order is not known to be random, so everything has a caveat; where a
//! sample drifts or depends on its past, there is no verdict. Lines that are blocks are judged as blocks.
//!
//! Unpaired: Mann and Whitney's test and Hodges and Lehmann's shift of the logarithms, or of the values if some are not
//! positive. The verdict is that of [`super`], the family is every comparison of the same unit.

mod caveats;
mod findings;
mod tables;
mod time;

use super::conclude::{conclude, conclude_effect, unvaried};
use super::contrasts::Contrasts;
use super::infer::{self, Inference};
use super::metric_spec::MetricSpec;
use super::mode::InferenceMode;
use super::rule::{DecisionRule, Units};
use super::trials::Pairs;
use crate::findings::{Caveat, Comparison, Inferred, RatioOfMeans, Scale, Summary, Test, Tested};
pub use findings::{FORMAT, Order, SampleFindings, SampleRow, SampleTable, Terms, Unaskable};

use bakeoff_model::metric::Unit;
use bakeoff_readers::Sample;
use bakeoff_stats::equivalence::Zone;
use bakeoff_stats::rank::MannWhitney;
use caveats::{means_disagree, never_vary, of_sample, spreads, too_few};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tables::Table;
use time::{Course, Time};

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
    let rule = |unit: &str| DecisionRule {
        alpha: 1.0 - terms.confidence,
        margin: terms.margin,
        family: families.get(unit).copied().unwrap_or(0),
        seed: SEED,
        tables: 1,
        mode: InferenceMode::Fixed,
        units: Units::Blocks,
    };
    let drafts: Vec<Draft> = tables
        .par_iter()
        .map(|table| Draft::of(&table.samples, table.has_baseline, rule(&table.samples[0].unit), terms.paired))
        .collect();
    let compared = drafts.iter().any(|draft| draft.rows.iter().any(|row| row.inference.is_some()));
    let mut caveats = if compared { vec![Caveat::OrderUnknown { paired: terms.paired }] } else { vec![] };
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
    spec: MetricSpec,
    rule: DecisionRule,
    rows: Vec<DraftRow>,
}

/// A row, and what its comparison will be made of.
struct DraftRow {
    row: SampleRow,
    inference: Option<Inference>,
    pairs: Option<Pairs>,
    course: Course,
    /// Neither its values nor the baseline's vary.
    constant: bool,
}

/// A sample, sorted; and what its order shows.
struct Sorted {
    ascending: Vec<f64>,
    course: Course,
}

impl Draft {
    fn of(table: &[Sample], has_baseline: bool, rule: DecisionRule, paired: bool) -> Self {
        let sorted: Vec<Sorted> = table.par_iter().map(|sample| Sorted::of(&sample.values)).collect();
        let positive = sorted.iter().all(|sample| sample.ascending.first().is_some_and(|least| *least > 0.0));
        let scaled: Vec<Vec<f64>> = match paired || table.len() < 2 {
            true => vec![],
            false => sorted.par_iter().map(|sample| sample.scaled(positive)).collect(),
        };
        let infer = |i: usize| -> (Option<Inference>, Option<Pairs>) {
            if i == 0 || !has_baseline {
                return (None, None);
            }
            let spec = MetricSpec { exact: table[i].exact && table[0].exact, ..spec_of(&table[0]) };
            if paired {
                let (baseline, variant) = (table[0].values.clone(), table[i].values.clone());
                let blocks = (1..=variant.len() as u32).collect();
                let pairs = Pairs { baseline, variant, blocks, lost: 0 };
                return (of_blocks(&pairs, spec, rule), Some(pairs));
            }
            let values = [&sorted[i], &sorted[0]].map(|sample| sample.ascending.as_slice());
            (unpaired([&scaled[i], &scaled[0]], values, positive, spec, rule), None)
        };
        let summarise = |i: usize| {
            let logarithms = scaled.get(i).filter(|_| positive).map(Vec::as_slice);
            sorted[i].summary(&table[i].values, logarithms, rule.alpha)
        };
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
                order: sorted.course.order,
                comparison: None,
                time_could_explain: None,
                refused: None,
            };
            let constant = sorted.is_constant() && sorted_baseline.is_constant();
            Some(DraftRow { row, inference, pairs, course: sorted.course.clone(), constant })
        });
        let Sample { settings, row, unit, .. } = &table[0];
        Self {
            settings: settings.clone(),
            row: row.clone(),
            unit: unit.clone(),
            spec: spec_of(&table[0]),
            rule,
            rows: rows.collect(),
        }
    }

    fn conclude(self, paired: bool) -> SampleTable {
        let Self { settings, row, unit, spec, rule, rows } = self;
        let (better, exact) = (spec.better, spec.exact);
        let baseline = rows.first().map(|first| (first.row.clone(), first.course.clone()));
        let mut samples = vec![];
        for DraftRow { mut row, inference, pairs, course, constant } in rows {
            if let (Some(inference), Some((base, base_course))) = (inference, &baseline) {
                let mut comparison = match pairs {
                    Some(pairs) => conclude(&pairs, &inference, spec, rule),
                    None => conclude_unpaired(&inference, spec, [&row.summary, &base.summary], rule),
                };
                comparison.caveats.extend(never_vary(constant, &inference));
                bound(&mut comparison);
                if !paired {
                    let both = [(base.sample.as_str(), base_course), (row.sample.as_str(), &course)];
                    if let Some(time) = Time::between(both, comparison.scale) {
                        row.time_could_explain = Some(time.could_explain());
                        row.refused = time.bear_on(&mut comparison, inference.zone);
                    }
                }
                row.comparison = Some(comparison);
            }
            samples.push(row);
        }
        SampleTable { settings, row, unit, better, exact, family: rule.family, samples }
    }
}

/// What a sample's values are measured by. Of what others measured nobody knows the clock: so the steps that their values lie
/// on widen the intervals, but take no verdict away. What is counted has no such steps.
fn spec_of(sample: &Sample) -> MetricSpec {
    let is_counted = |unit: &str| unit == "allocs" || matches!(Unit::of(unit), Some((Unit::Bytes | Unit::Count, _)));
    let unit = is_counted(sample.unit.strip_suffix("/op").unwrap_or(&sample.unit)).then_some(Unit::Count);
    MetricSpec::measured(unit, sample.better, sample.exact)
}

impl Sorted {
    fn of(values: &[f64]) -> Self {
        let sort = || {
            let mut ascending = values.to_vec();
            ascending.sort_unstable_by(f64::total_cmp);
            ascending
        };
        let (course, ascending) = rayon::join(|| Course::of(values), sort);
        Self { ascending, course }
    }

    /// The logarithms of its values, or the values.
    fn scaled(&self, by_logarithm: bool) -> Vec<f64> {
        if by_logarithm { self.ascending.iter().map(|x| x.ln()).collect() } else { self.ascending.clone() }
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

/// The inference from lines that are blocks. Where nothing varies by chance that could, there is a p at most.
fn of_blocks(pairs: &Pairs, spec: MetricSpec, rule: DecisionRule) -> Option<Inference> {
    let contrasts = Contrasts::of_pairs(pairs, spec, rule.margin);
    let inference = infer::infer_independent(rule.family, &contrasts, rule)?;
    let is_constant = |list: &[f64]| list.windows(2).all(|pair| pair[0] == pair[1]);
    let ticks = spec.unit.is_none() && is_constant(&pairs.baseline) && is_constant(&pairs.variant);
    if spec.exact || !ticks {
        return Some(inference);
    }
    let inferred = match inference.inferred {
        Inferred::Tested(tested) => Inferred::Tested(Tested { interval: None, equivalence_interval: None, ..tested }),
        other => other,
    };
    Some(Inference { inferred, sd: None, ..inference })
}

/// The inference from two samples, the variant's first: their ascending lists of logarithms or of values, and of values.
/// Where neither varies, it is exact if that is their nature; otherwise there is no interval, as in [`of_blocks`].
fn unpaired(
    [variant, baseline]: [&[f64]; 2],
    values: [&[f64]; 2],
    positive: bool,
    spec: MetricSpec,
    rule: DecisionRule,
) -> Option<Inference> {
    let (scale, zone) = if positive {
        (Scale::Ratio, Some(Zone::of_log_ratios(rule.margin)))
    } else {
        let half_width = rule.margin * centre(values[1]).abs();
        (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
    };
    let step = spec.grid_step(&values.concat());
    let wrong_by = |list: &[f64]| if positive { (step / centre(list)).ln_1p() } else { step };
    let resolution = wrong_by(values[0]).max(wrong_by(values[1]));
    let nothing = Inference {
        agree: 0.0,
        blocks: 0,
        scale,
        zone,
        estimate: centre(variant) - centre(baseline),
        inferred: Inferred::TooFew,
        sd: None,
        resolution,
        step,
        at_floor: false,
    };
    let constant = [variant, baseline].iter().all(|list| list.first() == list.last());
    if constant && spec.exact {
        return Some(Inference { inferred: Inferred::Exact, ..nothing });
    }
    if variant.len().min(baseline.len()) < 3 {
        return Some(nothing);
    }
    let Some(test) = MannWhitney::new(variant, baseline) else { return Some(nothing) };
    let wider = |interval: Option<[f64; 2]>| interval.map(|[low, high]| [low - resolution, high + resolution]);
    let comparisons = f64::from(rule.family.max(1));
    let ((estimate, p), (interval, equivalence_interval)) = rayon::join(
        || rayon::join(|| test.shift(), || test.p()),
        || rayon::join(|| test.interval(rule.alpha / comparisons), || test.interval(2.0 * rule.alpha)),
    );
    let how = if test.is_exact() { Test::MannWhitney } else { Test::MannWhitneyNormal };
    // The interval is wider by the ticks, and so is the hypothesis; p alone is that of the values as they are.
    let moved: Vec<f64> = variant.iter().map(|x| x - infer::nearest_null(estimate, resolution)).collect();
    let p_beyond_ticks =
        if resolution > 0.0 { MannWhitney::new(&moved, baseline).map_or(p, |test| test.p()) } else { p };
    let p_corrected = Some((p_beyond_ticks * comparisons).min(1.0));
    let ticks = constant && spec.unit.is_none();
    let [interval, equivalence_interval] = [interval, equivalence_interval].map(|ends| wider(ends).filter(|_| !ticks));
    let inferred = Inferred::Tested(Tested { test: how, p: Some(p), p_corrected, interval, equivalence_interval });
    Some(Inference { estimate, inferred, ..nothing })
}

fn conclude_unpaired(
    inference: &Inference,
    spec: MetricSpec,
    [variant, baseline]: [&Summary; 2],
    rule: DecisionRule,
) -> Comparison {
    let mut comparison = conclude_effect(inference, spec, rule);
    comparison.caveats.retain(|caveat| !matches!(caveat, Caveat::TooFewBlocks { .. }));
    if inference.scale == Scale::Ratio {
        let means = variant.mean / baseline.mean;
        comparison.ratio_of_means = means.is_finite().then_some(RatioOfMeans { estimate: means, interval: None });
        comparison.ratio_of_max = Some(variant.max / baseline.max).filter(|ratio| ratio.is_finite());
    }
    comparison.caveats.extend(
        [
            too_few(inference, [variant.n, baseline.n], rule),
            spreads(inference, variant, baseline),
            unvaried(
                variant.n.min(baseline.n) as usize,
                variant.min == variant.max && baseline.min == baseline.max,
                inference,
                rule,
            ),
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
    let Comparison { estimate, inferred, .. } = comparison;
    put(estimate);
    let tested = match inferred {
        Inferred::Tested(tested) => Some(tested),
        _ => None,
    };
    for interval in tested.into_iter().flat_map(|tested| [&mut tested.interval, &mut tested.equivalence_interval]) {
        // Where squares overflow, an end is not even a number.
        if interval.is_some_and(|ends| ends.iter().any(|end| end.is_nan())) {
            *interval = None;
        }
        interval.iter_mut().flatten().for_each(&mut put);
    }
    if beyond {
        comparison.caveats.push(Caveat::OutOfRange);
    }
}
