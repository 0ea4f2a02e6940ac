//! Doubts that the data themselves raise: drift, successive blocks that are alike, contrasts that depend on the order
//! inside a block, several modes, outliers, rates of failure. They warn; they change no value, no estimate and no verdict.
//!
//! A study has many tables, so a doubt that rests on a test needs p < [`LEVEL`] after Holm's correction over all tests of
//! its kind in the study: of a hundred sound studies about one gets a false warning of each kind. Each kind is one
//! caveat, and names where it was seen.

use super::ids::VariantId;
use super::infer::is_flipped;
use super::lost::Attempts;
use super::rule::{DecisionRule, Units};
use super::trials::{OneBlock, Trials, value_that_counts};
use crate::findings::{
    After, Caveat, Comparison, Findings, Modes, Outliers, OverTime, Rates, Scale, Shift, Spot, Spots, Table, Test,
};
use bakeoff_model::grouped::grouped;
use bakeoff_model::record::{Outcome, TWIN};
use bakeoff_stats::describe::{MAD_TO_SD, mean, median};
use bakeoff_stats::holm;
use bakeoff_stats::modes::{Detector, Modality};
use bakeoff_stats::outliers::{THRESHOLD, modified_z};
use bakeoff_stats::proportion::fisher_exact;
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::trend::{bartels, mann_kendall};
use bakeoff_stats::welch::welch_p;
use std::collections::{BTreeMap, BTreeSet};

/// A doubt is raised below this p, after Holm's correction.
const LEVEL: f64 = 0.01;

/// With fewer blocks nothing is said about their order, nor about single ones.
const LEAST_BLOCKS: usize = 10;

/// Contrasts are compared between groups of at least this many blocks.
const LEAST_GROUP: usize = 5;

/// A block this many robust standard deviations away is not one of the usual noise. Here they are of one median
/// absolute deviation for both sides: contrasts are about symmetric, and half of a dozen blocks tell no deviation.
const FAR: f64 = 15.0;

/// Shares of void trials that differ by less than this select nothing.
const SHARES_APART: f64 = 0.05;

/// All doubts that the data of these tables raise.
pub(super) fn about(
    findings: &Findings,
    trials: &Trials<'_>,
    attempts: &Attempts<'_>,
    rule: DecisionRule,
) -> Vec<Caveat> {
    let sheets: Vec<Sheet<'_>> = findings.tables.iter().map(|table| Sheet::on(None, table, trials)).collect();
    let cells = cells(findings);
    let alone = |table| (0..trials.nodes.names.len()).map(move |node| Sheet::on(Some(node), table, trials));
    let (drift, autocorrelation) = match trials.nodes.are_several() {
        true => over_time(&findings.tables.iter().flat_map(alone).collect::<Vec<_>>()),
        false => over_time(&sheets),
    };
    let doubts = [
        by_metric(&drift, cells).map(Caveat::Drift),
        by_metric(&autocorrelation, cells).map(Caveat::Autocorrelation),
        spots(position(&sheets), cells).map(Caveat::Position),
        spots(carry_over(&sheets), cells).map(Caveat::CarryOver),
        spots(failure_rates(findings, trials), cells).map(Caveat::FailureRates),
        spots(void_rates(findings, attempts), cells).map(Caveat::VoidRates),
        spots(modes(&sheets, rule), cells).map(Caveat::Modes),
        spots(outliers(&sheets, rule), cells).map(Caveat::Outliers),
    ];
    doubts.into_iter().flatten().collect()
}

/// Number of workloads × conditions.
fn cells(findings: &Findings) -> usize {
    let cells: BTreeSet<_> = findings.tables.iter().map(|table| (&table.workload, &table.condition)).collect();
    cells.len()
}

