//! Which of the winner's options matter: from the winner back towards the baseline. Options that each cost little may cost
//! much together, so the *joint* reduced variant is what is shown to be no slower than the margin. It runs nothing.
//!
//! The options are ordered by what they seem to cost, in a few blocks of the winner and of each option reverted alone. As many
//! as the estimates allow are reverted together, and that variant is raced with the winner: shown to be within the margin at
//! (number of options)/α it is the answer, else one option fewer is tried. At most as many variants are tried as there are
//! options, each with fresh evidence, so an answer beyond the margin has probability α at most.

use crate::bets::Sizes;
use crate::places::Places;
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::{MAD_TO_SD, median};

/// Blocks in which each option is reverted alone.
const ALONE_BLOCKS: u32 = 8;

/// The evidence with which a joint variant is known to be beyond the margin, which only saves blocks.
const BEYOND: f64 = 20.0;

/// Where nothing spreads, differences are measured in this part of the margin.
const SMALLEST_SCALE: f64 = 1e-3;

/// What is asked, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Options in which the winner differs from the baseline.
    pub options: usize,
    /// What reverting each alone costs, if a model has said so; then no option is run alone.
    pub costs: Option<Vec<f64>>,
    /// Differences of logarithms up to this one do not matter.
    pub margin: f64,
    pub alpha: f64,
    /// Blocks for one joint variant.
    pub blocks: u32,
    pub seed: u64,
}

/// A reduced variant: the options that are back at the baseline's level. The winner has none.
pub type Reverted = Vec<usize>;

#[derive(Debug, Clone)]
enum Phase {
    Alone { values: Vec<Vec<f64>>, blocks: u32 },
    Joint { reverted: usize, within: Sizes, beyond: Sizes, differences: Vec<f64>, blocks: u32 },
    Ended(usize),
}

/// A reduction in progress.
#[derive(Debug, Clone)]
pub struct Ablation {
    rules: Rules,
    /// The options, the cheapest to revert first, and what reverting them costs.
    order: Vec<usize>,
    costs: Vec<f64>,
    places: Places,
    phase: Phase,
    blocks: u32,
}

impl Ablation {
    /// Before its first block.
    pub fn new(rules: Rules) -> Self {
        let options = rules.options;
        let phase = Phase::Alone { values: vec![vec![]; options], blocks: 0 };
        let mut ablation = Self { order: vec![], costs: vec![], places: Places::default(), phase, blocks: 0, rules };
        if options == 0 {
            ablation.phase = Phase::Ended(0);
        } else if let Some(costs) = ablation.rules.costs.take().filter(|costs| costs.len() == options) {
            ablation.decide_order(costs);
        }
        ablation
    }

    /// The runs of the next block in their order; none if it has ended.
    pub fn plan(&self) -> Vec<Reverted> {
        let mut plan = match &self.phase {
            Phase::Alone { .. } => (0..self.rules.options).map(|option| vec![option]).chain([vec![]]).collect(),
            Phase::Joint { reverted, .. } => vec![vec![], self.first(*reverted)],
            Phase::Ended(_) => vec![],
        };
        Stream::of(self.rules.seed, &["ablation", &self.blocks.to_string()]).shuffle(&mut plan);
        plan
    }

    /// The options that can be left out, if it has ended.
    pub fn ending(&self) -> Option<Reverted> {
        if let Phase::Ended(reverted) = self.phase { Some(self.first(reverted)) } else { None }
    }

    fn first(&self, reverted: usize) -> Reverted {
        let mut options = self.order[..reverted].to_vec();
        options.sort_unstable();
        options
    }

    /// Takes the outcomes of the planned block, in its order: logarithms, or none where a run failed or timed out.
    pub fn take(&mut self, outcomes: &[Option<f64>]) {
        let plan = self.plan();
        if outcomes.len() != plan.len() {
            return;
        }
        self.blocks += 1;
        let winner = plan.iter().zip(outcomes).find(|(run, _)| run.is_empty()).and_then(|(_, outcome)| *outcome);
        let costs: Vec<Option<f64>> = outcomes.iter().map(|own| Some((*own)? - winner?)).collect();
        match &mut self.phase {
            Phase::Alone { values, blocks } => {
                *blocks += 1;
                for (run, cost) in plan.iter().zip(&costs) {
                    if let (Some(option), Some(cost)) = (run.first(), cost) {
                        values[*option].push(*cost);
                    }
                }
                if *blocks >= ALONE_BLOCKS {
                    // An option without which nothing runs is not left out.
                    let cost = |values: &Vec<f64>| median(values).unwrap_or(f64::INFINITY);
                    let costs = values.iter().map(cost).collect();
                    self.decide_order(costs);
                }
            }
            Phase::Joint { reverted, within, beyond, differences, blocks } => {
                *blocks += 1;
                if let Some(raw) = outcomes.iter().copied().collect::<Option<Vec<f64>>>() {
                    let [first, second] = [0, 1].map(|at| self.places.corrected(&raw)[at]);
                    // The block has two runs, and either may be the winner's.
                    let sign = if plan[0].is_empty() { 1.0 } else { -1.0 };
                    let cost = sign * (second - first);
                    if let Some(expected) = median(differences) {
                        self.places.take([0, 1], 2, raw[1] - raw[0] - sign * expected);
                    }
                    let scale = spread(differences).max(SMALLEST_SCALE * self.rules.margin);
                    within.bet(self.rules.margin, &[cost], scale);
                    beyond.bet(cost, &[self.rules.margin], scale);
                    differences.push(cost);
                }
                if within.capital() >= self.rules.options as f64 / self.rules.alpha {
                    self.phase = Phase::Ended(*reverted);
                } else if beyond.capital() >= BEYOND || *blocks >= self.rules.blocks {
                    let fewer = *reverted - 1;
                    self.try_joint(fewer);
                }
            }
            Phase::Ended(_) => {}
        }
    }

