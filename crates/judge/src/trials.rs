//! The trials of a record, found by block and variant: which of them count, and which are paired. It compares nothing.

use super::ids::{Cell, Ids, Place, VariantId};
use super::nodes::Nodes;
use bakeoff_model::metric;
use bakeoff_model::plan::number_of_layout;
use bakeoff_model::range::is_usable;
use bakeoff_model::record::{Block, Outcome, Record, StudyLine, Trial};
use bakeoff_stats::describe::mean;
use std::collections::{BTreeMap, BTreeSet};

/// The trials of one block, by variant. If a trial was void and repeated, the last attempt is the one that may count.
pub(super) type OneBlock<'a> = BTreeMap<VariantId, &'a Trial>;

/// Blocks by number, which is the order of time.
type Blocks<'a> = BTreeMap<u32, OneBlock<'a>>;

#[derive(Clone)]
pub(super) struct Trials<'a> {
    pub(super) ids: Ids<'a>,
    /// The machines that blocks ran on, if on several.
    pub(super) nodes: Nodes<'a>,
    places: BTreeMap<Place, Blocks<'a>>,
    /// How many layouts there are, where each is one of several passes: then values are of layouts and not of blocks.
    pub(super) layouts: Option<u32>,
}

/// One metric's values under one workload and condition: for every block, by variant, those that count.
#[derive(Default)]
pub(super) struct Values(Vec<(u32, OneBlockOfValues)>);

/// The values of a block, by variant, those that count.
type OneBlockOfValues = BTreeMap<VariantId, Option<f64>>;

/// All values of one metric that count: for every pass, by cell.
pub(super) type Passes = BTreeMap<u32, BTreeMap<Cell, f64>>;

/// The values of two variants in the blocks in which both count.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pairs {
    pub(super) baseline: Vec<f64>,
    pub(super) variant: Vec<f64>,
    /// The number of the block of each pair.
    pub(super) blocks: Vec<u32>,
    /// Blocks in which both have a trial, but not both count.
    pub(super) lost: u32,
}

impl<'a> Trials<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        Self::until(record, u32::MAX)
    }

    /// Those of the passes up to `last_pass`.
    pub(super) fn until(record: &'a Record, last_pass: u32) -> Self {
        let (ids, mut places) = (Ids::of(record), BTreeMap::<Place, Blocks<'a>>::new());
        for trial in record.trials.iter().filter(|trial| trial.block <= last_pass) {
            let place = ids.place(&trial.workload, &trial.condition);
            let block = places.entry(place).or_default().entry(trial.block).or_default();
            block.insert(ids.variant(&trial.variant), trial);
        }
        Self { nodes: Nodes::of(record, &ids), ids, places, layouts: record.study.layouts }
    }

    /// Without those of variants that are not to be judged.
    pub(super) fn without(mut self, is_left_out: impl Fn(&Ids<'a>, Cell) -> bool) -> Self {
        for (place, blocks) in &mut self.places {
            let is_left_out = |variant: VariantId| is_left_out(&self.ids, Cell { variant, place: *place });
            blocks.values_mut().for_each(|block| block.retain(|variant, _| !is_left_out(*variant)));
        }
        self
    }

    /// The blocks of one workload under one condition, in the order of time.
    pub(super) fn blocks(&self, place: Place) -> impl Iterator<Item = &OneBlock<'a>> + use<'_, 'a> {
        self.numbered(place).map(|(_, block)| block)
    }

    /// The same with their numbers.
    pub(super) fn numbered(&self, place: Place) -> impl Iterator<Item = (u32, &OneBlock<'a>)> + use<'_, 'a> {
        self.places.get(&place).into_iter().flatten().map(|(number, block)| (*number, block))
    }

    pub(super) fn all_blocks(&self) -> impl Iterator<Item = &OneBlock<'a>> {
        self.places.values().flat_map(BTreeMap::values)
    }

    /// The values of one metric in one place, by block; or by layout, where passes share layouts: these say no more of layouts
    /// in general than one of them does.
    pub(super) fn values(&self, place: Place, metric: &str) -> Values {
        self.by_layout(Values(self.values_of_blocks(place, metric).collect()))
    }

    /// The same of each machine alone, in the order of their names.
    pub(super) fn values_by_node(&self, place: Place, metric: &str) -> Vec<Values> {
        let mut each: Vec<Values> = self.nodes.names.iter().map(|_| Values::default()).collect();
        for (number, block) in self.values_of_blocks(place, metric) {
            each[self.nodes.of_block(place, number)].0.push((number, block));
        }
        each.into_iter().map(|values| self.by_layout(values)).collect()
    }

    fn values_of_blocks(&self, place: Place, metric: &str) -> impl Iterator<Item = (u32, OneBlockOfValues)> {
        let value = move |trial| value_that_counts(trial, metric);
        self.numbered(place).map(move |(number, trials)| {
            (number, trials.iter().map(|(variant, trial)| (*variant, value(trial))).collect())
        })
    }

    fn by_layout(&self, values: Values) -> Values {
        match self.layouts {
            Some(layouts) => values.of_layouts(layouts),
            None => values,
        }
    }

    /// The values of one metric in all cells, by pass: for contrasts that reach beyond a pair.
    pub(super) fn passes(&self, metric: &str) -> Passes {
        let mut passes = Passes::new();
        for place in self.places.keys() {
            let cell = |(variant, value): (VariantId, Option<f64>)| Some((Cell { variant, place: *place }, value?));
            for (pass, values) in self.values(*place, metric).0 {
                passes.entry(pass).or_default().extend(values.into_iter().filter_map(cell));
            }
        }
        passes
    }

    /// Whether trials count there, and none of them has the metric.
    pub(super) fn lacks(&self, place: Place, metric: &str) -> bool {
        let mut count = self.blocks(place).flat_map(BTreeMap::values).filter(|t| t.outcome == Outcome::Ok).peekable();
        count.peek().is_some() && count.all(|trial| trial.value(metric).is_none())
    }

    /// The share of a variant's time that a count can see: the least mean over the places where it has one.
    pub(super) fn seen(&self, variant: VariantId) -> Option<f64> {
        let of = |place: &Place| {
            let shares = self.values(*place, metric::SEEN).of(variant);
            (!shares.is_empty()).then(|| mean(&shares))
        };
        self.places.keys().filter_map(of).reduce(f64::min)
    }

    /// The least of all variants; none where nothing is counted.
    pub(super) fn least_seen(&self, study: &StudyLine) -> Option<f64> {
        let variants = study.metrics.iter().any(|metric| metric.counted).then_some(&study.variants);
        let seen = variants.into_iter().flatten().filter_map(|variant| self.seen(self.ids.variant(&variant.name)));
        seen.reduce(f64::min)
    }

    /// How many of these blocks have a trial of every variant of their order, and none that is to be repeated.
    pub(super) fn finished(&self, blocks: &[Block]) -> u32 {
        let is_finished = |block: &&Block| {
            let place = self.ids.place(&block.workload, &block.condition);
            let trials = self.places.get(&place).and_then(|blocks| blocks.get(&block.block));
            let is_final = |variant: &String| trials?.get(&self.ids.variant(variant)).map(|trial| trial.is_final());
            block.order.iter().all(|variant| is_final(variant) == Some(true))
        };
        blocks.iter().filter(is_finished).count() as u32
    }
}