/// How many tables of each metric; none for none.
fn by_metric(seen: &[Signal<'_, ()>], of: usize) -> Option<OverTime> {
    // Of several machines, several may show it in one table.
    let mut tables: Vec<&Table> = seen.iter().map(|one| one.table).collect();
    tables.dedup_by(|one, other| std::ptr::eq(*one, *other));
    let groups = grouped(tables.into_iter().map(|table| (table.metric.clone(), ())));
    let metrics: Vec<_> = groups.into_iter().map(|(metric, tables)| (metric, tables.len())).collect();
    (!metrics.is_empty()).then_some(OverTime { metrics, of })
}

/// All of them with their places; none for none.
fn spots<T>(seen: Vec<Signal<'_, T>>, cells: usize) -> Option<Spots<T>> {
    let seen: Vec<Spot<T>> = seen.into_iter().map(|one| Spot::of(one.table, one.variant, one.what)).collect();
    (!seen.is_empty()).then_some(Spots { seen, cells })
}

/// Something that was seen in a table, of a variant; what is seen of all of them names none.
#[derive(Debug, Clone, PartialEq)]
struct Signal<'a, T> {
    table: &'a Table,
    variant: &'a str,
    p: f64,
    what: T,
}

/// A table with its values, block by block in the order of time, on the scale of contrasts.
struct Sheet<'a> {
    table: &'a Table,
    /// The values that count, by variant: their logarithms, if all of the table are positive.
    blocks: Vec<BTreeMap<&'a str, f64>>,
    /// Who run at which position, whether or not it counts.
    orders: Vec<BTreeMap<u32, &'a str>>,
    /// The machine of each, as a number.
    nodes: Vec<usize>,
    is_logarithmic: bool,
}

/// A value of a variant's contrast with the baseline, and what happened in its block.
struct Contrast<'a> {
    value: f64,
    /// The machine, as a number.
    node: usize,
    is_after_baseline: bool,
    /// Who run directly before the variant; the twin is the baseline. None for the first of a block.
    predecessor: Option<&'a str>,
}

impl<'a> Sheet<'a> {
    /// Of all machines, or of one, in the order of its own time.
    fn on(node: Option<usize>, table: &'a Table, trials: &Trials<'a>) -> Self {
        let (mut blocks, mut orders, mut nodes) = (vec![], vec![], vec![]);
        let name = |id: &VariantId| trials.ids.name(*id);
        let place = trials.ids.place(&table.workload, &table.condition);
        let all = trials.numbered(place).map(|(number, block)| (trials.nodes.of_block(place, number), block));
        let mut own: Vec<(usize, &OneBlock<'_>)> =
            all.filter(|(own, _)| node.is_none_or(|node| node == *own)).collect();
        if node.is_some() {
            own.sort_by(|(_, one), (_, other)| started(one).total_cmp(&started(other)));
        }
        for (own, block) in own {
            nodes.push(own);
            let value = |(id, trial): (&VariantId, _)| Some((name(id), value_that_counts(trial, &table.metric)?));
            blocks.push(block.iter().map(|(id, t)| (id, *t)).filter_map(value).collect::<BTreeMap<&str, f64>>());
            orders.push(block.iter().map(|(id, trial)| (trial.position, name(id))).collect());
        }
        let is_logarithmic = blocks.iter().flat_map(BTreeMap::values).all(|value| *value > 0.0);
        if is_logarithmic {
            blocks.iter_mut().flat_map(BTreeMap::values_mut).for_each(|value| *value = value.ln());
        }
        Self { table, blocks, orders, nodes, is_logarithmic }
    }

    fn scale(&self) -> Scale {
        if self.is_logarithmic { Scale::Ratio } else { Scale::Difference }
    }

    fn baseline(&self) -> &'a str {
        self.table.rows.first().map_or("", |row| row.variant.as_str())
    }

    /// The variants that are compared with the baseline, and its twin.
    fn compared(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let table = self.table;
        table.rows.iter().skip(1).chain(&table.noise_floor).map(|row| row.variant.as_str())
    }

    /// How much slower or larger each block is than usual: the mean, over the variants that count in it, of value −
    /// median of that variant. A missing variant so does not look like a change.
    fn levels(&self) -> Vec<f64> {
        let mut by_variant: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (variant, value) in self.blocks.iter().flatten() {
            by_variant.entry(variant).or_default().push(*value);
        }
        let medians: BTreeMap<&str, f64> =
            by_variant.into_iter().filter_map(|(variant, values)| Some((variant, median(&values)?))).collect();
        let level = |block: &BTreeMap<&str, f64>| {
            let away: Vec<f64> = block.iter().map(|(variant, value)| value - medians[variant]).collect();
            (!away.is_empty()).then(|| mean(&away))
        };
        self.blocks.iter().filter_map(level).collect()
    }

