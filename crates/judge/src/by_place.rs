//! Machine by machine, where blocks ran on several: each row of the deciding metric, what all machines agree on, the one that is
//! unlike the others, and the one that is noisy. Rows are claims about these machines together; a pooled *equivalent* would hide
//! one of them, so where one is shown to be unlike there is none, and *faster* holds on the whole.
//!
//! - *On every machine* is an intersection of claims (Berger 1982): each machine's own test at α, so the largest p of them, after
//!   Holm's correction over rows.
//! - *Unlike* is [`groups::by_mean`] of the contrasts at 1 %, after Holm's correction over rows.
//! - *Noisy* is [`groups::by_size`] of the twin's contrasts, whose centre is 0, likewise over tables.

use super::conclude::{conclude_effect, side};
use super::contrasts::Contrasts;
use super::infer::{self, SIGN_FLIP_MIN};
use super::rule::DecisionRule;
use super::tables::spec_of;
use super::trials::Trials;
use crate::findings::{
    ByPlace, Caveat, Comparison, Effects, Inferred, Noisy, OnPlace, Row, Scale, Table, Unlike, Verdict,
};
use bakeoff_model::metric::Direction;
use bakeoff_model::record::{Record, TWIN};
use bakeoff_stats::describe::mean;
use bakeoff_stats::groups::{self, Farthest};
use bakeoff_stats::holm;
use bakeoff_stats::signflip::SignFlip;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A machine is called unlike or noisy below this p.
const LEVEL: f64 = 0.01;

/// With fewer blocks a noisy machine too often looks unlike (simulated: 1.9 % with 6, 0.8 % with 12).
const LEAST_BLOCKS: usize = 12;

/// Permutations: not fewer than these, and enough for p to be somewhat less than what Holm asks of the first row.
const DRAWS: u32 = 4999;
const DRAWS_OF_LEVEL: f64 = 1.25;

/// What is found, and the doubts about the study that follow.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<ByPlace>,
    pub(super) doubts: Vec<Caveat>,
}

/// A variant in a table, with the machines that have blocks of it.
struct Sheet<'t> {
    table: &'t Table,
    variant: &'t str,
    nodes: Vec<Node>,
    /// Of how many machines.
    all: usize,
    /// The layouts are the same on all machines.
    is_laid_alike: bool,
}

/// One machine: its contrasts, what they say, and p of no difference there.
struct Node {
    name: String,
    contrasts: Contrasts,
    comparison: Comparison,
    p: f64,
}

/// Of the tables of the deciding metric, in whose rows it takes back what a machine contradicts. Nothing, unless there are several
/// machines.
pub(super) fn judged(record: &Record, trials: &Trials<'_>, tables: &mut [Table], rule: DecisionRule) -> Found {
    let found = found(record, trials, tables, rule);
    limit_tables(&found.rows, tables);
    found
}

fn found(record: &Record, trials: &Trials<'_>, tables: &[Table], rule: DecisionRule) -> Found {
    if !trials.nodes.are_several() {
        return Found::default();
    }
    let rule = DecisionRule { family: 1, ..rule };
    let deciding: Vec<&Table> =
        tables.iter().filter(|table| record.study.decide.metrics.first() == Some(&table.metric)).collect();
    let sheets: Vec<Sheet<'_>> = deciding.par_iter().flat_map(|table| sheets(record, trials, table, rule)).collect();
    let mut rows: Vec<ByPlace> = sheets.iter().map(Sheet::row).collect();
    let (twins, others): (Vec<usize>, Vec<usize>) = (0..sheets.len()).partition(|at| sheets[*at].variant == TWIN);
    let everywhere: Vec<f64> = others.iter().map(|at| sheets[*at].p_everywhere()).collect();
    for (at, p) in others.iter().zip(holm::adjust(&everywhere, others.len())) {
        let verdict = sheets[*at].nodes.first().map(|node| sheets[*at].side(node));
        rows[*at].everywhere = verdict.filter(|_| p <= rule.alpha);
    }
    for (at, seen) in farthest(&sheets, &others, groups::by_mean, rule.seed) {
        rows[at].unlike = sheets[at].unlike(seen);
    }
    let noisy = farthest(&sheets, &twins, groups::by_size, rule.seed);
    let seen: Vec<Noisy> = noisy.into_iter().map(|(at, seen)| sheets[at].noisy(seen)).collect();
    let noisy = (!seen.is_empty()).then_some(Caveat::NoisyPlaces { seen });
    Found { doubts: noisy.into_iter().chain(few(&sheets)).collect(), rows }
}

