//! The race: many variants run in common blocks, and each leaves as soon as it is shown not to be needed. It says which
//! slots the next block has, takes their outcomes, and knows who is left. It runs nothing and keeps no journal: the same
//! seed and the same outcomes give the same plans, so a journal replays.
//!
//! A variant is *dropped* when it is shown not to be the best, and *parked* when it is shown not to be better than the
//! incumbent by more than the margin. With probability 1 − [`DROP_ALPHA`] − [`PARK_ALPHA`] at least, the winner of a
//! finished race is within the margin of the best, and the set that an unfinished one names holds the best. Assumed is
//! y = θ of the variant + noise of the slot, and slots assigned by the plan's random order; nothing about the noise.
//!
//! Four bettors hold a variant's drop capital. The best variant cannot expect to gain with any of them, so no correction for
//! the number of variants is needed: only the best one's capital can be wrong.

mod estimates;

use crate::bets::{Ranks, Sizes, Tables};
use bakeoff_model::shuffle::Stream;
use estimates::Estimates;
use std::collections::BTreeMap;

/// The probability with which the best is dropped, and with which one is parked that is better by more than the margin.
pub const DROP_ALPHA: f64 = 0.002;
pub const PARK_ALPHA: f64 = 0.008;

/// The shares of [`PARK_ALPHA`] for fresh capitals, and for those of pairs over all common blocks.
const FRESH_SHARE: f64 = 0.6;
const PAIR_SHARE: f64 = 0.4;

/// The first incumbent is named after this number of blocks.
const NAMED_AFTER: u32 = 5;

/// By how many standard errors the leader is ahead of an incumbent that it replaces; more once a change costs parks.
const AHEAD: f64 = 1.8;
const AHEAD_OF_PARKS: f64 = 2.3;

/// A variant without a value in its first blocks leaves.
const FAILURES: u32 = 3;

/// Opponents of the bettor C, and those against which pairs are kept.
const BEST: usize = 4;
const PAIRED: usize = 8;

/// What is raced, and how. Variant 0 is the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    pub variants: usize,
    /// Differences of logarithms up to this one do not matter.
    pub margin: f64,
    pub repeats: Repeats,
    /// Whether those that are out run on, once in each block: the full plan, with which costs are compared.
    pub everyone: bool,
    pub seed: u64,
}

/// Whether the incumbent runs more than once in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// It does, and its runs are as exchangeable with a challenger's as with each other: all blocks run the same files.
    Exchangeable,
    /// It does, in the layout that the block is linked in. So its runs share an offset, and a challenger's rank among them
    /// is not uniform: only the first is ranked. Each pair of runs is still exchangeable, which bets on sizes need.
    SharingLayout,
    /// It does not.
    None,
}

/// A run in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub variant: usize,
    /// 0, and 1, 2, … for further runs of the incumbent.
    pub repeat: u32,
}

/// One outcome of several workloads: the mean of their logarithms, as [`Race::take`] takes it.
pub fn of_workloads(outcomes: &[Option<f64>]) -> Option<f64> {
    let sum = outcomes.iter().copied().sum::<Option<f64>>()?;
    Some(sum / outcomes.len() as f64).filter(|mean| !mean.is_nan())
}

/// Where a variant stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Alive,
    /// Shown not to be the best.
    Dropped,
    /// Shown not to be better than the incumbent by more than the margin.
    Parked,
    /// It gave no value in its first blocks: it failed, or no run of it was waited for. Nothing was shown about it.
    Failed,
}

/// Where a variant's evidence is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Evidence {
    /// Against the leader, the better half, the best few, and the incumbent.
    leader: Sizes,
    half: Ranks,
    best: Ranks,
    incumbent: Ranks,
    /// For parking behind the present incumbent.
    park_sizes: Sizes,
    park_ranks: Ranks,
}

impl Evidence {
    fn drop(&self) -> f64 {
        (self.leader.capital() + self.incumbent.capital()) / 3.0 + (self.half.capital() + self.best.capital()) / 6.0
    }

    fn park(&self) -> f64 {
        f64::midpoint(self.park_sizes.capital(), self.park_ranks.capital())
    }
}