    /// The contrasts of one variant with the baseline, in the blocks in which both count.
    fn contrasts(&self, variant: &str) -> Vec<Contrast<'a>> {
        let baseline = self.baseline();
        let contrast = |at: usize| {
            let (block, order, node) = (&self.blocks[at], &self.orders[at], self.nodes[at]);
            let value = block.get(variant)? - block.get(baseline)?;
            let position = |name: &str| order.iter().find(|(_, who)| **who == name).map(|(position, _)| *position);
            let (own, base) = (position(variant)?, position(baseline)?);
            let predecessor = own.checked_sub(1).and_then(|before| order.get(&before).copied());
            let predecessor = predecessor.map(|who| if who == TWIN { baseline } else { who });
            Some(Contrast { value, node, is_after_baseline: own > base, predecessor })
        };
        (0..self.blocks.len()).filter_map(contrast).collect()
    }

    /// The same without what each machine does to them, so that none of it looks like an effect of the order.
    fn contrasts_within(&self, variant: &str) -> Vec<Contrast<'a>> {
        let mut contrasts = self.contrasts(variant);
        let groups = contrasts.iter().map(|one| (one.node, one.value));
        let means: BTreeMap<usize, f64> =
            grouped(groups).into_iter().map(|(node, values)| (node, mean(&values))).collect();
        if means.len() > 1 {
            contrasts.iter_mut().for_each(|one| one.value -= means[&one.node]);
        }
        contrasts
    }

    /// A variant's values; on several machines, as if all were as fast as the typical one.
    fn values(&self, variant: &str) -> Vec<f64> {
        let all = self.blocks.iter().zip(&self.nodes);
        let values: Vec<(usize, f64)> = all.filter_map(|(block, node)| Some((*node, *block.get(variant)?))).collect();
        let middle = |values: &[f64]| median(values).unwrap_or_default();
        let of_node: BTreeMap<usize, f64> =
            grouped(values.iter().copied()).into_iter().map(|(node, values)| (node, middle(&values))).collect();
        if of_node.len() < 2 {
            return values.into_iter().map(|(_, value)| value).collect();
        }
        let typical = middle(&of_node.values().copied().collect::<Vec<_>>());
        values.into_iter().map(|(node, value)| value - of_node[&node] + typical).collect()
    }
}

/// When the first trial of a block began.
fn started(block: &OneBlock<'_>) -> f64 {
    block.values().map(|trial| trial.started_unix_s).fold(f64::INFINITY, f64::min)
}

/// Those that remain after Holm's correction over all.
fn after_holm<T>(seen: Vec<Signal<'_, T>>) -> Vec<Signal<'_, T>> {
    let p: Vec<f64> = seen.iter().map(|one| one.p).collect();
    let corrected = holm::adjust(&p, p.len());
    seen.into_iter().zip(corrected).filter(|(_, p)| *p < LEVEL).map(|(one, _)| one).collect()
}

/// Tables that drift; and those that do not, but in which successive blocks are alike or alternate.
fn over_time<'a>(sheets: &[Sheet<'a>]) -> (Vec<Signal<'a, ()>>, Vec<Signal<'a, ()>>) {
    let (mut drift, mut alike) = (vec![], vec![]);
    for sheet in sheets {
        let (table, levels) = (sheet.table, sheet.levels());
        if levels.len() >= LEAST_BLOCKS {
            drift.extend(mann_kendall(&levels).map(|test| Signal { table, variant: "", p: test.p, what: () }));
            alike.extend(bartels(&levels).map(|test| Signal { table, variant: "", p: test.p, what: () }));
        }
    }
    let drift = after_holm(drift);
    let mut alike = after_holm(alike);
    alike.retain(|seen| drift.iter().all(|other| !std::ptr::eq(other.table, seen.table)));
    (drift, alike)
}

/// The values of a variant that ran before the baseline in its block, and of one that ran after it.
fn by_position(contrasts: &[Contrast<'_>]) -> [Vec<f64>; 2] {
    [false, true]
        .map(|is_after| contrasts.iter().filter(|one| one.is_after_baseline == is_after).map(|one| one.value).collect())
}

fn position<'a>(sheets: &[Sheet<'a>]) -> Vec<Signal<'a, Shift>> {
    let mut seen = vec![];
    for sheet in sheets {
        for variant in sheet.compared() {
            let [before, after] = by_position(&sheet.contrasts_within(variant));
            if after.len().min(before.len()) >= LEAST_GROUP {
                let shift = mean(&after) - mean(&before);
                let what = Shift { shift, scale: sheet.scale() };
                seen.extend(welch_p(&after, &before).map(|p| Signal { table: sheet.table, variant, p, what }));
            }
        }
    }
    after_holm(seen)
}

