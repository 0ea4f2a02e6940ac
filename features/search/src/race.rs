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

/// What is raced, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    pub variants: usize,
    pub baseline: usize,
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

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The logarithm of its value.
    Took(f64),
    /// It was stopped at the time limit: slower than what ended, and never a loss.
    TimedOut,
    /// It gave no value; nothing follows.
    Failed,
}

impl Outcome {
    /// One outcome of several workloads: the mean of their logarithms.
    pub fn of_workloads(outcomes: &[Self]) -> Self {
        let mut sum = 0.0;
        let mut all = Self::Failed;
        for outcome in outcomes {
            match outcome {
                Self::Took(ln) if ln.is_finite() => sum += ln,
                Self::TimedOut => all = Self::TimedOut,
                Self::Took(_) | Self::Failed => return Self::Failed,
            }
        }
        if all == Self::TimedOut || outcomes.is_empty() { all } else { Self::Took(sum / outcomes.len() as f64) }
    }

    /// As a number for bets.
    fn value(self) -> Option<f64> {
        match self {
            Self::Took(ln) => Some(ln).filter(|ln| ln.is_finite()),
            Self::TimedOut => Some(f64::INFINITY),
            Self::Failed => None,
        }
    }
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

/// How the race stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// This variant is within the margin of the best.
    Finished(usize),
    /// The best is among these.
    Open(Vec<usize>),
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
    rules: Rules,
    blocks: u32,
    states: Vec<State>,
    evidence: Vec<Evidence>,
    /// For parking, over all common blocks: by variant and opponent.
    pairs: BTreeMap<(usize, usize), Sizes>,
    incumbent: Option<usize>,
    /// How many incumbents there were.
    incumbents: u32,
    estimates: Estimates,
    tables: Tables,
}