/// A race in progress.
#[derive(Debug, Clone)]
pub struct Race {
    pub rules: Rules,
    /// Blocks taken so far.
    pub blocks: u32,
    pub states: Vec<State>,
    evidence: Vec<Evidence>,
    /// For parking, over all common blocks: by variant and opponent.
    pairs: BTreeMap<(usize, usize), Sizes>,
    /// The variant that the others are now held against; at the end, the winner.
    pub incumbent: Option<usize>,
    /// How many incumbents there were.
    incumbents: u32,
    estimates: Estimates,
    tables: Tables,
}

impl Race {
    /// Before its first block.
    pub fn new(rules: Rules) -> Self {
        let n = rules.variants;
        Self {
            blocks: 0,
            states: vec![State::Alive; n],
            evidence: vec![Evidence::default(); n],
            pairs: BTreeMap::new(),
            incumbent: None,
            incumbents: 0,
            estimates: Estimates::new(n),
            tables: Tables::default(),
            rules,
        }
    }

    /// The runs of the next block in their order; none if the race is finished.
    pub fn plan(&self) -> Vec<Slot> {
        if self.is_finished() {
            return vec![];
        }
        let wanted = (0.8 * (self.alive().count() as f64).sqrt()).round().max(1.0) as u32;
        let incumbent_runs = if self.rules.repeats == Repeats::None { 1 } else { wanted };
        let runs = |variant: usize| {
            let is_there = self.rules.everyone || variant == 0 || self.states[variant] == State::Alive;
            if self.incumbent == Some(variant) { incumbent_runs } else { u32::from(is_there) }
        };
        let slots = |variant| (0..runs(variant)).map(move |repeat| Slot { variant, repeat });
        let mut plan: Vec<Slot> = (0..self.rules.variants).flat_map(slots).collect();
        Stream::of(self.rules.seed, &["race", &self.blocks.to_string()]).shuffle(&mut plan);
        plan
    }

    /// Takes the outcomes of the next block, in the order of [`Self::plan`]: the logarithm of each value, infinite if the run
    /// was stopped at the time limit, none if it failed. A time-out is slower than what ended, and never a loss; of a failure
    /// nothing follows. A block that lacks some outcomes is not taken.
    pub fn take(&mut self, outcomes: &[Option<f64>]) {
        if self.take_values(outcomes) {
            self.leave();
            self.choose_incumbent();
            self.park();
        }
    }

    /// Bets on a block, and learns from it. Nobody leaves.
    fn take_values(&mut self, outcomes: &[Option<f64>]) -> bool {
        let plan = self.plan();
        if plan.is_empty() || outcomes.len() != plan.len() {
            return false;
        }
        let corrected = self.estimates.corrected(outcomes);
        let mut by_variant: Vec<Vec<f64>> = vec![vec![]; self.rules.variants];
        // The first run of each variant comes first, whatever the order of the block: it shares the challengers' layout.
        let mut slots: Vec<(&Slot, &Option<f64>)> = plan.iter().zip(&corrected).collect();
        slots.sort_by_key(|(slot, _)| (slot.variant, slot.repeat));
        slots.iter().for_each(|(slot, value)| by_variant[slot.variant].extend(value.iter()));
        self.bet(&by_variant);
        let variants: Vec<usize> = plan.iter().map(|slot| slot.variant).collect();
        self.estimates.take(&variants, &corrected, outcomes);
        self.blocks += 1;
        true
    }

    /// Bets on each variant alive, against opponents that were known before the block. Each variant has the values of its runs.
    fn bet(&mut self, values: &[Vec<f64>]) {
        let (order, scale) = (self.order(), self.estimates.scale);
        // In the first block nobody is better.
        let leader = order.first().copied().filter(|_| self.blocks > 0);
        let [half, best] = if self.blocks == 0 { [order.len(); 2] } else { [order.len().div_ceil(2), BEST] };
        let far = self.incumbent.filter(|incumbent| !order.iter().take(PAIRED).any(|other| other == incumbent));
        let paired: Vec<usize> = order.iter().copied().take(PAIRED).chain(far).collect();
        for &variant in &order {
            let Some(&own) = values[variant].first() else { continue };
            let first = |other: &usize| if *other == variant { None } else { values[*other].first().copied() };
            let better: Vec<f64> = order.iter().take(half).filter_map(first).collect();
            let few: Vec<f64> = order.iter().filter_map(first).take(best).collect();
            let evidence = &mut self.evidence[variant];
            evidence.half.bet(own, &better, &mut self.tables);
            evidence.best.bet(own, &few, &mut self.tables);
            if let Some(leader) = leader.filter(|leader| *leader != variant) {
                evidence.leader.bet(own, &values[leader], scale);
            }
            let with_margin = own + self.rules.margin;
            if let Some(incumbent) = self.incumbent.filter(|incumbent| *incumbent != variant) {
                let runs = &values[incumbent];
                // Those runs among which a challenger may be ranked.
                let ranked = if self.rules.repeats == Repeats::Exchangeable { runs.len() } else { runs.len().min(1) };
                evidence.incumbent.bet(own, &runs[..ranked], &mut self.tables);
                evidence.park_sizes.bet(with_margin, runs, scale);
                evidence.park_ranks.bet(with_margin, &runs[..ranked], &mut self.tables);
            }
            for &opponent in paired.iter().filter(|opponent| **opponent != variant) {
                self.pairs.entry((variant, opponent)).or_default().bet(with_margin, &values[opponent], scale);
            }
        }
    }

