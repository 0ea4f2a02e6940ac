//! Which of the winner's options matter: from the winner back towards the baseline. Options that each cost little may cost
//! much together, so the *joint* reduced variant is what is shown to be no slower than the margin. It runs nothing.
//!
//! The options are ordered by what they seem to cost: by a model if there is one, else in a few blocks of the winner and of
//! each option reverted alone. As many as the estimates allow are reverted together, and that variant is raced with the
//! winner: shown to be within the margin at (number of options)/α it is the answer, else one option fewer is tried. At most
//! as many variants are tried as there are options, each with fresh evidence, so an answer beyond the margin has probability
//! α at most.

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

/// The probability that what is left out costs more than the margin.
const ALPHA: f64 = 0.05;

/// What is asked, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Options in which the winner differs from the baseline.
    pub options: usize,
    /// What reverting each alone costs, if a model says so; then no option is run alone.
    pub costs: Option<Vec<f64>>,
    /// Differences of logarithms up to this one do not matter.
    pub margin: f64,
    /// Blocks for one joint variant.
    pub blocks: u32,
    pub seed: u64,
}

/// A reduced variant: the options that are back at the baseline's level. The winner has none.
pub type Reverted = Vec<usize>;

/// What the blocks of a joint variant and the winner have shown.
#[derive(Debug, Clone, Default)]
struct Joint {
    within: Sizes,
    beyond: Sizes,
    differences: Vec<f64>,
    blocks: u32,
}

#[derive(Debug, Clone)]
enum Phase {
    /// What reverting each option has cost, block by block.
    Alone(Vec<Vec<f64>>),
    Joint(Joint),
    Ended,
}

/// A reduction in progress.
#[derive(Debug, Clone)]
pub struct Ablation {
    rules: Rules,
    /// The options that are reverted together, the cheapest first.
    reverted: Reverted,
    places: Places,
    phase: Phase,
    blocks: u32,
}

impl Ablation {
    /// Before its first block.
    pub fn new(mut rules: Rules) -> Self {
        let (phase, costs) = (Phase::Alone(vec![vec![]; rules.options]), rules.costs.take());
        let mut ablation = Self { rules, reverted: vec![], places: Places::default(), phase, blocks: 0 };
        if let Some(costs) = costs {
            ablation.take_costs(&costs);
        }
        ablation
    }

    /// The runs of the next block in their order; none if it has ended.
    pub fn plan(&self) -> Vec<Reverted> {
        let mut plan = match &self.phase {
            Phase::Alone(_) => (0..self.rules.options).map(|option| vec![option]).chain([vec![]]).collect(),
            Phase::Joint(_) => vec![vec![], self.sorted()],
            Phase::Ended => vec![],
        };
        Stream::of(self.rules.seed, &["ablation", &self.blocks.to_string()]).shuffle(&mut plan);
        plan
    }

    /// The options that can be left out, if it has ended.
    pub fn ending(&self) -> Option<Reverted> {
        if let Phase::Ended = self.phase { Some(self.sorted()) } else { None }
    }

    fn sorted(&self) -> Reverted {
        let mut reverted = self.reverted.clone();
        reverted.sort_unstable();
        reverted
    }

    /// Takes the outcomes of the planned block, in its order: logarithms, or none where a run failed or timed out.
    pub fn take(&mut self, outcomes: &[Option<f64>]) {
        let plan = self.plan();
        if outcomes.len() != plan.len() {
            return;
        }
        self.blocks += 1;
        match &mut self.phase {
            Phase::Alone(costs) => {
                let winner = plan.iter().position(Vec::is_empty).and_then(|at| outcomes[at]);
                for (run, own) in plan.iter().zip(outcomes) {
                    if let (Some(option), Some(own), Some(winner)) = (run.first(), own, winner) {
                        costs[*option].push(own - winner);
                    }
                }
                if self.blocks >= ALONE_BLOCKS {
                    // An option without which nothing runs is not left out.
                    let costs: Vec<f64> = costs.iter().map(|own| median(own).unwrap_or(f64::INFINITY)).collect();
                    self.take_costs(&costs);
                }
            }
            Phase::Joint(Joint { within, beyond, differences, blocks }) => {
                *blocks += 1;
                if let [Some(first), Some(second)] = *outcomes {
                    let corrected = self.places.corrected(&[first, second]);
                    // Either run may be the winner's.
                    let sign = if plan[0].is_empty() { 1.0 } else { -1.0 };
                    let cost = sign * (corrected[1] - corrected[0]);
                    if let Some(expected) = median(differences) {
                        self.places.take([0, 1], 2, second - first - sign * expected);
                    }
                    let scale = spread(differences).max(SMALLEST_SCALE * self.rules.margin);
                    within.bet(self.rules.margin, &[cost], scale);
                    beyond.bet(cost, &[self.rules.margin], scale);
                    differences.push(cost);
                }
                if within.capital() >= self.rules.options as f64 / ALPHA {
                    self.phase = Phase::Ended;
                } else if beyond.capital() >= BEYOND || *blocks >= self.rules.blocks {
                    self.reverted.pop();
                    self.try_joint();
                }
            }
            Phase::Ended => {}
        }
    }

    /// Reverts as many options together as their costs allow.
    fn take_costs(&mut self, costs: &[f64]) {
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|one, other| costs[*one].total_cmp(&costs[*other]));
        let mut sum = 0.0;
        let fits = |option: &usize| {
            // A gain by leaving something out is chance more often than not.
            sum += costs[*option].max(0.0);
            sum < self.rules.margin
        };
        self.reverted = order.into_iter().take_while(fits).collect();
        self.try_joint();
    }

    fn try_joint(&mut self) {
        self.phase = if self.reverted.is_empty() { Phase::Ended } else { Phase::Joint(Joint::default()) };
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
    use crate::worlds::{Layouts, Machine, Run, WORLDS};

    const SEED: u64 = 55;

    fn rules(options: usize, seed: u64) -> Rules {
        Rules { options, costs: None, margin: 1.01f64.ln(), blocks: 100, seed }
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
    }
}