/// The values of a block: of each variant, run by run.
type Values = Vec<Vec<f64>>;

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
        let runs = |variant: usize| {
            let is_kept = self.rules.everyone || variant == self.rules.baseline;
            let is_there = is_kept || self.states[variant] == State::Alive;
            if self.incumbent == Some(variant) { self.incumbent_runs() } else { u32::from(is_there) }
        };
        let slots = |variant| (0..runs(variant)).map(move |repeat| Slot { variant, repeat });
        let mut plan: Vec<Slot> = (0..self.rules.variants).flat_map(slots).collect();
        Stream::of(self.rules.seed, &["race", &self.blocks.to_string()]).shuffle(&mut plan);
        plan
    }

    fn incumbent_runs(&self) -> u32 {
        let wanted = (0.8 * (self.alive().count() as f64).sqrt()).round().max(1.0) as u32;
        if self.rules.repeats == Repeats::None { 1 } else { wanted }
    }

    /// Those runs of the incumbent among which a challenger may be ranked.
    fn ranked(&self, runs: &[f64]) -> usize {
        if self.rules.repeats == Repeats::Exchangeable { runs.len() } else { runs.len().min(1) }
    }

    /// Takes the outcomes of the next block, in the order of [`Self::plan`]. A block that lacks some is not taken.
    pub fn take(&mut self, outcomes: &[Outcome]) {
        if self.take_values(outcomes) {
            self.leave();
            self.choose_incumbent();
            self.park();
        }
    }

    /// Bets on a block, and learns from it. Nobody leaves.
    fn take_values(&mut self, outcomes: &[Outcome]) -> bool {
        let plan = self.plan();
        if plan.is_empty() || outcomes.len() != plan.len() {
            return false;
        }
        let values: Vec<Option<f64>> = outcomes.iter().map(|outcome| outcome.value()).collect();
        let corrected = self.estimates.corrected(&values);
        let mut by_variant: Values = vec![vec![]; self.rules.variants];
        // The first run of each variant comes first, whatever the order of the block: it shares the challengers' layout.
        let mut slots: Vec<(&Slot, &Option<f64>)> = plan.iter().zip(&corrected).collect();
        slots.sort_by_key(|(slot, _)| (slot.variant, slot.repeat));
        slots.iter().for_each(|(slot, value)| by_variant[slot.variant].extend(value.iter()));
        self.bet_on_drops(&by_variant);
        self.bet_on_parks(&by_variant);
        let variants: Vec<usize> = plan.iter().map(|slot| slot.variant).collect();
        self.estimates.take(&variants, &corrected, &values);
        self.blocks += 1;
        true
    }

    fn bet_on_drops(&mut self, values: &Values) {
        let order = self.order();
        let scale = self.estimates.scale();
        let leader = order.first().copied().filter(|_| self.blocks > 0);
        let is_first = self.blocks == 0;
        let half = if is_first { order.len() } else { order.len().div_ceil(2) };
        let best = if is_first { order.len() } else { BEST };
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
            if let Some(incumbent) = self.incumbent.filter(|incumbent| *incumbent != variant) {
                let ranked = self.ranked(&values[incumbent]);
                self.evidence[variant].incumbent.bet(own, &values[incumbent][..ranked], &mut self.tables);
            }
        }
    }

    fn bet_on_parks(&mut self, values: &Values) {
        let order = self.order();
        let scale = self.estimates.scale();
        let far = self.incumbent.filter(|incumbent| !order.iter().take(PAIRED).any(|other| other == incumbent));
        let opponents: Vec<usize> = order.iter().copied().take(PAIRED).chain(far).collect();
        for &variant in &order {
            let Some(own) = values[variant].first().map(|own| own + self.rules.margin) else { continue };
            for &opponent in opponents.iter().filter(|opponent| **opponent != variant) {
                if self.incumbent == Some(opponent) {
                    let ranked = self.ranked(&values[opponent]);
                    let evidence = &mut self.evidence[variant];
                    evidence.park_sizes.bet(own, &values[opponent], scale);
                    evidence.park_ranks.bet(own, &values[opponent][..ranked], &mut self.tables);
                }
                self.pairs.entry((variant, opponent)).or_default().bet(own, &values[opponent], scale);
            }
        }
    }

    /// Lets those go that are shown not to be the best, and those that give no values.
    fn leave(&mut self) {
        for variant in self.alive().collect::<Vec<_>>() {
            if self.estimates.blocks(variant) == 0 && self.blocks >= FAILURES {
                self.states[variant] = State::Failed;
            } else if self.evidence[variant].drop() >= 1.0 / DROP_ALPHA && self.alive().count() > 1 {
                self.states[variant] = State::Dropped;
            }
        }
    }

    fn choose_incumbent(&mut self) {
        let is_named = self.incumbent.is_some();
        if !is_named && self.blocks < NAMED_AFTER && self.alive().count() > 1 {
            return;
        }
        let is_gone = self.incumbent.is_some_and(|incumbent| self.states[incumbent] != State::Alive);
        let ahead = if self.count(State::Parked) > 0 { AHEAD_OF_PARKS } else { AHEAD };
        let leader = self.order().first().copied();
        let overtakes = |leader: usize, incumbent: usize| {
            let error = self.estimates.scale() / f64::from(self.estimates.blocks(leader).max(1)).sqrt();
            leader != incumbent && self.estimates.gap(incumbent, leader) > ahead * error
        };
        let next = match (self.incumbent, leader) {
            (Some(incumbent), Some(leader)) if is_gone || overtakes(leader, incumbent) => Some(leader),
            (None, leader) => leader,
            _ => None,
        };
        if next.is_some() {
            self.incumbent = next;
            self.incumbents += 1;
            for variant in 0..self.rules.variants {
                (self.evidence[variant].park_sizes, self.evidence[variant].park_ranks) = Default::default();
                // Parked behind one that was parked behind another would lose up to twice the margin.
                if self.states[variant] == State::Parked {
                    self.states[variant] = State::Alive;
                }
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

    fn count(&self, state: State) -> usize {
        self.states.iter().filter(|other| **other == state).count()
    }

    /// Where a variant stands.
    pub fn state(&self, variant: usize) -> State {
        self.states[variant]
    }

    /// Blocks taken so far.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The variant that the others are now held against.
    pub fn incumbent(&self) -> Option<usize> {
        self.incumbent
    }

    fn is_finished(&self) -> bool {
        match (self.incumbent, self.alive().count()) {
            (Some(incumbent), 1) => self.states[incumbent] == State::Alive,
            (_, alive) => alive == 0,
        }
    }

    /// How the race stands now: who has won, or who may still be the best.
    pub fn standing(&self) -> Standing {
        match self.incumbent {
            Some(incumbent) if self.is_finished() => Standing::Finished(incumbent),
            incumbent => {
                let may_be =
                    |v: &usize| matches!(self.states[*v], State::Alive | State::Parked) || incumbent == Some(*v);
                Standing::Open((0..self.rules.variants).filter(may_be).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests;