/// Each predecessor of a variant against its other predecessors. What depends on whether the baseline had run is taken
/// out first, by the mean of either group, or every effect of the position would be seen here a second time.
fn carry_over<'a>(sheets: &[Sheet<'a>]) -> Vec<Signal<'a, After>> {
    let mut seen = vec![];
    for sheet in sheets {
        for variant in sheet.compared() {
            let contrasts = sheet.contrasts_within(variant);
            let usual = by_position(&contrasts).map(|group| mean(&group));
            let residuals: Vec<(&str, f64)> = contrasts
                .iter()
                .filter_map(|c| Some((c.predecessor?, c.value - usual[usize::from(c.is_after_baseline)])))
                .collect();
            let predecessors: BTreeSet<&str> = residuals.iter().map(|(who, _)| *who).collect();
            for predecessor in predecessors {
                let group = |is_it: bool| {
                    let group = residuals.iter().filter(|(who, _)| (*who == predecessor) == is_it);
                    group.map(|(_, value)| *value).collect::<Vec<f64>>()
                };
                let (it, others) = (group(true), group(false));
                if it.len().min(others.len()) >= LEAST_GROUP
                    && let Some(p) = welch_p(&it, &others)
                {
                    let what = After { predecessor: predecessor.to_owned() };
                    seen.push(Signal { table: sheet.table, variant, p, what });
                }
            }
        }
    }
    clearest(&after_holm(seen))
}

/// One that differs makes the others differ from the rest: names the clearest, and of two the one that is not the baseline.
fn clearest<'a>(seen: &[Signal<'a, After>]) -> Vec<Signal<'a, After>> {
    let key = |one: &Signal<'a, After>| {
        (one.p, one.table.rows.first().is_some_and(|baseline| baseline.variant == one.what.predecessor))
    };
    let is_clearest = |one: &&Signal<'a, After>| {
        let mut same = seen.iter().filter(|other| std::ptr::eq(other.table, one.table) && other.variant == one.variant);
        same.all(|other| key(other) >= key(one))
    };
    seen.iter().filter(is_clearest).cloned().collect()
}

/// Every variant against the baseline in every cell. A void trial neither failed nor succeeded.
fn failure_rates<'a>(findings: &'a Findings, trials: &Trials<'_>) -> Vec<Signal<'a, Rates>> {
    rates(findings, |variant, workload, condition| {
        let mut failed_of = [0, 0];
        let (place, variant) = (trials.ids.place(workload, condition), trials.ids.variant(variant));
        for trial in trials.blocks(place).filter_map(|block| block.get(&variant)) {
            failed_of[0] += u32::from(matches!(trial.outcome, Outcome::Failed(_)));
            failed_of[1] += u32::from(!matches!(trial.outcome, Outcome::Void(_)));
        }
        failed_of
    })
}

/// Likewise, of all attempts: a rule that voids one variant more often leaves its lucky trials.
fn void_rates<'a>(findings: &'a Findings, attempts: &Attempts<'_>) -> Vec<Signal<'a, Rates>> {
    let share = |[void, of]: [u32; 2]| f64::from(void) / f64::from(of.max(1));
    let mut seen = rates(findings, |variant, workload, condition| attempts.void_of(variant, workload, condition));
    seen.retain(|one| (share(one.what.own) - share(one.what.baseline)).abs() >= SHARES_APART);
    seen
}

/// Fisher's test of every variant against the baseline in every cell, of what `count` finds: a number of trials, of all.
fn rates(findings: &Findings, count: impl Fn(&str, &str, &str) -> [u32; 2]) -> Vec<Signal<'_, Rates>> {
    let Some((baseline, others)) = findings.variants.split_first() else { return vec![] };
    let mut seen = vec![];
    for (_, tables) in grouped(findings.tables.iter().map(|table| ((&table.workload, &table.condition), table))) {
        let table = tables[0];
        let (workload, condition) = (table.workload.as_str(), table.condition.as_str());
        let of_baseline = count(&baseline.name, workload, condition);
        for variant in others {
            let own = count(&variant.name, workload, condition);
            let both = [own, of_baseline].map(|[those, of]| [those, of - those]);
            let what = Rates { own, baseline: of_baseline };
            seen.push(Signal { table, variant: &variant.name, p: fisher_exact(both), what });
        }
    }
    after_holm(seen)
}