    /// Lets those go that are shown not to be the best, and those that give no values.
    fn leave(&mut self) {
        for variant in self.alive().collect::<Vec<_>>() {
            if self.estimates.blocks[variant] == 0 && self.blocks >= FAILURES {
                self.states[variant] = State::Failed;
            } else if self.evidence[variant].drop() >= 1.0 / DROP_ALPHA && self.alive().count() > 1 {
                self.states[variant] = State::Dropped;
            }
        }
    }

    fn choose_incumbent(&mut self) {
        let Some(leader) = self.order().first().copied() else { return };
        if self.incumbent.is_none() && self.blocks < NAMED_AFTER && self.alive().count() > 1 {
            return;
        }
        if let Some(incumbent) = self.incumbent.filter(|incumbent| self.states[*incumbent] == State::Alive) {
            let ahead = if self.states.contains(&State::Parked) { AHEAD_OF_PARKS } else { AHEAD };
            let error = self.estimates.scale / f64::from(self.estimates.blocks[leader].max(1)).sqrt();
            let gap = self.estimates.centre(incumbent) - self.estimates.centre(leader);
            let is_overtaken = leader != incumbent && gap > ahead * error;
            if !is_overtaken {
                return;
            }
        }
        self.incumbent = Some(leader);
        self.incumbents += 1;
        for (evidence, state) in self.evidence.iter_mut().zip(&mut self.states) {
            (evidence.park_sizes, evidence.park_ranks) = Default::default();
            // Parked behind one that was parked behind another would lose up to twice the margin.
            if *state == State::Parked {
                *state = State::Alive;
            }
        }
    }

    fn park(&mut self) {
        let Some(incumbent) = self.incumbent else { return };
        let fresh = 2f64.powi(self.incumbents as i32) / (FRESH_SHARE * PARK_ALPHA);
        let others = self.rules.variants.saturating_sub(1).max(1) as f64;
        let of_pair = others / (PAIR_SHARE * PARK_ALPHA);
        for variant in self.alive().filter(|variant| *variant != incumbent).collect::<Vec<_>>() {
            let pair = self.pairs.get(&(variant, incumbent)).map_or(1.0, Sizes::capital);
            if self.evidence[variant].park() >= fresh || pair >= of_pair {
                self.states[variant] = State::Parked;
            }
        }
    }

    /// Those alive, the best first by what is known so far.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = self.alive().collect();
        order.sort_by(|one, other| self.estimates.centre(*one).total_cmp(&self.estimates.centre(*other)));
        order
    }

    /// Those alive.
    pub fn alive(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rules.variants).filter(|variant| self.states[*variant] == State::Alive)
    }

    /// Whether nobody is left but the incumbent.
    fn is_finished(&self) -> bool {
        self.alive().all(|variant| self.incumbent == Some(variant))
    }

    /// The variant that is within the margin of the best; none while the race is open.
    pub fn winner(&self) -> Option<usize> {
        self.incumbent.filter(|_| self.is_finished())
    }

    /// The variants of which one is the best, or while the race is open may still be.
    pub fn candidates(&self) -> Vec<usize> {
        let may_be = |variant: &usize| match self.winner() {
            Some(winner) => winner == *variant,
            None => matches!(self.states[*variant], State::Alive | State::Parked) || self.incumbent == Some(*variant),
        };
        (0..self.rules.variants).filter(may_be).collect()
    }
}

#[cfg(test)]
mod tests;
