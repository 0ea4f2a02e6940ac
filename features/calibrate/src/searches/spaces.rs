//! Simulated searches in big spaces: a subset is built and screened, and the finalists race. And
//! ablations of the winner.

use super::promise::{Measure, Part, Promise, Sample, Task, at_most, flag, shown};
use super::races::{Design, margin};
use bakeoff_model::shuffle::Stream;
use bakeoff_searching::ablation::{self, Ablation};
use bakeoff_searching::race::{Repeats, Rules};
use bakeoff_searching::screening::Screening;
use bakeoff_searching::space::Space;
use bakeoff_searching::worlds::{Layouts, Machine, Run, World};
use std::collections::BTreeSet;

/// True speeds: each level but the first of a factor moves by Exp(1.2 %), half of them upwards; five pairs of levels by
/// 1 % z; each combination by `roughness` z.
fn truths(space: &Space, levels: &[usize], roughness: f64, stream: &mut Stream) -> Vec<f64> {
    let mains: Vec<Vec<f64>> = levels.iter().map(|count| costs(*count, stream)).collect();
    let mut factors: Vec<usize> = (0..levels.len()).collect();
    let mut pairs = vec![];
    for _ in 0..5 {
        stream.shuffle(&mut factors);
        let chosen = [factors[0], factors[1]]
            .map(|factor| Chosen { factor, level: stream.below(levels[factor] as u64) as usize });
        pairs.push(Pair { chosen, cost: 0.01 * stream.normal() });
    }
    let truth = |combination: &Vec<usize>| {
        let of_mains: f64 = combination.iter().zip(&mains).map(|(level, costs)| costs[*level]).sum();
        let is_in = |pair: &&Pair| pair.chosen.iter().all(|chosen| combination[chosen.factor] == chosen.level);
        of_mains + pairs.iter().filter(is_in).map(|pair| pair.cost).sum::<f64>() + roughness * stream.normal()
    };
    space.combinations.iter().map(truth).collect()
}

/// What the levels of a factor cost.
fn costs(levels: usize, stream: &mut Stream) -> Vec<f64> {
    let mut costs = vec![0.0];
    costs.extend((1..levels).map(|_| stream.exponential(0.012)));
    stream.shuffle(&mut costs);
    costs
}

/// Two levels that together cost more, or less.
struct Pair {
    chosen: [Chosen; 2],
    cost: f64,
}

struct Chosen {
    factor: usize,
    level: usize,
}

/// What is searched.
#[derive(Debug, Clone, Copy)]
struct Big {
    levels: &'static [usize],
    factor: f64,
    roughness: f64,
    /// Whether the full factorial is run too.
    with_full: bool,
}

fn search(big: Big, world: World, mut stream: Stream) -> Sample {
    let space = Space::of_levels(big.levels, &|_| false);
    let truths = truths(&space, big.levels, big.roughness, &mut stream);
    let design = Design::of_files(big.factor);
    let mut machine = design.machine(world, &mut stream);
    let all = truths.len();
    let full = big.with_full.then(|| {
        let rules = Rules { everyone: true, repeats: Repeats::None, ..design.rules(all, &mut stream.clone()) };
        design.race(rules, &truths, &mut machine.clone()).trials
    });
    let mut screening = Screening::new(space, stream.next_u64());
    let mut built = BTreeSet::new();
    let mut trials = 0;
    loop {
        let plan = screening.plan();
        if plan.is_empty() {
            break;
        }
        built.extend(plan.iter().copied());
        trials += plan.len();
        let runs: Vec<Run> = plan.iter().map(|c| Run { variant: *c, layout: 0, truth: truths[*c] }).collect();
        let outcomes: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
        screening.take(&outcomes);
    }
    let raced = screening.finalists().unwrap_or_default();
    built.extend(raced.iter().copied());
    let of_raced: Vec<f64> = raced.iter().map(|combination| truths[*combination]).collect();
    let outcome = design.race(design.rules(raced.len(), &mut stream), &of_raced, &mut machine);
    let best = truths.iter().copied().fold(f64::INFINITY, f64::min);
    Sample {
        trials: trials as f64 + outcome.trials,
        builds: built.len() as f64,
        full_trials: full.unwrap_or(f64::NAN),
        full_builds: all as f64,
        wrong: flag(outcome.winner.is_some_and(|winner| of_raced[winner] > best + margin() + 1e-12)),
        named: flag(outcome.winner.is_some()),
        ..Sample::NONE
    }
}

