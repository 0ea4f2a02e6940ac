//! Samples that somebody else measured, judged. Their order is not known to be random, so everything here carries a caveat;
//! where a sample drifts or its values resemble their predecessors, a verdict is given only if the difference is larger than
//! what time could explain ([`time`]). Lines that are blocks go the way of all blocks.
//!
//! Unpaired: Mann and Whitney's test and Hodges and Lehmann's shift of the logarithms, or of the values if some are not
//! positive. The verdict is that of [`super`], the family is every comparison of the same unit.

mod time;

use super::conclude::{conclude, conclude_effect};
use super::contrasts::{self, Contrasts};
use super::infer::{self, Inference};
use super::trials::Pairs;
use super::{Rule, Yardstick};
use crate::findings::{Caveat, Comparison, RatioOfMeans, Scale, Test};
use crate::samples::{FORMAT, SampleFindings, SampleRow, SampleTable, Summary, Terms, Unaskable};
use crate::stats::equivalence::Zone;
use crate::stats::rank::MannWhitney;
use crate::stats::sort;
use crate::stopping::Reading;
use bakeoff_model::metric::Unit;
use bakeoff_model::percent::percent;
use bakeoff_model::samples::{Better, Sample};
use rayon::prelude::*;
use std::collections::BTreeMap;
use time::{Course, Time};

/// Seed of the flips where lines are blocks and there are too many to enumerate.
const SEED: u64 = 0x0062_616b_656f_6666;
/// Spreads that differ by more than this factor are no mere shift.
const SPREADS_DIFFER: f64 = 3.0;
/// Fewer values than this do not tell a spread.
const SPREAD_MIN: u32 = 10;

/// Judges samples: tables by what was measured and in which unit, the baseline against all others in each.
///
/// # Errors
/// If the baseline that is named is nowhere, or lines that should be blocks do not correspond.
pub fn judge_samples(samples: Vec<Sample>, terms: &Terms) -> Result<SampleFindings, Unaskable> {
    let tables = tables(samples, terms)?;
    let mut families: BTreeMap<&str, u32> = BTreeMap::new();
    for (table, has_baseline) in &tables {
        *families.entry(&table[0].unit).or_default() += if *has_baseline { table.len() as u32 - 1 } else { 0 };
    }
    let rule = |unit: &str| Rule {
        alpha: 1.0 - terms.confidence,
        margin: terms.margin,
        family: families.get(unit).copied().unwrap_or(0),
        seed: SEED,
        reading: Reading::Fixed,
    };
    let drafts: Vec<Draft> = tables
        .par_iter()
        .map(|(table, has_baseline)| Draft::of(table, *has_baseline, rule(&table[0].unit), terms.paired))
        .collect();
    let compared = drafts.iter().any(|draft| draft.rows.iter().any(|row| row.inference.is_some()));
    let caveats = if compared { vec![order_caveat(terms.paired)] } else { vec![] };
    Ok(SampleFindings {
        format: FORMAT,
        confidence: terms.confidence,
        margin: terms.margin,
        paired: terms.paired,
        tables: drafts.into_iter().map(|draft| draft.conclude(terms.paired)).collect(),
        caveats,
    })
}

fn order_caveat(paired: bool) -> Caveat {
    let text = if paired {
        "paired as asked: that each line is a block, and the order inside it random, is not known here"
    } else {
        "order unknown: these are unpaired samples, and whether they were measured in a random order is not known; a \
         drift between them looks just like a difference (`bakeoff compare` measures in randomised blocks)"
    };
    caveat("order-unknown", text.to_owned())
}

fn caveat(kind: &str, text: String) -> Caveat {
    Caveat { kind: kind.to_owned(), text }
}