/// The rows of a table that are compared, and its twin's.
fn sheets<'t>(record: &Record, trials: &Trials<'_>, table: &'t Table, rule: DecisionRule) -> Vec<Sheet<'t>> {
    let Some((metric, baseline)) = record.study.metric(&table.metric).zip(table.rows.first()) else { return vec![] };
    let place = trials.ids.place(&table.workload, &table.condition);
    let spec = spec_of(&metric, &trials.values(place, &table.metric), record, trials);
    let (each, baseline) = (trials.values_by_node(place, &table.metric), trials.ids.variant(&baseline.variant));
    let is_judged = |row: &&Row| row.comparison.as_ref().is_some_and(|one| one.verdict != Verdict::Withheld);
    let compared: Vec<&Row> = table.rows.iter().skip(1).chain(&table.noise_floor).filter(is_judged).collect();
    let of_row = |row: &&'t Row| {
        let pairs = each.iter().map(|values| values.pairs(baseline, trials.ids.variant(&row.variant)));
        let nodes = trials.nodes.names.iter().zip(pairs).filter_map(|(name, pairs)| {
            let contrasts = Contrasts::of_pairs(&pairs, spec, rule.margin);
            let inference = infer::infer_one_of_many(&contrasts, rule)?;
            let comparison = conclude_effect(&inference, spec, rule);
            let p = match inference.inferred {
                Inferred::Exact if comparison.differs() => 0.0,
                Inferred::Tested(tested) => tested.p.unwrap_or(1.0),
                _ => 1.0,
            };
            Some(Node { name: (*name).to_owned(), contrasts, comparison, p })
        });
        let (all, is_laid_alike) = (trials.nodes.names.len(), trials.layouts.is_some());
        Sheet { table, variant: &row.variant, nodes: nodes.collect(), all, is_laid_alike }
    };
    compared.par_iter().map(of_row).collect()
}

/// The sheets among these places in which a machine stands out, by that test, after Holm's correction over them.
fn farthest(
    sheets: &[Sheet<'_>],
    places: &[usize],
    test: fn(&[Vec<f64>], u32, u64) -> Option<Farthest>,
    seed: u64,
) -> Vec<(usize, Farthest)> {
    let draws = DRAWS.max((DRAWS_OF_LEVEL * places.len() as f64 / LEVEL) as u32);
    let seen = places.par_iter().filter_map(|at| Some((*at, test(&sheets[*at].groups()?, draws, seed)?)));
    let seen: Vec<(usize, Farthest)> = seen.collect();
    let p: Vec<f64> = seen.iter().map(|(_, one)| one.p).collect();
    let corrected = seen.into_iter().zip(holm::adjust(&p, p.len()));
    corrected.filter(|(_, p)| *p <= LEVEL).map(|((at, one), p)| (at, Farthest { p, ..one })).collect()
}

/// Machines that have too few blocks of some row for a comparison with the others.
fn few(sheets: &[Sheet<'_>]) -> Option<Caveat> {
    let nodes = || sheets.iter().flat_map(|sheet| &sheet.nodes);
    let all: BTreeSet<&str> = nodes().map(|node| node.name.as_str()).collect();
    let few: BTreeSet<&str> = nodes().filter(|node| !node.is_long()).map(|node| node.name.as_str()).collect();
    let (places, of, needed) = (few.len() as u32, all.len() as u32, LEAST_BLOCKS as u32);
    (places > 0).then_some(Caveat::FewOnPlaces { places, of, needed })
}

impl Node {
    fn is_long(&self) -> bool {
        self.contrasts.values.len() >= LEAST_BLOCKS
    }
}

impl Sheet<'_> {
    fn row(&self) -> ByPlace {
        let Table { workload, condition, metric, unit, .. } = self.table;
        let [workload, condition, metric] = [workload, condition, metric].map(String::clone);
        let places = self.nodes.iter().map(|Node { name, comparison, .. }| OnPlace {
            place: name.clone(),
            blocks: comparison.blocks,
            scale: comparison.scale,
            estimate: comparison.estimate,
            interval: comparison.printed_interval(),
            verdict: comparison.verdict,
        });
        let (variant, places) = (self.variant.to_owned(), places.collect());
        ByPlace { workload, condition, metric, unit: *unit, variant, places, everywhere: None, unlike: None }
    }

    /// Which way a machine's estimate is.
    fn side(&self, node: &Node) -> Verdict {
        side(node.comparison.departure(), self.table.better)
    }

    /// p of the claim that it differs on every machine, and the same way.
    fn p_everywhere(&self) -> f64 {
        let is_enough = |node: &Node| node.contrasts.values.len() >= SIGN_FLIP_MIN;
        let is_alike = self.nodes.windows(2).all(|pair| self.side(&pair[0]) == self.side(&pair[1]));
        let can_be = is_alike && self.nodes.len() == self.all && self.nodes.iter().all(is_enough);
        if can_be { self.nodes.iter().map(|node| node.p).fold(0.0, f64::max) } else { 1.0 }
    }

    /// The machines with blocks enough.
    fn long(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.is_long())
    }

    /// Their contrasts; none where these are not of one kind. Where machines share layouts, what a layout does to all of them is
    /// taken out.
    fn groups(&self) -> Option<Vec<Vec<f64>>> {
        let scale = self.long().next()?.contrasts.scale;
        if self.long().any(|node| node.contrasts.scale != scale) {
            return None;
        }
        let mut of_layout: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for node in self.long().filter(|_| self.is_laid_alike && self.variant != TWIN) {
            for (layout, value) in node.contrasts.blocks.iter().zip(&node.contrasts.values) {
                of_layout.entry(*layout).or_default().push(*value);
            }
        }
        let common = |layout: &u32| of_layout.get(layout).map_or(0.0, |values| mean(values));
        let own = |node: &Node| {
            let each = node.contrasts.blocks.iter().zip(&node.contrasts.values);
            each.map(|(layout, value)| value - common(layout)).collect()
        };
        Some(self.long().map(own).collect())
    }

    /// The estimates on the machine that stands out, and on all others.
    fn unlike(&self, seen: Farthest) -> Option<Unlike> {
        let node = self.long().nth(seen.group)?;
        let Comparison { scale, estimate: there, .. } = node.comparison;
        let others = self.nodes.iter().filter(|other| other.name != node.name);
        let rest: Vec<f64> = others.flat_map(|other| other.contrasts.values.iter().copied()).collect();
        let elsewhere = outward(SignFlip::quick(&rest)?.estimate(), scale);
        Some(Unlike { place: node.name.clone(), unit: self.table.unit, scale, there, elsewhere, p: seen.p })
    }

    /// How far the twin is from the baseline on the machine that stands out, and on all others.
    fn noisy(&self, seen: Farthest) -> Noisy {
        let (mut there, mut elsewhere, mut place, mut scale) = (vec![], vec![], "", Scale::Ratio);
        for (at, node) in self.long().enumerate() {
            let sizes = node.contrasts.values.iter().map(|value| value.abs());
            if at == seen.group {
                (place, scale) = (&node.name, node.contrasts.scale);
                there.extend(sizes);
            } else {
                elsewhere.extend(sizes);
            }
        }
        let Table { workload, condition, unit, .. } = self.table;
        let [place, workload, condition] = [place, workload, condition].map(str::to_owned);
        let [there, elsewhere] = [there, elsewhere].map(|sizes| outward(mean(&sizes), scale));
        Noisy { place, workload, condition, unit: *unit, scale, there, elsewhere }
    }
}