/// Modes that are closer than the margin are of no interest to the asker.
fn modes<'a>(sheets: &[Sheet<'a>], rule: DecisionRule) -> Vec<Signal<'a, Modes>> {
    let (mut detector, mut seen) = (Detector::default(), vec![]);
    for sheet in sheets {
        for row in &sheet.table.rows {
            let values = sheet.values(&row.variant);
            let Modality::Several(mut modes) = detector.modes(&values) else { continue };
            if sheet.is_logarithmic {
                let apart = modes[modes.len() - 1].place - modes[0].place;
                if apart <= rule.margin.ln_1p() {
                    continue;
                }
                modes.iter_mut().for_each(|mode| mode.place = mode.place.exp());
            }
            let what = Modes(modes.iter().map(|mode| (mode.place, mode.share)).collect());
            seen.push(Signal { table: sheet.table, variant: &row.variant, p: 0.0, what });
        }
    }
    seen
}

/// Blocks whose contrast is unusual. Even in normal noise one in seven comparisons of 12 blocks has one beyond
/// [`THRESHOLD`], so they are mentioned only if the estimate would be another one without them, by more than a quarter of
/// the margin, and if one of them is very far away or that estimate lies outside the interval.
fn outliers<'a>(sheets: &[Sheet<'a>], rule: DecisionRule) -> Vec<Signal<'a, Outliers>> {
    let mut seen = vec![];
    for sheet in sheets {
        for row in &sheet.table.rows {
            let Some(comparison) = &row.comparison else { continue };
            let contrasts: Vec<f64> = sheet.contrasts(&row.variant).iter().map(|contrast| contrast.value).collect();
            if let Some(what) = outliers_of(&contrasts, comparison, sheet.is_logarithmic, rule) {
                seen.push(Signal { table: sheet.table, variant: &row.variant, p: 0.0, what });
            }
        }
    }
    seen
}

fn outliers_of(
    contrasts: &[f64],
    comparison: &Comparison,
    is_logarithmic: bool,
    rule: DecisionRule,
) -> Option<Outliers> {
    let test = comparison.tested().map(|tested| tested.test);
    let by_flips = test.is_some_and(|test| is_flipped(test) || test == Test::SignFlipEvidence);
    let same_scale = is_logarithmic == (comparison.scale == Scale::Ratio);
    if contrasts.len() < LEAST_BLOCKS || !by_flips || !same_scale {
        return None;
    }
    let scores = modified_z(contrasts)?;
    let usual: Vec<f64> =
        contrasts.iter().zip(&scores).filter(|(_, z)| z.abs() <= THRESHOLD).map(|(contrast, _)| *contrast).collect();
    let flagged = contrasts.len() - usual.len();
    if flagged == 0 {
        return None;
    }
    let inward = |x: f64| if is_logarithmic { x.ln() } else { x };
    let (with, without) = (inward(comparison.estimate), SignFlip::new(&usual, rule.seed)?.estimate());
    let is_outside = comparison.interval().is_some_and(|[low, high]| without < inward(low) || without > inward(high));
    let matters = !is_logarithmic || (with - without).abs() > rule.margin.ln_1p() / 4.0;
    let is_far = is_far(contrasts).unwrap_or(false);
    let outward = |x: f64| if is_logarithmic { x.exp() } else { x };
    (matters && (is_outside || is_far)).then(|| Outliers {
        blocks: [flagged, contrasts.len()],
        scale: comparison.scale,
        with_and_without: [with, without].map(outward),
        laid_out: rule.units == Units::LaidOutBlocks,
    })
}

/// Whether a contrast is more than [`FAR`] robust standard deviations from the median.
fn is_far(contrasts: &[f64]) -> Option<bool> {
    let centre = median(contrasts)?;
    let distances: Vec<f64> = contrasts.iter().map(|x| (x - centre).abs()).collect();
    let sd = MAD_TO_SD * median(&distances)?;
    Some(sd > 0.0 && distances.iter().any(|distance| *distance > FAR * sd))
}