/// Samples by row and unit, the baseline first; whether there is one.
fn tables(samples: Vec<Sample>, terms: &Terms) -> Result<Vec<(Vec<Sample>, bool)>, Unaskable> {
    let mut tables: Vec<(Vec<Sample>, bool)> = vec![];
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for sample in samples.into_iter().filter(|sample| !sample.values.is_empty()) {
        let at = *places.entry((sample.row.clone(), sample.unit.clone())).or_insert(tables.len());
        if at == tables.len() {
            tables.push((vec![], true));
        }
        tables[at].0.push(sample);
    }
    if let Some(name) = &terms.baseline {
        for (table, has_baseline) in &mut tables {
            match table.iter().position(|sample| sample.col == *name) {
                Some(at) => table[..=at].rotate_right(1),
                None => *has_baseline = false,
            }
        }
        if !tables.iter().any(|(_, has_baseline)| *has_baseline) {
            let mut names: Vec<&str> = tables.iter().flat_map(|(table, _)| table).map(|s| s.col.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(Unaskable {
                message: format!("there is no sample `{name}` to be the baseline"),
                remedy: format!("there are: {}", names.join(", ")),
            });
        }
    }
    if terms.paired {
        for (table, _) in &tables {
            let baseline = &table[0];
            if let Some(other) = table.iter().find(|sample| sample.values.len() != baseline.values.len()) {
                let message = format!(
                    "`{}` has {} values and `{}` has {}: their lines do not correspond",
                    baseline.col,
                    baseline.values.len(),
                    other.col,
                    other.values.len()
                );
                let remedy = "--paired needs a value for each block in every sample; leave it out to compare unpaired";
                return Err(Unaskable { message, remedy: remedy.to_owned() });
            }
            // Sums of differences must not overflow, nor ratios.
            let most = f64::MAX / (4.0 * baseline.values.len() as f64);
            let close = |x: f64, y: f64| (x - y).abs() <= most && (x <= 0.0 || y <= 0.0 || (x / y).is_normal());
            let near = |sample: &Sample| sample.values.iter().zip(&baseline.values).all(|(x, y)| close(*x, *y));
            if let Some(other) = table.iter().find(|sample| !near(sample)) {
                let message = format!("`{}` and `{}` are too far apart to be paired", baseline.col, other.col);
                return Err(Unaskable { message, remedy: "choose a larger unit".to_owned() });
            }
        }
    }
    Ok(tables)
}

/// A table on its way to findings.
struct Draft {
    row: String,
    unit: String,
    yardstick: Yardstick,
    rule: Rule,
    rows: Vec<DraftRow>,
}

/// A row, and what its comparison will be made of.
struct DraftRow {
    row: SampleRow,
    inference: Option<Inference>,
    pairs: Option<Pairs>,
    course: Course,
}

/// A sample, sorted; and what its order shows.
struct Sorted {
    ascending: Vec<f64>,
    course: Course,
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
            if paired {
                let (baseline, variant) = (table[0].values.clone(), table[i].values.clone());
                let blocks = (1..=variant.len() as u32).collect();
                let pairs = Pairs { baseline, variant, blocks, lost: 0 };
                let contrasts = Contrasts::of_pairs(&pairs, yardstick(&table[0]), rule.margin);
                return (infer::one_of(rule.family, &contrasts, rule), Some(pairs));
            }
            let lists = [&sorted[i], &sorted[0]].map(|sample| sample.ascending.as_slice());
            (unpaired([&scaled[i], &scaled[0]], lists, positive, yardstick(&table[0]), rule), None)
        };
        let logarithms = |i: usize| scaled.get(i).filter(|_| positive).map(Vec::as_slice);
        let summarise = |i: usize| sorted[i].summary(&table[i].values, logarithms(i), rule.alpha);
        let (inferred, summaries): (Vec<_>, Vec<_>) = rayon::join(
            || (0..table.len()).into_par_iter().map(infer).collect(),
            || (0..table.len()).into_par_iter().map(summarise).collect(),
        );
        let seen = table.iter().zip(sorted.iter().zip(summaries));
        let rows = seen.zip(inferred).filter_map(|((sample, (sorted, summary)), (inference, pairs))| {
            let row = SampleRow {
                sample: sample.col.clone(),
                summary: summary?,
                order: sorted.course.order,
                comparison: None,
                time_could_explain: None,
                refused: None,
            };
            Some(DraftRow { row, inference, pairs, course: sorted.course.clone() })
        });
        let Sample { row, unit, .. } = &table[0];
        Self { row: row.clone(), unit: unit.clone(), yardstick: yardstick(&table[0]), rule, rows: rows.collect() }
    }

    fn conclude(self, paired: bool) -> SampleTable {
        let Self { row, unit, yardstick, rule, rows } = self;
        let better = yardstick.better;
        let baseline = rows.first().map(|first| (first.row.clone(), first.course.clone()));
        let mut samples = vec![];
        for DraftRow { mut row, inference, pairs, course } in rows {
            if let (Some(inference), Some((base, base_course))) = (inference, &baseline) {
                let mut comparison = match pairs {
                    Some(pairs) => conclude(&pairs, &inference, yardstick, rule),
                    None => conclude_unpaired(&inference, better, [&row.summary, &base.summary], rule),
                };
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
        SampleTable { row, unit, better, family: rule.family, samples }
    }
}

/// What a sample's values are measured by. A unit that is not known may be one that ticks; what is counted does not.
fn yardstick(sample: &Sample) -> Yardstick {
    let per_op = sample.unit.strip_suffix("/op").unwrap_or(&sample.unit);
    let unit = match per_op {
        "sec" => Some(Unit::Seconds),
        "allocs" => Some(Unit::Count),
        known => Unit::of(known).map(|(unit, _)| unit),
    };
    Yardstick { unit, better: sample.better, exact: false, floor: 0.0 }
}

impl Sorted {
    fn of(values: &[f64]) -> Self {
        let sort = || {
            let mut ascending = values.to_vec();
            sort::sort(&mut ascending);
            ascending
        };
        let (course, ascending) = rayon::join(|| Course::of(values), sort);
        Self { ascending, course }
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

/// The inference from two samples, the variant's first: their ascending lists of logarithms or of values, and of values.
fn unpaired(
    [variant, baseline]: [&[f64]; 2],
    values: [&[f64]; 2],
    positive: bool,
    yardstick: Yardstick,
    rule: Rule,
) -> Option<Inference> {
    let (scale, zone) = if positive {
        (Scale::Ratio, Some(Zone::of_log_ratios(rule.margin)))
    } else {
        let half_width = rule.margin * centre(values[1]).abs();
        (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
    };
    let step = contrasts::step(&values.concat(), yardstick);
    let wrong_by = |list: &[f64]| if positive { (step / centre(list)).ln_1p() } else { step };
    let resolution = wrong_by(values[0]).max(wrong_by(values[1]));
    let nothing = Inference {
        blocks: 0,
        scale,
        zone,
        estimate: centre(variant) - centre(baseline),
        interval: None,
        equivalence_interval: None,
        p: None,
        p_corrected: None,
        test: Test::TooFew,
        sd: None,
        resolution,
        step,
    };
    if variant.len().min(baseline.len()) < 3 {
        return Some(nothing);
    }
    if yardstick.exact && [variant, baseline].iter().all(|list| list.first() == list.last()) {
        return Some(Inference { test: Test::Deterministic, ..nothing });
    }
    if yardstick.unit == Some(Unit::Seconds) && zone.is_some_and(|zone| resolution > zone.half_width) {
        return Some(Inference { test: Test::TooCoarse, ..nothing });
    }
    let Some(test) = MannWhitney::new(variant, baseline) else { return Some(nothing) };
    let wider = |interval: Option<[f64; 2]>| interval.map(|[low, high]| [low - resolution, high + resolution]);
    let comparisons = f64::from(rule.family.max(1));
    let ((estimate, p), (interval, equivalence_interval)) = rayon::join(
        || rayon::join(|| test.shift(), || test.p()),
        || rayon::join(|| test.interval(rule.alpha / comparisons), || test.interval(2.0 * rule.alpha)),
    );
    let how = if test.is_exact() { Test::MannWhitney } else { Test::MannWhitneyNormal };
    Some(Inference {
        estimate,
        p: Some(p),
        p_corrected: Some((p * comparisons).min(1.0)),
        interval: wider(interval),
        equivalence_interval: wider(equivalence_interval),
        test: how,
        ..nothing
    })
}

fn conclude_unpaired(
    inference: &Inference,
    better: Better,
    [variant, baseline]: [&Summary; 2],
    rule: Rule,
) -> Comparison {
    let mut comparison = conclude_effect(inference, better, rule);
    comparison.caveats.retain(|caveat| caveat.kind != "too-few-blocks");
    if inference.scale == Scale::Ratio {
        let means = variant.mean / baseline.mean;
        comparison.ratio_of_means = means.is_finite().then_some(RatioOfMeans { estimate: means, interval: None });
        comparison.ratio_of_max = Some(variant.max / baseline.max).filter(|ratio| ratio.is_finite());
    }
    comparison.caveats.extend(
        [
            too_few(inference, variant.n.min(baseline.n), rule),
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
    let Comparison { estimate, interval, equivalence_interval, .. } = comparison;
    put(estimate);
    for interval in [interval, equivalence_interval] {
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

/// Too few values for a test, for an interval, or for a difference that survives the correction.
fn too_few(inference: &Inference, n: u32, rule: Rule) -> Option<Caveat> {
    let percent = percent(1.0 - rule.alpha);
    let text = match inference.test {
        Test::TooFew if n < 3 => format!("{n} values are too few to infer anything from; at least 3 are needed"),
        Test::TooFew => "the values are so far apart that their differences cannot be computed".to_owned(),
        Test::Deterministic | Test::TooCoarse => return None,
        _ => {
            let needed = needed(rule.alpha / f64::from(rule.family.max(1)));
            if n >= needed {
                return None;
            }
            let among = if rule.family > 1 { format!(" among {} comparisons", rule.family) } else { String::new() };
            format!("{n} values can show nothing at {percent} confidence{among}; {needed} in each sample can")
        }
    };
    Some(caveat("too-few-values", text))
}

/// The smallest n for which the smallest p of two samples of n, 2/C(2n, n), is at most alpha.
fn needed(alpha: f64) -> u32 {
    let mut n = 1;
    let mut smallest = 1.0;
    while smallest > alpha && n < 1000 {
        n += 1;
        smallest *= f64::from(n) / f64::from(2 * (2 * n - 1));
    }
    n
}

/// The interval is that of a shift; if one sample is spread far wider, there is more between them than that.
fn spreads(inference: &Inference, variant: &Summary, baseline: &Summary) -> Option<Caveat> {
    let spread = |summary: &Summary| match inference.scale {
        Scale::Ratio => (summary.q3 / summary.q1).ln(),
        Scale::Difference => summary.q3 - summary.q1,
    };
    let (wide, narrow) = (spread(variant).max(spread(baseline)), spread(variant).min(spread(baseline)));
    let told = variant.n.min(baseline.n) >= SPREAD_MIN && inference.p.is_some();
    (told && wide > SPREADS_DIFFER * narrow).then(|| {
        let text = "one sample is spread more than three times as wide as the other: they differ by more than a shift, \
                    which is what the interval is for";
        caveat("spreads-differ", text.to_owned())
    })
}

/// The shift is a robust centre; the means may tell another story.
fn means_disagree(comparison: &Comparison, rule: Rule) -> Option<Caveat> {
    let means = comparison.ratio_of_means?.estimate;
    let apart = (means.ln() - comparison.estimate.ln()).abs() > rule.margin.ln_1p();
    apart.then(|| {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let text = format!(
            "typical and mean disagree: the typical value changes by {:+.1} %, the mean by {:+.1} %",
            percent(comparison.estimate),
            percent(means)
        );
        caveat("typical-and-mean-disagree", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_numbers_of_values() {
        let check = |alpha, expect| assert_eq!(needed(alpha), expect, "{alpha}");
        // 2/C(8, 4) = .029, 2/C(6, 3) = .1, 2/C(10, 5) = .0079
        check(0.05, 4);
        check(0.1, 3);
        check(0.01, 5);
    }
}