fn outward(x: f64, scale: Scale) -> f64 {
    if scale == Scale::Ratio { x.exp() } else { x }
}

/// Takes back what a machine that is unlike the others contradicts, in the rows of the tables.
fn limit_tables(rows: &[ByPlace], tables: &mut [Table]) {
    for row in rows {
        for table in tables.iter_mut().filter(|table| row.is_of(table)) {
            let better = table.better;
            let same = table.rows.iter_mut().filter(|other| other.variant == row.variant);
            same.filter_map(|other| other.comparison.as_mut()).for_each(|one| limit(one, row, better));
        }
    }
}

/// The same in contrasts beyond the tables: of that variant, and of levels, which it may have.
pub(super) fn limit_effects(rows: &[ByPlace], effects: &mut [Effects]) {
    for family in effects.iter_mut() {
        let is_under = |own: &Option<String>, there: &String| own.as_ref().is_none_or(|own| own == there);
        let is_of = |row: &&ByPlace| {
            row.metric == family.metric
                && is_under(&family.workload, &row.workload)
                && (is_under(&family.condition, &row.condition)
                    || family.first_condition.as_ref() == Some(&row.condition))
        };
        for row in rows.iter().filter(is_of) {
            let same = family.effects.iter_mut().filter(|one| one.variant().is_none_or(|name| name == row.variant));
            same.filter_map(|effect| effect.comparison.as_mut()).for_each(|one| limit(one, row, family.better));
        }
    }
}

/// What lies within the margin on the whole need not lie within it on each machine.
fn limit(comparison: &mut Comparison, row: &ByPlace, better: Direction) {
    let Some(unlike) = row.unlike.as_ref().filter(|_| comparison.on_the_whole().is_none()) else { return };
    comparison.verdict = match comparison.verdict {
        Verdict::Equivalent => Verdict::Undecided { more_blocks: None },
        Verdict::Negligible => side(comparison.departure(), better),
        other => other,
    };
    comparison.caveats.push(Caveat::PlacesDiffer(unlike.clone()));
}