/// Eight options: half cost nothing, the others up to 2 %.
fn reduce(world: World, mut stream: Stream) -> Sample {
    let costs: Vec<f64> = (0..8).map(|option| 0.02 * stream.unit() * f64::from(option % 2)).collect();
    let seed = stream.next_u64();
    let rules = ablation::Rules { options: 8, costs: None, margin: margin(), blocks: 100, seed };
    let mut ablation = Ablation::new(rules);
    let mut machine = Machine::new(world, 1.0, Layouts::Fixed, stream);
    let mut trials = 0;
    while ablation.ending().is_none() {
        let truth = |run: &ablation::Reverted| run.iter().map(|option| costs[*option]).sum();
        let plan = ablation.plan();
        let runs: Vec<Run> =
            plan.iter().enumerate().map(|(variant, run)| Run { variant, layout: 0, truth: truth(run) }).collect();
        let outcomes: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
        trials += outcomes.len();
        ablation.take(&outcomes);
    }
    let reverted = ablation.ending().unwrap_or_default();
    let joint: f64 = reverted.iter().map(|option| costs[*option]).sum();
    Sample { trials: trials as f64, wrong: flag(joint > margin()), named: flag(!reverted.is_empty()), ..Sample::NONE }
}

/// What a model of pairs cannot see, or cannot see in such noise, is shown and not promised.
fn promises(big: Big) -> Vec<Promise> {
    let is_promised = big.roughness <= 0.005 && big.factor <= 1.0;
    let wrong = if is_promised { at_most(Measure::Wrong, 0.01) } else { shown(Measure::Wrong) };
    vec![wrong, shown(Measure::Trials), shown(Measure::Builds), shown(Measure::Seconds)]
}

pub(super) fn tasks() -> Vec<Task> {
    let two: &[usize] = &[2; 8];
    let big = |levels: &'static [usize], roughness, factor| Big { levels, factor, roughness, with_full: false };
    let task = |name: &str, big: Big, promises| Task {
        part: Part::Spaces,
        design: format!("{name}, roughness {} %, noise {} %", 100.0 * big.roughness, big.factor),
        one_in: if big.with_full { 50 } else { 3 },
        search: Box::new(move |world, stream| search(big, world, stream)),
        promises,
    };
    let against_full =
        vec![at_most(Measure::TrialsPart, 0.05), at_most(Measure::BuildsPart, 1.0 / 3.0), shown(Measure::SecondsPart)];
    let mut tasks = vec![
        task("256 combinations and the full plan", Big { with_full: true, ..big(two, 0.0, 1.0) }, against_full),
        Task {
            part: Part::Spaces,
            design: "8 options of a winner left out".to_owned(),
            one_in: 2,
            search: Box::new(reduce),
            promises: vec![at_most(Measure::Wrong, 0.01), shown(Measure::Named), shown(Measure::Trials)],
        },
    ];
    let spaces: [(&str, &[usize]); 3] =
        [("256 combinations", two), ("4 × 2 × 2 × 4", &[4, 2, 2, 4]), ("3 × 3 × 2 × 2 × 2", &[3, 3, 2, 2, 2])];
    for (name, levels) in spaces {
        for (roughness, factor) in [(0.0, 1.0), (0.005, 1.0), (0.01, 1.0), (0.005, 3.0)] {
            let big = big(levels, roughness, factor);
            tasks.push(task(name, big, promises(big)));
        }
    }
    tasks
}