    fn decide_order(&mut self, costs: Vec<f64>) {
        self.order = (0..costs.len()).collect();
        self.order.sort_by(|one, other| costs[*one].total_cmp(&costs[*other]));
        self.costs = costs;
        let mut sum = 0.0;
        let fits = |option: &&usize| {
            // A gain by leaving something out is chance more often than not.
            sum += self.costs[**option].max(0.0);
            sum < self.rules.margin
        };
        let most = self.order.iter().take_while(fits).count();
        self.try_joint(most);
    }

    fn try_joint(&mut self, reverted: usize) {
        let [within, beyond] = [Sizes::default(); 2];
        self.phase = match reverted {
            0 => Phase::Ended(0),
            _ => Phase::Joint { reverted, within, beyond, differences: vec![], blocks: 0 },
        };
    }
}

/// The spread of differences so far; 0 while there are none.
fn spread(differences: &[f64]) -> f64 {
    let centre = if differences.len() < 3 { 0.0 } else { median(differences).unwrap_or(0.0) };
    let deviations: Vec<f64> = differences.iter().map(|x| (x - centre).abs()).collect();
    MAD_TO_SD * median(&deviations).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::worlds::{Layouts, Machine, Run, WORLDS};

    const SEED: u64 = 55;

    fn rules(options: usize, seed: u64) -> Rules {
        Rules { options, costs: None, margin: 1.01f64.ln(), alpha: 0.05, blocks: 100, seed }
    }

    /// Runs one to its end: what is left out, and the trials.
    fn reduce(ablation: &mut Ablation, machine: &mut Machine, costs: &[f64]) -> usize {
        let mut trials = 0;
        loop {
            let plan = ablation.plan();
            if plan.is_empty() {
                return trials;
            }
            let truth = |run: &Reverted| run.iter().map(|option| costs[*option]).sum();
            let runs: Vec<Run> =
                plan.iter().enumerate().map(|(v, run)| Run { variant: v, layout: 0, truth: truth(run) }).collect();
            let outcomes: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
            trials += outcomes.len();
            ablation.take(&outcomes);
        }
    }

    /// 8 options, half of which cost nothing and the others up to 2 %, 60 searches in each world: no joint variant beyond the margin, and some are left out.
    #[test]
    fn what_is_left_out_together_costs_less_than_the_margin() {
        let (mut left_out, mut trials, mut wrong) = (0, 0, 0);
        for world in WORLDS {
            for number in 0..60 {
                let mut stream = Stream::of(SEED, &["ablation", world.name(), &number.to_string()]);
                let costs: Vec<f64> = (0..8).map(|option| 0.02 * stream.unit() * f64::from(option % 2)).collect();
                let mut ablation = Ablation::new(rules(8, number));
                trials += reduce(&mut ablation, &mut Machine::new(world, 1.0, Layouts::Fixed, stream), &costs);
                let reverted = ablation.ending().unwrap();
                left_out += reverted.len();
                wrong += usize::from(reverted.iter().map(|option| costs[*option]).sum::<f64>() > 1.01f64.ln());
            }
        }
        println!("seed {SEED}: 540 searches, {wrong} wrong, {left_out} left out, {trials} trials");
        assert!(wrong <= 5 && left_out > 540, "{wrong} wrong, {left_out} left out");
    }

    #[test]
    fn an_option_without_which_nothing_runs_stays() {
        let mut ablation = Ablation::new(rules(2, 1));
        while ablation.ending().is_none() {
            let outcome = |run: &Reverted| if run.contains(&1) { None } else { Some(run.len() as f64 * 1e-4) };
            let outcomes: Vec<Option<f64>> = ablation.plan().iter().map(outcome).collect();
            ablation.take(&outcomes);
        }
        assert_eq!(ablation.ending(), Some(vec![0]));
    }

    #[test]
    fn a_model_s_costs_save_the_blocks_of_options_alone() {
        let costs = Some(vec![0.02, 0.0, 0.001]);
        let ablation = Ablation::new(Rules { costs, ..rules(3, 1) });
        let mut plan = ablation.plan();
        plan.sort();
        assert_eq!(plan, [vec![], vec![1, 2]]);
        assert_eq!(Ablation::new(rules(0, 1)).ending(), Some(vec![]));
    }
}