/// A trial counts if it is ok and has a value that can be reckoned with.
pub(super) fn value_that_counts(trial: &Trial, metric: &str) -> Option<f64> {
    let measured = trial.value(metric).filter(|value| is_usable(*value));
    measured.filter(|_| trial.outcome == Outcome::Ok)
}

impl Values {
    /// The mean of each variant over the blocks of each layout in which all count, the geometric one if all values are
    /// positive: so contrasts of means are means of contrasts.
    fn of_layouts(self, layouts: u32) -> Self {
        let is_ratio = self.all().iter().all(|value| *value > 0.0);
        // One that never counts does not take the others' blocks.
        let ever: BTreeSet<VariantId> = self.0.iter().flat_map(|(_, block)| counting(block)).collect();
        let mut of_layout: BTreeMap<u32, Vec<OneBlockOfValues>> = BTreeMap::new();
        for (pass, block) in self.0 {
            of_layout.entry(number_of_layout(pass, layouts)).or_default().push(block);
        }
        for blocks in of_layout.values_mut() {
            let is_whole = |block: &OneBlockOfValues| {
                block.iter().all(|(variant, value)| value.is_some() || !ever.contains(variant))
            };
            if blocks.iter().any(is_whole) {
                blocks.retain(is_whole);
            } else {
                blocks.truncate(1);
            }
        }
        Self(of_layout.into_iter().map(|(layout, blocks)| (layout, means(&blocks, is_ratio))).collect())
    }

    /// The values of all variants and the twin that count, in no order.
    pub(super) fn all(&self) -> Vec<f64> {
        self.0.iter().flat_map(|(_, block)| block.values().copied().flatten()).collect()
    }

    /// The values of one variant that count, in the order of time.
    pub(super) fn of(&self, variant: VariantId) -> Vec<f64> {
        self.0.iter().filter_map(|(_, block)| block.get(&variant).copied().flatten()).collect()
    }

    /// The values of two variants, block by block.
    pub(super) fn pairs(&self, baseline: VariantId, variant: VariantId) -> Pairs {
        let mut pairs = Pairs::default();
        let both = |(number, block): &'_ (u32, BTreeMap<VariantId, Option<f64>>)| {
            Some((*number, *block.get(&baseline)?, *block.get(&variant)?))
        };
        for (number, baseline, variant) in self.0.iter().filter_map(both) {
            match (baseline, variant) {
                (Some(baseline), Some(variant)) => {
                    pairs.blocks.push(number);
                    pairs.baseline.push(baseline);
                    pairs.variant.push(variant);
                }
                _ => pairs.lost += 1,
            }
        }
        pairs
    }
}

/// The variants whose values count.
fn counting(block: &OneBlockOfValues) -> impl Iterator<Item = VariantId> {
    block.iter().filter(|(_, value)| value.is_some()).map(|(variant, _)| *variant)
}

/// The mean of each variant that counts in all of these blocks.
fn means(blocks: &[OneBlockOfValues], is_geometric: bool) -> OneBlockOfValues {
    let mut means = OneBlockOfValues::new();
    for variant in blocks.iter().flat_map(BTreeMap::keys) {
        let values: Option<Vec<f64>> = blocks.iter().map(|block| block.get(variant).copied().flatten()).collect();
        let mean = values.map(|values| {
            let all = values.iter().map(|value| if is_geometric { value.ln() } else { *value });
            let mean = all.sum::<f64>() / values.len() as f64;
            if is_geometric { mean.exp() } else { mean }
        });
        means.insert(*variant, mean);
    }
    means
}
