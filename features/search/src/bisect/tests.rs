//! Tests of the bisection: its rules one by one, and searches by simulation.

use super::*;
use crate::worlds::{Layouts, Machine, Run, World};

fn rules(commits: usize, seed: u64) -> Rules {
    Rules { commits, alpha: 0.05, ends_blocks: 200, blocks: 20_000, counts: false, seed }
}

fn search(search: &mut Bisection, machine: &mut Machine, truth: &dyn Fn(usize) -> f64) -> usize {
    let mut trials = 0;
    while let Ask::Block(plan) = search.plan() {
        let runs: Vec<Run> = plan.iter().map(|c| Run { variant: *c, layout: 0, truth: truth(*c) }).collect();
        let values: Vec<Option<f64>> = machine.block(&runs).into_iter().map(Some).collect();
        trials += values.len();
        search.take(&values);
    }
    trials
}

#[test]
fn probe() {
    for n in [128, 1024] {
        for world in crate::worlds::WORLDS {
            for (delta, noise) in [(0.02, 1.0), (0.05, 1.0), (0.02, 3.0)] {
                let (mut all, mut builds, mut wrong, mut open) = (vec![], vec![], 0, 0);
                for r in 0..100u64 {
                    let mut stream = Stream::of(1_000_003 + r, &["truth"]);
                    let p = 1 + stream.below(n) as usize;
                    let mut bisection = Bisection::new(rules(n as usize, r));
                    let mut machine = Machine::new(world, noise, Layouts::Fixed, stream);
                    all.push(search(&mut bisection, &mut machine, &|c| if c >= p { delta } else { 0.0 }));
                    builds.push(bisection.builds());
                    match bisection.ending() {
                        Some(Ending::Proved(proof)) => wrong += usize::from(proof.pair[1] != p),
                        _ => open += 1,
                    }
                }
                all.sort();
                builds.sort();
                let limit = (n as f64).log2() as usize + 3;
                let over = builds.iter().filter(|b| **b > limit).count();
                println!("{n} {} {delta}/{noise}: trials {} (90% {}), builds {} over {over} wrong {wrong} open {open}", world.name(), all[50], all[90], builds[50]);
            }
        }
    }
}
